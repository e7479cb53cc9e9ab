"""Types of the API's answers, as `make shapes` writes them: do not edit.

Each is named after its part of the OpenAPI schema. `Time` is a text in ISO 8601.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, NotRequired, TypedDict, TypeVar

Id = str
Time = str
T = TypeVar("T")


class AmountShape(TypedDict):
    total: float
    used: float


class BackendKindShape(TypedDict):
    name: str
    title: str
    about: str
    options: list[OptionShape]


class BytesShape(TypedDict):
    total: int
    used: int


class CapacityShape(TypedDict):
    nodes: NodeCountsShape
    gpus: GpuCapacityShape


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


class RefShape(TypedDict):
    kind: Annotated[str, "branch or tag"]
    name: str
    version: int | None
    commit: str | None
    message: str
    created_at: Time


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


class StandingShape(TypedDict):
    word: str
    shape: Annotated[str, "The state of a job whose mark it has."]
    text: Annotated[str, "With its age."]
    since: Time | None


class TreeShape(TypedDict):
    version: int
    commit: str
    path: str
    items: list[EntryShape]
    next: Annotated[str | None, "`after` of the next page."]


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
