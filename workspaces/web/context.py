"""Context of the page skeleton: location, navigation, running jobs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.web import navigation
from workspaces.access.actors import Actor
from workspaces.organizations import selectors
from workspaces.organizations.announcements import DISMISSED, announced_to


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the context; cheap, and empty for anonymous requests."""
    actor: Actor | None = getattr(request, "actor", None)
    org = getattr(request, "org", None)
    shown: dict[str, Any] = {
        "actor": actor,
        "org": org,
        "version": settings.MUSTER_VERSION,
        "base_url": settings.MUSTER_BASE_URL,
        "announcements": lambda: (
            actor and announced_to(org and org.id, request.session.get(DISMISSED, ()))
        ),
    }
    if actor is None or org is None:
        return shown
    nav = _nav(request, actor, org.slug)
    return shown | {
        "nav": nav,
        "orgs": lambda: selectors.orgs_of(actor),
        "palette": _palette(nav, org.slug),
    }


def _palette(nav: list[dict[str, Any]], slug: str) -> list[dict[str, str]]:
    """Return the built-in entries of the command palette: pages and actions."""
    return [
        {"title": _("New job"), "note": "c", "url": f"/{slug}/jobs/new"},
        *(
            {"title": str(item["label"]), "note": f"g {item['key']}", "url": item["url"]}
            for item in nav
        ),
        {"title": _("My running jobs"), "note": "", "url": f"/{slug}/jobs?owner=me&state=running"},
        {"title": _("Failed jobs"), "note": "", "url": f"/{slug}/jobs?state=failed"},
        {"title": _("Why can somebody …?"), "note": "", "url": f"/{slug}/access"},
        {"title": _("API documentation"), "note": "", "url": "/api/docs/"},
    ]


def _nav(request: HttpRequest, actor: Actor, slug: str) -> list[dict[str, Any]]:
    home = reverse("home", kwargs={"org": slug})
    return [
        {
            "group": entry.group,
            "label": entry.label,
            "url": (url := entry.url(slug)),
            "icon": entry.icon,
            "key": entry.key,
            "is_current": _is_below(request.path, url, exact=url == home),
        }
        for entry in navigation.entries_for(actor.may)
    ]


def _is_below(path: str, url: str, *, exact: bool) -> bool:
    return path.rstrip("/") == url.rstrip("/") or (not exact and path.startswith(url + "/"))
