"""Set many limits and guarantees atomically, with one event of the values before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q, Sum

from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, record
from portal.core.formatting import scale_of
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Membership, Organization, Quota, Team, User
from workspaces.quotas.limits import GPU_HOURS, ORG, RESOURCE_UNITS, USER, Meter
from workspaces.quotas.reservations import lock, quota_usage_of, write

MAX_CHANGES = 2000  # changes per request
MAX_RESOURCES = 50  # resources per request: their meters are locked meanwhile
COUNTER_LIMIT = 2**63  # exceeds the column


class Keep:
    """Marks a value that is not changed."""


KEEP: Final = Keep()


@dataclass(frozen=True)
class LimitChange:
    """One change, in display units.

    `limit` None: no limit; `guaranteed` None: no guarantee; KEEP leaves a value unchanged. `was` is
    the limit that the person saw; KEEP: whatever it was.
    """

    scope: str
    subject: str
    resource: str
    limit: float | Keep | None = KEEP
    guaranteed: float | Keep | None = KEEP
    was: float | Keep | None = KEEP


def set_quota(
    *,
    actor: Actor,
    org: Organization,
    scope: str,
    subject: str,
    resource: str,
    limit: float | Keep | None = KEEP,
    guaranteed: float | Keep | None = KEEP,
    was: float | Keep | None = KEEP,
) -> Quota:
    """Set or remove a limit and its guarantee. Raises as `set_quotas` does."""
    change = LimitChange(scope, subject, resource, limit, guaranteed, was)
    return set_quotas(actor=actor, org=org, changes=[change])[0]


@transaction.atomic
def set_quotas(*, actor: Actor, org: Organization, changes: Sequence[LimitChange]) -> list[Quota]:
    """Set all of these or none. Running jobs are never stopped.

    Raises InvalidInput naming the faulty change, NotFound, NotPermitted, and Conflict if a limit is
    no longer what the person saw.
    """
    authorize(actor, Permission.QUOTAS_WRITE)
    found = meters_of(org, changes)
    rows = lock({*found, *(Meter(org.id, ORG, org.id, meter.resource) for meter in found)})
    before = {meter: quota_usage_of(row) for meter, row in rows.items()}
    for meter, change in found.items():
        _check_seen(rows[meter], change)
        _apply(rows[meter], change)
    _check_guarantees(rows)
    _update_promised(org, rows, before)
    Quota.objects.bulk_update([rows[meter] for meter in found], ["limit", "guaranteed"])
    _record_event(
        actor, org, [(change, before[meter], rows[meter]) for meter, change in found.items()]
    )
    wake_worker("jobs.dispatch")
    return [rows[meter] for meter in found]


def meters_of(org: Organization, changes: Sequence[LimitChange]) -> dict[Meter, LimitChange]:
    """Return the meters of these changes. Raises InvalidInput, NotFound."""
    if not 0 < len(changes) <= MAX_CHANGES:
        raise InvalidInput.at("changes", f"must have 1 to {MAX_CHANGES} entries")
    subjects = _subjects(org, {(change.scope, change.subject) for change in changes})
    if len({change.resource for change in changes}) > MAX_RESOURCES:
        raise InvalidInput.at("changes", f"must be about at most {MAX_RESOURCES} resources")
    found: dict[Meter, LimitChange] = {}
    for change in changes:
        check_resource(change.resource)
        meter = Meter(org.id, change.scope, subjects[change.scope, change.subject], change.resource)
        if meter in found:
            raise InvalidInput.at("changes", f"contains {_name(change)} twice")
        found[meter] = change
    return found


def _check_seen(row: Quota, change: LimitChange) -> None:
    if isinstance(change.was, Keep) or amount_of(row.resource, change.was, "was") == row.limit:
        return
    now = (
        Message("none", context="part of a sentence")
        if row.limit is None
        else f"{shown(row.resource, row.limit):g}"
    )
    raise Conflict(
        Message(
            "Somebody else has changed the limit: {what} is {now} by now. Set it again if it is "
            "still wrong.",
            what=_name(change),
            now=now,
        )
    )


def _apply(row: Quota, change: LimitChange) -> None:
    if not isinstance(change.limit, Keep):
        row.limit = amount_of(row.resource, change.limit, "limit")
    if not isinstance(change.guaranteed, Keep):
        row.guaranteed = amount_of(row.resource, change.guaranteed, "guaranteed") or 0
        if row.guaranteed and row.resource == GPU_HOURS:
            raise InvalidInput.at(
                "guaranteed",
                "is not possible here: GPU-hours are used up and cannot be kept free",
            )
        if row.guaranteed and row.scope == ORG:
            raise InvalidInput.at(
                "guaranteed",
                Message(
                    "is of a team or a person: it is kept free inside the organization's limit"
                ),
            )
    if row.limit is not None and row.guaranteed > row.limit:
        raise InvalidInput.at(
            "guaranteed", Message("of {what} is above its limit", what=_name(change))
        )


def _by_resource(rows: Mapping[Meter, Quota]) -> dict[str, list[tuple[Meter, Quota]]]:
    """Group the meters of teams and users by resource."""
    found: dict[str, list[tuple[Meter, Quota]]] = {meter.resource: [] for meter in rows}
    for meter, row in rows.items():
        if meter.scope != ORG:
            found[meter.resource].append((meter, row))
    return found


def _check_guarantees(rows: Mapping[Meter, Quota]) -> None:
    """Check that guarantees do not exceed the organization's limits."""
    inside = _by_resource(rows)
    for meter, row in rows.items():
        if meter.scope != ORG or row.limit is None:
            continue
        ours = [r for _, r in inside[meter.resource]]
        others = (
            Quota.objects.filter(resource=meter.resource, guaranteed__gt=0)
            .exclude(id__in=[r.id for r in ours])
            .aggregate(n=Sum("guaranteed"))["n"]
            or 0
        )
        if (total := others + sum(r.guaranteed for r in ours)) > row.limit:
            raise InvalidInput.at(
                "guaranteed",
                (
                    f"{shown(meter.resource, total):g} {meter.resource} would be guaranteed in "
                    "total; "
                    f"the organization's limit is {shown(meter.resource, row.limit):g}"
                ),
            )


