"""Workspaces with real clients against a real portal: `muster workspace`, rclone and cadaver."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import psutil
import pytest

from tests.rig.environment import ROOT
from tests.rig.portal import Portal

MIB = 1 << 20
NAMES = ("a b.txt", "50%.txt", "한국어/파일.txt", "deep/er/c+d.txt", "q?.txt", "#1.txt", "it's.txt")


@pytest.fixture(scope="module")
def portal(embedded_portal: Portal) -> tuple[Portal, str]:
    return embedded_portal, embedded_portal.token()


@pytest.fixture
def shell(portal: tuple[Portal, str], tmp_path: Path) -> SimpleNamespace:
    """Return `run(*argv)`, `muster(*words)` and `rclone(*words)`, which run in `folder`."""
    site, token = portal
    env = {
        **os.environ,
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT / "client"),
        "MUSTER_URL": site.url,
        "MUSTER_TOKEN": token,
        "MUSTER_CONFIG": str(tmp_path / "none"),
        "MUSTER_CACHE": str(tmp_path / "cache"),
        "RCLONE_CONFIG_DAV_TYPE": "webdav",
        "RCLONE_CONFIG_DAV_URL": f"{site.url}/dav/home/",
        "RCLONE_CONFIG_DAV_VENDOR": "other",
        "RCLONE_CONFIG_DAV_BEARER_TOKEN": token,
    }

    def run(*argv: str, code: int = 0, text: str = "") -> str:
        done = subprocess.run(
            argv,
            check=False,
            env=env,
            cwd=tmp_path,
            input=text.encode(),
            capture_output=True,
            timeout=180,
        )
        assert done.returncode == code, (argv, done.stdout, done.stderr)
        return (done.stdout or done.stderr).decode(errors="surrogateescape")

    return SimpleNamespace(
        run=run,
        muster=lambda *words, **more: run(sys.executable, "-m", "muster", *words, **more),
        rclone=lambda *words, **more: run("rclone", "--retries=1", *words, **more),
        api=httpx.Client(base_url=site.url, auth=("me", token), timeout=60),
        folder=tmp_path,
        token=token,
        site=site,
    )


def write(folder: Path, names: tuple[str, ...] = NAMES) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"this is {name}\n")


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.integration
def test_commands_go_from_create_to_trash(shell: SimpleNamespace):
    write(shell.folder / "src")
    (shell.folder / "src" / "large.bin").write_bytes(random.Random(1).randbytes(20 * MIB))
    shell.muster("workspace", "create", "cli", "-m", "Code", "--quota", "1")
    sent = json.loads(shell.muster("workspace", "upload", "src", "cli:src", "--json"))
    assert sent["sent_files"] == len(NAMES) + 1 and sent["sent_bytes"] > 20 * MIB
    assert "deep/" in shell.muster("workspace", "ls", "cli:src")
    assert shell.muster("workspace", "ls", "-q").split() == ["cli"]
    shell.muster("workspace", "download", "cli:src", "copy")
    assert contents(shell.folder / "copy" / "src") == contents(shell.folder / "src")
    shell.muster("workspace", "download", "cli:src/50%.txt", "one")
    assert contents(shell.folder / "one") == {"50%.txt": b"this is 50%.txt\n"}
    shell.muster("workspace", "share", "cli", "nobody@example.com", code=3)
    shell.muster("workspace", "rm", "cli:src/deep", "--yes")
    shell.muster("workspace", "ls", "cli:src/deep", code=3)
    (shell.folder / "sparse").touch()
    os.truncate(shell.folder / "sparse", 1 << 30)
    assert "uses" in shell.muster("workspace", "upload", "sparse", "cli", code=5)
    shell.muster("workspace", "rm", "cli")
    shell.muster("workspace", "info", "cli", code=3)
    shell.muster("workspace", "restore", "cli")
    info = shell.muster("workspace", "info", "cli")
    assert "20 MiB" in info and "1 GiB" in info


def test_rclone_copies_checks_moves_and_deletes(shell: SimpleNamespace):
    write(shell.folder / "src", tuple(name for name in NAMES if "?" not in name))
    large = random.Random(2).randbytes(64 * MIB)
    (shell.folder / "src" / "large.bin").write_bytes(large)
    shell.muster("workspace", "create", "drive")
    shell.rclone("copy", "src", "dav:drive/src")
    shell.rclone("check", "--download", "src", "dav:drive/src")
    assert shell.rclone("lsf", "-R", "dav:drive").splitlines().count("src/50%.txt") == 1
    tail = shell.rclone("cat", "--offset", str(60 * MIB), "dav:drive/src/large.bin")
    assert tail.encode(errors="surrogateescape") == large[60 * MIB :]  # a range
    shell.rclone("moveto", "dav:drive/src/a b.txt", "dav:drive/moved/a b.txt")
    shell.rclone("copyto", "dav:drive/moved/a b.txt", "dav:drive/again.txt")
    assert shell.rclone("cat", "dav:drive/again.txt") == "this is a b.txt\n"
    shell.rclone("purge", "dav:drive/src")
    left = shell.rclone("lsf", "-R", "--files-only", "dav:drive").splitlines()
    assert sorted(left) == ["again.txt", "moved/a b.txt"]
    shell.rclone("copy", "src", "dav:other", code=1)  # there is no such workspace


def test_rclone_gets_507_from_a_full_workspace(shell: SimpleNamespace):
    shell.muster("workspace", "create", "small", "--quota", "0.001")
    (shell.folder / "big").write_bytes(b"x" * (2 * MIB))
    (shell.folder / "fits").write_bytes(b"x" * 1000)
    assert "507" in shell.rclone("copy", "big", "dav:small", code=1)
    shell.rclone("copy", "fits", "dav:small")
    assert shell.rclone("lsf", "dav:small").split() == ["fits"]


def test_cadaver_locks_edits_and_unlocks(shell: SimpleNamespace):
    """Also the sequence of macOS and Windows: LOCK of a new name, PUT with the token, UNLOCK."""
    shell.muster("workspace", "create", "locked")
    netrc = shell.folder / ".netrc"
    netrc.write_text(f"machine 127.0.0.1 login me password {shell.token}\n")
    netrc.chmod(0o600)
    (shell.folder / "notes").write_text("first")
    commands = "put notes\nlock notes\nmkcol sub\nmove notes sub/notes\nput notes\nlock notes\n"
    commands += "lock sub/notes\ndelete sub/notes\n"
    said = shell.run(
        "cadaver", f"{shell.site.url}/dav/home/locked/", text=f"{commands}discover notes\nquit\n"
    )
    assert "failed" not in said.replace("move notes", ""), said
    url = "/dav/home/locked/notes"
    assert shell.api.put(url, content=b"mine").status_code == 423  # cadaver still has it
    assert shell.api.delete(url).status_code == 423
    target = {"Destination": f"{shell.site.url}/dav/home/locked/other"}
    assert shell.api.request("MOVE", url, headers=target).status_code == 423
    new, body = "/dav/home/locked/sub/new.docx", _lock("exclusive")
    made = shell.api.request("LOCK", new, content=body, headers={"Timeout": "Second-60"})
    assert made.status_code == 201, made.text
    token = made.headers["Lock-Token"]
    assert shell.api.put(new, content=b"no").status_code == 423
    assert shell.api.delete("/dav/home/locked/sub").status_code == 423
    condition = {"If": f"({token})"}
    assert shell.api.put(new, content=b"yes", headers=condition).status_code == 204
    again = shell.api.request("LOCK", new, headers={**condition, "Timeout": "Second-120"})
    assert again.status_code == 200
    assert shell.api.request("LOCK", new, content=body).status_code == 423
    assert shell.api.request("UNLOCK", new, headers={"Lock-Token": token}).status_code == 204
    assert shell.api.put(new, content=b"free").status_code == 204
    assert shell.api.get(new).text == "free"


def test_requests_that_leave_the_workspace_are_refused(shell: SimpleNamespace):
    shell.muster("workspace", "create", "inside")
    shell.muster("workspace", "create", "beside")
    assert shell.api.put("/dav/home/inside/f", content=b"x").status_code == 201
    host = shell.site.url
    for target, status in (
        (f"{host}/dav/home/beside/f", {403, 409, 502}),
        (f"{host}/dav/home/inside/../beside/f", {400, 403, 404, 409, 502}),
        (f"{host}/dav/home/inside/%2e%2e/beside/f", {400, 403, 404, 409, 502}),
        ("http://elsewhere.example/dav/home/inside/g", {502}),
    ):
        for verb in ("MOVE", "COPY"):
            answer = shell.api.request(verb, "/dav/home/inside/f", headers={"Destination": target})
            assert answer.status_code in status, (verb, target, answer.status_code)
    listed = shell.api.request("PROPFIND", "/dav/home/beside/", headers={"Depth": "1"})
    assert listed.text.count("<D:response>") == 1
    deep = shell.api.request("PROPFIND", "/dav/home/inside/", headers={"Depth": "infinity"})
    assert deep.status_code == 403
    bare = httpx.request("PROPFIND", f"{host}/dav/home/inside/", headers={"Depth": "1"})
    assert (bare.status_code, bare.headers["WWW-Authenticate"][:5]) == (401, "Basic")
    bomb = b'<!DOCTYPE x [<!ENTITY a "b">]><propfind xmlns="DAV:"><allprop/>&a;</propfind>'
    answer = shell.api.request(
        "PROPFIND", "/dav/home/inside/", content=bomb, headers={"Depth": "0"}
    )
    assert answer.status_code in (400, 403), answer.status_code


@pytest.mark.integration
def test_large_files_are_never_in_memory(shell: SimpleNamespace):
    """Put and get 512 MiB by WebDAV: the processes of the portal grow by a fraction of that."""
    shell.muster("workspace", "create", "heavy")
    size = 512 * MIB

    def memory() -> int:
        top = psutil.Process(shell.site.process.pid)
        return sum(one.memory_info().rss for one in (top, *top.children(recursive=True)))

    def body() -> Iterator[bytes]:
        for _ in range(size // MIB):
            yield bytes(MIB)

    before, most = memory(), 0
    headers = {"Content-Length": str(size)}
    assert shell.api.put("/dav/home/heavy/f", content=body(), headers=headers).status_code == 201
    most = max(most, memory())
    with shell.api.stream("GET", "/dav/home/heavy/f") as answer:
        came = 0
        for data in answer.iter_bytes(MIB):
            came += len(data)
            if came % (64 * MIB) < MIB:
                most = max(most, memory())
    assert came == size
    assert most - before < 64 * MIB, f"{(most - before) / MIB:.0f} MiB more"


def _lock(scope: str) -> bytes:
    return (
        f'<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:{scope}/></D:lockscope>'
        "<D:locktype><D:write/></D:locktype><D:owner><D:href>me</D:href></D:owner></D:lockinfo>"
    ).encode()
