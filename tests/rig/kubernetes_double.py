"""A double of the Kubernetes API server, because a real one cannot be installed from packages.

It stores objects with uids and versions, and supports lists, watches (bookmarks; 410 on connecting
and in the stream), dry runs, patches and logs. Programs of pods run as real processes. Input is
checked against the published OpenAPI schema. Tests inject faults.
"""

from __future__ import annotations

import json
import threading
import time
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler
from operator import itemgetter
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from tests.rig import kubernetes_exec, kubernetes_forward, kubernetes_schema, kubernetes_store
from tests.rig.http_server import LoopbackServer
from tests.rig.kubernetes_kueue import Kueue
from tests.rig.kubernetes_node import Node
from tests.rig.kubernetes_store import Answer, Object, Store, merge, selects

BOOKMARK = 1.0  # seconds without events until a watch gets a bookmark
_KINDS = {
    "namespaces": "Namespace",
    "pods": "Pod",
    "secrets": "Secret",
    "services": "Service",
    "events": "Event",
    "nodes": "Node",
    "configmaps": "ConfigMap",
    "jobs": "Job",
    "networkpolicies": "NetworkPolicy",
    "workloads": "Workload",
    "localqueues": "LocalQueue",
    "clusterqueues": "ClusterQueue",
}


class Drip(float):
    """A response that never ends: one byte per interval, in seconds."""


