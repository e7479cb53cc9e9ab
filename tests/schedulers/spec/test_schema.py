"""Test that schema and documentation agree with the parser."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import yaml

from schedulers.spec import describe, examples, json_schema, parse_mapping, parse_yaml
from schedulers.spec.features import Feature
from schedulers.spec.schema import FieldDoc

SCHEMA = jsonschema.Draft202012Validator(json_schema())
DOCS = {doc.path: doc for doc in describe()}


def nested(path: str, value: Any) -> dict[str, Any]:
    """Return a whole spec with this value at the path, and the required fields of its section."""
    section, _, name = path.rpartition(".")
    inner: dict[str, Any] = {name: value}
    if not section:
        return {"run": "x", **inner}
    if not section.endswith("[]"):
        return {"run": "x", section: inner}
    needed = {
        row.rpartition(".")[2]: doc.examples[0]
        for row, doc in DOCS.items()
        if row.startswith(f"{section}.") and doc.is_required
    }
    tree = (
        {}
        if name in ("dataset", "checkpoint") or section != "inputs[]"
        else {"dataset": "atlas/c4"}
    )
    return {"run": "x", section[:-2]: [{**needed, **tree, **inner}]}


WRITTEN = [(doc.path, example) for doc in describe() for example in doc.examples]
OFFERED = [
    (doc.path, word)
    for doc in describe()
    for word in doc.values
    if doc.path not in ("after", "policy.retry_on")
]


def test_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_documented_examples_match_parser_and_schema(
    subtests: pytest.Subtests,
) -> None:
    for path, value in WRITTEN + OFFERED:
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
    {"run": "x", "inputs": [{"dataset": "a/b"}]},
    {"run": "x", "envs": {"A B": "1"}},
]


def test_schema_rejects_what_parser_rejects(subtests: pytest.Subtests) -> None:
    for data in NO_SPECS:
        with subtests.test(data=data):
            assert not SCHEMA.is_valid(data)
            with pytest.raises(ValueError):
                parse_mapping(data)


def test_fields_are_documented_with_default_and_values() -> None:
    assert {
        "run",
        "resources",
        "resources.accelerators",
        "inputs[].path",
        "policy.max_runtime",
    } <= set(DOCS)
    assert DOCS["policy.priority"].values == ("low", "normal", "high", "urgent")
    assert (DOCS["run"].is_required, DOCS["resources.cpus"].default, DOCS["resources"].default) == (
        True,
        1,
        None,
    )


def test_documentation_is_plain_data() -> None:
    doc = FieldDoc("a.b", "text", "What it is", None, False, ("x",), (1,))
    assert doc.as_dict() == {
        "path": "a.b",
        "type": "text",
        "doc": "What it is",
        "default": None,
        "required": False,
        "values": ["x"],
        "examples": [1],
    }


ASKS = {
    Feature.GANG: ("num_nodes", "num_nodes: 2"),
    Feature.IMAGES: ("image", "image: alpine"),
    Feature.INPUTS: ("inputs", "inputs: [{dataset: a/b, path: /d}]"),
    Feature.POOLS: ("policy.pool", "policy: {pool: h100}"),
    Feature.OUTPUTS: ("outputs", "outputs: [{path: /r, to: 'dataset:a/b'}]"),
    Feature.PORTS: ("ports", "ports: [{name: tb, port: 6006}]"),
    Feature.PREEMPTION: ("policy.preempt", "policy: {preempt: resumable}"),
    Feature.SECRETS: ("secrets", "secrets: {A: t/a}"),
    Feature.SRUN: ("launcher", "launcher: srun"),
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
