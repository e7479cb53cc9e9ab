"""OpenSSH, scp, sftp, rsync and editors in a session of a real portal, and the end of access."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.rig.environment import ROOT
from tests.rig.portal import Portal
from tests.rig.processes import Folder, free_port, wait_until

pytestmark = pytest.mark.integration
MUSTER = [sys.executable, "-m", "muster"]


class Machine:
    """The machine of a person, with `muster` and OpenSSH."""

    def __init__(self, portal: Portal, folder: Path):
        self.folder = folder / "person"
        self.folder.mkdir()
        self.portal, self.token = portal, portal.token()
        self.env = {
            **os.environ,
            "HOME": str(self.folder),
            "MUSTER_CONFIG": str(self.folder / "config/muster.toml"),
            "MUSTER_URL": portal.url,
            "MUSTER_TOKEN": self.token,
            "MUSTER_ORG": "home",
            "PYTHONPATH": str(ROOT / "client"),
        }

    def run(self, *words: str, stdin: bytes = b"", code: int = 0) -> str:
        done = subprocess.run(
            words, env=self.env, cwd=self.folder, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == code, done
        return (done.stdout + done.stderr).decode()

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words,
            env=self.env,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @property
    def ssh(self) -> tuple[str, ...]:
        """Return options of OpenSSH, which reads the home of /etc/passwd, not HOME."""
        return ("-F", f"{self.folder}/.ssh/config")


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    folder = Folder()
    portal = Portal(folder, is_furnished=True)
    portal.start()
    made = Machine(portal, folder.path)
    made.run(*MUSTER, "session", "start", "terminal", "--wait")
    made.run(*MUSTER, "ssh", "config")
    yield made
    made.run(*MUSTER, "session", "stop", "1")
    portal.stop()
    folder.close()


def test_commands_terminals_and_exit_codes(machine: Machine):
    assert "1\n" in machine.run(*MUSTER, "ssh", "1", "echo $MUSTER_JOB_NUMBER; exit 3", code=3)
    assert "/dev/pts/" in machine.run(*MUSTER, "exec", "-it", "1", "--", "tty")
    assert "in a job" in machine.run(*MUSTER, "exec", "-i", "1", "cat", stdin=b"in a job")
    assert "no job 99" in machine.run(*MUSTER, "ssh", "99", code=3)


def test_scp_sftp_and_rsync_copy_both_ways(machine: Machine):
    data, ssh = os.urandom(3 << 20), machine.ssh
    (machine.folder / "data").write_bytes(data)
    machine.run("scp", *ssh, "data", "session-1:given")
    machine.run("scp", *ssh, "session-1:given", "back")
    assert (machine.folder / "back").read_bytes() == data
    batch = b"mkdir d\nrename given d/x\nls -l d\nget d/x again\nrm d/x\nrmdir d\n"
    assert " 3145728 " in machine.run("sftp", *ssh, "-b", "-", "session-1", stdin=batch)
    assert (machine.folder / "again").read_bytes() == data
    (machine.folder / "tree/a").mkdir(parents=True)
    (machine.folder / "tree/a/f").write_text("in a tree")
    shell = " ".join(("ssh", *ssh))
    machine.run("rsync", "-a", "-e", shell, "tree/", "session-1:tree/")
    machine.run("rsync", "-a", "-e", shell, "session-1:tree/a/", "copied/")
    assert (machine.folder / "copied/f").read_text() == "in a tree"


def test_handshake_of_an_editor_reaches_its_server_in_the_session(machine: Machine):
    socks = free_port()
    editor = machine.start("ssh", *machine.ssh, "-T", "-D", str(socks), "session-1", "bash")
    assert editor.stdin
    assert editor.stdout
    server = free_port()
    editor.stdin.write(
        f"uname -s; echo served >page; python3 -m http.server --bind 127.0.0.1 {server} & "
        "echo started\n".encode()
    )
    editor.stdin.flush()
    assert [editor.stdout.readline() for _ in range(2)] == [b"Linux\n", b"started\n"]
    through = ("curl", "-s", "--socks5-hostname", f"127.0.0.1:{socks}")
    url = f"http://localhost:{server}/page"

    def is_served() -> bool:
        done = subprocess.run([*through, url], capture_output=True, check=False)
        return done.stdout == b"served\n"

    wait_until(is_served, "the server of the editor answers", 30)
    editor.kill()
    editor.communicate()


def test_revoked_token_closes_what_is_open_within_seconds(machine: Machine):
    client = httpx.Client(base_url=f"{machine.portal.url}/api/v1/orgs/home")
    auth = {"Authorization": f"Bearer {machine.token}"}
    own = client.post("tokens", json={"name": "lost", "scopes": ["all"]}, headers=auth).json()
    other = {**machine.env, "MUSTER_TOKEN": own["token"]}
    words = ("ssh", *machine.ssh, "session-1", "echo here; sleep 60")
    with subprocess.Popen(
        words, env=other, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as shell:
        assert shell.stdout
        assert shell.stdout.readline() == b"here\n"
        client.delete(f"tokens/{own['id']}", headers=auth).raise_for_status()
        revoked = time.monotonic()
        assert shell.wait(20) == 255
        assert time.monotonic() - revoked < 6  # checked every 3 s
