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


class QuotaRequestShape(ApprovalRequestShape):
    scope: str
    subject: str
    resource: str
    amount: float
    unit: str
    why: str
    job: int | None
