"""Every change that the portal proposes is one that the spec accepts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jobs.scheduling.blocking_jobs import FIELDS, offer
from jobs.web.starting import changed
from schedulers.spec import parse_mapping, with_overrides
from tests.jobs.stage import GIB

LIMITS = {"gpu": 128, "cpu": 4_096_000, "memory": 1024 * GIB, "nodes": 64}
LEAST = {"gpu": 1, "cpu": 100, "memory": 1 << 20, "nodes": 1}


@given(st.sampled_from(sorted(FIELDS)), st.data())
def test_proposed_value_is_accepted_by_the_spec_and_is_the_amount(kind, data) -> None:
    before = data.draw(st.integers(LEAST[kind] + 1, LIMITS[kind]))
    after = data.draw(st.integers(LEAST[kind], before - 1))
    change = offer(kind, before, after)
    base = {"run": "true", "resources": {"memory": "1TB", "accelerators": 8}}
    spec = parse_mapping(with_overrides(base, {change["field"]: str(change["to"])}))
    meant = {
        "gpu": spec.resources.gpus,
        "cpu": round(spec.resources.cpus * 1000),
        "memory": spec.resources.memory,
        "nodes": spec.num_nodes,
    }
    assert meant[kind] == after
    as_asked = parse_mapping(with_overrides(base, {change["field"]: str(change["from"])}))
    rerun = changed(as_asked, change["field"], str(change["from"]), str(change["to"]))
    assert parse_mapping(rerun.to_mapping()) == rerun
    if kind == "memory":
        assert rerun.resources.memory == after
