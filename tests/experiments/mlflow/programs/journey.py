"""Log, search and read back with the client alone, as a training program does."""

import json
import math
import tempfile
from pathlib import Path

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag, ViewType
from mlflow.exceptions import MlflowException

client = MlflowClient()


def refused(code: str, call, *arguments, **named) -> str:
    """Return the text of the error with which the server refuses a call."""
    try:
        call(*arguments, **named)
    except MlflowException as error:
        if error.error_code == code:
            return str(error)
        raise
    raise AssertionError(f"{call} was not refused")


experiment = mlflow.set_experiment("journey")
assert mlflow.set_experiment("journey").experiment_id == experiment.experiment_id
client.set_experiment_tag(experiment.experiment_id, "owner", "vision")
assert client.get_experiment_by_name("journey").tags["owner"] == "vision"
assert client.get_experiment_by_name("absent") is None
assert client.get_experiment("0").name == "Default"

with mlflow.start_run(run_name="outer", tags={"kind": "sweep"}) as outer:
    mlflow.log_params({"lr": 0.1, "layers": 3})
    for step in range(5):
        mlflow.log_metric("loss", 1 / (step + 1), step=step)
    mlflow.log_metrics({"nan": math.nan, "inf": math.inf, "low": -math.inf, "whole": 3})
    mlflow.log_text("hello", "notes/hello.txt")
    mlflow.log_dict({"a": 1}, "notes/facts.json")
    with mlflow.start_run(nested=True, run_name="inner") as inner:
        mlflow.log_metric("loss", 0.01)
    mlflow.set_tag("mlflow.note.content", "It **works**.")

run = client.get_run(outer.info.run_id)
assert run.info.status == "FINISHED" and run.info.end_time >= run.info.start_time
assert run.info.run_name == run.data.tags["mlflow.runName"] == "outer"
assert run.data.params == {"lr": "0.1", "layers": "3"}
assert run.data.metrics["loss"] == 0.2 and run.data.metrics["whole"] == 3
assert math.isnan(run.data.metrics["nan"])
assert (run.data.metrics["inf"], run.data.metrics["low"]) == (math.inf, -math.inf)
assert run.data.tags["mlflow.note.content"] == "It **works**."
assert client.get_run(inner.info.run_id).data.tags["mlflow.parentRunId"] == outer.info.run_id
assert client.get_parent_run(inner.info.run_id).info.run_id == outer.info.run_id
points = client.get_metric_history(outer.info.run_id, "loss")
assert [(p.step, p.value) for p in points] == [(n, 1 / (n + 1)) for n in range(5)]

client.log_batch(outer.info.run_id, params=[Param("lr", "0.1")])  # written once, again the same
text = refused(
    "INVALID_PARAMETER_VALUE",
    client.log_batch,
    outer.info.run_id,
    params=[Param("lr", "0.2")],
)
assert "Changing param values is not allowed" in text
batch = [Metric("steps", float(n), 1000 + n, n) for n in range(1000)]
for _ in range(2):  # a repeated batch adds nothing
    client.log_batch(outer.info.run_id, metrics=batch, tags=[RunTag("again", "yes")])
assert len(client.get_metric_history(outer.info.run_id, "steps")) == 1000
client.delete_tag(outer.info.run_id, "again")
refused("RESOURCE_DOES_NOT_EXIST", client.delete_tag, outer.info.run_id, "again")

listed = {f.path: f.file_size for f in client.list_artifacts(outer.info.run_id, "notes")}
assert listed == {"notes/facts.json": 12, "notes/hello.txt": 5}, listed
with tempfile.TemporaryDirectory() as folder:
    path = mlflow.artifacts.download_artifacts(
        run_id=outer.info.run_id, artifact_path="notes", dst_path=folder
    )
    assert Path(path, "hello.txt").read_text() == "hello"
assert mlflow.artifacts.load_text(f"runs:/{outer.info.run_id}/notes/hello.txt") == "hello"


def found(text: str, **named) -> list[str]:
    """Return the names of the runs that match."""
    runs = client.search_runs([experiment.experiment_id], text, **named)
    return [each.info.run_name for each in runs]


