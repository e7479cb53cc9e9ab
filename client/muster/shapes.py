"""Types of the API's answers, as `make shapes` writes them: do not edit.

Each is named after its part of the OpenAPI schema. `Time` is a text in ISO 8601.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, NotRequired, TypedDict, TypeVar

Id = str
Time = str
T = TypeVar("T")


class AcceptedPointsShape(TypedDict):
    accepted: int


class AmountShape(TypedDict):
    total: float
    used: float


class ArrayShape(TypedDict):
    size: int
    states: NotRequired[Annotated[dict[str, int], "Number of tasks by state."]]


class AttemptShape(TypedDict):
    id: Id
    index: Annotated[int, "Array task; else 0."]
    ordinal: int
    state: str
    state_at: Time
    reason: ReasonShape | None
    queued_at: Time
    started_at: Time | None
    finished_at: Time | None
    exit_code: int | None
    signal: int | None
    node: str
    nodes: list[str]
    native_id: Annotated[str, "Of the cluster's scheduler."]
    avoids: Annotated[list[str], "Nodes on which an earlier attempt failed."]
    gpus: list[int]
    peak_memory: int | None
    is_log_sealed: bool


class BackendKindShape(TypedDict):
    name: str
    title: str
    about: str
    options: list[OptionShape]


class BlockerShape(TypedDict):
    number: Annotated[int | None, "Of a job; null: others, or hidden ones."]
    text: str
    since: Time | None


class BytesShape(TypedDict):
    total: int
    used: int


class CapacityShape(TypedDict):
    nodes: NodeCountsShape
    gpus: GpuCapacityShape


class CertificateAnswerShape(TypedDict):
    certificate: Annotated[dict[str, Any] | None, "null while the log is being written."]


class CheckShape(TypedDict):
    name: str
    ok: Annotated[bool | None, "null: an earlier failure prevented it."]
    text: str


class ClusterShape(TypedDict):
    name: str
    backend: str
    title: Annotated[str, "Of the backend."]
    version: str
    is_enabled: bool
    standing: StandingShape
    can_drain: bool
    trouble: Annotated[str, "Why it does not respond; else empty."]
    trouble_since: Time | None
    seen_at: Annotated[Time | None, "Its last response."]
    counted_at: Annotated[Time | None, "The last inventory of its nodes."]
    created_at: Time
    nodes: NodeCountsShape
    gpus: GpuUseShape
    disk: Annotated[DiskShape | None, "With the files of jobs, in bytes."]


class ClusterDetailShape(ClusterShape):
    options: Annotated[dict[str, Any], "By name, without secrets."]
    has_secrets: bool
    secrets: Annotated[list[str], "Names of the secrets that are set."]


class PageShape(TypedDict, Generic[T]):
    items: list[T]
    next: str | None
    previous: str | None


class ClusterListShape(PageShape[ClusterShape]):
    kinds: Annotated[list[BackendKindShape], "What can be connected."]


class ContentShape(TypedDict):
    sha256: str
    bytes: int


class CostShape(TypedDict):
    resource: str
    unit: str
    ask: float
    tasks: int
    text: str
    scope: Annotated[str | None, "Of the tightest limit."]
    used: float | None
    limit: float | None
    fits: bool


class DatasetImportShape(TypedDict):
    id: Id
    source: Annotated[list[str], "Without queries."]
    kind: Annotated[str, "s3, http, hub or directory"]
    options: dict[str, str]
    secrets: Annotated[dict[str, str], "References."]
    branch: str
    folder: str
    message: str
    state: Annotated[str, "queued, running, succeeded, failed or canceled"]
    error: Annotated[str, "Why it failed, or why it is tried again."]
    files: Annotated[int | None, "In all, once the source was listed."]
    bytes: Annotated[int | None, "In all, if the source tells."]
    files_done: int
    bytes_done: int
    version: int | None
    by: PersonShape
    due_at: Annotated[Time, "Of the next attempt."]
    created_at: Time
    updated_at: Time
    ended_at: Time | None


class DefaultRetentionShape(TypedDict):
    keep_last: int
    keep_days: int
    versions: int
    bytes: int
    repositories: list[PlannedRepositoryShape]
    is_cut: Annotated[bool, "Versions of more repositories go as well."]


class DiffShape(TypedDict):
    before: Annotated[str | None, "Commit."]
    after: Annotated[str, "Commit."]
    items: list[FileDifferenceShape]
    next: Annotated[str | None, "`after` of the next page."]


class DiskShape(TypedDict):
    used: int
    free: int
    percent: int
    text: str
    warning: Annotated[str, "Empty, or that it is nearly full."]


class EntryShape(TypedDict):
    type: Annotated[str, "file or folder"]
    path: str
    bytes: int | None
    sha256: str | None


class EventShape(TypedDict):
    id: Id
    position: int
    at: Time
    kind: str
    actor: str
    data: dict[str, Any]


class ExecResultShape(TypedDict):
    exit_code: int
    output: str


class FileDifferenceShape(TypedDict):
    path: str
    change: Annotated[str, "added, changed or removed"]
    before: SideShape | None
    after: SideShape | None


class FindingShape(TypedDict):
    check: str
    label: str
    gpu: Annotated[int | None, "null: the whole node."]
    why: str
    advice: str
    action: Annotated[str, "off, warn, drain or quarantine"]
    is_critical: bool
    is_muted: bool
    since: Time
    ended_at: Time | None
    returns: Annotated[int, "Minutes after its end; 0: an operator returns the node."]


class FreedBytesShape(TypedDict):
    bytes: int


class FreedShape(TypedDict):
    versions: list[int]
    bytes: int


class GpuCountsShape(TypedDict):
    total: int
    used: int
    reserved: Annotated[int, "For single teams."]
    free: int


class GpuCapacityShape(GpuCountsShape):
    types: dict[str, GpuCountsShape]


class GpuOfferShape(TypedDict):
    type: str
    free: int
    total: int
    most_per_node: int
    note: Annotated[str, "What a share of a GPU does not isolate; else empty."]


class GpuUseShape(TypedDict):
    total: int
    used: int
    types: Annotated[dict[str, int], "Number by type."]
    reserved: NotRequired[int]


class HeadShape(TypedDict):
    version: int
    commit: str


class HealthCheckShape(TypedDict):
    code: str
    label: str
    is_critical: bool
    action: Annotated[str, "off, warn, drain or quarantine"]
    threshold: float | None
    unit: str
    minutes: int
    returns: Annotated[int, "Minutes after its end; 0: an operator returns the node."]
    is_changed: bool
    has_threshold: bool


class HealthPolicyShape(TypedDict):
    cluster: str
    is_acting: Annotated[bool, "False: rules only warn."]
    can_drain: bool
    most_percent: Annotated[int, "Most nodes that rules drain."]
    most_per_hour: int
    stopped_at: Time | None
    stopped: Annotated[str, "Why the rules stopped; else empty."]
    evaluated_at: Time | None
    counts: Annotated[dict[str, int], "Nodes by health."]
    checks: list[HealthCheckShape]


class HealthShape(TypedDict):
    state: Annotated[str, "healthy, warning, draining or quarantined"]
    word: Annotated[str, "The state in words."]
    shape: Annotated[str, "The state of a job whose mark it has."]
    since: Time | None
    why: Annotated[str, "Empty for a healthy node."]
    advice: str
    check: Annotated[str, "The code of the check that found it."]
    gpu: NotRequired[int | None]
    params: NotRequired[dict[str, Any]]
    blocked: NotRequired[Annotated[str, "Why the node was not drained; else empty."]]
    is_drained_by_rule: NotRequired[bool]


class IdentityShape(TypedDict):
    user: str
    account: str
    qos: str


class IdleFindingShape(TypedDict):
    number: int
    name: str
    organization: str
    team: str
    owner: str
    page: str
    gpus: int
    metric: str
    metric_title: str
    value: Annotated[str, "With its unit."]
    warned_at: Time | None
    acts_at: Time | None


class IdleJobShape(TypedDict):
    number: int
    name: str
    page: str
    team: str
    owner: PersonShape
    gpus: Annotated[int, "Idle ones."]
    gpus_total: int
    hours: Annotated[float, "The number of idle GPUs times the hours for which each was idle."]
    since: Time
    gpu_utilization: float
    is_own: bool
    notified_at: Time | None
    notified_by: str
    may_notify: bool
    may_cancel: bool


class IdleRuleShape(TypedDict):
    pool: str
    is_enabled: bool
    metric: Annotated[str, "auto: SM activity if known, else power with `watts`, else utilization."]
    threshold: Annotated[int, "Percent, of SM activity or utilization."]
    watts: Annotated[int | None, "Per GPU, for power."]
    window: Annotated[int, "Minutes below the threshold."]
    action: Annotated[str, "warn, lower or stop"]
    grace: Annotated[int, "Minutes from the warning to the action."]
    exempt: Annotated[list[str], "Labels: kind=session."]
    spares_exec: Annotated[bool, "Jobs in which somebody ran a command are left alone."]
    changed_at: Time
    changed_by: str


class ImageNoteShape(TypedDict):
    ok: bool | None
    doubtful: bool
    text: str


class JobShape(TypedDict):
    id: Id
    number: int
    name: str
    org: str
    team: str
    owner: PersonShape
    state: str
    state_text: Annotated[str, "With its source and age."]
    state_source: str
    state_at: Time
    is_stale: bool
    reason: ReasonShape | None
    pending: PendingShape | None
    priority: str
    created_at: Time
    started_at: Time | None
    finished_at: Time | None
    exit_code: int | None
    array: ArrayShape | None
    attempt_count: int
    resources: ResourcesShape
    labels: dict[str, str]
    kind: Annotated[str, "The kind of workload: batch."]
    origin: Annotated[JobOriginShape | None, "What submitted it for its owner, such as a rerun."]
    node: str
    nodes: Annotated[list[str], "All nodes; `node` is the first."]
    cluster: str
    image: str
    is_held: bool
    page: str
    gpu_utilization: NotRequired[
        Annotated[float | None, "Of the last 5 minutes, from 0 to 1. In lists and of one job."]
    ]


class JobDetailShape(JobShape):
    spec: dict[str, Any]
    yaml: str
    attempts: list[AttemptShape]
    after: list[int]
    inputs: list[JobInputShape]
    workspaces: list[JobWorkspaceShape]
    parent: int | None
    cancel_asked_by: str
    pool: str | None
    place_why: Annotated[str, "Reason for the placement, if there was a choice."]
    output: Annotated[
        str,
        "What becomes of what it writes to MUSTER_OUTPUT_DIR: where it is found, or that it is "
        "lost.",
    ]
    outputs: Annotated[list[JobOutputShape], "With the versions that the job has made."]
    ports: Annotated[list[JobPortShape], "Of the first task."]
    log_deletion: Annotated[
        LogDeletionShape | None, "null unless deletion of its logs was requested"
    ]


class JobInputShape(TypedDict):
    name: str
    variable: Annotated[str, "The variable with its path in the job."]
    kind: Literal["dataset", "checkpoint"]
    repository: str
    version: int
    commit: str
    exists: Annotated[bool, "Whether the version was not deleted since."]


class JobOptionsShape(TypedDict):
    gpu_types: list[GpuOfferShape]
    pools: Annotated[list[str], "Values of policy.pool; empty without a choice."]
    secrets: Annotated[list[str], "References for `secrets`, never values."]


class JobOriginShape(TypedDict):
    kind: str
    id: Id
    label: str


class JobOutputShape(TypedDict):
    name: str
    index: Annotated[int, "Array task; else 0."]
    kind: str
    repository: str
    page: Annotated[str | None, "null until something was saved."]
    every: Annotated[int, "Seconds; 0: only at the end."]
    resume: str
    keep: dict[str, Any]
    path: str
    state: Annotated[str, "waiting, saving, saved or failed"]
    text: str
    is_resumed: bool
    saved_at: Time | None
    versions: list[OutputVersionShape]


class JobPortShape(TypedDict):
    name: str
    port: Annotated[int, "Where the program listens; MUSTER_PORT_NAME has it."]
    protocol: Annotated[str, "http (and websockets) or tcp."]
    access: Annotated[str, "Who may open it: owner or team."]
    url: Annotated[str, "For browsers."]
    program_url: Annotated[
        str, "For programs, which send an access token as `Authorization: Bearer`."
    ]
    last_used_at: Time | None
    open_streams: Annotated[
        int, "Open websockets and forwarded connections, as reported every 10 s."
    ]
    has_answered: Annotated[bool, "Whether the program has answered once."]


class JobWorkspaceShape(TypedDict):
    name: Annotated[str, "As in the spec."]
    variable: Annotated[str, "The variable that has its path."]
    workspace: str
    read_only: bool
    exists: bool


class KeptLogsShape(TypedDict):
    number: int
    name: str
    team: str
    owner: PersonShape
    state: str
    finished_at: Time | None
    page: str
    bytes: Annotated[int, "of its sealed logs, as storage limits count them"]


class KeptShape(TypedDict):
    number: int
    keep_until: Time


class LogDeletionShape(TypedDict):
    by: str
    at: Time
    is_over: bool
    done: Annotated[int | None, "Attempts whose logs are deleted; null once all are."]
    total: int | None


class LogHitShape(TypedDict):
    offset: int
    line: str


class LogPartShape(TypedDict):
    start: int
    end: int
    size: Annotated[int, "Stored bytes."]
    complete: Annotated[bool, "Nothing will follow."]
    text: str
    data: Annotated[str, "In base64."]
    times: Annotated[list[list[int]], "Offsets with Unix milliseconds of their arrival."]
    gaps: Annotated[list[list[Any]], "First byte, end and reason of what was not stored."]


class LogSearchShape(TypedDict):
    hits: list[LogHitShape]
    after: Annotated[int, "Where to continue."]
    done: bool


class NewJobShape(JobShape):
    spec: dict[str, Any]


class NodeCountsShape(TypedDict):
    total: int
    ready: int
    drained: int
    down: int


class NodeHealthShape(HealthShape):
    node: str
    cluster: str
    findings: Annotated[list[FindingShape], "The worst first."]
    is_watched: Annotated[bool, "Whether the rules were evaluated."]


class NodeShape(TypedDict):
    name: str
    state: Annotated[str, "ready, drained or down"]
    is_drained: bool
    note: str
    is_gone: bool
    partitions: list[str]
    labels: dict[str, str]
    cpus: AmountShape
    memory: BytesShape
    gpus: GpuUseShape


class NodeStateShape(TypedDict):
    name: str
    cluster: str
    state: str
    note: str


class OptionShape(TypedDict):
    name: str
    label: str
    kind: Annotated[str, "text, secret, whole, number, switch or words"]
    note: str
    choices: list[str]
    default: Any
    is_required: bool
    is_rare: bool
    is_long: bool
    is_operators: bool


class OutputPlaceShape(TypedDict):
    kind: str
    repository: str
    room: Annotated[int, "Bytes that fit, by quota, disk and size of a file."]


class OutputVersionShape(TypedDict):
    version: int
    commit: str
    message: str
    files: int
    bytes: int
    created_at: Time
    is_latest: bool
    is_best: Annotated[bool, "Kept by keep.best."]
    metric: Annotated[str, "Of keep.best."]
    value: Annotated[float | None, "Last value of the metric before the version was made."]
    tags: list[str]


class PendingAnswerShape(TypedDict):
    pending: PendingShape | None


class PendingShape(TypedDict):
    code: str
    text: Annotated[str, "In one sentence."]
    since: Time
    numbers: Annotated[dict[str, Any], "The facts of the sentence."]
    holders: Annotated[list[BlockerShape], "Who uses what is missing."]
    change: Annotated[
        dict[str, Any] | None,
        "The smallest that would start it now: field, from, to and text.",
    ]
    advice: NotRequired[str]
    history: NotRequired[Annotated[list[PendingSpellShape], "The oldest reason first."]]


class PendingSpellShape(TypedDict):
    code: str
    text: str
    since: Time
    until: Time | None


class PersonShape(TypedDict):
    email: str
    name: str


class PlanShape(TypedDict):
    keep_last: int
    keep_days: int
    versions: Annotated[list[int], "Versions that go."]
    bytes: Annotated[int, "What that frees."]


class PlannedRepositoryShape(TypedDict):
    name: str
    team: str
    versions: Annotated[int, "Number of versions that go."]
    bytes: Annotated[int, "What that frees."]


class PoolShape(TypedDict):
    name: str
    cluster: str
    labels: dict[str, str]
    partition: str
    gpu_type: str
    note: str
    is_open: bool
    teams: Annotated[list[str], "Of the organization, that may use it."]
    identities: NotRequired[
        Annotated[dict[str, IdentityShape], "For the scheduler, by team. For operators."]
    ]


class PoolCapacityShape(PoolShape, CapacityShape):
    pass


class ProbeShape(TypedDict):
    is_ok: bool
    message: str
    version: str
    warnings: list[str]


class QuotaGroupShape(TypedDict):
    team: str
    count: int
    numbers: list[int]


class QuotaLineShape(TypedDict):
    whose: str
    resource: str
    before: str
    after: str


class QuotaPreviewShape(TypedDict):
    lines: list[QuotaLineShape]
    stopped: Annotated[
        list[QuotaGroupShape], "waiting jobs that the limits would no longer let start"
    ]
    freed: Annotated[list[QuotaGroupShape], "waiting jobs that the limits would newly let start"]
    sentences: list[str]


class ReasonShape(TypedDict):
    code: str
    headline: str
    advice: str
    evidence: str
    fault: Annotated[str, "user, platform or nobody"]


class RefShape(TypedDict):
    kind: Annotated[str, "branch or tag"]
    name: str
    version: int | None
    commit: str | None
    message: str
    created_at: Time


class RehearsalShape(TypedDict):
    ok: Annotated[bool, "The job would be accepted."]
    starts_now: bool
    checks: list[CheckShape]
    launch: Annotated[str, "What would be sent to the backend."]


class RepositoryShape(TypedDict):
    id: Id
    kind: Annotated[str, "dataset or checkpoint"]
    name: str
    team: str
    owner: PersonShape
    description: str
    visibility: Annotated[str, "private, team or organization"]
    default_branch: str
    head: Annotated[HeadShape | None, "The newest version of the default branch."]
    files: Annotated[int, "Of the head."]
    bytes: Annotated[int, "Of the head."]
    versions: int
    stored_bytes: Annotated[int, "Of all versions; equal files count once."]
    created_at: Time
    updated_at: Time
    deleted_at: Time | None


class RepositoryDetailShape(RepositoryShape):
    keep_last: int
    keep_days: int
    own_retention: Annotated[bool, "False: the rules are those of the organization."]
    legal_hold: Annotated[str, "The reason; empty for none."]
    shares: list[ShareShape]
    may_write: bool
    may_manage: bool


class RepositoryVersionShape(TypedDict):
    id: Id
    version: int
    commit: Annotated[str, "40 hexadecimal digits."]
    parent: Annotated[str | None, "Commit that it was made from."]
    message: str
    description: str
    author: PersonShape
    job_id: Id | None
    files: int
    bytes: int
    added: Annotated[int, "Files, against the parent."]
    changed: int
    removed: int
    branches: list[str]
    tags: list[str]
    created_at: Time


class ResourcesShape(TypedDict):
    cpus: Annotated[float, "In cores."]
    memory: Annotated[int, "In bytes."]
    gpus: int
    gpu_type: str | None


class SavedShape(TypedDict):
    version: int | None


class ShareShape(TypedDict):
    team: str
    can_write: bool


class SideShape(TypedDict):
    bytes: int
    sha256: str


class SpaceShape(TypedDict):
    """Bytes, but for the counts."""

    stored: int
    current: Annotated[int, "In versions with a branch or tag."]
    old: Annotated[int, "Only in other versions; retention frees them."]
    unnamed: Annotated[int, "In files that no version names."]
    unnamed_files: int
    uploads: Annotated[int, "Number of files still being received."]
    uploads_bytes: int
    versions: int
    unreferenced: Annotated[list[int], "Versions without a branch, tag, job or model."]


class SpecChangeShape(TypedDict):
    field: str
    before: Any
    after: Any


class SpecFaultShape(TypedDict):
    field: str
    message: str
    line: int | None


class StandingShape(TypedDict):
    word: str
    shape: Annotated[str, "The state of a job whose mark it has."]
    text: Annotated[str, "With its age."]
    since: Time | None


class StartShape(TypedDict):
    ok: bool
    starts_now: bool
    text: str
    errors: list[SpecFaultShape]


class StorageUseShape(TypedDict):
    totals: list[TotalShape]
    largest: list[UseShape]
    unused: list[UseShape]


class TotalShape(TypedDict):
    kind: str
    count: int
    bytes: int


class TreeShape(TypedDict):
    version: int
    commit: str
    path: str
    items: list[EntryShape]
    next: Annotated[str | None, "`after` of the next page."]


class UseShape(TypedDict):
    kind: str
    title: str
    bytes: int
    team: str
    owner: str
    page: str
    detail: str
    reason: Annotated[str, "Why it may be unneeded."]
    step: Annotated[str, "What to do on `page`."]


class ValidationShape(TypedDict):
    ok: bool
    errors: list[SpecFaultShape]
    notes: list[SpecFaultShape]
    spec: dict[str, Any] | None
    yaml: str | None
    cost: Annotated[list[CostShape], "What one task would use, with current usage and limits."]
    price: Annotated[
        dict[str, Any] | None,
        "Money for all tasks: hourly, and most until the time limit; null without prices.",
    ]
    image: Annotated[
        ImageNoteShape | None,
        "Whether the image fits the nodes: ok, doubtful, text; ok null and text empty: not known "
        "yet. Its registry is asked only if `settled` was true, in the background: ask again.",
    ]
    start: Annotated[
        StartShape | None,
        "What a submission by the team would answer: ok, starts_now, text, and errors with field, "
        "message and line; null without a team.",
    ]
    changes: Annotated[
        list[SpecChangeShape] | None,
        "What differs from the spec of `parent`: field, before, after.",
    ]


class WorkspaceShape(TypedDict):
    id: Id
    name: str
    team: str
    owner: PersonShape
    description: str
    visibility: Annotated[str, "private, team or organization"]
    quota: Annotated[int | None, "Bytes; null: no limit of its own."]
    used_bytes: int
    files: Annotated[int, "When they were last counted."]
    counted_at: Time | None
    created_at: Time
    updated_at: Time
    deleted_at: Time | None


class WorkspaceDetailShape(WorkspaceShape):
    invitations: list[WorkspaceInvitationShape]
    may_write: bool
    may_manage: bool


class WorkspaceEntryShape(TypedDict):
    type: Annotated[str, "file, folder, link or other; links are not followed"]
    name: str
    path: Annotated[str | None, "null: no client can send this name"]
    bytes: int | None
    modified_at: Time


class WorkspaceInvitationShape(TypedDict):
    team: str | None
    person: PersonShape | None
    can_write: bool


class WorkspaceTreeShape(TypedDict):
    path: str
    items: list[WorkspaceEntryShape]
    next: Annotated[str | None, "`after` of the next page."]
