"""Parse, validate, compare and render job specs in YAML, JSON or `#SBATCH` form.

Pure Python: imports no Django and no model, so the CLI and tests can use all of it.
"""

from __future__ import annotations

from schedulers.spec.compare import FieldChange, diff
from schedulers.spec.data import Best, Input, Keep, Output, Resume, Workspace
from schedulers.spec.environment import Task, environment, ports_of
from schedulers.spec.errors import FieldError, SpecErrors
from schedulers.spec.examples import Example, examples
from schedulers.spec.features import Feature
from schedulers.spec.model import (
    ImageCheck,
    JobSpec,
    Launcher,
    Policy,
    Port,
    PortAccess,
    Preempt,
    Priority,
    Resources,
    json_schema,
)
from schedulers.spec.overrides import with_overrides
from schedulers.spec.parsing import Parsed, parse_mapping, parse_yaml
from schedulers.spec.parts import Accelerators, Array, Condition, Dependency
from schedulers.spec.sbatch import parse_sbatch, parse_text
from schedulers.spec.script import script
from schedulers.spec.slurm import Slurm

__all__ = [
    "Accelerators",
    "Array",
    "Best",
    "Condition",
    "Dependency",
    "Example",
    "Feature",
    "FieldChange",
    "FieldError",
    "ImageCheck",
    "Input",
    "JobSpec",
    "Keep",
    "Launcher",
    "Output",
    "Parsed",
    "Policy",
    "Port",
    "PortAccess",
    "Preempt",
    "Priority",
    "Resources",
    "Resume",
    "Slurm",
    "SpecErrors",
    "Task",
    "Workspace",
    "diff",
    "environment",
    "examples",
    "json_schema",
    "parse_mapping",
    "parse_sbatch",
    "parse_text",
    "parse_yaml",
    "ports_of",
    "script",
    "with_overrides",
]