assert found("", order_by=["metrics.loss ASC"]) == ["inner", "outer"]
assert found("metrics.loss < 0.1 and tags.mlflow.runName = 'inner'") == ["inner"]
assert found("params.lr = '0.1' and tags.kind LIKE 'sw%'") == ["outer"]
assert found(f"tags.mlflow.parentRunId = '{outer.info.run_id}'") == ["inner"]
page = client.search_runs(
    [experiment.experiment_id], max_results=1, order_by=["attribute.start_time"]
)
rest = client.search_runs(
    [experiment.experiment_id],
    max_results=1,
    order_by=["attribute.start_time"],
    page_token=page.token,
)
assert [r.info.run_name for r in [*page, *rest]] == ["outer", "inner"] and not rest.token
refused("INVALID_PARAMETER_VALUE", client.search_runs, [experiment.experiment_id], "nonsense >")

client.delete_run(inner.info.run_id)
assert found("") == ["outer"]
assert found("", run_view_type=ViewType.DELETED_ONLY) == ["inner"]
refused("INVALID_PARAMETER_VALUE", client.log_metric, inner.info.run_id, "loss", 1)
client.restore_run(inner.info.run_id)
assert sorted(found("", run_view_type=ViewType.ALL)) == ["inner", "outer"]
client.set_terminated(inner.info.run_id, "KILLED")
assert client.get_run(inner.info.run_id).info.status == "KILLED"
client.update_run(inner.info.run_id, name="renamed")
assert client.get_run(inner.info.run_id).data.tags["mlflow.runName"] == "renamed"

other = client.create_experiment("other", tags={"a": "b"})
refused("RESOURCE_ALREADY_EXISTS", client.create_experiment, "other")
client.rename_experiment(other, "another")
client.delete_experiment(other)
assert client.get_experiment(other).lifecycle_stage == "deleted"
names = {e.name for e in client.search_experiments()}
assert "journey" in names and "another" not in names
assert {e.name for e in client.search_experiments(view_type=ViewType.DELETED_ONLY)} == {"another"}
client.restore_experiment(other)
assert [e.name for e in client.search_experiments(filter_string="name = 'another'")] == ["another"]
refused("RESOURCE_DOES_NOT_EXIST", client.get_run, "0" * 32)

if hasattr(mlflow, "initialize_logged_model"):  # MLflow 3
    with mlflow.start_run(run_name="models"):
        model = mlflow.initialize_logged_model(name="net", params={"layers": "3"}, tags={"a": "b"})
        mlflow.log_metric("score", 0.9, model_id=model.model_id)
        mlflow.finalize_logged_model(model.model_id, "READY")
    model = mlflow.get_logged_model(model.model_id)
    assert (model.name, model.status.value, model.params) == ("net", "READY", {"layers": "3"})
    assert [(m.key, m.value) for m in model.metrics] == [("score", 0.9)]
    models = mlflow.search_logged_models([experiment.experiment_id], output_format="list")
    assert [m.model_id for m in models] == [model.model_id]

with mlflow.start_span(name="question") as span:
    span.set_inputs({"q": "why"})
    with mlflow.start_span(name="search") as child:
        child.set_attribute("hits", 3)
    span.set_outputs({"a": "because"})
is_new = hasattr(span, "trace_id")  # MLflow 2 calls it request
trace_id = span.trace_id if is_new else span.request_id
trace = client.get_trace(trace_id)
assert [s.name for s in trace.data.spans] == ["question", "search"]
assert trace.data.spans[0].inputs == {"q": "why"} and trace.data.spans[1].attributes["hits"] == 3
assert trace.info.status.value if is_new else trace.info.status == "OK"
client.set_trace_tag(trace_id, "judged", "good")


def judged() -> list[str]:
    """Return the traces with the tag."""
    named = {"locations" if is_new else "experiment_ids": [experiment.experiment_id]}
    rows = client.search_traces(**named, filter_string="tags.judged = 'good'")
    return [t.info.trace_id if is_new else t.info.request_id for t in rows]


assert judged() == [trace_id]
client.delete_traces(
    experiment.experiment_id, **{"trace_ids" if is_new else "request_ids": [trace_id]}
)
assert judged() == []

print(json.dumps({"run": outer.info.run_id, "experiment": experiment.experiment_id}))
