"""Run jobs on Slurm through slurmrestd, local commands, or commands on a login host.

A job is found by its name, which is its key. The batch script is constant and records how the job
ended, so the end is exact even without accounting. See docs/design/slurm.md.
"""

from __future__ import annotations

import logging
import os
import pwd
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar
from uuid import uuid4

from portal.core.messages import Message
from portal.core.options import failed
from schedulers.cached import CachedValue
from schedulers.contract import (
    Capability,
    DiskSpace,
    Endpoint,
    GpuLayout,
    Handle,
    Identity,
    Launch,
    LaunchIdentity,
    LogChunk,
    NodeFacts,
    Observation,
    OutputFolder,
    OutputRetention,
    Poll,
    Probe,
    Rejected,
    ReservationFacts,
    ReservationRequest,
    ReservationScope,
    Secret,
    Unavailable,
    Way,
    option,
)
from schedulers.slurm import gpu_files, reservations, script, states
from schedulers.slurm import probe as probing
from schedulers.slurm.files import MountedSpool
from schedulers.slurm.images import KINDS
from schedulers.slurm.inputs import check_folders, check_mounts
from schedulers.slurm.interface import faults_in, open_client, open_files, site_of
from schedulers.slurm.known_ends import EndCache
from schedulers.slurm.queue_cache import ObservationCache
from schedulers.slurm.rendering import rendered
from schedulers.slurm.request import build_request, chosen, minutes_of, slice_names
from schedulers.slurm.rows import Row, oldest
from schedulers.slurm.snapshots import SnapshotCache

