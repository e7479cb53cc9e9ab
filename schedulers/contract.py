"""Define the interface between Muster and a scheduler.

Each backend is a package of `schedulers`; it imports no model and no Django. Failures fall into two
classes: `Rejected` is permanent and caused by the job spec, `Unavailable` is transient. Any other
exception is a bug in the backend and is treated as `Unavailable`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from portal.core.formatting import bytes_text
from portal.core.messages import Message
from portal.core.options import CheckState, ConnectionCheck, failures
from portal.core.options import Secret as Secret  # noqa: PLC0414  a backend takes these from here
from portal.core.options import Way as Way  # noqa: PLC0414
from portal.core.options import option as option  # noqa: PLC0414
from schedulers.states import Reason, State, Wait


class Rejected(Exception):
    """The cluster permanently refuses this job.

    `field` names the part of the spec at fault, or is empty.
    """

    def __init__(self, message: str, field: str = "", reason: Reason = Reason.REJECTED):
        super().__init__(Message(message))
        self.field, self.reason = field, reason


class Unavailable(Exception):
    """The cluster did not answer or is temporarily unable to.

    Nothing is known about the job; the caller should retry. `field` names the option of the cluster
    that most likely causes it, or is empty.
    """

    def __init__(self, message: str = "", field: str = ""):
        super().__init__(message)
        self.field = field


def rejections(*checks: Callable[[], object]) -> list[tuple[str, str]]:
    """Return (option, message) of each check that raises Rejected."""
    found = []
    for check in checks:
        try:
            check()
        except Rejected as error:
            found.append((error.field, error.args[0]))
    return found


class Capability(StrEnum):
    PLACES = "places"  # the portal assigns CPUs, memory and GPUs itself (no external scheduler)
    IMAGES = "images"
    EXEC = "exec"
    ENDPOINTS = "endpoints"  # the portal reaches ports of running jobs (`SupportsEndpoints`)
    ARRAY = "array"  # native job arrays; without it each task is submitted separately
    GANG = "gang"  # multi-node jobs
    PACKS = "packs"  # several nodes of a job may share one cluster node
    SRUN = "srun"  # the script runs on the first node and may start the others with `srun`
    DRAIN = "drain"  # nodes can be drained and resumed (`SupportsDrain`)
    # jobs of a team may run under their own user, account or QOS (`SupportsIdentities`)
    IDENTITIES = "identities"
    NATIVE = "native"  # accepts scheduler-specific options (`SupportsNative`)
    # runs jobs on the portal's machine, each team's as its own system user (`SupportsUsers`,
    # `LaunchIdentity.uid`)
    USERS = "users"
    # keeps secrets of an attempt on the cluster until it ends (`SupportsRelease`)
    RELEASE = "release"
    INPUTS = "inputs"  # jobs find versions of data as folders (`SupportsInputs`)
    WORKSPACES = "workspaces"  # jobs find shared folders (`SupportsFolders`)
    RESERVATIONS = "reservations"  # keeps GPUs for one team (`SupportsReservations`)
    # an operator partitions GPUs by a node label (`SupportsMigLabels`)
    MIG_LABELS = "mig_labels"
    # the scheduler's files name the GPUs of each node (`SupportsGpuFiles`)
    GPU_FILES = "gpu_files"
    TIME_LIMIT = "time_limit"  # that of a running job can be changed (`SupportsTimeLimit`)
    DISK = "disk"  # tells how full the disk with the files of jobs is (`SupportsDisk`)
    # an acknowledged submission can be lost: it counts once it is still seen 10 s later
    CONFIRM = "confirm"


@dataclass(frozen=True)
class Placement:
    """Resources that the portal assigned to an attempt.

    Only with `Capability.PLACES`. `gpus` are GPU indexes on the node. `others` are those of a job of
    several nodes on the rest of them.
    """

    node: str
    cpus: float
    memory: int
    gpus: tuple[int, ...] = ()
    gpu_uuids: tuple[str, ...] = ()
    others: tuple[Placement, ...] = ()

    @property
    def parts(self) -> tuple[Placement, ...]:
        """The placement on each node, the first one first."""
        return (self, *self.others)


@dataclass(frozen=True)
class Identity:
    """User, account and QOS that a team's jobs run under, in the scheduler's names.

    An empty field means the default of the cluster.
    """

    user: str = ""
    account: str = ""
    qos: str = ""


@dataclass(frozen=True)
class InputFiles:
    """A version of a dataset or checkpoint that a job reads.

    `tree` is its folder on the portal's file system, below the portal's data folder
    ("trees/ORG/COMMIT"); empty if there is none and the node must fetch the files by `commit`.
    `path` is where the job wants it besides MUSTER_INPUT_NAME, or empty.
    """

    name: str
    org: str
    kind: str  # "dataset" or "checkpoint"
    repository: str
    number: int
    commit: str
    tree: str = ""
    path: str = ""
    files: int = 0
    bytes: int = 0

    @property
    def text(self) -> str:
        """Return the version for people: "cifar@3"."""
        return f"{self.repository}@{self.number}"


@dataclass(frozen=True)
class FolderMount:
    """A folder of the portal's file system that a job shares with people and other jobs.

    `folder` is its absolute path there, `tree` the one below the folder of all workspaces, by which
    other machines find it. `path` is where the job wants it besides MUSTER_WORKSPACE_NAME, or empty.
    """

    name: str
    folder: str
    path: str = ""
    read_only: bool = False
    tree: str = ""
    text: str = ""  # its name, for people


@dataclass(frozen=True)
class LaunchIdentity:
    """Whose attempt it is: slugs of the organization and the team, e-mail address of the submitter."""

    org: str = ""
    team: str = ""
    user: str = ""
    uid: int = 0  # system user of the team, with Capability.USERS; 0: none
    run_as: Identity = Identity()  # set by an operator for the team in this pool


@dataclass(frozen=True)
class LaunchPlace:
    """Where an attempt runs. `partition` and `node_labels` are the rule of the pool."""

    num_nodes: int = 1
    is_on_first_node_only: bool = False  # the job's own launcher (mpirun) starts the other nodes
    partition: str = ""
    node_labels: Mapping[str, str] = field(default_factory=dict)
    exclude_nodes: Sequence[str] = ()  # run on none of these: they failed under earlier attempts
    reservation: str = ""  # name of the team's reservation that it runs in
    placement: Placement | None = None


@dataclass(frozen=True)
class LaunchData:
    """Files and folders of an attempt."""

    # secrets mounted as in-memory files readable only by the job; NAME_FILE holds the path
    secret_files: Mapping[str, str] = field(default_factory=dict, repr=False)
    # by path, for nodes without access to the portal's copy; MUSTER_EXAMPLES is their folder
    examples: Mapping[str, bytes] = field(default_factory=dict)
    # programs of Muster by file name, of the standard library only; MUSTER_PROGRAMS is their folder
    programs: Mapping[str, bytes] = field(default_factory=dict)
    inputs: Sequence[InputFiles] = ()
    # folders below MUSTER_OUTPUT_DIR by name: where a container has them as well
    output_paths: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[FolderMount] = ()


@dataclass(frozen=True)
class LaunchLimits:
    """Resources on each node, and times. Memory is in bytes, times are in seconds."""

    cpus: float = 1
    memory: int = 0  # 0: no limit
    gpus: int = 0
    gpu_type: str = ""
    shm_size: int = 0
    time_limit: float | None = None
    grace: float = 30  # between SIGTERM and SIGKILL


class PortProtocol(StrEnum):
    """What a program speaks on a port."""

    HTTP = "http"  # and websockets
    TCP = "tcp"
    SSH = "ssh"  # the portal does, for a shell of ours (programs/shell.py)


@dataclass(frozen=True)
class LaunchPort:
    """A port that the program of an attempt listens on, on its first node."""

    name: str
    number: int
    protocol: PortProtocol = PortProtocol.HTTP


@dataclass(frozen=True)
class LaunchNetwork:
    """What an attempt serves; only with Capability.ENDPOINTS.

    `gateway_url` is where its tunnel dials to, with the job's token (programs/tunnel.py), on
    clusters that the portal does not reach.
    """

    ports: tuple[LaunchPort, ...] = ()
    gateway_url: str = ""


@dataclass(frozen=True)
class LaunchBlock:
    """Why an attempt must no longer be submitted, and the spec field behind it."""

    reason: str
    field: str = "policy.pool"


@dataclass(frozen=True)
class Launch:
    """One attempt, ready to start: names are resolved and variables are set."""

    key: str  # unique forever; also the native job name, by which the job is found again
    name: str
    script: str  # bash: `setup` and `run` verbatim; started once on each node
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    image: str = ""
    # scheduler-specific options of the job, in that scheduler's terms
    native: Mapping[str, Any] = field(default_factory=dict)
    identity: LaunchIdentity = LaunchIdentity()
    place: LaunchPlace = LaunchPlace()
    data: LaunchData = LaunchData()
    limits: LaunchLimits = LaunchLimits()
    network: LaunchNetwork = LaunchNetwork()
    is_new: bool = False  # never submitted before: skip the lookup of an existing job
    block: LaunchBlock | None = None  # a job that already exists is still adopted


@dataclass(frozen=True)
class Handle:
    """How the backend identifies an attempt.

    `native_id` is for people (process ID, Slurm job ID); `key` is the key of the launch.
    """

    key: str
    native_id: str


class ReservationScope(StrEnum):
    """What a cluster keeps for one team."""

    NODES = "nodes"  # whole nodes, which the portal names
    POOL = "pool"  # all nodes of the pool
    GPUS = "gpus"  # a number of GPUs; the nodes that the portal names only count them
    NONE = "none"  # nothing


@dataclass(frozen=True)
class ReservationRequest:
    """GPUs to keep for one team until `ends_at`.

    `name` is unique forever. `nodes` are those that the portal chose, `partition` and `node_labels`
    the rule of the pool, `identity` that of the team in the pool.
    """

    name: str
    gpu_type: str
    gpus: int
    ends_at: datetime
    nodes: Sequence[str] = ()
    org: str = ""
    team: str = ""
    identity: Identity = Identity()
    partition: str = ""
    node_labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ReservationFacts:
    """A reservation as the cluster has it. `ends_at` is None if the cluster keeps no end."""

    name: str
    nodes: Sequence[str] = ()
    ends_at: datetime | None = None
    gpus: int = 0  # with ReservationScope.GPUS


@dataclass(frozen=True)
class PendingReason:
    """Why the scheduler itself has not started a job.

    `native_reason` is the scheduler's own reason code ("AssocGrpGRES"), `text` one sentence with the
    known numbers, `advice` the next step for the user, `facts` the numbers themselves.
    """

    wait: Wait
    native_reason: str
    text: str
    advice: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Observation:
    """State of one attempt as seen by the backend.

    Fields that the backend cannot observe stay None.
    """

    key: str
    state: State
    native_state: str = ""
    native_id: str = ""
    reason: Reason | None = None  # set if and only if the state is final
    exit_code: int | None = None
    signal: int | None = None
    evidence: str = ""  # quoted facts: the last log line, "peak 1.9 GiB of 2.0 GiB"
    started_at: datetime | None = None
    finished_at: datetime | None = None
    node: str = ""
    peak_memory: int | None = None
    nodes: Sequence[str] = ()  # all nodes of a multi-node job; `node` is the first
    waiting: PendingReason | None = None  # only while the job is pending in the scheduler's queue
    # of the image that actually ran ("sha256:…"), where the runtime reports it
    image_digest: str = ""


@dataclass(frozen=True)
class Poll:
    """Result of one poll of many attempts.

    `missing` are the keys that a healthy scheduler does not know. `work` is the time in seconds for
    which the poll kept a processor busy, where waiting for the scheduler means no load for it.
    """

    observations: Sequence[Observation] = ()
    missing: Sequence[str] = ()
    work: float | None = None


@dataclass(frozen=True)
class GpuFacts:
    index: int
    uuid: str
    model: str  # vendor's name: "NVIDIA H200"
    type: str  # suffix of the resource class: "h200", "mig-1g.10gb"
    memory: int
    compute: str = ""  # CUDA compute capability: "9.0"; empty if unknown
    shares: int = 0  # all shares of a class on the node ("h100.shared") as one row; 0: a GPU


@dataclass(frozen=True)
class NodeFacts:
    name: str
    cpus: float
    memory: int
    gpus: Sequence[GpuFacts] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    is_ready: bool = True
    # "no GPU: the NVIDIA driver is not installed", or the reason of a drained or down node
    note: str = ""
    is_drained: bool = False  # drained by an operator; `note` has the reason
    is_reserved: bool = False  # the scheduler keeps it for some jobs now
    partitions: Sequence[str] = ()  # the scheduler's own node groups
    used_cpus: float = 0  # by any user, as counted by the scheduler
    used_memory: int = 0
    used_gpus: int = 0
    used_shares: int = 0  # of GPUs, see `schedulers.shares`; they are not in `used_gpus`
    # in the notation of images: "amd64", "arm64"; empty if unknown, like the next two
    arch: str = ""
    driver: str = ""  # of NVIDIA: "535.104.05"
    cuda: str = ""  # newest CUDA version that the driver supports: "12.2"


NEARLY_FULL = 90  # percent


@dataclass(frozen=True)
class DiskSpace:
    """Bytes of the disk in which a cluster keeps the files of jobs; `free` for their user."""

    used: int
    free: int

    @property
    def percent(self) -> int:
        """Return how full it is, rounded up like df."""
        whole = self.used + self.free
        return -(-100 * self.used // whole) if whole else 100

    @property
    def text(self) -> Message:
        return Message(
            "Disk for files of jobs: {percent} % used, {free} free.",
            percent=self.percent,
            free=bytes_text(self.free),
        )

    @property
    def warning(self) -> str:
        """Return what to do if it is nearly full, else ""."""
        if self.percent < NEARLY_FULL:
            return ""
        return Message(
            "The disk with the files of jobs is {percent} % full ({free} free). When it is full, "
            "jobs fail and output is lost: free space, or enlarge it.",
            percent=self.percent,
            free=bytes_text(self.free),
        )


@dataclass(frozen=True)
class Probe:
    """Result of a connection test.

    `message` says what was found or what is wrong; `warnings` what will go wrong. `checks` is the
    same as a checklist, with all that can be found wrong at once.
    """

    is_ok: bool
    message: str
    version: str = ""
    warnings: tuple[str, ...] = ()
    checks: tuple[ConnectionCheck, ...] = ()

    @classmethod
    def of(cls, checks: Sequence[ConnectionCheck], message: str, version: str = "") -> Probe:
        """Return the result of a checklist; `message` is said if nothing failed."""
        wrong = [check.message for check in failures(checks)]
        warnings = [check.message for check in checks if check.state == CheckState.WARNING]
        text = Message.joined(" ", wrong) if wrong else message
        return cls(not wrong, text, version, tuple(warnings), tuple(checks))


@dataclass(frozen=True)
class LogChunk:
    """Bytes of the output of one attempt, from offset `start`.

    `at` is the time of the read in Unix milliseconds. If `start` is larger than the requested offset,
    the bytes between are lost, and `why_lost` says why. `uncounted` says why further output may be
    lost that nobody has counted.
    """

    start: int
    data: bytes
    at: int
    why_lost: str = ""
    uncounted: str = ""


class OutputRetention(StrEnum):
    """How long the output of a job is kept."""

    RUN = "run"  # until the job ends
    WEEK = "week"  # until the attempt is forgotten
    ON = "on"  # never deleted by Muster


@dataclass(frozen=True)
class OutputFolder:
    """The output folder of a job (MUSTER_OUTPUT_DIR), as the job sees it.

    `shared` lists other folders that outlive the job. `local_path` is the folder on the portal's
    machine, below one that is named after the key; empty if the portal cannot open it.
    """

    path: str
    retention: OutputRetention
    shared: Sequence[str] = ()
    local_path: str = ""


@runtime_checkable
class Closeable(Protocol):
    """A backend with threads, which end when nobody uses it any more, or when it is closed."""

    def close(self) -> None: ...


@runtime_checkable
class Backend(Protocol):
    """A scheduler.

    All methods are thread-safe and block for a few seconds at most.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # shown as the source on pages: "this machine", "Slurm"
    capabilities: ClassVar[frozenset[Capability]]
    # A backend that operators can connect also has `about`: one sentence for the form.

    def probe(self) -> Probe:
        """Test the connection. Never raises; problems are in the result."""

    def inventory(self) -> Sequence[NodeFacts]:
        """Return the current nodes. Raises Unavailable."""

    def render(self, launch: Launch) -> str:
        """Return the text that `submit` would send, for `--dry-run`.

        Secrets are masked. Raises Rejected.
        """

    def submit(self, launch: Launch) -> Handle:
        """Start the job, or adopt the one that already exists under its key.

        Idempotent: calling it twice starts one job. Raises Rejected, Unavailable.
        """

    def output_of(self, key: str) -> OutputFolder:
        """Return where this attempt writes, and for how long.

        Makes no request. Raises Rejected for a malformed key.
        """

    def find(self, key: str) -> Handle | None:
        """Return the attempt with this key, running or finished, or None if unknown.

        Raises Unavailable.
        """

    def poll(self, keys: Iterable[str]) -> Poll:
        """Observe all of these attempts at once.

        A state that the backend cannot interpret is left out, never guessed. Raises
        Unavailable.
        """

    def cancel(self, key: str, grace: float = 30) -> None:
        """Stop a job: SIGTERM, then SIGKILL after `grace` seconds.

        Returns at once; an unknown key is no error.
        """

    def read_log(self, key: str, after: int, limit: int = 1 << 20) -> LogChunk:
        """Read at most `limit` bytes of output from offset `after`.

        The data is empty when there is no output yet. Raises Unavailable.
        """

    def forget(self, key: str) -> None:
        """Free the files and records of a finished attempt.

        Called after its log and its result are stored.
        """


