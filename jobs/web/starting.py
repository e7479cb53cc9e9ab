"""The YAML that the page of a new job begins with."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

from jobs import selectors
from jobs.job_specs import spec_of
from schedulers.spec import JobSpec, examples

_AMOUNT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,6})?", re.ASCII)


def starting_text(request: Any) -> str:
    """A former job (`?from=`), with the change that was offered for it (`?change=resources.cpus&was=4&to=2`); else an example."""
    if former := request.GET.get("from"):
        spec = spec_of(selectors.find_job(request.actor, former))
        return changed(
            spec, *(request.GET.get(name, "") for name in ("change", "was", "to"))
        ).to_yaml()
    chosen = request.GET.get("example", "")
    known = examples()
    return next((e.yaml for e in known if e.title == chosen), known[0].yaml)


def changed(spec: JobSpec, field: str, was: str, to: str) -> JobSpec:
    """With less of one field, as `jobs.scheduling.blocking_jobs.offer` tells it (of all nodes together, or of each: the share is the same); what is no
    such change leaves the spec as it is."""
    share = _share(was, to)
    if share is None:
        return spec
    ask = spec.resources
    match field:
        case "resources.accelerators" if ask.gpus:
            return replace(
                spec,
                resources=replace(
                    ask, accelerators=replace(ask.accelerators, count=max(1, int(ask.gpus * share)))
                ),
            )
        case "resources.cpus":
            return replace(
                spec,
                resources=replace(
                    ask, cpus=max(0.1, int(Fraction(str(ask.cpus)) * share * 1000) / 1000)
                ),
            )
        case "resources.memory" if ask.memory:
            return replace(
                spec, resources=replace(ask, memory=max(1 << 20, int(ask.memory * share)))
            )
        case "num_nodes":
            return replace(spec, num_nodes=max(1, int(spec.num_nodes * share)))
    return spec


def _share(was: str, to: str) -> Fraction | None:
    """More than nothing and less than all; None for what is no amount."""
    if not _AMOUNT.fullmatch(was) or not _AMOUNT.fullmatch(to) or not float(was):
        return None
    share = Fraction(to) / Fraction(was)
    return share if 0 < share < 1 else None
