"""Addresses of ports as people and programs reach them."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

from portal.gateway import routes
from portal.gateway.provider import Address

_LONGEST_LABEL = 63


def is_below(address: Address) -> bool:
    """Return whether browsers open an app below a path, since it has no origin of its own."""
    return not settings.MUSTER_APPS_HOST or len(routes.label(address)) > _LONGEST_LABEL


def page_of(address: Address) -> str:
    """Return where a browser opens an app, with / at its end."""
    if is_below(address):
        return f"{program_url(address)}/"
    scheme = urlsplit(settings.MUSTER_BASE_URL).scheme
    return f"{scheme}://{routes.label(address)}.{settings.MUSTER_APPS_HOST}/"


def program_url(address: Address) -> str:
    """Return the address for programs, which send an access token."""
    return f"{settings.MUSTER_GATEWAY_URL}{routes.path(address)}"


def code_url(address: Address, code: str) -> str:
    """Return where a browser takes a code to."""
    go = "~go" if is_below(address) else routes.GO.decode()[1:]
    return f"{page_of(address)}{go}?code={code}"
