"""Pages: table of roles, custom roles, and explanations of access."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from portal.core.errors import NotFound, PortalError
from portal.core.messages import Message
from portal.web.denials import record_denied_request
from portal.web.form_errors import FormErrors
from portal.web.undo import Undo
from workspaces.access import services as access_services
from workspaces.access.check import (
    AccessObject,
    about_named,
    explain_in_own_teams,
    explain_person,
    permission_named,
)
from workspaces.access.custom_roles import read_custom_roles
from workspaces.access.explanation import as_data
from workspaces.access.permissions import OPERATORS_ONLY, AppPermission, all_permissions, texts
from workspaces.access.permissions import Permission as P
from workspaces.access.role_presets import role_presets
from workspaces.access.roles import grantable, role_facts
from workspaces.access.services import holders
from workspaces.access.whatif import difference_row, preview_role
from workspaces.approvals.selectors import names_of
from workspaces.models import Role, Team
from workspaces.organizations import selectors
from workspaces.web.base import action, page
from workspaces.web.role_texts import role_summary
from workspaces.web.views import READ_WRITE, team_named

EVERYWHERE = "*"  # instead of a team
_COLUMNS = {
    "org": Message("In the organization"),
    "team": Message("In a team", context="where a role holds"),
}


@page(P.MEMBERS_READ, READ_WRITE)
def roles(request: Any) -> HttpResponse:
    """Show all roles with their permissions, and create one."""
    form: dict[str, Any] = {
        name: request.POST.get(name, "").strip() for name in ("slug", "name", "kind")
    }
    form["permissions"] = request.POST.getlist("permissions")
    form["preset"] = request.POST.get("preset", "" if request.method == "POST" else "researcher")
    if request.method == "POST":
        with FormErrors(request):
            row = access_services.create_role(
                actor=request.actor,
                org=request.org,
                slug=form["slug"],
                name=form["name"],
                kind=form["kind"],
                permissions=[form["preset"]] if form["preset"] else form["permissions"],
            )
            messages.success(
                request,
                Message(
                    "Role {name} created. Assign it on the People page or on a team's page.",
                    name=row.name,
                ),
            )
            return redirect(f"/{request.org.slug}/roles/{row.slug}")
    found, own = selectors.roles_here(request.org), read_custom_roles(request.org.id)
    tables = [
        {
            "title": title,
            "roles": (of := [r for r in found if r["kind"] == kind]),
            "summaries": [(r, role_summary(role_facts(kind, r["slug"], own))) for r in of],
            "groups": _matrix(of),
        }
        for kind, title in _COLUMNS.items()
    ]
    return render(
        request,
        "workspaces/roles.html",
        {
            "page_title": Message("Roles", context="page title"),
            "tables": tables,
            "form": form,
            "choices": _choices(request.actor, form["permissions"]),
            "presets": _presets(request.actor),
            "may_write": request.actor.may(P.ROLES_WRITE),
        },
    )


@page(P.MEMBERS_READ, READ_WRITE)
def role(request: Any, role: str) -> HttpResponse:
    """Show a custom role and its members; change it with a preview, or delete it."""
    row = Role.objects.filter(slug=role).first()
    if row is None:
        raise NotFound(Message("There is no custom role {x}.", x=repr(role[:40])))
    wanted, back = request.POST.getlist("permissions"), f"/{request.org.slug}/roles"
    do = request.POST.get("do", "")
    if do == "delete":
        return action(
            request,
            back,
            Message("Role {name} deleted.", name=row.name),
            lambda: access_services.delete_role(actor=request.actor, org=request.org, slug=role),
        )
    was = request.POST.get("was", " ".join(row.permissions))
    if do == "save":
        return action(
            request,
            request.path,
            Message("Role updated for everyone who has it."),
            lambda: access_services.change_role(
                actor=request.actor,
                org=request.org,
                slug=role,
                name=request.POST.get("name", ""),
                permissions=wanted,
                was=was.split(),
            ),
            Undo(
                request.path,
                {
                    "do": "save",
                    "name": row.name,
                    "permissions": list(row.permissions),
                    "was": " ".join(wanted),
                },
            ),
        )
    looked = request.method == "POST"
    return render(
        request,
        "workspaces/role.html",
        {
            "page_title": row.name,
            "crumbs": [(Message("Roles", context="navigation"), back)],
            "role": selectors.role_here(request.org, role),
            "holders": holders(row),
            "name": request.POST.get("name", row.name),
            "choices": _choices(request.actor, wanted if looked else row.permissions),
            "may_write": request.actor.may(P.ROLES_WRITE),
            "looked": looked,
            "was": was,
            "differences": [difference_row(one) for one in preview_role(request.org, role, wanted)]
            if looked
            else [],
        },
    )


@page(None)
def access(request: Any) -> HttpResponse:
    """Explain why a user may or may not do something. The question is in the URL.

    Without a team it is about the user's own teams; "*" stands for the whole organization.
    """
    query = {
        name: request.GET.get(name, "").strip()[:254]
        for name in ("user", "permission", "team", "about")
    }
    query["user"] = query["user"] or request.actor.email
    teams = list(Team.objects.order_by("slug")) if request.actor.may(P.TEAMS_READ) else []
    is_own = query["user"].lower() == request.actor.email.lower()
    may_see = is_own or request.actor.may(P.MEMBERS_READ)
    own = selectors.team_slugs_of(query["user"]) if may_see else set()
    context: dict[str, Any] = {
        "page_title": Message("Check access", context="page title"),
        "crumbs": [(Message("People", context="navigation"), f"/{request.org.slug}/people")],
        "asked": query,
        "groups": _grouped(list(P)),
        "chosen": query["permission"] or "jobs:submit",
        "own_teams": [team for team in teams if team.slug in own],
        "other_teams": [team for team in teams if team.slug not in own],
        "people": selectors.names_of_members() if request.actor.may(P.MEMBERS_READ) else [],
    }
    if query["permission"]:
        try:
            context |= _answer(request, query)
        except PortalError as error:
            record_denied_request(request, error)
            context["fault"] = error.message
    return render(
        request, "workspaces/access.html", context, status=200 if "fault" not in context else 400
    )


def _answer(request: Any, asked: dict[str, str]) -> dict[str, Any]:
    about: AccessObject | None = (
        about_named(request.actor, request.org, asked["about"]) if asked["about"] else None
    )
    question = {
        "asker": request.actor,
        "org": request.org,
        "email": asked["user"],
        "permission": permission_named(asked["permission"]),
    }
    if about or asked["team"]:
        team = None if about or asked["team"] == EVERYWHERE else team_named(asked["team"])
        found = [explain_person(**question, team=team, about=about)]
    else:
        found = explain_in_own_teams(**question)
    first, *others = [as_data(one) for one in found]
    words = [
        f"muster access why {first['person']} {asked['permission']}",
        f"--team {first['team']}" if first["team"] and not about else "",
        f"--job {asked['about'].partition(':')[2]}" if about else "",
    ]
    return {
        "answer": first,
        "others": others,
        "about": about,
        "names": names_of([first["person"]]) | dict(Team.objects.values_list("slug", "name")),
        "command": " ".join(word for word in words if word),
    }


def _matrix(roles: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of permissions by noun, with a cell for each role."""
    rows = [p for p in all_permissions() if p not in OPERATORS_ONLY]
    return [
        {
            "noun": group["noun"],
            "rows": [
                row | {"cells": [row["permission"] in role["permissions"] for role in roles]}
                for row in group["rows"]
            ],
        }
        for group in _grouped(rows)
    ]


def _choices(actor: Any, chosen: Any) -> list[dict[str, Any]]:
    """Return the permissions a custom role may grant, and whether this actor may add them."""
    held = actor.granted()
    return [
        {
            "noun": group["noun"],
            "rows": [
                row
                | {"is_chosen": row["permission"] in chosen, "is_held": row["permission"] in held}
                for row in group["rows"]
            ],
        }
        for group in _grouped([*grantable().values()])
    ]


def _presets(actor: Any) -> list[dict[str, Any]]:
    """Return the purposes of roles in words, and which of them this actor can't give."""
    held = actor.granted()
    return [
        {
            "name": preset.name,
            "title": preset.title,
            "about": preset.about,
            "sets": {
                "permissions": sorted(map(str, preset.permissions)),
                "kind": preset.kind,
            },
            "why_not": ""
            if preset.permissions <= held
            else Message("You don't have all of its permissions yourself."),
        }
        for preset in role_presets()
    ]


def _grouped(permissions: list[AppPermission]) -> list[dict[str, Any]]:
    return [
        {
            "noun": noun,
            "rows": [{"permission": str(p), "words": texts().get(p, str(p))} for p in group],
        }
        for noun, group in groupby(sorted(permissions), key=lambda p: p.partition(":")[0])
    ]
