"""Middleware that only browsers need: sessions, languages, messages and static files.

API requests that authenticate with a token bypass it.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.middleware.gzip import GZipMiddleware
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from whitenoise.middleware import WhiteNoiseMiddleware

from portal.core import times
from portal.core.protocols import Authentication, protocol_at
from portal.web.translation import translated

ZONE_COOKIE = "muster_zone"  # time.js sets it
_COMPRESSED = {"text/html", "application/json", "application/problem+json"}


def is_program(request: HttpRequest) -> bool:
    """Return whether an API request has an Authorization header; cookies are then ignored."""
    return (
        bool(request.META.get("HTTP_AUTHORIZATION"))
        and protocol_at(request.path_info).authentication is Authentication.TOKEN
    )


class _BrowserOnly:
    """Mixin that lets API requests bypass a middleware of Django."""

    if TYPE_CHECKING:
        get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request) if is_program(request) else super().__call__(request)  # type: ignore[misc]


class StaticFilesMiddleware(_BrowserOnly, WhiteNoiseMiddleware):
    """Serve static files."""


class CompressionMiddleware(GZipMiddleware):
    """Compress pages and JSON, with random padding against BREACH.

    Everything else stays as it is: streams are sent as they come, files may be parts of one
    (`Content-Range`), and a client compares the `ETag` of a file byte by byte.
    """

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if response.streaming or response.has_header("ETag") or kind not in _COMPRESSED:
            return response
        return super().process_response(request, response)


class BrowserSessionMiddleware(_BrowserOnly, SessionMiddleware):
    """Set `request.session`, and clear the browser's cached pages when it ends."""

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        response = super().process_response(request, response)
        gone = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if gone is not None and not gone.value and settings.MUSTER_CLEAR_SITE_DATA:
            response.headers["Clear-Site-Data"] = settings.MUSTER_CLEAR_SITE_DATA
        return response


class TimeZoneMiddleware:
    """Let days begin at midnight of the reader: the browser's cookie, a program's `Time-Zone`."""

    def __init__(self, get_response: Any):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        given = (
            request.headers.get("Time-Zone", "")
            if is_program(request)
            else request.COOKIES.get(ZONE_COOKIE, "")
        )
        token = times.zone.set(times.zone_named(given) or UTC)
        try:
            return self.get_response(request)
        finally:
            times.zone.reset(token)


class LanguageMiddleware(LocaleMiddleware):
    """Select the language chosen in the menu, else the browser's.

    Responses for programs are in English.
    """

    if TYPE_CHECKING:
        get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if not protocol_at(request.path_info).is_translated:
            with translation.override("en"):
                return self.get_response(request)
        return super().__call__(request)


class UserMiddleware(_BrowserOnly, AuthenticationMiddleware):
    """Set `request.user`."""


class MessageCookie(CookieStorage):
    """Django's cookie storage under our cookie name."""

    @property
    def cookie_name(self) -> str:  # type: ignore[override]
        return settings.MUSTER_MESSAGES_COOKIE_NAME


class MessageStorage(FallbackStorage):
    """Keep messages in a cookie, or in the session if they are too long.

    They are stored in the language of the request that adds them.
    """

    storage_classes = (MessageCookie, SessionStorage)

    def add(self, level: int, message: str, extra_tags: str | None = "") -> None:
        super().add(level, translated(message), extra_tags)


class BrowserMessageMiddleware(_BrowserOnly, MessageMiddleware):
    """Show messages once, on the next page."""
