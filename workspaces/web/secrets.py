"""Page: secrets, which are set and deleted, but never shown."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.views.decorators.debug import sensitive_post_parameters

from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from workspaces.credentials import secrets as secrets_services
from workspaces.credentials.secret_selectors import writable
from workspaces.lists import SECRETS
from workspaces.models import Team
from workspaces.web.base import action, page


@sensitive_post_parameters("value")
@page(None, ("GET", "HEAD", "POST"))
def secrets(request: Any) -> HttpResponse:
    """List, set and delete secrets."""
    if request.method == "POST":
        return action(request, request.path, _done(request), lambda: _act(request))
    return SECRETS.render(
        request,
        "workspaces/secrets.html",
        {
            "page_title": Message("Secrets", context="page title"),
            "writable": writable(request.actor),
            "names": dict(Team.objects.values_list("slug", "name")),
        },
    )


def _act(request: Any) -> None:
    given = request.POST
    actor, team, name = request.actor, _team(given.get("where", "")), given.get("name", "").strip()
    match given.get("do"):
        case "set":
            secrets_services.set_secret(
                actor=actor,
                org=request.org,
                team=team,
                name=name,
                value=given.get("value", "").replace("\r\n", "\n"),
            )
        case "delete":
            secrets_services.delete_secret(actor=actor, team=team, name=name)
        case "delete-version":
            number = given.get("version", "")
            if not (number.isascii() and number.isdigit() and len(number) < 8):
                raise InvalidInput.at("version", "must be a number")
            secrets_services.delete_version(actor=actor, team=team, name=name, number=int(number))
        case _:
            raise InvalidInput(Message("The form names nothing that can be done here."))


def _done(request: Any) -> str:
    name = f"{request.POST.get('where', '')}/{request.POST.get('name', '').strip()}"
    return {
        "set": Message(
            "{name} is set. Name it in a job's `secrets`; the value cannot be shown again.",
            name=name,
        ),
        "delete": Message("{name} is deleted.", name=name),
    }.get(request.POST.get("do", ""), Message("That version of {name} is deleted.", name=name))


def _team(where: str) -> Team | None:
    if where == "org":
        return None
    row = Team.objects.filter(slug=where).first()
    if row is None:
        raise NotFound(Message("There is no team {x} here.", x=repr(where[:40])))
    return row  # type: ignore[no-any-return]
