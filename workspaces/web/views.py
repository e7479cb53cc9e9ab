"""Pages: teams, members, and the start page."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from portal.core.errors import NotFound
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from portal.web.undo import Undo
from workspaces.access.custom_roles import read_custom_roles
from workspaces.access.permissions import OrgRole
from workspaces.access.permissions import Permission as P
from workspaces.access.roles import role_facts
from workspaces.lists import MEMBERS, TEAMS
from workspaces.models import Team
from workspaces.organizations import invitations, selectors
from workspaces.organizations import services as organization_services
from workspaces.organizations.invitation_links import invite_url
from workspaces.organizations.invitations import NewInvitation
from workspaces.web.base import action, local_path, page
from workspaces.web.invitations import invite_choices, invite_people
from workspaces.web.one_time_forms import is_resubmitted, release_on_failure

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
            Message("Team {slug} created. Add people on its page.", slug=slug),
            lambda: organization_services.create_team(
                actor=request.actor, org=request.org, slug=slug, name=request.POST.get("name", "")
            ),
        )
    return TEAMS.render(
        request,
        "workspaces/teams.html",
        {
            "page_title": Message("Teams", context="page title"),
            "may_write": request.actor.may(P.TEAMS_WRITE),
        },
    )


@page(None, POST)
def change_team_member(request: Any, team: str, email: str) -> HttpResponse:
    """Change a team member's role, or remove them."""
    row = team_named(team)
    back = local_path(request.POST.get("back", ""), f"/{request.org.slug}/teams/{row.slug}")
    if request.POST.get("remove"):
        return action(
            request,
            back,
            Message("{email} was removed from {name}.", email=email, name=row.name),
            lambda: organization_services.remove_team_member(
                actor=request.actor, team=row, email=email
            ),
        )
    role, before = request.POST.get("role", ""), selectors.team_role_of(row, email)
    return action(
        request,
        back,
        _role_text("team", request.org, email, before, role),
        lambda: organization_services.change_team_member(
            actor=request.actor,
            team=row,
            email=email,
            role=role,
            was=request.POST.get("was", ""),
        ),
        _undo_role(request, email, before, back),
    )


@page(MEMBERS.permission, READ_WRITE)
def members(request: Any) -> HttpResponse:
    """List and add members."""
    context: dict[str, Any] = {
        "page_title": Message("People", context="page title"),
        **invite_choices(request),
        "names": dict(Team.objects.values_list("slug", "name")),
        "may_write": request.actor.may(P.MEMBERS_WRITE),
        "may_rule": request.actor.may(P.ORG_ADMIN),
    }
    if request.POST.get("do") == "invite":
        if is_resubmitted(request):
            return redirect(request.path)
        with FormErrors(request), release_on_failure(request):
            context["made"] = invite_people(request)
    elif request.method == "POST":
        with FormErrors(request):
            row = invitations.add_or_invite(
                actor=request.actor,
                org=request.org,
                email=request.POST.get("email", ""),
                name=request.POST.get("name", "").strip(),
                role=request.POST.get("role", OrgRole.MEMBER),
                team=request.POST.get("team", ""),
            )
            if isinstance(row, NewInvitation):
                context["asked"] = {
                    "email": row.row.email,
                    "url": row.url,
                    "until": row.row.expires_at,
                }
            elif link := invite_url(row.user):  # shown once, in this response
                context["invite"] = {"email": row.user.email, "url": link}
            else:
                messages.success(
                    request,
                    Message(
                        "{email} was added to {name}.", email=row.user.email, name=request.org.name
                    ),
                )
                return redirect(request.path)
    context["list"] = shown = MEMBERS.shown(request.actor, request.GET)
    context["number"] = selectors.number_of_members()
    if context["may_write"]:
        context["weak"] = selectors.without_second_factor([row["email"] for row in shown.rows])
    return MEMBERS.render(request, "workspaces/members.html", context)


def change_member(request: Any, email: str) -> HttpResponse:
    """Change a member's role, suspend, restore or remove them: the form of a person's page."""
    people = f"/{request.org.slug}/people"
    back = local_path(request.POST.get("back", ""), f"{people}/{email}")
    do = "remove" if request.POST.get("remove") else request.POST.get("do", "")
    who = {"actor": request.actor, "org": request.org, "email": email}
    if do == "remove":
        back = people if back.startswith(f"{people}/") else back
        done = Message("{email} was removed. Their jobs stay.", email=email)
        return action(request, back, done, lambda: organization_services.remove_member(**who))
    if do == "suspend":
        done = Message("{email} is suspended. Their tokens no longer work.", email=email)
        undo = Undo(f"{people}/{email}", {"do": "restore", "back": back})
        return action(
            request, back, done, lambda: organization_services.suspend_member(**who), undo
        )
    if do == "restore":
        done = Message("{email} is active again.", email=email)
        return action(request, back, done, lambda: organization_services.restore_member(**who))
    role, before = request.POST.get("role", ""), selectors.org_role_of(email)
    return action(
        request,
        back,
        _role_text("org", request.org, email, before, role),
        lambda: organization_services.change_member(
            **who, role=role, was=request.POST.get("was", "")
        ),
        _undo_role(request, email, before, back),
    )


def _role_text(kind: str, org: Any, email: str, before: str, role: str) -> Message:
    """Say which role somebody had and has."""
    own = read_custom_roles(org.id)
    return Message(
        "Role updated: {email}, {before} → {after}.",
        email=email,
        before=Message(role_facts(kind, before, own).title),
        after=Message(role_facts(kind, role, own).title),
    )


def _undo_role(request: Any, email: str, before: str, back: str) -> Undo | None:
    """Offer the former role; not to those who changed their own, and may no longer change it."""
    if not before or email.lower() == request.actor.email.lower():
        return None
    role = request.POST.get("role", "")
    return Undo(request.path, {"role": before, "was": role, "back": back})


@page()
def moved(request: Any, rest: str = "") -> HttpResponse:
    """Redirect the former addresses of the people's pages."""
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    path = f"/{request.org.slug}/people" + (f"/{rest}" if rest else "")
    return redirect(path + query)


@page(P.ORG_ADMIN, POST)
def org_rules(request: Any) -> HttpResponse:
    """Set whether members need a second factor."""
    is_required = request.POST.get("requires_second_factor") == "1"
    done = (
        Message("Two-factor authentication is now required for everyone.")
        if is_required
        else Message("Two-factor authentication is no longer required.")
    )
    return action(
        request,
        f"/{request.org.slug}/people",
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
