"""Write traces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.db import transaction

from experiments.models import Experiment, Run, Trace
from experiments.services import limits
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission

# Tag of MLflow that says where its clients find the spans: in the trace itself
SPANS_LOCATION, IN_TRACE = "mlflow.trace.spansLocation", "TRACKING_STORE"
_MOST_SPANS = 20_000  # per trace
_STATES = frozenset({"STATE_UNSPECIFIED", "OK", "ERROR", "IN_PROGRESS"})


@dataclass(frozen=True)
class TraceFacts:
    """What a client says about a trace; None leaves what is known. Times are in milliseconds."""

    started_ms: int
    state: str = "STATE_UNSPECIFIED"
    duration_ms: int | None = None
    request_preview: str | None = None
    response_preview: str | None = None
    client_request_id: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    assessments: Sequence[Mapping[str, Any]] = ()


@transaction.atomic
def save_trace(*, actor: Actor, experiment: Experiment, trace_id: str, facts: TraceFacts) -> Trace:
    """Create or complete a trace. Idempotent; tags and metadata that are known stay.

    Raises NotPermitted, InvalidInput.
    """
    limits.check_time("started_ms", facts.started_ms)
    limits.check_time("duration_ms", facts.duration_ms)
    limits.check_text("client_request_id", facts.client_request_id or "", limits.KEY)
    row = _locked(actor, experiment, trace_id, facts.started_ms)
    if facts.state not in _STATES:
        raise InvalidInput.at(
            "state",
            Message("must be one of {all}", context="error of a field", all=", ".join(_STATES)),
        )
    row.experiment, row.started_ms, row.state = experiment, facts.started_ms, facts.state
    for name in ("duration_ms", "request_preview", "response_preview", "client_request_id"):
        if (value := getattr(facts, name)) is not None:
            setattr(row, name, value)
    row.tags |= facts.tags
    row.metadata |= facts.metadata
    row.run = _source_run(row)
    known = {each["assessment_id"] for each in row.assessments}
    row.assessments += [
        each
        for each in (completed_assessment(trace_id, given) for given in facts.assessments)
        if each["assessment_id"] not in known
    ]
    row.save()
    return row


@transaction.atomic
def add_spans(
    *, actor: Actor, experiment: Experiment, trace_id: str, spans: Sequence[Mapping[str, Any]]
) -> Trace:
    """Add OpenTelemetry spans to a trace, which is created if it is new. Idempotent.

    Raises NotPermitted, InvalidInput.
    """
    starts = [_ns(span, "start_time_unix_nano") for span in spans]
    row = _locked(actor, experiment, trace_id, min(starts) // 1_000_000)
    by_id = {span["span_id"]: span for span in row.spans if "span_id" in span}
    by_id |= {span["span_id"]: span for span in spans}
    if len(by_id) > _MOST_SPANS:
        raise InvalidInput(
            Message("A trace may have at most {most} spans.", most=f"{_MOST_SPANS:,}")
        )
    row.spans = sorted(by_id.values(), key=lambda span: _ns(span, "start_time_unix_nano"))
    row.tags[SPANS_LOCATION] = IN_TRACE
    root = next((span for span in row.spans if not span.get("parent_span_id")), None)
    if root is not None and row.state in {"IN_PROGRESS", "STATE_UNSPECIFIED"}:
        row.state = "ERROR" if root.get("status", {}).get("code") == "STATUS_CODE_ERROR" else "OK"
        row.started_ms = _ns(root, "start_time_unix_nano") // 1_000_000
        if end := _ns(root, "end_time_unix_nano"):
            row.duration_ms = end // 1_000_000 - row.started_ms
        row.tags.setdefault("mlflow.traceName", str(root.get("name", "")))
    elif row.state == "STATE_UNSPECIFIED":
        row.state = "IN_PROGRESS"
    row.save()
    return row


@transaction.atomic
def save_span_file(*, actor: Actor, trace: Trace, spans: Sequence[Mapping[str, Any]]) -> None:
    """Store the spans of a trace as the clients of MLflow 2 write them into a file."""
    authorize(actor, Permission.EXPERIMENTS_WRITE, trace.experiment.team_id)
    trace.spans = list(spans)
    trace.tags.pop(SPANS_LOCATION, None)
    trace.save(update_fields=["spans", "tags"])


@transaction.atomic
def set_trace_tags(*, actor: Actor, trace: Trace, tags: Mapping[str, str]) -> None:
    """Set tags. Raises NotPermitted."""
    row = _writable(actor, trace)
    row.tags |= tags
    row.save(update_fields=["tags"])


@transaction.atomic
def delete_trace_tag(*, actor: Actor, trace: Trace, key: str) -> None:
    """Delete a tag. Raises NotPermitted, NotFound."""
    row = _writable(actor, trace)
    if row.tags.pop(key, None) is None:
        raise NotFound(
            Message(
                "No trace tag with key '{key}' for trace with ID '{trace_id}'",
                key=key,
                trace_id=trace.trace_id,
            )
        )
    row.save(update_fields=["tags"])


@transaction.atomic
def link_traces(*, actor: Actor, traces: Sequence[Trace], run: Run) -> None:
    """Link traces to a run. Raises NotPermitted."""
    for trace in traces:
        row = _writable(actor, trace)
        row.run, row.metadata["mlflow.sourceRun"] = run, run.id.hex
        row.save(update_fields=["run", "metadata"])


@transaction.atomic
def delete_traces(
    *,
    actor: Actor,
    experiment: Experiment,
    trace_ids: Collection[str] | None = None,
    until_ms: int | None = None,
    most: int | None = None,
) -> int:
    """Delete traces by id, or the oldest ones; return their number. Raises NotPermitted."""
    authorize(actor, Permission.EXPERIMENTS_WRITE, experiment.team_id)
    rows = Trace.objects.filter(experiment=experiment)
    if trace_ids is not None:
        rows = rows.filter(trace_id__in=trace_ids)
    if until_ms is not None:
        rows = rows.filter(started_ms__lte=until_ms)
    ids = list(rows.order_by("started_ms", "id").values_list("id", flat=True)[:most])
    deleted, _ = Trace.objects.filter(id__in=ids).delete()
    if deleted:
        record(
            EventRecord(
                "experiment.traces_deleted",
                experiment.org_id,
                "experiment",
                experiment.id,
                actor.email,
                {"name": experiment.name, "before": {"traces": deleted}},
            )
        )
    return deleted


@transaction.atomic
def create_assessment(
    *, actor: Actor, trace: Trace, assessment: Mapping[str, Any]
) -> dict[str, Any]:
    """Add feedback or an expectation to a trace. Raises NotPermitted."""
    row = _writable(actor, trace)
    made = completed_assessment(trace.trace_id, {**assessment, "assessment_id": ""})
    for each in row.assessments:
        if each["assessment_id"] == made.get("overrides"):
            each["valid"] = False
    row.assessments.append(made)
    row.save(update_fields=["assessments"])
    return made


@transaction.atomic
def update_assessment(
    *, actor: Actor, trace: Trace, assessment_id: str, fields: Mapping[str, Any]
) -> dict[str, Any]:
    """Change fields of an assessment; metadata is merged. Raises NotPermitted, NotFound."""
    row = _writable(actor, trace)
    found = assessment_of(row, assessment_id)
    metadata = {**found.get("metadata", {}), **fields.get("metadata", {})}
    found |= {**fields, "last_update_time": _now_text()}
    if metadata:
        found["metadata"] = metadata
    row.save(update_fields=["assessments"])
    return found


@transaction.atomic
def delete_assessment(*, actor: Actor, trace: Trace, assessment_id: str) -> None:
    """Delete an assessment. Raises NotPermitted, NotFound."""
    row = _writable(actor, trace)
    row.assessments.remove(assessment_of(row, assessment_id))
    row.save(update_fields=["assessments"])


def assessment_of(trace: Trace, assessment_id: str) -> dict[str, Any]:
    """Return an assessment. Raises NotFound."""
    for each in trace.assessments:
        if each["assessment_id"] == assessment_id:
            return each  # type: ignore[no-any-return]
    raise NotFound(
        Message(
            "Assessment with ID '{assessment_id}' not found for trace '{trace_id}'",
            assessment_id=assessment_id[:100],
            trace_id=trace.trace_id,
        )
    )


def completed_assessment(trace_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assessment with its id, its trace and its times."""
    now = _now_text()
    return {
        **given,
        "assessment_id": given.get("assessment_id") or f"a-{uuid4().hex}",
        "trace_id": trace_id,
        "create_time": given.get("create_time") or now,
        "last_update_time": given.get("last_update_time") or now,
        "valid": given.get("valid", True),
    }


