"""What the command palette has before the server is asked: pages and actions of both areas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils import translation
from django.utils.translation import pgettext

from portal.web.navigation import Action, Area, actions_for, entries_for
from workspaces.access.actors import Actor
from workspaces.models import Organization

Item = dict[str, Any]


def palette_items(
    actor: Actor, inside: Actor | None, org: Organization | None, *, is_platform: bool
) -> list[Item]:
    """Return the pages and actions of the area that is shown first, then those of the other.

    `inside` is the actor in `org`. `words` of an item are found, too, and not shown.
    """
    of_org = list(_items(inside, Area.ORGANIZATION, org.slug)) if inside and org else []
    of_platform = list(_items(actor, Area.PLATFORM))
    name = org.name if org else ""
    first, second, other = (
        (of_platform, of_org, name)
        if is_platform
        else (of_org, of_platform, pgettext("text, workspaces", "Platform"))
    )
    everywhere = _actions(actions_for(inside or actor, Area.EVERYWHERE))
    return [*first, *everywhere, *(item | {"note": other} for item in second)]


def _items(actor: Actor, area: Area, slug: str = "") -> Iterator[Item]:
    entries = entries_for(actor.may, is_platform=area is Area.PLATFORM)
    with translation.override("en"):
        words = [str(one.label) for one in entries]
    for one, word in zip(entries, words, strict=True):
        yield {"title": str(one.label), "note": f"g {one.key}", "words": word, "url": one.url(slug)}
    yield from _actions(actions_for(actor, area), slug)


def _actions(actions: list[Action], slug: str = "") -> Iterator[Item]:
    with translation.override("en"):
        words = [f"{one.label}, {one.words}" for one in actions]
    for one, english in zip(actions, words, strict=True):
        yield {
            "title": str(one.label),
            "note": one.key,
            "words": f"{one.words}, {english}",
            "url": one.url(slug),
            "kind": "action",
            "theme": one.theme,
            "text": str(one.text),
        }
