"""Require reauthentication before sign-in methods change.

A stolen session must not be able to add a permanent way in.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from allauth.account import app_settings
from allauth.account.authentication import get_authentication_records
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from workspaces.identity.allauth_compat import (
    did_recently_reauthenticate,
    get_reauthentication_flows,
)

View = Callable[..., HttpResponse]


def can_confirm(user: Any) -> bool:
    """Return whether the user has a password or a factor to confirm with."""
    return bool(get_reauthentication_flows(user))


def is_reauthenticated(request: Any) -> bool:
    """Return whether the user has recently reauthenticated.

    Without a password or a factor here, a recent sign-in counts.
    """
    if can_confirm(request.user):
        return bool(did_recently_reauthenticate(request))
    since = time.time() - app_settings.REAUTHENTICATION_TIMEOUT
    return any(record["at"] > since for record in get_authentication_records(request, request.user))


def redirect_to_reauthenticate(request: Any, back: str) -> HttpResponse:
    """Redirect to the confirmation page, which returns to `back`."""
    if can_confirm(request.user):
        return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': back})}")
    messages.error(
        request,
        _(
            "To change these, sign out and sign in again. You have no Muster password, so a recent "
            "sign-in is required."
        ),
    )
    return redirect(back)


def reauthentication_required(view: View) -> View:
    """Require reauthentication for forms on the page of sign-in methods.

    A rejected form is dropped, as it may contain a password.
    """

    @wraps(view)
    def inside(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated and not is_reauthenticated(request):
            return redirect_to_reauthenticate(request, reverse("account_linked"))
        return view(request, *args, **kwargs)

    return inside


def first_factor(view: View) -> View:
    """Require a recent sign-in for allauth's forms from users without a password or a factor.

    allauth only asks users who have one, and lets others in.
    """

    @wraps(view)
    def inside(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if (
            request.user.is_authenticated
            and not can_confirm(request.user)
            and not is_reauthenticated(request)
        ):
            return redirect_to_reauthenticate(request, reverse("mfa_index"))
        return view(request, *args, **kwargs)

    return inside
