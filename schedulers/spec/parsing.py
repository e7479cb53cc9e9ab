"""The doors by which a spec comes in: YAML, plain data, and `#SBATCH` scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schedulers.spec import document
from schedulers.spec.errors import FieldError, Place, Report, SpecErrors
from schedulers.spec.model import JOB, JobSpec

_EMPTY = JobSpec()


@dataclass(frozen=True)
class Parsed:
    """A spec, and what of the text it could not keep (only `#SBATCH` scripts leave notes)."""

    spec: JobSpec
    notes: tuple[FieldError, ...] = ()


def parse_yaml(text: str) -> JobSpec:
    """Raises SpecErrors, with lines, and nothing else whatever the text."""
    read = document.load(text)
    return read_spec(read.data, Report(read.lines, read.sources))


def parse_mapping(data: object) -> JobSpec:
    """Plain data, as from JSON. Raises SpecErrors and nothing else whatever the data."""
    return read_spec(data, Report())


def read_spec(data: object, report: Report) -> JobSpec:
    """Plain data whose lines `report` knows. Raises SpecErrors with all that was added to the report before, too."""
    if not isinstance(data, Mapping):
        raise SpecErrors(
            [
                FieldError(
                    "",
                    "must be a mapping such as `run: hostname`, with one `key: value` on each line",
                    1,
                )
            ]
        )
    spec = Place(report).read(JOB, data, _EMPTY)
    report.raise_if_any()
    return spec
