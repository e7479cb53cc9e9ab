"""Import many users from a file.

The plan is computed without writing, then executed by the services for single users, so that each
change has its own event. A single fault cancels the import.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from portal.core import clock
from portal.core.errors import InvalidInput, PortalError
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import OrgRole, Permission
from workspaces.access.role_grants import check_org_role, check_team_role
from workspaces.models import Invitation, Membership, Organization, Team, TeamMembership, User
from workspaces.organizations.consent import used_accounts
from workspaces.organizations.invitations import (
    NOBODY,
    Invitee,
    NewInvitation,
    invite_many,
    renew_invitation,
    revoke_invitation,
    widen_invitation,
)
from workspaces.organizations.names import lock_organization
from workspaces.organizations.people_file import LineError, PersonRow, read_people
from workspaces.organizations.services import add_member, add_team_member

INVITED, ADDED, JOINED, UNCHANGED = "invited", "added", "joined", "unchanged"


@dataclass(frozen=True)
class ImportStep:
    """The planned step for one person. `teams`: teams they join, role by slug."""

    person: PersonRow
    kind: str
    teams: dict[str, str]
    note: str = ""
    invitation: UUID | None = None  # the pending one, if any


@dataclass
class ImportReport:
    """The result of an import. `made` and `added`: who needs a link, once it was executed."""

    steps: list[ImportStep]
    faults: list[LineError]
    is_done: bool = False
    made: list[NewInvitation] = field(default_factory=list)
    added: list[User] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {
            kind: sum(step.kind == kind for step in self.steps)
            for kind in (INVITED, ADDED, JOINED, UNCHANGED)
        } | {"faults": len(self.faults)}


def import_people(
    *, actor: Actor, org: Organization, text: str, is_dry: bool, adds: bool = False
) -> ImportReport:
    """Invite the people in a file, or with `adds` directly add those without an account.

    Existing members join the teams. Raises InvalidInput and TooLarge for invalid files,
    NotPermitted.
    """
    authorize(actor, Permission.MEMBERS_WRITE)
    people, faults = read_people(text)
    with transaction.atomic():
        if not is_dry:
            lock_organization(org.id)
        report = _plan(actor, org, people, faults, adds)
        if not is_dry and not report.faults:
            _execute(actor, org, report)
    return report


def _execute(actor: Actor, org: Organization, report: ImportReport) -> None:
    fresh = [step for step in report.steps if step.kind == INVITED and step.invitation is None]
    report.made += invite_many(
        actor=actor,
        org=org,
        guests=[
            Invitee(
                step.person.email, step.person.name, step.person.role or OrgRole.MEMBER, step.teams
            )
            for step in fresh
        ],
    )
    for step in report.steps:
        if step.kind != INVITED or step.invitation is not None:
            _EXECUTORS[step.kind](actor, org, step, report)
    report.is_done = True
    counts = {kind: n for kind, n in report.counts.items() if n}
    if set(counts) - {UNCHANGED}:
        record(
            EventRecord(
                "people.imported",
                org.id,
                "org",
                org.id,
                actor.email,
                {"name": org.slug, "after": counts},
            )
        )


def _invite(actor: Actor, org: Organization, step: ImportStep, report: ImportReport) -> None:
    """Invite again if the invitation has expired."""
    assert step.invitation is not None
    report.made.append(renew_invitation(actor=actor, invitation_id=step.invitation))
    _widen(actor, step)


def _add(actor: Actor, org: Organization, step: ImportStep, report: ImportReport) -> None:
    person = step.person
    if step.invitation is not None:
        revoke_invitation(actor=actor, invitation_id=step.invitation)
    member = add_member(
        actor=actor,
        org=org,
        email=person.email,
        name=person.name,
        role=person.role or OrgRole.MEMBER,
    )
    report.added.append(member.user)
    _add_to_teams(actor, step)


def _join(actor: Actor, org: Organization, step: ImportStep, report: ImportReport) -> None:
    if step.invitation is not None:
        _widen(actor, step)
    else:
        _add_to_teams(actor, step)


def _skip(actor: Actor, org: Organization, step: ImportStep, report: ImportReport) -> None:
    """Leave the person unchanged."""


def _widen(actor: Actor, step: ImportStep) -> None:
    if step.invitation is not None and step.teams:
        widen_invitation(actor=actor, invitation_id=step.invitation, teams=step.teams)


def _add_to_teams(actor: Actor, step: ImportStep) -> None:
    for slug, role in step.teams.items():
        add_team_member(
            actor=actor, team=Team.objects.get(slug=slug), email=step.person.email, role=role
        )


_EXECUTORS: dict[str, Callable[[Actor, Organization, ImportStep, ImportReport], None]] = {
    INVITED: _invite,
    ADDED: _add,
    JOINED: _join,
    UNCHANGED: _skip,
}


def _plan(
    actor: Actor,
    org: Organization,
    people: Sequence[PersonRow],
    faults: list[LineError],
    adds: bool,
) -> ImportReport:
    state = _OrgState(actor, org, adds, [person.email for person in people])
    steps = []
    for person in people:
        try:
            steps.append(state.step_for(person))
        except PortalError as error:
            faults.append(
                LineError(person.line, Message.joined(": ", (person.email, error.message)))
            )
    return ImportReport(steps, sorted(faults, key=lambda fault: fault.line))


class _OrgState:
    """The state of the organization, read once for the whole file."""

    def __init__(self, actor: Actor, org: Organization, adds: bool, emails: list[str]):
        self.actor, self.org, self.adds = actor, org, adds
        self.teams = {team.slug: team for team in Team.objects.all()}
        self.members = {
            m.user.email: m
            for m in Membership.objects.filter(user__email__in=emails).select_related("user")
        }
        self.seats = set(
            TeamMembership.objects.filter(user__email__in=emails).values_list(
                "user__email", "team__slug"
            )
        )
        self.invitations = {
            i.email: i
            for i in Invitation.objects.filter(email__in=emails, accepted_at=None, revoked_at=None)
        }
        self.somebodys = set() if actor.is_operator or not adds else used_accounts(emails)
        self.check_role = cache(lambda role: check_org_role(actor, org, role))
        self.check_team = cache(self._check_team)

    def step_for(self, person: PersonRow) -> ImportStep:
        """Plan the step for one person. Raises PortalError if it is not allowed."""
        if member := self.members.get(person.email):
            return self._member_step(person, member)
        row, is_added = (
            self.invitations.get(person.email),
            self.adds and person.email not in self.somebodys,
        )
        self.check_role(row.role if row and not is_added else person.role or OrgRole.MEMBER)
        for slug, role in person.teams.items():
            self.check_team(slug, role, NOBODY)
        if is_added:
            return ImportStep(person, ADDED, person.teams, invitation=row.id if row else None)
        note = _("has an account and must accept an invitation") if self.adds else ""
        return (
            self._invited_step(person, row)
            if row
            else ImportStep(person, INVITED, person.teams, note)
        )

    def _member_step(self, person: PersonRow, member: Membership) -> ImportStep:
        wanted = {
            slug: role
            for slug, role in person.teams.items()
            if (person.email, self._team(slug).slug) not in self.seats
        }
        for slug, role in wanted.items():
            self.check_team(slug, role, member.user_id)
        return ImportStep(
            person, JOINED if wanted else UNCHANGED, wanted, _role_note(person, member.role)
        )

    def _invited_step(self, person: PersonRow, row: Invitation) -> ImportStep:
        held = {UUID(place["team"]) for place in row.teams}
        wanted = {
            slug: role for slug, role in person.teams.items() if self.teams[slug].id not in held
        }
        is_expired = row.expires_at <= clock.now()
        kind = INVITED if is_expired else JOINED if wanted else UNCHANGED
        note = _("the previous link has expired") if is_expired else _("is already invited")
        return ImportStep(
            person,
            kind,
            wanted,
            " · ".join(filter(None, (note, _role_note(person, row.role)))),
            row.id,
        )

    def _team(self, slug: str) -> Team:
        if slug not in self.teams:
            raise InvalidInput(_("there is no team %(slug)s here") % {"slug": slug[:40]})
        return self.teams[slug]

    def _check_team(self, slug: str, role: str, user_id: UUID) -> None:
        team = self._team(slug)
        authorize(self.actor, Permission.MEMBERS_WRITE, team)
        check_team_role(self.actor, team, role, user_id)


def _role_note(person: PersonRow, role: str) -> str:
    if person.role in ("", role):
        return ""
    return _("has the role %(has)s; the file (%(said)s) does not change it") % {
        "has": role,
        "said": person.role,
    }
