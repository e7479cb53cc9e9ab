"""Post to a channel: only to the open internet, without redirects, signed and with a time limit.

Addresses are checked where the connection is made (`portal.core.outbound`), so a name that
resolves to a private address, or another one the second time, does not get through.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import requests
from django.conf import settings

from portal.core import outbound
from portal.core.audit.targets import signature
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.outbound import OutboundPolicy, Session

SECONDS = 10.0
MOST_READ = 64 << 10  # bytes of an answer, which is not kept
LONGEST = 500


@dataclass(frozen=True)
class Outcome:
    """The result of one request: `status` of the answer, None without one, and what went wrong."""

    is_delivered: bool
    status: int | None = None
    trouble: str = ""


def post(url: str, body: bytes, *, delivery: str, kind: str, secret: bytes = b"") -> Outcome:
    """Send one message; never raises for what the other side does."""
    host = urlsplit(url).hostname or "?"
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "muster-notifications",
        "Muster-Event": kind,
        "Muster-Delivery": delivery,
        "Idempotency-Key": delivery,
    }
    if secret:
        headers["Muster-Signature"] = signature(secret, int(time.time()), body)
    try:
        with Session(policy()) as session:
            answer = session.post(url, data=body, headers=headers)
    except (outbound.AddressRefused, outbound.EncryptionRequired):
        why = Message(
            "{host} is not on the open internet, or without encryption. An operator may name it "
            "in MUSTER_WEBHOOK_HOSTS.",
            host=host,
        )
        return Outcome(False, None, why)
    except requests.exceptions.SSLError as error:
        why = Message(
            "{host}: its certificate is not trusted ({reason}).",
            host=host,
            reason=outbound.tls_reason(error),
        )
        return Outcome(False, None, why)
    except (requests.Timeout, outbound.DeadlineExceeded):
        why = Message("{host} did not answer within {n} s.", host=host, n=f"{SECONDS:g}")
        return Outcome(False, None, why)
    except outbound.ResponseTooLarge:
        return Outcome(False, None, Message("The answer of {host} is too large.", host=host))
    except (requests.RequestException, OSError, ValueError):
        return Outcome(False, None, Message("{host} does not answer.", host=host))
    if 200 <= answer.status_code < 300:
        return Outcome(True, answer.status_code)
    why = Message(
        "{host} answered {status}.",
        context="text, notifications",
        host=host,
        status=answer.status_code,
    )
    return Outcome(False, answer.status_code, why)


def policy() -> OutboundPolicy:
    """Return where channels may be, from the settings."""
    trusted = frozenset(name.lower() for name in settings.MUSTER_WEBHOOK_HOSTS)
    return OutboundPolicy(
        trusted=trusted,
        plain=trusted,
        ca_file=settings.MUSTER_FORWARD_CA,
        seconds=SECONDS,
        limit=MOST_READ,
    )


def checked_url(text: str) -> tuple[str, str]:
    """Return the address of a channel and its host. Raises InvalidInput.

    Where the host is gets checked with each request, because names can change.
    """
    text = text.strip()
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise InvalidInput.at("url", Message("is not an address")) from error
    is_plain = parts.netloc.lower() in policy().plain
    if (
        len(text) > LONGEST
        or not text.isascii()
        or not text.isprintable()
        or " " in text
        or parts.scheme not in (("https", "http") if is_plain else ("https",))
        or not parts.hostname
        or parts.username is not None
        or parts.fragment
        or port == 0
    ):
        raise InvalidInput.at(
            "url",
            Message("must be https://host/path, without a password and at most 500 characters"),
        )
    return text, parts.netloc.lower()
