"""Pages of datasets: what they show, refuse and change. The journey is in tests/look."""

from __future__ import annotations

import io
import json

import pytest
import yaml

from datasets import services
from datasets.models import Ref, Repository, Version
from datasets.selectors import find_version, tree_of, versions_of
from datasets.web.comparing import compare
from portal.core.errors import Conflict
from portal.web.previews import LONGEST, preview_of
from tests.datasets.conftest import commit
from tests.registry.conftest import safetensors
from workspaces.tenancy.scope import org_scope

pytestmark = pytest.mark.django_db
CIFAR = "/atlas/datasets/cifar"
RESNET = {"checkpoint": "resnet@1"}


@pytest.fixture
def browser(stage):
    return stage.story.client(stage.story.ben)


def shown(name: str, data: bytes):
    return preview_of(name, len(data), lambda: io.BytesIO(data))


def test_folder_shows_folders_first_and_its_readme_as_safe_html(stage, browser):
    commit(
        stage.ben,
        stage.cifar,
        {"a.txt": b"a", "train/x #1?.txt": b"x", "README.md": b"# Hi\n<script>bad()</script>"},
    )
    page = browser.get(CIFAR).content.decode()
    assert page.index(">train<") < page.index(">a.txt<")
    assert "<h3>Hi</h3>" in page and "<script>bad()" not in page
    assert "x%20%231%3F.txt" in browser.get(f"{CIFAR}/tree/train").content.decode()
    assert browser.get(f"{CIFAR}/tree/nothing").status_code == 404
    answer = browser.get(f"{CIFAR}/raw/train/x%20%231%3F.txt")
    assert b"".join(answer.streaming_content) == b"x"
    assert "attachment" in answer["Content-Disposition"]


def test_version_is_used_in_a_job_and_a_checkpoint_is_registered(stage, browser):
    with org_scope(stage.story.atlas.id):
        resnet = services.create_repository(
            actor=stage.ben, team=stage.story.vision, kind="checkpoint", name="resnet"
        )
        for repository in (stage.cifar, resnet):
            commit(stage.ben, repository, {"w": b"w"})
    expected = {CIFAR: {"data": "cifar@1"}, "/atlas/checkpoints/resnet": {"ckpt": RESNET}}
    for path, inputs in expected.items():
        actions = {str(a.label): a for a in browser.get(path).context["asset_actions"]}
        form = browser.get(actions["Use in a job"].href).context["yaml"]
        assert yaml.safe_load(form)["inputs"] == inputs
        assert actions["Copy link"].text.endswith(f"{path}?at=1")
        assert "download" in actions["Download"].command
    page = browser.get(actions["Register"].href).content.decode()
    assert 'value="checkpoints:/resnet@1"' in page and 'value="resnet"' in page


def test_large_folder_has_pages_after_a_name(stage, browser):
    commit(stage.ben, stage.cifar, {f"n/{n:03d}.txt": b"x" for n in range(150)})
    first = browser.get(f"{CIFAR}/tree/n").context
    assert [one["name"] for one in first["entries"]] == [f"{n:03d}.txt" for n in range(100)]
    rest = browser.get(first["next"]).context
    assert [one["name"] for one in rest["entries"]] == [f"{n:03d}.txt" for n in range(100, 150)]
    assert rest["next"] == ""


def test_repository_of_another_organization_is_not_found(stage):
    ben, cyd = stage.story.client(stage.story.ben), stage.story.client(stage.story.cyd)
    for path in ("", "/versions", "/settings", "/compare", "/upload", "/raw/x", "/file/x"):
        assert cyd.get(CIFAR + path).status_code == 404, path
        assert ben.get(f"/atlas/datasets/no{path}").status_code == 404, path


def test_few_files_are_uploaded_by_a_plain_form(stage, browser):
    files = [io.BytesIO(b"one"), io.BytesIO(b"two")]
    files[0].name, files[1].name = "1.txt", "2.txt"
    answer = browser.post(f"{CIFAR}/upload", {"files": files, "folder": "/in/", "message": ""})
    assert answer["Location"] == CIFAR
    version = find_version(stage.cifar)
    assert [entry.path for entry in tree_of(version).entries()] == ["in/1.txt", "in/2.txt"]
    assert version.message == "Upload 2 files"
    browser.post(f"{CIFAR}/upload", {"message": "nothing"})
    assert Version.objects.count() == 1


