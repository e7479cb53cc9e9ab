"""Mount workspaces in a pod: folders of a volume that the portal and all pods share.

They are at /muster/workspaces/NAME, and at the path that the spec wants. A pod only gets its own
folders of the volume (`subPath`), and what is read-only is so in the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Launch, Rejected
from schedulers.kubernetes.inputs import check_free_path
from schedulers.spec.names import data_variable

Object = dict[str, Any]
FOLDER = "/muster/workspaces"


def check(launch: Launch, claim: str, mounted: Iterable[str]) -> None:
    """Raise Rejected without a volume for workspaces, or for a path that is taken."""
    taken = [*mounted, *(one.path for one in launch.data.inputs if one.path)]
    for one in launch.data.folders:
        if not claim:
            raise Rejected(
                Message(
                    "The pods of this cluster do not see workspaces. An operator can set the claim "
                    "of their volume: Workspaces in the settings of the cluster."
                ),
                f"workspaces.{one.name}",
            )
        check_free_path(one.path, taken, f"workspaces.{one.name}.path")
        taken += [one.path] if one.path else []


def environment(launch: Launch) -> dict[str, str]:
    """Return MUSTER_WORKSPACE_NAME for each workspace."""
    return {
        data_variable("MUSTER_WORKSPACE", one.name): f"{FOLDER}/{one.name}"
        for one in launch.data.folders
    }


def volumes(launch: Launch, claim: str) -> list[Object]:
    if not launch.data.folders:
        return []
    return [{"name": "workspaces", "persistentVolumeClaim": {"claimName": claim}}]


def mounts(launch: Launch) -> list[Object]:
    return [
        {
            "name": "workspaces",
            "mountPath": path,
            "subPath": one.tree,
            "readOnly": one.read_only,
        }
        for one in launch.data.folders
        for path in (f"{FOLDER}/{one.name}", one.path)
        if path
    ]
