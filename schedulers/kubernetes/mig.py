"""Partition nodes through NVIDIA's GPU operator: its node labels and its MIG configurations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import yaml

from portal.core import yaml_documents
from portal.core.messages import Message
from portal.core.yaml_documents import BadYaml, Limits
from schedulers import mig
from schedulers.contract import GpuLayout, Rejected
from schedulers.kubernetes.client import ApiError, Client, segment

CONFIG, STATE = "nvidia.com/mig.config", "nvidia.com/mig.config.state"
_DISABLED = "all-disabled"
_CONFIGURATIONS = Limits(size=1 << 20, values=50_000)  # a config map has at most 1 MiB


def config_of(gpus: Sequence[GpuLayout]) -> tuple[str, str]:
    """Return the configuration of a node for mig-parted: its name and its YAML.

    Those of the operator have their own names ("all-1g.10gb"); ours have one from their content.
    """
    alike: dict[str, list[int]] = {}
    for gpu in gpus:
        alike.setdefault(_key(gpu.profiles), []).append(gpu.index)
    rows = [_rule(key, alike[key], len(alike) == 1) for key in sorted(alike)]
    name = _usual(gpus)
    if not name:
        digest = sha256(yaml.safe_dump(rows, sort_keys=True).encode()).hexdigest()
        name = f"muster-{digest[:8]}"
    document = {"version": "v1", "mig-configs": {name: rows}}
    return name, yaml.safe_dump(document, sort_keys=False, default_flow_style=None)


def installed(client: Client, place: str) -> frozenset[str]:
    """Return the configurations in the config map NAMESPACE/NAME. Raises Rejected."""
    namespace, _, name = place.partition("/")
    path = f"/api/v1/namespaces/{segment(namespace)}/configmaps/{segment(name)}"
    try:
        data = client.get(path).get("data") or {}
        found = yaml_documents.load(data.get("config.yaml", ""), _CONFIGURATIONS) or {}
        return frozenset(found["mig-configs"])
    except ApiError as error:
        raise Rejected(
            Message(
                "{place} can't be read: {error}", context="error", place=place, error=str(error)
            )
        ) from error
    except (BadYaml, KeyError, TypeError) as error:
        raise Rejected(Message("{place} has no valid MIG configurations.", place=place)) from error


def request(client: Client, node: str, name: str) -> None:
    """Set the label of a node, unless it has it. A state of before is removed. Raises Rejected."""
    if state(client, node)[0] == name:
        return
    labels: dict[str, Any] = {CONFIG: name, STATE: None}
    try:
        client.patch(f"/api/v1/nodes/{segment(node)}", {"metadata": {"labels": labels}})
    except ApiError as error:
        raise Rejected(str(error)) from error


def state(client: Client, node: str) -> tuple[str, str]:
    """Return the requested configuration of a node and its state. Raises Rejected."""
    try:
        found = client.get("/api/v1/nodes", fieldSelector=f"metadata.name={node}")["items"]
    except ApiError as error:
        raise Rejected(str(error)) from error
    if not found:
        raise Rejected(Message("No node {node} is there.", node=repr(node)))
    labels = found[0]["metadata"].get("labels", {})
    return labels.get(CONFIG, ""), labels.get(STATE, "")


def _usual(gpus: Sequence[GpuLayout]) -> str:
    """Return the operator's own name for a node whose GPUs are all alike, if it has one."""
    kinds = {gpu.profiles for gpu in gpus}
    if len(kinds) != 1:
        return ""
    [profiles] = kinds
    if profiles is None:
        return _DISABLED
    if len(set(profiles)) != 1:
        return ""
    models = [mig.MODELS.get(gpu.model) for gpu in gpus]
    known = [model.profile(profiles[0]) if model else None for model in models]
    is_full = all(one is not None and one.most == len(profiles) for one in known)
    return f"all-{profiles[0]}" if is_full else ""


def _key(profiles: tuple[str, ...] | None) -> str:
    return "" if profiles is None else ",".join(("on", *sorted(profiles)))


def _rule(key: str, indexes: list[int], is_all: bool) -> dict[str, Any]:
    devices: Any = "all" if is_all else sorted(indexes)
    if not key:
        return {"devices": devices, "mig-enabled": False}
    counts = dict(sorted(Counter(key.split(",")[1:]).items()))
    return {"devices": devices, "mig-enabled": True, "mig-devices": counts}
