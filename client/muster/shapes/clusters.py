"""Types of the API's answers, as `make shapes` writes them: do not edit."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from muster.shapes.portal import ConnectionCheckShape, Id, OptionShape, PageShape, Time, WayShape
from muster.shapes.workspaces import ApprovalRequestShape


class AmountShape(TypedDict):
    total: float
    used: float


class BackendKindShape(TypedDict):
    name: str
    title: str
    about: str
    options: list[OptionShape]
    ways: Annotated[list[WayShape], "Ways to connect; empty if there is one."]


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


class ClusterListShape(PageShape[ClusterShape]):
    kinds: Annotated[list[BackendKindShape], "What can be connected."]


class DiskShape(TypedDict):
    used: int
    free: int
    percent: int
    text: str
    warning: Annotated[str, "Empty, or that it is nearly full."]


class EffectShape(TypedDict):
    pool: str
    cluster: str
    total: int
    promised: int
    free: int
    missing: Annotated[int, "GPUs that are missing even if all were free."]
    must_become_free: int
    next_free: list[FreeGpusShape]
    pending_jobs_of_others: int
    pending_gpus_of_others: int
    gpu_hours_held: int
    reservation: ReservationPreviewShape | None
    mig: MigEffectShape | None


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


class FreeGpusShape(TypedDict):
    at: Time
    gpus: int


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
    preset: Annotated[str, "The preset that the settings are; empty if they are its own."]
    presets: list[HealthPresetShape]
    counts: Annotated[dict[str, int], "Nodes by health."]
    checks: list[HealthCheckShape]


class HealthPresetShape(TypedDict):
    name: str
    title: str
    about: str


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


class MigChangeShape(TypedDict):
    node: str
    uuid: str
    removed: Annotated[list[str], "Profiles."]
    created: Annotated[list[str], "Profiles."]


class MigEffectShape(TypedDict):
    drains: int
    nodes: list[str]
    missing: dict[str, int]
    gpus: list[MigChangeShape]


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
    state: Annotated[str, "State of a node."]
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
    state: Annotated[str, "State of a node."]
    note: str


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


class PoolRequestShape(ApprovalRequestShape):
    team: str
    gpu_type: str
    gpus: int
    purpose: str
    budget: Annotated[int | None, "GPU-hours meant to be used."]
    starts_at: Time
    ends_at: Time
    renews: Id | None
    pool: str | None
    reservation: ReservationShape | None
    what_if: NotRequired[Annotated[list[EffectShape], "The effect in each pool, for operators."]]


class ProbeShape(TypedDict):
    is_ok: bool
    message: str
    version: str
    warnings: list[str]
    checks: list[ConnectionCheckShape]


class ReservationPreviewShape(TypedDict):
    text: str
    nodes: list[str]
    gpus: int
    must_become_free: int
    problem: Annotated[str, "Why it cannot be done; else empty."]


class ReservationShape(TypedDict):
    name: str
    state: Annotated[str, "State of a reservation."]
    note: str
    gpus: int
    nodes: list[str]
    starts_at: Time
    ends_at: Time
    applied_at: Time | None
    checked_at: Time | None


class StandingShape(TypedDict):
    word: Annotated[str, "State of a cluster."]
    shape: Annotated[str, "Of its mark."]
    text: Annotated[str, "With its age."]
    since: Time | None
