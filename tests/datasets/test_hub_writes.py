"""The Hub's API: what a write means is honoured or refused, and reads answer what was asked."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
import unicodedata

import pytest

from datasets import services
from datasets.history import last_changes
from datasets.hub.gitignore import GitIgnore
from datasets.models import Content, Ref, Repository, Version
from datasets.selectors import tree_of
from portal.blobs import files
from portal.blobs.store import file_store
from portal.core.errors import Conflict, InvalidInput
from tests.datasets.conftest import commit
from tests.each import each
from tests.stand_in import StandIn
from workspaces.quotas.set_limits import set_quota

pytestmark = [pytest.mark.django_db]
API = "/hf/api/datasets/atlas/cifar"


@pytest.fixture
def hub(stage):
    """Return a client of Ben, who owns `cifar`."""
    commit(stage.ben, stage.cifar, {"a.txt": b"released"})
    client = stage.story.api(stage.story.ben)

    def send(method, url, data=None, lines=None):
        body = json.dumps(data) if lines is None else "\n".join(map(json.dumps, lines))
        kind = "application/json" if lines is None else "application/x-ndjson"
        return client.generic(method, url, body, content_type=kind)

    return send


def added(path, data=b"new"):
    value = {"path": path, "content": base64.b64encode(data).decode(), "encoding": "base64"}
    return {"key": "file", "value": value}


HEADER = {"key": "header", "value": {"summary": "Change"}}


@each(
    "method, url, data, field",
    [
        ("POST", f"{API}/preupload/main?create_pr=1", {"files": []}, "create_pr"),
        ("POST", f"{API}/preupload/main", {"files": [], "draft": True}, "draft"),
        ("PUT", f"{API}/settings", {"gated": "auto", "visibility": "private"}, "gated"),
        ("PUT", f"{API}/settings", {"visibility": "protected"}, "visibility"),
        ("PUT", f"{API}/settings", {"private": [1]}, "private"),
        ("PUT", f"{API}/settings", {"discussionsDisabled": True, "private": True}, "discussions"),
        (
            "POST",
            "/hf/api/repos/create",
            {"type": "dataset", "name": "n", "region": "eu"},
            "region",
        ),
        (
            "POST",
            "/hf/api/repos/create",
            {"type": "dataset", "name": "n", "resourceGroupId": "6"},
            "resourceGroupId",
        ),
        ("POST", "/hf/api/repos/create", {"type": "space", "name": "n", "sdk": "static"}, "type"),
        ("POST", f"{API}/branch/b", {"overwrite": True}, "overwrite"),
        ("POST", f"{API}/tag/main", {"tag": "t", "force": True}, "force"),
        ("GET", "/hf/api/datasets?filter=task:asr", None, "filter"),
    ],
)
def test_a_parameter_that_is_not_honoured_is_refused_by_name(hub, method, url, data, field):
    answer = hub(method, url, data)
    assert answer.status_code == 400, answer.content
    assert field in answer.headers["X-Error-Message"]
    assert (Repository.objects.get().visibility, Ref.objects.count()) == ("team", 1)


@each(
    "query, lines, field",
    [
        ("?create_pr=1", [HEADER, added("a.txt")], "create_pr"),
        ("?hot_reload=1", [HEADER, added("a.txt")], "hot_reload"),
        ("", [{"key": "header", "value": {"summary": "x", "branch": "b"}}, added("b")], "branch"),
        ("", [HEADER, {"key": "renamedFile", "value": {"path": "b", "oldPath": "a.txt"}}], ""),
        ("", [HEADER, {"key": "lfsFile", "value": {"path": "b", "oldPath": "a.txt"}}], "oldPath"),
        ("", [HEADER, {"key": "file", "value": {"path": "b", "encoding": []}}], "encoding"),
    ],
)
def test_a_commit_that_asks_for_more_changes_nothing(hub, query, lines, field):
    answer = hub("POST", f"{API}/commit/main{query}", lines=lines)
    assert answer.status_code == 400, answer.content
    assert field in answer.headers["X-Error-Message"]
    assert Version.objects.count() == 1


def test_small_files_of_a_commit_are_stored_together(
    hub, stage, django_assert_max_num_queries, monkeypatch
):
    data = {f"in/{n}.txt": b"%d" % n for n in range(300)}
    synced = []
    monkeypatch.setattr(files, "os", StandIn(os, fsync=synced.append))
    with django_assert_max_num_queries(50):  # not a number for each file
        lines = [HEADER, *(added(path, content) for path, content in data.items())]
        assert hub("POST", f"{API}/commit/main", lines=lines).status_code == 200
    assert len(synced) <= 300 + 256 + 10  # each file and each folder once
    store, org_id = file_store(), stage.cifar.org_id
    tree = tree_of(Version.objects.get(message="Change"))
    found = {entry.path: b"".join(store.read(org_id, entry.sha256)) for entry in tree.entries()}
    assert found == data | {"a.txt": b"released"}
    full = {"scope": "team", "subject": "vision", "resource": "storage", "limit": 5000}
    set_quota(actor=stage.ada, org=stage.story.atlas, **full)
    lines = [HEADER, *(added(f"{n}", b"%d" % n * 10) for n in range(300))]
    refused = hub("POST", f"{API}/commit/main", lines=lines)
    assert refused.status_code == 409, refused.content
    assert Version.objects.count() == 2 and Content.objects.count() == 301


def test_private_false_is_for_the_organization_and_says_so(hub):
    for data, expected in (({"private": False}, False), ({"visibility": "private"}, True)):
        assert hub("PUT", f"{API}/settings", data).status_code == 200
        assert hub("GET", API).json()["private"] is expected
    made = hub("POST", "/hf/api/repos/create", {"type": "dataset", "name": "n", "private": False})
    assert made.status_code == 200
    assert Repository.objects.get(name="n").visibility == "organization"


def test_tags_exist_before_files_and_are_not_branches(hub, stage):
    with_tag = {"tag": "v0", "message": "Nothing yet"}
    assert hub("POST", "/hf/api/repos/create", {"type": "dataset", "name": "n"}).status_code == 200
    url = "/hf/api/datasets/atlas/n"
    assert hub("POST", f"{url}/tag/main", with_tag).status_code == 200
    assert hub("POST", f"{url}/tag/main", with_tag).status_code == 409
    assert hub("GET", f"{url}/revision/v0").json()["sha"] == "0" * 40
    hub("POST", f"{API}/branch/wip", {})
    for address in (f"{API}/tag/wip", f"{API}/tag/none", f"{url}/branch/v0"):
        answer = hub("DELETE", address)
        assert (answer.status_code, answer.headers["X-Error-Code"]) == (404, "RevisionNotFound")
    assert Ref.objects.count() == 4
    page = stage.story.client(stage.story.ben).get("/atlas/datasets/n")
    assert b"v0" in page.content


@each(
    "method, url, status, code",
    [
        ("GET", f"{API}/discussions", 404, None),
        ("POST", f"{API}/like", 404, None),
        ("GET", "/hf/api/spaces/atlas/cifar", 404, None),
        ("GET", f"{API}/revision/none", 404, "RevisionNotFound"),
        ("HEAD", "/hf/datasets/atlas/cifar/resolve/main/none", 404, "EntryNotFound"),
        ("GET", "/hf/api/datasets/atlas/none", 404, "RepoNotFound"),
        ("GET", "/hf/api/datasets/nowhere/none", 404, "RepoNotFound"),
        ("GET", "/hf/api/models/gpt2", 404, "RepoNotFound"),
        ("GET", "/hf/api/models/gpt2/revision/main", 404, "RepoNotFound"),
        ("HEAD", "/hf/gpt2/resolve/main/config.json", 404, "RepoNotFound"),
    ],
)
def test_what_is_missing_is_named(hub, method, url, status, code):
    answer = hub(method, url)
    assert (answer.status_code, answer.headers.get("X-Error-Code")) == (status, code)


def test_a_bad_token_is_not_a_missing_repository(stage, client):
    answer = client.get(API, headers={"Authorization": "Bearer mst_wrong"})
    assert answer.status_code == 401
    assert answer.headers["X-Error-Message"] == "Invalid credentials in Authorization header"
    assert "X-Error-Code" not in answer.headers
    assert "Tokens page" in answer.json()["error"]
    assert "Bearer" in answer.headers["WWW-Authenticate"]
    assert client.get(API).headers["X-Error-Code"] == "RepoNotFound"


def test_a_renamed_repository_is_found_by_its_old_name(hub, stage):
    sent = {"fromRepo": "atlas/cifar", "toRepo": "atlas/images", "type": "dataset"}
    assert hub("POST", "/hf/api/repos/move", sent).status_code == 200
    answer = hub("GET", f"{API}/tree/main?recursive=true")
    assert answer.status_code == 307
    assert answer.headers["Location"] == "/hf/api/datasets/atlas/images/tree/main?recursive=true"
    answer = hub("HEAD", "/hf/datasets/atlas/cifar/resolve/main/a.txt")
    assert answer.headers["Location"] == "/hf/datasets/atlas/images/resolve/main/a.txt"
    made = hub("POST", f"{API}/commit/main", lines=[HEADER, added("b.txt")])
    assert "atlas/images" in made.json()["commitUrl"]
    assert stage.story.api(stage.story.cyd).get(API).status_code == 404
    assert (
        hub("POST", "/hf/api/repos/create", {"type": "dataset", "name": "cifar"}).status_code == 200
    )
    assert hub("GET", API).json()["sha"] == "0" * 40, "a name that is used again is the new one"


def test_history_is_squashed_to_one_commit_with_the_same_files(hub, stage):
    commit(stage.ben, stage.cifar, {"b.txt": b"b"}, message="Second")
    assert len(hub("GET", f"{API}/commits/main").json()) == 2
    assert hub("POST", f"{API}/super-squash/main", {"message": "One"}).status_code == 200
    assert [row["title"] for row in hub("GET", f"{API}/commits/main").json()] == ["One"]
    names = [entry.path for entry in tree_of(Version.objects.get(number=3)).entries()]
    assert names == ["a.txt", "b.txt"]
    Repository.objects.update(legal_hold="A case")
    assert hub("POST", f"{API}/super-squash/main", {}).status_code == 409


def test_expanded_entries_name_the_commit_that_changed_them(hub, stage):
    ben, cifar = stage.ben, stage.cifar
    same = services.put_file(actor=ben, repository=cifar, chunks=[b"same"]).sha256
    many = [services.Add(f"d/{number:04}", same) for number in range(3000)]  # several blocks
    second = services.commit(actor=ben, repository=cifar, changes=many, message="Many")
    third = commit(ben, cifar, {"d/0007": b"changed", "z": b"z"}, message="Third")
    fourth = services.commit(
        actor=ben, repository=cifar, changes=[services.Delete("d/2999")], message="Fourth"
    )
    found = {row["path"]: row for row in hub("GET", f"{API}/tree/main?expand=true").json()}
    first = Version.objects.get(number=1)
    expected = {"d": fourth, "a.txt": first, "z": third}
    assert {path: row["lastCommit"]["id"] for path, row in found.items()} == {
        path: version.commit for path, version in expected.items()
    }
    asked = {"paths": ["d/0007", "d/2000"], "expand": True}
    rows = hub("POST", f"{API}/paths-info/main", asked).json()
    assert [row["lastCommit"]["title"] for row in rows] == ["Third", "Many"]
    assert last_changes(second, ["d", "a.txt"]) == {"d": second, "a.txt": first}
    assert "lastCommit" not in hub("GET", f"{API}/tree/main").json()[0]


@pytest.mark.both_databases
def test_names_that_differ_in_normalization_only_are_refused_together(stage):
    composed, decomposed = (unicodedata.normalize(form, "é.txt") for form in ("NFC", "NFD"))
    for names in ((composed, decomposed), (decomposed, composed)):
        with pytest.raises(Conflict, match="Unicode normalization"):
            commit(stage.ben, stage.cifar, {name: name.encode() for name in names})
    assert commit(stage.ben, stage.cifar, {decomposed: b"1"}).files == 1
    assert commit(stage.ben, stage.cifar, {composed: b"2"}).files == 1


def test_preupload_ignores_what_the_gitignore_says(hub, stage):
    commit(stage.ben, stage.cifar, {".gitignore": b"*.tmp\n"})
    files = [{"path": name, "size": 1, "sample": ""} for name in ("a.tmp", "a.log")]

    def ignored(**more):
        rows = hub("POST", f"{API}/preupload/main", {"files": files, **more}).json()["files"]
        return [row["path"] for row in rows if row["shouldIgnore"]]

    assert ignored() == ["a.tmp"]
    assert ignored(gitIgnore="*.log") == ["a.log"]


def test_gitignore_decides_as_git_does(tmp_path):
    paths = [
        *("a.tmp", "b.txt", "logs/a.tmp", "logs/keep.tmp", "build/x", "src/build/x", "src/a/b/c.o"),
        *("doc/a.md", "doc/s/a.md", "[x]", "x#", "#x", "!x", "x1", "x2", "xy", "deep/a/b/c/end"),
        *("deep/end", "foo/bar/x", "foo/z/bar", "x", "foo/bar.d/y", "sp/tail", "é.txt", "A.TMP"),
        *("sub/.env", ".env", "trail ", "with space"),
    ]
    texts = (
        "*.tmp\n!keep.tmp", "build/", "/build", "logs/\n!logs/keep.tmp", "doc/*.md", "**/end",
        "deep/**", "deep/**/end", "\\#x\n\\!x", "x[0-9]", "x[!0-9]", "x[[:digit:]]", "# comment\n\n",
        "foo/bar", "/foo/**/bar", "*", "*\n!*/\n!*.md", "**", "trail\\ ", "with space  ", "?",
        "sub/.env", ".env\n!sub/.env", "[", "[x]", "\\[x]", "src/**/c.o", "**/build/", "s*/t*l",
        "foo/*/", "/", "//", "a/**/", "x**", "**foo/bar", "é.*", "[a-c].tx?", "[]x]1", "!", "[^x]1",
    )  # fmt: skip
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    wrong = []
    for text in texts:
        (tmp_path / ".git" / "info" / "exclude").write_text(text)
        asked = subprocess.run(
            ["git", "-c", "core.ignorecase=false", "check-ignore", "--no-index", "-z", "--stdin"],
            cwd=tmp_path,
            input="\0".join(paths).encode(),
            capture_output=True,
            check=False,
        ).stdout
        git = {name.decode() for name in asked.split(b"\0") if name}
        ours = {path for path in paths if GitIgnore(text).excludes(path)}
        if git != ours:
            wrong.append((text, ours ^ git))
    assert wrong == []


def test_gitignore_that_would_take_long_is_refused():
    patterns = GitIgnore("\n".join(f"{'*a' * 100}{number}" for number in range(500)))
    names = (f"{'a' * 200}{number}b" for number in range(500))
    with pytest.raises(InvalidInput, match="too many patterns"):
        any(map(patterns.excludes, names))


def test_gitignore_of_long_lines_is_read_in_bounded_time():
    before = time.process_time()
    with pytest.raises(InvalidInput, match="too many patterns"):
        GitIgnore("[" * 20_000)
    assert GitIgnore(" " * 20_000 + "x").patterns
    assert time.process_time() - before < 0.5
