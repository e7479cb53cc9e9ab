"""Each operation of the schema has an example that the schema allows."""

from __future__ import annotations

import shlex
from typing import Any

from django.test import Client
from jsonschema import Draft202012Validator

from portal.api.examples import BASE, JSON


def test_each_operation_has_a_valid_example():
    schema = Client().get("/api/schema/", {"format": "json"}).json()
    wrong, operations = [], 0
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            operations += 1
            for place, content in contents(operation):
                validator = Draft202012Validator(
                    {**content["schema"], "components": schema["components"]}
                )
                wrong += [
                    f"{method} {path} {place} {'.'.join(map(str, fault.absolute_path))}: {fault.message[:120]}"
                    for fault in validator.iter_errors(content.get("example"))
                ]
            command = operation["description"].partition("```sh\n")[2].partition("\n```")[0]
            words = shlex.split(command)
            [url] = [word for word in words if word.startswith(BASE)]
            if words[0] != "curl" or "{" in url:
                wrong.append(f"{method} {path}: {command}")
    assert not wrong, "\n".join(wrong)
    assert operations > 300


def contents(operation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return what has a JSON example: the body and the answers."""
    found = [("body", operation.get("requestBody", {}))]
    found += [(code, one) for code, one in operation["responses"].items() if code.startswith("2")]
    return [
        (place, one["content"][JSON])
        for place, one in found
        if "schema" in one.get("content", {}).get(JSON, {})
    ]
