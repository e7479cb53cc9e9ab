"""Agent settings, from the portal in embedded mode, else from arguments and environment."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Config:
    """Settings. Times are in seconds, sizes in bytes.

    `url` may be empty if batches go to a sink in the same process.
    """

    url: str = ""
    token: str = field(default="", repr=False)
    token_file: Path | None = (
        None  # read again at every try, so that a rotated token needs no restart
    )
    node: str = field(default_factory=socket.gethostname)
    jobs_dir: Path | None = None  # one directory per job of the local backend
    disks: tuple[Path, ...] = (Path("/"),)
    spool_dir: Path | None = None  # None: unsent batches stay in memory only
    spool_bytes: int = 64 << 20
    busy_interval: float = 2.0  # while a job is running
    idle_interval: float = 10.0
    batch: float = 0.0  # gather measurements for this long; 0: send each at once
    timeout: float = 10.0  # per request
    listen: str = ""  # such as "127.0.0.1:9400": serve metrics to Prometheus
    allow_mig: bool = False  # the portal may change MIG instances; needs root
    proc: Path = Path("/proc")  # tests and containers use another one

    def bearer(self) -> str:
        """Return the token, read from the token file if one is set. Raises OSError."""
        return self.token_file.read_text().strip() if self.token_file else self.token

    @classmethod
    def from_environ(cls, **given: object) -> Config:
        """Return settings from the environment, overridden by `given`.

        Variables: MUSTER_URL, MUSTER_AGENT_TOKEN, MUSTER_AGENT_TOKEN_FILE, MUSTER_JOBS_DIR.
        """
        token_file, jobs_dir = (
            os.environ.get("MUSTER_AGENT_TOKEN_FILE"),
            os.environ.get("MUSTER_JOBS_DIR"),
        )
        found: dict[str, Any] = {
            "url": os.environ.get("MUSTER_URL", ""),
            "token": os.environ.get("MUSTER_AGENT_TOKEN", ""),
            "token_file": Path(token_file) if token_file else None,
            "jobs_dir": Path(jobs_dir) if jobs_dir else None,
        }
        return cls(
            **{**found, **{name: value for name, value in given.items() if value is not None}}
        )