class SupportsExec(Protocol):
    """A backend with Capability.EXEC."""

    def exec(self, key: str, argv: Sequence[str], timeout: float = 30) -> tuple[int, bytes]:
        """Run a command in the directory and environment of a running attempt.

        Returns the exit code and the output. Raises Rejected.
        """


@dataclass(frozen=True)
class Endpoint:
    """How the portal connects to a port of a running attempt.

    By address, by a function that returns a connected socket (raises OSError), or, if there is
    neither, through the connections that the job itself opens to the portal (programs/tunnel.py).
    """

    host: str = ""
    port: int = 0
    connect: Callable[[], socket.socket] | None = None


class SupportsEndpoints(Protocol):
    """A backend with Capability.ENDPOINTS."""

    def endpoint(self, key: str, port: int) -> Endpoint:
        """Return how to connect to what an attempt serves at a port of its first node.

        Never the port of another job: where jobs share the ports of a node, whoever listens there
        is compared, here or while connecting. Raises Rejected if nothing of this attempt listens,
        Unavailable.
        """


class SupportsUsers(Protocol):
    """A backend with Capability.USERS."""

    @property
    def isolation(self) -> Any:
        """How jobs are isolated from each other.

        `text` is for people; if `is_shared` is False, only jobs of one organization may run
        there.
        """

    @classmethod
    def check_options(cls, options: Mapping[str, Any], home: Path) -> None:
        """Raise Rejected if an option would expose the portal's folder `home` to jobs."""


