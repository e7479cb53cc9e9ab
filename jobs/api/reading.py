"""Parse a spec from a request body.

It comes as `spec` (an object) or as `yaml` (text: YAML, or a script with #SBATCH lines).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from jobs.models import Job
from portal.core.errors import InvalidInput
from schedulers.spec import (
    FieldError,
    JobSpec,
    Parsed,
    SpecErrors,
    parse_mapping,
    parse_text,
    with_overrides,
)


class SpecFaultShape(TypedDict):
    field: str
    message: str
    line: int | None


def read_spec(body: Mapping[str, Any]) -> Parsed:
    """Parse the spec.

    Raises InvalidInput with all errors at once: field, message and, for text, the line.
    """
    spec, text = body.get("spec"), body.get("yaml")
    if (spec is None) == (text is None):
        raise InvalidInput.at("spec", "send either `spec` (an object) or `yaml` (text)")
    try:
        return (
            parse_text(text)
            if isinstance(text, str)
            else Parsed(parse_mapping(spec if text is None else text))
        )
    except SpecErrors as error:
        raise refusal(error.errors) from error


def read_rerun(job: Job, body: Mapping[str, Any]) -> JobSpec | None:
    """Return the changed spec of a rerun; None for the spec of the job.

    `overrides` changes single fields: {"envs.LR": "3e-4"}. Raises InvalidInput.
    """
    overrides = body.get("overrides")
    if overrides in (None, {}):
        return read_spec(body).spec if body.get("spec") or body.get("yaml") else None
    if not isinstance(overrides, Mapping):
        raise InvalidInput.at("overrides", "must be a mapping of fields to values")
    if body.get("spec") or body.get("yaml"):
        raise InvalidInput.at("overrides", "send either a spec or `overrides`")
    before = {name: value for name, value in job.spec.items() if name != "after"}
    try:
        return parse_mapping(with_overrides(before, overrides))
    except SpecErrors as error:
        raise refusal(error.errors) from error


def refusal(faults: Sequence[FieldError]) -> InvalidInput:
    """Combine the errors of a spec into one exception."""
    first = faults[0]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return InvalidInput(
        f"{first.field}: {first.message}{more}" if first.field else f"{first.message}{more}",
        errors=[fault(f) for f in faults],
        code="invalid_spec",
    )


def fault(error: FieldError) -> SpecFaultShape:
    """Return one error as the API represents it."""
    return {"field": error.field, "message": error.message, "line": error.line}
