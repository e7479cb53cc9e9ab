"""The form of a backend's options: what it said, and what it shows again. Drawn from the Config; no backend is known by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusters.models import Cluster
from jobs.clusters.making import secrets_set
from jobs.clusters.options import Option, options_of
from portal.core.errors import PortalError


def given(request: Any, kind: str, cluster: Cluster | None = None) -> dict[str, Any]:
    """What the form said: a switch that is not sent is off, a secret ticked for removal is None. Of a cluster that is there, what
    stands at its default and was never set stays unset."""
    removed, said = set(request.POST.getlist("remove")), {}
    for option in options_of(kind):
        value = _said(request, option)
        if option.kind == "secret" and value == "" and option.name in removed:
            value = None
        if cluster is None or option.kind == "secret" or option.name in cluster.config or value != option.default:
            said[option.name] = value
    return said


def fields(request: Any, kind: str, faults: Mapping[str, str], cluster: Cluster | None = None) -> dict[str, Any]:
    """The fields as a page draws them: `plain` ones, `rare` ones, and whether those are unfolded."""
    stored = {*cluster.config, *secrets_set(cluster)} if cluster else set()
    made = [option.as_dict() | {"value": _value(request, option, cluster), "fault": faults.get(option.name, ""),
                                "is_set": option.name in stored, "is_removed": option.name in request.POST.getlist("remove")}
            for option in options_of(kind)]
    rare = [f for f in made if f["is_rare"]]
    return {"plain": [f for f in made if not f["is_rare"]], "rare": rare, "faults": faults,
            "is_unfolded": any(f["is_set"] or f["fault"] for f in rare)}


def faults_of(error: PortalError) -> tuple[str, dict[str, str]]:
    """What belongs to no field, and what does, by its name."""
    found = {str(fault["field"]).removeprefix("options."): str(fault["message"]) for fault in error.data.get("errors", ())}
    if error.kind == "name_taken":
        found = {"name": error.message}
    return ("" if found else error.message), found


def _said(request: Any, option: Option) -> Any:
    if option.kind == "switch":
        return option.name in request.POST
    return str(request.POST.get(option.name, "")).replace("\r\n", "\n")


def _value(request: Any, option: Option, cluster: Cluster | None) -> Any:
    """What stood in the field, so that a fault costs no typing; a secret is typed again."""
    if option.kind == "secret":
        return ""
    if request.method == "POST":
        return _said(request, option)
    stored = (cluster.config if cluster else {}).get(option.name, option.default if option.choices or option.kind == "switch" else "")
    return " ".join(stored) if isinstance(stored, list) else stored