class SupportsIdentities(Protocol):
    """A backend with Capability.IDENTITIES."""

    def check_identity(self, identity: Identity) -> None:
        """Raise Rejected with the field that this cluster does not support."""


class SupportsInputs(Protocol):
    """A backend with Capability.INPUTS."""

    @property
    def sees_data(self) -> bool:
        """Whether jobs read trees below the portal's data folder; otherwise nodes fetch files."""

    def check_inputs(self, launch: Launch) -> None:
        """Raise Rejected if an input cannot be mounted at its path here."""


class SupportsFolders(Protocol):
    """A backend with Capability.WORKSPACES."""

    @property
    def has_private_mounts(self) -> bool:
        """Whether a job has no other way to a folder than its mount.

        Otherwise a job could write to what is mounted read-only.
        """

    def check_folders(self, launch: Launch) -> None:
        """Raise Rejected if a workspace cannot be mounted here."""


class SupportsNative(Protocol):
    """A backend with Capability.NATIVE."""

    def ignored_options(self, launch: Launch) -> Sequence[str]:
        """Return one sentence for each option of `launch.native` that is ignored here.

        Raises Rejected.
        """


class SupportsTimeLimit(Protocol):
    """A backend with Capability.TIME_LIMIT."""

    def set_time_limit(self, key: str, seconds: int, grace: float) -> None:
        """Change the time limit of a running job, counted from its start, to a whole number of minutes
        more than it was. Idempotent. Raises Rejected, Unavailable.
        """


