"""Tables of all routes, built from the URL configuration, so that new routes are included."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client
from django.urls import URLPattern, get_resolver

from tests.test_permission_matrix import API, PAGES, VALUES

OF_KIND = {"int": "1", "uuid": VALUES["token"]}
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


def accounts() -> list[tuple[str, str]]:
    """Return (name, path) of the routes below /accounts/, most of them allauth's."""
    found: list[tuple[str, str]] = []

    def walk(patterns: Any, prefix: str) -> None:
        for pattern in patterns:
            path = prefix + _filled(str(pattern.pattern))
            if not isinstance(pattern, URLPattern):
                walk(pattern.url_patterns, path)
            elif path.startswith("/accounts/"):
                found.append((pattern.name or path, path))

    walk(get_resolver().url_patterns, "/")
    return found


def _filled(route: str) -> str:
    if route.startswith("^"):
        return re.sub(r"\(\?P<\w+>[^)]*\)", "x", route).strip("^$").replace("\\Z", "")
    return re.sub(
        r"<(?:(\w+):)?(\w+)>", lambda part: OF_KIND.get(part[1]) or VALUES.get(part[2], "x"), route
    )


ACCOUNTS = accounts()
PAGE_CHANGES = [
    (name, path, verb) for name, path, view in PAGES for verb in view.methods if verb in UNSAFE
]
API_CHANGES = [
    (name, path, verb)
    for name, path, view in API
    for verb in sorted(view.permissions)
    if verb in UNSAFE
]
PAGE_READS = sorted(
    {path for _, path, view in PAGES if "GET" in view.methods}
    | {path for _, path in ACCOUNTS}
    | {"/", "/no/such/page"}
)
_FURTHER = {"/healthz", "/readyz", "/metrics", "/api/schema/", "/api/docs/", "/api/v1/no-such"}
READS = sorted(
    {*PAGE_READS, *_FURTHER, *(path for _, path, view in API if "GET" in view.permissions)}
)


def browser(person: Any = None, **options: Any) -> Client:
    """Return a client, signed in as that user if given.

    Exceptions become responses, as in production.
    """
    client = Client(raise_request_exception=False, **options)
    if person is not None:
        client.force_login(person)
    return client
