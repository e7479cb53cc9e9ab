"""The log as a file: what is told of its length is what comes, gaps or not, and while the job writes on."""

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


def test_a_log_with_gaps_is_as_long_as_it_says(story, attempt):
    store, name = logs.log_store(), attempt.id.hex
    store.append(name, 0, b"before\n", 1)
    store.skip(name, 7, 1000, "lost")
    store.append(name, 1000, b"after\n", 2)
    answer = story.api(story.ada).get(DOWNLOAD)
    body = b"".join(answer.streaming_content)
    assert (body, answer["Content-Length"]) == (b"before\nafter\n", "13")


def test_a_log_that_grows_and_is_compressed_meanwhile_is_as_long_as_it_said(
    story, attempt, monkeypatch
):
    monkeypatch.setattr(logs, "SEGMENT", 64)
    store, name, text = logs.log_store(), attempt.id.hex, b"0123456789" * 20
    store.append(name, 0, text[:100], 1)
    answer = story.api(story.ada).get(DOWNLOAD)
    store.append(name, 100, text[100:], 2)  # its open segment is compressed by this
    assert b"".join(answer.streaming_content) == text[:100] and answer["Content-Length"] == "100"


def test_a_log_of_which_bytes_vanish_while_it_is_sent_breaks_off_and_never_ends_well(
    story, attempt
):
    store, name = logs.log_store(), attempt.id.hex
    store.append(name, 0, b"x" * 100, 1)
    answer = story.api(story.ada).get(DOWNLOAD)
    (segment,) = (store.root / name[-2:] / name).glob("*.seg")
    segment.write_bytes(b"x" * 10)
    with pytest.raises(OSError, match="missing from the disk"):
        b"".join(answer.streaming_content)


def test_a_log_that_does_not_exist_yet_is_empty(story, attempt):
    answer = story.api(story.ada).get(DOWNLOAD)
    assert (b"".join(answer.streaming_content), answer["Content-Length"]) == (b"", "0")
