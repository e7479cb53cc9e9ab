"""The examples that ship with Muster: real files under `examples/`, ready to submit as they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from schedulers.spec.parsing import parse_yaml

EXAMPLES_DIR = Path(__file__).resolve().parents[2] / "examples"
ORDER = (
    "digits/job.yaml",
    "hello.yaml",
    "sweep.yaml",
    "gpu.yaml",
    "digits/nodes.yaml",
    "typo.yaml",
)


@dataclass(frozen=True)
class Example:
    """`title` is the job's name, `description` the file's first comment, `yaml` the file."""

    title: str
    description: str
    yaml: str


def examples(directory: Path = EXAMPLES_DIR) -> list[Example]:
    """In the order in which to offer them; the first is the one to begin with. Raises SpecErrors if one is broken."""
    return [_example((directory / name).read_text(encoding="utf-8")) for name in ORDER]


def _example(text: str) -> Example:
    return Example(parse_yaml(text).name, text.partition("\n")[0].removeprefix("#").strip(), text)
