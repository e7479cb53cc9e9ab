"""Cost of a submission, and equality of the fast path and the full checks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from clusters.models import Cluster, Node
from jobs.models import Attempt, Job
from jobs.services import submission
from portal.core.errors import PortalError
from portal.core.models import Event
from tests.jobs.stage import GIB, cluster_with, submit
from workspaces.quotas.set_limits import set_quota
from workspaces.tenancy.scope import org_scope

JOBS = "/api/v1/orgs/atlas/jobs"
BODY = json.dumps({"team": "vision", "spec": {"run": "true", "name": "cheap"}})


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect the SQL statements; the query log lacks COPY and counts some twice."""
    sent: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        sent.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield sent


@pytest.mark.both_databases
def test_submission_takes_few_statements(story, mode):
    cluster_with()
    client = story.api(story.ada)
    client.post(JOBS, BODY, content_type="application/json")
    with statements() as sent:
        assert client.post(JOBS, BODY, content_type="application/json").status_code == 201
    assert len(sent) <= {"server": 3, "embedded": 12}[mode], "\n".join(sent)


@pytest.mark.both_databases
def test_thousand_tasks_take_as_many_statements_as_one(story):
    cluster_with()
    submit(story)
    counts = []
    for size in (1, 1000):
        with statements() as sent:
            submit(story, array={"size": size})
        counts.append(len(sent))
    assert counts[1] <= counts[0] + 1


@pytest.mark.both_databases
def test_single_statement_writes_all_rows_as_the_models_do(story):
    cluster_with()
    job = submit(story, name="all", labels={"a": "100%"}, array={"size": 3, "max_parallel": 2})
    with org_scope(story.atlas.id):
        kept = Job.objects.get(id=job.id)
        tries = list(Attempt.objects.filter(job=job).order_by("index"))
    assert (kept.number, kept.labels, kept.array_size, kept.max_parallel, kept.attempt_count) == (
        1,
        {"a": "100%"},
        3,
        2,
        1,
    )
    assert [t.index for t in tries] == [0, 1, 2] and [t.id for t in tries] == sorted(
        t.id for t in tries
    )
    fresh = Attempt(job=kept, org=story.atlas, cluster=kept.cluster)
    given = {"id", "index", "state_at", "queued_at", "due_at"}
    for name in {field.attname for field in Attempt._meta.concrete_fields} - given:
        assert [getattr(attempt, name) for attempt in tries] == [getattr(fresh, name)] * 3, name
    assert all(t.due_at == t.queued_at == t.state_at == kept.created_at for t in tries)
    fact = Event.objects.get(subject_id=job.id)
    assert (fact.kind, fact.org_id, fact.actor) == (
        "job.submitted",
        story.atlas.id,
        story.ada.email,
    )
    assert fact.data == {"number": 1, "name": "all", "team": "vision"}


SPECS: list[dict[str, Any]] = [
    {},
    {"resources": {"cpus": 4}},
    {"resources": {"cpus": 5}},
    {"resources": {"memory": "16Gi"}},
    {"resources": {"memory": "17Gi"}},
    {"resources": {"accelerators": 2}},
    {"resources": {"accelerators": 3}},
    {"resources": {"accelerators": "h100:2"}},
    {"resources": {"accelerators": "a100:1"}},
    {"policy": {"pool": "local"}},
    {"policy": {"pool": "moon"}},
    {"num_nodes": 2},
    {"policy": {"priority": "urgent"}},
    {"resources": {"cpus": 3, "accelerators": 1}},
]


@pytest.mark.both_databases
@pytest.mark.parametrize("world", ["plain", "limits", "unknown", "drained", "off", "nothing"])
def test_fast_path_decides_and_explains_like_the_full_checks(story, monkeypatch, world):
    _make(world, story)
    for spec in SPECS:
        for person in (story.ada, story.ben):
            short = _outcome(story, person, spec)
            with monkeypatch.context() as patch:
                patch.setattr(submission, "plain_cluster", lambda spec, ask: None)
                assert _outcome(story, person, spec) == short, (spec, person)


def _make(world: str, story: Any) -> None:
    if world == "nothing":
        return
    cluster_with(cpus=4, memory=16 * GIB, gpus=2, nodes=2)
    if world == "limits":
        for scope, subject, resource, limit in (
            ("team", "vision", "cpu", 2),
            ("user", story.ben.email, "gpu", 0),
            ("org", "atlas", "gpu.h100", 1),
        ):
            with org_scope(story.atlas.id):
                set_quota(
                    actor=story.actor(story.ada),
                    org=story.atlas,
                    scope=scope,
                    subject=subject,
                    resource=resource,
                    limit=limit,
                )
    elif world == "unknown":
        Node.objects.all().delete()
    elif world == "drained":
        Node.objects.filter(name="n0").update(is_drained=True, cpus=99_000)
    elif world == "off":
        Cluster.objects.update(is_enabled=False)


def _outcome(story: Any, person: Any, spec: dict[str, Any]) -> Any:
    try:
        return submit(story, person, **spec).cluster.name
    except PortalError as error:
        return type(error).__name__, error.message, error.data