class SupportsRelease(Protocol):
    """A backend with Capability.RELEASE."""

    def release(self, key: str) -> None:
        """Delete the secrets of an ended attempt.

        Its output stays readable until `forget`. Idempotent. Raises Unavailable.
        """


class SupportsDrain(Protocol):
    """A backend with Capability.DRAIN.

    Both methods raise Rejected (unknown node, not permitted) and Unavailable.
    """

    def drain(self, node: str, why: str) -> None:
        """Stop scheduling new jobs on the node; running jobs continue."""

    def resume(self, node: str) -> None:
        """Make the node schedulable again."""


class SupportsReservations(Protocol):
    """A backend with Capability.RESERVATIONS.

    Methods that make requests raise Rejected (the settings or permissions of the cluster do not
    allow it; the text says what to change) and Unavailable.
    """

    @property
    def reservation_scope(self) -> ReservationScope:
        """What the settings of the cluster make it keep. May ask it once what it can do."""

    def plan_reservation(self, request: ReservationRequest) -> str:
        """Return what `reserve` would do, and which way if there are several. Changes nothing."""

    def reserve(self, request: ReservationRequest) -> None:
        """Keep these nodes or GPUs for the team from now on, as far as that is not done.

        Creates the reservation or changes its nodes and its end. Running jobs of others continue.
        Idempotent by name.
        """

    def unreserve(self, name: str, partition: str = "") -> None:
        """End a reservation; running jobs continue. An unknown name is no error.

        `partition` is that of its pool, if it is known.
        """

    def reservations(self, prefix: str) -> Sequence[ReservationFacts]:
        """Return the reservations whose names begin with `prefix`."""


