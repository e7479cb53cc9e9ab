"""The REST API of datasets and checkpoints: a journey, uploads in pieces, and bad input."""

from __future__ import annotations

import base64
import errno
import hashlib
import itertools
import json

import pytest
from django.test import Client
from django.urls import URLPattern

from datasets.api.urls import urlpatterns
from datasets.models import Content, Repository, Upload
from portal.blobs import files
from portal.blobs.store import file_store
from tests.stand_in import StandIn
from workspaces.quotas.set_limits import set_quota
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]
ROOT = "/api/v1/orgs/atlas/datasets"
CIFAR = f"{ROOT}/cifar"
OCTETS = "application/octet-stream"
PIECE = "application/offset+octet-stream"


def send(client: Client, verb: str, url: str, body=None, status: int = 200, **headers):
    """Send bytes or JSON; return the JSON of the answer, or the answer."""
    is_raw = isinstance(body, bytes)
    kind = headers.pop("content_type", "application/octet-stream" if is_raw else "application/json")
    data = body if is_raw else json.dumps(body or {})
    with no_scope():
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = client.generic(verb, url, data, content_type=kind, headers=headers)
    assert answer.status_code == status, (verb, url, answer.content)
    is_json = answer.get("Content-Type", "").endswith("json") and verb != "HEAD"
    return answer.json() if is_json else answer


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def ben(story):
    client = story.api(story.ben)
    send(client, "POST", ROOT, {"name": "cifar", "team": "vision"}, 201)
    return client


def commit(client: Client, data: dict[str, bytes], status: int = 201, url: str = CIFAR, **more):
    for content in data.values():
        send(client, "PUT", f"{url}/contents?sha256={sha256(content)}", content, 201)
    changes = [{"op": "add", "path": p, "sha256": sha256(c)} for p, c in data.items()]
    return send(client, "POST", f"{url}/commits", {"changes": changes, **more}, status)


def test_dataset_goes_from_upload_to_retention(story, ben):
    first = commit(ben, {"train/1.png": b"one", "train/2.png": b"two"}, message="Add", parent="")
    assert (first["version"], first["files"], first["branches"]) == (1, 2, ["main"])
    asked = {"sha256": [sha256(b"one"), sha256(b"new")]}
    known = send(ben, "POST", f"{CIFAR}/contents", asked)["items"]
    assert known == [{"sha256": sha256(b"one"), "bytes": 3}]
    send(ben, "PUT", f"{CIFAR}/contents", b"2", 201)
    lines = [
        {"message": "Change", "parent": first["commit"]},
        {"op": "add", "path": "train/2.png", "sha256": sha256(b"2")},
        {"op": "copy", "source": "train/1.png", "path": "one.png"},
    ]
    body = b"\n".join(json.dumps(line).encode() for line in lines)
    url, kind = f"{CIFAR}/commits", "application/x-ndjson"
    key = {"Idempotency_Key": "once", "content_type": kind}
    second = send(ben, "POST", url, body, 201, **key)
    assert (second["added"], second["changed"], second["parent"]) == (1, 1, first["commit"])
    assert send(ben, "POST", url, body, 201, **key)["commit"] == second["commit"]
    diff = send(ben, "GET", f"{CIFAR}/diff")["items"]
    assert [(row["path"], row["change"]) for row in diff] == [
        ("one.png", "added"),
        ("train/2.png", "changed"),
    ]
    tag = send(ben, "PUT", f"{CIFAR}/tags/v1/raw", {"revision": "1"})
    assert (tag["kind"], tag["version"]) == ("tag", 1)
    send(ben, "PUT", f"{CIFAR}/tags/v1/raw", {}, 409)
    send(ben, "POST", f"{CIFAR}/branches", {"name": "try", "revision": "v1/raw"}, 201)
    assert [ref["name"] for ref in send(ben, "GET", f"{CIFAR}/refs")["items"]] == [
        "main",
        "try",
        "v1/raw",
    ]
    versions = send(ben, "GET", f"{CIFAR}/versions?limit=1")
    assert [row["version"] for row in versions["items"]] == [2]
    rest = send(ben, "GET", f"{CIFAR}/versions?cursor={versions['next']}")["items"]
    assert [(row["version"], row["tags"]) for row in rest] == [(1, ["v1/raw"])]
    assert send(ben, "GET", f"{CIFAR}/versions/v1/raw")["commit"] == first["commit"]
    send(ben, "DELETE", f"{CIFAR}/versions/1", status=409)
    send(ben, "DELETE", f"{CIFAR}/branches/v1/raw", status=404)
    send(ben, "DELETE", f"{CIFAR}/tags/v1/raw", status=204)
    send(ben, "DELETE", f"{CIFAR}/branches/try", status=204)
    plan = send(ben, "GET", f"{CIFAR}/retention?keep_last=1")
    assert (plan["versions"], plan["bytes"]) == ([1], 3)
    assert send(ben, "GET", f"{CIFAR}/retention")["versions"] == []
    assert send(ben, "POST", f"{CIFAR}/retention", {"keep_last": 1})["bytes"] == 3
    send(ben, "GET", f"{CIFAR}/versions/1", status=404)
    row = send(ben, "GET", f"{ROOT}?q=cif&owner=me&sort=-bytes")["items"][0]
    assert (row["head"]["version"], row["bytes"], row["versions"]) == (2, 7, 1)
    send(ben, "GET", f"{ROOT}?visibility=secret", status=400)
    assert send(ben, "GET", f"{ROOT.replace('datasets', 'checkpoints')}")["items"] == []


