"""REST: logs and metrics of a job, and commands inside a running one."""

from __future__ import annotations

import base64
from typing import Annotated, Any, TypedDict

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import representations, selectors, services
from jobs.api import serializers as s
from jobs.api.query import limit_of, whole
from jobs.api.views import JobViewBase
from jobs.metrics import JobSeriesShape, first_tasks, system_series, training_series
from jobs.models import Attempt
from jobs.services.measure import record_points
from portal.blobs.logs import log_store
from portal.core.errors import Gone, InvalidInput
from workspaces.api.views import read

_LOG = [
    OpenApiParameter("index", int, description="Array task; default 0."),
    OpenApiParameter("attempt", int, description="Ordinal of the attempt; default: the latest."),
]


class OutputView(JobViewBase):
    """Base view of one attempt's output."""

    def attempt(self, request: Request, job: str) -> Attempt:
        params = request.query_params
        ordinal = params.get("attempt")
        return selectors.find_attempt(
            self.job(job),
            whole("index", params.get("index") or "0") % 2**31,
            whole("attempt", ordinal) % 2**15 if ordinal else None,
        )


class LogPartShape(TypedDict):
    start: int
    end: int
    size: Annotated[int, "Stored bytes."]
    complete: Annotated[bool, "Nothing will follow."]
    text: str
    data: Annotated[str, "In base64."]
    times: Annotated[list[list[int]], "Offsets with Unix milliseconds of their arrival."]
    gaps: Annotated[list[list[Any]], "First byte, end and reason of what was not stored."]


class CertificateAnswerShape(TypedDict):
    certificate: Annotated[dict[str, Any] | None, "null while the log is being written."]


class LogHitShape(TypedDict):
    offset: int
    line: str


class LogSearchShape(TypedDict):
    hits: list[LogHitShape]
    after: Annotated[int, "Where to continue."]
    done: bool


class AcceptedPointsShape(TypedDict):
    accepted: int


class ExecResultShape(TypedDict):
    exit_code: int
    output: str


class LogView(OutputView):
    permissions = {"GET": None, "DELETE": None}

    @extend_schema(
        parameters=[
            *_LOG,
            OpenApiParameter("after", int),
            OpenApiParameter("limit", int),
            OpenApiParameter("format", str, description="raw (default) or json"),
        ],
        responses={
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            (200, "application/json"): LogPartShape,
        },
    )
    def get(self, request: Request, job: str) -> HttpResponse | Response:
        """Return bytes of the log from offset `after`.

        The headers X-Log-Start and X-Log-End are the range of these bytes, X-Log-Size the stored
        size. X-Log-Complete: nothing will follow. X-Log-Deleted: by whom and when the log was
        deleted.
        """
        attempt = self.attempt(request, job)
        limit = limit_of(request.query_params.get("limit"), 1 << 20, 8 << 20)
        after = whole("after", request.query_params.get("after") or "0")
        store, name = log_store(), attempt.id.hex
        certificate = store.certificate(name)
        part = store.read(name, after, limit)
        end = part.start + len(part.data)
        is_complete = certificate is not None and end >= store.end(name)
        if request.query_params.get("format") == "json":
            return Response(
                {
                    "start": part.start,
                    "end": end,
                    "size": store.end(name),
                    "complete": is_complete,
                    "text": part.data.decode(errors="replace"),
                    "data": base64.b64encode(part.data).decode(),
                    "times": store.times(name, part.start, end),
                    "gaps": [list(gap) for gap in part.gaps],
                }
            )
        headers = {
            "X-Log-Start": str(part.start),
            "X-Log-End": str(end),
            "X-Log-Size": str(store.end(name)),
            "X-Log-Complete": "true" if is_complete else "false",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
        if certificate and certificate.deleted:
            headers["X-Log-Deleted"] = certificate.gaps[0][2]
        return HttpResponse(part.data, content_type="application/octet-stream", headers=headers)

    @extend_schema(request=None, responses={202: representations.JobDetailShape})
    def delete(self, request: Request, job: str) -> Response:
        """Delete the logs of a job that has ended, of all tasks and attempts, permanently.

        Idempotent; `log_deletion` has the progress.
        """
        row = services.delete_logs(actor=self.actor, job=self.job(job))
        return Response(representations.job_detail(row), status=status.HTTP_202_ACCEPTED)


class LogDownloadView(OutputView):
    permissions = {"GET": None}

    @extend_schema(parameters=_LOG, responses={(200, "text/plain", "*/*"): OpenApiTypes.BINARY})
    def get(self, request: Request, job: str) -> StreamingHttpResponse:
        """Download the stored log without gaps. 410 after it was deleted."""
        attempt = self.attempt(request, job)
        certificate = log_store().certificate(attempt.id.hex)
        if certificate and certificate.deleted:
            raise Gone(f"This log was {certificate.gaps[0][2]}.")
        size, pieces = log_store().whole(attempt.id.hex)
        number = attempt.job.number
        return StreamingHttpResponse(
            pieces,
            content_type="text/plain; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="job-{number}-{attempt.index}-{attempt.ordinal}.log"',
                "Content-Length": str(size),
                "X-Content-Type-Options": "nosniff",
            },
        )


