"""A double of the portal's REST API that fails on demand.

Tests against the real portal are in test_real_portal.py and tests/e2e.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from experiments import event_files
from tests.rig.http_server import LoopbackServer

Json = dict[str, Any]
TOKEN = "mst_right"


@dataclass
class Fault:
    """A fault of the next request whose URL contains `path`.

    `what` is a status to return, "drop" (close the connection without an answer; with `acts`, after
    executing the request) or "cut" (send half of the body).
    """

    what: int | str
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    acts: bool = False
    body: str | None = None


@dataclass
class Log:
    """The log of one attempt; bytes before `lost` were never stored."""

    data: bytes = b""
    complete: bool = False
    lost: int = 0


@dataclass
class ReceivedRequest:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Json
    raw: bytes = b""


class PortalDouble:
    """One organization "atlas". `jobs`, `attempts` and `logs` are its data; `request` has all requests."""

    def __init__(self) -> None:
        self.orgs = [
            {
                "slug": "atlas",
                "name": "Atlas",
                "role": "owner",
                "teams": [{"slug": "vision", "name": "Vision", "role": "lead"}],
            }
        ]
        self.jobs: dict[int, Json] = {}
        self.attempts: dict[int, list[Json]] = {}
        self.logs: dict[tuple[int, int], Log] = {}
        self.lists: dict[str, list[Json]] = {
            "teams": [],
            "members": [],
            "quotas": [],
            "tokens": [],
            "nodes": [],
        }
        self.points: list[Json] = []
        self.batches: list[Json] = []  # of log-batch
        self.run_updates: list[Json] = []
        self.files: dict[str, bytes] = {}  # of runs, by path
        self.event_files: dict[str, int] = {}  # offsets by path
        self.faults: deque[Fault] = deque()
        self.asked: list[ReceivedRequest] = []
        self.spec_faults: list[Json] = []
        self.on_cancel: Any = lambda number: None
        self._answers: dict[str, tuple[int, Json]] = {}
        self._lock = threading.Lock()
        self._server = LoopbackServer(_handler(self))

    @property
    def url(self) -> str:
        return self._server.url

    def close(self) -> None:
        self._server.close()

    def posts(self, ending: str) -> list[ReceivedRequest]:
        return [a for a in self.asked if a.method == "POST" and a.path.endswith(ending)]

    def add_job(
        self, state: str = "running", *, log: bytes = b"", complete: bool = False, **fields: Any
    ) -> Json:
        """Add a job with one attempt in that state."""
        number = len(self.jobs) + 1
        started = None if state == "queued" else "2026-11-20T10:00:00Z"
        self.jobs[number] = {
            "id": f"01a1fb6d-a2c8-74c9-b80f-{number:012d}",
            "number": number,
            "name": f"job-{number}",
            "org": "atlas",
            "team": "vision",
            "owner": {"email": "ada@atlas.example", "name": "Ada"},
            "state": state,
            "state_text": f"{state}, 4 s ago",
            "reason": None,
            "pending": None,
            "priority": "normal",
            "created_at": "2026-11-20T09:59:00Z",
            "started_at": started,
            "finished_at": None,
            "exit_code": None,
            "array": None,
            "attempt_count": 1,
            "resources": {"cpus": 1, "memory": 0, "gpus": 0, "gpu_type": None},
            "labels": {},
            "kind": "batch",
            "origin": None,
            "node": "n1",
            "nodes": ["n1"],
            "cluster": "local",
            "image": "",
            "after": [],
            "page": f"/atlas/jobs/{number}",
            "spec": {"name": f"job-{number}", "run": "true", "resources": {"cpus": 1}},
        } | fields
        self.attempts[number] = []
        self.add_attempt(number, state, log=log, complete=complete)
        return self.jobs[number]

    def add_attempt(
        self, number: int, state: str, *, log: bytes = b"", complete: bool = False
    ) -> None:
        ordinal = len(self.attempts[number]) + 1
        started = None if state == "queued" else "2026-11-20T10:00:00Z"
        row = {
            "index": 0,
            "ordinal": ordinal,
            "state": state,
            "reason": None,
            "node": "n1",
            "nodes": ["n1"],
            "started_at": started,
            "finished_at": None,
            "exit_code": None,
        }
        self.attempts[number].append(row)
        self.logs[number, ordinal] = Log(log, complete)

    def end(self, number: int, state: str, **fields: Any) -> None:
        """End the job and its last attempt, and close its log."""
        ordinal = len(self.attempts[number])
        self.logs[number, ordinal].complete = True
        self.attempts[number][-1]["state"] = state
        self.jobs[number].update({"state": state, "finished_at": "2026-11-20T10:01:00Z", **fields})

    def answer(self, request: ReceivedRequest) -> tuple[int, Any, dict[str, str]]:
        """Return status, body and headers; for a known Idempotency-Key, the first response."""
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return problem(401, "not_authenticated", "Sign in, or send an access token.")
        key = request.headers.get("idempotency-key", "") if request.method == "POST" else ""
        with self._lock:
            if key and key in self._answers:
                return *self._answers[key], {}
            status, body, headers = self._route(request)
            if key:
                self._answers[key] = (status, body)
            return status, body, headers

    def _route(self, request: ReceivedRequest) -> tuple[int, Any, dict[str, str]]:
        parts = request.path.removeprefix("/api/v1/").split("/")
        if parts == ["me"]:
            return (
                200,
                {"email": "ada@atlas.example", "name": "Ada", "orgs": self.orgs, "token": None},
                {},
            )
        if request.path.startswith("/mlflow/atlas/"):
            return self._mlflow(request, request.path.rpartition("/mlflow/")[2])
        if parts[:2] != ["orgs", "atlas"]:
            return problem(404, "not_found", "There is no such thing here.")
        match request.method, parts[2:]:
            case "GET", ["jobs"]:
                return self._page(request)
            case "POST", ["jobs"]:
                return self._submit(request)
            case "POST", ["jobs", "validate"]:
                faults = self.spec_faults
                return (
                    200,
                    {
                        "ok": not faults,
                        "errors": faults,
                        "spec": None if faults else {"run": "true", "envs": {"A": "1"}},
                    },
                    {},
                )
            case "PUT", ["runs", run, "artifacts", *path]:
                self.files["/".join([run, *path])] = request.raw
                return 201, {}, {}
            case method, ["jobs", name, *rest]:
                job = self.jobs.get(int(name)) if name.isdigit() else None
                return (
                    self._job(request, method, job, rest)
                    if job
                    else problem(404, "not_found", f"There is no job {name}.")
                )
            case "GET", [noun]:
                return 200, {"items": self.lists[noun], "next": None, "previous": None}, {}
            case "DELETE", ["tokens", name]:
                left = [t for t in self.lists["tokens"] if t["id"] != name]
                is_there, self.lists["tokens"] = len(left) < len(self.lists["tokens"]), left
                return (
                    (204, b"", {})
                    if is_there
                    else problem(404, "not_found", "There is no such token.")
                )
        return problem(405, "method_not_allowed", "Not here.")

    def _mlflow(self, request: ReceivedRequest, name: str) -> tuple[int, Any, dict[str, str]]:
        match name:
            case "experiments/get-by-name" if request.query["experiment_name"] == "known":
                return 200, {"experiment": {"experiment_id": "7"}}, {}
            case "experiments/get-by-name":
                return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "No."}, {}
            case "experiments/create":
                return 200, {"experiment_id": "8"}, {}
            case "runs/create":
                self.run_updates.append(request.body)
                return 200, {"run": {"info": {"run_id": "r1"}}}, {}
            case "runs/update":
                self.run_updates.append(request.body)
                return 200, {}, {}
        params = request.body.get("params", [])
        if len({p["key"] for p in params} & {"taken"}):
            return 400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "Changed."}, {}
        self.batches.append(request.body)
        return 200, {}, {}

    def _page(self, request: ReceivedRequest) -> tuple[int, Json, dict[str, str]]:
        rows = sorted(self.jobs.values(), key=lambda job: -job["number"])
        if wanted := request.query.get("state"):
            rows = [job for job in rows if job["state"] in wanted.split(",")]
        at, limit = int(request.query.get("cursor") or 0), int(request.query.get("limit") or 50)
        more = str(at + limit) if at + limit < len(rows) else None
        return 200, {"items": rows[at : at + limit], "next": more, "previous": None}, {}

    def _submit(self, request: ReceivedRequest) -> tuple[int, Json, dict[str, str]]:
        if self.spec_faults:
            first = self.spec_faults[0]
            errors = [
                {"field": f["field"], "message": f["message"]} for f in self.spec_faults
            ]  # without lines, as the contract has it
            return problem(400, "invalid_spec", f"{first['field']}: {first['message']}", errors)
        if request.query.get("dry_run"):
            return (
                200,
                {
                    "ok": False,
                    "checks": [{"name": "quota", "ok": False, "text": "Too much."}],
                    "launch": "#!/bin/sh",
                },
                {},
            )
        job = self.add_job(
            "queued",
            pending={
                "code": "capacity",
                "text": "Waits for 1 GPU.",
                "holders": [],
                "change": {"text": "Ask for 0."},
            },
        )
        return 201, job, {}

    def _job(
        self, request: ReceivedRequest, method: str, job: Json, rest: list[str]
    ) -> tuple[int, Any, dict[str, str]]:
        number = job["number"]
        match method, rest:
            case "GET", []:
                return 200, job | {"attempts": self.attempts[number]}, {}
            case "GET", ["attempts"]:
                return 200, {"items": self.attempts[number], "next": None}, {}
            case "GET", ["logs", "certificate"]:
                log = self._log(number, request)
                text = f"The log is complete: {len(log.data)} bytes."
                return 200, {"certificate": {"text": text} if log.complete else None}, {}
            case "GET", ["logs"]:
                return self._read_log(number, request)
            case "GET", ["pending"]:
                return 200, {"pending": job["pending"]}, {}
            case "GET", ["events"]:
                return 200, {"items": [], "next": None}, {}
            case "GET", ["metrics"]:
                return 200, {"training": [], "system": []}, {}
            case "POST", ["metrics"] | ["event-files"]:
                return self._take_points(request, rest[0])
            case "POST", ["cancel"]:
                self.on_cancel(number)
                return 200, job, {}
            case "POST", ["rerun"]:
                return 201, self.add_job("queued", spec=request.body.get("spec") or job["spec"]), {}
            case "POST", ["exec"]:
                return 200, {"exit_code": 7, "output": " ".join(request.body["argv"])}, {}
        return problem(405, "method_not_allowed", "Not here.")

    def _log(self, number: int, request: ReceivedRequest) -> Log:
        return self.logs.get(
            (number, int(request.query.get("attempt") or len(self.attempts[number]))), Log()
        )

    def _take_points(self, request: ReceivedRequest, what: str) -> tuple[int, Json, dict[str, str]]:
        if what == "metrics":
            self.points += request.body["points"]
            return 200, {"accepted": len(request.body["points"])}, {}
        path, offset = request.query["path"], self.event_files.get(request.query["path"], 0)
        found = event_files.read(BytesIO(request.raw), 0, len(request.raw))
        if int(request.query["offset"]) != offset:
            found = event_files.Piece(0)
        self.event_files[path] = offset + found.offset
        self.points += [
            {"name": event_files.metric_name(path, s.tag), "step": s.step, "value": s.value}
            for s in found.scalars
        ]
        skipped = sum(gap.end - gap.start for gap in found.gaps)
        return (
            200,
            {"offset": offset + found.offset, "points": len(found.scalars), "skipped": skipped},
            {},
        )

    def _read_log(self, number: int, request: ReceivedRequest) -> tuple[int, Any, dict[str, str]]:
        log = self._log(number, request)
        start = max(int(request.query.get("after") or 0), log.lost)
        data = log.data[start : start + int(request.query.get("limit") or 1 << 20)]
        end = start + len(data)
        is_complete = log.complete and end >= len(log.data)
        if request.query.get("format") == "json":
            times = [[at, 1_795_219_628_000 + at] for at in range(start, end)]
            return (
                200,
                {
                    "start": start,
                    "end": end,
                    "complete": is_complete,
                    "text": data.decode(errors="replace"),
                    "times": times,
                },
                {},
            )
        return (
            200,
            data,
            {
                "X-Log-Start": str(start),
                "X-Log-End": str(end),
                "X-Log-Complete": "true" if is_complete else "false",
            },
        )


def problem(
    status: int, code: str, detail: str, errors: list[Json] | None = None
) -> tuple[int, Json, dict[str, str]]:
    return (
        status,
        {
            "type": "about:blank",
            "title": code,
            "status": status,
            "code": code,
            "detail": detail,
            "errors": errors or [],
        },
        {},
    )


def _handler(portal: PortalDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = ReceivedRequest(
                self.command,
                unquote(url.path),
                dict(parse_qsl(url.query)),
                headers,
                json.loads(body or b"{}") if "json" in headers.get("content-type", "json") else {},
                body,
            )
            portal.asked.append(request)
            self.fail_or_answer(request, self.next_fault(request))

        def next_fault(self, request: ReceivedRequest) -> Fault | None:
            is_meant = portal.faults and portal.faults[0].path in request.path
            return portal.faults.popleft() if is_meant else None

        def fail_or_answer(self, request: ReceivedRequest, fault: Fault | None) -> None:
            if fault is None:
                self.send(*portal.answer(request))
            elif isinstance(fault.what, int):
                status, body, headers = problem(fault.what, f"code_{fault.what}", "On demand.")
                self.send(
                    status,
                    body if fault.body is None else fault.body.encode(),
                    {**headers, **fault.headers},
                )
            else:
                answer = portal.answer(request) if fault.acts or fault.what == "cut" else None
                if answer and fault.what == "cut":
                    self.send(*answer, is_cut=True)
                self.close_connection = True

        def send(
            self, status: int, body: Any, headers: dict[str, str], *, is_cut: bool = False
        ) -> None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if is_cut else data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one  # noqa: N815  the names are http.server's

        def log_message(self, *args: Any) -> None:
            """Log nothing."""

    return Handler
