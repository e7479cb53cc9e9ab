"""Log to runs: metrics, params, tags, datasets and models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from experiments.models import Run
from experiments.services import limits
from experiments.services.experiments import NOTE
from experiments.services.runs import NAME_TAG, check_not_in_trash, lock, lock_all
from portal import series
from portal.core import clock, streams
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.core.texts import check_unchanged
from portal.series import Point
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission

_MOST_FRAMES = 100  # steps of a batch that viewers see at once
_MOST_UPDATED = 200  # rows of a statement


def log_batch(
    *,
    actor: Actor,
    run: Run,
    metrics: Sequence[Point] = (),
    params: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> None:
    """Log metrics, params and tags: all or nothing. A repeated batch changes nothing.

    A param is written once; the same value again is ignored. Raises NotPermitted, InvalidInput,
    QuotaExceeded for too many metrics, and Conflict for a run in the trash.
    """
    params, tags = params or {}, tags or {}
    authorize(actor, Permission.EXPERIMENTS_WRITE, run.team_id)
    limits.check_batch(metrics, params, tags)
    limits.check_texts("params", params, limits.PARAM_VALUE)
    limits.check_texts("tags", tags, limits.TAG_VALUE)
    _check_points(metrics)
    check_not_in_trash(run)
    if params or tags:
        with transaction.atomic():
            _write_texts(lock(actor, run), params, tags)
            if metrics:
                series.append(run.series_owner, metrics, org_id=run.org_id)
    elif metrics:
        series.append(run.series_owner, metrics, org_id=run.org_id)
    if metrics:
        transaction.on_commit(lambda: _publish(run, metrics))


@transaction.atomic
def write_note(*, actor: Actor, run: Run, note: str, was: str | None = None) -> None:
    """Write the note of a run; `was` is the mark of the note that was read.

    Raises NotPermitted, InvalidInput, Conflict.
    """
    row = lock(actor, run)
    check_unchanged("note", row.tags.get(NOTE, ""), was)
    limits.check_text("note", note, limits.TAG_VALUE)
    row.tags = {**row.tags, NOTE: note}
    _save(row, "tags")


@transaction.atomic
def delete_run_tag(*, actor: Actor, run: Run, key: str) -> None:
    """Delete a tag. Raises NotPermitted, NotFound, Conflict."""
    row = lock(actor, run)
    if key not in row.tags:
        raise NotFound(Message("{name} has no tag {key}.", name=row.name, key=key[:250]))
    row.tags = {name: value for name, value in row.tags.items() if name != key}
    _save(row, "tags")


@transaction.atomic
def set_run_tag(
    *, actor: Actor, runs: Iterable[Run], key: str, values: Mapping[UUID, str | None]
) -> dict[UUID, str | None]:
    """Set a tag of several runs, each to its value; None removes it.

    Returns the values before, by id, of those that changed. Raises NotPermitted, InvalidInput,
    Conflict.
    """
    for value in {value for value in values.values() if value is not None}:
        limits.check_texts("tags", {key: value}, limits.TAG_VALUE)
    if key == NAME_TAG:
        raise InvalidInput.at("key", Message("{key} is the name of the run.", key=key))
    before: dict[UUID, str | None] = {}
    changed = []
    for row in lock_all(actor, runs):
        old, new = row.tags.get(key), values.get(row.id)
        if old == new:
            continue
        before[row.id] = old
        rest = {name: value for name, value in row.tags.items() if name != key}
        row.tags = rest if new is None else rest | {key: new}
        changed.append(row)
    Run.objects.bulk_update(changed, ["tags"], batch_size=_MOST_UPDATED)
    Run.objects.filter(id__in=before).update(updated_at=clock.now())
    return before


@transaction.atomic
def add_to_list_tag(*, actor: Actor, run: Run, key: str, item: Any) -> None:
    """Append to a tag that is a JSON list. Raises NotPermitted, InvalidInput, Conflict."""
    row = lock(actor, run)
    try:
        items = json.loads(row.tags.get(key, "[]"))
    except (ValueError, RecursionError):
        items = None
    if not isinstance(items, list):
        raise InvalidInput.at("tags", Message("has {key}, which is not a list", key=key))
    tags = {key: json.dumps([*items, item])}
    limits.check_texts("tags", tags, limits.EXPERIMENT_TAG_VALUE)
    row.tags = row.tags | tags
    _save(row, "tags")


@transaction.atomic
def log_inputs(*, actor: Actor, run: Run, inputs: Sequence[Mapping[str, Any]]) -> None:
    """Add datasets (`{"dataset", "tags"}`) and models (`{"model_id"}`) that a run reads.

    One that it has already is replaced. Raises NotPermitted, InvalidInput, Conflict.
    """
    row = lock(actor, run)
    row.inputs = _with(row.inputs, inputs, "inputs")
    _save(row, "inputs")


@transaction.atomic
def log_outputs(*, actor: Actor, run: Run, outputs: Sequence[Mapping[str, Any]]) -> None:
    """Add models (`{"model_id", "step"}`) that a run writes.

    One that it has already is replaced. Raises NotPermitted, InvalidInput, Conflict.
    """
    row = lock(actor, run)
    row.outputs = _with(row.outputs, outputs, "outputs")
    _save(row, "outputs")


def _write_texts(row: Run, params: Mapping[str, str], tags: Mapping[str, str]) -> None:
    """Write params and tags to the locked row."""
    for key, value in params.items():
        old = row.params.get(key, value)
        if old != value:  # clients of MLflow match the first sentence
            raise InvalidInput.at(
                "params",
                Message(
                    "Changing param values is not allowed. Param with key='{key}' was already "
                    "logged with value='{old}' for run ID='{run}'. Attempted logging new value "
                    "'{new}'.",
                    key=key,
                    old=old,
                    run=row.id.hex,
                    new=value,
                ),
            )
    name = tags.get(NAME_TAG, row.name)
    written: dict[str, Any] = {
        "params": {**row.params, **params},
        "tags": {**row.tags, **{k: v for k, v in tags.items() if k != NAME_TAG}},
        "name": limits.clean_name(name, limits.RUN_NAME),
    }
    for field in ("params", "tags"):
        limits.check_total(field, written[field])
    changed = [field for field, value in written.items() if getattr(row, field) != value]
    for field in changed:
        setattr(row, field, written[field])
    if changed:
        _save(row, *changed)


def _check_points(metrics: Sequence[Point]) -> None:
    for name in {point.name for point in metrics}:
        limits.check_key("metrics", name)
    lowest, highest = limits.LOWEST, limits.HIGHEST
    for point in metrics:
        if not (lowest < point.at_ms < highest and lowest < (point.step or 0) < highest):
            raise InvalidInput.at(
                "metrics",
                Message("has a time or step of {name} that is out of range", name=point.name),
            )


def _with(
    known: Sequence[Mapping[str, Any]], added: Sequence[Mapping[str, Any]], field: str
) -> list[Mapping[str, Any]]:
    found = {_identity(each): each for each in [*known, *added]}
    if len(found) > limits.INPUTS:
        raise InvalidInput.at(
            field, Message("would be more than {most} of this run", most=limits.INPUTS)
        )
    return list(found.values())


def _identity(each: Mapping[str, Any]) -> tuple[str, ...]:
    data = each.get("dataset")
    if data is None:
        return ("model", str(each.get("model_id")))
    return ("dataset", str(data.get("name")), str(data.get("digest")))


def _save(row: Run, *fields: str) -> None:
    row.updated_at = clock.now()
    row.save(update_fields=[*fields, "updated_at"])


def _publish(run: Run, metrics: Sequence[Point]) -> None:
    """Tell live viewers in one message: the last step, and at most as many before it as they draw."""
    found = list(dict.fromkeys((point.at_ms, point.step) for point in metrics))
    every = -(-len(found) // _MOST_FRAMES)
    frames: dict[tuple[int, int | None], dict[str, float]] = {at: {} for at in found[::-every]}
    for point in metrics:
        values = frames.get((point.at_ms, point.step))
        if values is not None:
            values[point.key if point.labels else point.name] = point.value
    last, *earlier = (
        {"t": at, "step": step, "values": values} for (at, step), values in frames.items()
    )
    message = last | {"earlier": earlier[::-1]} if earlier else last
    streams.publish(f"metrics:{run.series_owner}", message)
