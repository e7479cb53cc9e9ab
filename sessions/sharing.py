"""Share a session with people or its team, to look at it or to work in it, and see who is in it."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.db import transaction

from jobs.kinds.workload_kinds import PortShare
from jobs.models import Job
from jobs.ports.access import may_run_in
from jobs.ports.people import forget_person, people_at
from jobs.specs.stored import spec_of
from portal.core.errors import InvalidInput, NotFound, PortalError
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.shapes import PersonShape
from schedulers.spec import ports_of
from sessions.models import InteractiveSession
from sessions.selectors import attempt_of, is_of_earlier_version
from sessions.templates import PORT, SessionTemplate, find_template
from workspaces.access.actors import Actor, actor_of, authorize
from workspaces.access.permissions import Permission
from workspaces.models import TeamMembership, User
from workspaces.organizations.selectors import people

READ, WRITE = "read", "write"
ACCESS = (READ, WRITE)
TEAM = "team"  # among the shares of a session; the others are ids of people
MOST = 50  # people with whom a session is shared
MOST_NAMES = 200  # that a field suggests


class SessionPersonShape(TypedDict):
    person: Annotated[PersonShape | None, "null: all members of the team."]
    access: Annotated[str, "read or write; the owner's is owner, and role comes with a role."]
    is_in: Annotated[bool, "Has used the app within the last 30 seconds."]


def access_of(session: InteractiveSession, actor: Actor) -> str:
    """Return how the actor may open the app: write, read, or "" for not at all."""
    if may_run_in(actor, session.job):
        return WRITE
    access = _shared_with(session, actor)
    needed = Permission.JOBS_READ if access == READ else Permission.JOBS_EXEC
    is_let_in = access and not actor.acted_by and actor.may(needed, session.team_id)
    return access if is_let_in else ""


def port_share(session: InteractiveSession, port: str, actor: Actor) -> PortShare | None:
    """Return how a port is shared with the actor: to look at, only that of the app."""
    access = _shared_with(session, actor)
    if not access or (access == READ and port != PORT):
        return None
    template = find_template(session.template)
    return PortShare(access == READ, template.posts if template else ())


def _shared_with(session: InteractiveSession, actor: Actor) -> str:
    """Return the widest access that the session is shared with, for this actor."""
    found = {session.shares.get(str(actor.user_id), "")}
    if session.team_id in actor.team_roles:
        found.add(session.shares.get(TEAM, ""))
    return next((one for one in (WRITE, READ) if one in found), "")


@transaction.atomic
def share_session(
    *, actor: Actor, session: InteractiveSession, who: str, access: str
) -> InteractiveSession:
    """Let a person (an e-mail address) or the team open a session. Raises NotPermitted, InvalidInput."""
    row = _locked(actor, session)
    if access not in ACCESS:
        raise InvalidInput.at(
            "access",
            Message("must be one of {names}", context="error of a field", names=", ".join(ACCESS)),
        )
    template = find_template(row.template)
    if access == READ and not (template and template.can_be_read):
        raise InvalidInput.at("access", _not_read_only(template))
    if access == READ and is_of_earlier_version(row):
        text = Message(
            "The session was started by an earlier version of Muster. Start it again first."
        )
        raise InvalidInput.at("access", text)
    if who == TEAM:
        key, name = TEAM, row.team.name
    else:
        user = _person(row, who, access)
        key, name = str(user.id), user.email
    if key not in row.shares and len(row.shares) >= MOST:
        raise InvalidInput.at(
            "who", Message("The session is shared with {n} people already.", n=MOST)
        )
    before = row.shares.get(key, "")
    if before != access:
        row.shares = {**row.shares, key: access}
        row.save(update_fields=["shares"])
        _record("shared", actor, row, {"who": name, "after": {"access": access}})
    return row


@transaction.atomic
def unshare_session(*, actor: Actor, session: InteractiveSession, who: str) -> InteractiveSession:
    """End a share; open connections are closed within seconds. Idempotent. Raises NotPermitted, NotFound."""
    row = _locked(actor, session)
    if who == TEAM:
        key, name, user = TEAM, row.team.name, None
    else:
        user = User.objects.filter(email=who.strip().lower()).first()
        key, name = (str(user.id), user.email) if user else ("", "")
    if before := row.shares.get(key):
        row.shares = {one: given for one, given in row.shares.items() if one != key}
        row.save(update_fields=["shares"])
        _record("unshared", actor, row, {"who": name, "before": {"access": before}})
        attempt = attempt_of(row)
        if user is not None and attempt is not None:
            forget_person(attempt, _port(attempt), user.id)
    return row


def people_of(session: InteractiveSession) -> list[SessionPersonShape]:
    """Return the owner, those with whom the session is shared, and who else is in it now."""
    attempt = attempt_of(session)
    inside = set(people_at(attempt, _port(attempt))) if attempt else set()
    owner = session.job.owner_id
    shared = {UUID(one): access for one, access in session.shares.items() if one != TEAM}
    users = {
        one.id: one
        for one in User.objects.filter(id__in={owner, *shared, *inside})
        if one.is_active
    }
    members = set(
        TeamMembership.objects.filter(team_id=session.team_id, user_id__in=inside).values_list(
            "user_id", flat=True
        )
    )

    def row(user: User, access: str) -> SessionPersonShape:
        person: PersonShape = {"email": user.email, "name": user.display_name}
        return {"person": person, "access": access, "is_in": user.id in inside}

    rows = [row(users[owner], "owner")] if owner in users else []
    if access := session.shares.get(TEAM):
        rows.append({"person": None, "access": access, "is_in": False})
    rows += sorted(
        (row(users[one], access) for one, access in shared.items() if one in users),
        key=lambda one: one["person"]["email"] if one["person"] else "",
    )
    for one in sorted(inside - {owner, *shared}, key=str):
        if one in users:
            by_team = session.shares.get(TEAM) if one in members else ""
            rows.append(row(users[one], by_team or "role"))
    return rows


def names_to_share_with(session: InteractiveSession) -> list[tuple[str, str]]:
    """Return addresses and names of members of the team, which the form suggests."""
    known = {session.job.owner_id, *(UUID(one) for one in session.shares if one != TEAM)}
    rows = people().filter(
        user_id__in=TeamMembership.objects.filter(team_id=session.team_id).values("user_id")
    )
    rows = rows.exclude(user_id__in=known).order_by("user__email")
    return list(rows.values_list("user__email", "user__name")[:MOST_NAMES])


def _port(attempt: Any) -> int:
    return ports_of(spec_of(attempt.job), attempt.id)[PORT]


def _not_read_only(template: SessionTemplate | None) -> Message:
    return Message(
        "{app} can't be shared to look at only: whoever opens it can change things in it.",
        app=template.title if template else "?",
    )


def _person(session: InteractiveSession, who: str, access: str) -> User:
    """Return whom to share with. Raises InvalidInput unless they can see the session."""
    user = User.objects.filter(email=who.strip().lower(), is_active=True).first()
    try:
        if user is None:
            raise NotFound(Message("unknown", context="error"))
        other = actor_of(user).enter(session.org)
    except PortalError as error:
        text = Message("There is nobody with the address {email} here.", email=who[:254])
        raise InvalidInput.at("who", text) from error
    if user.id == session.job.owner_id:
        raise InvalidInput.at("who", Message("is the owner of the session"))
    needed = Permission.JOBS_READ if access == READ else Permission.JOBS_EXEC
    if not other.may(needed, session.team_id):
        text = Message(
            "{email} may not do that in the team {team}: it needs {permission}.",
            email=user.email,
            team=session.team.name,
            permission=needed,
        )
        raise InvalidInput.at("who", text)
    return user  # type: ignore[no-any-return]


def _locked(actor: Actor, session: InteractiveSession) -> InteractiveSession:
    """Return the row for a change by somebody who may open the app as its owner may."""
    row = InteractiveSession.objects.select_for_update(of=("self",)).get(id=session.id)
    authorize(actor, Permission.JOBS_EXEC, row.team_id)
    if row.job.owner_id != actor.user_id:
        authorize(actor, Permission.JOBS_EXEC_OTHERS, row.team_id)
    return row


def may_share(actor: Actor, session: InteractiveSession) -> bool:
    return may_run_in(actor, session.job)


def share_of_job(job: Job, port: str, actor: Actor) -> PortShare | None:
    """Return how a port of a job of a session is shared with the actor."""
    row = InteractiveSession.objects.filter(id=job.origin_id, org_id=job.org_id).first()
    return port_share(row, port, actor) if row else None


def _record(verb: str, actor: Actor, session: InteractiveSession, data: dict[str, Any]) -> None:
    about = {"number": session.number, **data}
    record(
        EventRecord(
            f"interactive.{verb}", session.org_id, "interactive", session.id, actor.email, about
        )
    )
