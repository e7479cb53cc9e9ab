"""Test that written specs read back equal, and that any input raises SpecErrors only."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schedulers.spec import (
    SpecErrors,
    diff,
    json_schema,
    parse_mapping,
    parse_text,
    parse_yaml,
    script,
)
from tests.rig.seeds import examples
from tests.schedulers.spec.specs import junk, mappings

SCHEMA = jsonschema.Draft202012Validator(json_schema())


@given(mappings)
@example(
    {
        "run": "x",
        "name": "yes",
        "envs": {"A": "1e5", "B": "0x1F", "C": "no", "D": "1:30", "E": "", "F": "~", "G": "\u2028"},
    }
)
@example({"run": "a\r\nb\n", "setup": "\ttabbed\n\n  spaced  \n"})
@example({"run": "x\x85y\ufeffz\x1b[0m"})
@example({"run": "0\x85", "setup": "a\n\u2028b\n", "envs": {"A": "\ufeffx"}})
def test_spec_round_trips_through_yaml(data: dict[str, Any]) -> None:
    spec = parse_mapping(data)
    assert parse_yaml(spec.to_yaml()) == spec
    assert parse_mapping(json.loads(json.dumps(spec.to_mapping()))) == spec


@given(mappings)
def test_written_spec_matches_schema_and_is_stable(data: dict[str, Any]) -> None:
    spec = parse_mapping(data)
    written = spec.to_mapping()
    SCHEMA.validate(written)
    assert parse_mapping(written).to_mapping() == written


@given(mappings)
@example({"run": "0\x85", "setup": "a\n\u2028b\n", "envs": {"A": "\ufeffx"}})
def test_written_yaml_is_read_alike_by_other_parser(data: dict[str, Any]) -> None:
    spec = parse_mapping(data)
    assert yaml.safe_load(spec.to_yaml()) == spec.to_mapping()


@given(mappings, mappings)
def test_diff_is_empty_for_equal_specs_only(one: dict[str, Any], other: dict[str, Any]) -> None:
    before, after = parse_mapping(one), parse_mapping(other)
    assert (diff(before, after) == []) == (before == after)


@given(junk)
@settings(max_examples=examples(300))
@example({"run": "x", "num_nodes": 10**5000})
@example({"run": "x", "resources": {"memory": float("nan"), "cpus": 1e999, "accelerators": -1}})
@example({"run": "\ud800", "name": "\ud800", "envs": {"\ud800": "x", "A": "\ud800"}})
@example({"run": "x", "array": {"range": 10**5000}})
@example({"run": "x", "after": [10**5000, None, {}, b"x", 1.5]})
@example({"run": "x", "labels": {("a", "b"): 1}})
def test_any_data_raises_spec_errors_only(data: Any) -> None:
    with contextlib.suppress(SpecErrors):
        script(parse_mapping(data))


@given(st.text(max_size=200) | junk.map(repr))
@settings(max_examples=examples(300))
@example("run: |\n  x\n\ty")
@example("\ufeff#!/bin/bash\n#SBATCH '")
@example("%YAML 9.9\n---\nrun: x")
@example("run: !<tag:x> y")
@example("? \n: x")
@example("run: '\\ud800'\nx: \"\\ud800\"")
@example("num_nodes: " + "9" * 5000)
def test_any_text_raises_spec_errors_only(text: str) -> None:
    with contextlib.suppress(SpecErrors):
        parse_text(text)


@given(st.text(alphabet="#SBATCH -=:,%\n\"'abcgpumem0123456789", max_size=120))
@settings(max_examples=examples(300))
def test_any_script_raises_spec_errors_only(text: str) -> None:
    with contextlib.suppress(SpecErrors):
        parse_text(f"#!/bin/bash\n#SBATCH {text}")


HOSTILE = {
    "nesting": "[" * 200_000,
    "flow mappings": "{a: " * 60_000,
    "unknown keys": "\n".join(f"k{n}: 1" for n in range(25_000)),
    "duplicates": "run: x\n" * 30_000,
    "items": "after: [" + "1," * 100_000 + "]",
    "one long key": "k" * 250_000 + ": x",
    "aliases": "a: &a [x,x]\n" + "\n".join(f"b{n}: &b{n} [*a, *a]" for n in range(50)),
    "duration": "run: x\npolicy: {max_runtime: " + "1d" * 100_000 + "}",
    "quotes": "run: '" + "x\n" * 100_000,
    "script options": "#!/bin/bash\n" + "#SBATCH --foo\n" * 15_000,
}


def test_hostile_text_is_rejected_quickly_and_briefly(subtests: pytest.Subtests) -> None:
    for name, text in HOSTILE.items():
        with subtests.test(name):
            began = time.process_time()
            with pytest.raises(SpecErrors) as caught:
                parse_text(text)
            assert time.process_time() - began < 2
            assert len(caught.value.errors) <= 51
            assert len(str(caught.value)) < 20_000
