"""Read the `MLmodel` file of MLflow: flavors, signature and requirements."""

from __future__ import annotations

from typing import Any

import orjson

from portal.core import yaml_documents
from portal.core.yaml_documents import BadYaml, Limits
from portal.formats.reading import Damaged, text_of

LONGEST, LONGEST_REQUIREMENTS = 256 << 10, 64 << 10  # bytes
MOST_VALUES, MOST_DEPTH, MOST_COLUMNS, MOST_REQUIREMENTS = 5000, 12, 500, 300


def read(data: bytes) -> dict[str, Any]:
    """Return the facts of an MLmodel file. Raises Damaged."""
    try:
        found = yaml_documents.load(data, Limits(size=LONGEST))
    except BadYaml as error:
        raise Damaged(f"The MLmodel file can't be read. {error.message}") from None
    if not isinstance(found, dict):
        raise Damaged("The MLmodel file is not valid.")
    flavors = found.get("flavors")
    return {
        "flavors": {
            _text(name, 80): _plain(options)
            for name, options in list(flavors.items() if isinstance(flavors, dict) else ())[:30]
        },
        "signature": _signature(found.get("signature")),
        **{
            name: _text(found[name], 200)
            for name in ("mlflow_version", "model_uuid", "model_id", "run_id", "utc_time_created")
            if found.get(name) is not None
        },
    }


def requirements(data: bytes) -> list[str]:
    """Return the lines of a requirements.txt that name packages."""
    lines = text_of(data[:LONGEST_REQUIREMENTS], LONGEST_REQUIREMENTS).splitlines()
    named = (line.partition("#")[0].strip() for line in lines)
    return [line[:200] for line in named if line][:MOST_REQUIREMENTS]


def _signature(given: Any) -> dict[str, Any] | None:
    """Return inputs, outputs and params, each a list of columns; MLflow writes them as JSON."""
    if not isinstance(given, dict):
        return None
    found = {name: _columns(given.get(name)) for name in ("inputs", "outputs", "params")}
    return found if any(found.values()) else None


def _columns(text: Any) -> list[Any]:
    if isinstance(text, str):
        try:
            text = orjson.loads(text)
        except orjson.JSONDecodeError:
            raise Damaged("The signature in the MLmodel file is not valid JSON.") from None
    columns = text if isinstance(text, list) else []
    plain = _plain(columns[:MOST_COLUMNS])
    return plain if isinstance(plain, list) else []


def _text(value: Any, longest: int) -> str:
    """Return a value in a line; not that of a list or mapping, in which aliases may repeat."""
    if isinstance(value, list | tuple | dict | set) or (
        isinstance(value, int) and abs(value) >> 64
    ):
        raise Damaged("The MLmodel file is not valid.")
    return text_of(str(value).encode(errors="replace"), longest)


def _plain(value: Any) -> Any:
    """Return a copy for JSON, with limits: YAML may repeat one part many times."""
    left = MOST_VALUES

    def copied(value: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > MOST_DEPTH:
            raise Damaged("The MLmodel file has too many values to be read.")
        if isinstance(value, dict):
            return {_text(key, 200): copied(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [copied(inner, depth + 1) for inner in value]
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return value if abs(value) < 1 << 53 else _text(value, 50)
        if isinstance(value, float):
            return value if value - value == 0 else str(value)
        return _text(value, 2000)

    return copied(value, 0)
