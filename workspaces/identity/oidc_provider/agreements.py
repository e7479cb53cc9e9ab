"""Consents that users gave to applications, and their withdrawal.

Withdrawing a consent revokes the tokens that the application got through it.
"""

from __future__ import annotations

from typing import Any

import orjson
from allauth.idp.oidc.adapter import get_adapter
from allauth.idp.oidc.models import Token
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_http_methods

from portal.core.errors import NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.identity.oidc_provider.adapter import SCOPES
from workspaces.models import Consent, User
from workspaces.web.base import action


def consents_of(user: User) -> list[dict[str, Any]]:
    """Return a user's consents by application name, with descriptions of the scopes."""
    rows = (
        Consent.objects.filter(user=user)
        .select_related("client")
        .order_by("client__name", "client_id")
    )
    return [
        {
            "client_id": row.client_id,
            "name": row.client.name,
            "given_at": row.given_at,
            "scopes": [words for scope, words in SCOPES.items() if scope in row.scopes],
        }
        for row in rows
    ]


@transaction.atomic
def withdraw_consent(*, user: User, client_id: str) -> None:
    """Withdraw a consent and revoke the application's tokens of this user. Raises NotFound."""
    row = Consent.objects.select_for_update().filter(user=user, client_id=client_id).first()
    if row is None:
        raise NotFound(_("You haven't granted access to this application."))
    count, _by = Token.objects.filter(user=user, client_id=client_id).delete()
    row.delete()
    record(
        EventRecord(
            "application.agreement_taken_back",
            None,
            "user",
            user.id,
            user.email,
            {
                "client_id": client_id,
                "tokens": count,
                "before": {"scopes": row.scopes},
                "after": None,
            },
        )
    )


def discard_without_consent(response: HttpResponse) -> HttpResponse:
    """Discard new tokens if the consent was withdrawn while their code or refresh was pending.

    Runs under a lock on the consent, in the request's transaction.
    """
    if response.status_code != 200:
        return response
    digest = get_adapter().hash_token(orjson.loads(response.content).get("access_token", ""))
    made = (
        Token.objects.filter(type=Token.Type.ACCESS_TOKEN, hash=digest)
        .select_related("client")
        .first()
    )
    if (
        made is None
        or made.client.skip_consent
        or Consent.objects.select_for_update()
        .filter(user=made.user_id, client=made.client_id)
        .first()
    ):
        return response
    Token.objects.filter(user=made.user_id, client=made.client_id).delete()
    return JsonResponse(
        {"error": "invalid_grant", "error_description": Message("The consent was withdrawn.")},
        status=400,
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def agreements(request: Any) -> HttpResponse:
    """List the user's consents; POST with `client_id` withdraws one."""
    if request.method == "POST":
        return action(
            request,
            request.path,
            _("Access revoked. The application must ask you again."),
            lambda: withdraw_consent(
                user=request.user, client_id=request.POST.get("client_id", "")
            ),
        )
    return render(
        request,
        "account/agreements.html",
        {"page_title": pgettext("page title", "Connected apps"), "rows": consents_of(request.user)},
    )