class CertificateView(OutputView):
    permissions = {"GET": None}

    @extend_schema(parameters=_LOG)
    def get(self, request: Request, job: str) -> CertificateAnswerShape:
        """Return the integrity of the log; `certificate` is null while it is being written."""
        certificate = log_store().certificate(self.attempt(request, job).id.hex)
        return {"certificate": certificate.as_dict() if certificate else None}


class LogSearchView(OutputView):
    permissions = {"GET": None}

    @extend_schema(
        parameters=[
            *_LOG,
            OpenApiParameter("q", str, required=True),
            OpenApiParameter("after", int),
        ]
    )
    def get(self, request: Request, job: str) -> LogSearchShape:
        """Search the log for lines with the text.

        Each call does a bounded amount of work; continue from `after` while `done` is false.
        """
        needle = request.query_params.get("q", "").encode()
        if not needle or len(needle) > 1000:
            raise InvalidInput.at("q", "must be 1 to 1000 bytes of text")
        after = whole("after", request.query_params.get("after") or "0")
        found = log_store().search(self.attempt(request, job).id.hex, needle, after)
        return {
            "hits": [{"offset": offset, "line": line} for offset, line in found.hits],
            "after": found.after,
            "done": found.done,
        }


class MetricsView(OutputView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(
        parameters=[
            *_LOG,
            *(OpenApiParameter(n, int) for n in ("start", "end", "max_points")),
            OpenApiParameter("names", str),
        ],
    )
    def get(self, request: Request, job: str) -> JobSeriesShape:
        """Return the series: reported by the job (`training`) and by its node (`system`).

        Those of an array's tasks have the label `task`; without `index`, the first 32 tasks come.
        """
        row = self.job(job)
        attempts = [self.attempt(request, job)]
        if row.array_size is not None and not request.query_params.get("index"):
            attempts = first_tasks(row)
        params = request.query_params
        names = [n for n in params.get("names", "").split(",") if n][:100] or None
        span = {f"{n}_ms": whole(n, params[n]) for n in ("start", "end") if params.get(n)}
        points = limit_of(params.get("max_points"), 600, 5000)
        return {
            "training": training_series(row, attempts, names=names, max_points=points, **span),
            "system": system_series(row, attempts, names=names, max_points=points, **span),
        }

    @extend_schema(request=s.PointsSerializer)
    def post(self, request: Request, job: str) -> AcceptedPointsShape:
        """Report points of this job's series, such as the loss. Idempotent."""
        count = record_points(
            actor=self.actor, job=self.job(job), points=read(s.PointsSerializer, request)["points"]
        )
        return {"accepted": count}


class ExecView(JobViewBase):
    permissions = {"POST": None}

    @extend_schema(request=s.ExecSerializer)
    def post(self, request: Request, job: str) -> ExecResultShape:
        """Run a command in the running job, in its directory and environment.

        Responds when the command ends.
        """
        body: dict[str, Any] = read(s.ExecSerializer, request)
        row = self.job(job)
        attempt = selectors.find_attempt(row, body["index"])
        code, output = services.run_command(
            actor=self.actor, job=row, attempt=attempt, argv=body["argv"], timeout=body["timeout"]
        )
        return {"exit_code": code, "output": output.decode(errors="replace")}
