"""Test workspaces and inputs on Slurm, in a real one and in images.

Charliecloud is real; Pyxis and Apptainer are doubles that record their arguments.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from portal.blobs.folders import SharedTree
from schedulers import capabilities_of
from schedulers.contract import Capability, FolderMount, InputFiles, Rejected
from schedulers.slurm import inputs
from schedulers.slurm.backend import SlurmBackend
from schedulers.slurm.inputs import inputs_of
from schedulers.states import Reason
from tests.schedulers.conftest import COMMANDS
from tests.schedulers.launches import a_launch, changed
from tests.schedulers.test_slurm_images import IMAGE, charliecloud, ready, started  # noqa: F401

CODE = FolderMount("code", "", "/code", tree="org/0a1b", text="vision-code")
DATA = InputFiles("data", "o", "dataset", "cifar", 1, "c" * 40, tree="trees/o/c-k", path="/data")
WRITES = """
umask 077
cat "$MUSTER_WORKSPACE_CODE/train.py"
mkdir -p "$MUSTER_WORKSPACE_CODE/out/deep"
echo "$RANK" > "$MUSTER_WORKSPACE_CODE/out/deep/rank$RANK"
ls "$MUSTER_WORKSPACE_CODE/.." 2> /dev/null | head -n 1
echo end
"""


@pytest.fixture
def shared(stage):
    """Give the stage a folder of workspaces with `code`, and an input `data`."""
    root = stage.path / "workspaces"
    stage.tree = SharedTree(root / "org", "0a1b")
    stage.tree.create()
    aside = stage.tree.start()
    aside.append(0, [b"the code\n"], limit=99)
    stage.tree.place(aside, "train.py")
    data = stage.path / "home" / DATA.tree
    data.mkdir(parents=True)
    (data / "a.txt").write_text("bytes\n")
    data.chmod(0o555)
    for above in (root, *(p for p in data.parents if p != stage.path and stage.path in p.parents)):
        above.chmod(0o711)
    stage.options |= {
        "workspaces_folder": str(root),
        "data_folder": str(stage.path / "home"),
    }
    stage.backend = stage.again()
    return stage


def checked(stage, script: str, **more):
    launch = stage.launch(script, **more)
    stage.backend.check_inputs(launch)
    stage.backend.check_folders(launch)
    stage.backend.submit(launch)
    return stage.ended(launch.key), stage.log(launch.key)


@COMMANDS
def test_nodes_and_portal_share_a_workspace(shared):
    seen, log = checked(shared, WRITES, folders=[replace(CODE, path="")], num_nodes=2)
    assert seen.reason == Reason.COMPLETED, log
    assert sorted(log.splitlines()) == [b"end", b"end", b"the code", b"the code"]
    assert {one.name for one in shared.tree.listing("out/deep")} == {"rank0", "rank1"}
    assert b"".join(shared.tree.read("out/deep/rank1", 0, 9)) == b"1\n"
    assert os.stat(shared.tree.path / "out").st_uid != 0 or os.geteuid() != 0
    assert shared.tree.delete("out") == 4  # the portal may, though a job made it
    gone = replace(CODE, path="", tree="org/9999")
    seen, log = checked(shared, "true", folders=[gone])
    assert seen.reason == Reason.INPUT_UNAVAILABLE
    assert "Mounting vision-code failed: it is not there on n" in seen.evidence


@COMMANDS
def test_image_has_input_and_workspace_at_their_paths(shared, charliecloud):  # noqa: F811
    script = (
        'cat /opt/a.txt "$MUSTER_INPUT_DATA/a.txt" /srv/train.py; '
        'echo new > "$MUSTER_WORKSPACE_CODE/new"; cat /srv/new; '
        "echo bad 2> /dev/null > /opt/a.txt; echo end"
    )
    seen, log = checked(shared, script, image=IMAGE, inputs=[DATA], folders=[CODE])
    assert seen.reason == Reason.IMAGE_UNAVAILABLE
    assert "it has no folder /data for cifar@1, and Charliecloud cannot make one" in seen.evidence
    [image] = charliecloud.path.glob("images/*")
    for name in ("opt", "srv"):
        (image / name).mkdir()
    mounted = {"inputs": [replace(DATA, path="/opt")], "folders": [replace(CODE, path="/srv")]}
    seen, log = checked(shared, script, image=IMAGE, **mounted)
    assert seen.reason == Reason.COMPLETED, log
    assert [line for line in log.splitlines() if b"denied" not in line] == [
        *[b"bytes"] * 2,
        b"the code",
        b"new",
        b"end",
    ]
    assert shared.tree.entry("new").size == 4
    with pytest.raises(Rejected, match="Charliecloud"):
        checked(shared, "true", image=IMAGE, folders=[replace(CODE, read_only=True)])


@pytest.mark.parametrize("kind", ["apptainer", "pyxis"])
def test_other_runtimes_bind_inputs_read_only_and_workspaces_as_asked(tmp_path, kind):
    launch = a_launch(
        image=IMAGE,
        inputs=[DATA],
        folders=[CODE, replace(CODE, name="read", path="", read_only=True)],
    )
    about = inputs.head(launch, inputs_of("/home", "/cache", 0, "/shared"))
    words = started(tmp_path, kind, about=about)
    bound = {
        "/home/trees/o/c-k:/spool/t-1/inputs/data:ro",
        "/home/trees/o/c-k:/data:ro",
        "/shared/org/0a1b:/spool/t-1/workspaces/code:rw",
        "/shared/org/0a1b:/code:rw",
        "/shared/org/0a1b:/spool/t-1/workspaces/read:ro",
    }
    mounts = next((word for word in words if word.startswith("--container-mounts=")), "")
    found = set(mounts.partition("=")[2].split(",")) if mounts else set(words)
    assert bound <= found


def test_workspace_that_cannot_be_mounted_is_rejected_with_advice():
    backend = SlurmBackend.configured({"spool": "/spool", "workspaces_folder": "/shared"})
    launch = a_launch(folders=[CODE])
    with pytest.raises(Rejected, match=r"read \$MUSTER_WORKSPACE_CODE") as refused:
        backend.check_folders(launch)
    assert refused.value.field == "workspaces.code.path"
    only = replace(CODE, path="", read_only=True)
    with pytest.raises(Rejected, match="without an image"):
        backend.check_folders(changed(launch, folders=[only]))
    plain = SlurmBackend.configured({"spool": "/spool"})
    with pytest.raises(Rejected, match="Workspaces in the settings of the cluster"):
        plain.check_folders(launch)
    with pytest.raises(Rejected) as refused:
        SlurmBackend.configured({"spool": "/spool", "workspaces_folder": "/a/../b"})
    assert refused.value.field == "workspaces_folder"
    options = {"workspaces_folder": "/shared"}
    assert Capability.WORKSPACES in capabilities_of("slurm", lambda: options)
    assert Capability.WORKSPACES not in capabilities_of("slurm", dict)
