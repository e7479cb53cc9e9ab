"""Fast path for the common submission, in one PostgreSQL statement however many nodes there are.

It covers one cluster without pools, a task of one node, a node that fits it and no limit below
the request. Everything else goes through `checks`, which can explain a refusal.
"""

from __future__ import annotations

import json
from functools import cache

from django.db import connection

from clusters.models import Cluster, Gpu, Node, Pool
from jobs.scheduling.admission import AdmissionRequest
from portal.core import messages
from schedulers import capabilities_of
from schedulers.contract import Capability
from schedulers.spec import JobSpec
from workspaces.models import Quota
from workspaces.quotas.limits import checked_resources

_COLUMNS = ("id", "name", "backend", "is_enabled", "created_at", "seen_at", "trouble")

_SQL = """
SELECT {seen},
  EXISTS (SELECT 1 FROM {pool} p WHERE p.cluster_id = c.id),
  NOT EXISTS (SELECT 1 FROM {node} n WHERE n.cluster_id = c.id AND n.is_ready AND NOT n.is_drained)
  OR EXISTS (SELECT 1 FROM {node} n WHERE n.cluster_id = c.id AND n.is_ready AND NOT n.is_drained
             AND n.cpus >= %(cpu)s AND n.memory >= %(memory)s
             AND (%(gpu)s = 0 OR %(gpu)s <= (SELECT count(*) FROM {gpu} g
                                             WHERE g.node_id = n.id AND %(type)s IN ('', g.type)))),
  EXISTS (SELECT 1 FROM {quota} q WHERE q.org_id = %(org)s
          AND (q.scope, q.subject_id) IN (('user', %(user)s), ('team', %(team)s), ('org', %(org)s))
          AND q."limit" < (%(ask)s::jsonb ->> q.resource)::bigint)
FROM {cluster} c WHERE c.is_enabled LIMIT 2"""


def plain_cluster(spec: JobSpec, request: AdmissionRequest) -> Cluster | None:
    """Return the only cluster if it plainly accepts this request, else None for the full checks."""
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            _statement(),
            {
                "cpu": request.resources.cpu,
                "memory": request.resources.memory,
                "gpu": request.resources.gpu,
                "type": request.resources.gpu_type,
                "org": request.org_id,
                "user": request.user_id,
                "team": request.team_id,
                "ask": json.dumps(dict(checked_resources(request.resources.totals))),
            },
        )
        rows = cursor.fetchall()
    if len(rows) != 1:
        return None
    *values, has_pools, fits, is_over = rows[0]
    cluster = Cluster.from_db(connection.alias, _COLUMNS, values)
    cluster.trouble = messages.loads(cluster.trouble)
    fits = fits and request.resources.nodes == 1  # the statement looks for one node
    # The scheduler chooses the nodes.
    fits = fits or Capability.PLACES not in capabilities_of(cluster.backend)
    return (
        cluster
        if fits and not has_pools and not is_over and spec.policy.pool in ("", cluster.name)
        else None
    )


@cache
def _statement() -> str:
    quote, models = (
        connection.ops.quote_name,
        {"pool": Pool, "node": Node, "gpu": Gpu, "quota": Quota, "cluster": Cluster},
    )
    return _SQL.format(
        seen=", ".join(f"c.{quote(name)}" for name in _COLUMNS),
        **{name: quote(model._meta.db_table) for name, model in models.items()},
    )
