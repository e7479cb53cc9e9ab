"""Test the lineage: dataset version, job, checkpoint version and model in one graph."""

from __future__ import annotations

from types import SimpleNamespace
from uuid import uuid4

import pytest

from datasets import services as datasets
from datasets.models import Repository, Version
from experiments.lineage import edges, lineage_of
from experiments.lineage import graph as graphs
from experiments.lineage.nodes import LineageKey
from experiments.models import LoggedModel, Run
from jobs import services as jobs
from jobs.models import Job
from portal.core.errors import Conflict, NotFound
from registry import services as registry
from registry.models import ModelVersion
from registry.services.versions import About
from schedulers.spec import parse_mapping
from schedulers.states import State
from tests.datasets.conftest import commit
from tests.jobs.stage import cluster_with
from workspaces.tenancy.scope import org_scope

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(story, home):
    """Ben's job #1 of Vision wrote version 1 of the checkpoint resnet, from which a model was made."""
    with org_scope(story.atlas.id):
        cluster_with()
        ben = story.actor(story.ben)
        job = jobs.submit_job(actor=ben, team=story.vision, spec=parse_mapping({"run": "true"}))
        made = {"actor": ben, "team": story.vision}
        resnet = datasets.create_repository(kind="checkpoint", name="resnet", **made)
        version = commit(ben, resnet, {"out/model.bin": b"weights"}, job_id=job.id)
        model = registry.create_model(name="digits", **made)
        about = About(source="checkpoints:/resnet@1/out")
        digits = registry.create_version(actor=ben, model=model, about=about)
        yield SimpleNamespace(
            story=story,
            ben=ben,
            job=job,
            resnet=resnet,
            version=version,
            model=model,
            digits=digits,
        )


def titles(found, kind=None):
    return [node.title for node in found.nodes if kind in (None, node.kind)]


def links(found):
    names = {node.id: node.title or node.kind for node in found.nodes}
    return {(names[link.source], names[link.target]) for link in found.links}


def test_lineage_follows_a_model_to_its_checkpoint_and_job(stage):
    files = [(file.path, file.size) for file in registry_files(stage.digits)]
    assert files == [("model.bin", 7)]
    found = lineage_of(stage.ben, "atlas", LineageKey("model", stage.digits.id))
    job = f"#{stage.job.number} {stage.job.name}"
    assert [(node.level, node.title) for node in found.nodes] == [
        (-2, job),
        (-1, "resnet v1"),
        (0, "digits v1"),
    ]
    assert links(found) == {(job, "resnet v1"), ("resnet v1", "digits v1")}
    assert not found.is_cut and not found.hidden
    down = lineage_of(stage.ben, "atlas", LineageKey("job", stage.job.id), depth=1)
    assert titles(down) == [job, "resnet v1"] and down.is_cut


def test_dataset_of_many_jobs_is_not_read_whole(stage, monkeypatch):
    for name in ("a", "b"):
        spec = parse_mapping({"run": name, "inputs": {"net": {"checkpoint": "resnet"}}})
        jobs.submit_job(actor=stage.ben, team=stage.story.vision, spec=spec)
    start = {LineageKey("version", stage.version.id)}
    assert len([edge for edge in edges.after(start) if edge.target.kind == "job"]) == 2
    monkeypatch.setattr(edges, "MOST_EDGES", 1)
    assert len([edge for edge in edges.after(start) if edge.target.kind == "job"]) == 1


def registry_files(version):
    from registry.selectors import files_of

    return files_of(version)


def test_run_shows_datasets_that_the_client_logged_and_its_models(stage):
    ben = stage.story.api(stage.story.ben)
    run = ben.post(
        "/api/v1/orgs/atlas/runs", {"team": "vision", "name": "by hand"}, "application/json"
    ).json()
    row = Run.objects.get(id=run["id"])
    row.inputs = [
        {
            "dataset": {"name": "iris", "digest": "abc"},
            "tags": [{"key": "mlflow.data.context", "value": "training"}],
        }
    ]
    row.save()
    logged = LoggedModel.objects.create(
        org=row.org, experiment=row.experiment, run=row, owner=row.owner, name="tree"
    )
    ModelVersion.objects.filter(id=stage.digits.id).update(
        checkpoint_id=None, run_id=row.id, logged_model_id=logged.id
    )
    found = lineage_of(stage.ben, "atlas", LineageKey("job", row.id))
    assert links(found) == {
        ("iris", "by hand"),
        ("by hand", "tree"),
        ("tree", "digits v1"),
    }
    assert "training" in {link.label for link in found.links}
    answer = ben.get(f"/api/v1/orgs/atlas/lineage?of=run:{row.id.hex}").json()
    assert [node["kind"] for node in answer["nodes"]] == ["data", "run", "logged_model", "model"]


