"""Apply `--set field=value` changes to a job spec.

Values stay text; the portal parses numbers, sizes and times.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from muster.errors import InvalidInput

_OPEN = (
    "envs",
    "secrets",
    "secret_files",
    "labels",
)  # the rest of the path is one key, which may contain dots


def changed(spec: Mapping[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """Return a copy with the changes applied.

    `field=` removes a field. Lists and mappings are written as JSON. Raises InvalidInput.
    """
    made = copy.deepcopy(dict(spec))
    for change in changes:
        path, is_pair, text = change.partition("=")
        if not is_pair or not path:
            raise InvalidInput(
                f"Invalid change {change!r}. Use field=value, such as resources.cpus=4."
            )
        _put(made, _steps(path), _value(text), change)
    return made


def _steps(path: str) -> list[str | int]:
    head, dot, rest = path.partition(".")
    if head == "env":  # as in `muster run --env`
        head, path = "envs", f"envs{dot}{rest}"
    if head in _OPEN and rest:
        return [head, rest]
    return [
        int(word[1:-1]) if word.startswith("[") else word
        for word in re.findall(r"\[\d+\]|[^.\[\]]+", path)
    ]


def _value(text: str) -> Any:
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except ValueError as error:
            raise InvalidInput(f"{text!r} is not valid JSON: {error}") from error
    return text


def _put(made: Any, steps: list[str | int], value: Any, change: str) -> None:
    *path, last = steps
    try:
        for step in path:
            made = made.setdefault(step, {}) if isinstance(made, dict) else made[step]
        if value == "" and isinstance(made, dict):
            made.pop(last, None)
        else:
            made[last] = value
    except (IndexError, TypeError, KeyError) as error:
        raise InvalidInput(f"Invalid change {change!r}: the job has no such field.") from error
