"""Format and validation of access tokens. One token serves every protocol.

Format: `mst_`, 32 base62 characters (190 random bits), and 6 base62 characters of their CRC32, so
that secret scanners find tokens and typing errors fail without a query. Stored as HMAC-SHA256 under
SECRET_KEY.
"""

from __future__ import annotations

import hmac
import secrets
import zlib
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Q

from portal.core import clock
from portal.core.errors import NotPermitted
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, TokenFacts, actor_of
from workspaces.credentials.networks import is_within
from workspaces.models import AccessToken
from workspaces.tenancy.scope import platform_scope

PREFIX = "mst_"
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BODY, _TAIL = 32, 6
# Tokens of jobs are many, and nobody reviews their last use
_TOUCH_INTERVAL, _TOUCH_JOBS_EVERY = (
    timedelta(minutes=1),
    timedelta(minutes=5),
)
_EVENT_INTERVAL = 60  # seconds between events for one token used from outside its networks


def new_secret() -> str:
    """Return a new random token."""
    body = PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(_BODY))
    return body + _checksum(body)


def secret_of_attempt(attempt_id: UUID) -> str:
    """Return the token of an attempt, the same each time.

    HMAC-SHA512 of its id under SECRET_KEY, in the format of a token.
    """
    value = int.from_bytes(
        hmac.digest(settings.SECRET_KEY.encode(), b"token of attempt " + attempt_id.bytes, "sha512")
    )
    body = PREFIX
    for _ in range(_BODY):
        value, digit = divmod(value, 62)
        body += _ALPHABET[digit]
    return body + _checksum(body)


def is_well_formed(raw: str) -> bool:
    """Return whether prefix, length and checksum are right."""
    body, tail = raw[:-_TAIL], raw[-_TAIL:]
    return (
        raw.startswith(PREFIX)
        and len(raw) == len(PREFIX) + _BODY + _TAIL
        and raw.isascii()
        and hmac.compare_digest(_checksum(body), tail)
    )


def digest_of(raw: str, key: str | None = None) -> str:
    """Return the stored digest: HMAC-SHA256, in hex."""
    return hmac.digest((key or settings.SECRET_KEY).encode(), raw.encode(), "sha256").hex()


def authenticate_token(raw: str, address: str = "") -> Actor | None:
    """Return the actor of a token, or None if it is invalid or its owner is inactive.

    Invalid tokens are malformed, unknown, expired or revoked. `address` is the client's. Raises
    NotPermitted if the token may not be used from there.
    """
    if not is_well_formed(raw):
        return None
    digests = [digest_of(raw), *(digest_of(raw, key) for key in settings.SECRET_KEY_FALLBACKS)]
    with platform_scope("find the organization of a token"):
        token = live_tokens().filter(digest__in=digests).select_related("user").first()
        if token is None:
            return None
        check_network(token, token.user.email, address)
        touch(token, token.user.email, address)
    return actor_of(token.user, facts_of(token))


def live_tokens():  # type: ignore[no-untyped-def]  # a queryset in the current scope
    """Return the tokens that are active now."""
    return AccessToken.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=clock.now()), revoked_at=None, user__is_active=True
    )


def facts_of(token: AccessToken) -> TokenFacts:
    """Return the restrictions of a token."""
    return TokenFacts(
        id=token.id,
        org_id=token.org_id,
        team_id=token.team_id,
        attempt_id=token.attempt_id,
        scopes=frozenset(token.scopes),
        networks=tuple(token.networks),
        name=token.name,
        vouched_by=token.vouched_by_id,
        cluster=token.cluster,
    )


def check_network(token: AccessToken, owner: str, address: str) -> None:
    """Raise NotPermitted if the address is outside the token's networks.

    Recorded as an event at most once a minute, because the token may have leaked.
    """
    if is_within(address, token.networks):
        return
    if cache.add(f"token-elsewhere:{token.id}", 1, _EVENT_INTERVAL):
        record(
            EventRecord(
                "token.refused",
                token.org_id,
                "token",
                token.id,
                owner,
                {"name": token.name, "address": address[:45], "why": "network"},
            )
        )
    raise NotPermitted(
        Message(
            "This access token may not be used from {x}: it is limited to certain networks.",
            x=address or Message("an unknown address"),
        ),
        code="token_network",
    )


def touch(token: AccessToken, owner: str, address: str = "") -> None:
    """Store when and from where the token was last used.

    Precise to a minute, so that most reads do not write; of concurrent requests only one writes.
    The first use of a user's token is an event.
    """
    at = clock.now()
    every = _TOUCH_JOBS_EVERY if token.attempt_id else _TOUCH_INTERVAL
    if token.last_used_at is None:
        _record_first_use(token, owner, at, address)
    elif at - token.last_used_at > every:
        AccessToken.objects.filter(id=token.id, last_used_at=token.last_used_at).update(
            last_used_at=at, last_used_address=address[:45]
        )


@transaction.atomic
def _record_first_use(token: AccessToken, owner: str, at: datetime, address: str) -> None:
    """Record the first use. Of concurrent requests only one is the first."""
    is_first = AccessToken.objects.filter(id=token.id, last_used_at=None).update(
        last_used_at=at, last_used_address=address[:45]
    )
    if is_first and token.attempt_id is None:
        record(
            EventRecord(
                "token.first_used", token.org_id, "token", token.id, owner, {"name": token.name}
            )
        )


def _checksum(body: str) -> str:
    value, out = zlib.crc32(body.encode()), ""
    for _ in range(_TAIL):
        value, digit = divmod(value, 62)
        out = _ALPHABET[digit] + out
    return out
