"""Rules of versions, branches, tags, sharing, quotas and retention."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta

import pytest

from datasets import selectors, services
from datasets.models import Block, Content, Version
from datasets.services import retention
from portal.blobs.store import file_store, references
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted, QuotaExceeded
from tests.datasets.conftest import commit
from workspaces.models import Quota

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def paths(version):
    return [entry.path for entry in selectors.tree_of(version).entries()]


def test_versions_share_what_did_not_change(stage):
    first = commit(stage.ben, stage.cifar, {"train/1.png": b"one", "train/2.png": b"two"})
    second = commit(stage.ben, stage.cifar, {"train/2.png": b"2", "README.md": b"# CIFAR"})
    assert paths(first) == ["train/1.png", "train/2.png"]
    assert paths(second) == ["README.md", "train/1.png", "train/2.png"]
    assert (second.added, second.changed, second.removed) == (1, 1, 0)
    assert (second.number, second.parent_id, second.bytes) == (2, first.id, 11)
    for revision in ("", "main", "refs/heads/main", "2", second.commit, second.commit[:7]):
        assert selectors.find_version(stage.cifar, revision) == second
    entry = selectors.find_file(second, "train/2.png")
    assert b"".join(file_store().read(stage.cifar.org_id, entry.sha256)) == b"2"
    third = services.commit(
        actor=stage.ben,
        repository=stage.cifar,
        message="Move",
        changes=[
            services.Copy("train", "old"),
            services.Delete("train", is_folder=True),
            services.Copy("train/2.png", "two.png", revision="1"),
        ],
    )
    assert paths(third) == ["README.md", "old/1.png", "old/2.png", "two.png"]


def test_a_commit_without_changes_makes_no_version(stage):
    first = commit(stage.ben, stage.cifar, {"a": b"a"})
    assert commit(stage.ben, stage.cifar, {"a": b"a"}) == first


def test_two_writers_to_a_branch(stage):
    first = commit(stage.ben, stage.cifar, {"a": b"a"}, parent="")
    mine = services.put_file(actor=stage.ben, repository=stage.cifar, chunks=[b"mine"])
    commit(stage.ada, stage.cifar, {"a": b"theirs"}, parent=first.commit)
    change = {
        "actor": stage.ben,
        "repository": stage.cifar,
        "changes": [services.Add("b", mine.sha256)],
        "message": "Mine",
    }
    with pytest.raises(Conflict) as refused:
        services.commit(**change, parent=first.commit)
    assert refused.value.kind == "moved"
    assert paths(services.commit(**change)) == ["a", "b"]


def test_a_version_names_only_what_its_repository_has(stage):
    other = services.create_repository(
        actor=stage.ben, team=stage.story.vision, kind="dataset", name="other"
    )
    stored = services.put_file(actor=stage.ben, repository=other, chunks=[b"secret"])
    with pytest.raises(InvalidInput) as refused:
        services.commit(
            actor=stage.ben,
            repository=stage.cifar,
            changes=[services.Add("stolen", stored.sha256)],
            message="Guess",
        )
    assert refused.value.kind == "not_uploaded"
    assert refused.value.data["missing"] == [stored.sha256]


@pytest.mark.parametrize(
    "path",
    [
        *("../a", "/etc/passwd", "a//b", "a/./b", "%2e%2e/a", "a\\b", "a\x00", "", "x" * 300),
        *("x" * 4096, "ü" * 128, "한" * 86, "a/" * 2048 + "b", "a" * 200 + "/" + "b" * 800),
    ],
)
def test_paths_are_refused(stage, path):
    with pytest.raises(InvalidInput):
        commit(stage.ben, stage.cifar, {path: b"x"})


def test_a_file_cannot_be_a_folder(stage):
    commit(stage.ben, stage.cifar, {"a": b"a"})
    with pytest.raises(Conflict):
        commit(stage.ben, stage.cifar, {"a/b": b"b"})
    services.commit(
        actor=stage.ben, repository=stage.cifar, changes=[services.Delete("a")], message="Delete"
    )
    commit(stage.ben, stage.cifar, {"a/b": b"b"})


def test_composed_and_decomposed_names_are_one_file(stage):
    commit(stage.ben, stage.cifar, {"e\u0301.txt": b"1"})
    version = commit(stage.ben, stage.cifar, {"\u00e9.txt": b"2"})
    assert paths(version) == ["\u00e9.txt"]
    assert selectors.find_file(version, "e\u0301.txt").size == 1


def test_names_that_differ_in_case_are_two_files(stage):
    files = {"A.txt": b"1", "a.txt": b"22", "Dir/x": b"3", "dir/x": b"44"}
    version = commit(stage.ben, stage.cifar, files)
    assert {e.path: e.size for e in selectors.tree_of(version).entries()} == {
        path: len(data) for path, data in files.items()
    }
    longest = "ü" * 127  # 254 bytes
    assert longest in paths(commit(stage.ben, stage.cifar, {longest: b"x"}))


def test_archives_stay_as_they_are(stage):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("../../evil", "x")
    version = commit(stage.ben, stage.cifar, {"a.zip": archive.getvalue()})
    assert paths(version) == ["a.zip"]
    assert selectors.find_file(version, "a.zip").size == len(archive.getvalue())


def test_tags_and_branches(stage):
    first = commit(stage.ben, stage.cifar, {"a": b"1"})
    services.set_tag(actor=stage.ben, repository=stage.cifar, name="v1.2", version=first)
    services.create_branch(actor=stage.ben, repository=stage.cifar, name="dev", version=first)
    second = commit(stage.ben, stage.cifar, {"a": b"2"}, branch="dev")
    assert selectors.find_version(stage.cifar, "main") == first
    assert selectors.find_version(stage.cifar, "dev") == second
    with pytest.raises(Conflict):
        services.set_tag(actor=stage.ben, repository=stage.cifar, name="v1.2", version=second)
    services.set_tag(
        actor=stage.ben, repository=stage.cifar, name="v1.2", version=second, may_move=True
    )
    assert selectors.find_version(stage.cifar, "v1.2") == second
    for bad in ("3f2a91c", "12", "a..b", "refs/x", "-a", "a/"):
        with pytest.raises(InvalidInput):
            services.set_tag(actor=stage.ben, repository=stage.cifar, name=bad, version=first)
    with pytest.raises(Conflict):
        services.delete_ref(actor=stage.ben, repository=stage.cifar, name="main")
    services.delete_ref(actor=stage.ben, repository=stage.cifar, name="v1.2")
    with pytest.raises(NotFound):
        selectors.find_version(stage.cifar, "v1.2")


def test_who_sees_a_dataset(stage):
    ada, ben, vision = stage.ada, stage.ben, stage.story.vision
    row = services.create_repository(
        actor=ada, team=stage.story.speech, kind="dataset", name="voices"
    )

    def sees():
        return selectors.visible_repositories(ben).filter(name="voices").exists()

    assert not sees()
    with pytest.raises(NotFound):
        selectors.find_repository(ben, "dataset", "voices")
    services.share_repository(actor=ada, repository=row, team=vision)
    assert sees()
    with pytest.raises(NotPermitted):
        commit(ben, row, {"a": b"a"})
    services.share_repository(actor=ada, repository=row, team=vision, can_write=True)
    commit(ben, row, {"a": b"a"})
    with pytest.raises(NotPermitted):
        services.delete_repository(actor=ben, repository=row)
    services.unshare_repository(actor=ada, repository=row, team=vision)
    assert not sees()
    services.update_repository(actor=ada, repository=row, visibility="organization")
    assert sees()
    services.update_repository(actor=ada, repository=stage.cifar, visibility="private")
    assert selectors.find_repository(ben, "dataset", "CIFAR") == stage.cifar  # its owner


def test_contents_count_once_in_the_quota(stage):
    commit(stage.ben, stage.cifar, {"a": b"12345", "b": b"12345"})
    commit(stage.ben, stage.cifar, {"c": b"12345", "d": b"678"})
    stage.cifar.refresh_from_db()
    assert stage.cifar.stored_bytes == 8
    team = Quota.objects.get(subject_id=stage.story.vision.id, resource="storage")
    assert team.used == 8
    Quota.objects.filter(id=team.id).update(limit=10)
    with pytest.raises(QuotaExceeded):
        commit(stage.ben, stage.cifar, {"e": b"123"})
    assert not Content.objects.filter(size=3).exclude(is_used=True).exists()


def test_retention_frees_what_no_version_needs(stage):
    keep = commit(stage.ben, stage.cifar, {"a": b"first", "b": b"same"})
    services.set_tag(actor=stage.ben, repository=stage.cifar, name="v1", version=keep)
    commit(stage.ben, stage.cifar, {"a": b"second!"})
    head = commit(stage.ben, stage.cifar, {"a": b"third"})
    found = services.plan(stage.cifar, keep_last=1, keep_days=0)
    assert [row.number for row in found.versions] == [2]
    assert found.bytes == 7
    with pytest.raises(Conflict):
        services.delete_versions(actor=stage.ben, repository=stage.cifar, versions=[keep])
    held = services.update_repository(
        actor=stage.ada, repository=stage.cifar, keep_last=1, legal_hold="Case 12"
    )
    assert retention.apply_rules(held) == 0
    services.update_repository(actor=stage.ada, repository=stage.cifar, legal_hold="")
    assert retention.apply_rules(stage.cifar) == 7
    assert set(Version.objects.values_list("number", flat=True)) == {1, 3}
    assert Block.objects.count() == 2
    stage.cifar.refresh_from_db()
    assert stage.cifar.stored_bytes == len(b"first") + len(b"same") + len(b"third")
    assert [entry.size for entry in selectors.tree_of(head).entries()] == [5, 4]


def test_what_nobody_commits_is_deleted(stage):
    stored = services.put_file(actor=stage.ben, repository=stage.cifar, chunks=[b"lost"])
    org_id = stage.cifar.org_id
    store = file_store()
    with clock.frozen(clock.now() + timedelta(days=2)):
        limit = clock.now() - timedelta(days=1)
        assert store.sweep(org_id, references(org_id), limit) == 0
        assert retention.apply_rules(stage.cifar) == 4
        assert store.sweep(org_id, references(org_id), limit) == 4
    assert store.size(org_id, stored.sha256) is None


def test_uploads_continue_where_they_ended(stage):
    def broken():
        yield b"12345"
        raise InvalidInput("the connection was lost")

    upload = services.start_upload(actor=stage.ben, repository=stage.cifar, size=8, path="a")
    with pytest.raises(InvalidInput):
        services.append(actor=stage.ben, upload=upload, offset=0, chunks=broken())
    found = services.find_upload(stage.ben, stage.cifar, str(upload.id))
    assert services.received(found) == 5
    with pytest.raises(Conflict):
        services.append(actor=stage.ben, upload=found, offset=3, chunks=[b"45678"])
    with pytest.raises(InvalidInput):
        services.append(actor=stage.ben, upload=found, offset=5, chunks=[b"67890"])
    done = services.append(actor=stage.ben, upload=found, offset=5, chunks=[b"678"])
    assert services.received(done) == 8
    assert b"".join(file_store().read(done.org_id, done.sha256)) == b"12345678"
    with pytest.raises(NotFound):
        services.find_upload(stage.ada, stage.cifar, str(upload.id))


def test_the_trash(stage):
    commit(stage.ben, stage.cifar, {"a": b"12345"})
    services.delete_repository(actor=stage.ben, repository=stage.cifar)
    with pytest.raises(NotFound):
        selectors.find_repository(stage.ben, "dataset", "cifar")
    again = services.create_repository(
        actor=stage.ben, team=stage.story.vision, kind="dataset", name="CIFAR"
    )
    with pytest.raises(Conflict):
        services.restore_repository(actor=stage.ben, repository=stage.cifar)
    services.delete_repository(actor=stage.ben, repository=again)
    services.restore_repository(actor=stage.ben, repository=stage.cifar)
    services.delete_repository(actor=stage.ben, repository=stage.cifar)
    assert retention.purge_trash(clock.now() + timedelta(seconds=1)) == 2
    team = Quota.objects.get(subject_id=stage.story.vision.id, resource="storage")
    assert team.used == 0