@dataclass(frozen=True)
class GpuLayout:
    """A GPU as it is to be partitioned: the profiles of its instances, or None without MIG."""

    index: int
    type: str  # resource class of the whole GPU: "h100"
    profiles: tuple[str, ...] | None
    model: str = ""  # of `schedulers.mig.MODELS`


class SupportsMigLabels(Protocol):
    """A backend with Capability.MIG_LABELS. Methods with requests raise Rejected, Unavailable."""

    def mig_config(self, gpus: Sequence[GpuLayout]) -> tuple[str, str]:
        """Return the name of the configuration for a node's GPUs, and its text to install."""

    def mig_configs(self) -> frozenset[str]:
        """Return the names of the installed configurations."""

    def set_mig_config(self, node: str, name: str) -> None:
        """Ask for a configuration on a node. Does nothing if the node has been asked for it."""

    def mig_state(self, node: str) -> tuple[str, str]:
        """Return the requested configuration and its state: "", pending, success, failed."""


class SupportsDisk(Protocol):
    """A backend with Capability.DISK."""

    def disk_space(self) -> DiskSpace:
        """Return how full the disk with the files of jobs is. Raises Unavailable."""


class SupportsGpuFiles(Protocol):
    """A backend with Capability.GPU_FILES."""

    def gpu_files(self, nodes: Mapping[str, Sequence[GpuLayout]]) -> Mapping[str, str]:
        """Return the lines that describe these nodes' GPUs, by file name."""

    def reconfigure(self) -> None:
        """Make the scheduler read its files again. Raises Rejected, Unavailable."""


Options = Mapping[str, Any]
