"""Initial YAML of the page for a new job."""

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
    """Return the YAML of an earlier job (`?from=`) or of an example.

    `?change=resources.cpus&was=4&to=2` applies the change that was suggested for the earlier job.
    """
    if former := request.GET.get("from"):
        spec = spec_of(selectors.find_job(request.actor, former))
        return changed(
            spec, *(request.GET.get(name, "") for name in ("change", "was", "to"))
        ).to_yaml()
    chosen = request.GET.get("example", "")
    known = examples()
    return next((e.yaml for e in known if e.title == chosen), known[0].yaml)


def changed(spec: JobSpec, field: str, was: str, to: str) -> JobSpec:
    """Reduce one field by a change from `jobs.scheduling.blocking_jobs.offer`.

    Amounts may be per node or in total, as the ratio is the same. Any other change is ignored.
    """
    share = _share(was, to)
    if share is None:
        return spec
    resources, less = spec.resources, dict[str, Any]()
    match field:
        case "resources.accelerators" if resources.gpus:
            less = {
                "accelerators": replace(
                    resources.accelerators, count=max(1, int(resources.gpus * share))
                )
            }
        case "resources.cpus":
            less = {"cpus": max(0.1, int(Fraction(str(resources.cpus)) * share * 1000) / 1000)}
        case "resources.memory" if resources.memory:
            less = {"memory": max(1 << 20, int(resources.memory * share))}
        case "num_nodes":
            return spec.model_copy(update={"num_nodes": max(1, int(spec.num_nodes * share))})
        case _:
            return spec
    return spec.model_copy(update={"resources": resources.model_copy(update=less)})


def _share(was: str, to: str) -> Fraction | None:
    """Return the ratio between 0 and 1, exclusive; None for invalid amounts."""
    if not _AMOUNT.fullmatch(was) or not _AMOUNT.fullmatch(to) or not float(was):
        return None
    share = Fraction(to) / Fraction(was)
    return share if 0 < share < 1 else None
