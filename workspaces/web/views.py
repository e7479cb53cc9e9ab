"""Pages: teams, members, and the start page."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from portal.core.errors import NotFound, PortalError
from portal.core.messages import Message
from portal.web.denials import record_denied_request
from workspaces.access.permissions import OrgRole, TeamRole
from workspaces.access.permissions import Permission as P
from workspaces.access.role_grants import org_roles_for, team_roles_for
from workspaces.lists import MEMBERS, TEAMS
from workspaces.models import Team
from workspaces.organizations import invitations, selectors
from workspaces.organizations import services as organization_services
from workspaces.organizations.invitation_links import invite_url
from workspaces.organizations.invitations import NewInvitation
from workspaces.web.base import action, page, show_error

READ_WRITE = ("GET", "HEAD", "POST")
POST = ("POST",)


def start(request: HttpRequest) -> HttpResponse:
    """Redirect / to the sign-in page, or to the last or first organization."""
    actor = request.actor  # type: ignore[attr-defined]
    if actor is None:
        return redirect("account_login")
    orgs = selectors.orgs_of(actor)
    if not orgs:
        return render(
            request,
            "workspaces/no_org.html",
            {
                "page_title": Message("No organization yet"),
                "suspensions": selectors.suspensions_of(actor),
            },
        )
    last = request.COOKIES.get(settings.MUSTER_ORG_COOKIE_NAME, "")
    return redirect("home", org=last if any(o["slug"] == last for o in orgs) else orgs[0]["slug"])


@page(TEAMS.permission, READ_WRITE)
def teams(request: Any) -> HttpResponse:
    """List and create teams."""
    if request.method == "POST":
        slug = request.POST.get("slug", "").strip()
        return action(
            request,
            request.path,
            Message("Team {slug} is there. Bring people in on its page.", slug=slug),
            lambda: organization_services.create_team(
                actor=request.actor, org=request.org, slug=slug, name=request.POST.get("name", "")
            ),
        )
    return TEAMS.render(
        request,
        "workspaces/teams.html",
        {"page_title": Message("Teams"), "may_write": request.actor.may(P.TEAMS_WRITE)},
    )


@page(P.TEAMS_READ, READ_WRITE)
def team(request: Any, team: str) -> HttpResponse:
    """Show a team: members and usage."""
    row = team_named(team)
    if request.method == "POST":
        email = request.POST.get("email", "").strip()
        return action(
            request,
            request.path,
            Message("{email} is in {name} now.", email=email, name=row.name),
            lambda: organization_services.add_team_member(
                actor=request.actor,
                team=row,
                email=email,
                role=request.POST.get("role", TeamRole.MEMBER),
            ),
        )
    roles = team_roles_for(request.actor, row)
    return render(
        request,
        "workspaces/team.html",
        {
            "page_title": row.name,
            "crumbs": [(Message("Teams"), f"/{request.org.slug}/teams")],
            "team_row": row,
            "members": selectors.members_of_team(row),
            "roles": roles,
            "givable": {r.slug for r in roles},
            "may_write": request.actor.may(P.MEMBERS_WRITE, row.id),
            "candidates": selectors.candidates_for(row),
            "quotas": [
                q
                for q in selectors.quotas_for(request.actor)
                if q["scope"] == "team" and q["subject"] == row.slug
            ],
        },
    )


@page(None, POST)
def change_team_member(request: Any, team: str, email: str) -> HttpResponse:
    """Change a team member's role, or remove them."""
    row = team_named(team)
    back = f"/{request.org.slug}/teams/{row.slug}"
    if request.POST.get("remove"):
        return action(
            request,
            back,
            Message("{email} is no longer in {name}.", email=email, name=row.name),
            lambda: organization_services.remove_team_member(
                actor=request.actor, team=row, email=email
            ),
        )
    role = request.POST.get("role", "")
    return action(
        request,
        back,
        Message("{email} has another role in {name} now.", email=email, name=row.name),
        lambda: organization_services.change_team_member(
            actor=request.actor, team=row, email=email, role=role
        ),
    )


@page(MEMBERS.permission, READ_WRITE)
def members(request: Any) -> HttpResponse:
    """List and add members."""
    roles = org_roles_for(request.actor, request.org)
    context: dict[str, Any] = {
        "page_title": Message("Members"),
        "roles": roles,
        "givable": {r.slug for r in roles},
        "may_write": request.actor.may(P.MEMBERS_WRITE),
        "may_rule": request.actor.may(P.ORG_ADMIN),
    }
    if request.method == "POST":
        try:
            row = invitations.add_or_invite(
                actor=request.actor,
                org=request.org,
                email=request.POST.get("email", ""),
                name=request.POST.get("name", "").strip(),
                role=request.POST.get("role", OrgRole.MEMBER),
            )
        except PortalError as error:
            record_denied_request(request, error)
            show_error(request, error)
            return redirect(request.path)
        if isinstance(row, NewInvitation):
            context["asked"] = {"email": row.row.email, "url": row.url, "until": row.row.expires_at}
        elif link := invite_url(row.user):  # shown once, in this response
            context["invite"] = {"email": row.user.email, "url": link}
        else:
            messages.success(
                request,
                Message(
                    "{email} belongs to {name} now.", email=row.user.email, name=request.org.name
                ),
            )
            return redirect(request.path)
    context["list"] = shown = MEMBERS.shown(request.actor, request.GET)
    context["number"] = selectors.number_of_members()
    if context["may_write"]:
        context["weak"] = selectors.without_second_factor([row["email"] for row in shown.rows])
    return MEMBERS.render(request, "workspaces/members.html", context)


@page(None, POST)
def change_member(request: Any, email: str) -> HttpResponse:
    """Change a member's role, or remove them from the organization."""
    back = f"/{request.org.slug}/members" + (f"?{request.GET.urlencode()}" if request.GET else "")
    if request.POST.get("remove"):
        return action(
            request,
            back,
            Message("{email} is no longer a member. Their jobs stay.", email=email),
            lambda: organization_services.remove_member(
                actor=request.actor, org=request.org, email=email
            ),
        )
    role = request.POST.get("role", "")
    return action(
        request,
        back,
        Message("{email} has another role now.", email=email),
        lambda: organization_services.change_member(
            actor=request.actor, org=request.org, email=email, role=role
        ),
    )


@page(P.ORG_ADMIN, POST)
def org_rules(request: Any) -> HttpResponse:
    """Set whether members need a second factor."""
    is_required = request.POST.get("requires_second_factor") == "1"
    done = (
        Message("From now on everybody needs a second factor here.")
        if is_required
        else Message("A second factor is no longer required here.")
    )
    return action(
        request,
        f"/{request.org.slug}/members",
        done,
        lambda: organization_services.require_second_factor(
            actor=request.actor, org=request.org, is_required=is_required
        ),
    )


def team_named(slug: str) -> Team:
    """Return a team of the current organization. Raises NotFound."""
    row = Team.objects.filter(slug=slug).first()
    if row is None:
        raise NotFound(Message("There is no team {x} here.", x=repr(slug[:40])))
    return row  # type: ignore[no-any-return]
