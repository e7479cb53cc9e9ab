"""Experiments and runs: rules of the services."""

from __future__ import annotations

import pytest

from experiments import selectors, services
from experiments.search import page_of, search_runs
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted, QuotaExceeded
from portal.series import Point
from workspaces.tenancy.scope import org_scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home"), pytest.mark.both_databases]


@pytest.fixture
def ada(story):
    with org_scope(story.atlas.id):
        yield story.actor(story.ada)


@pytest.fixture
def experiment(story, ada):
    return services.create_experiment(actor=ada, team=story.vision, name="resnet")


@pytest.fixture
def run(ada, experiment):
    return services.create_run(actor=ada, experiment=experiment)


def point(name, value, step=0, at_ms=1000):
    return Point(name, {}, at_ms, value, step)


def test_smoke(ada, run, experiment):
    services.log_batch(
        actor=ada,
        run=run,
        metrics=[point("loss", 1.0), point("loss", 0.5, 1), point("acc", float("nan"))],
        params={"lr": "0.1"},
        tags={"team": "v"},
    )
    rows = selectors.visible_runs(ada)
    for text, n in (
        ("metrics.loss < 0.6", 1),
        ("metrics.loss > 0.6", 0),
        ("params.lr = '0.1' and tags.team like 'v%'", 1),
        ("params.lr != '0.1'", 0),
        ("metrics.acc != 1", 1),
        ("metrics.acc = 0", 0),
        ("attributes.status = 'RUNNING'", 1),
        ("status in ('RUNNING', 'FAILED')", 1),
        ("params.none is null", 1),
        ("datasets.name = 'x'", 0),
        (f"run_id = '{run.id.hex}'", 1),
        ("user_id ilike 'ADA%'", 1),
        ("artifact_uri like 'mlflow-artifacts:/1/%'", 1),
    ):
        assert len(search_runs(rows, text, ["metrics.acc desc", "params.lr", "tags.`a b`"])) == n, (
            text
        )
    services.log_inputs(
        actor=ada, run=run, inputs=[{"dataset": {"name": "x", "digest": "1"}, "tags": {}}]
    )
    assert len(search_runs(rows, "datasets.name = 'x' and dataset.digest in ('1')")) == 1
    second = services.create_run(actor=ada, experiment=experiment, started_ms=5)
    found, token = page_of(search_runs(rows, "", ["metrics.loss desc"]), limit=1)
    assert found == [run]
    assert page_of(search_runs(rows, "", ["metrics.loss desc"]), limit=1, token=token)[0] == [
        second
    ]
