"""The page of a terminal in the browser, which travels with the job that serves it."""

from __future__ import annotations

from django.conf import settings
from django.template.loader import render_to_string


def terminal_page(title: str, page: str) -> bytes:
    """Return the page of a terminal; `page` is the path of its job or session in the portal."""
    context = {
        "title": title,
        "static": f"{settings.MUSTER_BASE_URL}{settings.STATIC_URL}",
        "page": f"{settings.MUSTER_BASE_URL}{page}",
    }
    return render_to_string("gateway/terminal.html", context).encode()
