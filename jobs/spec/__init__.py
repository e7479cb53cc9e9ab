"""What a job asks for: read from YAML, JSON or `#SBATCH` scripts, checked, compared, and turned into what runs.

Pure Python: no Django and no model is imported here, so that the CLI and the tests can use all of it.
"""

from __future__ import annotations

from jobs.spec.compare import Change, diff
from jobs.spec.environment import Task, environment
from jobs.spec.errors import FieldError, SpecErrors
from jobs.spec.examples import Example, examples
from jobs.spec.features import Feature
from jobs.spec.model import (
    ImageCheck,
    Input,
    JobSpec,
    Launcher,
    Output,
    Policy,
    Port,
    Preempt,
    Priority,
    Resources,
)
from jobs.spec.parts import Accelerators, Array, Condition, Dependency
from jobs.spec.reading import Parsed, parse_mapping, parse_yaml
from jobs.spec.sbatch import parse_sbatch, parse_text
from jobs.spec.schema import FieldDoc, describe, json_schema
from jobs.spec.script import script
from jobs.spec.slurm import Slurm

__all__ = [
    "Accelerators",
    "Array",
    "Change",
    "Condition",
    "Dependency",
    "Example",
    "Feature",
    "FieldDoc",
    "FieldError",
    "ImageCheck",
    "Input",
    "JobSpec",
    "Launcher",
    "Output",
    "Parsed",
    "Policy",
    "Port",
    "Preempt",
    "Priority",
    "Resources",
    "Slurm",
    "SpecErrors",
    "Task",
    "describe",
    "diff",
    "environment",
    "examples",
    "json_schema",
    "parse_mapping",
    "parse_sbatch",
    "parse_text",
    "parse_yaml",
    "script",
]
