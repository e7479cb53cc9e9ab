"""Rows as JSON of MLflow. Like its server, this leaves out what is empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import inf, isfinite
from typing import Any

from experiments.models import Experiment, LoggedModel, Run
from experiments.selectors import LastPoint

ROOT = "mlflow-artifacts:/"


def experiment_json(row: Experiment) -> dict[str, Any]:
    """Return an experiment."""
    tags = dict(row.tags)
    if row.description:
        tags.setdefault("mlflow.note.content", row.description)
    return without_empty(
        {
            "experiment_id": str(row.number),
            "name": row.name,
            "artifact_location": f"{ROOT}{row.number}",
            "lifecycle_stage": stage(row.deleted_at),
            "last_update_time": ms(row.updated_at),
            "creation_time": ms(row.created_at),
            "tags": pairs(tags),
        }
    )


def run_json(row: Run, metrics: Mapping[str, LastPoint]) -> dict[str, Any]:
    """Return a run with its last metrics. Reads `row.experiment` and `row.owner`."""
    return {
        "info": info_json(row),
        "data": without_empty(
            {
                "metrics": [
                    metric_json(name, point.value, point.at_ms, point.step)
                    for name, point in metrics.items()
                ],
                "params": pairs(row.params),
                "tags": pairs(tags_of(row)),
            }
        ),
        "inputs": without_empty(
            {
                "dataset_inputs": [
                    without_empty({"tags": pairs(each.get("tags", {})), "dataset": each["dataset"]})
                    for each in row.inputs
                    if "dataset" in each
                ],
                "model_inputs": [
                    {"model_id": each["model_id"]} for each in row.inputs if "model_id" in each
                ],
            }
        ),
        "outputs": without_empty({"model_outputs": list(row.outputs)}),
    }


def info_json(row: Run) -> dict[str, Any]:
    """Return the head of a run. Reads `row.experiment` and `row.owner`."""
    run_id = row.id.hex
    info = {
        "run_uuid": run_id,
        "experiment_id": str(row.experiment.number),
        "run_name": row.name,
        "user_id": row.tags.get("mlflow.user") or row.owner.email,
        "status": row.status,
        "start_time": row.started_ms,
        "artifact_uri": run_root(row),
        "lifecycle_stage": stage(row.deleted_at or row.experiment.deleted_at),
        "run_id": run_id,
    }
    return info if row.ended_ms is None else info | {"end_time": row.ended_ms}


def tags_of(row: Run) -> dict[str, str]:
    """Return a run's tags, with its name and its parent as clients expect them."""
    tags = {**row.tags, "mlflow.runName": row.name}
    if row.parent_id:
        tags["mlflow.parentRunId"] = row.parent_id.hex
    return tags


def run_root(row: Run) -> str:
    """Return the URI under which clients store a run's files."""
    return f"{ROOT}{row.experiment.number}/{row.id.hex}/artifacts"


def model_root(row: LoggedModel) -> str:
    """Return the URI under which clients store a logged model's files."""
    return f"{ROOT}{row.experiment.number}/models/{model_id(row)}/artifacts"


def model_id(row: LoggedModel) -> str:
    return f"m-{row.id.hex}"


def logged_model_json(row: LoggedModel) -> dict[str, Any]:
    """Return a logged model. Reads `row.experiment`."""
    metrics = [
        without_empty({**each, "value": number(each["value"]), "model_id": model_id(row)})
        for each in row.metrics
    ]
    return {
        "info": {"model_type": row.model_type}
        | without_empty(
            {
                "model_id": model_id(row),
                "experiment_id": str(row.experiment.number),
                "name": row.name,
                "creation_timestamp_ms": ms(row.created_at),
                "last_updated_timestamp_ms": ms(row.updated_at),
                "artifact_uri": model_root(row),
                "status": row.status,
                "source_run_id": row.run_id.hex if row.run_id else "",
                "tags": pairs(row.tags),
            }
        ),
        "data": without_empty({"params": pairs(row.params), "metrics": metrics}),
    }


def metric_json(name: str, value: float | None, at_ms: int, step: int | None) -> dict[str, Any]:
    """Return a point of a metric."""
    return {"key": name, "value": number(value), "timestamp": at_ms, "step": step or 0}


def number(value: float | str | None) -> float | str:
    """Return a number; NaN and infinities as text, because JSON has none."""
    if isinstance(value, str):
        return value
    if value is not None and isfinite(value):
        return float(value)
    return {inf: "Infinity", -inf: "-Infinity"}.get(value, "NaN")  # type: ignore[arg-type]


def file_json(path: str, size: int | None) -> dict[str, Any]:
    """Return a file, or a folder if it has no size."""
    if size is None:
        return {"path": path, "is_dir": True}
    return {"path": path, "is_dir": False, "file_size": size}


def pairs(found: Mapping[str, str]) -> list[dict[str, str]]:
    """Return a mapping as MLflow's list of {key, value}."""
    return [{"key": key, "value": value} for key, value in found.items()]


def without_empty(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping without empty texts and lists, and None."""
    return {name: value for name, value in found.items() if value not in (None, "", [])}


def stage(deleted_at: datetime | None) -> str:
    return "deleted" if deleted_at else "active"


def ms(at: datetime) -> int:
    """Return a time in Unix milliseconds."""
    return int(at.timestamp() * 1000)


def page(name: str, found: Sequence[Any], token: str) -> dict[str, Any]:
    """Return a page of a list and the token of the next one."""
    return without_empty({name: list(found), "next_page_token": token})
