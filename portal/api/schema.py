"""Tags of the API's operations: one for each resource, in the order of the documentation."""

from __future__ import annotations

from typing import Any

# The segments of paths, after the organization if there is one, that each tag covers.
TAGS = {
    "Jobs": ("jobs",),
    "Experiments": ("experiments",),
    "Runs": ("runs",),
    "Models": ("models", "models-trash"),
    "Datasets": ("datasets", "datasets-trash", "datasets-default-retention"),
    "Checkpoints": ("checkpoints", "checkpoints-trash", "checkpoints-default-retention"),
    "Lineage": ("lineage",),
    "Workspaces": ("workspaces", "workspaces-trash"),
    "Usage": ("gpu-time", "idle-gpus", "storage", "usage", "waste", "fleet-usage"),
    "Billing": (
        "cost",
        "budgets",
        "statements",
        "billing-account",
        "discounts",
        "credits",
        "prices",
    ),
    "Nodes": ("nodes", "wall", "agent"),
    "GPUs": ("capacity", "gpus", "mig", "fleet"),
    "Pools": ("pools", "pool-requests"),
    "Clusters": ("clusters", "cluster-test"),
    "Telemetry": ("telemetry-sources", "telemetry-test"),
    "Quotas": ("quotas",),
    "People": ("members", "people", "invitations"),
    "Teams": ("teams",),
    "Roles": ("roles", "access"),
    "Secrets": ("secrets",),
    "Tokens": ("tokens",),
    "Service accounts": ("service-accounts",),
    "Directories": ("providers", "provider-test", "provider-tests"),
    "Applications": ("applications",),
    "Notifications": ("notification-channels",),
    "Audit": ("audit",),
    "Account": ("me",),
    "Organizations": ("orgs",),
}
_TAG_OF = {segment: tag for tag, segments in TAGS.items() for segment in segments}


def tag_of(path: str) -> str:
    """Return the tag of a path below `/api/v1/`. Raises KeyError for a resource without a tag."""
    first, *rest = path.removeprefix("/api/v1/").strip("/").split("/")
    return _TAG_OF[rest[1] if first == "orgs" and len(rest) > 1 else first]


def tag_operations(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Replace the tags of all operations; a postprocessing hook of drf-spectacular."""
    for path, operations in result["paths"].items():
        for operation in operations.values():
            operation["tags"] = [tag_of(path)]
    result["tags"] = [{"name": name} for name in TAGS]
    return result