def test_files_are_listed_in_pages_and_downloaded_in_ranges(ben):
    data = {f"train/{n}.txt": b"abc%d" % n for n in range(5)}
    made = commit(ben, data | {"a.txt": b"a", "z.txt": b"z"})
    found, after = [], ""
    while after is not None:
        page = send(ben, "GET", f"{CIFAR}/tree?limit=2&after={after}")
        found, after = found + [(i["type"], i["path"]) for i in page["items"]], page["next"]
    assert found == [("file", "a.txt"), ("folder", "train"), ("file", "z.txt")]
    page = send(ben, "GET", f"{CIFAR}/tree?recursive=1&path=train&after=train/1.txt&limit=2")
    assert [i["path"] for i in page["items"]] == ["train/2.txt", "train/3.txt"]
    assert page["next"] == "train/3.txt"
    diff = send(ben, "GET", f"{CIFAR}/diff?limit=2&after=train/1.txt")
    assert [i["path"] for i in diff["items"]] == ["train/2.txt", "train/3.txt"]
    for bad, status in (("path=no", 404), ("path=../etc", 400), ("limit=0", 400)):
        send(ben, "GET", f"{CIFAR}/tree?{bad}", status=status)
    file = f"{CIFAR}/files/{made['commit']}/train/1.txt"
    assert b"".join(send(ben, "GET", file)) == b"abc1"
    assert b"".join(send(ben, "GET", file, status=206, Range="bytes=2-")) == b"c1"
    for path in ("no", "train", "%2e%2e/%2e%2e/etc/passwd", "train//1.txt"):
        answer = ben.get(f"{CIFAR}/files/main/{path}")
        assert answer.status_code in (400, 404), path


def test_nginx_sends_the_file(ben, settings):
    settings.MUSTER_ACCEL = True
    commit(ben, {"a.txt": b"a"})
    path = send(ben, "GET", f"{CIFAR}/files/main/a.txt")["X-Accel-Redirect"]
    assert path.startswith("/_files/") and path.endswith(sha256(b"a"))


def start(client: Client, size: int, status: int = 201, **metadata: str):
    pairs = ",".join(f"{k} {base64.b64encode(v.encode()).decode()}" for k, v in metadata.items())
    headers = {"Upload_Length": str(size), "Upload_Metadata": pairs, "Tus_Resumable": "1.0.0"}
    return send(client, "POST", f"{CIFAR}/uploads", b"", status, **headers)


def piece(client: Client, url: str, offset: int, data: bytes, status: int = 204):
    headers = {"Upload_Offset": str(offset), "Tus_Resumable": "1.0.0", "content_type": PIECE}
    return send(client, "PATCH", url, data, status, **headers)


