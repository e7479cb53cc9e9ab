"""Layers that only people need: sessions, languages, flashed messages, files of pages. A program that comes to the REST API with a
credential of its own passes them by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from whitenoise.middleware import WhiteNoiseMiddleware

_REST = "/api/v1/"
_ENGLISH = ("/api/", "/healthz", "/readyz", "/metrics")


def is_program(request: HttpRequest) -> bool:
    """It names itself by a header; a cookie that it sends as well counts for nothing."""
    return bool(request.META.get("HTTP_AUTHORIZATION")) and request.path_info.startswith(_REST)


class _ForPeople:
    """Mixed in before a layer of Django's."""

    if TYPE_CHECKING:
        get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request) if is_program(request) else super().__call__(request)  # type: ignore[misc]


class Files(_ForPeople, WhiteNoiseMiddleware):
    """Static files."""


class Sessions(_ForPeople, SessionMiddleware):
    """`request.session`. Where it ends, the browser forgets what it kept of its pages, those behind the back button as well."""

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        response = super().process_response(request, response)
        gone = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if gone is not None and not gone.value and settings.MUSTER_CLEAR_SITE_DATA:
            response.headers["Clear-Site-Data"] = settings.MUSTER_CLEAR_SITE_DATA
        return response


class Languages(LocaleMiddleware):
    """The language of pages: the one chosen in the menu, else the browser's. What programs read is English, whoever asks."""

    if TYPE_CHECKING:
        get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(_ENGLISH):
            with translation.override("en"):
                return self.get_response(request)
        return super().__call__(request)


class Visitors(_ForPeople, AuthenticationMiddleware):
    """`request.user`."""


class MessageCookie(CookieStorage):
    """Django's, by a name of ours."""

    @property
    def cookie_name(self) -> str:  # type: ignore[override]
        return settings.MUSTER_MESSAGES_COOKIE_NAME


class MessageStorage(FallbackStorage):
    """What is too long for the cookie is in the session."""

    storage_classes = (MessageCookie, SessionStorage)


class Messages(_ForPeople, MessageMiddleware):
    """Words shown once on the next page."""