def _update_promised(
    org: Organization, rows: Mapping[Meter, Quota], before: Mapping[Meter, Any]
) -> None:
    """Update what the organization's meters keep free for guarantees."""
    changed, inside = [], _by_resource(rows)
    for meter, row in rows.items():
        if meter.scope == ORG:
            row.promised += sum(
                quota_usage_of(r).idle - before[m].idle for m, r in inside[meter.resource]
            )
            if row.promised >= COUNTER_LIMIT:
                raise InvalidInput.at(
                    "guaranteed", f"{meter.resource} would exceed the countable maximum"
                )
            changed.append((row, quota_usage_of(row)))
    write(changed)


def _record_event(
    actor: Actor, org: Organization, changed: Sequence[tuple[LimitChange, Any, Quota]]
) -> None:
    """Record an event in units of storage: cpu in thousandths."""
    names = [_name(change) for change, _, _ in changed]
    record(
        EventRecord(
            "quota.changed",
            org.id,
            "quota",
            org.id,
            actor.email,
            {
                "name": ", ".join(names[:3])
                + (f" and {len(names) - 3} more" if len(names) > 3 else ""),
                "changes": len(changed),
                "before": {
                    _name(c): {"limit": b.limit, "guaranteed": b.guaranteed} for c, b, _ in changed
                },
                "after": {
                    _name(c): {"limit": row.limit, "guaranteed": row.guaranteed}
                    for c, _, row in changed
                },
            },
        )
    )


def _name(change: LimitChange) -> str:
    return f"{change.resource} of {change.scope} {change.subject}".rstrip()


def shown(resource: str, amount: int) -> float:
    """Return an amount in the display unit."""
    return amount / scale if (scale := scale_of(resource)) > 1 else amount


def check_resource(resource: str) -> None:
    """Check that the resource is countable. Raises InvalidInput."""
    kind, dot, model = resource.partition(".")
    if (
        kind not in RESOURCE_UNITS
        or bool(dot) != bool(model)
        or (model and kind != "gpu")
        or len(resource) > 40
        or not resource.isprintable()
    ):
        raise InvalidInput.at(
            "resource",
            Message(
                "must be one of {names}",
                context="error of a field",
                names="cpu, memory, gpu, gpu.<type>, jobs, gpu-hours, storage",
            ),
        )


def amount_of(resource: str, amount: float | None, field: str) -> int | None:
    """Return an amount in the unit of storage. Raises InvalidInput."""
    if amount is None:
        return None
    scale = scale_of(resource)
    if not 0 <= amount < (2**53 if scale <= 1000 else 2**40):
        raise InvalidInput.at(field, Message("must be a number not below 0, or null for none"))
    if round(amount, 3 if scale > 1 else 0) != amount:
        raise InvalidInput.at(
            field,
            "must have at most three decimals" if scale > 1 else Message("must be a whole number"),
        )
    return round(amount * scale) if scale > 1 else int(amount)


def _subjects(org: Organization, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], UUID]:
    """Return subjects by scope and name: one query for teams, one for users.

    Raises InvalidInput, NotFound.
    """
    teams = dict(
        Team.objects.filter(
            slug__in=[name for scope, name in wanted if scope == "team"]
        ).values_list("slug", "id")
    )
    # Includes former members
    known = Q(id__in=Membership.objects.values("user_id")) | Q(
        id__in=Quota.objects.filter(scope=USER).values("subject_id")
    )
    emails = [name.lower() for scope, name in wanted if scope == "user"]
    people = (
        dict(User.objects.filter(known, email__in=emails).values_list("email", "id"))
        if emails
        else {}
    )
    return {(scope, name): _subject(org, scope, name, teams, people) for scope, name in wanted}


def _subject(
    org: Organization, scope: str, name: str, teams: Mapping[str, UUID], people: Mapping[str, UUID]
) -> UUID:
    known = {"org": {name: org.id}, "team": teams, "user": people}
    if scope not in known:
        raise InvalidInput.at("scope", "must be org, team or user")
    found = known[scope].get(name.lower() if scope == "user" else name)
    if found is None:
        raise NotFound(
            Message(
                "There is no {scope} {name} in {slug}.", scope=scope, name=repr(name), slug=org.slug
            )
        )
    return found
