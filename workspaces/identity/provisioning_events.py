"""Events of a plan: who gained, changed or lost which role, through which group."""

from __future__ import annotations

from collections.abc import Iterator

from portal.core.events import EventRecord
from workspaces.identity.provisioning import ProvisioningPlan, RoleAssignment, RoleChange
from workspaces.models import Provider


def plan_events(made: ProvisioningPlan, provider: Provider, actor: str) -> Iterator[EventRecord]:
    """Yield an event for each change in its organization; account events in the provider's."""
    emails = {known.user_id: known.email for known, _ in made.identities}
    emails |= {n.user_id: n.person.email for n in made.newcomers}
    for n in made.newcomers:
        yield EventRecord(
            "person.linked" if n.is_linked else "person.created",
            provider.org_id,
            "user",
            n.user_id,
            actor,
            {"provider": provider.slug, "subject": n.person.subject, "email": n.person.email},
        )
    for change in made.changes:
        yield _fact(change, provider, actor, emails.get(change.seat.user_id, ""))
    for kind, people in (("person.switched_off", made.off), ("person.switched_on", made.on)):
        for known in people:
            yield EventRecord(
                kind,
                provider.org_id,
                "user",
                known.user_id,
                actor,
                {"provider": provider.slug, "email": known.email},
            )


def _fact(change: RoleChange, provider: Provider, actor: str, email: str) -> EventRecord:
    seat = change.seat
    data = {
        "provider": provider.slug,
        "email": email,
        "user": str(seat.user_id),
        "via": seat.via,
        "before": _state(change.before),
        "after": _state(change.after),
    }
    if seat.team_id:
        return EventRecord(
            f"team_member.{_verb(change)}", seat.org_id, "team", seat.team_id, actor, data
        )
    return EventRecord(f"member.{_verb(change)}", seat.org_id, "user", seat.user_id, actor, data)


def _verb(change: RoleChange) -> str:
    if change.before is None:
        return "added"
    if change.after is None:
        return "removed"
    if change.before.is_suspended != change.after.is_suspended:
        return "suspended" if change.after.is_suspended else "restored"
    return "changed"


def _state(seat: RoleAssignment | None) -> str | None:
    return None if seat is None else f"{seat.role} (suspended)" if seat.is_suspended else seat.role
