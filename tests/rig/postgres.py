"""A private PostgreSQL on loopback; durable unless started with `durable=False`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.rig.processes import Folder, RigFailure, free_port, program, wait_until

_FAST = ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off"]


@dataclass(frozen=True)
class Postgres:
    """A running server; `url` names its empty database `muster`."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"postgres://muster@127.0.0.1:{self.port}/muster"


def start_postgres(folder: Folder, *, durable: bool = True, name: str = "postgres") -> Postgres:
    """Run initdb and start the server, in about a second. Raises RigFailure."""
    user = "postgres" if os.geteuid() == 0 else None
    data, port = folder.path / name, free_port()
    data.mkdir(mode=0o700)
    if user:
        shutil.chown(data, user, user)
    _init(data, user)
    argv = [
        binary("postgres"),
        "-D",
        str(data),
        "-p",
        str(port),
        "-c",
        "listen_addresses=127.0.0.1",
        "-c",
        f"unix_socket_directories={data}",
        "-c",
        "max_connections=200",
        "-c",
        "shared_buffers=32MB",
        "-c",
        "jit=off",
        *([] if durable else _FAST),
    ]
    process = folder.start(name, argv, user=user, stop_by=signal.SIGINT)
    ready = [binary("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]

    def is_ready() -> bool:
        if process.poll() is not None:
            raise RigFailure(f"PostgreSQL ended at its start: {folder.tail(name)}")
        return subprocess.run(ready, check=False).returncode == 0

    wait_until(is_ready, "PostgreSQL answers")
    subprocess.run(
        [binary("createdb"), "-h", "127.0.0.1", "-p", str(port), "-U", "muster", "muster"],
        check=True,
    )
    return Postgres(port, process.pid)


def create_database(server_url: str, name: str) -> str:
    """Create an empty database with a unique name; return its URL."""
    import psycopg
    from psycopg import sql

    name = f"{name}_{uuid4().hex[:12]}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return f"{server_url.rsplit('/', 1)[0]}/{name}"


def binary(name: str) -> str:
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda path: int(path.parent.name),
        reverse=True,
    )
    return program(name, *map(str, versions))


def _init(data: Path, user: str | None) -> None:
    argv = [
        binary("initdb"),
        "-D",
        str(data),
        "-U",
        "muster",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C.UTF-8",  # case of every language; the order is that of C
        "--no-sync",
    ]
    done = subprocess.run(
        argv,
        user=user,
        group=user,
        extra_groups=[] if user else None,
        cwd=data,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RigFailure(f"initdb failed: {done.stderr.decode(errors='replace')}")
