"""Pages: manage and accept invitations."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from allauth.account.utils import perform_login
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from portal.core.errors import InvalidInput, NotFound, PortalError
from portal.core.messages import Message
from portal.web.denials import record_denied_request
from portal.web.errors import answer
from portal.web.form_errors import FormErrors
from workspaces.access.custom_roles import read_custom_roles
from workspaces.access.permissions import OrgRole, TeamRole
from workspaces.access.role_grants import org_roles_for
from workspaces.access.roles import roles_of
from workspaces.lists import INVITATIONS
from workspaces.models import Invitation
from workspaces.organizations import invitations as invitations_services
from workspaces.organizations import selectors
from workspaces.organizations.invitation_links import can_mail, send_invitation
from workspaces.organizations.invitations import NewInvitation, invitation_of, needs_account
from workspaces.web.base import action, page
from workspaces.web.one_time_forms import is_resubmitted, release_on_failure
from workspaces.web.tokens import whole

MOST = 50  # addresses of one form


@page(INVITATIONS.permission, ("GET", "HEAD", "POST"))
def invitations(request: Any) -> HttpResponse:
    """List, create, renew and revoke invitations. A link is shown once, in this response."""
    do, made = request.POST.get("do", "invite"), []
    if request.method == "POST" and do == "revoke":
        return action(
            request,
            request.path,
            Message("Invitation revoked."),
            lambda: invitations_services.revoke_invitation(
                actor=request.actor, invitation_id=_id(request)
            ),
        )
    if request.method == "POST":
        if is_resubmitted(request):
            return redirect(request.path)
        with FormErrors(request), release_on_failure(request):
            made = (
                invite_people(request)
                if do == "invite"
                else [
                    _sent(
                        request,
                        invitations_services.renew_invitation(
                            actor=request.actor, invitation_id=_id(request)
                        ),
                    )
                ]
            )
    return INVITATIONS.render(
        request,
        "workspaces/invitations.html",
        {
            "page_title": Message("Invitations", context="page title"),
            "crumbs": [(Message("People", context="navigation"), f"/{request.org.slug}/people")],
            "made": made,
            **invite_choices(request),
        },
    )


def invite_choices(request: Any) -> dict[str, Any]:
    """Return the context of `workspaces/_invite_dialog.html`."""
    return {
        "roles": org_roles_for(request.actor, request.org),
        "team_roles": list(roles_of("team", read_custom_roles(request.org.id))),
        "teams": selectors.teams_for(request.actor),
        "can_mail": can_mail(),
    }


def invite_people(request: Any) -> list[dict[str, Any]]:
    """Invite the addresses of the dialog, all or none. Return their links, which are shown once."""
    given = request.POST
    teams = {given["team"]: given.get("team_role", TeamRole.MEMBER)} if given.get("team") else {}
    emails = list(dict.fromkeys(re.split(r"[\s,;]+", given.get("email", "").strip(" ,;\r\n"))))
    if len(emails) > MOST:
        raise InvalidInput.at(
            "email", Message("Invite at most {n} people at once, or import a file.", n=MOST)
        )
    with transaction.atomic():
        made = [
            invitations_services.invite(
                actor=request.actor,
                org=request.org,
                email=email,
                role=given.get("role", OrgRole.MEMBER),
                teams=teams,
                days=whole(request, "days", "7"),
            )
            for email in emails
        ]
    return [_sent(request, one) for one in made]


def _sent(request: Any, made: NewInvitation) -> dict[str, Any]:
    wants_mail = request.POST.get("send") == "1" and can_mail()
    return {
        "email": made.row.email,
        "url": made.url,
        "until": made.row.expires_at,
        "wants_mail": wants_mail,
        "is_sent": wants_mail and send_invitation(made, request.actor.email),
    }


def _id(request: Any) -> UUID:
    try:
        return UUID(request.POST.get("id", ""))
    except ValueError:
        raise NotFound(Message("There is no such invitation.")) from None


@never_cache
@sensitive_post_parameters("password", "password_again")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: Any, text: str) -> HttpResponse:
    """Show an invitation to whoever has the link.

    GET does not accept it: mail servers follow links, too.
    """
    try:
        row = invitation_of(text)
    except PortalError as error:
        record_denied_request(request, error)
        return answer(request, error)
    if request.method == "POST":
        with FormErrors(request):
            return _accepted(request, row, text)
    actor = request.actor
    if actor is None and not needs_account(row):
        return redirect_to_login(request.get_full_path())
    is_theirs = actor is not None and actor.email.lower() == row.email
    return render(
        request,
        "account/invitation.html",
        {
            "invitation": row,
            "who": actor,
            "is_theirs": is_theirs,
            "name": request.POST.get("name", row.name),
        },
    )


def _accepted(request: Any, row: Invitation, text: str) -> HttpResponse:
    if request.actor is not None:
        return redirect("home", org=invitations_services.accept(text=text, user=request.user).slug)
    given = request.POST
    if given.get("password", "") != given.get("password_again", ""):
        raise InvalidInput.at("password_again", Message("The two passwords differ."))
    user = invitations_services.claim(
        text=text, name=given.get("name", ""), password=given.get("password", "")
    )
    return perform_login(request, user, redirect_url=f"/{row.org.slug}/")  # type: ignore[no-any-return]
