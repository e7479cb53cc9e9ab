"""SDK for clusters, their nodes, and pools. Rows are the API's JSON, typed in `muster.shapes`.

Everything except reading pools is for operators.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import Json

if TYPE_CHECKING:
    from muster.client import Client
    from muster.shapes.clusters import (
        ClusterDetailShape,
        ClusterListShape,
        HealthPolicyShape,
        NodeHealthShape,
        NodeShape,
        NodeStateShape,
        PoolCapacityShape,
        PoolShape,
        ProbeShape,
    )

RESOURCES = {
    "clusters": "Clusters",
    "pools": "Pools",
    "mig": "Mig",
}


class Clusters:
    def __init__(self, client: Client):
        self._client = client

    def all(self) -> ClusterListShape:
        """Return the clusters as `items`, and the supported `kinds` with their options."""
        return self._call("GET", "clusters")

    def get(self, name: str) -> ClusterDetailShape:
        return self._call("GET", _at(name))

    def nodes(self, name: str) -> builtins.list[NodeShape]:
        return list(self._call("GET", f"{_at(name)}/nodes")["items"])

    def connect(
        self, name: str, backend: str, options: dict[str, Any] | None = None
    ) -> ClusterDetailShape:
        return self._call(
            "POST", "clusters", {"name": name, "backend": backend, "options": options or {}}
        )

    def change(self, name: str, **changes: Any) -> ClusterDetailShape:
        """Change `options` (others keep their values) or `is_enabled`."""
        return self._call("PATCH", _at(name), changes)

    def test(self, name: str) -> ProbeShape:
        """Test the connection."""
        return self._call("POST", f"{_at(name)}/test", {})

    def remove(self, name: str) -> None:
        self._call("DELETE", _at(name))

    def drain(self, name: str, node: str, reason: str) -> NodeStateShape:
        return self._call(
            "POST", f"{_at(name)}/nodes/{quote(node, safe='')}/drain", {"reason": reason}
        )

    def resume(self, name: str, node: str) -> NodeStateShape:
        return self._call("POST", f"{_at(name)}/nodes/{quote(node, safe='')}/resume", {})

    def health(self, name: str) -> HealthPolicyShape:
        """Return the health checks, the limits, and the number of nodes by health."""
        return self._call("GET", f"{_at(name)}/health")

    def change_health(self, name: str, **changes: Any) -> HealthPolicyShape:
        """Change `checks` (by code; null restores defaults), is_acting, most_percent, most_per_hour."""
        return self._call("PATCH", f"{_at(name)}/health", changes)

    def reset_health(self, name: str) -> HealthPolicyShape:
        """Let the rules act again after they stopped."""
        return self._call("POST", f"{_at(name)}/health/reset", {})

    def node_health(self, name: str, node: str) -> NodeHealthShape:
        return self._call("GET", f"{_at(name)}/nodes/{quote(node, safe='')}/health")

    def quarantine(self, name: str, node: str, reason: str) -> NodeHealthShape:
        """Take a node out of service until `return_node`."""
        return self._call(
            "POST", f"{_at(name)}/nodes/{quote(node, safe='')}/quarantine", {"reason": reason}
        )

    def return_node(self, name: str, node: str) -> NodeHealthShape:
        return self._call("POST", f"{_at(name)}/nodes/{quote(node, safe='')}/return", {})

    def _call(self, method: str, path: str, body: Json | None = None) -> Any:
        answer = self._client.request(method, path, **({} if body is None else {"body": body}))
        return answer.json() if answer.content and answer.status_code != 204 else {}


class Pools:
    def __init__(self, client: Client):
        self._client = client

    def list(self) -> builtins.list[PoolCapacityShape]:
        return builtins.list(self._client.items("pools"))

    def create(self, name: str, cluster: str, **rule: Any) -> PoolShape:
        """Create a pool. `rule`: labels, partition, gpu_type, note, is_open."""
        return self._client.send("POST", "pools", {"name": name, "cluster": cluster, **rule})

    def delete(self, name: str) -> None:
        self._client.send("DELETE", f"pools/{quote(name, safe='')}")

    def grant(self, name: str, team: str, **identity: str) -> PoolShape:
        """Grant a pool to a team.

        `identity` is the `user`, `account` and `qos` that the scheduler uses for the team's jobs.
        Without any of them, the previous values stay.
        """
        return self._client.send(
            "PUT", f"pools/{quote(name, safe='')}/teams/{quote(team, safe='')}", identity
        )

    def request(self, team: str, gpu_type: str, gpus: int, ends_at: str, **more: Any) -> Json:
        """Ask for GPUs until a time (ISO 8601). `more`: starts_at, purpose, budget, renews."""
        body = {"team": team, "gpu_type": gpu_type, "gpus": gpus, "ends_at": ends_at, **more}
        return self._client.send("POST", "pool-requests", body)

    def requests(self) -> builtins.list[Json]:
        return builtins.list(self._client.items("pool-requests"))

    def get_request(self, request: str) -> Json:
        """Return a request with its `reservation`; for operators with `what_if`, its effect."""
        return self._client.get(f"pool-requests/{quote(request, safe='')}")

    def decide(self, request: str, do: str, **given: Any) -> Json:
        """Approve (`pool`, and perhaps `gpus`, `ends_at`), decline, withdraw or return."""
        return self._client.send(
            "POST", f"pool-requests/{quote(request, safe='')}", {"do": do, **given}
        )

    def idle_rule(self, name: str) -> Json:
        """Return the rule for idle GPUs of a pool."""
        return self._client.get(f"pools/{quote(name, safe='')}/idle-rule")

    def set_idle_rule(self, name: str, **fields: Any) -> Json:
        """Set is_enabled, metric, threshold, watts, window, action, grace, exempt, spares_exec."""
        return self._client.send("PUT", f"pools/{quote(name, safe='')}/idle-rule", fields)

    def delete_idle_rule(self, name: str) -> None:
        self._client.send("DELETE", f"pools/{quote(name, safe='')}/idle-rule")

    def idle_jobs(self, name: str) -> builtins.list[Json]:
        """Return the jobs that the rule finds idle now, without doing anything."""
        return builtins.list(self._client.items(f"pools/{quote(name, safe='')}/idle-jobs"))

    def revoke(self, name: str, team: str) -> None:
        self._client.send("DELETE", f"pools/{quote(name, safe='')}/teams/{quote(team, safe='')}")


class Mig:
    """MIG plans: how GPUs are partitioned. For operators."""

    def __init__(self, client: Client):
        self._client = client

    def plan(
        self, cluster: str, wish: dict[str, int], nodes: builtins.list[str] | None = None
    ) -> Json:
        """Draft a plan after which the nodes offer at least `wish`: {"1g.10gb": 14, "full": 2}."""
        body = {"cluster": cluster, "wish": wish, "nodes": nodes or []}
        return self._call("POST", "mig/plans", body)

    def plans(self) -> builtins.list[Json]:
        return builtins.list(self._call("GET", "mig/plans")["items"])

    def get(self, plan: str) -> Json:
        """Return a plan with its nodes, their progress, and what keeps it from being applied."""
        return self._call("GET", f"mig/plans/{quote(plan, safe='')}")

    def act(self, plan: str, do: str, **given: str) -> Json:
        """Apply, stop, undo (returns a new draft), discard, or confirm (`node`)."""
        return self._call("POST", f"mig/plans/{quote(plan, safe='')}", {"do": do, **given})

    def settings(self, cluster: str, **changes: Any) -> Json:
        """Return how a cluster's GPUs may be partitioned, after changing it if asked."""
        path = f"mig/clusters/{quote(cluster, safe='')}"
        return self._call("PUT", path, changes) if changes else self._call("GET", path)

    def _call(self, method: str, path: str, body: Json | None = None) -> Json:
        answer = self._client.request(method, path, **({} if body is None else {"body": body}))
        data: Json = answer.json()
        return data


def _at(name: str) -> str:
    return f"clusters/{quote(name, safe='')}"
