"""Deleted logs report their deletion; after a crash, the next call completes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from portal.blobs import logs
from portal.blobs.logs import LogStore
from tests.portal.blobs.test_logs import KEY
from tests.rig.environment import ROOT

AT = 1_790_000_000_000
TEXT = b"a line of the log\n" * 500
# Deletes, and exits before removing the n-th file.
KILLED = """
import os, signal, sys
from pathlib import Path
from portal.blobs.logs import LogStore
left, unlink = [int(sys.argv[2])], Path.unlink
def counted(self, missing_ok=False):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    unlink(self, missing_ok=missing_ok)
Path.unlink = counted
LogStore(Path(sys.argv[1])).delete("a" * 32, "ada@atlas.example", 1_790_000_000_000)
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch) -> LogStore:
    monkeypatch.setattr(logs, "SEGMENT", 1000)
    return LogStore(tmp_path)


@pytest.fixture
def closed(store: LogStore) -> LogStore:
    store.append(KEY, 0, TEXT, 1000)
    store.seal(KEY, "exit 0")
    return store


def _says_deleted(store: LogStore) -> None:
    part, certificate = store.read(KEY, 0), store.certificate(KEY)
    why = "deleted by ada@atlas.example on 2026-09-21 14:13 UTC"
    assert (part.start, part.data, part.end, part.gaps) == (
        len(TEXT),
        b"",
        len(TEXT),
        [(0, len(TEXT), why)],
    )
    assert (store.end(KEY), store.size(KEY), list(store.whole(KEY)[1])) == (len(TEXT), 0, [])
    assert certificate.text == f"The log was {why}; it had 9,000 bytes."
    assert (
        certificate.deleted == {"by": "ada@atlas.example", "at": AT, "bytes": 9000}
        and not certificate.complete
    )
    assert store.search(KEY, b"line").as_dict() == {"hits": [], "after": len(TEXT), "done": True}
    assert store.times(KEY, 0, 10) == [] or (store._folder(KEY) / "index").exists()


def test_deleted_log_is_a_gap_with_actor_and_time(closed):
    deletion = closed.delete(KEY, "ada@atlas.example", AT)
    assert (deletion.bytes, deletion.end) == (9000, 9000)
    _says_deleted(closed)
    assert {path.name for path in closed._folder(KEY).iterdir()} == {
        "certificate.json",
        "deleted.json",
        "lock",
    }


def test_deleted_log_keeps_its_digests(closed):
    before = closed.certificate(KEY)
    closed.delete(KEY, "ada@atlas.example", AT)
    after = closed.certificate(KEY)
    assert (after.sha256, after.blake3, after.bytes, after.lines) == (
        before.sha256,
        before.blake3,
        before.bytes,
        before.lines,
    )


def test_deleting_again_keeps_the_first_deletion(closed):
    closed.delete(KEY, "ada@atlas.example", AT)
    assert closed.delete(KEY, "ben@atlas.example", AT + 9).by == "ada@atlas.example"
    _says_deleted(closed)


def test_deleted_log_accepts_no_writes_and_keeps_certificate(closed):
    closed.delete(KEY, "ada@atlas.example", AT)
    assert closed.append(KEY, len(TEXT), b"more", 1) == len(TEXT)
    closed.skip(KEY, len(TEXT), len(TEXT) + 5, "lost")
    assert closed.seal(KEY, "exit 1").deleted
    _says_deleted(closed)


def test_deleting_an_open_log_is_refused(store):
    store.append(KEY, 0, TEXT, 1000)
    with pytest.raises(ValueError, match="may still grow"):
        store.delete(KEY, "ada@atlas.example", AT)
    assert store.size(KEY) == len(TEXT)


def test_deleting_an_empty_log_returns_none(store):
    store.seal(KEY, "exit 0")
    assert store.delete(KEY, "ada@atlas.example", AT) is None
    assert store.certificate(KEY).text == "The job wrote nothing."


def test_deleted_log_with_gaps_is_one_gap(store):
    store.append(KEY, 0, TEXT[:100], 1)
    store.skip(KEY, 100, len(TEXT), "lost")
    store.seal(KEY, "exit 0")
    assert store.delete(KEY, "ada@atlas.example", AT).bytes == 100
    assert [gap[:2] for gap in store.certificate(KEY).gaps] == [(0, len(TEXT))]


@pytest.mark.parametrize("left", [0, 1, 5, 9, 10])
def test_deletion_after_crash_is_completed_by_next_call(closed, left):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(closed.root), str(left)],
        cwd=ROOT,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == -signal.SIGKILL
    _says_deleted(closed)
    closed.delete(KEY, "ben@atlas.example", AT + 9)
    _says_deleted(closed)
    assert not list(closed._folder(KEY).glob("*.zst")) + list(closed._folder(KEY).glob("*.seg"))


def test_reader_during_deletion_gets_the_deletion_gap(closed, monkeypatch):
    listed = logs._segments

    def overtaken(folder):
        found = listed(folder)
        monkeypatch.setattr(logs, "_segments", listed)
        closed.delete(KEY, "ada@atlas.example", AT)
        logs._decompressed.cache_clear()
        return found

    monkeypatch.setattr(logs, "_segments", overtaken)
    _says_deleted(closed)


def test_search_ends_before_a_trailing_gap(store):
    store.append(KEY, 0, b"needle\n", 1)
    store.skip(KEY, 7, 1000, "lost")
    assert store.search(KEY, b"needle").as_dict() == {
        "hits": [{"offset": 0, "line": "needle"}],
        "after": 1000,
        "done": True,
    }