class Double:
    """The double.

    `answers` holds faults for the next requests: words of the request line, and an Answer, seconds
    to hang or a Drip.
    """

    def __init__(self, name: str = "Kubernetes double") -> None:
        self.store, self.token = Store(name), "double"
        self.node = Node(self.store)
        self.kueue = Kueue(self.store)  # not installed by default
        self.answers: list[tuple[str, Answer | Drip | float]] = []
        self.asked: list[str] = []
        self.denied: set[str] = set()  # denied rights, such as "create jobs"
        self.cuts = 0  # incremented to break all watches
        self.closed = threading.Event()
        self._server = _Server(_Handler, name=name)
        self._server.double = self
        self.url = self._server.url

    def fail(self, part: str, answer: Answer | Drip | float, times: int = 1) -> None:
        """Inject a fault into the next requests whose line contains each word of `part`."""
        self.answers += [(part, answer)] * times

    def cut(self) -> None:
        """Break every watch in the middle of a line."""
        with self.store.changed:
            self.cuts += 1
            self.store.changed.notify_all()

    def close(self) -> None:
        self.closed.set()
        self.store.listeners.clear()  # no pod follows on one that ends now
        self.cut()
        self._server.close()
        self.node.close()

    def answer(self, method: str, parts: list[str], query: dict[str, str], body: Any) -> Object:
        """Answer a request for objects. Raises Answer."""
        if parts == ["version"]:
            return {"gitVersion": "v1.36.0-double"}
        if parts[:2] == ["apis", "kueue.x-k8s.io"]:
            result = self.kueue.group()
            if len(parts) == 2:
                return result
        plural, space, name = _target(parts)
        if plural == "selfsubjectaccessreviews":
            wanted = body["spec"]["resourceAttributes"]
            return {
                **body,
                "status": {"allowed": f"{wanted['verb']} {wanted['resource']}" not in self.denied},
            }
        if plural not in _KINDS:
            raise Answer(404, "NotFound", "the server could not find the requested resource")
        if method == "GET":
            return self.store.get(plural, space, name) if name else self._list(plural, space, query)
        if method == "POST":
            return self._create(plural, space, body, query)
        if method == "PATCH":
            return self.store.update(plural, space, name, lambda thing: _patch(thing, body))
        return self.store.remove(
            plural, space, name, (body or {}).get("preconditions", {}).get("uid", "")
        )

    def _create(self, plural: str, space: str, body: Object, query: dict[str, str]) -> Object:
        if query.get("fieldValidation") == "Strict" or plural in {"namespaces", "networkpolicies"}:
            kubernetes_schema.check(body)
        if plural == "secrets" and sum(len(v) for v in body["data"].values()) > 4 << 20:
            raise Answer(422, "Invalid", "Secret is too long", (("data", "Too long"),))
        return self.store.create(plural, space, body, is_rehearsal=query.get("dryRun") == "All")

    def _list(self, plural: str, space: str, query: dict[str, str]) -> Object:
        with self.store.changed:
            found = self.store.all(
                plural, space, query.get("labelSelector", ""), query.get("fieldSelector", "")
            )
            meta: Object = {"resourceVersion": str(self.store.version)}
        start, limit = int(query.get("continue") or 0), int(query.get("limit") or 0)
        if limit and start + limit < len(found):
            meta["continue"] = str(start + limit)
        return {
            "kind": f"{_KINDS[plural]}List",
            "apiVersion": "v1",
            "metadata": meta,
            "items": found[start : start + limit if limit else None],
        }

    def watch(self, plural: str, space: str, query: dict[str, str]) -> Iterator[bytes]:
        """Stream events as lines until the timeout, a cut, or a 410. Raises Answer."""
        at = int(query["resourceVersion"])
        if at < self.store.oldest:
            raise Answer(410, "Expired", f"too old resource version: {at} ({self.store.oldest})")
        return self._events(plural, space, query, at)

    def _events(self, plural: str, space: str, query: dict[str, str], at: int) -> Iterator[bytes]:
        cuts = self.cuts
        until, last_event = (
            time.monotonic() + int(query.get("timeoutSeconds", 60)),
            time.monotonic(),
        )
        while time.monotonic() < until and not self.closed.is_set():
            with self.store.changed:
                self.store.changed.wait(0.2)
                fresh = self.store.changes[
                    bisect_right(self.store.changes, at, key=itemgetter(0)) :
                ]
                is_old, at = at < self.store.oldest, self.store.version
            if self.cuts != cuts:
                yield b'{"type":"MODIFIED","obj'
                raise BrokenPipeError  # like a killed server: no last chunk
            if is_old:
                yield _line(
                    "ERROR",
                    Answer(
                        410, "Expired", "The resourceVersion for the provided watch is too old."
                    ).body,
                )
                return
            for _, kind, of, thing in fresh:
                if (
                    of == plural
                    and space in {"", thing["metadata"].get("namespace", "")}
                    and selects(thing, query.get("labelSelector", ""), "")
                ):
                    last_event = time.monotonic()
                    yield _line(kind, thing)
            if query.get("allowWatchBookmarks") and time.monotonic() - last_event > BOOKMARK:
                last_event = time.monotonic()
                yield _line(
                    "BOOKMARK", {"kind": _KINDS[plural], "metadata": {"resourceVersion": str(at)}}
                )

    def log(self, space: str, name: str, query: dict[str, str]) -> bytes:
        """Return a log like a kubelet: lines with timestamps, from a whole second on."""
        pod = self.store.get("pods", space, name)
        if not pod["status"].get("containerStatuses"):
            raise Answer(
                400,
                "BadRequest",
                f'container "main" in pod "{name}" is waiting to start: ContainerCreating',
            )
        since = (
            datetime.fromisoformat(query["sinceTime"])
            if "sinceTime" in query
            else datetime.min.replace(tzinfo=UTC)
        )
        if pod["metadata"]["uid"] not in self.node.logs and "deletionTimestamp" in pod["metadata"]:
            return b"unable to retrieve container logs for containerd://0a1b"  # seen with 1.36
        found, is_start = bytearray(), True
        lines = list(self.node.logs.get(pod["metadata"]["uid"], ()))
        for at, data in lines[-int(query.get("tailLines", len(lines))) :] if lines else ():
            if at >= since:
                found += (
                    f"{at.isoformat().replace('+00:00', '000Z')} ".encode()
                    if is_start and query.get("timestamps")
                    else b""
                )
                found += data
            is_start = data.endswith(b"\n")
        return bytes(found)


