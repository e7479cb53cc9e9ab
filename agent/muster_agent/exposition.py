"""Prometheus text format of a batch, and a small HTTP server for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from muster_agent.loop import Agent
from muster_agent.sample import Json

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
STALE_INTERVALS = 3  # idle intervals after which a batch is too old to be served
SUFFIX = {
    "bytes": "_bytes",
    "bytes/s": "_bytes_per_second",
    "ratio": "_ratio",
    "degC": "_celsius",
    "Hz": "_hertz",
    "W": "_watts",
    "cores": "_cores",
    "s": "_seconds",
}
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def render(body: Json) -> str:
    """Format a batch as Prometheus text, with names such as muster_gpu_memory_used_bytes."""
    families: dict[str, list[str]] = {}
    for name, labels, value in rows(body):
        pairs = ",".join(
            f'{key}="{str(text).translate(ESCAPES)}"' for key, text in sorted(labels.items())
        )
        families.setdefault(name, []).append(f"{name}{{{pairs}}} {value!r}")
    return "".join(
        f"# TYPE {name} gauge\n" + "\n".join(lines) + "\n" for name, lines in families.items()
    )


def rows(body: Json) -> Iterator[tuple[str, dict[str, str], float]]:
    node = {"node": body["node"]}
    for sample in body["samples"]:
        yield metric_name("muster", sample), {**node, **sample["labels"]}, sample["value"]
    for job in body["jobs"]:
        for sample in job["samples"]:
            yield (
                metric_name("muster_job", sample),
                {**node, "job": job["key"], **sample["labels"]},
                sample["value"],
            )


def metric_name(prefix: str, sample: Json) -> str:
    return f"{prefix}_{sample['name'].replace('.', '_')}{SUFFIX.get(sample['unit'], '')}"


def serve(agent: Agent, listen: str) -> ThreadingHTTPServer:
    """Serve GET /metrics on "host:port" in a thread.

    Raises OSError if the port is in use, and ValueError if the address is invalid.
    """
    host, _, port = listen.rpartition(":")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_found = self.path.partition("?")[0] in ("/metrics", "/")
            answer = current(agent).encode() if is_found else b"see /metrics\n"
            self.send_response(200 if is_found else 404)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: Any) -> None:
            """Suppress a log line per scrape."""

    server = ThreadingHTTPServer((host.strip("[]") or "127.0.0.1", int(port)), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="agent-metrics", daemon=True).start()
    return server


def current(agent: Agent) -> str:
    """Return the latest batch as text, or an empty string if it is outdated."""
    age = time.monotonic() - agent.last_at
    is_fresh = agent.last is not None and age <= STALE_INTERVALS * agent.config.idle_interval
    return render(agent.last) if is_fresh and agent.last is not None else ""