def test_selected_files_are_deleted_in_one_version_unless_the_branch_moved(stage, browser):
    first = commit(stage.ben, stage.cifar, {"a": b"a", "b/1": b"1", "b/2": b"2", "c": b"c"})
    form = {"path": ["a", "b"], "parent": first.commit}
    assert browser.post(CIFAR, form)["Location"] == CIFAR
    version = find_version(stage.cifar)
    assert (version.number, version.removed, version.message) == (
        2,
        3,
        "Delete 2 files and folders",
    )
    answer = browser.post(CIFAR, {"path": ["c"], "parent": first.commit}, follow=True)
    assert "Somebody has committed to main" in answer.content.decode()
    assert versions_of(stage.cifar).count() == 2


def test_restored_version_has_the_files_of_the_old_one(stage):
    first = commit(stage.ben, stage.cifar, {"a": b"1", "b": b"b"})
    changes = [services.Delete("b")]
    services.commit(actor=stage.ben, repository=stage.cifar, changes=changes, message="x")
    commit(stage.ben, stage.cifar, {"a": b"2", "b/c": b"a folder now"})
    made = services.restore_version(actor=stage.ben, repository=stage.cifar, version=first)
    assert (made.number, made.message) == (4, "Restore version 1")
    assert list(tree_of(made).entries()) == list(tree_of(first).entries())
    again = services.restore_version(actor=stage.ben, repository=stage.cifar, version=first)
    assert again.id == made.id


def test_versions_are_tagged_restored_and_untagged_by_forms(stage, browser):
    commit(stage.ben, stage.cifar, {"a": b"1"})
    commit(stage.ben, stage.cifar, {"a": b"2"})
    page = f"{CIFAR}/versions"
    browser.post(page, {"do": "tag", "version": "1", "name": "v1.0"})
    assert Ref.objects.get(name="v1.0").version.number == 1
    browser.post(page, {"do": "branch", "version": "1", "name": "try"})
    browser.post(page, {"do": "restore", "version": "v1.0"})
    assert find_version(stage.cifar).number == 3
    assert b"Go to main" in browser.get(f"{CIFAR}?at=v1.0").content
    browser.post(page, {"do": "untag", "name": "v1.0"})
    assert not Ref.objects.filter(name="v1.0").exists()
    assert browser.post(page, {"do": "nothing", "version": "1"}).status_code == 400


def test_comparison_has_lines_of_texts_and_pages(stage, browser):
    first = commit(stage.ben, stage.cifar, {"t.txt": b"a\nb\n", "bin": b"\x00\x01"})
    files = {f"n{n:03d}": b"x" for n in range(60)}
    second = commit(stage.ben, stage.cifar, {"t.txt": b"a\nc\n", "bin": b"\x00\x02", **files})
    page = compare(first, second)
    assert page.counts == {"added": 60, "changed": 2, "removed": 0}
    assert len(page.changes) == 50 and page.changes[0].lines == []
    rest = compare(first, second, start=page.next)
    assert (len(rest.changes), rest.next) == (12, "")
    assert rest.changes[-1].lines[1:] == [("same", "a"), ("removed", "b"), ("added", "c")]
    assert compare(second, first).counts == {"added": 0, "changed": 2, "removed": 60}
    assert browser.get(f"{CIFAR}/compare?from=2&to=1").status_code == 200
    assert browser.get(f"{CIFAR}/compare?from=9").status_code == 404


