"""Traces, for the clients of MLflow 2 and 3."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import orjson
from django.db.models import QuerySet
from django.http import HttpResponse

from experiments import search, selectors, services
from experiments.mlflow.calls import (
    Call,
    integer,
    invalid,
    mapping,
    objects,
    pairs,
    parsed,
)
from experiments.mlflow.otlp import trace_id_of
from experiments.mlflow.represent import ROOT, page, without_empty
from experiments.mlflow.represent import pairs as as_pairs
from experiments.mlflow.routes import route
from experiments.mlflow.rows import DEFAULT, experiment_of, experiments_of, run_of
from experiments.models import Trace
from experiments.services.traces import IN_TRACE, SPANS_LOCATION, TraceFacts
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message

_MOST, _MOST_LINKS = 500, 100
_DURATION = re.compile(r"(-?\d+)(?:\.(\d{1,9}))?s\Z")
_FILE = re.compile(r"(?P<experiment>\d+)/traces/(?P<trace>[^/]+)/artifacts/traces\.json")


@route("POST", "traces", fields="experiment_id timestamp_ms request_metadata tags trace")
def start(call: Call) -> Any:
    """Create a trace: with `trace` in MLflow 3, with `experiment_id` in MLflow 2."""
    if "trace" not in call.data:
        return _start_v2(call)
    trace = _object(call, "trace")
    info = trace.get("trace_info")
    if not isinstance(info, Mapping):
        raise invalid("trace", info)
    if trace.get("spans"):
        raise InvalidInput.at("trace.spans", Message("can’t be set: send spans to /v1/traces"))
    number = _experiment_in(mapping(info.get("trace_location"))) or DEFAULT
    row = services.save_trace(
        actor=call.actor,
        experiment=experiment_of(call, number),
        trace_id=str(info.get("trace_id") or ""),
        facts=TraceFacts(
            started_ms=_ms_of(str(info.get("request_time") or "")),
            state=str(info.get("state") or "STATE_UNSPECIFIED"),
            duration_ms=_duration_of(info.get("execution_duration")),
            request_preview=_preview(info, "request_preview"),
            response_preview=_preview(info, "response_preview"),
            client_request_id=_preview(info, "client_request_id"),
            tags=pairs("tags", info.get("tags")),
            metadata=pairs("trace_metadata", info.get("trace_metadata")),
            assessments=_assessments(info.get("assessments")),
        ),
    )
    return {"trace": {"trace_info": info_v3(row)}}


def _start_v2(call: Call) -> Any:
    row = services.save_trace(
        actor=call.actor,
        experiment=experiment_of(call, call.required("experiment_id")),
        trace_id=f"tr-{uuid4().hex}",
        facts=TraceFacts(
            started_ms=call.integer("timestamp_ms") or 0,
            state="IN_PROGRESS",
            tags=call.pairs("tags"),
            metadata=call.pairs("request_metadata"),
        ),
    )
    return {"trace_info": info_v2(row)}


@route("PATCH", "traces/{trace_id}", fields="request_id timestamp_ms status request_metadata tags")
def end_v2(call: Call, trace_id: str) -> Any:
    row = trace_of(call, trace_id)
    status = call.text("status", "OK")
    ended = call.integer("timestamp_ms")
    row = services.save_trace(
        actor=call.actor,
        experiment=row.experiment,
        trace_id=trace_id,
        facts=TraceFacts(
            started_ms=row.started_ms,
            state={"TRACE_STATUS_UNSPECIFIED": "STATE_UNSPECIFIED"}.get(status, status),
            duration_ms=None if ended is None else ended - row.started_ms,
            tags=call.pairs("tags"),
            metadata=call.pairs("request_metadata"),
        ),
    )
    return {"trace_info": info_v2(row)}


@route("GET", "traces/{trace_id}/info", fields="request_id")
def get_info_v2(call: Call, trace_id: str) -> Any:
    return {"trace_info": info_v2(trace_of(call, trace_id))}


@route("GET", "traces", fields="experiment_ids filter max_results order_by page_token")
def search_v2(call: Call) -> Any:
    rows, token = _searched(call, call.texts("experiment_ids"))
    return page("traces", [info_v2(row) for row in rows], token)


@route("POST", "traces/search", fields="locations filter max_results order_by page_token")
def search_v3(call: Call) -> Any:
    numbers = [_experiment_in(each) for each in call.objects("locations")]
    rows, token = _searched(call, [number for number in numbers if number])
    return page("traces", [info_v3(row) for row in rows], token)


def _experiment_in(location: Mapping[str, Any]) -> str:
    """Return the experiment that a location names, or "". Raises InvalidInput for other places."""
    if any(value for name, value in location.items() if name not in ("type", "mlflow_experiment")):
        raise InvalidInput.at(
            "trace_location", Message("must be an experiment: traces are in experiments here")
        )
    return str(mapping(location.get("mlflow_experiment")).get("experiment_id") or "")


def _searched(call: Call, numbers: list[str]) -> tuple[list[Trace], str]:
    experiments = experiments_of(call, numbers)
    rows = _visible(call).filter(experiment__in=experiments)
    rows = search.search_traces(rows, call.text("filter"), call.texts("order_by"))
    return search.page_of(
        rows.select_related("experiment").defer("spans"),
        limit=call.limit("max_results", 100, _MOST),
        token=call.text("page_token"),
    )


@route("GET", "traces/get", fields="trace_id allow_partial")
def get(call: Call) -> Any:
    return {"trace": _whole(trace_of(call, call.required("trace_id")))}


@route("GET", "traces/batchGet", fields="trace_ids experiment_ids")
def batch_get(call: Call) -> Any:
    return without_empty({"traces": [_whole(row) for row in _many(call, "trace_ids")]})


@route("POST", "traces/batchGetInfos", fields="trace_ids experiment_ids")
def batch_get_infos(call: Call) -> Any:
    return without_empty({"trace_infos": [info_v3(row) for row in _many(call, "trace_ids")]})


@route("PATCH", "traces/{trace_id}/tags", fields="request_id key value trace_id")
def set_tag(call: Call, trace_id: str) -> Any:
    tags = {call.required("key"): call.text("value")}
    services.set_trace_tags(actor=call.actor, trace=trace_of(call, trace_id), tags=tags)


@route("DELETE", "traces/{trace_id}/tags", fields="request_id key trace_id")
def delete_tag(call: Call, trace_id: str) -> Any:
    key = call.text("key") or call.request.GET.get("key", "")
    services.delete_trace_tag(actor=call.actor, trace=trace_of(call, trace_id), key=key)


@route(
    "POST",
    "traces/delete-traces",
    fields="experiment_id max_timestamp_millis max_traces request_ids",
)
def delete(call: Call) -> Any:
    ids, until = call.texts("request_ids"), call.integer("max_timestamp_millis")
    if bool(ids) == (until is not None):
        raise InvalidInput(
            Message("Either `max_timestamp_millis` or `trace_ids` must be specified.")
        )
    number = services.delete_traces(
        actor=call.actor,
        experiment=experiment_of(call, call.required("experiment_id")),
        trace_ids=ids or None,
        until_ms=until,
        most=call.integer("max_traces"),
    )
    return {"traces_deleted": number}


@route("POST", "traces/link-to-run", fields="trace_ids run_id")
def link_to_run(call: Call) -> Any:
    rows = _many(call, "trace_ids")
    services.link_traces(actor=call.actor, traces=rows, run=run_of(call, call.run_id()))


@route("POST", "traces/link-prompts", fields="trace_id prompt_versions")
def link_prompts(call: Call) -> Any:
    row = trace_of(call, call.required("trace_id"))
    linked = parsed((row.tags.get("mlflow.linkedPrompts") or "[]").encode())
    if not isinstance(linked, list):
        raise InvalidInput.at(
            "tags", Message("has {key}, which is not a list", key="mlflow.linkedPrompts")
        )
    for each in call.objects("prompt_versions"):
        prompt = {"name": str(each.get("name")), "version": str(each.get("version"))}
        if prompt not in linked:
            linked.append(prompt)
    tags = {"mlflow.linkedPrompts": orjson.dumps(linked).decode()}
    services.set_trace_tags(actor=call.actor, trace=row, tags=tags)


@route("POST", "traces/{trace_id}/assessments", fields="assessment")
def create_assessment(call: Call, trace_id: str) -> Any:
    made = services.create_assessment(
        actor=call.actor, trace=trace_of(call, trace_id), assessment=_object(call, "assessment")
    )
    return {"assessment": made}


@route("GET", "traces/{trace_id}/assessments/{assessment_id}", fields="trace_id assessment_id")
def get_assessment(call: Call, trace_id: str, assessment_id: str) -> Any:
    return {"assessment": services.assessment_of(trace_of(call, trace_id), assessment_id)}


@route("PATCH", "traces/{trace_id}/assessments/{assessment_id}", fields="assessment update_mask")
def update_assessment(call: Call, trace_id: str, assessment_id: str) -> Any:
    given = _object(call, "assessment")
    names = {re.sub("[A-Z]", lambda c: f"_{c[0].lower()}", n) for n in _mask(call)}
    allowed = {"assessment_name", "expectation", "feedback", "rationale", "metadata", "valid"}
    if unknown := names - allowed:
        raise invalid("update_mask", sorted(unknown))
    made = services.update_assessment(
        actor=call.actor,
        trace=trace_of(call, trace_id),
        assessment_id=assessment_id,
        fields={name: given[name] for name in names if name in given},
    )
    return {"assessment": made}


@route("DELETE", "traces/{trace_id}/assessments/{assessment_id}", fields="trace_id assessment_id")
def delete_assessment(call: Call, trace_id: str, assessment_id: str) -> Any:
    services.delete_assessment(
        actor=call.actor, trace=trace_of(call, trace_id), assessment_id=assessment_id
    )


@route("GET", "get-trace-artifact", fields="request_id trace_id path")
def download_spans(call: Call) -> HttpResponse:
    row = trace_of(call, call.text("request_id") or call.required("trace_id"))
    return HttpResponse(span_file(row), content_type="application/json")


@route("GET", "traces/{trace_id}", fields="trace_id")
def get_info(call: Call, trace_id: str) -> Any:
    return {"trace": {"trace_info": info_v3(trace_of(call, trace_id))}}


def trace_of(call: Call, trace_id: str) -> Trace:
    """Return a trace that the actor may see. Raises NotFound."""
    row = _visible(call).select_related("experiment").filter(trace_id=trace_id).first()
    if row is None:
        raise NotFound(Message("Trace with ID '{trace_id}' not found.", trace_id=trace_id[:100]))
    return row


def trace_at(call: Call, path: str) -> Trace | None:
    """Return the trace whose span file has this path, or None if it is another path."""
    found = _FILE.fullmatch(path)
    return trace_of(call, found["trace"]) if found else None


def save_span_file(call: Call, row: Trace, body: bytes) -> None:
    """Store the spans that a client of MLflow 2 uploads. Raises InvalidInput."""
    spans = mapping(parsed(body)).get("spans")
    if not isinstance(spans, list) or not all("context" in mapping(span) for span in spans):
        raise InvalidInput(Message("traces.json must be an object with spans."))
    services.save_span_file(actor=call.actor, trace=row, spans=spans)


def span_file(row: Trace) -> bytes:
    """Return the spans as the clients of MLflow 2 read them."""
    spans = [span if "context" in span else _span_v2(row, span) for span in row.spans]
    return orjson.dumps({"spans": spans})


def info_v3(row: Trace) -> dict[str, Any]:
    """Return a trace without its spans. Reads `row.experiment`."""
    number = str(row.experiment.number)
    info = {
        "trace_id": row.trace_id,
        "client_request_id": row.client_request_id,
        "trace_location": {
            "type": "MLFLOW_EXPERIMENT",
            "mlflow_experiment": {"experiment_id": number},
        },
        "request_preview": row.request_preview,
        "response_preview": row.response_preview,
        "request_time": _time_text(row.started_ms),
        "state": row.state,
        "trace_metadata": row.metadata,
        "tags": _tags(row),
        "assessments": row.assessments,
    }
    if row.duration_ms is not None:
        seconds, rest = divmod(row.duration_ms, 1000)
        info["execution_duration"] = f"{seconds}.{rest:03d}s"
    return without_empty(info)


def info_v2(row: Trace) -> dict[str, Any]:
    """Return a trace without its spans for MLflow 2. Reads `row.experiment`."""
    return without_empty(
        {
            "request_id": row.trace_id,
            "experiment_id": str(row.experiment.number),
            "timestamp_ms": row.started_ms,
            "execution_time_ms": row.duration_ms,
            "status": {"STATE_UNSPECIFIED": "TRACE_STATUS_UNSPECIFIED"}.get(row.state, row.state),
            "request_metadata": as_pairs(
                {
                    **({"mlflow.traceInputs": row.request_preview} if row.request_preview else {}),
                    **(
                        {"mlflow.traceOutputs": row.response_preview}
                        if row.response_preview
                        else {}
                    ),
                    **row.metadata,
                }
            ),
            "tags": as_pairs(_tags(row)),
        }
    )


def _tags(row: Trace) -> dict[str, str]:
    place = f"{ROOT}{row.experiment.number}/traces/{row.trace_id}/artifacts"
    return {**row.tags, "mlflow.artifactLocation": place}


def _whole(row: Trace) -> dict[str, Any]:
    spans = row.spans if row.tags.get(SPANS_LOCATION) == IN_TRACE else []
    return without_empty({"trace_info": info_v3(row), "spans": spans})


def _span_v2(row: Trace, span: Mapping[str, Any]) -> dict[str, Any]:
    """Return an OpenTelemetry span as MLflow 2 writes it, with attributes as JSON texts."""
    return {
        "name": span.get("name", ""),
        "context": {
            "span_id": _hex(span["span_id"]),
            "trace_id": trace_id_of(span).removeprefix("tr-"),
        },
        "parent_id": _hex(span["parent_span_id"]) if span.get("parent_span_id") else None,
        "start_time": int(span.get("start_time_unix_nano") or 0),
        "end_time": int(span.get("end_time_unix_nano") or 0),
        "status_code": str(span.get("status", {}).get("code", "STATUS_CODE_UNSET")).removeprefix(
            "STATUS_CODE_"
        ),
        "status_message": span.get("status", {}).get("message", ""),
        "attributes": {
            "mlflow.traceRequestId": orjson.dumps(row.trace_id).decode(),
            **{
                key: orjson.dumps(_value(each.get("value", {}))).decode()
                for each in span.get("attributes", [])
                if (key := each.get("key", "")) != "mlflow.traceRequestId"
            },
        },
        "events": [
            {
                "name": each.get("name", ""),
                "timestamp": int(each.get("time_unix_nano") or 0) // 1000,
                "attributes": {
                    a.get("key", ""): _value(a.get("value", {})) for a in each.get("attributes", [])
                },
            }
            for each in span.get("events", [])
        ],
    }


def _value(value: Mapping[str, Any]) -> Any:
    """Return the value of an OpenTelemetry attribute."""
    for kind, found in value.items():
        if kind == "int_value":
            return int(found)
        if kind == "array_value":
            return [_value(each) for each in found.get("values", [])]
        if kind == "kvlist_value":
            return {
                each.get("key", ""): _value(each.get("value", {}))
                for each in found.get("values", [])
            }
        return found
    return None


def _hex(text: str) -> str:
    return b64decode(text).hex()


def _visible(call: Call) -> QuerySet[Trace]:
    return Trace.objects.filter(experiment__in=selectors.visible_experiments(call.actor))


def _many(call: Call, name: str) -> list[Trace]:
    ids = call.texts(name)
    if len(ids) > _MOST_LINKS:
        raise InvalidInput(
            Message(
                "Cannot handle more than {most} traces in a single request. Provided {count} "
                "traces.",
                most=_MOST_LINKS,
                count=len(ids),
            )
        )
    rows = {
        row.trace_id: row
        for row in _visible(call).select_related("experiment").filter(trace_id__in=ids)
    }
    return [rows[each] for each in dict.fromkeys(ids) if each in rows]


def _object(call: Call, name: str) -> Mapping[str, Any]:
    found = call.data.get(name)
    if not isinstance(found, Mapping):
        raise invalid(name, found)
    return found


def _mask(call: Call) -> list[str]:
    """Return the names of a field mask, which protobuf writes as one text."""
    found = call.data.get("update_mask") or ""
    paths = found.split(",") if isinstance(found, str) else mapping(found).get("paths")
    return [path for path in paths or () if isinstance(path, str)]


def _assessments(found: Any) -> list[Mapping[str, Any]]:
    return [
        each
        for each in objects("assessments", found)
        if isinstance(each.get("assessment_id") or "", str)
    ]


def _preview(info: Mapping[str, Any], name: str) -> str | None:
    value = info.get(name)
    return None if value is None else str(value)


def _ms_of(text: str) -> int:
    """Return a time of protobuf's JSON in Unix milliseconds. Raises InvalidInput."""
    try:
        at = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
    except ValueError as error:
        raise invalid("request_time", text) from error
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


def _time_text(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def _duration_of(found: Any) -> int | None:
    """Return a duration of protobuf's JSON in milliseconds. Raises InvalidInput."""
    if found is None:
        return None
    if isinstance(found, int):
        return integer("execution_duration", found)
    if match := _DURATION.match(str(found)):
        return int(match[1]) * 1000 + int((match[2] or "0").ljust(9, "0")) // 1_000_000
    raise invalid("execution_duration", found)
