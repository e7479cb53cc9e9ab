"""Test that schema and documentation agree with the parser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

import jsonschema
import pytest
import yaml
from pydantic.fields import FieldInfo

from schedulers.spec import JobSpec, examples, json_schema, parse_mapping, parse_yaml
from schedulers.spec.features import Feature
from schedulers.spec.sections import Section

SCHEMA = jsonschema.Draft202012Validator(json_schema())


def described(section: type[Section], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield every field with its path; [] stands for each item of a list, {} of a mapping."""
    for name, field in section.model_fields.items():
        kind = field.annotation
        yield f"{prefix}{name}", field
        is_mapping = get_origin(kind) is dict
        item = get_args(kind)[1] if is_mapping else (get_args(kind) or (kind,))[0]
        if isinstance(item, type) and issubclass(item, Section):
            of = {dict: "{}", tuple: "[]"}.get(get_origin(kind), "")
            yield from described(item, f"{prefix}{name}{of}.")


FIELDS = dict(described(JobSpec))


def nested(path: str, value: Any) -> dict[str, Any]:
    """Return a whole spec with this value at the path, and the required fields of its sections."""
    while "." in path:
        section, _, name = path.rpartition(".")
        needed = {
            other.rpartition(".")[2]: (field.examples or [])[0]
            for other, field in FIELDS.items()
            if other.rpartition(".")[0] == section and field.is_required()
        }
        if section in ("inputs{}", "outputs{}") and name not in ("dataset", "checkpoint"):
            needed["dataset"] = "c4"
        value, path = {**needed, name: value}, section
        if path.endswith("[]"):
            value, path = [value], path[:-2]
        if path.endswith("{}"):
            value, path = {"it": value}, path[:-2]
    return {"run": "x", path: value}


WRITTEN = [(path, example) for path, field in FIELDS.items() for example in field.examples or ()]


def test_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_documented_examples_match_parser_and_schema(
    subtests: pytest.Subtests,
) -> None:
    for path, value in WRITTEN:
        with subtests.test(path=path, value=value):
            data = nested(path, value)
            if path == "policy.retry_on":
                data["policy"]["retries"] = 1
            parse_mapping(data)
            SCHEMA.validate(data)


def test_schema_accepts_shipped_examples(subtests: pytest.Subtests) -> None:
    for example in examples():
        with subtests.test(example=example):
            SCHEMA.validate(yaml.safe_load(example.yaml))


NO_SPECS = [
    {},
    {"run": "x", "rnu": 1},
    {"run": "x", "num_nodes": 0},
    {"run": "x", "launcher": "mpirun"},
    {"run": "x", "after": "last"},
    {"run": "x", "resources": {"memory": "lots"}},
    {"run": "x", "inputs": {"../x": "c4"}},
    {"run": "x", "inputs": {"x": {"datset": "c4"}}},
    {"run": "x", "outputs": {"x": "c4"}},
    {"run": "x", "envs": {"A B": "1"}},
]


def test_schema_rejects_what_parser_rejects(subtests: pytest.Subtests) -> None:
    for data in NO_SPECS:
        with subtests.test(data=data):
            assert not SCHEMA.is_valid(data)
            with pytest.raises(ValueError):
                parse_mapping(data)


def test_fields_are_described_with_default_and_values() -> None:
    schema = json_schema()
    policy = schema["$defs"]["Policy"]["properties"]
    assert all(field.description for field in FIELDS.values())
    assert {
        "run",
        "resources",
        "inputs{}.path",
        "outputs{}.keep.best.metric",
        "policy.max_runtime",
    } <= FIELDS.keys()
    assert policy["priority"]["enum"] == ["low", "normal", "high", "urgent"]
    assert policy["backoff"]["default"] == 30
    assert schema["required"] == ["run"]


ASKS = {
    Feature.GANG: ("num_nodes", "num_nodes: 2"),
    Feature.IMAGES: ("image", "image: alpine"),
    Feature.INPUTS: ("inputs", "inputs: {data: cifar@v1.2}"),
    Feature.POOLS: ("policy.pool", "policy: {pool: h100}"),
    Feature.OUTPUTS: ("outputs", "outputs: {out: {dataset: b}}"),
    Feature.PORTS: ("ports", "ports: [{name: tb, port: 6006}]"),
    Feature.PREEMPTION: ("policy.preempt", "policy: {preempt: resumable}"),
    Feature.SECRETS: ("secrets", "secrets: {A: t/a}"),
    Feature.SRUN: ("launcher", "launcher: srun"),
    Feature.WORKSPACES: ("workspaces", "workspaces: {code: vision-code}"),
}


def test_field_is_unavailable_if_feature_is_missing(
    subtests: pytest.Subtests,
) -> None:
    for feature in Feature:
        with subtests.test(feature=feature):
            field, line = ASKS[feature]
            spec = parse_yaml(f"run: x\n{line}\n")
            assert [error.field for error in spec.unavailable(set(Feature) - {feature})] == [field]
            assert spec.unavailable({feature}) == []


def test_plain_spec_needs_no_feature() -> None:
    assert parse_yaml("run: x").unavailable(set()) == []
