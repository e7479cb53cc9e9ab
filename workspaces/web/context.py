"""Context of the page skeleton: location, navigation, command palette, announcements."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from portal.api.client_package import client_package
from portal.core.errors import PortalError
from portal.web import navigation
from portal.web.navigation import GROUP_LABELS, NavigationEntry
from workspaces.access.actors import Actor
from workspaces.models import Organization
from workspaces.organizations import selectors
from workspaces.organizations.announcements import DISMISSED, announced_to
from workspaces.organizations.invitation_links import can_mail
from workspaces.web.palette import palette_items

Item = dict[str, Any]


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the context; cheap, and almost empty for anonymous requests.

    `base` is the path prefix of the page's area: an organization, or `/platform`. Pages of neither,
    such as those of the account, show the navigation of the organization that was seen last.
    """
    is_browser = hasattr(request, "session")  # programs with a token have none
    actor: Actor | None = getattr(request, "actor", None) if is_browser else None
    org: Organization | None = getattr(request, "org", None)
    shown: dict[str, Any] = {
        "actor": actor,
        "org": org,
        "muster_version": settings.MUSTER_VERSION,
        "base_url": settings.MUSTER_BASE_URL,
        "client_package": client_package,
        "can_mail": can_mail,
        "announcements": lambda: (
            actor and announced_to(org.id if org else None, request.session.get(DISMISSED, ()))
        ),
        "is_platform": getattr(request, "is_platform", False),
        "skeleton": "base_auth.html" if actor is None else "base.html",
    }
    if actor is None:
        return shown
    shown["orgs"] = _once(lambda: selectors.orgs_of(actor))
    shown["may_platform"] = bool(navigation.entries_for(actor.may, is_platform=True))
    home, inside = (org, actor) if org else last_organization(request, actor, shown["orgs"])
    shown |= {"shell_org": home, "org_base": f"/{home.slug}" if home else ""}
    if shown["is_platform"]:
        entries, base, slug = navigation.entries_for(actor.may, is_platform=True), "/platform", ""
    elif home and inside:
        entries, base, slug = navigation.entries_for(inside.may), f"/{home.slug}", home.slug
    else:
        return shown
    items = [_item(request.path, entry, slug) for entry in entries]
    return shown | {
        "base": base,
        "nav": [
            {"label": GROUP_LABELS[group], "name": group, "items": list(found)}
            for group, found in groupby(items, key=lambda item: item["group"])
        ],
        "palette": lambda: palette_items(actor, inside, home, is_platform=shown["is_platform"]),
        "running": lambda: navigation.running_count(actor) if org else 0,
    }


def _once(ask: Any) -> Any:
    """Return a function that calls `ask` the first time only."""
    found: list[Any] = []

    def inside() -> Any:
        if not found:
            found.append(ask())
        return found[0]

    return inside


def last_organization(
    request: HttpRequest, actor: Actor, orgs: Any
) -> tuple[Organization | None, Actor | None]:
    """Return the organization that the cookie names, else the first, and the actor inside it."""
    last = request.COOKIES.get(settings.MUSTER_ORG_COOKIE_NAME, "")
    slugs = [one["slug"] for one in orgs()]
    if not slugs:
        return None, None
    found = Organization.objects.filter(slug=last if last in slugs else slugs[0]).first()
    try:
        return found, actor.enter(found) if found else None
    except PortalError:  # it requires a second factor, or another way to sign in
        return None, None


def _item(path: str, entry: NavigationEntry, slug: str) -> Item:
    url = entry.url(slug)
    return {
        "group": entry.group,
        "label": entry.label,
        "url": url,
        "icon": entry.icon,
        "key": entry.key,
        "is_current": _is_below(path, url, exact=url.count("/") == 2 and url.endswith("/")),
    }


def _is_below(path: str, url: str, *, exact: bool) -> bool:
    return path.rstrip("/") == url.rstrip("/") or (not exact and path.startswith(url + "/"))
