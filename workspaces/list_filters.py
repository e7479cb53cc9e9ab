"""Filters by team and owner, which lists of several apps share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import pgettext_lazy as pgettext

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.lists import Filter, matching, one_of
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.models import Membership, Team, User
from workspaces.organizations.selectors import people

MOST_PEOPLE = 200  # that a list suggests
_PERSON = "Names, e-mail addresses or `me`, separated by commas; `!` excludes one."


def team_values(actor: Actor) -> list[tuple[str, Any]]:
    """Return the teams of the organization as (slug, name)."""
    return list(Team.objects.order_by("slug").values_list("slug", "name"))


def people_of(field: str = "owner") -> Callable[[list[str], Actor], Q]:
    """Return the condition of rows whose `field` is one of some people."""
    return lambda texts, actor: Q((f"{field}_id__in", ids_of(texts, actor)))


def ids_of(texts: Iterable[str], actor: Actor) -> set[UUID]:
    """Return the users of e-mail addresses, names, parts of names, and `me`.

    Raises InvalidInput if nobody has a name. An unknown address is nobody: its owner may have left.
    """
    found: set[UUID] = set()
    for text in texts:
        if text == "me" and actor.user_id:
            found.add(actor.user_id)
        elif "@" in text:
            found.update(User.objects.filter(email=text.lower()).values_list("id", flat=True))
        elif (named := ids_named(text, actor)) or not actor.may(P.MEMBERS_READ):
            found.update(named)
        else:
            raise InvalidInput(
                Message("Nobody here is called “{name}”. Write a part of a name.", name=text[:40])
            )
    return found


def ids_named(text: str, actor: Actor) -> set[UUID]:
    """Return up to 200 people with all words in their name, or with an address that begins so."""
    rows = Membership.objects.all() if actor.org_id else User.objects.all()
    of = "user__" if actor.org_id else ""
    named, words = Q(), text.split()
    if not words or "@" in text:
        return set()
    for word in words:
        named &= Q((f"{of}name__icontains", word))
    found = rows.filter(named | Q((f"{of}email__istartswith", text)))
    return set(found.values_list(f"{of}id", flat=True)[:MOST_PEOPLE])


def person_values(actor: Actor) -> list[tuple[str, Any]]:
    """Return people as (e-mail address or `me`, name)."""
    if not actor.may(P.MEMBERS_READ):
        return [("me", pgettext("text, workspaces", "You"))]
    rows = people().order_by("user__email").values_list("user__email", "user__name")[:MOST_PEOPLE]
    return [("me", pgettext("text, workspaces", "You")), *rows]


TEAM = Filter(
    "team",
    one_of("team__slug"),
    help="Team slugs separated by commas; `!` excludes one.",
    label=pgettext("filter", "Team"),
    values=team_values,
    field="team__slug",
    is_multiple=True,
)
OWNER = Filter(
    "owner",
    matching(people_of()),
    help=_PERSON,
    label=pgettext("filter", "Owner"),
    chips=(("me", pgettext("choice of a filter", "Mine")),),
    values=person_values,
    field="owner__email",
    is_multiple=True,
    key="user",
)