def test_upload_in_pieces_resumes_and_ends_with_the_digest(story, ben):
    options = send(ben, "OPTIONS", f"{CIFAR}/uploads", status=204)
    assert (options["Tus-Version"], options["Tus-Extension"]) == ("1.0.0", "creation,termination")
    url = start(ben, 6, filename="ü.bin", sha256=sha256(b"abcdef"))["Location"]
    assert piece(ben, url, 0, b"abc")["Upload-Offset"] == "3"
    assert send(ben, "HEAD", url)["Upload-Offset"] == "3"
    assert piece(ben, url, 0, b"abc", 409)["code"] == "wrong_offset"
    assert piece(ben, url, 3, b"defg", 400)["code"] == "too_long"
    came = int(send(ben, "HEAD", url)["Upload-Offset"])
    assert piece(ben, url, came, b"abcdef"[came:])["Upload-Sha256"] == sha256(b"abcdef")
    state = send(ben, "HEAD", url)
    assert (state["Upload-Offset"], state["Upload-Length"]) == ("6", "6")
    assert state["Upload-Sha256"] == sha256(b"abcdef")
    changes = [{"op": "add", "path": "ü.bin", "sha256": sha256(b"abcdef")}]
    send(ben, "POST", f"{CIFAR}/commits", {"changes": changes}, 201)
    assert start(ben, 0)["Upload-Sha256"] == sha256(b"")
    other = start(ben, 3)["Location"]
    send(story.api(story.ada), "HEAD", other, status=404)  # somebody else's upload
    send(ben, "DELETE", other, status=204)
    send(ben, "HEAD", other, status=404)


def test_upload_with_bad_headers_or_bytes_is_refused(ben):
    url = start(ben, 3, sha256=sha256(b"abc"))["Location"]
    send(ben, "PATCH", url, b"abc", 415, Upload_Offset="0")
    send(ben, "PATCH", url, b"abc", 400, content_type=PIECE)
    send(ben, "HEAD", url, status=412, Tus_Resumable="0.2.2")
    assert piece(ben, url, 0, b"abd", 400)["code"] == "checksum"
    send(ben, "HEAD", url, status=404)  # it can only begin again
    start(ben, 3, 400, sha256="../../etc")
    for headers in ({}, {"Upload_Length": "-1"}, {"Upload_Length": "3", "Upload_Metadata": "a %"}):
        send(ben, "POST", f"{CIFAR}/uploads", b"", 400, **headers)
    start(ben, 1 << 50, 413)
    wrong = send(ben, "PUT", f"{CIFAR}/contents?sha256={sha256(b'x')}", b"y", 400)
    assert wrong["code"] == "checksum"
    with platform_scope("test"):
        assert not Content.objects.exists() and not Upload.objects.exists()


def batch(files: list[bytes], **wrong) -> bytes:
    named = [{"sha256": sha256(data), "bytes": len(data), **wrong} for data in files]
    return json.dumps({"files": named}).encode() + b"\n" + b"".join(files)


def test_small_files_go_both_ways_in_one_request(story, ben, django_assert_max_num_queries):
    data = {f"in/{n}": b"%d" % n * n for n in range(300)}  # the first is empty
    with django_assert_max_num_queries(40):  # not a number for each file
        body = batch([*data.values()])
        stored = send(ben, "PUT", f"{CIFAR}/contents/batch", body, 201)["items"]
    assert [row["sha256"] for row in stored] == [sha256(content) for content in data.values()]
    changes = [{"op": "add", "path": p, "sha256": sha256(c)} for p, c in data.items()]
    send(ben, "POST", f"{CIFAR}/commits", {"changes": changes}, 201)
    paths = ["in/299", "in/0", "in/7"]
    answer = send(ben, "POST", f"{CIFAR}/downloads/main", {"paths": paths})
    assert b"".join(answer.streaming_content) == b"".join(data[path] for path in paths)
    for wrong, status in ((["in/no"], 404), ([], 400), (["../a"], 400), (["in/7"] * 1001, 400)):
        send(ben, "POST", f"{CIFAR}/downloads/main", {"paths": wrong}, status)
    with org_scope(story.atlas.id):
        assert Repository.objects.get().stored_bytes == sum(map(len, set(data.values())))


