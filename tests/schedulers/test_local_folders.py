"""Test workspaces of local jobs: written by jobs of several users, read-only, and apart."""

from __future__ import annotations

import os

import pytest

from portal.blobs.folders import SharedTree
from schedulers.contract import FolderMount, Rejected
from schedulers.local.backend import LocalBackend
from schedulers.states import Reason
from tests.schedulers.conftest import Stage
from tests.schedulers.launches import changed

LEVELS = ("user", "user-plain", "sandbox") if os.geteuid() == 0 else ("sandbox",)
WRITES = """
umask 077
mkdir -p "$MUSTER_WORKSPACE_CODE/out/deep"
cat "$MUSTER_WORKSPACE_CODE/train.py"
echo result > "$MUSTER_WORKSPACE_CODE/out/deep/metrics"
ln -s /etc/passwd "$MUSTER_WORKSPACE_CODE/link"
ls "$MUSTER_WORKSPACE_CODE/.." 2> /dev/null | grep -v "$(basename "$MUSTER_WORKSPACE_CODE")"
echo end
"""
AGAIN = """
cd "$MUSTER_WORKSPACE_CODE/out/deep" && cat metrics && echo more >> metrics && echo ok
"""


@pytest.fixture(params=LEVELS)
def local(request, shared_folder, wait_for):
    home = shared_folder / "home"
    home.mkdir()
    options = {"home": str(home), "root": str(home / "jobs"), "isolation": request.param}
    stage = Stage(LocalBackend, options, home, wait_for)
    stage.tree = SharedTree(home / "workspaces" / "org", "code")
    stage.other = SharedTree(home / "workspaces" / "org", "other")
    for tree in (stage.tree, stage.other):
        tree.create()
    aside = stage.tree.start()
    aside.append(0, [b"the code\n"], limit=99)
    stage.tree.place(aside, "train.py")
    yield stage
    for key in stage.keys:
        stage.backend.cancel(key, 0)


def mount(stage, path: str = "", *, read_only: bool = False) -> FolderMount:
    return FolderMount("code", str(stage.tree.path), path, read_only)


def finished(stage, launch) -> tuple[Reason, bytes]:
    stage.backend.check_folders(launch)
    stage.backend.submit(launch)
    return stage.ended(launch.key).reason, stage.log(launch.key)


def test_job_writes_and_the_next_job_and_the_portal_read(local):
    launch = local.launch(WRITES, folders=[mount(local)])
    if not local.backend.isolation.has_mounts:
        with pytest.raises(Rejected, match="bubblewrap"):
            local.backend.check_folders(launch)
        return
    assert finished(local, launch) == (Reason.COMPLETED, b"the code\nend\n")
    assert {one.name: one.kind for one in local.tree.listing("")} == {
        "link": "link",
        "out": "folder",
        "train.py": "file",
    }
    assert b"".join(local.tree.read("out/deep/metrics", 0, 99)) == b"result\n"
    again = local.launch(AGAIN, folders=[mount(local)])
    if local.backend.isolation.level == "user":  # a job of another team, which is invited
        again = changed(again, uid=again.identity.uid + 1)
    assert finished(local, again) == (Reason.COMPLETED, b"result\nok\n")
    assert local.tree.usage() == (2, 9 + 7 + 5)
    assert local.tree.delete("out") == 12


def test_read_only_workspace_cannot_be_written(local):
    if not local.backend.isolation.has_mounts:
        return
    script = """
cat /muster-code/train.py
for place in /muster-code "$MUSTER_WORKSPACE_CODE"; do
    touch $place/new $place/train.py 2> /dev/null && echo written
    rm -f $place/train.py 2> /dev/null && echo removed
done
echo end
"""
    launch = local.launch(script, folders=[mount(local, "/muster-code", read_only=True)])
    assert finished(local, launch) == (Reason.COMPLETED, b"the code\nend\n")
    assert [one.name for one in local.tree.listing("")] == ["train.py"]
    both = local.launch("echo x > /muster-code/x", folders=[mount(local, "/muster-code")])
    assert finished(local, both)[0] == Reason.COMPLETED
    assert local.tree.entry("x").size == 2
    assert not os.path.exists("/muster-code")


def test_container_has_workspace_as_volume(local):
    options = local.backend._container_options(
        local.launch("true", image="alpine", folders=[mount(local, "/code", read_only=True)])
    )
    assert f"--volume={local.tree.path}:/muster/workspaces/code:ro" in options
    assert f"--volume={local.tree.path}:/code:ro" in options
