"""The store of files: complete or absent, never shared across organizations, swept safely."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.blobs import files
from portal.blobs.files import FileStore
from portal.core import clock
from portal.core.errors import InvalidInput, NotFound, TooLarge, Unavailable

ORG, OTHER = UUID(int=1), UUID(int=2)


@pytest.fixture
def store(tmp_path) -> FileStore:
    return FileStore(tmp_path / "blobs" / "files")


def on_disk(store: FileStore) -> set[str]:
    """Return the paths of all files of content, complete or not."""
    found = (p for p in store.root.rglob("*") if p.is_file() and p.name != "lock")
    return {str(p.relative_to(store.root)) for p in found}


@given(st.lists(st.binary(max_size=50), max_size=8), st.integers(0, 400), st.integers(0, 400))
def test_stored_bytes_and_their_ranges_are_those_that_were_put(tmp_path_factory, chunks, a, b):
    store, whole = FileStore(tmp_path_factory.mktemp("s")), b"".join(chunks)
    stored = store.put(ORG, chunks, size=len(whole))
    assert stored == (hashlib.sha256(whole).hexdigest(), len(whole))
    assert store.size(ORG, stored.sha256) == len(whole)
    assert b"".join(store.read(ORG, stored.sha256)) == whole
    assert b"".join(store.read(ORG, stored.sha256, a, b)) == whole[a : max(a, b)]


def test_same_bytes_take_space_once_in_an_organization_and_are_not_shared(store):
    first = store.put(ORG, [b"weights"])
    assert store.put(ORG, [b"wei", b"ghts"]) == first
    assert on_disk(store) == {store.name(ORG, first.sha256)}
    assert store.size(OTHER, first.sha256) is None
    with pytest.raises(NotFound):
        store.open(OTHER, first.sha256)
    with pytest.raises(ValueError):
        store.path(ORG, "../../secret")


def failing():
    yield b"first"
    raise ConnectionError


def test_upload_that_fails_leaves_nothing(store, monkeypatch):
    with pytest.raises(InvalidInput, match="ended after 5 of 6 bytes"):
        store.put(ORG, [b"short"], size=6)
    with pytest.raises(TooLarge):
        store.put(ORG, [b"long", b"er"], limit=5)
    with pytest.raises(ConnectionError):
        store.put(ORG, failing())

    def full(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        with pytest.raises(Unavailable, match="is full, so nothing was changed"):
            store.put(ORG, [b"abc"])
    assert on_disk(store) == set()
    assert store.put(ORG, [b"abc"]).size == 3


def put_until_killed(root) -> None:
    def chunks():
        yield b"half of it"
        os.kill(os.getpid(), signal.SIGKILL)

    FileStore(root).put(ORG, chunks())


def test_killed_upload_is_invisible_and_swept_later(store):
    worker = multiprocessing.get_context("fork").Process(
        target=put_until_killed, args=(store.root,)
    )
    worker.start()
    worker.join()
    assert worker.exitcode == -signal.SIGKILL
    (left,) = on_disk(store)
    assert "/incoming/" in left
    store.sweep(ORG, set, clock.now() - files.GRACE)
    assert on_disk(store) == {left}
    store.sweep(ORG, set, clock.now() + timedelta(seconds=1))
    assert on_disk(store) == set()


def test_abandoned_upload_in_parts_is_swept_later(store):
    upload = store.start_upload(ORG)
    store.put_part(ORG, upload, 1, [b"half"])
    store.sweep(ORG, set, clock.now() - files.GRACE)
    assert store.uploaded_bytes(ORG, upload) == 4
    assert store.sweep(ORG, set, clock.now() + timedelta(seconds=1)) == 4
    assert on_disk(store) == set()
    for unknown in (upload, "../x"):
        with pytest.raises(NotFound):
            store.put_part(ORG, unknown, 1, [b"x"])


def test_sweep_deletes_old_files_without_reference(store):
    kept, gone = store.put(ORG, [b"kept"]), store.put(ORG, [b"gone"])
    foreign = store.put(OTHER, [b"gone"])
    referenced = {kept.sha256}.intersection
    assert store.sweep(ORG, referenced, clock.now() - files.GRACE) == 0
    with clock.frozen(clock.now() + 2 * files.GRACE):
        fresh = store.put(ORG, [b"fresh"])
        assert store.sweep(ORG, referenced, clock.now() - files.GRACE) == 4
    assert on_disk(store) == {
        store.name(ORG, kept.sha256),
        store.name(ORG, fresh.sha256),
        store.name(OTHER, foreign.sha256),
    }
    with pytest.raises(NotFound):
        store.keep(ORG, gone.sha256)


@pytest.mark.parametrize("renewal", ["put", "keep"])
def test_file_that_is_stored_again_during_a_sweep_survives(store, renewal):
    """The upload arrives after the sweep has asked what is referenced, before it deletes."""
    old = store.put(ORG, [b"popular"])

    def nothing(names):
        assert list(names) == [old.sha256]
        store.put(ORG, [b"popular"]) if renewal == "put" else store.keep(ORG, old.sha256)
        return set()

    with clock.frozen(clock.now() + 2 * files.GRACE):
        assert store.sweep(ORG, nothing, clock.now() - files.GRACE) == 0
    assert store.size(ORG, old.sha256) == 7
