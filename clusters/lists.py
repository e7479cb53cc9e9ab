"""The lists of this app: one declaration for page, CSV file and REST API each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from clusters import capacity, pools, representations
from clusters.models import Cluster
from clusters.node_capacity import node_usage_in
from clusters.status import status_of
from clusters.workload import workload
from portal.lists import Column, Filter, ListView, worded
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.organizations.selectors import teams_for
from workspaces.subjects import SubjectKind, use_columns, with_use

Item = dict[str, Any]


def _places(actor: Actor) -> list[dict[str, Any]]:
    """Return visible pools (all, for operators) and clusters without pools."""
    seen = pools.pools_visible_to(actor)
    whole = list(Cluster.objects.filter(is_enabled=True, pools=None).order_by("name"))
    clusters = {c.id: c for c in (*whole, *(p.cluster for p in seen))}
    machines, teams, used = (
        node_usage_in(clusters.values()),
        pools.teams_of(seen),
        workload().counts_in(actor),
    )
    nothing = {"runs": 0, "waits": 0}
    return [
        {
            "name": c.name,
            "cluster": c,
            "standing": status_of(c),
            "pool": None,
            "teams": [],
            "is_open": True,
            "note": "",
            "rule": "all nodes",
            "stock": capacity.capacity_of(machines[c.id]),
            **used.get((c.id, None), nothing),
        }
        for c in whole
    ] + [
        {
            "name": p.name,
            "cluster": p.cluster,
            "standing": status_of(p.cluster),
            "pool": p,
            "teams": teams[p.id],
            "is_open": p.is_open,
            "note": p.note,
            "rule": p.rule_text,
            "stock": capacity.capacity_of(capacity.inside_of(p, machines[p.cluster_id])),
            **used.get((p.cluster_id, p.id), nothing),
        }
        for p in seen
    ]


def _on_cluster(places: list[Item], cluster: str, actor: Actor) -> list[Item]:
    return [place for place in places if place["cluster"].name == cluster]


def _open_to(places: list[Item], team: str, actor: Actor) -> list[Item]:
    return [
        place
        for place in places
        if place["cluster"].is_enabled and (place["is_open"] or team in place["teams"])
    ]


def _teams(actor: Actor) -> list[tuple[str, str]]:
    return [(team["slug"], team["name"]) for team in teams_for(actor)]


def _clusters(actor: Actor) -> list[tuple[str, str]]:
    return [(name, "") for name in sorted({place["cluster"].name for place in _places(actor)})]


def _clusters_with_use(rows: Sequence[Any], actor: Actor) -> list[Item]:
    ids = dict(Cluster.objects.values_list("name", "id"))
    represented = with_use(_as_they_are, SubjectKind.CLUSTER, lambda row: ids[row["name"]])
    return represented(rows, actor)


def _as_they_are(rows: Sequence[Any], actor: Actor) -> list[Item]:
    return list(rows)


def _with_team_names(rows: Sequence[Any], actor: Actor) -> list[Item]:
    slugs = {slug for row in rows for slug in row["teams"]}
    names = dict(Team.objects.filter(slug__in=slugs).values_list("slug", "name"))
    return [
        row | {"team_names": [(slug, names.get(slug, slug)) for slug in row["teams"]]}
        for row in rows
    ]


def _place(row: Item) -> tuple[UUID, str]:
    """Return the key of a pool, or of the rest of a cluster."""
    return row["cluster"].id, row["pool"].name if row["pool"] else ""


CLUSTERS = ListView(
    name="clusters",
    permission=P.CLUSTERS_READ,
    rows=lambda actor: representations.cluster_rows(),
    filters=(
        Filter(
            "q",
            worded("name"),
            help="Words of the name.",
            label=pgettext("filter", "Search"),
            placeholder=_("Name of a cluster"),
        ),
    ),
    represent=_clusters_with_use,
    columns=(
        Column("name", pgettext("column", "Cluster")),
        Column("state", pgettext("column", "State"), value=lambda row: row["standing"]["word"]),
        Column("nodes", pgettext("column", "Nodes"), value=lambda row: row["nodes"]["total"]),
        Column(
            "gpus",
            pgettext("column", "GPUs allocated"),
            "num",
            value=lambda row: row["gpus"]["used"],
        ),
        Column("gpus_total", None, value=lambda row: row["gpus"]["total"]),
        *use_columns("gpu_hours", "trend"),
        Column("seen_at", pgettext("column", "Last response"), "num"),
        Column("actions", "", value=None),
    ),
    row_template="clusters/_cluster_row.html",
)

PLACES = ListView(
    name="pools",
    permission=P.NODES_READ,
    rows=_places,
    represent=with_use(_with_team_names, SubjectKind.POOL, _place),
    filters=(
        Filter(
            "q",
            worded("name", "rule", "note"),
            help="Words of the name, the nodes or the note.",
            label=pgettext("filter", "Search"),
            placeholder=_("Name of a pool, or team:vision"),
        ),
        Filter(
            "team",
            _open_to,
            help="Slug of a team that may use it.",
            label=pgettext("filter", "Available to"),
            values=_teams,
        ),
        Filter(
            "cluster",
            _on_cluster,
            help="Name of the cluster.",
            label=pgettext("filter", "Cluster"),
            values=_clusters,
        ),
    ),
    columns=(
        Column("name", pgettext("column", "Pool")),
        Column("note", None),
        Column("cluster", None, value=lambda row: row["cluster"].name),
        Column(
            "free",
            pgettext("column", "GPUs free"),
            "num",
            value=lambda row: row["stock"].all_gpus.free,
        ),
        Column(
            "gpus",
            pgettext("column", "By model"),
            value=lambda row: list(row["stock"].gpus),
            is_extra=True,
        ),
        Column("nodes", pgettext("column", "Nodes"), value=lambda row: row["stock"].total),
        Column("teams", _("Teams with access"), is_optional=True),
        Column("runs", pgettext("column", "Active jobs"), "num"),
        *use_columns("gpu_hours", "cost", "trend"),
    ),
    row_template="clusters/_place_row.html",
)
