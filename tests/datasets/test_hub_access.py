"""The Hub's API and Xet, attacked: other tenants, narrow tokens, forged addresses."""

from __future__ import annotations

import hashlib
import json
import time

import pytest
from django.core import signing
from django.db import connection
from django.test.utils import CaptureQueriesContext

from datasets import services, trees
from datasets.hub import represent
from datasets.models import Content, Version
from datasets.services import share_repository
from datasets.xet.xorbs import _end_of_chunk, _read_chunk
from tests.cases import read_case
from tests.datasets.conftest import commit
from tests.each import each
from workspaces.models import Membership, TeamMembership, User
from workspaces.organizations.services import remove_member
from workspaces.tenancy.scope import org_scope

pytestmark = [pytest.mark.django_db]
DATA = b"x" * 1000
DIGEST = hashlib.sha256(DATA).hexdigest()


def send(client, url, data=None):
    if data is None:
        return client.get(url)
    return client.post(url, json.dumps(data), content_type="application/json")


@pytest.fixture
def filled(stage):
    commit(stage.ben, stage.cifar, {"README.md": b"# CIFAR"})
    return stage


def routes(stage):
    api, files = "/hf/api/datasets/atlas/cifar", "/hf/datasets/atlas/cifar"
    xet = f"/xet/atlas/{stage.cifar.id}/v1"
    return {
        api: None,
        f"{api}/revision/main": None,
        f"{api}/tree/main": None,
        f"{api}/refs": None,
        f"{api}/commits/main": None,
        f"{api}/paths-info/main": {"paths": ["README.md"]},
        f"{api}/preupload/main": {"files": []},
        f"{api}/commit/main": {"key": "header", "value": {"summary": "x"}},
        f"{api}/branch/b": {},
        f"{api}/tag/main": {"tag": "t"},
        f"{api}/super-squash/main": {},
        f"{api}/lfs-files/duplicate": {
            "target": {"type": "dataset", "name": "atlas/cifar"},
            "files": [],
        },
        f"{xet}/reconstructions/{hashlib.sha256(b'# CIFAR').hexdigest()}": None,
        f"{api}/xet-read-token/main": None,
        f"{api}/xet-write-token/main": None,
        f"{files}/resolve/main/README.md": None,
        f"{files}.git/info/lfs/objects/batch": {"operation": "upload", "objects": []},
        f"{xet}/chunks/default/{'0' * 64}": None,
        f"{xet}/xorbs/default/{'0' * 64}": {},
        f"{xet}/shards": {},
    }


def test_other_tenants_and_teams_find_nothing(filled):
    story = filled.story
    filled.cifar.visibility = "private"
    filled.cifar.team, filled.cifar.owner = story.speech, story.ada
    filled.cifar.save()
    for client in (story.api(story.cyd), story.api(story.ben)):
        for url, data in routes(filled).items():
            assert send(client, url, data).status_code == 404, url
    code = send(story.api(story.ben), "/hf/api/datasets/atlas/cifar").headers["X-Error-Code"]
    assert code == "RepoNotFound"


CARDS = [  # name, metadata, status of validate-yaml
    ("card-merge-25.md", {}, 400),
    ("card-alias-7.md", {}, 400),
    ("card-integer-key.md", {"labels": {"0": "cat", "1": "dog"}}, 200),
]


def test_card_that_grows_is_refused_and_one_with_odd_keys_is_shown(stage, subtests):
    client = stage.story.api(stage.story.ben)
    for name, expected, status in CARDS:
        with subtests.test(name=name):
            card = read_case(name)
            commit(stage.ben, stage.cifar, {"README.md": card})
            before = time.process_time()
            shown = client.get("/hf/api/datasets/atlas/cifar")
            checked = send(client, "/hf/api/validate-yaml", {"content": card.decode()})
            assert time.process_time() - before < 1  # 22 s and more before
            assert (shown.status_code, shown.json()["cardData"]) == (200, expected)
            assert checked.status_code == status


def test_infos_of_very_many_files_do_not_list_them(stage, monkeypatch):
    monkeypatch.setattr(represent, "MOST_SIBLINGS", 3)
    monkeypatch.setattr(represent, "MOST_BLOBS", 2)
    client, url = stage.story.api(stage.story.ben), "/hf/api/datasets/atlas/cifar"
    paths = ["a/1.txt", 'b"],["/é.txt', "c.txt"]
    commit(stage.ben, stage.cifar, dict.fromkeys(paths, b"x"))
    siblings = client.get(url).json()["siblings"]
    assert [one["rfilename"] for one in siblings] == paths
    assert client.get(f"{url}?blobs=true").json()["siblings"] is None
    commit(stage.ben, stage.cifar, {"d.txt": b"x"})
    assert client.get(url).json()["siblings"] is None  # not a part of them


