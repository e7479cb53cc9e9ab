"""Nodes in the command palette."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from clusters.models import Node
from portal.web.search import Hit, Query, SearchProvider
from workspaces.access.permissions import Permission as P


def _nodes(query: Query) -> Iterator[Hit]:
    rows = query.narrow(Node.objects.all(), "name")
    for name, cluster in rows.values_list("name", "cluster__name"):
        url = reverse("node", kwargs={"org": query.org, "node": name})
        yield Hit(name, f"{url}?{urlencode({'cluster': cluster})}", cluster)


PROVIDERS = (SearchProvider("nodes", _("Nodes"), 20, _nodes, P.NODES_READ),)
