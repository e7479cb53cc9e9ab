"""Load the example jobs that ship with Muster: files under `examples/`, ready to submit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from schedulers.spec.parsing import parse_yaml

EXAMPLES_DIR = Path(__file__).resolve().parents[2] / "examples"
ORDER = (
    "digits/job.yaml",
    "hello.yaml",
    "sweep.yaml",
    "gpu.yaml",
    "torchrun.yaml",
    "digits/nodes.yaml",
    "digits/input.yaml",
    "digits/resume.yaml",
    "typo.yaml",
)


@dataclass(frozen=True)
class Example:
    """An example: the job's name, the first comment of the file, and the file itself."""

    title: str
    description: str
    yaml: str


@cache
def examples(directory: Path = EXAMPLES_DIR) -> tuple[Example, ...]:
    """Return the examples in display order, the simplest first; cached, as they never change.

    Raises SpecErrors if one is invalid.
    """
    return tuple(_example((directory / name).read_text(encoding="utf-8")) for name in ORDER)


def _example(text: str) -> Example:
    return Example(parse_yaml(text).name, text.partition("\n")[0].removeprefix("#").strip(), text)
