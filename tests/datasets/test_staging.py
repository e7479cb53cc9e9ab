"""Test the read-only folders of versions."""

from __future__ import annotations

import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings

from datasets import services, staging, uses
from datasets.trees import TreeEntry
from portal.blobs.store import file_store
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from tests.datasets.conftest import commit
from tests.stand_in import StandIn

FILES = {
    "train/a.bin": b"\0\1",
    "train/b c.txt": b"b\n",
    "Train/A.bin": b"other case",
    "한글/데이터 🙂.csv": b"1,2\n",
    "link -> etc": b"a name is data",
    "empty": b"",
}


def tree_of(stage, files=FILES) -> tuple[object, Path]:
    version = commit(stage.ben, stage.cifar, files)
    return version, Path(settings.MUSTER_HOME) / staging.materialize(version)


def content(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_tree_has_files_as_links_that_nobody_may_write(stage):
    version, root = tree_of(stage)
    assert content(root) == FILES
    for path in (root, *root.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o555 if path.is_dir() else 0o444)
    for entry in staging.tree_of(version).entries():
        source = file_store().path(version.org_id, entry.sha256)
        assert source.stat().st_ino == (root / entry.path).stat().st_ino
    assert (root.parent.stat().st_mode & 0o777, root.parent.parent.stat().st_mode & 0o777) == (
        0o711,
        0o711,
    )
    assert staging.materialize(version) == str(root.relative_to(settings.MUSTER_HOME))
    assert [p.name for p in root.parent.iterdir() if p.is_dir()] == [root.name]


def test_tree_copies_where_links_are_impossible(stage, monkeypatch):
    def refuse(*_args):
        raise OSError(staging.errno.EMLINK, "Too many links")

    monkeypatch.setattr(staging, "os", StandIn(os, link=refuse))
    _version, root = tree_of(stage)
    assert content(root) == FILES and (root / "empty").stat().st_nlink == 1


@pytest.mark.parametrize("path", ["../out", "/etc/x", "a//b", "a/./b", "x/../../y", "nul\0"])
def test_path_that_leaves_tree_is_refused(stage, monkeypatch, path):
    version = commit(stage.ben, stage.cifar, {"a": b"x"})
    [entry] = staging.tree_of(version).entries()

    class Forged:
        def entries(self):
            return [TreeEntry(path, entry.sha256, 1)]

    monkeypatch.setattr(staging, "tree_of", lambda _version: Forged())
    with pytest.raises(InvalidInput):
        staging.materialize(version)
    assert not [p for p in Path(settings.MUSTER_HOME, "trees").rglob("*") if p.name != "lock"][1:]


def test_missing_bytes_leave_no_tree(stage):
    version = commit(stage.ben, stage.cifar, {"a": b"x", "b": b"y"})
    [one, _] = staging.tree_of(version).entries()
    file_store().path(version.org_id, one.sha256).unlink()
    with pytest.raises(NotFound, match="bytes of a are missing"):
        staging.materialize(version)
    root = Path(settings.MUSTER_HOME) / staging.tree_name(version.org_id, version.commit)
    assert not root.exists() and not [p for p in root.parent.iterdir() if p.is_dir()]


def test_unused_tree_is_removed_and_one_in_use_stays(stage, monkeypatch):
    version, root = tree_of(stage)
    _other, kept = tree_of(stage, {"more": b"1"})
    monkeypatch.setattr(uses, "providers", lambda: [lambda _org: {_other.commit}])
    assert staging.remove_unused(clock.now() - timedelta(hours=1)) == 0
    assert staging.remove_unused(clock.now() + timedelta(hours=1)) == 1
    assert kept.is_dir() and not root.exists()
    assert (
        file_store().path(version.org_id, next(staging.tree_of(version).entries()).sha256).exists()
    )
    staging.materialize(version)
    assert content(root) == FILES


def test_version_in_use_is_not_deleted(stage, monkeypatch):
    first = commit(stage.ben, stage.cifar, {"a": b"1"})
    for number in range(3):
        commit(stage.ben, stage.cifar, {"a": b"%d" % (number + 2)})
    monkeypatch.setattr(uses, "providers", lambda: [lambda _org: {first.commit}])
    assert first not in services.plan(stage.cifar, keep_last=1, keep_days=0).versions
    with pytest.raises(Conflict, match="job that has not ended uses version 1"):
        services.delete_versions(actor=stage.ben, repository=stage.cifar, versions=[first])
    monkeypatch.setattr(uses, "providers", list)
    assert services.delete_versions(actor=stage.ben, repository=stage.cifar, versions=[first]) >= 0


def test_version_is_found_by_number_with_v(stage):
    version = commit(stage.ben, stage.cifar, {"a": b"1"})
    from datasets.selectors import find_version

    assert find_version(stage.cifar, "v1") == find_version(stage.cifar, "1") == version
