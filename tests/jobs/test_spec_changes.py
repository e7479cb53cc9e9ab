"""The difference between a rerun and its parent."""

from __future__ import annotations

import time

import pytest

from jobs import services
from jobs.specs.changes import DiffLine, SpecChange, diff_lines, spec_diff
from schedulers.spec import parse_mapping
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import org_scope

pytestmark = pytest.mark.usefixtures("home")


def test_rerun_with_another_rate_shows_the_changed_variable(story):
    cluster_with()
    parent = submit(story, envs={"LR": "1e-3", "SEED": "1"})
    actor = story.actor(story.ada)
    with org_scope(story.atlas.id):
        spec = parse_mapping({"run": "true", "envs": {"LR": "3e-4", "SEED": "1"}})
        child = services.rerun_job(actor=actor, job=parent, spec=spec)
        assert spec_diff(actor, parent) is None
        found = spec_diff(actor, child)
    assert found.parent == parent.number
    assert found.changes == [SpecChange("envs.LR", "1e-3", "3e-4")]
    changed = [line for line in found.lines if line.kind in ("added", "removed")]
    assert [(line.kind, line.text.split(":")[0].strip()) for line in changed] == [
        ("removed", "LR"),
        ("added", "LR"),
    ]


def test_long_unchanged_parts_become_one_gap():
    before = [f"line {n}" for n in range(20)]
    after = [*before[:10], "new", *before[11:]]
    found = list(diff_lines("\n".join(before), "\n".join(after)))
    assert found[0] == DiffLine("gap", count=7)
    assert [line.kind for line in found] == [
        "gap", *["same"] * 3, "removed", "added", *["same"] * 3, "gap",
    ]  # fmt: skip


def test_a_script_of_equal_lines_does_not_stop_the_page():
    before = ["first", *["a", "b"] * 2000, "last"]
    after = ["first", *["a", "c"] * 2000, "last"]
    begun = time.process_time()
    found = list(diff_lines("\n".join(before), "\n".join(after)))
    assert time.process_time() - begun < 2
    assert [line.text for line in found if line.kind != "added"] == before
    assert [line.text for line in found if line.kind != "removed"] == after
