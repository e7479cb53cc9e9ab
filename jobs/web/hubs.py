"""Pages of a person and of a team: jobs, use, quota, access and audit on one page."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render

from clusters.pools import pools_visible_to, teams_of
from jobs.models import Job
from jobs.selectors.jobs import visible_jobs
from jobs.selectors.representations import JobShape, job_row, listed
from jobs.selectors.subjects import jobs_given
from jobs.web.team_rules import rule_lines, shown
from portal.core import clock
from portal.core.audit.reading import events_of
from portal.core.errors import NotFound
from portal.core.messages import Message
from schedulers.states import State
from workspaces.access.actors import Actor, authorize
from workspaces.access.custom_roles import read_custom_roles
from workspaces.access.permissions import Permission as P
from workspaces.access.permissions import TeamRole, texts
from workspaces.access.role_grants import org_roles_for, team_roles_for
from workspaces.access.roles import role_facts
from workspaces.audit.event_links import EventLine, event_lines
from workspaces.credentials.secret_selectors import secrets_for, writable
from workspaces.credentials.token_format import live_tokens
from workspaces.models import Membership, Team, TeamMembership
from workspaces.organizations import selectors
from workspaces.organizations import services as organization_services
from workspaces.subjects import SubjectKind, first_day, use_of
from workspaces.web.base import action, page
from workspaces.web.invitations import invite_choices
from workspaces.web.role_texts import role_questions, role_summary
from workspaces.web.views import READ_WRITE, change_member, team_named

JOBS, EVENTS, USES = 8, 8, 50
USE_FOR = 60  # seconds that sums over 30 days of a person or team are kept


@page(None, READ_WRITE)
def person(request: Any, email: str) -> HttpResponse:
    """Show a member; change their role, suspend or remove them."""
    if request.method == "POST":
        is_join = request.POST.get("do") == "join"
        return _join(request, email) if is_join else change_member(request, email)
    actor, is_you = request.actor, email.lower() == request.actor.email.lower()
    if not is_you:
        authorize(actor, P.MEMBERS_READ)
    member = (
        Membership.objects.select_related("user", "provider")
        .filter(user__email=email.lower())
        .first()
    )
    if member is None:
        raise NotFound(Message("{email} is not a member of this organization.", email=email))
    user, may_write = member.user, actor.may(P.MEMBERS_WRITE)
    if user.is_service:
        return redirect("service-account", request.org.slug, user.email.partition("@")[0])
    roles = org_roles_for(actor, request.org)
    jobs = visible_jobs(actor).filter(owner=user)
    return render(
        request,
        "jobs/person.html",
        {
            "page_title": user.display_name,
            "crumbs": [(Message("People", context="navigation"), f"/{request.org.slug}/people")],
            "member": member,
            "person": user,
            "is_you": is_you,
            "role": role_facts("org", member.role, read_custom_roles(request.org.id)),
            "roles": roles,
            "givable": {r.slug for r in roles},
            "questions": role_questions(roles),
            "may_write": may_write and not is_you,
            "may_see_factor": may_write or is_you,
            "numbers": _numbers(request, jobs, user.id),
            **_use(SubjectKind.USER, user.id, actor),
            "jobs": _rows(jobs),
            "quotas": selectors.limited_quotas("user", user.id, user.email)
            if is_you or actor.may(P.QUOTAS_WRITE)
            else None,
            "may_set_quota": actor.may(P.QUOTAS_WRITE),
            "access": (access := _access(request.org, member)),
            "joinable": _joinable(actor, {team["slug"] for team in access["teams"]}),
            "tokens": live_tokens().filter(user_id=user.id, attempt_id=None).count()
            if is_you or may_write
            else None,
            "events": _events(request, Q(subject_id=user.id) | Q(actor=user.email)),
        },
    )


@page(P.TEAMS_READ, READ_WRITE)
def team(request: Any, team: str) -> HttpResponse:
    """Show a team; add a member, or rename it."""
    row = team_named(team)
    if request.method == "POST":
        return _change_team(request, row)
    actor, roles = request.actor, team_roles_for(request.actor, row)
    jobs = visible_jobs(actor).filter(team=row)
    may_see_jobs = actor.may(P.JOBS_READ, row.id)
    return render(
        request,
        "jobs/team.html",
        {
            "page_title": row.name,
            "crumbs": [(Message("Teams", context="navigation"), f"/{request.org.slug}/teams")],
            "team_row": row,
            "members": selectors.members_of_team(row),
            "roles": roles,
            "givable": {r.slug for r in roles},
            "questions": role_questions(roles),
            "may_write": actor.may(P.MEMBERS_WRITE, row.id),
            "may_rename": actor.may(P.TEAMS_WRITE, row.id),
            "may_rule": actor.may(P.QUOTAS_WRITE),
            "candidates": selectors.candidates_for(row),
            "may_see_jobs": may_see_jobs,
            "may_notify": actor.may(P.JOBS_ADMIN, row.id),
            "numbers": _numbers(request, jobs, row.id),
            **_use(SubjectKind.TEAM, row.id, actor),
            "jobs": _rows(jobs.filter(state__lt=State.SUCCEEDED), "-state"),
            "quotas": selectors.limited_quotas("team", row.id, row.slug)
            if actor.may(P.QUOTAS_READ)
            else [],
            "rules": shown(row),
            "rule_lines": rule_lines(row),
            "may_invite": (may_invite := actor.may(P.MEMBERS_WRITE)),
            **(_invite_choices(request) if may_invite else {}),
            "secrets": [s for s in secrets_for(actor) if s["team"] == row.slug],
            "pools": _pools(actor, row),
            "events": _events(request, Q(subject_id=row.id)),
        },
    )


@page(None)
def secret(request: Any, where: str, secret: str) -> HttpResponse:
    """Show a secret: its versions, and the jobs that it was given to. Never its value."""
    actor, reference = request.actor, f"{where}/{secret}"
    row = next((s for s in secrets_for(actor) if s["reference"] == reference), None)
    if row is None:
        raise NotFound(Message("There is no secret {x} that you can see.", x=reference[:100]))
    return render(
        request,
        "jobs/secret.html",
        {
            "page_title": reference,
            "crumbs": [(Message("Secrets", context="navigation"), f"/{request.org.slug}/secrets")],
            "secret": row | use_of(SubjectKind.SECRET, [reference], actor)[reference],
            "last_used_at": row["last_used_at"],
            "may_write": where in writable(actor),
            "uses": jobs_given(actor, reference, USES) if row["last_used_at"] else [],
        },
    )


def _invite_choices(request: Any) -> dict[str, Any]:
    """Return the context of the dialog that invites people, beside the roles of this page."""
    found = invite_choices(request)
    return {"org_roles": found.pop("roles"), **found}


def _joinable(actor: Actor, joined: Collection[str]) -> list[Team]:
    """Return the teams to which the actor may add a person who is in these."""
    rows, teams = Team.objects.exclude(slug__in=joined), actor.teams_where(P.MEMBERS_WRITE)
    return list((rows if teams is None else rows.filter(id__in=teams)).order_by("name"))


def _join(request: Any, email: str) -> HttpResponse:
    """Add a person to a team, from their page."""

    def act() -> None:
        organization_services.add_team_member(
            actor=request.actor,
            team=team_named(request.POST.get("team", "")),
            email=email,
            role=TeamRole.MEMBER,
        )

    done = Message("{email} was added to {name}.", email=email, name=request.POST.get("team", ""))
    return action(request, request.path, done, act)


def _change_team(request: Any, row: Team) -> HttpResponse:
    if request.POST.get("do") == "rename":
        return action(
            request,
            request.path,
            Message("Team renamed."),
            lambda: organization_services.rename_team(
                actor=request.actor, team=row, name=request.POST.get("name", "")
            ),
        )
    email = request.POST.get("email", "").strip()
    return action(
        request,
        request.path,
        Message("{email} was added to {name}.", email=email, name=row.name),
        lambda: organization_services.add_team_member(
            actor=request.actor,
            team=row,
            email=email,
            role=request.POST.get("role", TeamRole.MEMBER),
        ),
    )


def _rows(jobs: QuerySet[Job], *order: str) -> list[JobShape]:
    return [job_row(job) for job in listed(jobs).order_by(*order, "-number")[:JOBS]]


def _numbers(request: Any, jobs: QuerySet[Job], whose: UUID) -> dict[str, Any]:
    """Return counts of the jobs now, and how many of 30 days succeeded.

    The latter are at most a minute old.
    """
    active = jobs.filter(state__lt=State.SUCCEEDED)
    counts = active.aggregate(
        running=Count("id", filter=Q(state__gt=State.QUEUED)),
        queued=Count("id", filter=Q(state=State.QUEUED)),
    )
    since = clock.now() - timedelta(days=30)
    ended = jobs.filter(state__in=(State.SUCCEEDED, State.FAILED), finished_at__gte=since)
    past = cache.get_or_set(
        f"ended-jobs:{request.org.id}:{whose}:{request.actor.user_id}",
        lambda: ended.aggregate(
            succeeded=Count("id", filter=Q(state=State.SUCCEEDED)), ended=Count("id")
        ),
        USE_FOR,
    )
    assert past is not None
    share = round(100 * past["succeeded"] / past["ended"]) if past["ended"] else None
    return counts | past | {"success": share}


def _use(kind: SubjectKind, subject: UUID, actor: Actor) -> dict[str, Any]:
    """Return what a subject uses, as its list says, and its GPU-hours by day for bars."""
    use, first = use_of(kind, [subject], actor)[subject], first_day()
    trend = use["trend"] or []
    top = max(trend, default=0) or 1
    days = [(first + timedelta(days=n), hours, 100 * hours / top) for n, hours in enumerate(trend)]
    return {"use": use, "days": days, "first_day": first.isoformat()}


def _access(org: Any, member: Membership) -> dict[str, Any]:
    """Return what a member may do in the organization and in each team."""
    own = read_custom_roles(org.id)
    seats = (
        TeamMembership.objects.filter(user_id=member.user_id)
        .select_related("team", "provider")
        .order_by("team__slug")
    )
    role = role_facts("org", member.role, own)
    return {
        "summary": role_summary(role),
        "acts": [texts()[p] for p in sorted(role.permissions)],
        "teams": [
            {
                "slug": seat.team.slug,
                "name": seat.team.name,
                "title": (held := role_facts("team", seat.role, own)).title,
                "summary": role_summary(held),
                "via": seat.provider.name if seat.provider else "",
            }
            for seat in seats
        ],
    }


def _pools(actor: Any, team: Team) -> list[Any]:
    """Return the pools in which the team can run."""
    seen = pools_visible_to(actor)
    granted = teams_of(seen)
    return [pool for pool in seen if pool.is_open or team.slug in granted[pool.id]]


def _events(request: Any, about: Q) -> list[EventLine] | None:
    """Return the latest events, None for those who may not read the audit log."""
    if not request.actor.may(P.AUDIT_READ):
        return None
    rows = events_of(request.org.id).filter(about).order_by("-position")
    return event_lines(list(rows[:EVENTS]), request.org)
