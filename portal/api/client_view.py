"""`/api/client/`: the wheel of the command and SDK, and an index of it for pip. Public."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from portal.api.client_package import client_package
from portal.core.errors import NotFound


@require_safe
def wheel(request: HttpRequest, name: str) -> HttpResponse:
    """Return the wheel of this version."""
    found = client_package()
    if name != found.name:
        raise NotFound(f"This portal serves {found.name}.")
    return HttpResponse(found.content, content_type="application/octet-stream")


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Return the project page of a simple index (PEP 503), for `pip --extra-index-url`."""
    found = client_package()
    python = found.requires_python.replace(">", "&gt;").replace("<", "&lt;")
    return HttpResponse(
        f'<!DOCTYPE html>\n<title>muster-client</title>\n<a href="../../{found.name}'
        f'#sha256={found.sha256}" data-requires-python="{python}">{found.name}</a>\n'
    )
