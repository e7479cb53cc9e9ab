"""Rules of the organization for datasets, and for checkpoints, that have no rules of their own."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from datasets.models import Repository, RepositoryKind, RetentionDefault
from datasets.services import retention
from datasets.services.repositories import checked_rule
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission as P

MOST_PLANNED = 200  # repositories of a dry run


class Planned(NamedTuple):
    """What a default would delete of a repository: the number of versions, and freed bytes."""

    repository: Repository
    versions: int
    bytes: int


class DefaultPlan(NamedTuple):
    """What a default would delete. `is_cut`: of more repositories than these."""

    rows: list[Planned]
    is_cut: bool

    @property
    def versions(self) -> int:
        return sum(row.versions for row in self.rows)

    @property
    def bytes(self) -> int:
        return sum(row.bytes for row in self.rows)


@transaction.atomic
def change_default(
    *, actor: Actor, org_id: UUID, kind: str, keep_last: int, keep_days: int
) -> RetentionDefault:
    """Set the rules for all that have none of their own; 0 is no rule.

    Raises InvalidInput, NotPermitted.
    """
    authorize(actor, P.DATASETS_ADMIN)
    if kind not in RepositoryKind.values:
        raise InvalidInput.at("kind", Message("must be dataset or checkpoint"))
    rules = {
        "keep_last": checked_rule("keep_last", keep_last),
        "keep_days": checked_rule("keep_days", keep_days),
    }
    RetentionDefault.objects.get_or_create(org_id=org_id, kind=kind)
    row = RetentionDefault.objects.select_for_update().get(org_id=org_id, kind=kind)
    before = {name: getattr(row, name) for name in rules}
    if rules != before:
        row.keep_last, row.keep_days, row.updated_at = *rules.values(), clock.now()
        row.save()
        about = EventRecord(
            f"{kind}.default_retention_changed",
            org_id,
            "organization",
            org_id,
            actor.email,
            changes(before, rules),
        )
        record(about)
    return row  # type: ignore[no-any-return]


def plan_default(*, actor: Actor, kind: str, keep_last: int, keep_days: int) -> DefaultPlan:
    """Return what this default would delete now. Raises NotPermitted.

    What has rules of its own, or a legal hold, stays as it is.
    """
    authorize(actor, P.DATASETS_ADMIN)
    found: list[Planned] = []
    rows = Repository.objects.filter(
        kind=kind, own_retention=False, keep_last=0, keep_days=0, legal_hold=""
    )
    for row in rows.select_related("team").order_by("name", "id").iterator():
        plan = retention.plan(row, keep_last=keep_last, keep_days=keep_days)
        if plan.versions:
            if len(found) == MOST_PLANNED:
                return DefaultPlan(found, True)
            found.append(Planned(row, len(plan.versions), plan.bytes))
    return DefaultPlan(found, False)