def test_settings_share_plan_hold_and_trash(stage, browser):
    page = f"{CIFAR}/settings"
    for number in range(3):
        commit(stage.ben, stage.cifar, {"a": str(number).encode()})
    answer = browser.post(page, {"do": "plan", "keep_last": "1", "keep_days": ""}, follow=True)
    assert "Would delete 2 versions and free 2 B." in " ".join(answer.content.decode().split())
    assert Repository.objects.get().keep_last == 0
    browser.post(page, {"do": "retention", "keep_last": "5", "keep_days": "9"})
    browser.post(page, {"do": "share", "team": "speech", "can_write": "1"})
    assert stage.cifar.shares.get().can_write
    browser.post(page, {"do": "unshare", "team": "speech"})
    assert not stage.cifar.shares.exists()
    browser.post(page, {"do": "hold", "legal_hold": "case 7"})  # for administrators only
    assert Repository.objects.get().legal_hold == ""
    moved = browser.post(page, {"do": "save", "name": "cifar10", "visibility": "private"})
    assert moved["Location"] == "/atlas/datasets/cifar10/settings"
    row = Repository.objects.get()
    assert (row.keep_last, row.keep_days, row.visibility) == (5, 9, "private")
    browser.post("/atlas/datasets/cifar10/settings", {"do": "delete"})
    assert Repository.objects.get().deleted_at
    trash = "/atlas/datasets/-/trash"
    assert b"cifar10" in browser.get(trash).content
    browser.post(trash, {"do": "restore", "repository": str(row.id)})
    assert Repository.objects.get().deleted_at is None


def test_new_repository_needs_a_team_of_ones_own(stage, browser):
    answer = browser.post("/atlas/checkpoints", {"team": "vision", "name": "resnet"})
    assert answer["Location"] == "/atlas/checkpoints/resnet"
    browser.post("/atlas/datasets", {"team": "speech", "name": "other"})
    assert not Repository.objects.filter(name="other").exists()
    assert "resnet" in browser.get("/atlas/checkpoints").content.decode()


def test_restore_is_refused_while_somebody_else_commits(stage, monkeypatch):
    first = commit(stage.ben, stage.cifar, {"a": b"1"})
    commit(stage.ben, stage.cifar, {"a": b"2"})
    plain = services.commits.tree_of

    def meanwhile(version):
        monkeypatch.setattr(services.commits, "tree_of", plain)
        commit(stage.ada, stage.cifar, {"b": b"b"})
        return plain(version)

    monkeypatch.setattr(services.commits, "tree_of", meanwhile)
    with pytest.raises(Conflict) as error:
        services.restore_version(actor=stage.ben, repository=stage.cifar, version=first)
    assert error.value.kind == "moved"


def test_previews_show_texts_tables_and_headers():
    assert shown("x.json", b'{"a":[1]}').text == '{\n  "a": [\n    1\n  ]\n}'
    assert shown("x.txt", "a\nµ".encode()).numbers == "1\n2"
    table = shown("x.tsv", b"a\tb\n1\t2\n")
    assert (table.kind, table.head, table.rows) == ("table", ["a", "b"], [["1", "2"]])
    lines = shown("x.jsonl", b'{"a": 1}\n\n{"b": [2], "a": null}\n')
    assert (lines.head, lines.rows) == (["a", "b"], [["1", ""], ["", "[2]"]])
    long = shown("x.csv", b"n\n" + b"1\n" * 300)
    assert (len(long.rows), long.is_cut) == (100, True)
    assert shown("x.safetensors", safetensors(format="pt")).facts["format"] == "safetensors"
    assert shown("x.parquet", b"PAR1").kind == "parquet"
    assert [shown(f"x.{kind}", b"x").kind for kind in ("png", "flac", "mp4")] == [
        "image",
        "audio",
        "video",
    ]


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("x.txt", b"\xff\xfe", "none"),
        ("x.txt", b"a\x00b", "none"),
        ("x.txt", b"", "text"),
        ("x.csv", b"", "text"),
        ("x.jsonl", b"[1]\n", "text"),
        ("x.jsonl", b"{broken\n", "text"),
        ("x.json", b"[" * 100_000, "text"),
        ("x.svg", b"<svg onload=x()>", "text"),
        ("x.html", b"<script>", "text"),
        ("x.txt", ("µ" * LONGEST).encode(), "text"),
        ("x.jsonl", json.dumps({"a": "x" * LONGEST}).encode(), "text"),
    ],
)
def test_hostile_files_have_a_harmless_preview(name, data, kind):
    assert shown(name, data).kind == kind
