"""podman for tests: with its own storage and an image that is built without a registry."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.processes import program

CONTAINERS_CONF = "[containers]\ndefault_ulimits = []\npids_limit = 0\n"
IMAGE = "localhost/muster-test:1"
APPLETS = ("sh", "cat", "env", "sleep", "id", "ls", "echo", "pwd", "nc")
# Options with which the image has the Python of the tests.
PYTHON = (
    *(f"--volume={path}:{path}:ro" for path in ("/usr", "/lib", "/lib64", sys.base_prefix)),
    f"--env=PATH={sys.base_prefix}/bin:/bin:/usr/bin",
)


@pytest.fixture(scope="module")
def podman() -> Iterator[tuple[str, ...]]:
    # the run folder of podman is limited to 50 characters
    folder = Path(tempfile.mkdtemp(prefix="mpod-"))
    (folder / "containers.conf").write_text(CONTAINERS_CONF)
    store = (
        "--root",
        str(folder / "root"),
        "--runroot",
        str(folder / "run"),
        "--storage-driver",
        "vfs",
    )
    _build(folder, store)
    yield (
        "env",
        f"CONTAINERS_CONF={folder / 'containers.conf'}",
        program("podman"),
        *store,
        "--runtime",
        "runc",
        "--cgroup-manager",
        "cgroupfs",
        "--events-backend",
        "file",
    )
    subprocess.run(
        [program("podman"), *store, "system", "reset", "--force"], capture_output=True, check=False
    )
    shutil.rmtree(folder, ignore_errors=True)


def _build(folder: Path, store: tuple[str, ...]) -> None:
    (folder / "bin").mkdir()
    shutil.copy(program("busybox"), folder / "bin" / "busybox")
    for name in APPLETS:
        (folder / "bin" / name).symlink_to("busybox")
    (folder / "Containerfile").write_text("FROM scratch\nCOPY bin /bin\nENV PATH=/bin\n")
    subprocess.run(
        [program("buildah"), *store, "bud", "-q", "-t", IMAGE, str(folder)],
        check=True,
        capture_output=True,
        env={**os.environ, "BUILDAH_ISOLATION": "chroot"},
    )


@pytest.fixture
def own_network() -> Iterator[tuple[str, str]]:
    """A network namespace that reaches this machine only; yields both, name and address."""
    name, part = f"mt{os.getpid()}", f"198.18.{os.getpid() >> 8 & 255}"
    first = os.getpid() & 252

    def ip(*words: str) -> None:
        subprocess.run([program("ip"), *words], check=True)

    ip("netns", "add", name)
    try:
        ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("address", "add", f"{part}.{first + 1}/30", "dev", name)
        ip("link", "set", name, "up")
        ip("-n", name, "address", "add", f"{part}.{first + 2}/30", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", name, "link", "set", device, "up")
        yield name, f"{part}.{first + 1}"
    finally:
        ip("netns", "delete", name)