def test_refused_batch_stores_nothing(story, ben):
    files = [b"one", b"two"]
    for body, status, code in (
        (batch(files, sha256=sha256(b"one")), 400, "checksum"),
        (batch(files)[:-1], 400, "incomplete"),
        (batch(files) + b"!", 400, "too_long"),
        (batch(files, bytes=2 << 20), 400, "invalid_input"),
        (batch(files, sha256="../../etc"), 400, "invalid_input"),
        (batch([b"x"] * 1001), 400, "invalid_input"),
        (batch([b"x"] * 40, bytes=1 << 20), 413, "too_large"),
        (b"{", 400, "not_json"),
        (b"[]\n", 400, "invalid_input"),
    ):
        refused = send(ben, "PUT", f"{CIFAR}/contents/batch", body, status)
        assert refused["code"] == code, body[:100]
    with org_scope(story.atlas.id):
        whose = {"scope": "team", "subject": "vision", "resource": "storage", "limit": 0}
        set_quota(actor=story.actor(story.ada), org=story.atlas, **whose)
    send(ben, "PUT", f"{CIFAR}/contents/batch", batch(files), 409)
    stranger = story.api(story.cyd)
    send(stranger, "PUT", f"{CIFAR}/contents/batch", batch(files), 404)
    send(stranger, "POST", f"{CIFAR}/downloads/main", {"paths": ["a"]}, 404)
    with platform_scope("test"):
        assert not Content.objects.exists()
    assert not [*file_store().stored(story.atlas.id)]
    assert not [*(file_store().root / story.atlas.id.hex / "incoming").iterdir()]


def test_commit_with_bad_changes_makes_no_version(ben):
    send(ben, "PUT", f"{CIFAR}/contents", b"a", 201)
    add = {"op": "add", "path": "a", "sha256": sha256(b"a")}
    for change, status in (
        ({**add, "path": "../a"}, 400),
        ({**add, "path": "/etc/passwd"}, 400),
        ({**add, "path": "a\x00"}, 400),
        ({**add, "path": "x" * 5000}, 400),
        ({**add, "path": 5}, 400),
        ({**add, "sha256": sha256(b"not uploaded")}, 400),
        ({**add, "sha256": ["a"]}, 400),
        ({**add, "sha256": "\x00"}, 400),
        ({"op": "copy", "path": "b", "source": "a", "revision": "\x00"}, 400),
        ({"op": "delete", "path": "a"}, 404),
        ({"op": "copy", "path": "b", "source": "a"}, 404),
        ({"op": "run", "path": "a"}, 400),
        ("a", 400),
    ):
        send(ben, "POST", f"{CIFAR}/commits", {"changes": [change]}, status)
    both = {"changes": [add, {**add, "path": "a/b"}]}
    assert send(ben, "POST", f"{CIFAR}/commits", both, 409)["code"] == "path_conflict"
    for body in (b"\n", b"[]\n", b"{}\n{", b"{}\n" + b"x" * 100_000):
        send(ben, "POST", f"{CIFAR}/commits", body, 400, content_type="application/x-ndjson")
    missing = {"changes": [{**add, "sha256": sha256(b"new")}]}
    refused = send(ben, "POST", f"{CIFAR}/commits", missing, 400)
    assert (refused["code"], refused["data"]["missing"]) == ("not_uploaded", [sha256(b"new")])
    assert send(ben, "GET", f"{CIFAR}/versions")["items"] == []


def test_second_writer_is_told_that_the_branch_moved(ben):
    first = commit(ben, {"a": b"a"}, parent="")
    assert commit(ben, {"a": b"b"}, 409, parent="")["code"] == "moved"
    assert commit(ben, {"a": b"b"}, parent=first["commit"])["version"] == 2


