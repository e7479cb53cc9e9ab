"""A private, non-persistent Redis on loopback."""

from __future__ import annotations

from dataclasses import dataclass

from tests.rig.processes import Folder, RigFailure, free_port, is_listening, program, wait_until


@dataclass(frozen=True)
class Redis:
    """A running server with 64 databases, one for each parallel test process."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


def start_redis(folder: Folder, *, port: int = 0, name: str = "redis") -> Redis:
    """Start Redis, in about 20 ms; `port` restarts one at the same address."""
    port = port or free_port()
    argv = [
        program("redis-server"),
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--databases",
        "64",
        "--dir",
        str(folder.path),
        "--daemonize",
        "no",
    ]
    process = folder.start(name, argv)

    def is_ready() -> bool:
        if process.poll() is not None:
            raise RigFailure(f"Redis ended at its start: {folder.tail(name)}")
        return is_listening(port)

    wait_until(is_ready, "Redis answers")
    return Redis(port, process.pid)
