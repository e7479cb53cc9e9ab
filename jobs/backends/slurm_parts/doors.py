"""What the backend needs of Slurm, by whichever way it is reached, and the way that an operator's options name."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from jobs.backends.base import NodeFacts, Rejected
from jobs.backends.slurm_parts.commands import Commands
from jobs.backends.slurm_parts.files import Files, Mounted, Remote
from jobs.backends.slurm_parts.limits import Limits
from jobs.backends.slurm_parts.queue import Queued
from jobs.backends.slurm_parts.request import Request, Site
from jobs.backends.slurm_parts.rest import Rest
from jobs.backends.slurm_parts.rows import Row
from jobs.backends.slurm_parts.running import Here, Login, There, surroundings

_PATH = re.compile(r"/[A-Za-z0-9_./-]+")


class Door(Protocol):
    """A way to Slurm. All raise Unavailable; what is unknown or over is no error for the five that change a job."""

    def submit(self, request: Request, script: str) -> int: ...
    def jobs(self, keys: Sequence[str]) -> list[Row]: ...
    def past(self, keys: Sequence[str]) -> list[Row]: ...
    def queue(self) -> list[Queued]: ...
    def limits(self) -> Limits: ...
    def exit_of(self, number: int) -> str: ...
    def remark(self, number: int, comment: str) -> None: ...
    def ask_to_end(self, number: int) -> None: ...
    def kill(self, number: int) -> None: ...
    def cancel(self, number: int) -> None: ...
    def nodes(self) -> list[NodeFacts]: ...
    def drain(self, node: str, why: str) -> None: ...
    def resume(self, node: str) -> None: ...
    def version(self) -> str: ...
    def beside(self, number: int, folder: str, argv: Sequence[str], timeout: float) -> tuple[int, bytes]: ...


def open_door(config: Any) -> Door:
    """REST where an address is given, else the commands here or on the login host. Raises Rejected with the option that is wrong."""
    if config.rest_url:
        if not config.user:
            raise Rejected("By REST it has to be said as which user jobs run.", "user")
        return Rest(config.rest_url.rstrip("/"), config.user, config.rest_token, config.rest_key, config.rest_user)
    env = surroundings(config.bin, config.conf)
    if config.ssh_host:
        return Commands(_there(config, env), config.user)
    return Commands(Here(env), config.user, is_for_other=bool(config.user) and os.geteuid() == 0 and config.user != pwd.getpwuid(0).pw_name)


def open_files(config: Any) -> Files:
    if config.ssh_host and not config.mount:
        return Remote(_there(config, surroundings(config.bin, config.conf)), config.spool)
    return Mounted(Path(config.mount or config.spool))


def site_of(config: Any) -> Site:
    """Raises Rejected for a spool that a script could misread."""
    if not _PATH.fullmatch(config.spool) or "/../" in f"{config.spool}/":
        raise Rejected("The spool is an absolute path of letters, digits and . _ - only.", "spool")
    return Site(config.spool.rstrip("/"), config.user, config.account, config.qos, config.partition, config.reservation, config.constraint)


def _there(config: Any, env: dict[str, str]) -> There:
    if not config.ssh_key or not config.ssh_known_hosts:
        raise Rejected("A login host needs a key, and the line of known_hosts by which it is recognized.", "ssh_key")
    return There(Login(config.ssh_host, config.ssh_user or config.user, config.ssh_port, str(config.ssh_key), config.ssh_known_hosts), env)