class _Server(LoopbackServer):
    double: Double


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._do("GET")

    def do_POST(self) -> None:
        self._do("POST")

    def do_PATCH(self) -> None:
        self._do("PATCH")

    def do_DELETE(self) -> None:
        self._do("DELETE")

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string(
            kubernetes_store.instant().timestamp() if timestamp is None else timestamp
        )

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _do(self, method: str) -> None:
        double, url = self.server.double, urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        double.asked.append(f"{method} {self.path}")
        with suppress(BrokenPipeError, ConnectionResetError):
            self._do_or_fail(method, url, body)
            return
        self.close_connection = True

    def _do_or_fail(self, method: str, url: SplitResult, body: Any) -> None:
        double = self.server.double
        try:
            self._fault(f"{method} {self.path}")
            if self.headers.get("Authorization") != f"Bearer {double.token}":
                raise Answer(401, "Unauthorized", "Unauthorized")
            parts, query = (
                [unquote(p) for p in url.path.split("/") if p],
                {k: v[0] for k, v in parse_qs(url.query).items()},
            )
            self._answer(method, parts, query, body)
        except Answer as error:
            self._send(error.code, json.dumps(error.body).encode(), error.after)

    def _answer(self, method: str, parts: list[str], query: dict[str, str], body: Any) -> None:
        double = self.server.double
        if parts == ["readyz"]:
            self._send(200, b"ok")
        elif parts[-1] == "exec" and method == "GET":
            self._exec(parts[3], parts[5], parse_qs(urlsplit(self.path).query)["command"])
        elif parts[-1] == "portforward" and method == "GET":
            self._forward(parts[3], parts[5], int(query["ports"]))
        elif parts[-1] == "log" and method == "GET":
            self._send(200, double.log(parts[3], parts[5], query))
        elif query.get("watch"):
            plural, space, _ = _target(parts)
            self._stream(double.watch(plural, space, query))
        else:
            self._send(
                201 if method == "POST" else 200,
                json.dumps(double.answer(method, parts, query, body)).encode(),
            )

    def _exec(self, space: str, name: str, argv: list[str]) -> None:
        double = self.server.double
        pod = double.store.get("pods", space, name)
        if "get pods/exec" in double.denied:
            raise Answer(403, "Forbidden", "pods/exec is forbidden")
        if pod["status"]["phase"] != "Running":
            raise Answer(
                400, "BadRequest", f"cannot exec into a container in a {pod['status']['phase']} pod"
            )
        self.send_response(101)
        for header, value in kubernetes_exec.handshake(self.headers).items():
            self.send_header(header, value)
        self.end_headers()
        lock, self.close_connection = threading.Lock(), True
        kubernetes_exec.run(
            double.node.containers[pod["metadata"]["uid"]], argv, partial(self._frame, lock)
        )

    def _forward(self, space: str, name: str, port: int) -> None:
        pod = self.server.double.store.get("pods", space, name)
        if pod["status"]["phase"] != "Running":
            raise Answer(400, "BadRequest", "unable to forward port because pod is not running")
        self.send_response(101)
        for header, value in kubernetes_exec.handshake(self.headers).items():
            self.send_header(header, value)
        self.end_headers()
        lock, self.close_connection = threading.Lock(), True
        container = self.server.double.node.containers[pod["metadata"]["uid"]]
        kubernetes_forward.run(container, port, self.rfile, partial(self._frame, lock))

    def _frame(self, lock: threading.Lock, data: bytes) -> None:
        with lock:
            self.wfile.write(data)

    def _fault(self, line: str) -> None:
        double = self.server.double
        for fault in double.answers:
            if all(word in line for word in fault[0].split()):
                double.answers.remove(fault)
                if isinstance(fault[1], Answer):
                    raise fault[1]
                self._drip(fault[1]) if isinstance(fault[1], Drip) else double.closed.wait(fault[1])
                return

    def _drip(self, pause: float) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        while True:  # until the peer disconnects
            time.sleep(pause)
            self.wfile.write(b"x")

    def _send(self, code: int, data: bytes, after: int = 0) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        if after:
            self.send_header("Retry-After", str(after))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, lines: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in lines:
            self._chunk(line)
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


def _target(parts: list[str]) -> tuple[str, str, str]:
    """Return (plural, namespace, name) of a path."""
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        return rest[2], rest[1], rest[3] if len(rest) > 3 else ""
    return rest[0], "", rest[1] if len(rest) > 1 else ""


def _patch(thing: Object, change: Object) -> None:
    uid = change.get("metadata", {}).get("uid", thing["metadata"]["uid"])
    if uid != thing["metadata"]["uid"]:
        raise Answer(
            409,
            "Conflict",
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
            f"{thing['metadata']['uid']}",
        )
    merge(thing, change)


def _line(kind: str, thing: Object) -> bytes:
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"
