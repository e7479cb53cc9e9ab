"""Test inputs of local jobs: read in place, at their path, and never written."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from schedulers.contract import InputFiles, Rejected
from schedulers.local.backend import LocalBackend
from schedulers.states import Reason
from tests.schedulers.conftest import Stage

LEVELS = ("user", "user-plain", "sandbox") if os.geteuid() == 0 else ("sandbox",)
ATTACK = """
cat "$MUSTER_INPUT_DATA/a/b c.txt"
for root in "$MUSTER_INPUT_DATA" $PLACE; do
    file="$root/a/b c.txt"
    chmod u+w "$file" && echo "changed $file"
    (echo bad > "$file") && echo "wrote $file"
    rm -f "$file" && echo "removed $file"
done 2> /dev/null
touch "$MUSTER_INPUT_DATA/new" "$MUSTER_INPUT_DATA/a/new" 2> /dev/null && echo added
mount -o remount,rw "$MUSTER_INPUT_DATA" 2> /dev/null && echo remounted
echo end
"""


@pytest.fixture(params=LEVELS)
def local(request, shared_folder, wait_for):
    """Return a stage at an isolation level, whose home has a store and a tree of links to it."""
    home = shared_folder / "home"
    stored, tree = home / "blobs" / "stored", home / "trees" / "org" / "commit-key"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(b"bytes\n")
    (tree / "a").mkdir(parents=True)
    os.link(stored, tree / "a" / "b c.txt")
    stored.chmod(0o444)
    for path, mode in ((tree / "a", 0o555), (tree, 0o555), (tree.parent, 0o711)):
        path.chmod(mode)
    tree.parent.parent.chmod(0o711)
    options = {"home": str(home), "root": str(home / "jobs"), "isolation": request.param}
    stage = Stage(LocalBackend, options, home, wait_for)
    assert stage.backend.isolation.is_shared
    stage.level, stage.stored, stage.tree = request.param, stored, tree
    yield stage
    for path in (tree, tree / "a"):
        path.chmod(0o755)
    for key in stage.keys:
        stage.backend.cancel(key, 0)
    shutil.rmtree(tree)


def an_input(path: str = "") -> InputFiles:
    return InputFiles(
        "data", "o", "dataset", "cifar", 1, "c" * 40, tree="trees/org/commit-key", path=path
    )


def test_job_reads_input_and_cannot_write_it(local):
    seen, log = local.run(ATTACK, inputs=[an_input()], env={"PLACE": ""})
    assert seen.reason == Reason.COMPLETED, log
    assert log == b"bytes\nend\n"
    assert local.stored.read_bytes() == b"bytes\n"
    assert local.stored.stat().st_mode & 0o777 == 0o444


@pytest.mark.parametrize("path", ["/muster-input/deep", "/mnt/muster-input", "/opt"])
def test_input_is_mounted_at_its_path_and_nothing_stays_on_machine(local, path):
    before = sorted(os.listdir("/")), sorted(os.listdir("/mnt"))
    launch = local.launch(
        ATTACK + f'[ "$(cat "{path}/a/b c.txt")" = bytes ] && ls -d /tmp /usr/bin > /dev/null',
        inputs=[an_input(path)],
        env={"PLACE": path},
    )
    if not local.backend.isolation.has_mounts:
        with pytest.raises(Rejected, match="MUSTER_INPUT_DATA") as refused:
            local.backend.check_inputs(launch)
        assert refused.value.field == "inputs.data.path"
        return
    local.backend.check_inputs(launch)
    local.backend.submit(launch)
    seen = local.ended(launch.key)
    assert (seen.reason, local.log(launch.key)) == (Reason.COMPLETED, b"bytes\nend\n")
    assert (sorted(os.listdir("/")), sorted(os.listdir("/mnt"))) == before
    assert local.stored.read_bytes() == b"bytes\n"


@pytest.mark.parametrize("path", ["/usr/data", "/etc", "/bin/x", "/etc/passwd/x", "/muster/x"])
def test_system_path_is_refused(local, path):
    with pytest.raises(Rejected):
        local.backend.check_inputs(local.launch("true", inputs=[an_input(path)]))


def test_container_has_input_as_read_only_volume(local):
    options = local.backend._container_options(
        local.launch("true", image="alpine", inputs=[an_input("/data")])
    )
    tree = Path(local.options["home"]) / "trees/org/commit-key"
    assert f"--volume={tree}:/muster/inputs/data:ro" in options
    assert f"--volume={tree}:/data:ro" in options
