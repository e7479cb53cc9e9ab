"""The first job of a portal whose clone lies in a folder that no other user may enter."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.rig.environment import ROOT
from tests.rig.portal import PATIENCE, Portal
from tests.rig.processes import Folder
from tests.rig.tables import FILE, furnish

USER = 65532
WITHOUT_BWRAP = 'mount --bind /dev/null "$(command -v bwrap)"'
WITHOUT_PLACE = "mount -t tmpfs -o ro none /var/lib && mount -t tmpfs -o ro none /srv"
SCRIPT = """python -c 'print("hello")' && python3 -c 'print("too")' && head -c 3 $MUSTER_EXAMPLES/digits/train.py"""
HELLO = [sys.executable, "-m", "muster", "run", "--", SCRIPT]
REFUSED = "Jobs do not run as root. Install bubblewrap on this machine and restart Muster"


@dataclass
class ClosedPortal(Portal):
    """A portal that runs from a clone in `closed`, a folder of mode 0700 of its own user."""

    closed: Path = Path()
    uid: int = 0
    hidden: tuple[str, ...] = ()  # commands that take something away from it

    @property
    def home(self) -> Path:
        return self.closed / "home"

    def command(self) -> list[str]:
        clone = self.closed / "clone"
        python = Path(sys.executable)
        if python.is_relative_to(ROOT):
            python = clone / python.relative_to(ROOT)
        become = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", "--"]
        serve = [str(python), str(clone / "manage.py"), "serve"]
        steps = [
            f"mount --bind {shlex.quote(str(ROOT))} {shlex.quote(str(clone))}",
            *open_python(self.closed),
            f"mount -t tmpfs -o mode=777 none {shlex.quote(str(clone / 'build'))}",
            *self.hidden,
            f"exec {shlex.join([*(become if self.uid else []), *serve])}",
        ]
        return ["unshare", "--mount", "sh", "-c", " && ".join(steps)]

    def prepare(self) -> None:
        self.closed.chmod(0o700)
        (self.closed / "clone").mkdir()
        (ROOT / "build").mkdir(exist_ok=True)
        furnish(self.home, "", self.environment)
        for path in (self.closed, self.home, *self.home.iterdir()):
            os.chown(path, self.uid, self.uid)

    def job_folder(self) -> str:
        """Return the folder outside of the home in which its jobs run, if there is one."""
        with closing(sqlite3.connect(self.home / FILE)) as database:
            (config,) = database.execute("SELECT config FROM clusters_cluster").fetchone()
        return str(json.loads(config).get("root", ""))

    def first_job(self) -> subprocess.CompletedProcess[str]:
        variables = {"MUSTER_URL": self.url, "MUSTER_TOKEN": self.token(), "MUSTER_ORG": "home"}
        environment = {**os.environ, **variables, "PYTHONPATH": str(ROOT / "client")}
        return subprocess.run(
            HELLO, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )


def open_python(folder: Path) -> list[str]:
    """Return commands that let every user of a mount namespace enter the base Python."""
    base, aside = Path(sys.base_prefix), folder / "base"
    closed = next((p for p in reversed(base.parents) if not p.stat().st_mode & 0o001), None)
    if closed is None:
        return []
    return [
        f"mkdir {aside} && mount --bind {base} {aside}",
        f"mount -t tmpfs -o mode=755 none {closed}",
        f"(umask 022; mkdir -p {base}) && mount --bind {aside} {base}",
    ]


WAYS = {
    "root-with-bwrap": {},
    "root-without-bwrap": {"hidden": (WITHOUT_BWRAP,)},
    "root-without-any": {"hidden": (WITHOUT_BWRAP, WITHOUT_PLACE)},
    "user": {"uid": USER},
    "user-without-bwrap": {"uid": USER, "hidden": (WITHOUT_BWRAP,)},
}


@contextmanager
def started(name: str) -> Iterator[ClosedPortal]:
    """Start one portal, alone: each takes 6 s of CPU until it answers."""
    folder = Folder()
    portal = ClosedPortal(folder, name=name, closed=Path(tempfile.mkdtemp()), **WAYS[name])
    try:
        portal.prepare()
        portal.begin()
        portal.await_answer()
        yield portal
    finally:
        portal.stop()
        for path in filter(None, (portal.job_folder(), portal.closed)):
            shutil.rmtree(path, ignore_errors=True)
        folder.close()


SLOWER = [
    pytest.param(name, marks=pytest.mark.integration)  # the gate has test_readme.py
    for name in ("root-with-bwrap", "user", "user-without-bwrap")
]


@pytest.mark.parametrize("name", ["root-without-bwrap", *SLOWER])
def test_first_job_of_portal_in_closed_folder_succeeds(name):
    with started(name) as portal:
        done = portal.first_job()
        assert (done.returncode, done.stdout) == (0, 'hello\ntoo\n"""'), done.stderr
        assert REFUSED not in httpx.get(f"{portal.url}/accounts/login/", timeout=60).text


@pytest.mark.integration
def test_portal_that_cannot_run_jobs_says_so_at_once():
    with started("root-without-any") as portal:
        done = portal.first_job()
        assert done.returncode == 2 and REFUSED in done.stderr
        assert f"NO JOB CAN RUN YET. local: {REFUSED}" in portal.folder.tail(portal.name, 300)
        assert REFUSED in httpx.get(f"{portal.url}/accounts/login/", timeout=60).text
