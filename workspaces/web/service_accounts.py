"""Pages: service accounts, their roles and their tokens."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import OrgRole
from workspaces.access.permissions import Permission as P
from workspaces.access.role_grants import org_roles_for
from workspaces.access.roles import RoleFacts
from workspaces.credentials import service_accounts as service_accounts_services
from workspaces.lists import SERVICE_ACCOUNTS, service_tokens
from workspaces.models import ServiceAccount
from workspaces.organizations import selectors
from workspaces.web.base import action, page
from workspaces.web.one_time_forms import is_resubmitted, release_on_failure
from workspaces.web.tokens import new_token_context, params_in

READ_WRITE = ("GET", "HEAD", "POST")


@page(SERVICE_ACCOUNTS.permission, READ_WRITE)
def service_accounts(request: Any) -> HttpResponse:
    """List and create service accounts."""
    if request.method == "POST":
        name, given = request.POST.get("name", "").strip(), request.POST
        return action(
            request,
            f"{request.path}/{name}",
            Message(
                "{name} created. Create a token for it here, and add it to teams on their pages.",
                name=name,
            ),
            lambda: service_accounts_services.create_service_account(
                actor=request.actor,
                org=request.org,
                name=name,
                note=given.get("note", ""),
                role=given.get("role", OrgRole.MEMBER),
            ),
            refused=request.path,
        )
    return SERVICE_ACCOUNTS.render(
        request,
        "workspaces/service_accounts.html",
        {
            "page_title": Message("Service accounts", context="page title"),
            "roles": _roles(request),
            "may_write": request.actor.may(P.MEMBERS_WRITE),
        },
    )


@page(P.MEMBERS_READ, READ_WRITE)
def service_account(request: Any, account: str) -> HttpResponse:
    """Show a service account: role, teams, tokens; create tokens, change or remove it."""
    row = selectors.service_account(account)
    made, do = None, request.POST.get("do", "")
    if request.method == "POST" and do == "token":
        if is_resubmitted(request):
            return redirect(request.path)
        with FormErrors(request), release_on_failure(request):
            new = service_accounts_services.create_service_token(
                actor=request.actor, account=row, params=params_in(request)
            )
            made = selectors.token_row(new.row) | {"token": new.secret}
    elif request.method == "POST":
        return _changed(request, row, do)
    return render(
        request, "workspaces/service_account.html", _context(request, row) | {"made": made}
    )


def _changed(request: Any, row: ServiceAccount, do: str) -> HttpResponse:
    if do == "remove":
        return action(
            request,
            f"/{request.org.slug}/service-accounts",
            Message("{name} deleted. Its tokens no longer work; its jobs stay.", name=row.name),
            lambda: service_accounts_services.remove_service_account(
                actor=request.actor, account=row
            ),
        )
    if do != "change":
        raise InvalidInput(Message("The form names nothing that can be done here."))
    return action(
        request,
        request.path,
        Message("{name} saved.", context="message", name=row.name),
        lambda: service_accounts_services.change_service_account(
            actor=request.actor,
            account=row,
            role=request.POST.get("role"),
            note=request.POST.get("note"),
        ),
    )


def _roles(request: Any) -> list[RoleFacts]:
    return [
        role for role in org_roles_for(request.actor, request.org) if role.slug != OrgRole.OWNER
    ]


def _context(request: Any, row: ServiceAccount) -> dict[str, Any]:
    may_write = request.actor.may(P.MEMBERS_WRITE)
    shown = selectors.service_account_rows([row], request.actor)[0]
    return {
        "page_title": row.name,
        "crumbs": [
            (
                Message("Service accounts", context="navigation"),
                f"/{request.org.slug}/service-accounts",
            )
        ],
        "account": shown,
        "roles": _roles(request),
        "may_write": may_write,
        **new_token_context(request, "ci"),
        "clusters": [],
        "list": service_tokens(row).shown(request.actor, request.GET) if may_write else None,
        "teams": shown["teams"],
    }
