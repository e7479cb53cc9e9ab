"""Types of the API's answers, as `make shapes` writes them: do not edit."""

from __future__ import annotations

from typing import TypedDict

from muster.shapes.portal import Id, Time


class ApprovalRequestShape(TypedDict):
    id: Id
    asker: str
    state: str
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