def test_full_disk_is_507_and_leaves_nothing(ben, monkeypatch):
    url = start(ben, 3)["Location"]

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "os", StandIn(files.os, fsync=full))
        answer = send(ben, "PUT", f"{CIFAR}/contents", b"abc", 507)
        assert (answer["code"], answer["retryable"]) == ("disk_full", True)
        send(ben, "PUT", f"{CIFAR}/contents/batch", batch([b"abc"]), 507)
        piece(ben, url, 0, b"abc", 507)
    with platform_scope("test"):
        assert not Content.objects.exists()
    state = send(ben, "HEAD", url)  # all bytes had come before the failure
    assert (state["Upload-Offset"], state["Upload-Sha256"]) == ("3", sha256(b"abc"))


def test_sharing_trash_and_legal_hold(story, ben):
    commit(ben, {"a": b"a"})
    send(ben, "PUT", f"{CIFAR}/shares/speech", {"can_write": True})
    send(ben, "PUT", f"{CIFAR}/shares/vision", {}, 400)
    send(ben, "PUT", f"{CIFAR}/shares/none", {}, 404)
    assert send(ben, "GET", f"{CIFAR}/shares")["items"] == [{"team": "speech", "can_write": True}]
    send(ben, "DELETE", f"{CIFAR}/shares/speech", status=204)
    seen = send(ben, "GET", CIFAR)["updated_at"]
    send(ben, "PATCH", CIFAR, {"keep_last": 3, "seen_at": seen})
    assert send(ben, "PATCH", CIFAR, {"keep_last": 4, "seen_at": seen}, 409)["code"] == "changed"
    send(ben, "PATCH", CIFAR, {"legal_hold": "case 7"}, 403)
    ada = story.api(story.ada)
    send(ada, "PATCH", CIFAR, {"legal_hold": "case 7"})
    assert send(ben, "DELETE", CIFAR, status=409)["code"] == "legal_hold"
    send(ada, "PATCH", CIFAR, {"legal_hold": ""})
    send(ben, "DELETE", CIFAR, status=204)
    (row,) = send(ben, "GET", f"{ROOT}-trash")["items"]
    send(ben, "POST", f"{ROOT}-trash/{row['id']}".replace("datasets", "checkpoints"), status=404)
    assert send(ben, "POST", f"{ROOT}-trash/{row['id']}")["versions"] == 1
    send(ben, "DELETE", CIFAR, status=204)
    send(ben, "DELETE", f"{ROOT}-trash/{row['id']}", status=204)
    assert send(ben, "GET", f"{ROOT}-trash")["items"] == []


def test_other_tenants_get_404_on_each_route(story, ben):
    commit(ben, {"x": b"a"})
    upload = start(ben, 3)["Location"].rsplit("/", 1)[1]
    asked = {"source": ["https://example.org/a?signature=canary"]}
    imported = send(ben, "POST", f"{CIFAR}/imports", asked, 201)
    assert (imported["state"], imported["source"]) == ("queued", ["https://example.org/a"])
    with platform_scope("test"):
        row = Repository.objects.get()
    cyd = story.api(story.cyd)
    values = {
        "org": "atlas",
        "repository": "cifar",
        "trashed": str(row.id),
        "with_team": "vision",
        "revision": "1",
        "path": "x",
        "tag": "main",
        "branch": "main",
        "upload": upload,
        "imported": imported["id"],
    }
    wrong = []
    for pattern in urlpatterns:
        url, verbs = address(pattern, values), set(pattern.callback.cls.permissions)
        if pattern.name in {"api-dataset-upload", "api-checkpoint-upload"}:
            verbs.add("HEAD")
        urls = [url] if "cifar" not in url else [url, url.replace("atlas", "borealis")]
        for theirs, verb in itertools.product(urls, sorted(verbs)):
            with no_scope():
                code = cyd.generic(verb, theirs, b"{}", "application/json").status_code
            if code != 404:
                wrong.append(f"{verb} {theirs}: {code}")
    assert wrong == []


def address(pattern: URLPattern, values: dict[str, str]) -> str:
    text = f"/api/v1/{pattern.pattern}"
    for name, value in values.items():
        for kind in ("slug", "str", "path", "uuid"):
            text = text.replace(f"<{kind}:{name}>", value)
    return text
