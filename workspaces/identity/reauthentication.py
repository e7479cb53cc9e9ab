"""Proof that it is still the same person who sits there, before they change by what they sign in: what a borrowed session must not do is make
itself a way in that stays."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from allauth.account import app_settings
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import (
    did_recently_reauthenticate,
    get_reauthentication_flows,
)
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

View = Callable[..., HttpResponse]


def can_confirm(user: Any) -> bool:
    """Whether they have a password or a factor here."""
    return bool(get_reauthentication_flows(user))


def is_proved(request: Any) -> bool:
    """By their password or their factor in the last minutes; who has neither here, by a sign-in as lately."""
    if can_confirm(request.user):
        return bool(did_recently_reauthenticate(request))
    since = time.time() - app_settings.REAUTHENTICATION_TIMEOUT
    return any(record["at"] > since for record in get_authentication_records(request, request.user))


def asked(request: Any, back: str) -> HttpResponse:
    """To the page that asks, and `back`."""
    if can_confirm(request.user):
        return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': back})}")
    messages.error(
        request,
        _(
            "To change these, sign out and in again: it takes a sign-in of the last minutes, "
            "since you have no password here to confirm with."
        ),
    )
    return redirect(back)


def proof_needed(view: View) -> View:
    """For forms on the page of ways to sign in. Nothing of a refused form is kept: there may be a password in it."""

    @wraps(view)
    def inside(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated and not is_proved(request):
            return asked(request, reverse("account_linked"))
        return view(request, *args, **kwargs)

    return inside


def first_factor(view: View) -> View:
    """For allauth's own forms, which ask whoever has a password or a factor here, and let in who has neither, however long ago they came."""

    @wraps(view)
    def inside(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if (
            request.user.is_authenticated
            and not can_confirm(request.user)
            and not is_proved(request)
        ):
            return asked(request, reverse("mfa_index"))
        return view(request, *args, **kwargs)

    return inside
