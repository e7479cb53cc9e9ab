"""Detect reuse of applications' refresh tokens.

Each token is valid once, all tokens of a sign-in expire a month after it, and reuse revokes them
all. allauth deletes a token when it is used, so its hash is kept until it would have expired, in a
row of its own type that grants nothing.
"""

from __future__ import annotations

from typing import Any

import orjson
from allauth.idp.oidc.adapter import get_adapter
from allauth.idp.oidc.models import Token
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from portal.core.events import EventRecord, record

SPENT = "sp"


def refreshed(request: HttpRequest, answer: Any) -> HttpResponse:
    """Process a refresh request by `answer()`, one request for a token at a time."""
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
    """Remember the used token, and give the new one the same expiry time."""
    Token.objects.create(
        type=SPENT,
        hash=former.hash,
        client_id=former.client_id,
        user_id=former.user_id,
        expires_at=former.expires_at,
    )
    body = orjson.loads(response.content)
    made = get_adapter().hash_token(body.get("refresh_token", ""))
    Token.objects.filter(type=Token.Type.REFRESH_TOKEN, hash=made).update(
        expires_at=former.expires_at
    )
    if former.expires_at is not None:
        body["refresh_expires_in"] = max(
            0, int((former.expires_at - timezone.now()).total_seconds())
        )
    response.content = orjson.dumps(body)
    return response


def _replayed(digest: str) -> None:
    """Revoke all tokens of a person when a used one is presented again, as it may be stolen."""
    spent = Token.objects.filter(type=SPENT, hash=digest).first()
    if spent is None:
        return
    count, _ = (
        Token.objects.filter(client_id=spent.client_id, user_id=spent.user_id)
        .exclude(type=SPENT)
        .delete()
    )
    record(
        EventRecord(
            "application.token_replayed",
            None,
            "user",
            spent.user_id,
            "",
            {"client_id": spent.client_id, "tokens": count},
        )
    )
