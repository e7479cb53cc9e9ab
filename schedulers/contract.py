"""What a scheduler must do for us. A backend is one file beside this one; it imports no model and no Django.

Failures are two trees: `Rejected` is permanent and the spec's fault, `Unavailable` is transient and nobody's. Whatever else
escapes is a bug of the backend and is treated as `Unavailable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from portal.core.options import Secret as Secret  # noqa: PLC0414  a backend takes both from here
from portal.core.options import option as option  # noqa: PLC0414
from schedulers.states import Reason, State, Wait


class Rejected(Exception):
    """The cluster will never take this job as it stands. `field` names the part of the spec, if one is to blame."""

    def __init__(self, message: str, field: str = "", reason: Reason = Reason.REJECTED):
        super().__init__(message)
        self.field, self.reason = field, reason


class Unavailable(Exception):
    """The cluster did not answer, or answered that it cannot now. Nothing is known about the job; try again."""


class Capability(StrEnum):
    PLACES = "places"  # the portal chooses cpus, memory and GPUs itself (no scheduler behind)
    IMAGES = "images"
    EXEC = "exec"
    ARRAY = "array"  # native arrays; without it each task is submitted by itself
    GANG = "gang"  # more than one node
    PACKS = "packs"  # several of a job's nodes may share one of the cluster's
    SRUN = "srun"  # a script that runs on the first node may start the others' part by `srun`
    DRAIN = "drain"  # nodes can be taken out of use and back (`SupportsDrain`)
    IDENTITIES = "identities"  # a team's jobs may run as, and count for, another than the rest (`SupportsIdentities`)
    NATIVE = "native"  # takes options in its own words (`SupportsNative`)
    USERS = "users"  # runs on the portal's machine, each team's jobs as a system user of theirs (`SupportsUsers`, `Launch.uid`)
    RELEASE = "release"  # keeps secrets of an attempt on the cluster, which go at its end (`SupportsRelease`)
    CONFIRM = "confirm"  # an acknowledged submission may be forgotten: it counts once it was seen 10 s later


@dataclass(frozen=True)
class Placement:
    """Where the portal put an attempt (only with Capability.PLACES). `gpus` are indexes on the node."""

    node: str
    cpus: float
    memory: int
    gpus: tuple[int, ...] = ()
    gpu_uuids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Identity:
    """As whom a team's jobs run and for what they count, in the scheduler's own names; an empty one: as the cluster says."""

    user: str = ""
    account: str = ""
    qos: str = ""


@dataclass(frozen=True)
class Launch:
    """One attempt, ready to start: all names resolved, all variables set. Memory in bytes, times in seconds."""

    key: str  # unique for ever; the native name, by which it is found again
    name: str
    script: str  # bash; the text of `setup` and `run`, verbatim; started once on each node
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    files: Mapping[str, str] = field(
        default_factory=dict, repr=False
    )  # secrets by NAME: a file of the job's alone, in memory; NAME_FILE: its path
    image: str = ""
    cpus: float = 1
    memory: int = 0  # 0: no limit
    gpus: int = 0
    gpu_type: str = ""
    num_nodes: int = 1
    is_on_first_node_only: bool = False  # its own launcher (mpirun) reaches the other nodes
    shm_size: int = 0
    time_limit: float | None = None
    is_new: bool = False  # nobody has handed this key over before: no need to look for it first
    examples: Mapping[str, bytes] = field(
        default_factory=dict
    )  # by path, for nodes that do not see the portal's: MUSTER_EXAMPLES names their folder
    grace: float = 30  # between the polite signal and SIGKILL
    placement: Placement | None = None
    org: str = ""  # slugs and e-mail address of whoever submitted it
    team: str = ""
    user: str = ""
    partition: str = (
        ""  # what the pool says to the scheduler: only there, only on nodes with these labels
    )
    node_labels: Mapping[str, str] = field(default_factory=dict)
    identity: Identity = Identity()  # what an operator gave the team with the pool
    barred: str = ""  # why it may no longer be handed over; it is, where it may be there already
    barred_by: str = "policy.pool"  # the field of the spec that says so
    uid: int = 0  # the team's system user, with Capability.USERS; 0: none was given
    native: Mapping[str, Any] = field(
        default_factory=dict
    )  # what the job says to one kind of scheduler, in that one's words


@dataclass(frozen=True)
class Handle:
    """How the backend knows an attempt: `native_id` for people (pid, Slurm job id), `key` as given."""

    key: str
    native_id: str


@dataclass(frozen=True)
class Waiting:
    """Why the scheduler itself has not started it. `said`: its own word ("AssocGrpGRES"); `text`: one sentence for a person with
    the numbers, as far as known; `advice`: what to do about it; `facts`: the numbers."""

    wait: Wait
    said: str
    text: str
    advice: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Observation:
    """What the backend saw of one attempt. Only what was seen: a field it cannot know stays None."""

    key: str
    state: State
    native_state: str = ""
    native_id: str = ""
    reason: Reason | None = None  # set exactly when state is final
    exit_code: int | None = None
    signal: int | None = None
    evidence: str = ""  # quoted facts: the last log line, "peak 1.9 GiB of 2.0 GiB"
    started_at: datetime | None = None
    finished_at: datetime | None = None
    node: str = ""
    peak_memory: int | None = None
    nodes: Sequence[str] = ()  # all of them where there are several; `node` is the first
    waiting: Waiting | None = None  # only while it stands in the scheduler's own queue
    image_digest: str = ""  # of the image that really ran ("sha256:…"), where the runtime tells


@dataclass(frozen=True)
class Poll:
    """One look at many attempts. `missing` are keys that a healthy scheduler does not know."""

    observations: Sequence[Observation] = ()
    missing: Sequence[str] = ()


@dataclass(frozen=True)
class GpuFacts:
    index: int
    uuid: str
    model: str  # vendor's name: "NVIDIA H200"
    type: str  # resource class suffix: "h200", "mig-1g.10gb"
    memory: int
    compute: str = ""  # compute capability: "9.0"; empty: not known


@dataclass(frozen=True)
class NodeFacts:
    name: str
    cpus: float
    memory: int
    gpus: Sequence[GpuFacts] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    is_ready: bool = True
    note: str = ""  # "no GPU: the NVIDIA driver is not installed", or why it is drained or down
    is_drained: bool = False  # takes no new jobs because somebody said so; `note` has their reason
    partitions: Sequence[str] = ()  # the scheduler's own groups it belongs to
    used_cpus: float = 0  # by whomever, as the scheduler counts
    used_memory: int = 0
    used_gpus: int = 0
    arch: str = ""  # as images write it: "amd64", "arm64"; empty, as the next two: not known
    driver: str = ""  # NVIDIA's: "535.104.05"
    cuda: str = ""  # the newest that this driver runs: "12.2"


@dataclass(frozen=True)
class Probe:
    """Answer to "test connection": `message` says in words what was found or what is wrong."""

    is_ok: bool
    message: str
    version: str = ""


@dataclass(frozen=True)
class LogChunk:
    """Bytes of one attempt's output from `start` on. `at` is when they were read (Unix milliseconds)."""

    start: int
    data: bytes
    at: int


