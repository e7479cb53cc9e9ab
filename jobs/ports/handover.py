"""Take a signed-in browser from the portal to an app, whose origin must not get its session.

The portal gives it a code that works once, for seconds, and only in the browser that asked for it
(by a cookie of the app's origin). The gateway exchanges it for a ticket: the session and the port,
encrypted, so that the ticket ends with the session and opens nothing else.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import orjson
from django.core.cache import cache

from portal.core import clock, vault
from portal.core.errors import NotAuthenticated, NotPermitted
from portal.core.messages import Message
from portal.gateway.provider import Address

CODE_SECONDS = 30
OWN_SECONDS = 30
_CODE, _TICKET = "code of the gateway", "ticket of the gateway"
_OWN = "ticket of the portal itself"


def make_code(*, session: str, address: Address, nonce: str, path: str) -> str:
    """Return a code for a browser whose cookie has this digest."""
    data = {
        "id": uuid4().hex,
        "session": session,
        "address": _key(address),
        "nonce": nonce,
        "path": path,
        "until": clock.now().timestamp() + CODE_SECONDS,
    }
    return vault.encrypt(orjson.dumps(data), _CODE).decode()


def use_code(code: str, *, address: Address, nonce: str) -> tuple[str, str]:
    """Return a ticket and the path to open. Raises NotPermitted unless the code is fresh and new."""
    data = _opened(code, _CODE)
    is_fitting = (
        data.get("address") == _key(address)
        and nonce
        and data.get("nonce") == nonce
        and data["until"] > clock.now().timestamp()
    )
    if not is_fitting or not cache.add(f"gateway-code:{data['id']}", 1, CODE_SECONDS * 2):
        raise NotPermitted(
            Message("This link has been used, or is too old. Open the app again from its job.")
        )
    return make_ticket(data["session"], address), data["path"]


def make_ticket(session: str, address: Address) -> str:
    """Return a ticket with which a session of the portal opens this port, as long as it may."""
    ticket = {"session": session, "address": _key(address)}
    return vault.encrypt(orjson.dumps(ticket), _TICKET).decode()


def make_own_ticket(address: Address) -> str:
    """Return a ticket with which the portal itself asks this port something, for seconds."""
    until = clock.now().timestamp() + OWN_SECONDS
    return vault.encrypt(orjson.dumps({"address": _key(address), "until": until}), _OWN).decode()


def is_own(ticket: str, address: Address) -> bool:
    """Return whether this is a fresh ticket of the portal itself, for this port."""
    data = _opened(ticket, _OWN)
    return data.get("address") == _key(address) and data["until"] > clock.now().timestamp()


def session_of(ticket: str, address: Address) -> str:
    """Return the session of a ticket. Raises NotAuthenticated if it is for another port."""
    data = _opened(ticket, _TICKET)
    if data.get("address") != _key(address):
        raise NotAuthenticated(Message("Open this app from the page of its job."))
    return str(data["session"])


def _opened(text: str, purpose: str) -> dict[str, Any]:
    try:
        return orjson.loads(vault.decrypt(text.encode(), purpose))  # type: ignore[no-any-return]
    except (vault.Unreadable, UnicodeEncodeError):
        return {}


def _key(address: Address) -> list[Any]:
    return [address.org, address.number, address.task, address.name]
