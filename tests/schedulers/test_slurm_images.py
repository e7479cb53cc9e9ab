"""Test images on Slurm.

Charliecloud runs for real, in jobs of a real Slurm. Debian has no Pyxis and Apptainer: for each a
double of that name records its arguments.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from schedulers import backends, capabilities_of
from schedulers.contract import Capability, Rejected
from schedulers.slurm import states
from schedulers.slurm.images import NODE, PYXIS, head, image_trouble, images_of
from schedulers.slurm.rows import Row
from schedulers.slurm.script import batch_script
from schedulers.states import Reason
from tests.rig.processes import program
from tests.schedulers.conftest import SLURM
from tests.schedulers.launches import a_launch

IMAGE = "nvcr.io/muster/tools:1.2"
APPLETS = ("sh", "cat", "id", "ls", "env", "sleep", "head", "cut")


@pytest.fixture
def ready(place: Path) -> Path:
    """A folder with a prepared busybox image.

    Made without a network, since Charliecloud accepts a folder as an image.
    """
    root = place / "images" / "nvcr.io%muster%tools+1.2"
    for name in ("bin", "dev", "etc", "home", "mnt", "proc", "sys", "tmp", "ch"):
        (root / name).mkdir(parents=True)
    for name in ("passwd", "group", "hosts", "resolv.conf"):
        (root / "etc" / name).touch()
    shutil.copy(program("busybox"), root / "bin" / "busybox")
    for name in APPLETS:
        (root / "bin" / name).symlink_to("busybox")
    (root / "ch" / "environment").write_text("PATH=/bin\nFROM_IMAGE=yes\n")
    return root.parent


@pytest.fixture
def charliecloud(stage, ready):
    program("ch-run")
    stage.options.update(containers="charliecloud", images=str(ready))
    stage.backend = stage.again()
    return stage


@SLURM
def test_job_runs_in_image_with_variables_and_user(charliecloud, slurm):
    text = (
        "ls /; echo $WORD $FROM_IMAGE $(pwd) $MUSTER_OUTPUT_DIR; id -u; echo kept > "
        '"$MUSTER_OUTPUT_DIR/file"; exit 3'
    )
    seen, log = charliecloud.run(text, image=IMAGE, env={"WORD": "it's"})
    lines = log.decode().splitlines()
    assert (seen.reason, seen.exit_code) == (Reason.USER_ERROR, 3)
    assert "usr" not in lines and lines[-2:] == [
        "it's yes /mnt/work /mnt/out",
        slurm.run("id", "-u", user=slurm.user).strip(),
    ]
    assert (
        charliecloud.path / "spool" / charliecloud.keys[-1] / "out" / "file"
    ).read_text() == "kept\n"


@SLURM
def test_multi_node_job_runs_in_image_on_every_node(charliecloud):
    seen, log = charliecloud.run("ls /bin/busybox; echo $RANK", image=IMAGE, num_nodes=2)
    assert seen.reason == Reason.COMPLETED
    assert sorted(log.decode().split()) == ["/bin/busybox", "/bin/busybox", "0", "1"]


@SLURM
def test_container_runtime_is_detected_on_node(charliecloud):
    charliecloud.options["containers"] = "auto"
    charliecloud.backend = charliecloud.again()
    assert charliecloud.run("ls /", image=IMAGE)[1].decode().split()[:2] == ["bin", "ch"]


@SLURM
def test_site_mount_is_visible_at_configured_path(charliecloud):
    (charliecloud.path / "data").mkdir()
    (charliecloud.path / "data" / "x").write_text("from the site\n")
    charliecloud.options["mounts"] = [f"{charliecloud.path}/data:/home"]
    charliecloud.backend = charliecloud.again()
    assert charliecloud.run("cat /home/x", image=IMAGE)[1] == b"from the site\n"


@SLURM
def test_unavailable_image_is_reported(charliecloud):
    seen, _ = charliecloud.run("true", image="nvcr.io/muster/missing:1")
    assert seen.reason == Reason.IMAGE_UNAVAILABLE
    assert "nvcr.io/muster/missing:1 cannot be run on n1" in seen.evidence


@SLURM
def test_job_in_image_is_canceled(charliecloud):
    key = charliecloud.submit(
        "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done", image=IMAGE, grace=5.0
    ).key
    charliecloud.logged(key, b"up")
    charliecloud.backend.cancel(key, 5)
    charliecloud.ended(key)
    assert charliecloud.log(key).endswith(b"bye\n")


@SLURM
def test_image_without_runtime_is_rejected(stage):
    with pytest.raises(Rejected, match="does not run images") as caught:
        stage.submit("true", image=IMAGE)
    assert caught.value.field == "image"


def test_configured_runtime_adds_images_capability():
    assert Capability.IMAGES not in capabilities_of("slurm")
    assert Capability.IMAGES not in capabilities_of(
        "slurm", lambda: {"spool": "/s", "containers": "none"}
    )
    assert Capability.IMAGES in capabilities_of(
        "slurm", lambda: {"spool": "/s", "containers": "auto"}
    )


def test_image_with_external_launcher_is_rejected():
    backend = backends()["slurm"].configured({"spool": "/spool", "containers": "pyxis"})
    with pytest.raises(Rejected, match="outside of an image") as caught:
        backend.ignored_options(a_launch("srun true", image=IMAGE, is_on_first_node_only=True))
    assert caught.value.field == "launcher"


MISREAD = [
    ("docker", "", [], "containers"),
    ("auto", "relative", [], "images"),
    ("auto", "/a b", [], "images"),
    ("auto", "", ["/a,/b"], "mounts"),
    ("auto", "", ["/a:/b:rw"], "mounts"),
    ("auto", "", ["$(id)"], "mounts"),
]


def test_unsafe_image_option_is_rejected(subtests):
    for kind, folder, mounts, field in MISREAD:
        with subtests.test(kind=kind, folder=folder):
            with pytest.raises(Rejected) as caught:
                images_of(kind, folder, mounts)
            assert caught.value.field == field


def test_batch_script_with_image_is_valid_bash():
    text = batch_script(
        a_launch(image=IMAGE),
        "/shared/spool/t-1",
        images=images_of("auto", "/images", ["/data"]),
    )
    assert (
        subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=True).stderr
        == b""
    )


def started(
    tmp_path: Path,
    kind: str,
    image: str = IMAGE,
    gpus: int = 0,
    folder: str = "",
    about: str = "",
) -> list[str]:
    """Return the arguments that a double of apptainer or srun is started with.

    `about` defines the inputs and workspaces.
    """
    (tmp_path / "bin").mkdir()
    for name in ("apptainer", "srun"):
        (tmp_path / "bin" / name).write_text(
            f'#!/bin/sh\nprintf "%s\\n" {name} "$@" > {tmp_path}/words\n'
        )
        (tmp_path / "bin" / name).chmod(0o755)
    images = images_of(kind, folder, ["/data", "/scratch:/tmp"])
    top = head(a_launch(image=image, gpus=gpus), images) + about
    text = (
        f'folder=/spool/t-1\n{top}{PYXIS}srun "${{more[@]}}" "${{run[@]}}"'
        if kind == "pyxis"
        else top + NODE
    )
    subprocess.run(
        ["bash", "-s", "/spool/t-1"],
        input=text.encode(),
        check=True,
        env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "USER": "ada"},
    )
    return (tmp_path / "words").read_text().splitlines()


def test_apptainer_command_has_gpus_and_mounts(tmp_path):
    assert started(tmp_path, "apptainer", gpus=2) == [
        "apptainer",
        "exec",
        "--bind",
        "/spool/t-1",
        "--bind",
        "/data",
        "--bind",
        "/scratch:/tmp",
        "--nv",
        f"docker://{IMAGE}",
        "sh",
        "/spool/t-1/rank",
        "/spool/t-1",
    ]


def test_apptainer_uses_prepared_image(tmp_path):
    ready = tmp_path / "nvcr.io%muster%tools+1.2.sif"
    ready.touch()
    words = started(tmp_path, "apptainer", folder=str(tmp_path))
    assert str(ready) in words and "--nv" not in words


@pytest.mark.parametrize(
    ("image", "name"),
    [
        (IMAGE, "nvcr.io#muster/tools:1.2"),
        ("ubuntu:24.04", "ubuntu:24.04"),
        ("nvidia/cuda:12", "nvidia/cuda:12"),
        ("localhost/x", "localhost#x"),
        ("reg:5000/a/b:1", "reg:5000#a/b:1"),
    ],
)
def test_pyxis_image_name_is_in_enroot_notation(tmp_path, image, name):
    assert started(tmp_path, "pyxis", image=image) == [
        "srun",
        f"--container-image={name}",
        "--container-mounts=/spool/t-1:/spool/t-1,/data:/data,/scratch:/tmp",
        "sh",
        "/spool/t-1/rank",
        "/spool/t-1",
    ]


def test_pyxis_uses_prepared_image(tmp_path):
    ready = tmp_path / "nvcr.io%muster%tools+1.2.sqsh"
    ready.touch()
    assert started(tmp_path, "pyxis", folder=str(tmp_path))[1] == f"--container-image={ready}"


@pytest.mark.parametrize(
    ("code", "tail", "said"),
    [
        (
            125,
            "muster: the image a:1 cannot be run on n1: no such image\n",
            "the image a:1 cannot be run on n1: no such image",
        ),
        (
            1,
            (
                "pyxis: importing docker image: a:1\nslurmstepd: error: pyxis: failed to import "
                "docker image\n"
            ),
            "failed to import docker image",
        ),
    ],
)
def test_image_failure_is_not_a_user_error(code, tail, said):
    seen = states.ended(
        Row(7, "FAILED", "t-1"),
        states.Record("7", 1000, "n1", code, "", 1001),
        states.Evidence(tail),
    )
    assert (seen.reason, seen.evidence) == (Reason.IMAGE_UNAVAILABLE, said)
    assert (
        image_trouble(0, tail) is None
        and image_trouble(
            3, "pyxis: importing docker image: a:1\npyxis: imported docker image: a:1"
        )
        is None
    )
