"""Filters by team and owner, which lists of several apps share."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from portal.lists import Filter, matching, one_of
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.organizations.selectors import people, teams_for

MOST_PEOPLE = 200  # in the menu of owners


def team_choices(actor: Actor) -> list[tuple[str, Any]]:
    """Return the teams of a menu as (slug, name); none if there is one team only."""
    teams = [(team["slug"], team["name"]) for team in teams_for(actor)]
    return [("", _("All teams")), *teams] if len(teams) > 1 else []


def owned_by(owners: list[str], actor: Actor) -> Q:
    """Return the condition of rows whose owner has one of these e-mail addresses, or is `me`."""
    found = Q(owner__email__in=[owner.lower() for owner in owners if owner != "me"])
    return found | Q(owner_id=actor.user_id) if "me" in owners else found


def owner_choices(actor: Actor) -> list[tuple[str, Any]]:
    """Return the owners of a menu as (e-mail address or `me`, name)."""
    if not actor.may(P.MEMBERS_READ):
        return [("me", _("You"))]
    rows = people().order_by("user__email").values_list("user__email", "user__name")[:MOST_PEOPLE]
    return [("me", _("You")), *rows]


TEAM = Filter(
    "team",
    one_of("team__slug"),
    help="Team slugs separated by commas; `!` excludes one.",
    label=_("Team"),
    choices=team_choices,
    is_multiple=True,
)
OWNER = Filter(
    "owner",
    matching(owned_by),
    help="E-mail addresses or `me`, separated by commas; `!` excludes one.",
    label=_("Owner"),
    chips=(("me", _("Mine")),),
    values=owner_choices,
    is_multiple=True,
    key="user",
)
