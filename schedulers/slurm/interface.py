"""Define what the backend needs from Slurm, and choose the access path from the options."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from portal.core.messages import Message
from schedulers.contract import (
    NodeFacts,
    Rejected,
    ReservationFacts,
    ReservationRequest,
    rejections,
)
from schedulers.slurm.commands import Commands
from schedulers.slurm.files import Files, MountedSpool, RemoteSpool
from schedulers.slurm.images import images_of
from schedulers.slurm.inputs import inputs_of
from schedulers.slurm.limits import SlurmLimits
from schedulers.slurm.queue import Queued
from schedulers.slurm.request import Request, SlurmSettings
from schedulers.slurm.reservations import RESERVATION
from schedulers.slurm.rest import RestClient
from schedulers.slurm.rows import Row
from schedulers.slurm.sbatch_options import checked
from schedulers.slurm.transport import LocalTransport, LoginHost, SshTransport, surroundings
from schedulers.slurm.usage import LimitUsage

_USER = re.compile(r"[a-z_][a-z0-9_.-]{0,62}", re.IGNORECASE | re.ASCII)
_PATH = re.compile(r"/[A-Za-z0-9_./-]+")


class SlurmClient(Protocol):
    """An access path to Slurm.

    All methods raise Unavailable; those that change a job ignore unknown and ended jobs. `whose` is
    the user of the job if it may differ from the cluster's.
    """

    def submit(self, request: Request, script: str) -> int: ...
    def jobs(self, keys: Sequence[str], *, is_whole: bool = False) -> list[Row]:
        """Return what the controller knows of these jobs, and possibly of others.

        With `is_whole`, all jobs with one key.
        """

    def past(self, keys: Sequence[str]) -> list[Row]: ...
    def queue(self) -> list[Queued]: ...
    def limits(self) -> SlurmLimits: ...
    def limit_usage(self, jobs: Sequence[Queued], limits: SlurmLimits) -> LimitUsage:
        """Return the use of limits that Slurm counts for these jobs, as far as it tells."""

    def exit_of(self, number: int) -> str: ...
    def canceled_by(self, key: str, number: int) -> str | None:
        """Return the user who canceled a job.

        "" if accounting does not say, and None if it does not know of the end yet.
        """

    def remark(self, number: int, comment: str, whose: str = "") -> None: ...
    def set_minutes(self, number: int, minutes: int) -> None:
        """Change the time limit of a job, as the user who asks Slurm. Raises Rejected."""

    def ask_to_end(self, number: int, whose: str = "") -> None: ...
    def kill(self, number: int, whose: str = "") -> None: ...
    def cancel(self, number: int, whose: str = "") -> None: ...
    def nodes(self) -> list[NodeFacts]: ...
    def drain(self, node: str, why: str) -> None: ...
    def resume(self, node: str) -> None: ...
    def way_to_keep(self, kind: str) -> str:
        """Say which way pools of this kind are kept, if there are several, and why that one.

        Raises Rejected if there is none, with what to change.
        """

    def reserve(self, request: ReservationRequest, users: str, accounts: str) -> None: ...
    def unreserve(self, name: str) -> None: ...
    def reservations(self, prefix: str) -> list[ReservationFacts]: ...
    def partition_accounts(self, partition: str) -> str: ...
    def open_partition(self, partition: str, accounts: str) -> None: ...
    def reconfigure(self) -> None: ...
    def version(self) -> str: ...
    def check_user(self, user: str) -> None:
        """Check that jobs can be submitted as this user. Raises Rejected, Unavailable."""

    def check_owner(self, user: str) -> None:
        """Check that the user of the jobs exists. Raises Rejected, Unavailable."""

    def beside(
        self, number: int, folder: str, argv: Sequence[str], timeout: float, whose: str = ""
    ) -> tuple[int, bytes]: ...


def open_client(config: Any) -> SlurmClient:
    """Choose REST if an address is set, else local or remote commands.

    Raises Rejected with the invalid option.
    """
    if config.rest_url:
        if not config.user:
            raise Rejected(Message("With REST, set the user that jobs run as."), "user")
        if config.users and not config.rest_key and not config.rest_user:
            raise Rejected(
                Message(
                    "A token speaks for one user: for several give the key, or a token of root's "
                    "or Slurm's own user and say whose."
                ),
                "users",
            )
        return RestClient(
            config.rest_url.rstrip("/"),
            config.user,
            config.rest_token,
            config.rest_key,
            config.rest_user,
            tuple(config.users),
            _commands(config) if config.ssh_host or config.bin or config.conf else None,
        )
    return _commands(config)


def _commands(config: Any) -> Commands:
    env = surroundings(config.bin, config.conf)
    if config.ssh_host:
        return Commands(
            _there(config, env),
            config.user or (config.ssh_user if config.users else ""),
            users=tuple(config.users),
        )
    me = pwd.getpwuid(os.geteuid()).pw_name
    return Commands(
        LocalTransport(env),
        config.user or (me if config.users else ""),
        users=tuple(config.users),
        is_root=os.geteuid() == 0,
    )


def open_files(config: Any) -> Files:
    if config.ssh_host and not config.mount:
        return RemoteSpool(_there(config, surroundings(config.bin, config.conf)), config.spool)
    return MountedSpool(Path(config.mount or config.spool), is_elsewhere=bool(config.mount))


def faults_in(config: Any) -> list[tuple[str, str]]:
    """Return (option, message) of all that is wrong with the options without asking Slurm."""
    found = rejections(
        lambda: _check_spool(config),
        lambda: _check_users(config),
        lambda: checked(config.may_choose),
        lambda: images_of(config.containers, config.images, ()),
        lambda: images_of(config.containers, "", config.mounts),
        lambda: inputs_of(config.data_folder, "", 0),
        lambda: inputs_of("", config.input_cache, 0),
        lambda: inputs_of("", "", config.input_cache_limit),
        lambda: inputs_of("", "", 0, config.workspaces_folder),
        lambda: open_client(config),
    )
    if config.user and not _USER.fullmatch(config.user):
        name = repr(config.user[:64])
        found.append(("user", Message("{x} is not a valid user name.", x=name)))
    parts = urlsplit(config.rest_url)
    if config.rest_url and (parts.scheme not in {"http", "https"} or not parts.hostname):
        found.append(("rest_url", Message("must be an address such as http://10.0.0.1:6820")))
    if config.rest_url and not config.rest_token and not config.rest_key:
        found.append(("rest_key", Message("enter it, or a REST token")))
    if config.ssh_host:
        found += _ssh_faults(config)
    return found


def _ssh_faults(config: Any) -> Iterator[tuple[str, str]]:
    if config.ssh_key and "PRIVATE KEY-----" not in config.ssh_key:
        yield (
            "ssh_key",
            Message("must be a private key, from -----BEGIN to -----END, without a passphrase"),
        )
    if config.ssh_known_hosts and len(config.ssh_known_hosts.split()) < 3:
        yield (
            "ssh_known_hosts",
            Message(
                "must be a line of known_hosts: host, type and key, as `ssh-keyscan {host}` prints",
                host=config.ssh_host,
            ),
        )
    if not config.ssh_known_hosts:
        yield (
            "ssh_known_hosts",
            Message("is required: `ssh-keyscan {host}` prints it", host=config.ssh_host),
        )
    if not config.ssh_user and not config.user:
        yield "ssh_user", Message("is required", context="part of a sentence")


def _check_spool(config: Any) -> None:
    if not _PATH.fullmatch(config.spool) or "/../" in f"{config.spool}/":
        raise Rejected(
            Message("The spool must be an absolute path of letters, digits and . _ - only."),
            "spool",
        )


def _check_users(config: Any) -> None:
    if wrong := next((user for user in config.users if not _USER.fullmatch(user)), None):
        raise Rejected(Message("{x} is not a valid user name.", x=repr(wrong[:64])), "users")


def site_of(config: Any) -> SlurmSettings:
    """Return the site settings. Raises Rejected for a spool path that a shell could misread."""
    _check_spool(config)
    _check_users(config)
    return SlurmSettings(
        config.spool.rstrip("/"),
        config.user,
        tuple(config.users),
        config.account,
        config.qos,
        config.partition,
        config.reservation,
        config.constraint,
        checked(config.may_choose),
        config.exclusive_pools == RESERVATION,
        images_of(config.containers, config.images, config.mounts),
        inputs_of(
            config.data_folder,
            f"{config.input_cache.rstrip('/')}/user"
            if config.input_cache
            else f"{config.spool.rstrip('/')}/.inputs",
            config.input_cache_limit,
            config.workspaces_folder,
        ),
    )


def _there(config: Any, env: dict[str, str]) -> SshTransport:
    if not config.ssh_key or not config.ssh_known_hosts:
        raise Rejected(
            Message("A login host needs a private key and its known_hosts line."),
            "ssh_key" if not config.ssh_key else "ssh_known_hosts",
        )
    return SshTransport(
        LoginHost(
            config.ssh_host,
            config.ssh_user or config.user,
            config.ssh_port,
            str(config.ssh_key),
            config.ssh_known_hosts,
        ),
        env,
    )
