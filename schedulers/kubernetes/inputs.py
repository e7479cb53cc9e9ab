"""Give a pod its inputs: from a volume with the portal's data folder, or fetched before it starts.

Inputs are at /muster/inputs/NAME, and at the path that the spec wants. Without the volume an init
container fetches them into an emptyDir, which goes with the pod. A cache on the nodes would need
hostPath volumes, which the restricted Pod Security of the namespaces forbids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Launch, Rejected
from schedulers.programs import FETCH, fetch_settings, source_of
from schedulers.spec.names import data_variable

Object = dict[str, Any]
FOLDER, SETTINGS, CONTAINER = "/muster/inputs", "inputs.json", "fetch"
_KEPT = ("/dev", "/muster")


def with_program(launch: Launch, claim: str) -> Launch:
    """Return the launch with the program that fetches its inputs, unless a volume has them."""
    if claim or not launch.data.inputs:
        return launch
    settings = fetch_settings(launch, FOLDER, by_name=True).encode()
    programs = {**launch.data.programs, FETCH: source_of(FETCH), SETTINGS: settings}
    return replace(launch, data=replace(launch.data, programs=programs))


def check(launch: Launch, mounted: Sequence[str]) -> None:
    """Raise Rejected for a path that is taken."""
    for one in launch.data.inputs:
        check_free_path(one.path, mounted, f"inputs.{one.name}.path")


def check_free_path(path: str, mounted: Iterable[str], field: str) -> None:
    """Raise Rejected for a path that is taken; an empty one is not."""
    if path and any(_is_inside(path, other) for other in (*_KEPT, *mounted)):
        raise Rejected(
            Message("{path} has other files in this cluster's containers.", path=path), field
        )


def environment(launch: Launch) -> dict[str, str]:
    """Return MUSTER_INPUT_NAME for each input."""
    return {
        data_variable("MUSTER_INPUT", one.name): f"{FOLDER}/{one.name}"
        for one in launch.data.inputs
    }


def volumes(launch: Launch, claim: str) -> list[Object]:
    if not launch.data.inputs:
        return []
    if claim:
        source = {"persistentVolumeClaim": {"claimName": claim, "readOnly": True}}
        return [{"name": "inputs", **source}]
    return [{"name": "inputs", "emptyDir": {}}]


def mounts(launch: Launch, claim: str) -> list[Object]:
    """Return the read-only mounts of the job's container."""
    return [
        {
            "name": "inputs",
            "mountPath": path,
            "subPath": one.tree if claim else one.name,
            "readOnly": True,
        }
        for one in launch.data.inputs
        for path in (f"{FOLDER}/{one.name}", one.path)
        if path
    ]


def init_containers(launch: Launch, claim: str, image: str, main: Object) -> list[Object]:
    """Return the container that fetches the inputs, with the rights and limits of the main one."""
    if claim or not launch.data.inputs:
        return []
    given = next(one for one in main["volumeMounts"] if one["name"] == "given")
    programs = f"{given['mountPath']}/programs"
    limits = {k: v for k, v in main["resources"]["limits"].items() if k in ("cpu", "memory")}
    return [
        {
            "name": CONTAINER,
            "image": image or main["image"],
            "imagePullPolicy": main["imagePullPolicy"],
            "command": ["python3", "-I", f"{programs}/{FETCH}", f"{programs}/{SETTINGS}"],
            "resources": {"limits": limits, "requests": dict(limits)},
            "securityContext": main["securityContext"],
            "volumeMounts": [given, {"name": "inputs", "mountPath": FOLDER}],
        }
    ]


def text_of(launch: Launch) -> str:
    """Name the versions, for people."""
    return ", ".join(one.text for one in launch.data.inputs)


def _is_inside(path: str, other: str) -> bool:
    other = other.rstrip("/")
    return path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/")