log = logging.getLogger(__name__)
# seconds that a slow or unavailable Slurm may still report a job as running after its script ended
_LATE = 10.0
_LATE_ACCOUNTING = 5.0  # seconds within which accounting learns of an end
_FULL = 64 << 10  # bytes: a spool with less free space is full
_NONE = Secret("")
_KEY = re.compile(r"[A-Za-z0-9-]{1,100}")
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Config:
    """Options for reaching Slurm and defaults for every job there."""

    WAYS: ClassVar[tuple[Way, ...]] = (
        Way(
            "rest",
            Message("slurmrestd", context="part of a sentence"),
            Message("Over HTTP. The portal needs no Slurm, only a token or the key."),
            needs=("rest_url", "user"),
            one_of=("rest_key", "rest_token"),
            also=("rest_user", "conf", "bin"),
        ),
        Way(
            "rest-ssh",
            Message("slurmrestd and a login host"),
            Message(
                "What slurmrestd can't do, such as limits and reservations, is done by Slurm's "
                "commands over SSH."
            ),
            needs=("rest_url", "user", "ssh_host", "ssh_key", "ssh_known_hosts"),
            one_of=("rest_key", "rest_token"),
            also=("rest_user", "ssh_user", "ssh_port", "conf", "bin"),
        ),
        Way(
            "ssh",
            Message("Login host", context="text, schedulers"),
            Message("Slurm's commands, run over SSH on a host that has them."),
            needs=("ssh_host", "ssh_key", "ssh_known_hosts"),
            also=("ssh_user", "ssh_port", "conf", "bin"),
        ),
        Way(
            "commands",
            Message("This machine", context="text, schedulers"),
            Message("Slurm's commands are installed where the portal runs."),
            also=("conf", "bin"),
        ),
    )
    spool: str = option(
        Message("Spool", context="setting, folder"),
        note=Message("A directory shared by all nodes and writable by the jobs' user."),
        step="jobs",
    )
    user: str = option(
        Message("User", context="setting"),
        default="",
        note=Message("User that jobs run as; if empty with commands, the portal's own user."),
        step="jobs",
    )
    mount: str = option(
        Message("Spool, seen from here"),
        default="",
        note=Message("Path of the spool on the portal's machine; empty: the same path."),
        is_rare=True,
        step="jobs",
    )
    rest_url: str = option(
        Message("Address of slurmrestd"),
        default="",
        sends=("rest_token", "rest_key"),
        note=Message("Such as http://10.0.0.1:6820."),
    )
    rest_token: Secret = option(
        Message("REST token", context="setting"),
        default=_NONE,
        note=Message("From `scontrol token`. It expires; a key does not."),
    )
    rest_key: Secret = option(
        Message("REST key", context="setting"),
        default=_NONE,
        note=Message("Content of jwt_hs256.key; Muster creates its own tokens with it."),
        is_long=True,
    )
    rest_user: str = option(
        Message("REST user", context="setting"),
        default="",
        note=Message("Owner of the token, if different from the jobs' user."),
        is_rare=True,
    )
    conf: str = option(
        "slurm.conf", default="", note=Message("Path, if not the default."), is_rare=True
    )
    bin: str = option(
        Message("Commands", context="setting"),
        default="",
        note=Message("Directory of sbatch and squeue, if not in PATH."),
        is_rare=True,
    )
    ssh_host: str = option(
        Message("Login host", context="setting"),
        default="",
        sends=("ssh_key",),
        note=Message("Slurm's commands run on this host over SSH."),
    )
    ssh_port: int = option(Message("SSH port", context="setting"), default=22, is_rare=True)
    ssh_user: str = option(Message("SSH user", context="setting"), default="")
    ssh_key: Secret = option(
        Message("SSH key", context="setting"),
        default=_NONE,
        note=Message("Private key, without a passphrase."),
        is_long=True,
    )
    ssh_known_hosts: str = option(
        Message("Host key", context="setting"),
        default="",
        note=Message("The line of known_hosts for the login host."),
    )
    account: str = option(
        Message("Account", context="setting, of Slurm"), default="", is_rare=True, step="jobs"
    )
    qos: str = option("QOS", default="", is_rare=True, step="jobs")
    partition: str = option(
        Message("Partition", context="setting"),
        default="",
        note=Message("For pools without their own. Empty: Slurm's default."),
        step="jobs",
    )
    reservation: str = option(
        Message("Reservation", context="setting"), default="", is_rare=True, step="jobs"
    )
    constraint: str = option(
        Message("Constraint", context="setting"),
        default="",
        note=Message("Features that every node of a job must have."),
        is_rare=True,
        step="jobs",
    )
    containers: str = option(
        Message("Images", context="setting, container images"),
        default="none",
        choices=KINDS,
        note=Message("Container runtime on the nodes; auto: detected on each node."),
        is_rare=True,
        step="jobs",
    )
    images: str = option(
        Message("Images on disk", context="setting"),
        default="",
        is_rare=True,
        note=Message(
            "Where they may lie ready, as nvcr.io%nvidia%pytorch+26.09-py3 "
            "(also .sif, .sqfs, .sqsh); a node fetches the others."
        ),
        step="jobs",
    )
    mounts: tuple[str, ...] = option(
        Message("Folders in images"),
        default=(),
        is_rare=True,
        note=Message("Additional mounts in containers: /data, or /data:/there."),
        step="jobs",
    )
    data_folder: str = option(
        Message("Data folder of the portal"),
        default="",
        is_rare=True,
        note=Message(
            "Path by which nodes see MUSTER_HOME, mounted read-only: inputs are read there. "
            "Empty: nodes fetch them from the portal."
        ),
        step="jobs",
    )
    input_cache: str = option(
        Message("Cache of inputs", context="setting"),
        default="",
        is_rare=True,
        note=Message("Folder on the nodes for fetched inputs; empty: .inputs in the spool."),
        step="jobs",
    )
    input_cache_limit: int = option(
        Message("Limit of the cache"),
        default=500,
        is_rare=True,
        note=Message("GiB for each user; what was not used for longest is removed. 0: no limit."),
        step="jobs",
    )
    workspaces_folder: str = option(
        Message("Workspaces", context="setting"),
        default="",
        is_rare=True,
        note=Message(
            "Path by which nodes see MUSTER_WORKSPACES, mounted with write access. "
            "Empty: jobs cannot use workspaces."
        ),
        step="jobs",
    )
    exclusive_pools: str = option(
        Message("Exclusive pools", context="setting"),
        default=reservations.RESERVATION,
        choices=reservations.KINDS,
        is_rare=True,
        note=Message(
            "How GPUs of an approved request are kept for their team. reservation: nodes are "
            "reserved, which needs AdminLevel=Operator. partition: the pool's partition is open "
            "to the team's account only, and closed without a grant. slurmrestd before v0.0.43 "
            "cannot do the first, and none can do the second: then Slurm's commands are used."
        ),
        step="jobs",
    )
    users: tuple[str, ...] = option(
        Message("Users of teams", context="setting"),
        default=(),
        is_rare=True,
        note=Message("Further users that jobs may run as, if the grant of a pool names them."),
        step="jobs",
    )
    may_choose: tuple[str, ...] = option(
        Message("Jobs may choose", context="setting"),
        default=(),
        is_rare=True,
        note=Message(
            "Of account, qos, reservation, constraint, licenses, exclusive. "
            "Empty: all but exclusive, where nothing is fixed above; none: nothing."
        ),
        step="jobs",
    )


