"""Apply changes to single fields of a spec, such as {"envs.LR": "3e-4"} for a rerun."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from schedulers.spec.errors import FieldError, SpecErrors

# The rest of the path is one key, which may contain dots.
_OPEN = ("envs", "secrets", "secret_files", "labels")
_ALIASES = {"env": "envs"}


def with_overrides(data: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the plain data of a spec with the changes applied; None removes a field.

    Raises SpecErrors for a path that leads nowhere. The values are checked by the parser.
    """
    made = copy.deepcopy(dict(data))
    for path, value in overrides.items():
        try:
            _put(made, _steps(path), value)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise SpecErrors([FieldError(path, "the job has no such field")]) from error
    return made


def _steps(path: str) -> list[str | int]:
    head, _, rest = path.partition(".")
    head = _ALIASES.get(head, head)
    if head in _OPEN and rest:
        return [head, rest]
    return [
        int(word[1:-1]) if word.startswith("[") else word
        for word in re.findall(r"\[\d{1,6}\]|[^.\[\]]+", f"{head}.{rest}")
    ]


def _put(made: Any, steps: list[str | int], value: Any) -> None:
    *path, last = steps
    for step in path:
        made = made.setdefault(step, {}) if isinstance(made, dict) else made[step]
    if value is None and isinstance(made, dict):
        made.pop(last, None)
    else:
        made[last] = value
