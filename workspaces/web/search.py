"""People, teams and organizations in the command palette, and the page that it asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import pgettext_lazy as pgettext

from portal.web.guide import found_topics
from portal.web.search import MAX_QUERY, Hit, Query, SearchProvider, platform_kinds, search
from workspaces.access.permissions import Permission as P
from workspaces.models import Organization, Team, User
from workspaces.organizations.selectors import orgs_of, people
from workspaces.tenancy.scope import org_scope
from workspaces.web.base import page
from workspaces.web.context import last_organization


@page()
def find(request: Any) -> HttpResponse:
    """Search an organization for the command palette."""
    return _found(request, request.org.slug)


@page(P.CLUSTERS_READ)
def find_in_platform(request: Any) -> HttpResponse:
    """Search the platform area, and the organization seen last, for the command palette."""
    groups = search(Query(request.actor, "", _text(request)))
    org, inside = last_organization(request, request.actor, lambda: orgs_of(request.actor))
    if org and inside:
        with org_scope(org.id):
            found = search(Query(inside, org.slug, _text(request)), platform_kinds(request.actor))
        groups += [group | {"label": f"{group['label']} · {org.name}"} for group in found]
    return JsonResponse({"groups": groups})


def _found(request: Any, org: str) -> HttpResponse:
    return JsonResponse({"groups": search(Query(request.actor, org, _text(request)))})


def _text(request: Any) -> str:
    return str(request.GET.get("q", "").replace("\x00", "").strip()[:MAX_QUERY])


def _users(query: Query) -> Iterator[Hit]:
    rows = query.narrow(User.objects.filter(is_service=False), "name", "email")
    for pk, name, email in rows.values_list("id", "name", "email"):
        url = reverse("platform-person", kwargs={"person": pk})
        yield Hit(name or email, url, email if name else "")


def _people(query: Query) -> Iterator[Hit]:
    rows = query.narrow(people(), "user__name", "user__email")
    for name, email in rows.values_list("user__name", "user__email"):
        url = reverse("member", kwargs={"org": query.org, "email": email})
        yield Hit(name or email, url, email if name else "")


def _teams(query: Query) -> Iterator[Hit]:
    for team in query.narrow(Team.objects.all(), "name", "slug"):
        yield Hit(
            team.name, reverse("team", kwargs={"org": query.org, "team": team.slug}), team.slug
        )


def _organizations(query: Query) -> Iterator[Hit]:
    for org in query.narrow(Organization.objects.all(), "name", "slug"):
        yield Hit(org.name, reverse("home", kwargs={"org": org.slug}), org.slug)


PROVIDERS = (
    SearchProvider(
        "help", pgettext("group of search results", "Help"), 90, found_topics, in_platform=True
    ),
    SearchProvider(
        "people", pgettext("group of search results", "People"), 30, _people, P.MEMBERS_READ
    ),
    SearchProvider(
        "people",
        pgettext("group of search results", "People"),
        30,
        _users,
        P.PLATFORM_ADMIN,
        in_platform=True,
        in_org=False,
    ),
    SearchProvider("teams", pgettext("group of search results", "Teams"), 40, _teams, P.TEAMS_READ),
    SearchProvider(
        "organizations",
        pgettext("group of search results", "Organizations"),
        70,
        _organizations,
        P.PLATFORM_ADMIN,
        in_platform=True,
    ),
)
