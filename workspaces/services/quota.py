"""Holding and settling resources. `used` moves only by conditional UPDATE: the row count is the verdict, so no two
admissions can take the same last GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Q

from portal.core.errors import InvalidInput, NotFound
from portal.core.events import Fact, record
from workspaces.actors import Actor, authorize
from workspaces.models import Membership, Organization, Quota, Team
from workspaces.permissions import Permission

RESOURCE_UNITS = {"cpu": "cores", "memory": "bytes", "gpu": "GPUs", "jobs": "jobs"}


@dataclass(frozen=True)
class Meter:
    """Which meter: scope, whose, of what."""

    org_id: UUID
    scope: str
    subject_id: UUID
    resource: str


def unit_of(resource: str) -> str:
    """The unit people read: cpu is stored in thousandths and shown in cores."""
    return RESOURCE_UNITS[resource.partition(".")[0]]


def meters(org_id: UUID, team_id: UUID, user_id: UUID, resources: Mapping[str, int]) -> dict[Meter, int]:
    """The meters that a hold of these resources moves, with the amounts: the person's, the team's, the organization's."""
    subjects = ((Quota.Scope.USER, user_id), (Quota.Scope.TEAM, team_id), (Quota.Scope.ORG, org_id))
    return {Meter(org_id, str(scope), subject, resource): amount
            for scope, subject in subjects for resource, amount in resources.items() if amount}


def hold(amounts: Mapping[Meter, int]) -> Meter | None:
    """Take all of these or none; the meter that refused, else None. Call it inside a transaction, in a savepoint of its own:
    after a refusal the caller must roll back what was taken (see `jobs.dispatch`)."""
    _ensure(amounts)
    for meter in sorted(amounts, key=_order):
        amount = amounts[meter]
        room = Q(limit=None) | Q(limit__gte=F("used") + amount)
        if not _rows(meter).filter(room).update(used=F("used") + amount) and not _first(meter, amount):
            return meter
    return None


def _first(meter: Meter, amount: int) -> bool:
    """The row was never there, or is gone with its database (a restore, a test): make it, holding this much."""
    if _rows(meter).exists():
        return False
    Quota.objects.create(org_id=meter.org_id, scope=meter.scope, subject_id=meter.subject_id,
                         resource=meter.resource, used=amount)
    return True


def settle(amounts: Mapping[Meter, int]) -> None:
    """Give back. The caller has flipped the attempt's `is_held` in the same transaction, so nothing is given back twice."""
    for meter in sorted(amounts, key=_order):
        _rows(meter).update(used=F("used") - amounts[meter])


@transaction.atomic
def set_quota(*, actor: Actor, org: Organization, scope: str, subject: str, resource: str, limit: float | None) -> Quota:
    """Set or lift (None) a limit, in the unit people read. Running jobs are never stopped by it. Raises InvalidInput,
    NotFound, NotPermitted."""
    authorize(actor, Permission.QUOTAS_WRITE)
    amount = _amount(resource, limit)
    subject_id = _subject(org, scope, subject)
    _ensure([Meter(org.id, scope, subject_id, resource)])
    row = Quota.objects.select_for_update().get(scope=scope, subject_id=subject_id, resource=resource)
    before, row.limit = row.limit, amount
    row.save(update_fields=["limit"])
    record(Fact("quota.changed", org.id, "quota", row.id, actor.email,
                {"name": f"{resource} of {scope} {subject}".rstrip(), "scope": scope, "subject": subject, "resource": resource,
                 "before": {"limit": before}, "after": {"limit": amount}}))
    return row


def _amount(resource: str, limit: float | None) -> int | None:
    kind, _, model = resource.partition(".")
    if kind not in RESOURCE_UNITS or (model and kind != "gpu") or len(resource) > 40 or not resource.isprintable():
        raise InvalidInput.at("resource", "must be one of cpu, memory, gpu, gpu.<type>, jobs")
    if limit is None:
        return None
    if not 0 <= limit < 2**53:
        raise InvalidInput.at("limit", "must be a number not below 0, or null for no limit")
    return round(limit * 1000) if kind == "cpu" else int(limit)


def _subject(org: Organization, scope: str, subject: str) -> UUID:
    match scope:
        case "org":
            return org.id
        case "team":
            found = Team.objects.filter(slug=subject).values_list("id", flat=True).first()
        case "user":
            found = Membership.objects.filter(user__email=subject.lower()).values_list("user_id", flat=True).first()
        case _:
            raise InvalidInput.at("scope", "must be org, team or user")
    if found is None:
        raise NotFound(f"There is no {scope} {subject!r} in {org.slug}.")
    return found


def _rows(meter: Meter):  # type: ignore[no-untyped-def]  # a queryset of one row
    return Quota.objects.filter(org_id=meter.org_id, scope=meter.scope, subject_id=meter.subject_id,
                                resource=meter.resource)


def _order(meter: Meter) -> tuple[str, str, str]:
    """One order for everybody, so that two transactions never wait for each other in a ring."""
    return (str(meter.subject_id), meter.scope, meter.resource)


_known: set[tuple[str, Meter]] = set()


def _ensure(wanted: Iterable[Meter]) -> None:
    """Make the rows that are not there yet; remembered per process and database, for rows of quotas are never deleted."""
    database = str(connection.settings_dict["NAME"])
    fresh = [m for m in wanted if (database, m) not in _known]
    if not fresh:
        return
    Quota.objects.bulk_create(
        [Quota(org_id=m.org_id, scope=m.scope, subject_id=m.subject_id, resource=m.resource) for m in fresh],
        ignore_conflicts=True)
    transaction.on_commit(lambda: _known.update((database, m) for m in fresh))