def test_viewer_sees_of_hidden_nodes_only_how_many(stage):
    """Ada made private things of Speech from Ben's version; Ben may see neither."""
    story, ada = stage.story, stage.story.actor(stage.story.ada)
    job = jobs.submit_job(actor=ada, team=story.speech, spec=parse_mapping({"run": "true"}))
    secret = datasets.create_repository(
        actor=ada, team=story.speech, kind="dataset", name="hushed", visibility="private"
    )
    commit(ada, secret, {"x": b"x"}, job_id=stage.job.id)
    commit(ada, secret, {"x": b"y"}, job_id=stage.job.id)
    Version.objects.filter(id=stage.version.id).update(job_id=job.id)
    found = lineage_of(stage.ben, "atlas", LineageKey("job", stage.job.id))
    assert [(node.kind, node.count, node.title, node.page) for node in found.nodes[1:]] == [
        ("hidden", 2, "", "")
    ]
    up = lineage_of(stage.ben, "atlas", LineageKey("version", stage.version.id))
    assert [(node.kind, node.level) for node in up.nodes] == [
        ("hidden", -1),
        ("checkpoint", 0),
        ("model", 1),
    ]
    assert up.hidden == 1
    answer = story.client(story.ben).get("/atlas/checkpoints/resnet/lineage").content.decode()
    assert "hushed" not in answer and f"#{job.number}" not in answer
    with pytest.raises(NotFound):
        lineage_of(stage.ben, "atlas", LineageKey("job", job.id))


def test_job_shows_versions_that_it_reads_also_deleted_ones(stage):
    """A second job reads what the first wrote, and a dataset that is deleted afterwards."""
    made = {"actor": stage.ben, "team": stage.story.vision}
    cifar = datasets.create_repository(kind="dataset", name="cifar", **made)
    old, _head = (commit(stage.ben, cifar, {"x": data}) for data in (b"1", b"2"))
    inputs = {"data": "cifar@1", "start": {"checkpoint": "resnet@1"}}
    spec = parse_mapping({"run": "true", "name": "second", "inputs": inputs})
    job = jobs.submit_job(**made, spec=spec)
    with pytest.raises(Conflict):
        datasets.delete_versions(actor=stage.ben, repository=cifar, versions=[old])
    found = lineage_of(stage.ben, "atlas", LineageKey("version", old.id))
    second = f"#{job.number} second"
    assert links(found) == {("cifar v1", second)}
    up = lineage_of(stage.ben, "atlas", LineageKey("job", job.id))
    first = f"#{stage.job.number} {stage.job.name}"
    assert links(up) == {
        ("cifar v1", second),
        ("resnet v1", second),
        (first, "resnet v1"),
    }
    assert {link.label for link in up.links} == {"data", "start", ""}
    Job.objects.update(state=State.SUCCEEDED)
    datasets.delete_versions(actor=stage.ben, repository=cifar, versions=[old])
    gone = lineage_of(stage.ben, "atlas", LineageKey("job", job.id))
    assert ("cifar v1", True) in {(node.title, node.is_deleted) for node in gone.nodes}


def test_lineage_of_cycle_and_many_nodes_ends(stage, monkeypatch):
    ModelVersion.objects.filter(id=stage.digits.id).update(promoted_from=stage.digits)
    found = lineage_of(stage.ben, "atlas", LineageKey("model", stage.digits.id))
    assert links(found) == {("digits v1", "digits v1")}
    for number in range(8):
        commit(stage.ben, stage.resnet, {"x": b"%d" % number}, job_id=stage.job.id)
    monkeypatch.setattr(graphs, "MOST_NODES", 5)
    found = lineage_of(stage.ben, "atlas", LineageKey("job", stage.job.id))
    assert len(found.nodes) == 5 and found.is_cut


def test_reference_names_what_people_know(stage):
    ben, number = stage.story.api(stage.story.ben), stage.job.number
    for of in (
        "checkpoint:resnet@1",
        f"version:{stage.version.id}",
        f"job:{number}",
        "model:vision/digits@1",
        "model:vision/digits",
        f"model:{stage.digits.id}",
    ):
        assert len(ben.get("/api/v1/orgs/atlas/lineage", {"of": of}).json()["nodes"]) == 3, of
    for of, code in (
        ("", 400),
        ("job", 400),
        ("node:n1", 400),
        ("job:99", 404),
        (f"version:{uuid4()}", 404),
        ("version:x", 404),
        ("model:x", 404),
        ("dataset:none", 404),
    ):
        assert ben.get("/api/v1/orgs/atlas/lineage", {"of": of}).status_code == code, of
    query = {"of": f"job:{number}", "depth": "0"}
    assert ben.get("/api/v1/orgs/atlas/lineage", query).status_code == 400


def test_pages_have_the_tab_and_other_organizations_nothing(stage):
    story = stage.story
    ben, cyd = story.client(story.ben), story.client(story.cyd)
    pages = (
        "/atlas/checkpoints/resnet/lineage",
        f"/atlas/jobs/{stage.job.number}?tab=lineage",
        f"/atlas/runs/{stage.job.id.hex}?tab=lineage",
        "/atlas/models/vision/digits/versions/1?tab=lineage",
    )
    for page in pages:
        assert "resnet v1" in ben.get(page).content.decode(), page
        assert cyd.get(page).status_code == 404, page
    borealis = story.api(story.cyd)
    for of in (f"version:{stage.version.id}", f"model:{stage.digits.id}", "job:1"):
        assert borealis.get("/api/v1/orgs/borealis/lineage", {"of": of}).status_code == 404, of
    Repository.objects.filter(id=stage.resnet.id).update(deleted_at=stage.version.created_at)
    assert "deleted</span>" in ben.get(pages[1]).content.decode()
