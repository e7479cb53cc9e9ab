"""The stores of files: complete or absent, never shared across organizations, swept safely."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import boto3
import pytest
from botocore.client import Config
from hypothesis import given
from hypothesis import strategies as st

from portal.blobs import files
from portal.blobs.files import FileStore, file_name
from portal.blobs.s3 import Bucket, S3FileStore, presigned_url
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, TooLarge, Unavailable
from tests.rig.s3 import s3_double
from tests.stand_in import StandIn

ORG, OTHER = UUID(int=1), UUID(int=2)


@pytest.fixture(scope="module")
def s3():
    """Return the address of a double of S3, and a client."""
    with s3_double() as double:
        yield double


def on_s3(s3, root) -> S3FileStore:
    """Return a store in a bucket of its own."""
    host, client = s3
    name = f"b-{uuid4().hex}"
    client.create_bucket(Bucket=name)
    bucket = Bucket(name, "muster", f"http://{host}", access_key="key", secret_key="secret")
    return S3FileStore(root, bucket)


@pytest.fixture(params=["folder", "s3"])
def store(request, tmp_path) -> FileStore:
    root = tmp_path / "blobs" / "files"
    if request.param == "folder":
        return FileStore(root)
    return on_s3(request.getfixturevalue("s3"), root)


def on_disk(store: FileStore) -> set[str]:
    """Return the paths of all files of content, complete or not."""
    found = (p for p in store.root.rglob("*") if p.is_file() and p.name != "lock")
    paths = {str(p.relative_to(store.root)) for p in found if "/kept/" not in str(p)}
    if isinstance(store, S3FileStore):
        for org_id in (ORG, OTHER):
            paths |= {file_name(org_id, one.sha256) for one in store.stored(org_id)}
    return paths


@given(st.lists(st.binary(max_size=50), max_size=8), st.integers(0, 400), st.integers(0, 400))
def test_stored_bytes_and_their_ranges_are_those_that_were_put(tmp_path_factory, chunks, a, b):
    check_bytes_and_ranges(FileStore(tmp_path_factory.mktemp("s")), chunks, a, b)


@pytest.mark.parametrize("chunks", [[], [b"0123", b"456789"]])
@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 4), (3, 99), (5, 2), (10, 12), (99, 100)])
def test_s3_store_returns_bytes_and_ranges(s3, tmp_path, chunks, a, b):
    check_bytes_and_ranges(on_s3(s3, tmp_path), chunks, a, b)


def check_bytes_and_ranges(store, chunks, a, b):
    whole = b"".join(chunks)
    stored = store.put(ORG, chunks, size=len(whole))
    assert stored == (hashlib.sha256(whole).hexdigest(), len(whole))
    assert store.size(ORG, stored.sha256) == len(whole)
    assert b"".join(store.read(ORG, stored.sha256)) == whole
    assert b"".join(store.read(ORG, stored.sha256, a, b)) == whole[a : max(a, b)]
    with store.open(ORG, stored.sha256) as file:
        file.seek(a)
        assert file.read(3) == whole[a : a + 3]
    assert store.local(ORG, stored.sha256).read_bytes() == whole


def test_same_bytes_take_space_once_in_an_organization_and_are_not_shared(store):
    first = store.put(ORG, [b"weights"])
    assert store.put(ORG, [b"wei", b"ghts"]) == first
    assert on_disk(store) == {file_name(ORG, first.sha256)}
    assert store.size(OTHER, first.sha256) is None
    with pytest.raises(NotFound):
        store.open(OTHER, first.sha256)
    with pytest.raises(ValueError):
        store.path(ORG, "../../secret")


def test_many_files_are_stored_together_or_none_of_them(store):
    contents = [b"%d" % n for n in range(30)] + [b"", b"7"]
    stored = store.put_many(ORG, contents)
    assert [b"".join(store.read(ORG, file.sha256)) for file in stored] == contents
    before = on_disk(store)
    with pytest.raises(ConnectionError):
        store.put_many(ORG, failing())
    assert on_disk(store) == before
    assert not [*(store.root / ORG.hex / "incoming").iterdir()]


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
        patch.setattr(files, "os", StandIn(files.os, fsync=full))
        with pytest.raises(Unavailable, match="is full, so nothing was changed"):
            store.put(ORG, [b"abc"])
    assert on_disk(store) == set()
    assert store.put(ORG, [b"abc"]).size == 3


def put_until_killed(store) -> None:
    def chunks():
        yield b"half of it"
        os.kill(os.getpid(), signal.SIGKILL)

    store.put(ORG, chunks())


def test_killed_upload_is_invisible_and_swept_later(store):
    worker = multiprocessing.get_context("fork").Process(target=put_until_killed, args=(store,))
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
        file_name(ORG, kept.sha256),
        file_name(ORG, fresh.sha256),
        file_name(OTHER, foreign.sha256),
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


def test_file_in_pieces_is_stored_once_all_came(store):
    upload = uuid4()
    store.start(ORG, upload)
    assert store.append(ORG, upload, 0, [b"first "], limit=11) == 6
    with pytest.raises(Conflict, match="6 bytes"):
        store.append(ORG, upload, 0, [b"again"], limit=11)
    assert list(store.stored(ORG)) == []
    assert store.append(ORG, upload, 6, [b"piece"], limit=11) == store.received(ORG, upload) == 11
    stored = store.finish(ORG, upload)
    assert store.finish(ORG, upload) == stored  # after a failure before that was recorded
    store.discard(ORG, upload)
    assert on_disk(store) == {file_name(ORG, stored.sha256)}
    assert list(store.stored(ORG)) == [stored]
    assert store.organizations() == [ORG]


def test_parts_are_stored_as_one_file(store):
    upload = store.start_upload(ORG)
    parts = [
        (n, store.put_part(ORG, upload, n, [text]).sha256) for n, text in [(1, b"a"), (2, b"b")]
    ]
    with pytest.raises(InvalidInput, match="Part 3"):
        store.finish_upload(ORG, upload, [*parts, (3, parts[0][1])])
    stored = store.finish_upload(ORG, upload, parts)
    assert b"".join(store.read(ORG, stored.sha256)) == b"ab"
    assert on_disk(store) == {file_name(ORG, stored.sha256)}


def test_s3_store_sends_large_files_in_parts(s3, tmp_path, monkeypatch):
    monkeypatch.setattr("portal.blobs.s3.PART", 5 << 20)
    store, data = on_s3(s3, tmp_path), os.urandom(12 << 20)
    stored = store.put(ORG, [data])
    meta = s3[1].head_object(
        Bucket=store.bucket.name, Key="muster/" + file_name(ORG, stored.sha256)
    )
    assert meta["ETag"].endswith('-3"')
    assert b"".join(store.read(ORG, stored.sha256)) == data
    assert b"".join(store.read(ORG, stored.sha256, 1 << 20, 7 << 20)) == data[1 << 20 : 7 << 20]


def test_s3_cache_is_verified_and_forgotten(s3, tmp_path):
    store = on_s3(s3, tmp_path)
    stored = store.put(ORG, [b"cached"])
    assert not store.path(ORG, stored.sha256).exists()
    assert store.local(ORG, stored.sha256).read_bytes() == b"cached"
    key = {"Bucket": store.bucket.name, "Key": "muster/" + file_name(ORG, stored.sha256)}
    s3[1].put_object(**key, Body=b"damage")
    with clock.frozen(clock.now() + timedelta(days=2)):
        store.sweep(ORG, {stored.sha256}.intersection, clock.now() - files.GRACE)
        assert not store.path(ORG, stored.sha256).exists()
        with pytest.raises(NotFound):
            store.local(ORG, stored.sha256)
    assert on_disk(store) == {file_name(ORG, stored.sha256)}


def test_s3_store_that_does_not_answer_is_unavailable(tmp_path, monkeypatch):
    monkeypatch.setattr("portal.blobs.s3._RETRIES", {"max_retries": 0})
    bucket = Bucket("b", "", "http://127.0.0.1:9", access_key="key", secret_key="secret")
    store = S3FileStore(tmp_path, bucket)
    with pytest.raises(Unavailable, match="does not answer"):
        store.put(ORG, [b"abc"])
    assert on_disk_only(tmp_path) == set()


def on_disk_only(root) -> set[str]:
    """Return the names of incomplete files."""
    return {path.name for path in root.rglob("incoming/*")}


def test_signed_address_is_that_of_botocore(monkeypatch):
    bucket = Bucket("data", "", "", "eu-west-1", "key", "secret/+", "https://s3.example.com:9000")
    asked = {
        "response-content-disposition": 'attachment; filename="a b+c.bin"',
        "response-content-type": "text/plain; charset=utf-8",
    }
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    ours = presigned_url(bucket, "muster/ab/c", asked, at)
    client = boto3.client(
        "s3",
        endpoint_url=bucket.public_url,
        region_name="eu-west-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret/+",
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda **_: at.replace(tzinfo=None))
    given = {
        "ResponseContentDisposition": asked["response-content-disposition"],
        "ResponseContentType": asked["response-content-type"],
    }
    theirs = client.generate_presigned_url(
        "get_object", {"Bucket": "data", "Key": "muster/ab/c", **given}, ExpiresIn=900
    )
    assert ours.partition("X-Amz-Signature=")[2] == theirs.partition("X-Amz-Signature=")[2]
    assert sorted(ours.partition("?")[2].split("&")) == sorted(theirs.partition("?")[2].split("&"))
