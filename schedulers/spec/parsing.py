"""Parse specs from YAML and from plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schedulers.spec import document
from schedulers.spec.errors import FieldError, Location, Report, SpecErrors
from schedulers.spec.model import JOB, JobSpec

_EMPTY = JobSpec()


@dataclass(frozen=True)
class Parsed:
    """A spec, with notes on ignored options (only `#SBATCH` scripts have notes)."""

    spec: JobSpec
    notes: tuple[FieldError, ...] = ()


def parse_yaml(text: str) -> JobSpec:
    """Parse YAML. Raises only SpecErrors, with line numbers."""
    read = document.load(text)
    return read_spec(read.data, Report(read.lines, read.sources))


def parse_mapping(data: object) -> JobSpec:
    """Parse plain data, such as a JSON body. Raises only SpecErrors."""
    return read_spec(data, Report())


def read_spec(data: object, report: Report) -> JobSpec:
    """Parse plain data whose line numbers are in `report`.

    Raises SpecErrors, including all errors already recorded in the report.
    """
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
    spec = Location(report).read(JOB, data, _EMPTY)
    report.raise_if_any()
    return spec
