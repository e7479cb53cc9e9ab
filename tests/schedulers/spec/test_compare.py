"""Test the differences of two specs."""

from __future__ import annotations

from schedulers.spec import FieldChange, diff, parse_yaml


def test_diff_names_changed_fields_in_yaml_notation() -> None:
    before = parse_yaml("run: a\nresources: {memory: 64Gi}\nenvs: {A: 1, B: 2}\narray: 10\n")
    after = parse_yaml(
        "run: b\nresources: {memory: 128Gi, accelerators: H100:8}\nenvs: {B: 3, C: 4}\npolicy: "
        "{max_runtime: 1d}\n"
    )
    assert diff(before, after) == [
        FieldChange("resources.accelerators", 0, "h100:8"),
        FieldChange("resources.memory", "64Gi", "128Gi"),
        FieldChange("run", "a", "b"),
        FieldChange("envs.A", "1", None),
        FieldChange("envs.B", "2", "3"),
        FieldChange("envs.C", None, "4"),
        FieldChange("array", {"size": 10}, None),
        FieldChange("policy.max_runtime", None, "1d"),
    ]


def test_diff_of_equivalent_spellings_is_empty() -> None:
    one = parse_yaml(
        "run: x\nresources: {memory: 1Ti, accelerators: 'H100:1'}\npolicy: {max_runtime: 24h}"
    )
    other = parse_yaml(
        "run: x\nresources: {memory: 1024, accelerators: {h100: 1}}\npolicy: {max_runtime: 1d}"
    )
    assert diff(one, other) == []
