"""What the page skeleton shows on every page: where one is, where one may go, what runs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from workspaces import selectors
from workspaces.actors import Actor
from workspaces.permissions import Permission as P

# name, address below the organization, icon, permission, key after `g`
_NAV = (
    ("Home", "", "home", None, "h"),
    ("Jobs", "jobs", "jobs", None, "j"),
    ("Nodes", "nodes", "nodes", P.NODES_READ, "n"),
    ("Teams", "teams", "teams", P.TEAMS_READ, "t"),
    ("Members", "members", "members", P.MEMBERS_READ, "m"),
    ("Quotas", "quotas", "quotas", P.QUOTAS_READ, "q"),
    ("Tokens", "tokens", "tokens", P.TOKENS_READ, "k"),
)


def shell(request: HttpRequest) -> dict[str, Any]:
    """Cheap, and empty where nobody is signed in."""
    actor: Actor | None = getattr(request, "actor", None)
    org = getattr(request, "org", None)
    shown: dict[str, Any] = {"actor": actor, "org": org, "version": settings.MUSTER_VERSION, "base_url": settings.MUSTER_BASE_URL}
    if actor is None or org is None:
        return shown
    return shown | {"nav": _nav(request, actor, org.slug), "orgs": lambda: selectors.orgs_of(actor)}


def _nav(request: HttpRequest, actor: Actor, slug: str) -> list[dict[str, Any]]:
    return [{"name": name, "url": f"/{slug}/{path}" if path else f"/{slug}/", "icon": icon, "key": key,
             "is_current": _is_below(request.path, f"/{slug}/{path}", exact=not path)}
            for name, path, icon, needed, key in _NAV if needed is None or actor.may(needed)]


def _is_below(path: str, url: str, *, exact: bool) -> bool:
    return path.rstrip("/") == url.rstrip("/") or (not exact and path.startswith(url + "/"))
