"""Base of page views: permission check, forms that return with their errors, messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from portal.core.errors import InvalidInput, MethodNotAllowed
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from portal.web.undo import Undo, offer_undo
from workspaces.access.actors import authorize
from workspaces.access.permissions import AppPermission

View = Callable[..., HttpResponse]


def page(
    permission: AppPermission | None = None, methods: tuple[str, ...] = ("GET", "HEAD")
) -> Callable[[View], View]:
    """Wrap a view of an organization: check the permission and the method.

    The middleware has entered the organization. Permission None leaves the check to the services.
    The permission matrix test reads `view.permission` and `view.methods`.
    """

    def wrap(view: View) -> View:
        @wraps(view)
        def inside(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method not in methods:
                raise MethodNotAllowed(
                    Message("There is nothing to read at this address: it only accepts forms."),
                    data={"allow": ", ".join(methods)},
                )
            if permission is not None:
                authorize(request.actor, permission)  # type: ignore[attr-defined]
            _refuse_nul(request)
            return view(request, *args, **kwargs)

        inside.permission, inside.methods = permission, methods  # type: ignore[attr-defined]
        return inside

    return wrap


def _refuse_nul(request: HttpRequest) -> None:
    for name, values in request.POST.lists() if request.method == "POST" else ():
        if any("\x00" in str(value) for value in values):
            raise InvalidInput.at(name, "must not hold a NUL character")


def action(
    request: HttpRequest,
    back: str,
    done: str,
    act: Callable[[], Any],
    undo: Undo | None = None,
    refused: str = "",
) -> HttpResponse:
    """Run an action and redirect back, with an error or success message, which may offer `undo`.

    `refused` is where an error leads, if not back.
    """
    with FormErrors(request):
        act()
        if undo is None:
            messages.success(request, done)
        else:
            offer_undo(request, done, undo)
        return redirect(back)
    return redirect(refused or back)


def local_path(text: str, default: str) -> str:
    """Return a path of this portal to redirect to, else the default."""
    is_ours = url_has_allowed_host_and_scheme(text, allowed_hosts=None) and text.startswith("/")
    return text if is_ours else default
