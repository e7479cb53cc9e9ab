"""Test errors in job files, and fields changed with --set."""

from __future__ import annotations

import pytest

from muster.changes import changed
from muster.errors import InvalidInput
from muster.faults import shown_faults

TEXT = "name: llama\nresources:\n  memory: lots\n\tcpus: 4\npolcy: {priority: high, retries: -1}\n"
SPEC = {
    "run": "true",
    "resources": {"cpus": 1},
    "inputs": [{"dataset": "a/b", "path": "/data"}],
    "labels": {"a": "1"},
}


@pytest.mark.parametrize(
    ("fault", "marked"),
    [
        ({"line": 3, "field": "resources.memory", "message": "must be a size"}, "lots"),
        ({"line": 5, "field": "policy.priority", "message": "must be low"}, "high"),
        ({"line": 5, "field": "policy.retries", "message": "must be 0 or more"}, "-1"),
        (
            {"line": 5, "field": "polcy", "message": "is not a known key; did you mean `policy`?"},
            "polcy",
        ),
        ({"line": 2, "field": "resources", "message": "must be a mapping"}, "resources"),
        ({"line": 1, "field": "", "message": "is no YAML"}, "name: llama"),
    ],
)
def test_shown_fault_has_a_caret_below_it(fault: dict, marked: str):
    head, line, carets = shown_faults("job.yaml", TEXT, [fault]).split("\n")
    assert head.startswith(f"job.yaml:{fault['line']}: ")
    assert line[carets.index("^") : carets.rindex("^") + 1] == marked


def test_shown_fault_without_a_line_omits_it():
    assert (
        shown_faults("job.yaml", TEXT, [{"field": "run", "message": "is required", "line": None}])
        == "job.yaml: run: is required"
    )
    assert (
        shown_faults("job.yaml", TEXT, [{"field": "run", "message": "is required", "line": 99}])
        == "job.yaml: run: is required"
    )


def test_shown_fault_removes_control_characters():
    assert "\x1b" not in shown_faults(
        "job.yaml", "run: \x1b[2J", [{"line": 1, "field": "run", "message": "\x1b]0;x\x07bad"}]
    )


@pytest.mark.parametrize(
    ("change", "path", "value"),
    [
        ("resources.cpus=4", ("resources", "cpus"), "4"),
        ("policy.max_runtime=2h", ("policy", "max_runtime"), "2h"),
        ("envs.LR=1e-3", ("envs", "LR"), "1e-3"),
        ("labels.a.b=c=d", ("labels", "a.b"), "c=d"),
        ("inputs[0].dataset=a/b@3f", ("inputs", 0, "dataset"), "a/b@3f"),
        ('after=["12:any"]', ("after",), ["12:any"]),
    ],
)
def test_set_changes_only_the_given_field(change: str, path: tuple, value: object):
    made = changed(SPEC, [change])
    found: object = made
    for step in path:
        found = found[step]  # type: ignore[index]
    assert found == value
    assert made["run"] == "true"
    assert SPEC["resources"] == {"cpus": 1}


def test_set_to_empty_removes_the_field():
    assert changed(SPEC, ["labels.a=", "resources.cpus="]) == {
        **SPEC,
        "labels": {},
        "resources": {},
    }


@pytest.mark.parametrize(
    "change",
    ["resources.cpus", "=4", "inputs[7].path=/x", "run.x=1", "after=[12", "inputs[0]x.y.z=[1]]"],
)
def test_set_invalid_change_is_refused_by_name(change: str):
    with pytest.raises(InvalidInput):
        changed(SPEC, [change])
