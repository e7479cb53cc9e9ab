"""Pools and clusters in the command palette."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import pgettext_lazy as pgettext

from clusters.models import Cluster
from clusters.pools import pools_visible_to
from portal.web.search import EACH, Hit, Query, SearchProvider
from workspaces.access.permissions import Permission as P


def _pools(query: Query) -> Iterator[Hit]:
    found = [p for p in pools_visible_to(query.actor) if query.matches(p.name, p.cluster.name)]
    for pool in found[:EACH]:
        url = reverse("pool", kwargs={"org": query.org, "pool": pool.name})
        yield Hit(pool.name, url, pool.cluster.name)


def _clusters(query: Query) -> Iterator[Hit]:
    for cluster in query.narrow(Cluster.objects.all(), "name"):
        yield Hit(
            cluster.name, reverse("cluster", kwargs={"cluster": cluster.name}), cluster.backend
        )


PROVIDERS = (
    SearchProvider("pools", pgettext("group of search results", "Pools"), 50, _pools, P.NODES_READ),
    SearchProvider(
        "clusters",
        pgettext("group of search results", "Clusters"),
        60,
        _clusters,
        P.CLUSTERS_READ,
        in_platform=True,
    ),
)