def test_infos_of_many_paths_read_each_block_of_the_tree_once(stage, monkeypatch):
    monkeypatch.setattr(trees, "AVERAGE", 2)
    monkeypatch.setattr(trees, "LARGEST", 4)
    paths = [f"{n:02}.txt" for n in range(40)]
    commit(stage.ben, stage.cifar, dict.fromkeys(paths, b"x"))
    given = [*paths[::3], *paths[1::3], "none", *paths[2::3]]
    client, url = stage.story.api(stage.story.ben), "/hf/api/datasets/atlas/cifar/paths-info/main"
    with CaptureQueriesContext(connection) as queries:
        found = send(client, url, {"paths": given}).json()
    assert [one["path"] for one in found] == [path for path in given if path != "none"]
    blocks = len(Version.objects.latest("created_at").blocks)
    reads = [q for q in queries if 'FROM "datasets_block"' in q["sql"]]
    assert 9 < blocks >= len(reads) - 1
    refused = send(client, url, {"paths": ["a"] * 10_001})
    assert (refused.status_code, "10000" in refused.json()["error"]) == (400, True)


def test_nobody_without_a_token(filled):
    for client in (filled.story.client(), filled.story.client(filled.story.ben)):
        for url, data in {**routes(filled), "/hf/api/whoami-v2": None}.items():
            assert send(client, url, data).status_code == 401, url


def test_a_token_to_read_writes_nothing(filled):
    story = filled.story
    client = story.api(story.ben, scopes=("datasets:read",))
    before = Version.objects.count(), Content.objects.count()
    for url, data in routes(filled).items():
        found = send(client, url, data).status_code
        is_read = (data is None and "write" not in url) or "paths-info" in url or "verify" in url
        assert found in ({200, 404, 409} if is_read else {403}), (url, found)
    assert send(client, "/hf/api/repos/create", {"name": "new", "type": "model"}).status_code == 403
    assert (Version.objects.count(), Content.objects.count()) == before


def test_addresses_to_upload_to_are_signed_for_one_file_and_person(filled):
    story = filled.story
    client, anonymous = story.api(story.ben), story.client()
    asked = {"operation": "upload", "objects": [{"oid": DIGEST, "size": len(DATA)}]}
    batch = send(client, "/hf/datasets/atlas/cifar.git/info/lfs/objects/batch", asked).json()
    url = batch["objects"][0]["actions"]["upload"]["href"].removeprefix("http://testserver")

    def put(url, data=DATA):
        return anonymous.put(url, data, content_type="application/octet-stream").status_code

    assert put(url, b"y" * 1000) == 400
    assert put(url, b"x") == 400
    assert put(url[:-3] + "abc") == 403
    forged = signing.dumps(["atlas", str(story.ben.id), str(filled.cifar.id), DIGEST, 1], salt="x")
    assert put(f"/hf/upload/{forged}") == 403
    assert put(url) == 200
    again = send(client, "/hf/datasets/atlas/cifar.git/info/lfs/objects/batch", asked).json()
    assert "actions" not in again["objects"][0]
    remove_member(actor=filled.ada, org=story.atlas, email=story.ben.email)
    assert put(url) == 404


@each(
    "line",
    [
        b"{",
        b"[]",
        b'{"key": "file"}',
        b'{"key": "file", "value": {"path": "../a", "content": "eA=="}}',
        b'{"key": "file", "value": {"path": "a", "content": "%%%"}}',
        b'{"key": "file", "value": {"path": 1, "content": "eA=="}}',
        b'{"key": "lfsFile", "value": {"path": "a", "oid": "' + DIGEST.encode() + b'"}}',
        b'{"key": "lfsFile", "value": {"path": "a", "oid": {}}}',
        b'{"key": "deletedFile", "value": {"path": null}}',
        b'{"key": "header", "value": {"summary": 5}}',
        b'{"key": "header", "value": {"parentCommit": 5}}',
    ],
)
def test_malformed_commits_are_refused_whole(filled, line):
    client = filled.story.api(filled.story.ben)
    url = "/hf/api/datasets/atlas/cifar/commit/main"
    good = b'{"key": "file", "value": {"path": "good", "content": "eA=="}}\n'
    answer = client.post(url, good + line, content_type="application/x-ndjson")
    assert answer.status_code in {400, 404, 412}, answer.content
    assert Version.objects.count() == 1


@pytest.mark.parametrize("files", [None, 5, [5], [{}], [{"path": "a"}], [{"path": 1, "size": 1}]])
def test_malformed_requests_are_refused(filled, files):
    client = filled.story.api(filled.story.ben)
    url = "/hf/api/datasets/atlas/cifar/preupload/main"
    assert send(client, url, {"files": files}).status_code == 400
    url = "/hf/datasets/atlas/cifar.git/info/lfs/objects/batch"
    wanted = {"operation": "upload", "objects": files, "transfers": 7}
    assert send(client, url, wanted).status_code == 400


