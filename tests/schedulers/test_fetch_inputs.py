"""Test the programs that run on nodes: Python 3.9 and the standard library only."""

from __future__ import annotations

import ast
import json
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from muster import Client
from schedulers.programs import FETCH, SAVE, TUNNEL, source_of
from schedulers.programs.fetch_inputs import Failure, fetch, folder_of_user
from schedulers.programs.portal_api import Portal, Refused
from tests.rig.http_server import LoopbackServer


def test_cache_that_others_could_have_filled_is_refused(tmp_path):
    mine = Path(folder_of_user(str(tmp_path / "cache")))
    assert mine.stat().st_mode & 0o777 == 0o700
    mine.chmod(0o777)
    with pytest.raises(Failure):
        folder_of_user(str(tmp_path / "cache"))
    mine.rmdir()
    mine.symlink_to(tmp_path)
    with pytest.raises(Failure):
        folder_of_user(str(tmp_path / "cache"))


@pytest.mark.parametrize("name", [FETCH, SAVE, TUNNEL])
def test_program_is_one_file_of_the_standard_library(name):
    text = source_of(name).decode()
    tree = ast.parse(text, feature_version=(3, 9))
    compile(text, name, "exec")  # `from __future__` is where it may be
    imported = {
        (one.module if isinstance(one, ast.ImportFrom) else alias.name)
        for one in ast.walk(tree)
        if isinstance(one, ast.Import | ast.ImportFrom)
        for alias in one.names
    }
    assert {str(one).partition(".")[0] for one in imported} <= sys.stdlib_module_names


class CountedPortal(Portal):
    """Keeps the paths that were asked for."""

    def open(self, method, path, body=None, headers=None):
        self.asked = [*getattr(self, "asked", []), path]
        return super().open(method, path, body, headers)


def test_small_files_are_fetched_together_and_what_an_attempt_left_is_used(
    running_portal, tmp_path
):
    data = {f"a/{n % 3}/{n}": b"%d" % n * n for n in range(300)} | {"large": b"x" * 300_000}
    source, aside, target = (tmp_path / name for name in ("source", "aside", "target"))
    for path, content in data.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(content)
    token = running_portal.token()
    with Client(running_portal.url, token) as client:
        made = client.datasets.upload(source, "fetched", team="default")
    (aside / "a/1").mkdir(parents=True)
    (aside / "a/1/298").write_bytes(data["a/1/298"][:5])
    (aside / "a/1/295").write_bytes(b"other bytes")
    portal = CountedPortal(running_portal.url, token)
    entry = {"path": "orgs/home/datasets/fetched", "commit": made["commit"]}
    fetch(portal, entry, str(aside), str(target))
    found = [path for path in target.rglob("*") if path.is_file()]
    assert {str(path.relative_to(target)): path.read_bytes() for path in found} == data
    assert {path.stat().st_mode & 0o777 for path in found} == {0o444}
    assert len(portal.asked) < 12, portal.asked  # not one for each file


class Answers(BaseHTTPRequestHandler):
    """Answer by the path, and keep the requests."""

    protocol_version = "HTTP/1.1"
    seen: list[str] = []

    def do_GET(self) -> None:
        self.seen.append(f"{self.client_address[1]} {self.path} {self.headers['Authorization']}")
        status = int(self.path.rpartition("/")[2])
        body = json.dumps({"detail": "a sentence", "code": "why"} if status > 299 else [1]).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.mark.parametrize("is_proxied", [False, True])
def test_client_keeps_its_connection_and_says_what_the_portal_said(monkeypatch, is_proxied):
    server = LoopbackServer(Answers)
    address, Answers.seen = server.url, []
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    if is_proxied:
        monkeypatch.setenv("http_proxy", address)
    root = "http://portal.example/at" if is_proxied else f"{address}/at"
    portal = Portal(root, "secret")
    try:
        assert [portal.send("GET", "200")[1] for _ in range(2)] == [[1], [1]]
        with pytest.raises(Refused, match="a sentence") as refused:
            portal.send("GET", "409")
        assert (refused.value.status, refused.value.code) == (409, "why")
        for status in ("429", "503"):
            with pytest.raises(OSError, match="a sentence"):
                portal.send("GET", status)
    finally:
        server.close()
    path = f"{root if is_proxied else '/at'}/api/v1/200 Bearer secret"
    assert [one.partition(" ")[2] for one in Answers.seen[:2]] == [path] * 2
    assert len({one.partition(" ")[0] for one in Answers.seen[:2]}) == 1
