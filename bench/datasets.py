"""Measure uploads and downloads of datasets in server mode.

Uploads by plain HTTP are compared with the same way (nginx, granian, a durable file) without hashing,
downloads with nginx that serves the file itself. Sent bytes are counted by a relay before the portal.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.table import Row, report, timed
from tests.rig.environment import ROOT
from tests.rig.mlflow import python_of
from tests.rig.portal import Portal
from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder, free_port, is_listening, wait_until
from tests.rig.redis import start_redis

MIB = 1 << 20
ROUNDS = 3
FILES, FILE = 2000, 100_000  # files of the folder, and bytes of each
_RAW_PATH = "/api/v1/orgs/home/datasets/raw/contents"  # the rules of nginx are by path
_RAW = """
import os, sys, uuid
from pathlib import Path
from granian.constants import Interfaces
from granian.server import Server

def app(environ, start_response):
    body, path = environ["wsgi.input"], Path(sys.argv[2]) / uuid.uuid4().hex
    with open(path, "xb") as file:
        while data := body.read(256 << 10):
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
    start_response("201 Created", [("Content-Length", "0")])
    return [b""]

Server("raw:app", uds=Path(sys.argv[1]), interface=Interfaces.WSGI, blocking_threads=8,
       runtime_threads=1, log_enabled=False).serve(target_loader=lambda *_: app)
"""
_HUB = """
import json, sys, time
from huggingface_hub import HfApi
api = HfApi()
name = "home/" + sys.argv[1]
api.create_repo(name, repo_type="dataset", exist_ok=True)
began = time.perf_counter()
api.upload_file(repo_id=name, repo_type="dataset", path_or_fileobj=sys.argv[2], path_in_repo="large.bin")
print(json.dumps(time.perf_counter() - began))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=2048, help="of the large file")
    size = parser.parse_args().mib * MIB
    folder = Folder()
    try:
        with tempfile.TemporaryDirectory(prefix="muster-bench-") as work:
            report(_rows(folder, Path(work), size))
    finally:
        folder.close()
    return 0


def _rows(folder: Folder, work: Path, size: int) -> Iterator[Row]:
    large = work / "large.bin"
    write_noise(large, size, seed=1)
    with Relay() as relay:
        settings = {"MUSTER_API_RATE": "100000000", "MUSTER_BASE_URL": relay.url}
        portal = Portal(
            folder, start_postgres(folder).url, start_redis(folder).url, settings=settings
        )
        portal.start(300)
        relay.target = portal.port
        stage = Stage(folder, portal, relay, portal.token(), work, large, size)
        yield stage.plain_upload()
        yield stage.xet_upload()
        yield stage.changed_folder()
        yield stage.changed_file()
        yield stage.download()
        portal.stop()


def write_noise(path: Path, size: int, *, seed: int) -> None:
    """Write bytes that cannot be compressed."""
    chance = random.Random(seed)
    with open(path, "wb") as file:
        file.writelines(
            chance.randbytes(min(16 * MIB, size - start)) for start in range(0, size, 16 * MIB)
        )