def test_team_it_is_shared_with_reads_until_it_leaves_and_other_tenants_never(filled):
    story, dora = filled.story, User.objects.create(email="dora@example.org", is_active=True)
    with org_scope(story.atlas.id):
        Membership.objects.create(org=story.atlas, user=dora, role="member")
        mine = TeamMembership.objects.create(
            org=story.atlas, team=story.speech, user=dora, role="member"
        )
        share_repository(actor=filled.ben, repository=filled.cifar, team=story.speech)
    rest, pages = "/api/v1/orgs/atlas/datasets/cifar", "/atlas/datasets/cifar"
    reads = [
        *(url for url, data in routes(filled).items() if data is None and "chunks" not in url),
        *(f"{rest}{more}" for more in ("", "/versions", "/tree", "/files/main/README.md", "/refs")),
    ]
    reads = [url for url in reads if "write-token" not in url]
    shown = [f"{pages}{more}" for more in ("", "/versions", "/lineage", "/raw/README.md")]

    def codes(person):
        api, browser = story.api(person), story.client(person)
        found = {url: api.get(url).status_code for url in reads}
        return found | {url: browser.get(url).status_code for url in shown}

    def refused(person):
        return {url: code for url, code in codes(person).items() if code != 404}

    readable = codes(dora)
    assert set(readable.values()) <= {200, 302}, readable
    hub = "/hf/api/datasets/atlas/cifar/commit/main"
    header = {"key": "header", "value": {"summary": "x"}}
    assert send(story.api(dora), hub, header).status_code == 403, "it is shared to read"
    assert refused(story.cyd) == {}
    with org_scope(story.borealis.id):
        foreign = story.north
    with org_scope(story.atlas.id):
        url = f"{rest}/shares/{foreign.slug}"
        put = story.api(story.ben).put(url, {}, content_type="application/json")
        assert put.status_code == 404, "only teams of the same organization"
        mine.delete()
    assert refused(dora) == {}


def test_files_are_read_by_xet_only_from_versions_and_signed_addresses(filled):
    story = filled.story
    client, anonymous = story.api(story.ben), story.client()
    data = b"0123456789" * 20_000  # four chunks
    digest = hashlib.sha256(data).hexdigest()
    services.put_file(actor=filled.ben, repository=filled.cifar, chunks=[data])
    url = f"/xet/atlas/{filled.cifar.id}/v1/reconstructions/{digest}"
    assert client.get(url).status_code == 404, "no version names it"
    commit(filled.ben, filled.cifar, {"data.bin": data})
    found = client.get(url, headers={"Range": "bytes=70000-139999"}).json()
    [term] = found["terms"]
    [fetch] = found["fetch_info"][term["hash"]]
    address = fetch["url"].removeprefix("http://testserver")
    packed = b"".join(anonymous.get(address).streaming_content)
    assert len(packed) == fetch["url_range"]["end"] - fetch["url_range"]["start"] + 1
    plain, at = b"", 0
    while (end := _end_of_chunk(packed, at)) is not None:
        plain, at = plain + _read_chunk(packed, at, end), end
    assert at == len(packed)
    assert len(plain) == term["unpacked_length"]
    start = found["offset_into_first_range"]
    assert plain[start : start + 70_000] == data[70_000:140_000]
    assert client.get(url, headers={"Range": "bytes=200000-"}).status_code == 416
    assert anonymous.get(address[:-3] + "abc").status_code == 403
    assert story.api(story.cyd).get(url).status_code == 404


def test_files_are_copied_from_versions_to_where_one_may_write_only(filled):
    story = filled.story
    url = "/hf/api/datasets/atlas/cifar/lfs-files/duplicate"
    unused = services.put_file(actor=filled.ben, repository=filled.cifar, chunks=[DATA]).sha256
    card = hashlib.sha256(b"# CIFAR").hexdigest()
    target = services.create_repository(
        actor=filled.ben, team=story.vision, kind="checkpoint", name="copy"
    )

    def copied(to, client=None):
        files = [{"sha256": digest, "xetHash": digest} for digest in (card, unused)]
        data = {"target": {"type": "model", "name": to}, "files": files}
        return send(client or story.api(story.ben), url, data)

    assert [row["sha256"] for row in copied("atlas/copy").json()["failed"]] == [unused]
    assert list(Content.objects.filter(repository=target).values_list("sha256", flat=True)) == [
        card
    ]
    assert copied("borealis/copy").status_code == 400
    assert copied("atlas/none").status_code == 404
    reader = story.api(story.ben, scopes=("datasets:read",))
    assert copied("atlas/copy", reader).status_code == 403