def _locked(actor: Actor, experiment: Experiment, trace_id: str, started_ms: int) -> Trace:
    """Return the trace, created if it is new, and locked."""
    authorize(actor, Permission.EXPERIMENTS_WRITE, experiment.team_id)
    if experiment.deleted_at is not None:
        raise InvalidInput(
            Message("{name} is in the trash. Restore it first.", name=experiment.name)
        )
    if not 0 < len(trace_id) <= 100 or not trace_id.isprintable():
        raise InvalidInput.at("trace_id", Message("must have 1 to 100 visible characters"))
    Trace.objects.bulk_create(
        [
            Trace(
                org_id=experiment.org_id,
                experiment=experiment,
                trace_id=trace_id,
                started_ms=started_ms,
            )
        ],
        ignore_conflicts=True,
    )
    row = (
        Trace.objects.select_for_update(of=("self",))
        .select_related("experiment")
        .get(trace_id=trace_id)
    )
    if row.experiment.team_id != experiment.team_id:
        raise Conflict(
            Message("There is already a trace {trace_id}.", trace_id=trace_id),
            code="already_exists",
        )
    return row  # type: ignore[no-any-return]


def _writable(actor: Actor, trace: Trace) -> Trace:
    authorize(actor, Permission.EXPERIMENTS_WRITE, trace.experiment.team_id)
    return Trace.objects.select_for_update(of=("self",)).get(id=trace.id)  # type: ignore[no-any-return]


def _source_run(trace: Trace) -> Run | None:
    """Return the run of the same team that the metadata names."""
    run_id = trace.metadata.get("mlflow.sourceRun", "")
    if len(run_id) != 32 or not all(c in "0123456789abcdef" for c in run_id):
        return trace.run
    return Run.objects.filter(id=run_id, team_id=trace.experiment.team_id).first() or trace.run


def _ns(span: Mapping[str, Any], name: str) -> int:
    return int(span.get(name) or 0)


def _now_text() -> str:
    return clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
