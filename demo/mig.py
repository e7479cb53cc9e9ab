"""Play the node agents of a simulated cluster: they describe GPUs, and partition them when asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from clusters.backends import backend_of
from clusters.models import Cluster, MigPlan, MigPlanNode, Node
from demo.backend import SimulatedCluster
from monitoring.metrics.ingest import ingest
from portal.core import clock

DRIVER = "570.124.06"


def described(backend: SimulatedCluster, node: str) -> list[dict[str, Any]]:
    """Describe the GPUs of a node as an agent does."""
    layouts = backend.layouts()
    return [
        {
            "index": gpu.index,
            "uuid": gpu.uuid,
            "model": gpu.model,
            "memory": gpu.memory,
            "compute": gpu.compute,
            "serial": f"165{int(gpu.uuid[-8:], 16) % 10**10:010d}",
            "pci": f"00000000:{0x18 + 16 * gpu.index:02X}:00.0",
            "numa": gpu.index // 4,
            "links": 18 if gpu.type == "h100" else None,
            "is_mig": layouts.get(gpu.uuid) is not None,
            "mig": [
                {**one, "uuid": instance.uuid, "memory": instance.memory, "index": n}
                for n, (one, instance) in enumerate(
                    backend.instances(gpu, layouts.get(gpu.uuid) or [])
                )
            ],
        }
        for gpu in backend.hardware(node)
    ]


def report(cluster: Cluster, nodes: Sequence[Node]) -> None:
    """Send what the agents of these nodes have to say, and of those with work, and do the work."""
    backend = cast(SimulatedCluster, backend_of(cluster))
    planned = MigPlanNode.objects.filter(
        plan__cluster=cluster, plan__state=MigPlan.State.APPLYING, state=MigPlanNode.State.CHANGING
    )
    busy = set(planned.values_list("node", flat=True))
    for node in {*nodes, *Node.objects.filter(id__in=busy)}:
        if node.id not in busy and node.reported.get("mig") == "allowed":
            continue
        mig: dict[str, Any] = {"is_allowed": True}
        if done := backend.report_of(node.name):
            mig["report"] = done
        facts = {"driver": DRIVER, "gpus": described(backend, node.name), "mig": mig}
        answer = ingest({"node": node.name, "at": clock.now_ms(), "facts": facts})
        if work := answer.get("work"):
            _partition(backend, node.name, work)


def _partition(backend: SimulatedCluster, node: str, work: Mapping[str, Any]) -> None:
    layouts = {gpu["uuid"]: gpu["after"] for gpu in work["gpus"]}
    backend.partition(node, layouts, {"id": work["id"], "state": "done", "layouts": layouts})
