"""What every page view shares: the permission asked first, forms that come back with their errors, flash messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from portal.core.errors import InvalidInput, PortalError
from portal.web.denials import note_denial
from workspaces.access.actors import authorize
from workspaces.access.permissions import Permission

View = Callable[..., HttpResponse]


def page(
    permission: Permission | None = None, methods: tuple[str, ...] = ("GET", "HEAD")
) -> Callable[[View], View]:
    """A page of an organization. The HTTP door has entered it; this asks the permission (None: the view's services ask) and
    refuses other methods. `view.permission` and `view.methods` are read by the permission matrix test."""

    def wrap(view: View) -> View:
        @wraps(view)
        def inside(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method not in methods:
                return HttpResponse(status=405, headers={"Allow": ", ".join(methods)})
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


def action(request: HttpRequest, back: str, done: str, act: Callable[[], Any]) -> HttpResponse:
    """Do it, say so, go back; an error is shown where one came from and nothing is done."""
    try:
        act()
    except PortalError as error:
        note_denial(request, error)
        tell_fault(request, error)
    else:
        messages.success(request, done)
    return redirect(back)


def tell_fault(request: HttpRequest, error: PortalError) -> None:
    """Above the page; where it is of one field, `faults.js` puts it there and brings back what was typed."""
    fields = [one["field"] for one in error.data.get("errors", ())]
    messages.error(request, error.message, extra_tags=fields[0] if len(fields) == 1 else "")
