"""Compare answers with what the OpenAPI schema declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import orjson
from jsonschema import Draft202012Validator


class Truth:
    """The schema as a judge of answers."""

    def __init__(self, schema: Mapping[str, Any]):
        self.schema = schema
        self._validators: dict[int, Any] = {}

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """Return the paths as patterns; those with fewer parts in braces first."""
        found = sorted(self.schema["paths"], key=lambda path: path.count("{"))
        part = {"{path}": ".+"}
        return [
            (
                re.compile(re.sub(r"\{\w+\}", lambda m: part.get(m[0], "[^/]+"), path) + "/?"),
                path,
            )
            for path in found
        ]

    def path_of(self, address: str) -> str | None:
        """Return the path of the schema that an address has, or None."""
        plain = address.partition("?")[0]
        return next((path for pattern, path in self._patterns if pattern.fullmatch(plain)), None)

    def is_page(self, path: str) -> bool:
        """Return whether a path is declared to answer a list."""
        answer = self._resolved(self.schema["paths"][path]["get"]["responses"]["200"])
        shape = answer.get("content", {}).get("application/json", {}).get("schema")
        return "items" in (self._resolved(shape) or {}).get("properties", {})

    def untruth(self, path: str, method: str, answer: Any) -> str:
        """Return how an answer differs from what its operation declares, or ""."""
        operations = self.schema["paths"][path]
        operation = operations.get("get" if method.lower() == "head" else method.lower())
        if operation is None:
            is_refused = answer.status_code >= 400
            return "" if is_refused else "the operation is not declared"
        declared = self._resolved(operation["responses"].get(str(answer.status_code)))
        if declared is None:
            return f"{answer.status_code} is not declared"
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        content = declared.get("content")
        if not content:
            is_empty = not answer.streaming and not answer.content
            return "" if is_empty else "a body is not declared"
        if method.lower() == "head" or "*/*" in content:
            return ""
        if kind not in content:
            return f"{kind} is not declared, but {', '.join(content)}"
        if answer.streaming or not kind.endswith("json"):
            return ""
        validator = self._validator(content[kind]["schema"])
        faults = [
            f"{'.'.join(map(str, fault.absolute_path))}: {fault.message[:300]}"
            for fault in validator.iter_errors(orjson.loads(answer.content))
        ]
        return "; ".join(faults[:3])

    def _resolved(self, part: Any) -> Any:
        if isinstance(part, dict) and "$ref" in part:
            found: Any = self.schema
            for name in part["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            return found
        return part

    def _validator(self, schema: Mapping[str, Any]) -> Any:
        key = id(schema)
        if key not in self._validators:
            whole = {**schema, "components": self.schema["components"]}
            self._validators[key] = Draft202012Validator(whole)
        return self._validators[key]
