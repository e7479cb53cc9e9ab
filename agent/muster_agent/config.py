"""What the agent is told: by the portal when embedded, by its command line and environment otherwise."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Config:
    """Times in seconds, sizes in bytes. `url` may stay empty when a sink takes the batches in process."""

    url: str = ""
    token: str = field(default="", repr=False)
    token_file: Path | None = (
        None  # read again at every try, so that a rotated token needs no restart
    )
    node: str = field(default_factory=socket.gethostname)
    jobs_dir: Path | None = None  # where the local backend keeps one folder per job
    disks: tuple[Path, ...] = (Path("/"),)
    spool_dir: Path | None = None  # None: what cannot be sent is kept in memory only
    spool_bytes: int = 64 << 20
    busy_interval: float = 2.0  # while a job runs
    idle_interval: float = 10.0
    timeout: float = 10.0  # of one request
    listen: str = ""  # "127.0.0.1:9400": serve the same numbers to Prometheus
    proc: Path = Path("/proc")  # tests and containers look at another one

    def bearer(self) -> str:
        """The token to send: the file's when one is named, else the one given. Raises OSError."""
        return self.token_file.read_text().strip() if self.token_file else self.token

    @classmethod
    def from_environ(cls, **given: object) -> Config:
        """MUSTER_URL, MUSTER_AGENT_TOKEN, MUSTER_AGENT_TOKEN_FILE and MUSTER_JOBS_DIR, under what is `given`."""
        token_file, jobs_dir = (
            os.environ.get("MUSTER_AGENT_TOKEN_FILE"),
            os.environ.get("MUSTER_JOBS_DIR"),
        )
        found: dict[str, object] = {
            "url": os.environ.get("MUSTER_URL", ""),
            "token": os.environ.get("MUSTER_AGENT_TOKEN", ""),
            "token_file": Path(token_file) if token_file else None,
            "jobs_dir": Path(jobs_dir) if jobs_dir else None,
        }
        return cls(
            **{**found, **{name: value for name, value in given.items() if value is not None}}
        )  # type: ignore[arg-type]