class Stay(StrEnum):
    """How long what a job writes is there."""

    RUN = "run"  # goes with its end
    WEEK = "week"  # until the attempt is forgotten
    ON = "on"  # nothing of ours ever removes it


@dataclass(frozen=True)
class Output:
    """The folder that a job finds in MUSTER_OUTPUT_DIR, as it is called there. `shared`: other folders that outlive it."""

    path: str
    stays: Stay
    shared: Sequence[str] = ()


@runtime_checkable
class Backend(Protocol):
    """A scheduler. All methods may be called from any thread; none may block for more than a few seconds."""

    name: ClassVar[str]
    title: ClassVar[str]  # how the page names the source: "this machine", "Slurm"
    capabilities: ClassVar[frozenset[Capability]]

    def probe(self) -> Probe:
        """Never raises: what is wrong is in the answer."""

    def inventory(self) -> Sequence[NodeFacts]:
        """The nodes as they are now. Raises Unavailable."""

    def render(self, launch: Launch) -> str:
        """The very text that `submit` would send, for `--dry-run`. Secrets starred. Raises Rejected."""

    def submit(self, launch: Launch) -> Handle:
        """Start it, or adopt what already runs under its key: calling twice starts once. Raises Rejected, Unavailable."""

    def output_of(self, key: str) -> Output:
        """Where this attempt writes, and for how long. Asks nobody. Raises Rejected for what is no key."""

    def find(self, key: str) -> Handle | None:
        """The attempt under this key, finished or not; None when it never got here. Raises Unavailable."""

    def poll(self, keys: Iterable[str]) -> Poll:
        """Look at all of these in one go. A state this backend cannot read is left out, never guessed. Raises Unavailable."""

    def cancel(self, key: str, grace: float = 30) -> None:
        """Ask it to stop: SIGTERM, then SIGKILL after `grace` seconds. Returns at once; unknown keys are no error."""

    def read_log(self, key: str, after: int, limit: int = 1 << 20) -> LogChunk:
        """At most `limit` bytes of output from offset `after`; empty data when there is none yet. Raises Unavailable."""

    def forget(self, key: str) -> None:
        """Free what a finished attempt still holds (files, records), once its log and end are stored."""


class SupportsExec(Protocol):
    """Backends with Capability.EXEC."""

    def exec(self, key: str, argv: Sequence[str], timeout: float = 30) -> tuple[int, bytes]:
        """Run argv beside the running attempt, in its directory and environment; (exit code, output). Raises Rejected."""


class SupportsUsers(Protocol):
    """Backends with Capability.USERS."""

    @property
    def isolation(self) -> Any:
        """How jobs are kept apart: `text` for people; `is_shared` False: jobs of one organization only may run there."""

    @classmethod
    def check_options(cls, options: Mapping[str, Any], home: Path) -> None:
        """Raises Rejected with the option that would open the portal's folder, `home`, to jobs."""


class SupportsIdentities(Protocol):
    """Backends with Capability.IDENTITIES."""

    def check_identity(self, identity: Identity) -> None:
        """Raises Rejected with the field that this cluster cannot do."""


class SupportsNative(Protocol):
    """Backends with Capability.NATIVE."""

    def left_out(self, launch: Launch) -> Sequence[str]:
        """One sentence for each of `launch.native` that this cluster does not take from a job. Raises Rejected."""


class SupportsRelease(Protocol):
    """Backends with Capability.RELEASE."""

    def release(self, key: str) -> None:
        """Delete the secrets of an ended attempt; its output stays readable until `forget`. Repeating it is no error. Raises Unavailable."""


class SupportsDrain(Protocol):
    """Backends with Capability.DRAIN. Both raise Rejected (unknown node, not permitted) and Unavailable."""

    def drain(self, node: str, why: str) -> None:
        """No new jobs there; what runs goes on."""

    def resume(self, node: str) -> None:
        """Take it into use again."""


Options = Mapping[str, Any]
