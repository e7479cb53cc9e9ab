"""Spans as OpenTelemetry's exporters send them: OTLP over HTTP, as protobuf or JSON."""

from __future__ import annotations

import gzip
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from experiments import services
from experiments.mlflow.calls import Call, parsed
from experiments.mlflow.routes import route
from experiments.mlflow.rows import DEFAULT, experiment_of, run_of
from portal.core.errors import InvalidInput, TooLarge
from portal.core.messages import Message

_MOST = 64 << 20  # bytes of a body after decompression
_IDS = ("traceId", "spanId", "parentSpanId")
_PROTOBUF = "application/x-protobuf"


@route("POST", "v1/traces", fields="", is_streaming=True)
def export_traces(call: Call) -> HttpResponse:
    """Store spans. The header x-mlflow-experiment-id names the experiment."""
    experiment = experiment_of(call, call.request.headers.get("X-Mlflow-Experiment-Id") or DEFAULT)
    by_trace: dict[str, list[dict[str, Any]]] = {}
    for span in _spans(call.request):
        by_trace.setdefault(trace_id_of(span), []).append(span)
    if not by_trace:
        raise InvalidInput(Message("Invalid OpenTelemetry format - no spans found"))
    rows = [
        services.add_spans(actor=call.actor, experiment=experiment, trace_id=trace_id, spans=spans)
        for trace_id, spans in by_trace.items()
    ]
    if run_id := call.request.headers.get("X-Mlflow-Run-Id"):
        services.link_traces(actor=call.actor, traces=rows, run=run_of(call, run_id))
    if call.request.content_type == _PROTOBUF:
        return HttpResponse(
            ExportTraceServiceResponse().SerializeToString(), content_type=_PROTOBUF
        )
    return HttpResponse("{}", content_type="application/json")


def trace_id_of(span: Mapping[str, Any]) -> str:
    """Return MLflow's id of the trace of a span."""
    return f"tr-{b64decode(span['trace_id']).hex()}"


def _spans(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the spans of a request, with ids in base64 as in protobuf's JSON.

    Raises InvalidInput, TooLarge.
    """
    body, message = _decompressed(request), ExportTraceServiceRequest()
    try:
        if request.content_type == _PROTOBUF:
            message.ParseFromString(body)
        elif request.content_type == "application/json":
            ParseDict(_with_base64_ids(parsed(body)), message, ignore_unknown_fields=True)
        else:
            raise InvalidInput(
                Message("The content type must be application/x-protobuf or application/json.")
            )
    except (DecodeError, ParseError, ValueError, TypeError, AttributeError) as error:
        raise InvalidInput(Message("Invalid OpenTelemetry format")) from error
    spans = [
        MessageToDict(span, preserving_proto_field_name=True)
        for resource in message.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    if not all(span.get("trace_id") and span.get("span_id") for span in spans):
        raise InvalidInput(Message("Invalid OpenTelemetry format: a span has no id"))
    parsed(orjson.dumps(spans))  # protocol buffers may have NUL as well
    return spans


def _with_base64_ids(data: Any) -> Any:
    """OTLP writes ids in hexadecimal, and protobuf's own JSON in base64."""
    for resource in data.get("resourceSpans", []):
        for scope in resource.get("scopeSpans", []):
            for span in scope.get("spans", []):
                for each in (span, *span.get("links", [])):
                    for name in _IDS:
                        if text := each.get(name):
                            each[name] = b64encode(bytes.fromhex(text)).decode()
    return data


def _decompressed(request: HttpRequest) -> bytes:
    """Return the body. Raises TooLarge, and InvalidInput if it is damaged."""
    raw, encoding = request.read(), request.headers.get("Content-Encoding", "").lower()
    try:
        if encoding == "gzip":
            with gzip.GzipFile(fileobj=BytesIO(raw)) as file:
                raw = file.read(_MOST + 1)
        elif encoding == "deflate":
            raw = zlib.decompressobj().decompress(raw, _MOST + 1)
        elif encoding not in ("", "identity"):
            raise InvalidInput(Message("The encoding must be gzip or deflate."))
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(Message("The body cannot be decompressed.")) from error
    if len(raw) > _MOST:
        raise TooLarge(Message("The request is too large."))
    return raw
