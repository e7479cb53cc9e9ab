"""Download of a log: Content-Length matches the body, with gaps and while the job writes."""

from __future__ import annotations

import pytest

from jobs.models import Attempt
from portal.blobs import logs
from tests.jobs.stage import cluster_with, only_attempt, submit
from workspaces.tenancy.scope import org_scope

DOWNLOAD = "/api/v1/orgs/atlas/jobs/1/logs/download"
pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def attempt(story) -> Attempt:
    cluster_with()
    job = submit(story)
    with org_scope(story.atlas.id):
        return only_attempt(job)


def test_download_with_gaps_matches_its_content_length(story, attempt):
    store, name = logs.log_store(), attempt.id.hex
    store.append(name, 0, b"before\n", 1)
    store.skip(name, 7, 1000, "lost")
    store.append(name, 1000, b"after\n", 2)
    answer = story.api(story.ada).get(DOWNLOAD)
    body = b"".join(answer.streaming_content)
    assert (body, answer["Content-Length"]) == (b"before\nafter\n", "13")


def test_download_of_a_growing_log_matches_its_content_length(story, attempt, monkeypatch):
    monkeypatch.setattr(logs, "SEGMENT", 64)
    store, name, text = logs.log_store(), attempt.id.hex, b"0123456789" * 20
    store.append(name, 0, text[:100], 1)
    answer = story.api(story.ada).get(DOWNLOAD)
    store.append(name, 100, text[100:], 2)  # this compresses the open segment
    assert b"".join(answer.streaming_content) == text[:100] and answer["Content-Length"] == "100"


def test_download_that_loses_bytes_aborts(story, attempt):
    store, name = logs.log_store(), attempt.id.hex
    store.append(name, 0, b"x" * 100, 1)
    answer = story.api(story.ada).get(DOWNLOAD)
    (segment,) = (store.root / name[-2:] / name).glob("*.seg")
    segment.write_bytes(b"x" * 10)
    with pytest.raises(OSError, match="missing from the disk"):
        b"".join(answer.streaming_content)


def test_download_before_the_first_byte_is_empty(story, attempt):
    answer = story.api(story.ada).get(DOWNLOAD)
    assert (b"".join(answer.streaming_content), answer["Content-Length"]) == (b"", "0")
