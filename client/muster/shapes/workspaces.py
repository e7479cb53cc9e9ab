"""Types of the API's answers, as `make shapes` writes them: do not edit."""

from __future__ import annotations

from typing import Annotated, TypedDict

from muster.shapes.portal import Id, Time


class ApprovalRequestShape(TypedDict):
    id: Id
    asker: str
    state: Annotated[str, "State of a request."]
    created_at: Time
    decided_at: Time | None
    decided_by: str
    word: str


class GpuQuotaShape(TypedDict):
    resource: Annotated[str, "gpu, or of a model: gpu.h100"]
    used: Annotated[int, "Also by jobs that are starting."]
    limit: int


class JobUseShape(TypedDict):
    """The jobs that used a dataset, a checkpoint or a secret, of those that the actor may see."""

    jobs: Annotated[int | None, "Of the last 30 days (UTC), with today."]
    job_trend: Annotated[list[int] | None, "Of each of these days, oldest first."]
    last_used_at: Annotated[Time | None, "When a job last used it."]


class MemberShape(TypedDict):
    email: str
    name: str
    role: str
    role_title: Annotated[str, "Display name of that role."]
    teams: Annotated[list[str], "Slugs."]
    created_at: Annotated[Time, "When they joined."]
    is_service: Annotated[bool, "A service account."]
    is_suspended: Annotated[bool, "Roles and tokens have no effect."]


class SubjectUseShape(TypedDict):
    """What a subject uses; None where the actor may not see it, or it has no meaning."""

    gpus_used: Annotated[int | None, "In use by jobs now."]
    quotas: Annotated[list[GpuQuotaShape] | None, "Its limits of GPUs, of all or of a model."]
    gpu_hours: Annotated[float | None, "Of the last 30 days (UTC), with today."]
    cost: Annotated[str | None, "Of these days; null without prices."]
    currency: Annotated[str | None, "Of the cost."]
    trend: Annotated[list[float] | None, "GPU-hours of each of these days, oldest first."]
    last_job_at: Annotated[Time | None, "When its last job was submitted."]


class ListedMemberShape(MemberShape, SubjectUseShape):
    pass


class ServiceAccountShape(TypedDict):
    name: str
    email: Annotated[str, "Address to add it to teams with; it receives no mail."]
    note: str
    role: str
    role_title: Annotated[str, "Display name of that role."]
    teams: list[TeamRoleShape]
    made_by: str
    created_at: Time
    tokens: Annotated[int, "Number of active tokens."]
    last_used_at: Annotated[Time | None, "Of a token."]
    ending_soon: Annotated[int, "Tokens that expire within a week, without a successor."]


class ListedServiceAccountShape(ServiceAccountShape, SubjectUseShape):
    pass


class TeamShape(TypedDict):
    id: Id
    slug: str
    name: str
    role: Annotated[str, "The caller's role in the team, or empty."]
    role_title: str
    members: int
    created_at: Time


class ListedTeamShape(TeamShape, SubjectUseShape):
    pass


class QuotaRequestShape(ApprovalRequestShape):
    scope: str
    subject: str
    resource: str
    amount: float
    unit: str
    why: str
    job: int | None


class TeamRoleShape(TypedDict):
    slug: str
    role: str
