"""Validate constraints between the fields of a section, after each field is valid on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import TYPE_CHECKING, Any, TypeVar

from schedulers.spec.errors import invalid
from schedulers.spec.names import data_variable
from schedulers.spec.sections import Fault

if TYPE_CHECKING:
    from schedulers.spec.model import JobSpec

T = TypeVar("T")
# bytes of names and values together: below the limit of execve, as Muster adds its own
MOST_ENVIRONMENT = 100 * 1024


def check_run(text: str) -> str:
    if not text.strip():
        raise invalid("is empty; write the commands to run")
    return text


def faults_of_job(made: JobSpec) -> Iterator[Fault]:
    for name in sorted(set(made.envs) & set(made.secrets)):
        yield ("secrets", name), "is also set in `envs`; keep one of the two"
    for name in sorted(made.secret_files):
        if taken := next(
            (
                t
                for n in (name, f"{name}_FILE")
                for t in ("envs", "secrets")
                if n in getattr(made, t)
            ),
            "",
        ):
            yield (
                ("secret_files", name),
                f"is also set in `{taken}`, or {name}_FILE is; keep one of the two",
            )
    yield from _faults_of_data(made)
    for name in _repeated(port.name for port in made.ports):
        yield ("ports",), f"the name {name} is used twice"
    for number in _repeated(port.port for port in made.ports if port.port):
        yield ("ports",), f"the port {number} is used twice"
    size = sum(len(name) + len(value.encode()) + 2 for name, value in made.envs.items())
    if size > MOST_ENVIRONMENT:
        yield (
            ("envs",),
            f"is {size:,} bytes long in all; at most {MOST_ENVIRONMENT:,} are allowed",
        )


def _faults_of_data(made: JobSpec) -> Iterator[Fault]:
    paths = [entry.path for entry in _data(made) if entry.path]
    for path in _repeated(paths):
        yield (
            ("inputs",),
            f"the path {path} is used twice; each input, output and workspace needs its own",
        )
    for inner, outer in permutations(paths, 2):
        if inner.startswith(f"{outer}/"):
            yield ("inputs",), f"the path {inner} is inside of {outer}; use separate paths"
    for field in ("inputs", "outputs", "workspaces"):
        for variable in _repeated(data_variable("", name) for name in getattr(made, field)):
            yield (
                (field,),
                f"has two names for the variable MUSTER_{field[:-1].upper()}{variable}; rename one",
            )


def _data(made: JobSpec) -> Iterator[Any]:
    yield from (*made.inputs.values(), *made.outputs.values(), *made.workspaces.values())


def _repeated(values: Iterable[T]) -> list[T]:
    return [value for value, count in Counter(values).items() if count > 1]
