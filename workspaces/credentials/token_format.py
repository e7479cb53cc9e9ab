"""The form of an access token, and how one is recognised. One token serves every protocol.

Form: `mst_` + 32 characters base62 (190 random bits) + 6 characters base62 of the CRC32 of what stands before, so that leak
scanners find it and a typing error fails without a look-up. Stored as HMAC-SHA256 under SECRET_KEY.
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
from portal.core.events import Fact, record
from workspaces.access.actors import Actor, TokenFacts, actor_of
from workspaces.credentials.networks import is_within
from workspaces.models import AccessToken
from workspaces.tenancy.scope import platform_scope

PREFIX = "mst_"
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BODY, _TAIL = 32, 6
_TOUCH_EVERY, _TOUCH_JOBS_EVERY = (
    timedelta(minutes=1),
    timedelta(minutes=5),
)  # jobs are many, and their tokens nobody's to judge
_TELL_EVERY = 60  # seconds between events of one token that is used from elsewhere


def new_secret() -> str:
    """A fresh token text."""
    body = PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(_BODY))
    return body + _checksum(body)


def secret_of_attempt(attempt_id: UUID) -> str:
    """The token text of an attempt, the same each time: HMAC-SHA512 of its id under SECRET_KEY, cut to the form of a token."""
    value = int.from_bytes(
        hmac.digest(settings.SECRET_KEY.encode(), b"token of attempt " + attempt_id.bytes, "sha512")
    )
    body = PREFIX
    for _ in range(_BODY):
        value, digit = divmod(value, 62)
        body += _ALPHABET[digit]
    return body + _checksum(body)


def is_well_formed(raw: str) -> bool:
    """Prefix, length and checksum are right."""
    body, tail = raw[:-_TAIL], raw[-_TAIL:]
    return (
        raw.startswith(PREFIX)
        and len(raw) == len(PREFIX) + _BODY + _TAIL
        and raw.isascii()
        and hmac.compare_digest(_checksum(body), tail)
    )


def digest_of(raw: str, key: str | None = None) -> str:
    """What is stored: HMAC-SHA256, in hex."""
    return hmac.digest((key or settings.SECRET_KEY).encode(), raw.encode(), "sha256").hex()


def authenticate_token(raw: str, address: str = "") -> Actor | None:
    """The actor a token stands for; None when it is malformed, unknown, expired or revoked, or its owner is inactive. `address`:
    whence it comes. Raises NotPermitted where it may not be used from there."""
    if not is_well_formed(raw):
        return None
    digests = [digest_of(raw), *(digest_of(raw, key) for key in settings.SECRET_KEY_FALLBACKS)]
    with platform_scope("a token names its organization itself"):
        token = live_tokens().filter(digest__in=digests).select_related("user").first()
        if token is None:
            return None
        check_network(token, token.user.email, address)
        touch(token, token.user.email, address)
    return actor_of(token.user, facts_of(token))


def live_tokens():  # type: ignore[no-untyped-def]  # a queryset of the scope one is in
    """Tokens that work now."""
    return AccessToken.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=clock.now()), revoked_at=None, user__is_active=True
    )


def facts_of(token: AccessToken) -> TokenFacts:
    """What the row says of the token's reach."""
    return TokenFacts(
        id=token.id,
        org_id=token.org_id,
        team_id=token.team_id,
        attempt_id=token.attempt_id,
        scopes=frozenset(token.scopes),
        networks=tuple(token.networks),
        name=token.name,
        vouched_by=token.vouched_by_id,
    )


def check_network(token: AccessToken, owner: str, address: str) -> None:
    """Raises NotPermitted for an address outside of the token's networks, which is told as an event once a minute: it may have leaked."""
    if is_within(address, token.networks):
        return
    if cache.add(f"token-elsewhere:{token.id}", 1, _TELL_EVERY):
        record(
            Fact(
                "token.refused",
                token.org_id,
                "token",
                token.id,
                owner,
                {"name": token.name, "address": address[:45], "why": "network"},
            )
        )
    raise NotPermitted(
        f"This access token may not be used from {address or 'an unknown address'}: it is bound to certain networks.",
        code="token_network",
    )


def touch(token: AccessToken, owner: str, address: str = "") -> None:
    """When and whence it was last used, kept to a minute so that reads stay reads. Of many requests at once one writes it. The first
    use of a token that a person made is a fact of its own."""
    at = clock.now()
    every = _TOUCH_JOBS_EVERY if token.attempt_id else _TOUCH_EVERY
    if token.last_used_at is None:
        _first_use(token, owner, at, address)
    elif at - token.last_used_at > every:
        AccessToken.objects.filter(id=token.id, last_used_at=token.last_used_at).update(
            last_used_at=at, last_used_address=address[:45]
        )


@transaction.atomic
def _first_use(token: AccessToken, owner: str, at: datetime, address: str) -> None:
    """Of several who come with it at once one is the first."""
    is_first = AccessToken.objects.filter(id=token.id, last_used_at=None).update(
        last_used_at=at, last_used_address=address[:45]
    )
    if is_first and token.attempt_id is None:
        record(
            Fact("token.first_used", token.org_id, "token", token.id, owner, {"name": token.name})
        )


def _checksum(body: str) -> str:
    value, out = zlib.crc32(body.encode()), ""
    for _ in range(_TAIL):
        value, digit = divmod(value, 62)
        out = _ALPHABET[digit] + out
    return out
