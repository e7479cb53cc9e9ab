"""Nodes and GPUs in the command palette, and the actions on a node: `drain gpu-07`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import pgettext_lazy

from clusters.models import Cluster, Device, Node
from clusters.services.drain import may_drain
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from portal.web.search import Hit, Query, SearchProvider
from portal.web.translation import translated
from workspaces.access.permissions import Permission as P

# The words that begin a search for a node to act on, in English and the reader's language
DRAIN = pgettext_lazy("a word that is typed before the name of a node", "drain")
RESUME = pgettext_lazy("a word that is typed before the name of a node", "resume")


def _node_url(query: Query, name: str, cluster: str) -> str:
    url = (
        reverse("node", kwargs={"org": query.org, "node": name})
        if query.org
        else reverse("platform-node", kwargs={"node": name})
    )
    return f"{url}?{urlencode({'cluster': cluster})}"


def _nodes(query: Query) -> Iterator[Hit]:
    rows = query.narrow(Node.objects.filter(is_gone=False), "name")
    for name, cluster in rows.values_list("name", "cluster__name"):
        yield Hit(name, _node_url(query, name, cluster), cluster)


def _gpus(query: Query) -> Iterator[Hit]:
    """Find GPUs by UUID, or by node and model: `gpu-07 h100`."""
    rows = Device.objects.filter(node__is_gone=False).select_related("node__cluster")
    for one in query.narrow(rows, "node__name", "uuid", "type"):
        node, cluster = one.node.name, one.node.cluster.name
        url = (
            reverse("gpu", kwargs={"org": query.org, "uuid": one.uuid})
            if query.org
            else _node_url(query, node, cluster)
        )
        yield Hit(f"{node} GPU {one.index}", url, f"{gpu_text(one.type)} · {cluster}", one.uuid)


def _acts(query: Query) -> Iterator[Hit]:
    """Find the nodes to drain or resume, where the text begins with that word."""
    first, *rest = query.words
    if first.lower() in ("drain", str(DRAIN).lower()):
        message, is_drained = Message("Drain {name}", context="text, monitoring"), False
    elif first.lower() in ("resume", str(RESUME).lower()):
        message, is_drained = Message("Resume {name}", context="text, monitoring"), True
    else:
        return
    clusters = [cluster for cluster in Cluster.objects.all() if may_drain(cluster)]
    rows = Node.objects.filter(is_gone=False, is_drained=is_drained, cluster__in=clusters)
    found = replace(query, text=" ".join(rest)).narrow(rows, "name")
    for name, cluster in found.values_list("name", "cluster__name"):
        asked = {"cluster": cluster} | ({} if is_drained else {"dialog": "drain"})
        url = reverse("platform-node", kwargs={"node": name})
        title = translated(Message(message, name=name))
        yield Hit(title, f"{url}?{urlencode(asked)}", cluster, f"drain resume {DRAIN} {RESUME}")


PROVIDERS = (
    SearchProvider(
        "acts",
        pgettext_lazy("group of search results", "Actions"),
        5,
        _acts,
        P.CLUSTERS_WRITE,
        in_platform=True,
    ),
    SearchProvider(
        "nodes",
        pgettext_lazy("group of search results", "Nodes"),
        20,
        _nodes,
        P.NODES_READ,
        in_platform=True,
    ),
    SearchProvider(
        "gpus",
        pgettext_lazy("group of search results", "GPUs"),
        22,
        _gpus,
        P.NODES_READ,
        in_platform=True,
    ),
)