def config_of(options: Mapping[str, Any]) -> Config:
    known = {
        name: options[name]
        for name in Config.__dataclass_fields__
        if options.get(name) not in (None, "")
    }
    return Config(**{"spool": "", **known})


class SlurmBackend:
    """The Slurm backend; see Backend for the contract."""

    name: ClassVar[str] = "slurm"
    title: ClassVar[str] = "Slurm"
    about: ClassVar[str] = Message(
        "Submit to an existing Slurm over SSH or its REST API. Slurm schedules the jobs."
    )
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {
            Capability.EXEC,
            Capability.ENDPOINTS,
            Capability.GANG,
            Capability.INPUTS,
            Capability.SRUN,
            Capability.DRAIN,
            Capability.CONFIRM,
            Capability.NATIVE,
            Capability.IDENTITIES,
            Capability.RESERVATIONS,
            Capability.GPU_FILES,
            Capability.DISK,
            Capability.TIME_LIMIT,
        }
    )

    @classmethod
    def capabilities_with(cls, options: Mapping[str, Any]) -> frozenset[Capability]:
        """Return the capabilities with these settings of the operator."""
        found = set(cls.capabilities)
        if options.get("exclusive_pools") == reservations.NONE:
            found.discard(Capability.RESERVATIONS)
        if options.get("containers") not in (None, "", "none"):
            found.add(Capability.IMAGES)
        if options.get("workspaces_folder"):
            found.add(Capability.WORKSPACES)
        return frozenset(found)

    def __init__(self, config: Config):
        self.config, self.site = config, site_of(config)
        self._memory, self._pictures = EndCache(), SnapshotCache({config.user, *config.users})
        self._slices: CachedValue[dict[str, str]] = CachedValue("MIG types", 60, outlives=True)
        self._polls = ObservationCache(self._observe)

    @classmethod
    def configured(cls, options: Mapping[str, Any]) -> SlurmBackend:
        """Create a backend from the stored options of a cluster."""
        return cls(config_of(options))

    @cached_property
    def _client(self) -> Any:
        return open_client(self.config)

    @cached_property
    def _files(self) -> Any:
        return open_files(self.config)

    @classmethod
    def option_faults(cls, options: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return (option, message) of all that is wrong without asking Slurm."""
        return faults_in(config_of(options))

    def probe(self) -> Probe:
        if faults := faults_in(self.config):
            return Probe.of(
                [
                    failed(Message("Options", context="text, schedulers"), text, name)
                    for name, text in faults
                ],
                "",
            )
        return probing.probe(self.config, lambda: self._client, lambda: self._files)

    def disk_space(self) -> DiskSpace:
        return self._files.space()  # type: ignore[no-any-return]

    def inventory(self) -> Sequence[NodeFacts]:
        return self._client.nodes()  # type: ignore[no-any-return]

    def render(self, launch: Launch) -> str:
        self._checked(launch.key)
        request = build_request(launch, self.site)
        self._script(launch)
        return rendered(launch, request)

    @property
    def sees_data(self) -> bool:
        return bool(self.site.inputs.data)

    def check_inputs(self, launch: Launch) -> None:
        check_mounts(launch)

    # The user of the jobs owns the way to all workspaces; a mount only hides it.
    has_private_mounts: ClassVar[bool] = False

    def check_folders(self, launch: Launch) -> None:
        check_folders(launch, self.site.inputs, self.site.images.kind)

    def check_identity(self, identity: Identity) -> None:
        whose = LaunchIdentity(run_as=identity)
        build_request(Launch(key="identity", name="", script="", identity=whose), self.site)

    def ignored_options(self, launch: Launch) -> Sequence[str]:
        build_request(launch, self.site)
        return chosen(launch, self.site).ignored_options

    def submit(self, launch: Launch) -> Handle:
        """Submit a job, once per key.

        If several jobs were submitted concurrently with one key, the first is kept and the others
        are canceled. Those cannot have run: a later job waits for the earlier one (`singleton`) and
        finds the key's folder taken.
        """
        if launch.is_new:
            return Handle(launch.key, str(self._submitted(launch)))
        known = self._row(launch.key)
        made = known.id if known else self._submitted(launch)
        same = [
            row.id
            for row in self._client.jobs([launch.key], is_whole=True)
            if row.key == launch.key
        ]
        whose = launch.identity.run_as.user
        first = min([made, *same])
        for number in same:
            if number != first:
                self._client.cancel(number, whose)
        return Handle(launch.key, str(first))

    def _submitted(self, launch: Launch) -> int:
        launch = self._named(launch)
        return self._client.submit(build_request(launch, self.site), self._script(launch))  # type: ignore[no-any-return]

    def _script(self, launch: Launch) -> str:
        return script.batch_script(
            launch, self._folder(launch.key), uuid4().hex, self.site.images, self.site.inputs
        )

    def _named(self, launch: Launch) -> Launch:
        """Return the launch with the cluster's own name of its MIG slices: "a100_1g.5gb"."""
        if not launch.limits.gpu_type.startswith("mig-"):
            return launch
        found = self._slices.current(lambda: slice_names(self._client.nodes())) or {}
        gpu_type = launch.limits.gpu_type
        limits = replace(launch.limits, gpu_type=found.get(gpu_type, gpu_type))
        return replace(launch, limits=limits)

    def output_of(self, key: str) -> OutputFolder:
        files = self._files
        is_mounted = isinstance(files, MountedSpool) and files.root.is_dir()
        here = str(files.root / key / "out") if is_mounted else ""
        return OutputFolder(f"{self._folder(key)}/out", OutputRetention.WEEK, local_path=here)

    def endpoint(self, key: str, port: int) -> Endpoint:
        """Return the tunnel: nodes need no open port. It runs beside the job on its first node."""
        self._checked(key)
        return Endpoint()

    def find(self, key: str) -> Handle | None:
        row = self._row(self._checked(key))
        return Handle(key, str(row.id)) if row else None

    def poll(self, keys: Iterable[str]) -> Poll:
        wanted = [key if self._polls.knows(key) else self._checked(key) for key in keys]
        rows = self._known(wanted) if wanted else {}
        lost = [key for key in wanted if key not in rows]
        try:
            rows.update(self._past(lost))
        except Unavailable as error:
            log.warning(
                "%d jobs of Slurm are not known to be gone: accounting does not answer. %s",
                len(lost),
                error,
            )
            lost = []
        seen = self._polls.look(
            wanted, rows, lambda waiting: self._pictures.current(self._client, waiting)
        )
        return Poll(seen, [key for key in lost if key not in rows])

    def cancel(self, key: str, grace: float = 30) -> None:
        """Cancel a job with the grace period of its submission.

        With a grace of 0 it is killed at once.
        """
        row = self._row(self._checked(key))
        if row is None or states.is_over(row.state):
            return
        if not row.is_asked_to_end:
            self._client.remark(
                row.id,
                f"[cancel {int(time.time())} {max(grace, 0):g}] {row.comment}"[:250],
                row.user,
            )
        if row.state == "PENDING" or row.state.startswith("REQUEUE"):
            self._client.cancel(row.id, row.user)
        elif grace <= 0:
            self._client.kill(row.id, row.user)
        elif not row.is_asked_to_end:
            self._client.ask_to_end(row.id, row.user)

    def set_time_limit(self, key: str, seconds: int, grace: float) -> None:
        """Change the time limit of a job; its own clock asks Slurm for it at the former end.

        One minute more than needed, since Slurm counts from a little before the script starts.
        """
        row = self._row(self._checked(key))
        if row is None or row.state != "RUNNING":
            raise Rejected(Message("The job is not running."))
        try:
            self._client.set_minutes(row.id, minutes_of(seconds, grace) + 1)
        except Rejected as error:
            raise Rejected(
                Message(
                    "Slurm did not raise the time limit: {why} Only its operators may: give the portal's "
                    "user that right with `sacctmgr modify user NAME set AdminLevel=Operator`.",
                    why=f"{error.args[0]}".rstrip(".") + ".",
                )
            ) from error

    def read_log(self, key: str, after: int, limit: int = 1 << 20) -> LogChunk:
        return self._files.read(self._checked(key), after, limit)  # type: ignore[no-any-return]

    def exec(self, key: str, argv: Sequence[str], timeout: float = 30) -> tuple[int, bytes]:
        row = self._row(self._checked(key))
        if row is None or row.state != "RUNNING":
            raise Rejected(Message("The job is not running."), "argv")
        return self._client.beside(row.id, self._folder(key), argv, timeout, row.user)  # type: ignore[no-any-return]

    def forget(self, key: str) -> None:
        row = self._row(self._checked(key))
        if row is not None and states.is_over(row.state):
            self._files.remove(key)
            self._memory.forget(key)

    def drain(self, node: str, why: str) -> None:
        self._client.drain(_node(node), " ".join(why.split())[:200] or "Muster")

    def resume(self, node: str) -> None:
        self._client.resume(_node(node))

    @property
    def reservation_scope(self) -> ReservationScope:
        self._client.way_to_keep(self.config.exclusive_pools)
        if self.config.exclusive_pools == reservations.PARTITION:
            return ReservationScope.POOL
        return ReservationScope.NODES

    def plan_reservation(self, request: ReservationRequest) -> str:
        users, accounts = self._whose(request)
        kind = self.config.exclusive_pools
        if kind == reservations.PARTITION:
            text = Message(
                "Opens partition {partition} in Slurm to account {account} only. It is closed "
                "when the grant ends.",
                partition=_partition(request.partition),
                account=accounts,
            )
        else:
            whose = (
                Message("account {name}", context="whose limit", name=accounts)
                if accounts
                else Message("user {name}", context="whose limit", name=users)
            )
            text = reservations.text_of(request, whose, reservations.short(request.nodes))
        way = self._client.way_to_keep(kind)
        return Message.joined(" ", (text, way)) if way else text

    def reserve(self, request: ReservationRequest) -> None:
        users, accounts = self._whose(request)
        for node in request.nodes:
            _node(node)
        if self.config.exclusive_pools == reservations.PARTITION:
            self._open(_partition(request.partition), accounts)
        else:
            self._client.reserve(request, users, accounts)

    def unreserve(self, name: str, partition: str = "") -> None:
        if self.config.exclusive_pools == reservations.PARTITION and partition:
            self._open(_partition(partition), reservations.CLOSED)
        self._client.unreserve(name)

    def reservations(self, prefix: str) -> Sequence[ReservationFacts]:
        return self._client.reservations(prefix)  # type: ignore[no-any-return]

    def _open(self, partition: str, accounts: str) -> None:
        if self._client.partition_accounts(partition) != accounts:
            self._client.open_partition(partition, accounts)

    def _whose(self, request: ReservationRequest) -> tuple[str, str]:
        """Return the users or else the accounts of a team's jobs. Raises Rejected."""
        identity = request.identity
        account = identity.account or ("" if identity.user else self.site.account)
        user = identity.user or self.config.user or self._client.user
        if self.config.exclusive_pools == reservations.PARTITION and not account:
            raise Rejected(
                Message(
                    "Partitions are opened to accounts, and {team} has none here. Grant it the "
                    "pool with its account.",
                    team=request.team,
                )
            )
        if not account and not user:
            user = self.config.ssh_user or pwd.getpwuid(os.geteuid()).pw_name
        return ("", account) if account else (user, "")

    def gpu_files(self, nodes: Mapping[str, Sequence[GpuLayout]]) -> Mapping[str, str]:
        return gpu_files.gpu_files(nodes)

    def reconfigure(self) -> None:
        self._client.reconfigure()

    def _checked(self, key: str) -> str:
        if not _KEY.fullmatch(key):
            raise Rejected(Message("This is not a valid job key."))
        return key

    def _folder(self, key: str) -> str:
        return f"{self.site.spool}/{self._checked(key)}"

    def _row(self, key: str) -> Row | None:
        """Find a job in the controller, in its own record, and in accounting, in this order."""
        keys = [self._checked(key)]
        return self._known(keys).get(key) or self._past(keys).get(key)

    def _known(self, keys: Sequence[str]) -> dict[str, Row]:
        """Return the jobs that the controller knows or that left a record of their end."""
        queried = self._memory.without_forgotten(keys)
        if not queried:
            return {}
        wanted = set(queried)
        rows = oldest(row for row in self._client.jobs(queried) if row.key in wanted)
        for key in wanted - rows.keys():
            if row := states.left(key, self._files.record(key), time.time()):
                rows[key] = self._past_end(row) if row.state == states.FORGOTTEN else row
        return rows

    def _past_end(self, row: Row) -> Row:
        """Complete the end of a job from accounting.

        A controller may keep ends for seconds only.
        """
        try:
            return self._past([row.key]).get(row.key, row)
        except Unavailable:
            return row

    def _past(self, keys: Sequence[str]) -> dict[str, Row]:
        """Return the ended jobs from accounting.

        A job that accounting calls running and the controller does not know runs nowhere.
        """
        lost = set(self._memory.without_forgotten(keys))
        rows = (
            oldest(row for row in self._client.past(sorted(lost)) if states.is_over(row.state))
            if lost
            else {}
        )
        return {key: row for key, row in rows.items() if key in lost}

    def _observe(self, row: Row) -> Observation | None:
        if not states.is_over(row.state):
            record = self._files.record(row.key) if states.may_have_run(row) else states.Record()
            if states.is_requeued(row, record) or states.is_unlaunched(row):
                if not self._is_withdrawn(row):
                    return None
            elif record.code is None or self._memory.recorded_for(row.key) < _LATE:
                return states.live(row, record)
        if (known := self._memory.end_of(row.key)) is not None:
            return known
        if (seen := self._ended(row)) is not None:
            self._memory.keep(seen)
        return seen

    def _is_withdrawn(self, row: Row) -> bool:
        """Cancel a job so that Slurm does not start it again.

        Slurm refuses this while it cleans up after the job; the next poll repeats the request.
        """
        try:
            self._client.cancel(row.id, row.user)
        except Unavailable as error:
            log.info("Slurm job %s is not canceled yet: %s", row.id, error)
            return False
        return True

    def _ended(self, row: Row) -> Observation | None:
        """Observe an ended job; None while the files from its node may not be visible here yet."""
        record = self._files.record(row.key)
        if record.code is None and row.state != "COMPLETED" and not row.exit:
            row = replace(row, exit=self._client.exit_of(row.id))
        if states.is_unstarted(row, record) and self._memory.recorded_for(row.key) < _LATE:
            return None
        if row.state == "CANCELLED" and not row.is_asked_to_end:
            if (by := self._canceled_by(row)) is None:
                return None
            row = replace(row, canceled_by=by)
        evidence = states.Evidence(*self._files.tails(row.key))
        if record.code is None and row.state == "FAILED":
            evidence = replace(evidence, is_full=self._is_full())
        return states.ended(row, record, evidence)

    def _canceled_by(self, row: Row) -> str | None:
        """Return who canceled a job in Slurm, "" if unknown; None while accounting may learn it."""
        try:
            by = self._client.canceled_by(row.key, row.id)
        except (Rejected, Unavailable) as error:
            log.info("who canceled Slurm job %s is not known yet: %s", row.id, error)
            by = None
        is_late = self._memory.recorded_for(row.key) >= _LATE_ACCOUNTING
        return "" if by is None and is_late else by  # type: ignore[no-any-return]

    def _is_full(self) -> bool:
        return self.disk_space().free < _FULL


def _partition(name: str) -> str:
    if not _NODE.fullmatch(name):
        raise Rejected(
            Message(
                "The pool has no partition. Name one in the pool, or keep pools by reservation."
            )
        )
    return name


def _node(name: str) -> str:
    if not _NODE.fullmatch(name):
        raise Rejected(Message("This is not a valid node name."), "node")
    return name
