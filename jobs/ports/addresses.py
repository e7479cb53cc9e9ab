"""Addresses of ports as people and programs reach them."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

from portal.gateway import routes
from portal.gateway.provider import Address

_LONGEST_LABEL = 63


def page_of(address: Address) -> str:
    """Return where a browser opens an app: on an origin of its own, or below a path."""
    label, host = routes.label(address), settings.MUSTER_APPS_HOST
    if host and len(label) <= _LONGEST_LABEL:
        return f"{urlsplit(settings.MUSTER_BASE_URL).scheme}://{label}.{host}/"
    return f"{settings.MUSTER_GATEWAY_URL}{routes.path(address)}/"


def program_url(address: Address) -> str:
    """Return the address for programs, which send an access token."""
    return f"{settings.MUSTER_GATEWAY_URL}{routes.path(address)}"


def code_url(address: Address, code: str) -> str:
    """Return where a browser takes a code to."""
    page = page_of(address)
    is_path = routes.PATHS.decode() in page
    return f"{page}{'~go' if is_path else routes.GO.decode()[1:]}?code={code}"