@dataclass
class Relay:
    """Pass connections on to a port of this machine, and count the bytes that clients send."""

    target: int = 0
    sent: int = 0
    _server: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    _lock: Any = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.getsockname()[1]}"

    def __enter__(self) -> Relay:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _address = self._server.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                for source, target, counts in ((client, server, True), (server, client, False)):
                    threading.Thread(
                        target=self._copy, args=(source, target, counts), daemon=True
                    ).start()

    def _copy(self, source: socket.socket, target: socket.socket, counts: bool) -> None:
        with suppress(OSError):
            while data := source.recv(MIB):
                target.sendall(data)
                if counts:
                    with self._lock:
                        self.sent += len(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def counted(self, work: Callable[[], object]) -> int:
        """Return the bytes that clients send during the work."""
        before = self.sent
        work()
        return self.sent - before


@dataclass
class Stage:
    """The portal and the files of the measurements."""

    folder: Folder
    portal: Portal
    relay: Relay
    token: str
    work: Path
    large: Path
    size: int

    @property
    def large_text(self) -> str:
        return f"{self.size / (1 << 30):.3g} GiB"

    def plain_upload(self) -> Row:
        from muster import Client

        with Client(self.portal.url, self.token) as client:
            for n in range(ROUNDS):
                client.datasets.create(f"plain{n}", "default")
        raws, ours = [], []
        with raw_server(self.folder, self.work) as port:
            for n in range(ROUNDS):  # in turns, so that the ratio holds on a busy machine
                raws.append(timed(lambda: self._put(port, _RAW_PATH)))
                path = f"/api/v1/orgs/home/datasets/plain{n}/contents"
                ours.append(timed(lambda at=path: self._put(self.portal.port, at)))  # type: ignore[misc]
        tus = self._by_cli()
        raw, own = min(raws), min(ours)
        return Row(
            f"upload of {self.large_text} by plain HTTP",
            f"{self._rate(raw)} without hashing",
            "–",
            f"{self._rate(own)}, {raw / own:.2f} ×",
            "≥ 0.7 × of raw",
            raw / own >= 0.7,
            f"`muster dataset upload` (hashes, tus in pieces, commit): {self._rate(tus)}; {load()}",
        )

    def _by_cli(self) -> float:
        from muster import Client

        os.environ["MUSTER_CACHE"] = str(self.work / "cache")
        with Client(self.portal.url, self.token) as client:
            return timed(lambda: client.datasets.upload(self.large, "tus", team="default"))

    def xet_upload(self) -> Row:
        seconds = self._by_hub("xet", self.large, self.portal.url)
        return Row(
            f"upload of {self.large_text} by huggingface_hub with Xet",
            "–",
            "–",
            self._rate(seconds),
            "≥ 150 MiB/s",
            self.size / seconds >= 150 * MIB,
            load(),
        )

    def changed_folder(self) -> Row:
        from muster import Client

        folder = self.work / "folder"
        folder.mkdir()
        for n in range(FILES):
            write_noise(folder / f"{n}.bin", FILE, seed=n)
        with Client(self.relay.url, self.token) as client:
            first = self.relay.counted(
                lambda: client.datasets.upload(folder, "folder", team="default")
            )
            for n in range(0, FILES, 100):
                write_noise(folder / f"{n}.bin", FILE, seed=FILES + n)
            second = self.relay.counted(lambda: client.datasets.upload(folder, "folder"))
        share = second / (FILES * FILE)
        return Row(
            f"second version of {FILES:,} files, 1 % of them changed, by `muster dataset upload`",
            "1 % of the bytes",
            "–",
            f"{100 * share:.2f} % of the bytes sent",
            "≤ 3 %",
            share <= 0.03,
            f"the first: {100 * first / (FILES * FILE):.1f} %. Of a large file the CLI sends all",
        )

    def changed_file(self) -> Row:
        self._by_hub("changed", self.large, self.relay.url)
        changed = self.work / "changed.bin"
        subprocess.run(["cp", "--reflink=auto", self.large, changed], check=True)
        with open(changed, "r+b") as file:
            file.seek(self.size // 2)
            file.write(random.Random(2).randbytes(self.size // 100))
        sent = self.relay.counted(lambda: self._by_hub("changed", changed, self.relay.url))
        changed.unlink()
        share = sent / self.size
        return Row(
            f"second version of a file of {self.large_text}, 1 % of it changed, by Xet",
            "1 % of the bytes",
            "–",
            f"{100 * share:.2f} % of the bytes sent",
            "≤ 3 %",
            share <= 0.03,
        )

    def download(self) -> Row:
        raws, ours = [], []
        path = "/api/v1/orgs/home/datasets/tus/files/main/large.bin"
        with static_server(self.folder, self.work) as port:
            for _ in range(ROUNDS):
                raws.append(timed(lambda: self._get(port, "/large.bin")))
                ours.append(timed(lambda: self._get(self.portal.port, path)))
        raw, own = min(raws), min(ours)
        return Row(
            f"download of {self.large_text}",
            f"{self._rate(raw)} by nginx",
            "–",
            f"{self._rate(own)}, {raw / own:.2f} ×",
            "≥ 0.8 × of raw",
            raw / own >= 0.8,
            load(),
        )

    def _rate(self, seconds: float) -> str:
        return f"{self.size / MIB / seconds:.0f} MiB/s"

    def _put(self, port: int, path: str) -> None:
        with open(self.large, "rb") as file:
            headers = {
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/octet-stream",
                "Content-Length": str(self.size),
            }
            connection = HTTPConnection("127.0.0.1", port, timeout=600, blocksize=MIB)
            connection.request("PUT", path, file, headers)
            _read(connection.getresponse(), 201)
            connection.close()

    def _get(self, port: int, path: str) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=600)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        size = _read(connection.getresponse(), 200)
        assert size == self.size, size
        connection.close()

    def _by_hub(self, name: str, file: Path, url: str) -> float:
        """Upload by Xet and return the seconds that the client needs."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "MUSTER_"))} | {
            "HF_ENDPOINT": f"{urlsplit(url).scheme}://{urlsplit(url).netloc}/hf",
            "HF_TOKEN": self.token,
            "HF_HOME": str(self.work / "hf"),
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
        }
        argv = [str(python_of("hf")), "-c", _HUB, name, str(file)]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-3000:])
        return float(json.loads(done.stdout.splitlines()[-1]))


def _read(answer: HTTPResponse, status: int) -> int:
    """Read an answer and return its size."""
    buffer, size = bytearray(MIB), 0
    while count := answer.readinto(buffer):
        size += count
    if answer.status != status:
        raise RuntimeError(f"{answer.status} {bytes(buffer[:500])!r}")
    return size


@contextmanager
def raw_server(folder: Folder, work: Path) -> Iterator[int]:
    """Run nginx and granian as the portal does, with an application that only writes a file."""
    from portal.process.nginx import find_nginx, write_configuration

    run, target = work / "raw-run", work / "raw-files"
    run.mkdir()
    target.mkdir()
    port = free_port()
    configuration = write_configuration(run, run, "127.0.0.1", port)
    raw = folder.start("raw", [sys.executable, "-c", _RAW, str(run / "web.sock"), str(target)])
    wait_until((run / "web.sock").exists, "granian listens")
    argv = [find_nginx(), "-e", "stderr", "-c", str(configuration)]
    nginx = folder.start("raw-nginx", argv)
    wait_until(lambda: is_listening(port), "nginx listens")
    try:
        yield port
    finally:
        for process in (nginx, raw):
            process.terminate()
            process.wait(20)
        for file in target.iterdir():
            file.unlink()


@contextmanager
def static_server(folder: Folder, root: Path) -> Iterator[int]:
    """Run nginx that serves a folder."""
    from portal.process.nginx import find_nginx

    port, configuration = free_port(), root / "static.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    configuration.write_text(
        f"{user} pid {root}/static.pid; daemon off; worker_processes 1;\n"
        "events { worker_connections 64; }\n"
        f"http {{ access_log off; sendfile on; sendfile_max_chunk 2m; "
        f"client_body_temp_path {root}/b; proxy_temp_path {root}/p; fastcgi_temp_path {root}/f; "
        f"uwsgi_temp_path {root}/u; scgi_temp_path {root}/s; "
        f"server {{ listen 127.0.0.1:{port}; root {root}; }} }}\n"
    )
    nginx = folder.start("static-nginx", [find_nginx(), "-e", "stderr", "-c", str(configuration)])
    wait_until(lambda: is_listening(port), "nginx listens")
    try:
        yield port
    finally:
        nginx.terminate()
        nginx.wait(20)


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "client"))
    began = time.monotonic()
    code = main()
    print(f"{time.monotonic() - began:.0f} s")
    sys.exit(code)
