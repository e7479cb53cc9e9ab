"""Part of the double of Kubernetes: check objects against the schema of the official client."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from tests.rig.kubernetes_store import Answer

_SCALARS = {"str": str, "bytes": str, "int": int, "bool": bool, "float": (int, float)}


def check(thing: dict[str, Any]) -> None:
    """Check that every field is known and of its type. Raises the 400 of a strict server."""
    _check(thing, f"V1{thing['kind']}", "")


def _check(value: Any, kind: str, path: str) -> None:
    if listed := re.fullmatch(r"List\[(.+)\]", kind):
        _expect(isinstance(value, list), path, kind)
        for index, item in enumerate(value):
            _check(item, listed[1], f"{path}[{index}]")
    elif mapped := re.fullmatch(r"Dict\[str, (.+)\]", kind):
        _expect(isinstance(value, dict), path, kind)
        for name, item in value.items():
            _check(item, mapped[1], f"{path}[{name}]")
    elif kind in _SCALARS:
        _expect(
            isinstance(value, _SCALARS[kind]) and (kind == "bool" or not isinstance(value, bool)),
            path,
            kind,
        )
    elif kind not in {"object", "datetime"}:
        _check_model(value, kind, path)


def _check_model(value: Any, kind: str, path: str) -> None:
    _expect(isinstance(value, dict), path, kind)
    types, names = _model(kind)
    for name, item in value.items():
        if name not in names:
            raise Answer(
                400,
                "BadRequest",
                f'strict decoding error: unknown field "{f"{path}.{name}".strip(".")}"',
            )
        _check(item, types[names[name]], f"{path}.{name}".strip("."))


def _expect(is_right: bool, path: str, kind: str) -> None:
    if not is_right:
        raise Answer(400, "BadRequest", f"cannot unmarshal {path} into {kind}")


@cache
def _model(kind: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the type of each attribute, and the attribute of each JSON name."""
    from kubernetes.client import models

    model = getattr(models, kind)
    return model.openapi_types, {name: attribute for attribute, name in model.attribute_map.items()}
