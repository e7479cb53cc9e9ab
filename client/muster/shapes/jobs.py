"""Types of the API's answers, as `make shapes` writes them: do not edit."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from muster.shapes.portal import Id, PersonShape, SeriesShape, Time


class AcceptedPointsShape(TypedDict):
    accepted: int


class ArrayShape(TypedDict):
    size: int
    states: NotRequired[Annotated[dict[str, int], "Number of tasks by state."]]


class AttemptShape(TypedDict):
    id: Id
    index: Annotated[int, "Array task; else 0."]
    ordinal: int
    state: Annotated[str, "State of a job."]
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


class BlockerShape(TypedDict):
    number: Annotated[int | None, "Of a job; null: others, or hidden ones."]
    text: str
    since: Time | None


class CertificateAnswerShape(TypedDict):
    certificate: Annotated[dict[str, Any] | None, "null while the log is being written."]


class CheckShape(TypedDict):
    name: str
    ok: Annotated[bool | None, "null: an earlier failure prevented it."]
    text: str


class ComparedShape(TypedDict):
    id: str
    name: str
    url: str
    state: Annotated[str, "State of a job."]
    config: dict[str, Any]
    metrics: dict[str, MetricSummaryShape]
    owner: PersonShape
    duration_seconds: float | None
    gpus: int | None
    gpu_utilization: Annotated[float | None, "0 to 1."]
    number: NotRequired[Annotated[int, "Of a job."]]
    team: NotRequired[Annotated[str, "Of a job."]]
    created_at: NotRequired[Annotated[Time, "Of a job."]]
    experiment: NotRequired[Annotated[str, "Of a run."]]


class ComparisonShape(TypedDict):
    runs: list[ComparedShape]
    differences: list[ConfigDifferenceShape]
    metrics: Annotated[list[str], "Those of most runs first."]
    best: Annotated[dict[str, str], "Id of the best run of each metric that has a direction."]


class ConfigDifferenceShape(TypedDict):
    key: str
    values: Annotated[list[Any], "In the order of `runs`; null where it is not set."]
    is_numeric: bool


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


class EventShape(TypedDict):
    id: Id
    position: int
    at: Time
    kind: str
    text: Annotated[str, "The event as a sentence."]
    actor: str
    data: dict[str, Any]


class ExecResultShape(TypedDict):
    exit_code: int
    output: str


class ExpectedStartShape(TypedDict):
    at: Annotated[Time | None, "Never in the past; null if it is not known."]
    sureness: Annotated[
        Literal["now", "planned", "if_limits", "not_before", "unknown"],
        "planned: the scheduler or a fixed time says so; if_limits: if running jobs use their whole "
        "time limits, else sooner; not_before: others may go first.",
    ]
    text: Annotated[str, "In one sentence, with the time in UTC."]
    source: Annotated[str, "Who says so: Muster, or the cluster's scheduler."]


class GpuOfferShape(TypedDict):
    type: str
    free: int
    total: int
    most_per_node: int
    note: Annotated[str, "What a share of a GPU does not isolate; else empty."]


class GpuTimeShape(TypedDict):
    hours: int
    times: Annotated[list[int], "Unix seconds."]
    gpus: Annotated[int | None, "How many there are; null for those who may not see nodes."]
    total: Annotated[list[float | None], "null where nothing was recorded."]
    teams: list[TeamGpuTimeShape]


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
    metric: Annotated[
        str,
        "auto: SM activity if known, else power with `watts`, else utilization. ports: requests.",
    ]
    threshold: Annotated[int, "Percent, of SM activity or utilization."]
    watts: Annotated[int | None, "Per GPU, for power."]
    window: Annotated[int, "Minutes below the threshold."]
    action: Annotated[str, "warn, lower or stop"]
    grace: Annotated[int, "Minutes from the warning to the action."]
    exempt: Annotated[list[str], "Labels: kind=session."]
    spares_exec: Annotated[bool, "Jobs in which somebody ran a command are left alone."]
    spares_ports: Annotated[bool, "Jobs whose ports were used are left alone."]
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
    state: Annotated[str, "State of a job."]
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
    expected_start: NotRequired[
        Annotated[ExpectedStartShape | None, "Of a pending job. Only with `advice`."]
    ]
    suggestions: NotRequired[
        Annotated[
            list[SuggestionShape], "What helps if it waits or has failed. Only with `advice`."
        ]
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
    protocol: Annotated[str, "http (and websockets), tcp or ssh."]
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


class JobSeriesShape(TypedDict):
    training: Annotated[list[SeriesShape], "What the job reported."]
    system: Annotated[list[SeriesShape], "What its nodes measured."]


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


class MetricSummaryShape(TypedDict):
    name: str
    unit: str
    last: float
    minimum: float
    maximum: float
    is_lower_better: bool
    best: float


class NewJobShape(JobShape):
    spec: dict[str, Any]


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


class RehearsalShape(TypedDict):
    ok: Annotated[bool, "The job would be accepted."]
    starts_now: bool
    checks: list[CheckShape]
    launch: Annotated[str, "What would be sent to the backend."]
    expected_start: Annotated[ExpectedStartShape | None, "null unless the job would wait."]
    suggestions: list[SuggestionShape]


class ResourcesShape(TypedDict):
    cpus: Annotated[float, "In cores."]
    memory: Annotated[int, "In bytes."]
    gpus: int
    gpu_type: str | None


class SavedShape(TypedDict):
    version: int | None


class SpecChangeShape(TypedDict):
    field: str
    before: Any
    after: Any


class SpecFaultShape(TypedDict):
    field: str
    message: str
    line: int | None


class SshCertificateShape(TypedDict):
    certificate: Annotated[str, "For CertificateFile of OpenSSH."]
    expires_at: Time
    host_key: Annotated[str, "The portal's public key, for known_hosts."]


class StartShape(TypedDict):
    ok: bool
    starts_now: bool
    text: str
    errors: list[SpecFaultShape]
    expected: Annotated[ExpectedStartShape | None, "null unless the job would wait."]
    suggestions: Annotated[
        list[SuggestionShape],
        "What helps a draft that is refused or would wait; the dry run accepts each change.",
    ]


class StorageUseShape(TypedDict):
    totals: list[TotalShape]
    largest: list[UseShape]
    unused: list[UseShape]


class SuggestionShape(TypedDict):
    label: Annotated[str, "Of a button."]
    text: Annotated[str, "Why it helps; may be empty."]
    changes: Annotated[dict[str, Any], "Fields of the spec with their new values; may be empty."]
    page: Annotated[str, "The page that takes it; empty for a draft, which changes itself."]
    action: Annotated[str, "What a POST of the job does instead, such as release."]
    command: Annotated[str, "The same as a command; empty for a draft."]


class TeamGpuTimeShape(TypedDict):
    slug: str
    name: str
    now: Annotated[int, "GPUs that its running jobs have."]
    allocated: Annotated[
        list[float | None], "Mean GPUs from each of `times` to the next; the last is `now`."
    ]
    used: Annotated[list[float | None], "null where less than half was measured."]
    allocated_hours: float
    measured_hours: float
    used_hours: float


class TotalShape(TypedDict):
    kind: str
    count: int
    bytes: int


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
        "What a submission by the team would answer: ok, starts_now, text, errors with field, "
        "message and line, the expected start and suggestions; null without a team.",
    ]
    changes: Annotated[
        list[SpecChangeShape] | None,
        "What differs from the spec of `parent`: field, before, after.",
    ]
