"""One example of each operation in the OpenAPI schema: a `curl` command, its body and its answer.

They are derived from the schema, so a new operation has one, and a test validates each against the
schema. A value is, in this order: what the field declares (default, examples, one of its values),
what its name says (VALUES), or what its type and format allow.
"""

from __future__ import annotations

import json
from typing import Any

Part = dict[str, Any]
BASE = "https://muster.example.com"
JSON = "application/json"
DEPTH = 6  # of nested objects; deeper ones are left out or empty
# What fields and parts of paths are called in examples, if their schema allows it
VALUES: dict[str, Any] = {
    "account": "nightly",
    "alias": "champion",
    "branch": "main",
    "cluster": "hpc",
    "code": "full",
    "currency": "EUR",
    "description": "Handwritten digits",
    "detail": "There is no job 999 that you can see.",
    "email": "kim@example.com",
    "experiment": "digits",
    "gpu_type": "h100",
    "gpus": 8,
    "job": 12,
    "kind": "datasets",
    "message": "First version",
    "model": "digits",
    "month": "2026-10",
    "name": "digits",
    "node": "dgx-01",
    "number": 12,
    "org": "home",
    "owner": "kim@example.com",
    "path": "train/0001.png",
    "pool": "h100",
    "reason": "New driver",
    "repository": "digits",
    "resource": "gpu",
    "revision": "v1.0",
    "role": "member",
    "run": "python train.py",
    "scopes": ["jobs:read", "jobs:submit"],
    "secret": "wandb",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "slug": "vision",
    "spec": {"name": "digits", "run": "python train.py", "resources": {"accelerators": "h100:1"}},
    "tag": "v1.0",
    "team": "vision",
    "title": "Digits",
    "token": "mst_…",
    "url": "https://example.com/data.tar",
    "version": 1,
    "workspace": "vision-code",
    "yaml": "name: digits\nrun: python train.py\n",
}
_FORMATS = {
    "binary": "…",
    "date": "2026-10-01",
    "date-time": "2026-10-01T08:30:00Z",
    "decimal": "12.50",
    "email": "kim@example.com",
    "uri": "https://example.com/",
    "uuid": "019a2b3c-4d5e-7f80-9123-456789abcdef",
}
_PLAIN = {"boolean": True, "integer": 1, "number": 0.5, "string": "text"}


def add_examples(result: Part, generator: Any, request: Any, public: bool) -> Part:
    """Give each operation its example; a postprocessing hook of drf-spectacular."""
    schema = Examples(result)
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            body = operation.get("requestBody", {}).get("content", {})
            if JSON in body:
                body[JSON]["example"] = schema.value(body[JSON]["schema"])
            for status, answer in operation["responses"].items():
                content = answer.get("content", {})
                if status.startswith("2") and "schema" in content.get(JSON, {}):
                    content[JSON]["example"] = schema.value(content[JSON]["schema"])
            command = _curl(schema, path, method, operation, body)
            text = operation.get("description", "")
            operation["description"] = f"{text}\n\n```sh\n{command}\n```".strip()
    return result


def _curl(schema: Examples, path: str, method: str, operation: Part, body: Part) -> str:
    for given in operation.get("parameters", []):
        if given["in"] == "path":
            value = schema.value(given["schema"], given["name"])
            path = path.replace(f"{{{given['name']}}}", str(value))
    words = [] if method == "get" else ["-X", method.upper()]
    lines = [
        " ".join(["curl", *words, f'"{BASE}{path}"']),
        '-H "Authorization: Bearer $MUSTER_TOKEN"',
    ]
    if JSON in body:
        text = json.dumps(body[JSON]["example"], ensure_ascii=False).replace("'", "'\\''")
        lines += [f'-H "Content-Type: {JSON}"', f"-d '{text}'"]
    elif body:
        lines += [f'-H "Content-Type: {next(iter(body))}"', "--data-binary @FILE"]
    return " \\\n  ".join(lines)


class Examples:
    """Values that a schema allows."""

    def __init__(self, schema: Part) -> None:
        self.schema = schema

    def value(self, part: Part, name: str = "", depth: int = 0) -> Any:
        """Return an example of a schema, for a field of this name."""
        part = self._resolved(part)
        for declared in ("example", "default"):
            if part.get(declared) not in (None, ""):
                return part[declared]
        if part.get("examples"):
            return part["examples"][0]
        if part.get("enum"):
            return next((value for value in part["enum"] if value), part["enum"][0])
        for several in ("oneOf", "anyOf"):
            if several in part:
                known = [one for one in part[several] if one.get("type") != "null"]
                return self.value(known[0], name, depth)
        if "allOf" in part:
            values = [self.value(one, name, depth) for one in part["allOf"]]
            return (
                values[0] if len(values) == 1 else {k: v for one in values for k, v in one.items()}
            )
        match _kind(part):
            case "object":
                return self._object(part, name, depth)
            case "array":
                return self._array(part, name, depth)
            case kind:
                return self._plain(part, name, kind)

    def _object(self, part: Part, name: str, depth: int) -> Any:
        if "properties" not in part:
            return VALUES[name] if isinstance(VALUES.get(name), dict) else {}
        needed = part.get("required", ())
        return {
            key: self.value(inner, key, depth + 1)
            for key, inner in part["properties"].items()
            if depth < DEPTH or key in needed
        }

    def _array(self, part: Part, name: str, depth: int) -> Any:
        if isinstance(VALUES.get(name), list):
            return VALUES[name]
        return (
            []
            if depth >= DEPTH and not part.get("minItems")
            else [self.value(part.get("items", {}), name.removesuffix("s"), depth + 1)]
        )

    def _plain(self, part: Part, name: str, kind: str | None) -> Any:
        known = VALUES.get(name)
        if part.get("format") in _FORMATS:
            return _FORMATS[part["format"]]
        if kind == "string" and known is not None:
            known = known if isinstance(known, str) else str(known)
            return known[: part.get("maxLength", len(known))]
        if kind == "integer" and isinstance(known, int):
            return max(known, part.get("minimum", known))
        if kind in ("integer", "number"):
            return max(_PLAIN[kind], part.get("minimum", 0))
        return known if kind is None else _PLAIN.get(kind)

    def _resolved(self, part: Part) -> Part:
        while "$ref" in part:
            found: Any = self.schema
            for step in part["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            part = found
        return part


def _kind(part: Part) -> str | None:
    """Return the type of a schema, null aside; None if it allows anything."""
    kinds = part.get("type", "object" if "properties" in part else ())
    names = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind != "null"]
    return str(names[0]) if names else None
