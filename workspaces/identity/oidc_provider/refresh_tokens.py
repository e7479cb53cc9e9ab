"""Refresh tokens of applications: each counts once, all of a sign-in end a month after it, and who shows a spent one ends them all.

allauth makes a new one at each use and deletes the former. Deleted, it could not be known again; so it stays as a row of its own type,
which opens nothing, until it would have ended."""

from __future__ import annotations

from typing import Any

import orjson
from allauth.idp.oidc.adapter import get_adapter
from allauth.idp.oidc.models import Token
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from portal.core.events import Fact, record

SPENT = "sp"


def refreshed(request: HttpRequest, answer: Any) -> HttpResponse:
    """What `answer()` makes of a request for fresh tokens. Of two requests with one token at a time, one waits and is the second."""
    digest = get_adapter().hash_token(request.POST.get("refresh_token", ""))
    former = (
        Token.objects.select_for_update().filter(type=Token.Type.REFRESH_TOKEN, hash=digest).first()
    )
    response: HttpResponse = answer()
    if response.status_code == 200 and former is not None:
        return _continued(response, former)
    if (
        response.status_code == 400
        and orjson.loads(response.content).get("error") == "invalid_grant"
    ):
        _replayed(digest)
    return response


def _continued(response: HttpResponse, former: Token) -> HttpResponse:
    """The new one ends when the former would have."""
    Token.objects.create(
        type=SPENT,
        hash=former.hash,
        client_id=former.client_id,
        user_id=former.user_id,
        expires_at=former.expires_at,
    )
    told = orjson.loads(response.content)
    made = get_adapter().hash_token(told.get("refresh_token", ""))
    Token.objects.filter(type=Token.Type.REFRESH_TOKEN, hash=made).update(
        expires_at=former.expires_at
    )
    if former.expires_at is not None:
        told["refresh_expires_in"] = max(
            0, int((former.expires_at - timezone.now()).total_seconds())
        )
    response.content = orjson.dumps(told)
    return response


def _replayed(digest: str) -> None:
    """Somebody has a token that was used: the application, or who took it from there. Nobody can tell, so all of that person's end."""
    spent = Token.objects.filter(type=SPENT, hash=digest).first()
    if spent is None:
        return
    count, _ = (
        Token.objects.filter(client_id=spent.client_id, user_id=spent.user_id)
        .exclude(type=SPENT)
        .delete()
    )
    record(
        Fact(
            "application.token_replayed",
            None,
            "user",
            spent.user_id,
            "",
            {"client_id": spent.client_id, "tokens": count},
        )
    )
