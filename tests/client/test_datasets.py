"""`muster dataset` and `muster checkpoint` against a real portal."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from muster import Client, Conflict, cli
from muster.errors import InvalidInput, Unavailable
from muster.folder_cache import FolderCache
from muster.folders import Fetcher, files_in
from tests.rig.environment import ROOT
from tests.rig.portal import Portal
from tests.rig.processes import wait_until

MIB = 1 << 20


@pytest.fixture(scope="module")
def portal(embedded_portal: Portal) -> tuple[Portal, str]:
    return embedded_portal, embedded_portal.token()


@pytest.fixture
def shell(
    portal: tuple[Portal, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> SimpleNamespace:
    """Return `begin(*words)`, `run(*words)` and `json(*words)`; all run in `folder`.

    `begin` starts a process, which takes half a second of CPU; the others call `main` in this one.
    """
    ours = {
        "PYTHONPATH": str(ROOT / "client"),
        "MUSTER_URL": portal[0].url,
        "MUSTER_TOKEN": portal[1],
        "MUSTER_CONFIG": str(tmp_path / "none"),
        "MUSTER_CACHE": str(tmp_path / "cache"),
    }
    for name, value in ours.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def begin(*words: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "muster", *words]
        return subprocess.Popen(argv, stdout=-1, stderr=-1)

    def run(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        out, err = capsys.readouterr()
        assert (ended.value.code or 0) == code, (words, out, err)
        return out or err

    return SimpleNamespace(
        begin=begin,
        run=run,
        json=lambda *words: json.loads(run(*words, "--json")),
        folder=tmp_path,
    )


def write(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def tree_of(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.*")}


def test_dataset_goes_from_upload_to_trash(shell: SimpleNamespace):
    noise = random.Random(5)
    files = {f"train/{n}.bin": noise.randbytes(20_000) for n in range(200)}
    files |= {"README.md": b"# CIFAR", "leer/ü #1.txt": b"", ".hidden.txt": b"kept"}
    write(shell.folder / "data", files)
    write(shell.folder / "data", {".git/config.txt": b"left out"})
    first = shell.json("dataset", "upload", "data", "cifar", "-m", "Add all")
    assert (first["version"], first["files"], first["sent_files"]) == (1, 203, 203)
    assert first["sent_bytes"] == first["bytes"] == 200 * 20_000 + 11
    files |= {"train/7.bin": noise.randbytes(20_000), "train/8.bin": noise.randbytes(20_000)}
    write(shell.folder / "data", files)
    (shell.folder / "data/train/9.bin").unlink()
    second = shell.json("dataset", "upload", "data", "cifar", "--delete")
    assert (second["changed"], second["removed"], second["added"]) == (2, 1, 0)
    assert second["sent_bytes"] == 40_000 <= 0.03 * second["bytes"]
    assert "already" in shell.run("dataset", "upload", "data", "cifar")
    del files["train/9.bin"]
    shell.run("dataset", "download", "cifar", "copy")
    assert tree_of(shell.folder / "copy") == files
    (shell.folder / "copy/README.md").write_bytes(b"# C1FAR")
    shell.run("dataset", "download", "cifar@1", "copy", "--include", "*.md", "--include", "*/9.bin")
    assert (shell.folder / "copy/README.md").read_bytes() == b"# CIFAR"
    assert (shell.folder / "copy/train/9.bin").exists()
    assert "train/9.bin" in shell.run("dataset", "diff", "cifar")
    assert shell.run("dataset", "files", "cifar", "-q").split() == [
        ".hidden.txt",
        "README.md",
        "leer",
        "train",
    ]
    shell.run("dataset", "tag", "cifar@1", "v1")
    shell.run("dataset", "tag", "cifar", "v1", code=5)
    shell.run("dataset", "delete", "cifar@1", "--yes", code=5)
    shell.run("dataset", "tag", "cifar", "v1", "--remove")
    assert "freed" in shell.run("dataset", "delete", "cifar@1", "--yes")
    assert shell.run("dataset", "versions", "cifar", "-q").split() == ["2"]
    tried = shell.json("dataset", "upload", "data/README.md", "cifar@try", "-m", "On a branch")
    assert tried["branches"] == ["main", "try"] and not tried["is_new"]
    shell.run("dataset", "share", "cifar", "no-such-team", code=3)
    shell.run("dataset", "delete", "cifar")
    shell.run("dataset", "info", "cifar", code=3)
    shell.run("dataset", "restore", "cifar")
    assert "cifar" in shell.run("dataset", "list")
    shell.run("checkpoint", "info", "cifar", code=3)
    shell.run("checkpoint", "create", "cifar", "-m", "Weights")
    assert "No " not in shell.run("checkpoint", "list")


@pytest.mark.integration
def test_space_retention_and_lineage_have_commands(shell: SimpleNamespace):
    for number in range(3):
        write(shell.folder / "data", {"x.bin": bytes([number]) * 1000 * (number + 1)})
        shell.run("dataset", "upload", "data", "grown")
    space = shell.json("dataset", "space", "grown")
    assert (space["stored"], space["current"], space["old"]) == (6000, 3000, 3000)
    assert "2 of 3: v1, v2" in shell.run("dataset", "space", "grown")
    planned = shell.run("dataset", "retention", "grown", "--keep-last", "1")
    assert "Would delete 2 versions and free" in planned and "v2, v1" in planned
    assert shell.run("dataset", "versions", "grown", "-q").split() == ["3", "2", "1"]
    shell.run("dataset", "retention", "grown", "--keep-last", "1", "--delete", "--yes")
    assert shell.run("dataset", "versions", "grown", "-q").split() == ["3"]
    shell.run("dataset", "retention", "grown", "--keep-last", "2", "--save")
    assert shell.json("dataset", "retention", "grown")["keep_last"] == 2
    assert "0 versions" in shell.run("dataset", "default-retention", "--keep-last", "3", "--save")
    shell.run("dataset", "retention", "grown", "--default")
    assert shell.json("dataset", "retention", "grown")["keep_last"] == 3
    assert "grown v3" in shell.run("lineage", "dataset:grown@3")
    assert shell.json("lineage", "dataset:grown")["nodes"][0]["kind"] == "dataset"
    shell.run("lineage", "dataset:none", code=3)
    shell.run("lineage", "grown", code=2)
    assert "grown" in shell.run("storage")
    shell.run("dataset", "delete", "grown")
    assert "In the trash until" in shell.run("storage", "--unused")
    shell.run("dataset", "purge", "grown", "--yes")
    assert "grown" not in shell.run("storage", "--unused")


@pytest.mark.integration
def test_cut_upload_resumes_after_kills_of_client_and_portal(
    shell: SimpleNamespace, portal: tuple[Portal, str]
):
    size = 160 * MIB
    data = random.Random(6).randbytes(MIB) * 159 + os.urandom(MIB)
    write(shell.folder / "data", {"weights.bin": data})
    process = shell.begin("checkpoint", "upload", "data", "resnet", "--json")
    cache = shell.folder / "cache" / "files.sqlite3"
    wait_until(lambda: cache.exists() and _received(shell, portal) >= 32 * MIB, "two pieces", 60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    came = _received(shell, portal)
    assert 32 * MIB <= came < size, "the upload ended before it was cut"
    process = shell.begin("checkpoint", "upload", "data", "resnet", "--json")
    wait_until(lambda: _received(shell, portal) > came, "it goes on", 60)
    portal[0].kill()
    time.sleep(0.5)
    portal[0].start()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    made = json.loads(out)
    assert (made["version"], made["bytes"]) == (1, size)
    assert made["sent_bytes"] <= size - came + 16 * MIB  # at most the cut piece is sent twice
    shell.run("checkpoint", "download", "resnet", "copy")
    copy = (shell.folder / "copy/weights.bin").read_bytes()
    assert hashlib.sha256(copy).digest() == hashlib.sha256(data).digest()


def _received(shell: SimpleNamespace, portal: tuple[Portal, str]) -> int:
    """Return how many bytes the portal has of the upload that the client has noted."""
    cache = FolderCache(shell.folder / "cache")
    row = cache._rows.execute("SELECT key, upload FROM uploads").fetchone()
    cache.close()
    if not row:
        return 0
    path = row[0].split()[1]
    with Client(portal[0].url, portal[1]) as client:
        answer = client.request("HEAD", f"{path}/uploads/{row[1]}")
        return int(answer.headers["Upload-Offset"])


def test_second_writer_loses_nothing(shell: SimpleNamespace, portal: tuple[Portal, str]):
    write(shell.folder / "data", {"a.txt": b"a"})
    with Client(portal[0].url, portal[1]) as client:
        first = client.datasets.upload(shell.folder / "data", "shared")
        add = [{"op": "add", "path": "b.txt", "sha256": hashlib.sha256(b"a").hexdigest()}]
        client.datasets.commit("shared", add, parent=first["commit"])
        with pytest.raises(Conflict) as caught:
            client.datasets.commit("shared", add, parent=first["commit"])
        assert caught.value.code == "moved"
        again = client.datasets.upload(shell.folder / "data", "shared", delete=True)
        assert (again["removed"], again["sent_bytes"]) == (1, 0)


def test_download_continues_and_stays_in_its_folder(
    shell: SimpleNamespace, portal: tuple[Portal, str], tmp_path: Path
):
    data = os.urandom(3 * MIB)
    write(shell.folder / "data", {"in/a.bin": data})
    with Client(portal[0].url, portal[1]) as client:
        made = client.datasets.upload(shell.folder / "data", "cut")
        cache = FolderCache(tmp_path / "cache")
        path = f"datasets/cut/files/{made['commit']}"
        fetcher = Fetcher(client, path, tmp_path / "to", cache)
        [row] = client.datasets.files("cut")
        seen: list[int] = []
        streamed = client.stream

        def cut(where: str, query: dict, *, offset: int = 0) -> Iterator[bytes]:
            seen.append(offset)
            for piece in streamed(where, query, offset=offset):
                yield piece[:MIB]
                if len(seen) == 1:
                    raise _lost()

        client.stream = cut  # type: ignore[method-assign]
        [target] = fetcher.fetch([row])
        assert target.read_bytes() == data and seen[0] == 0 < seen[1]
        for bad in ("../out.bin", "/etc/passwd", "a/../../out.bin", "a\\..\\b"):
            with pytest.raises(InvalidInput):
                fetcher.fetch([{**row, "path": bad}])
        (tmp_path / "to" / "link").symlink_to(tmp_path)
        with pytest.raises(InvalidInput):
            fetcher.fetch([{**row, "path": "link/a.bin"}])
        with pytest.raises(Conflict):  # other bytes than announced
            fetcher.fetch([{**row, "path": "in/a.bin", "sha256": "0" * 64}])
        assert sorted(p.name for p in (tmp_path / "to").rglob("*.*")) == ["a.bin"]


def _lost() -> Exception:
    return Unavailable("the connection broke off")


def test_names_of_local_files(tmp_path: Path):
    write(tmp_path, {"a/ü.txt": b"", ".git/x.txt": b"", ".0-0.muster-part": b""})
    (tmp_path / "link").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "z.txt").symlink_to(tmp_path / "a" / "ü.txt")
    assert list(files_in(tmp_path)) == ["z.txt", "a/ü.txt"]
    (tmp_path / "z.txt").unlink()
    (tmp_path / "z.txt").symlink_to("none")
    with pytest.raises(InvalidInput, match="link to nothing"):
        files_in(tmp_path)
    (tmp_path / "z.txt").unlink()
    (tmp_path / "a" / "u\u0308.txt").write_bytes(b"")
    with pytest.raises(InvalidInput, match="Unicode"):
        files_in(tmp_path)
    (tmp_path / "a" / "u\u0308.txt").unlink()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.txt")).write_bytes(b"")
    with pytest.raises(InvalidInput, match="UTF-8"):
        files_in(tmp_path)


def test_digest_is_read_again_only_if_the_file_changed(tmp_path: Path):
    file, cache = tmp_path / "a", FolderCache(tmp_path / "cache")
    file.write_bytes(b"one")
    os.utime(file, (1, 1))
    first = cache.sha256(file)
    file.write_bytes(b"two")
    os.utime(file, (1, 1))
    assert cache.sha256(file) == first  # same size and time
    os.utime(file, (2, 2))
    assert cache.sha256(file) == hashlib.sha256(b"two").hexdigest()
