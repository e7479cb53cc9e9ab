"""The lists of this app: one declaration for page, CSV file and REST API each."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from clusters.models import Node
from monitoring.nodes import UNREAD, node_rows
from portal.core.keyset import Order
from portal.lists import Column, ListView
from workspaces.access.permissions import Permission as P

NODES = ListView(
    name="nodes",
    permission=P.NODES_READ,
    rows=lambda actor: Node.objects.select_related("cluster").defer(*UNREAD),
    represent=node_rows,
    order=Order("cluster__name", "name"),
    max_page_size=500,
    columns=(
        Column("name", _("Node")),
        Column("cluster", None),
        Column("state", _("State")),
        Column("gpus", _("GPUs"), value=lambda row: len(row["gpus"])),
        Column("cpus", _("CPU held"), "num", value=lambda row: row["cpus"]["held"]),
        Column("cpus_total", None, value=lambda row: row["cpus"]["total"]),
        Column("cpu_used", _("CPU used"), "num", value=None),
        Column("memory", _("Memory used"), "num", value=None),
        Column("jobs", _("Jobs"), value=lambda row: [job["number"] for job in row["jobs"]]),
        Column("seen_at", _("Seen"), "num"),
    ),
    row_template="monitoring/_node_row.html",
)
