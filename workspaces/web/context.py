"""Context of the page skeleton: location, navigation, running jobs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _

from portal.languages.sentences import told
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.organizations import selectors
from workspaces.organizations.announcements import DISMISSED, announced_to

# Name, URL below the organization, icon, permission, key after `g`
_NAV = (
    ("Home", "", "home", None, "h"),
    ("Jobs", "jobs", "jobs", None, "j"),
    ("Nodes", "nodes", "nodes", P.NODES_READ, "n"),
    ("Pools", "pools", "pools", P.NODES_READ, "p"),
    ("Clusters", "clusters", "nodes", P.CLUSTERS_READ, "l"),
    ("Queue", "queue", "queue", P.CLUSTERS_READ, "w"),
    ("Teams", "teams", "teams", P.TEAMS_READ, "t"),
    ("Members", "members", "members", P.MEMBERS_READ, "m"),
    ("Directories", "directories", "directories", P.PROVIDERS_READ, "d"),
    ("Roles", "roles", "roles", P.MEMBERS_READ, "r"),
    ("Quotas", "quotas", "quotas", P.QUOTAS_READ, "q"),
    ("Applications", "applications", "tokens", P.APPLICATIONS_READ, "i"),
    ("Tokens", "tokens", "tokens", P.TOKENS_READ, "k"),
    ("Secrets", "secrets", "secrets", None, "s"),
    ("Announcements", "announcements", "announce", P.ORG_ADMIN, "b"),
    ("Audit", "audit", "audit", P.AUDIT_READ, "a"),
    ("Platform", "platform", "platform", P.PLATFORM_ADMIN, "o"),
)


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
            {"title": told(item["name"]), "note": f"g {item['key']}", "url": item["url"]}
            for item in nav
        ),
        {"title": _("My running jobs"), "note": "", "url": f"/{slug}/jobs?owner=me&state=running"},
        {"title": _("Failed jobs"), "note": "", "url": f"/{slug}/jobs?state=failed"},
        {"title": _("Why can somebody …?"), "note": "", "url": f"/{slug}/access"},
        {"title": _("API documentation"), "note": "", "url": "/api/docs/"},
    ]


def _nav(request: HttpRequest, actor: Actor, slug: str) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "url": f"/{slug}/{path}" if path else f"/{slug}/",
            "icon": icon,
            "key": key,
            "is_current": _is_below(request.path, f"/{slug}/{path}", exact=not path),
        }
        for name, path, icon, needed, key in _NAV
        if needed is None or actor.may(needed)
    ]


def _is_below(path: str, url: str, *, exact: bool) -> bool:
    return path.rstrip("/") == url.rstrip("/") or (not exact and path.startswith(url + "/"))
