"""Pages of experiments: the table of runs, one run, comparison, and what changes them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from experiments import artifacts, run_keys, selectors, services
from experiments.comparison import compared, ranked
from experiments.models import Run, RunStatus
from experiments.reproduction import reproduction_of
from jobs.models import Job, JobInput
from jobs.selectors import comparison
from portal.series import Point
from portal.web.undo import undo_of
from tests.each import each
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import org_scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]
TABLE = "/atlas/experiments/1"


@pytest.fixture
def ada(story):
    with org_scope(story.atlas.id):
        yield story.actor(story.ada)


@pytest.fixture
def runs(story, ada) -> list[Run]:
    """Return five runs of Vision; the last has no metrics and goes on."""
    experiment = services.create_experiment(actor=ada, team=story.vision, name="resnet")
    made = []
    for n, (lr, acc) in enumerate((("1e-2", 0.7), ("3e-4", 0.9), ("1e-3", 0.8), ("1e-3", 0.6))):
        run = services.create_run(
            actor=ada, experiment=experiment, name=f"run-{n}", started_ms=1000 + n
        )
        services.log_batch(
            actor=ada,
            run=run,
            metrics=[Point("val/acc", {}, 2000 + n, acc, step) for step in (1, 2)],
            params={"lr": lr, "seed": "1"},
        )
        services.update_run(actor=ada, run=run, status=RunStatus.FINISHED, ended_ms=61_000 + n)
        made.append(run)
    made.append(
        services.create_run(actor=ada, experiment=experiment, name="run-4", started_ms=1004)
    )
    return made


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200
    return re.findall(r'<a class="title" href="/atlas/runs/\w+">([^<]*)<', answer.content.decode())


@each(
    ("query", "shown"),
    [
        ("", "43210"),
        ("sort=metrics.val/acc", "30214"),
        ("sort=-metrics.val/acc", "12034"),
        ("sort=params.lr", "12304"),
        ("sort=-params.lr", "03214"),
        ("sort=-duration", "43210"),
        ("sort=name", "01234"),
        ("filter=metrics.`val/acc` >= 0.8", "21"),
        ('filter=params.lr = "1e-3" and metrics.`val/acc` > 0.7', "2"),
        ("filter=run-3", "3"),
        ("state=running", "4"),
        ("show=archived", ""),
    ],
)
def test_runs_are_filtered_and_sorted_by_what_they_logged(story, runs, query, shown):
    client = story.client(story.ben)
    assert names(client.get(f"{TABLE}?{query}&columns=metrics.val/acc")) == [
        f"run-{n}" for n in shown
    ]
    found = []  # the same in pages of two
    path = f"{TABLE}?{query}&limit=2"
    while path:
        answer = client.get(path)
        found += names(answer)
        path = (url := answer.context["list"].next_url) and TABLE + url
    assert found == [f"run-{n}" for n in shown]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ('{"uri": "s3://bucket/train"}', "s3://bucket/train"),
        ('{"tags": {"mlflow.user": "ada", "mlflow.source.name": "train.py"}}', "train.py"),
        ("not JSON", "not JSON"),
    ],
)
def test_data_of_a_run_is_shown_with_its_source(story, ada, runs, source, shown):
    dataset = {"name": "train", "digest": "1", "source_type": "code", "source": source}
    services.log_inputs(actor=ada, run=runs[0], inputs=[{"dataset": dataset}])
    context = story.client(story.ben).get(f"/atlas/runs/{runs[0].id.hex}").context
    assert [one["source"] for one in context["inputs"]] == [shown]


def test_wrong_filter_is_explained_above_the_table(story, runs):
    answer = story.client(story.ben).get(f"{TABLE}?filter=metrics.acc >")
    [(told, table)] = re.findall(
        r'id="list-problems" role="alert">(.*?)</div>.*(<table.*?</table>)',
        answer.content.decode(),
        re.DOTALL,
    )
    assert "at character 14 (the end): a number without quotes is expected" in told
    assert 'href="?">Remove the filter</a>' in told and 'class="title"' in table
    assert len(names(answer)) == len(runs)  # the wrong filter is left out


def test_old_link_to_a_missing_metric_shows_the_default_order_and_says_so(story, runs):
    answer = story.client(story.ben).get(f"{TABLE}?sort=-metrics.gone&limit=2")
    assert names(answer) == ["run-4", "run-3"]
    assert "no column “metrics.gone”" in answer.content.decode()
    assert "sort=" not in answer.context["list"].next_url


def test_metric_that_only_older_runs_have_still_sorts(story, runs, monkeypatch):
    monkeypatch.setattr(run_keys, "RECENT", 1)  # the newest run has no metrics
    answer = story.client(story.ben).get(f"{TABLE}?sort=-metrics.val/acc&limit=2")
    assert names(answer) == ["run-1", "run-2"]
    assert names(story.client(story.ben).get(f"{TABLE}?sort=params.lr&limit=2"))[0] == "run-1"


def test_csv_has_the_chosen_columns_of_all_runs(story, runs):
    answer = story.client(story.ben).get(f"{TABLE}?format=csv&columns=metrics.val/acc,params.lr")
    lines = b"".join(answer.streaming_content).decode("utf-8-sig").splitlines()
    assert lines[0].split(",")[:5] == ["name", "id", "status", "metrics.val/acc", "params.lr"]
    assert [line.split(",")[3:5] for line in lines[2:4]] == [["0.6", "1e-3"], ["0.8", "1e-3"]]


def test_groups_show_number_and_mean_of_runs(story, runs):
    groups = story.client(story.ben).get(f"{TABLE}?group=lr").context["groups"]
    seen = [(one["value"], one["runs"], one["metrics"][0]["mean"]) for one in groups]
    assert seen[0] == ("1e-3", 2, pytest.approx(0.7)) and len(seen) == 4
    narrowed = story.client(story.ben).get(TABLE + groups[0]["url"])
    assert names(narrowed) == ["run-3", "run-2"]


def test_pinned_runs_are_first_and_charts_have_points_of_all(story, runs):
    client = story.client(story.ben)
    client.cookies["muster_pins"] = f"{runs[0].id.hex}.no-run"
    assert names(client.get(TABLE)) == ["run-0", "run-4", "run-3", "run-2", "run-1"]
    context = client.get(f"{TABLE}?view=charts&sort=-metrics.val/acc").context
    assert [axis["name"] for axis in context["plot"]["axes"]] == [
        "metrics.val/acc",
        "params.lr",
        "duration",
    ]
    assert context["plot"]["axes"][0]["values"] == [0.9, 0.8, 0.7, 0.6, None]
    assert context["chart_sources"][0]["id"] == runs[1].id.hex


def undo(client: Any, page: Any) -> Any:
    """Press the undo button of a page."""
    [form] = filter(None, map(undo_of, page.context["messages"]))
    return client.post(form.url, form.fields, follow=True)


@pytest.mark.parametrize("verb", ["archive", "delete"])
def test_bulk_action_hides_runs_and_can_be_undone(story, runs, verb):
    client = story.client(story.ben)
    picked = {"verb": verb, "run": [run.id.hex for run in runs[:2]]}
    page = client.post(f"{TABLE}/act", picked, follow=True)
    assert names(page) == ["run-4", "run-3", "run-2"]
    assert names(client.get(f"{TABLE}?show={'trash' if verb == 'delete' else 'archived'}")) == (
        [] if verb == "delete" else ["run-1", "run-0"]
    )
    page = undo(client, page)
    assert len(names(page)) == 5
    assert names(undo(client, page)) == ["run-4", "run-3", "run-2"], "an undo can be undone"


def test_all_matching_runs_are_tagged_and_undo_restores_each_value(story, ada, runs):
    client = story.client(story.ben)
    tags = lambda: [selectors.find_run(ada, run.id).tags for run in runs]  # noqa: E731
    services.log_batch(actor=ada, run=runs[0], tags={"use": "base"})
    before, query = tags(), "state=finished&limit=2"
    page = client.get(f"{TABLE}?{query}")
    assert page.context["matching"] == 4 and len(names(page)) == 2
    act = {"verb": "tag", "key": "use", "value": "paper", "all": "1", "query": query}
    page = client.post(f"{TABLE}/act", act, follow=True)
    assert [one.get("use") for one in tags()] == ["paper"] * 4 + [None]
    expired = {"verb": "undo", "change": "unknown"}
    assert "undone any more" in client.post(f"{TABLE}/act", expired, follow=True).content.decode()
    assert story.client(story.cyd).post(f"{TABLE}/act", act).status_code == 404
    undo(client, page)
    assert tags() == before


def test_list_of_experiments_shows_the_best_result_in_few_queries(
    story, ada, runs, django_assert_max_num_queries
):
    loss = services.create_experiment(actor=ada, team=story.vision, name="loss")
    for value in (0.5, 0.2, 0.9):
        run = services.create_run(actor=ada, experiment=loss)
        points = [Point("system/cpu", {}, 1, 9, 1), Point("val_loss", {}, 2, value, 1)]
        services.log_batch(actor=ada, run=run, metrics=points)
    services.create_experiment(actor=ada, team=story.vision, name="empty")
    client = story.client(story.ben)
    client.get("/atlas/experiments")
    with django_assert_max_num_queries(20):
        rows = client.get("/atlas/experiments").context["list"].rows
    assert {row["name"]: row["best"] for row in rows} == {
        "empty": None,
        "loss": {"metric": "val_loss", "value": 0.2},
        "resnet": {"metric": "val/acc", "value": 0.9},
    }


def test_run_with_files_is_registered_under_the_name_of_its_experiment(story, ada, runs):
    artifacts.put(ada, runs[0], "model/weights.bin", [b"x"], size=1)
    answer = story.client(story.ada).get(f"/atlas/runs/{runs[0].id.hex}/register", follow=True)
    page = answer.content.decode()
    assert f'value="runs:/{runs[0].id.hex}/model"' in page and 'value="resnet"' in page


def test_tags_notes_and_names_are_changed_by_members_only(story, ada, runs):
    run, act = runs[0], f"/atlas/runs/{runs[0].id.hex}/act"
    client = story.client(story.ben)
    client.post(f"{TABLE}/act", {"verb": "tag", "key": "use", "value": "base", "run": run.id.hex})
    client.post(act, {"verb": "note", "note": "Worked."})
    client.post(act, {"verb": "rename", "name": "baseline"})
    page = client.get(f"/atlas/runs/{run.id.hex}").content.decode()
    assert all(text in page for text in ("use: base", "Worked.", "<h1>baseline</h1>"))
    changed = client.post(act, {"verb": "tag", "key": "use", "value": "other"}, follow=True)
    assert "use: base" in undo(client, changed).content.decode()
    client.post(act, {"verb": "untag", "key": "use"})
    assert selectors.find_run(ada, run.id).tags == {"mlflow.note.content": "Worked."}
    assert story.client(story.cyd).post(act, {"verb": "note", "note": "x"}).status_code == 404


def test_experiment_is_created_edited_and_restored_from_the_trash(story, ada):
    client = story.client(story.ben)
    made = {"team": "vision", "name": "asr"}
    assert client.post("/atlas/experiments", made)["Location"] == TABLE
    client.post(f"{TABLE}/edit", {"verb": "edit", "name": "asr-2", "description": "Why?"})
    assert "asr-2" in client.get("/atlas/experiments?q=asr").content.decode()
    page = client.post(f"{TABLE}/edit", {"verb": "delete"}, follow=True).content.decode()
    assert "No experiments yet" in page and 'value="restore"' in page
    client.post(f"{TABLE}/edit", {"verb": "restore"})
    assert client.get(TABLE).status_code == 200
    assert (
        client.post("/atlas/experiments", made | {"team": "speech"}, follow=True).status_code == 200
    )
    assert selectors.visible_experiments(ada).count() == 1  # Ben is not in Speech


FILES = {
    "data/table.csv": b"id,label\n1,<b>cat</b>\n",
    "config.json": b'{"lr": 1}',
    "weights.bin": b"\x00\x01\x02\xff",
    "plot.png": b"\x89PNG\r\n\x1a\n",
}


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("data/table.csv", "table", "&lt;b&gt;cat&lt;/b&gt;"),
        ("config.json", "text", "&quot;lr&quot;: 1"),
        ("weights.bin", "", "Download it to open it."),
        ("plot.png", "image", "plot.png?preview=1"),
        ("data", None, "table.csv"),
        ("../secret", None, "must be a relative path"),
        ("missing", None, "There is no file missing here."),
    ],
)
def test_artifacts_are_previewed_by_kind_without_markup(story, ada, runs, path, kind, text):
    for name, content in FILES.items():
        artifacts.put(ada, runs[0], name, [content])
    answer = story.client(story.ben).get(
        f"/atlas/runs/{runs[0].id.hex}", {"tab": "artifacts", "path": path}
    )
    preview = answer.context["preview"]
    assert (preview and preview.kind) == kind and text in answer.content.decode()


def test_comparison_ranks_differences_and_shows_files_side_by_side(story, ada, runs):
    services.log_batch(
        actor=ada, run=runs[1], tags={"mlflow.source.git.commit": "abc", "who": "me"}
    )
    artifacts.put(ada, runs[0], "config.json", [b"{}"])
    ids = f"{runs[0].id.hex},{runs[1].id.hex}"
    answer = story.client(story.ben).get(f"/atlas/compare?runs={ids}&file=config.json")
    assert [(one.key, one.factor) for one in answer.context["ranked"]] == [
        ("code.commit", None),
        ("parameters.lr", pytest.approx(0.03)),
        ("tags.who", None),
    ]
    assert [bool(one["preview"]) for one in answer.context["previews"]] == [True, False]
    assert answer.context["files"][0].sizes == [2, None]
    many = ",".join(run.id.hex for run in runs) + "," + ids.upper()
    assert len(story.client(story.ben).get(f"/atlas/compare?runs={many}").context["rows"]) == 5
    assert story.client(story.cyd).get(f"/atlas/compare?runs={ids}").status_code == 404
    for n, run in enumerate(runs[2:4]):  # jobs that are the same, but for the link to their page
        run.params, run.tags = {}, {"mlflow.source.type": "JOB", "mlflow.source.name": f"jobs/{n}"}
    assert ranked(comparison.differences([compared(run) for run in runs[2:4]])) == []


def test_run_of_a_job_is_linked_and_says_what_cannot_be_repeated(story):
    cluster_with()
    job = submit(story, name="train", run="python train.py --lr 3e-4", envs={"EPOCHS": "7"})
    with org_scope(story.atlas.id):
        actor = story.actor(story.ada)
        run = selectors.find_run(actor, job.id)
        services.log_batch(
            actor=actor, run=run, params={"lr": "3e-4", "epochs": "7", "depth": "50"}
        )
        found = reproduction_of(selectors.find_run(actor, job.id), job)
        assert [p.value for p in found.pinned if p.label == "Parameters"] == ["epochs, lr"]
        assert {(p.label, p.value) for p in found.unpinned} >= {("Parameters", "depth")}
    client, page = story.client(story.ada), f"/atlas/runs/{job.id.hex}"
    assert page in client.get(f"/atlas/jobs/{job.number}").content.decode()
    other = submit(story, name="train", run="python train.py --lr 3e-4", envs={"EPOCHS": "9"})
    client.get(f"/atlas/runs/{other.id.hex}")
    shown = client.get("/atlas/experiments/1").content.decode()
    assert "Default of Vision" in shown and f'"/atlas/jobs/{job.number}"' in shown
    assert "EPOCHS=7" in shown and "depth" not in re.findall(r'data-label="(\w+)"', shown)
    assert client.get(f"{page}/register").headers["Location"] == page  # it has no files
    reproduce = client.get(f"{page}?tab=reproduce").content.decode()
    assert f"/atlas/jobs/new?from={job.number}" in reproduce
    assert set(client.get(f"{page}/curves").json()) == {"training", "system"}


def test_reproduction_pins_the_image_and_the_data_that_the_job_read(story):
    cluster_with()
    job = submit(story)
    with org_scope(story.atlas.id):
        inputs = {"data": "cifar@main", "start": {"checkpoint": "resnet", "path": "/start"}}
        Job.objects.filter(id=job.id).update(
            spec={**job.spec, "image": "reg.example:5000/train:v2", "inputs": inputs}
        )
        for name, kind, repository in (
            ("data", "dataset", "cifar"),
            ("start", "checkpoint", "resnet"),
        ):
            JobInput.objects.create(
                org=story.atlas,
                job=job,
                name=name,
                kind=kind,
                repository=repository,
                number=3,
                commit="0" * 40,
            )
        actor = story.actor(story.ada)
        run = selectors.find_run(actor, job.id)
        services.log_batch(actor=actor, run=run, tags={"muster.image_digest": "sha256:" + "1" * 64})
        job.refresh_from_db()
        run.refresh_from_db()
        found = reproduction_of(run, job)
    image = "reg.example:5000/train@sha256:" + "1" * 64
    assert found.changes == {
        "image": image,
        "inputs.data": "cifar@3",
        "inputs.start.checkpoint": "resnet@3",
    }
    assert [p.value for p in found.pinned if p.label == "Data"] == ["cifar v3", "resnet v3"]
    client = story.client(story.ada)
    page = client.get(f"/atlas/runs/{job.id.hex}?tab=reproduce").content.decode()
    [link] = re.findall(r'href="(/atlas/jobs/new\?from=[^"]+set=[^"]+)"', page)
    form = client.get(link.replace("&amp;", "&")).content.decode()
    assert "cifar@3" in form and "resnet@3" in form and image in form


def test_text_that_somebody_else_has_changed_is_not_overwritten(story, ada, runs):
    web, run = story.client(story.ada), runs[0]
    page, form = f"/atlas/runs/{run.id.hex}", 'name="was" value="'

    def was(path: str) -> str:
        return web.get(path).content.decode().partition(form)[2].partition('"')[0]

    def note() -> str:
        run.refresh_from_db()
        return run.tags.get("mlflow.note.content", "")

    seen = was(page)
    services.log_batch(actor=ada, run=run, tags={"mlflow.note.content": "of Ben"})
    web.post(f"{page}/act", {"verb": "note", "note": "of Ada", "was": seen})
    assert note() == "of Ben"
    web.post(f"{page}/act", {"verb": "note", "note": "of both", "was": was(page)})
    assert note() == "of both"
    seen = was(TABLE)
    services.update_experiment(actor=ada, experiment=run.experiment, description="of Ben")
    fields = {"verb": "edit", "name": "resnet", "description": "of Ada", "was": seen}
    web.post(f"{TABLE}/edit", fields)
    run.experiment.refresh_from_db()
    assert run.experiment.description == "of Ben"


def test_undo_of_many_leaves_runs_that_were_so_before(story, ada, runs):
    web, ids = story.client(story.ada), [run.id.hex for run in runs[:2]]
    services.archive_runs(actor=ada, runs=runs[:1])
    services.log_batch(actor=ada, run=runs[0], tags={"kind": "old"})
    shown = web.post(f"{TABLE}/act", {"verb": "archive", "run": ids}, follow=True)
    [undo] = [undo_of(message) for message in shown.context["messages"]]
    web.post(f"{TABLE}/act", undo.fields, follow=True)
    assert [bool(Run.objects.get(id=run.id).archived_at) for run in runs[:2]] == [True, False]
    fields = {"verb": "tag", "run": ids, "key": "kind", "value": "new"}
    shown = web.post(f"{TABLE}/act", fields, follow=True)
    [undo] = [undo_of(message) for message in shown.context["messages"]]
    web.post(f"{TABLE}/act", undo.fields, follow=True)
    assert [Run.objects.get(id=run.id).tags.get("kind") for run in runs[:2]] == ["old", None]


def test_names_and_infinities_are_harmless_in_commands_and_charts(story, ada, runs):
    point = Point("val/acc", {}, 3000, float("inf"), 3)
    services.log_batch(actor=ada, run=runs[0], metrics=[point])
    services.update_experiment(actor=ada, experiment=runs[0].experiment, name='$(id)" `id`')
    web = story.client(story.ada)
    curves = web.get(f"/atlas/runs/{runs[0].id.hex}/curves").content
    [curve] = json.loads(curves, parse_constant=pytest.fail)["training"]
    assert curve["values"] == [0.7, 0.7, None]
    assert "MLFLOW_EXPERIMENT_NAME='$(id)\" `id`'" in web.get(TABLE).context["command"]


def test_children_are_shown_below_their_parents(story, ada, runs):
    parent = runs[1]
    for n in (10, 2):
        services.create_run(
            actor=ada,
            experiment=parent.experiment,
            name=f"run-1[{n}]",
            started_ms=2000 - n,
            parent=parent,
        )
    web = story.client(story.ada)
    shown = names(web.get(TABLE))
    assert shown == ["run-4", "run-3", "run-2", "run-1", "run-1[2]", "run-1[10]", "run-0"]
    assert web.get(TABLE).content.decode().count('data-level="1"') == 2
    Run.objects.filter(id=parent.id).update(parent=Run.objects.get(name="run-1[2]"))
    assert sorted(names(web.get(TABLE))) == sorted(shown), "a circle loses no run"
