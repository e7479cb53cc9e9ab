"""Create the namespace of a team, with restricted pods and network policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedulers.kubernetes import names

Object = dict[str, Any]
LEVEL = "pod-security.kubernetes.io"


def namespace(name: str, prefix: str, org: str, team: str) -> Object:
    marks = {names.MANAGED: names.MUSTER, names.PORTAL: prefix}
    levels = {f"{LEVEL}/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {**marks, **levels},
            "annotations": {names.ORG: org, names.TEAM: team},
        },
    }


def policies(prefix: str, blocked: Sequence[str]) -> list[Object]:
    """Return the network policies: deny all, then allow what jobs need.

    That is pods of the same team, DNS, and everything outside except `blocked` (metadata services
    of clouds, the cluster's own networks).
    """
    outside = [
        {"ipBlock": {"cidr": net, "except": [b for b in blocked if (":" in b) == (":" in net)]}}
        for net in ("0.0.0.0/0", "::/0")
    ]
    dns = {
        "ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}],
        "to": [{"namespaceSelector": {}}],
    }
    return [
        _policy("muster-deny", prefix, {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}),
        _policy(
            "muster-jobs",
            prefix,
            {
                "podSelector": {"matchLabels": {names.MANAGED: names.MUSTER}},
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [{"from": [{"podSelector": {}}]}],
                "egress": [{"to": [{"podSelector": {}}]}, dns, {"to": outside}],
            },
        ),
    ]


def _policy(name: str, prefix: str, spec: Object) -> Object:
    marks = {names.MANAGED: names.MUSTER, names.PORTAL: prefix}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "labels": marks},
        "spec": spec,
    }
