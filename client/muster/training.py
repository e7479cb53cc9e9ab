"""Log from a training script: `muster.log(step=1, loss=0.42)`, `muster.log_param("lr", 3e-4)`.

Inside a job everything goes to the run of the job. Outside, `muster.init(experiment="sft")` creates
a run; before that, logging does nothing.

Logging never stops or slows down the training: a background thread sends metrics and parameters in
batches and retries while the portal is unavailable. If memory runs out, the oldest are dropped with
one warning. The rest is sent at exit, within EXIT_WAIT seconds. Files are sent at once, and a file
that cannot be sent is a warning. Uses only the standard library.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import posixpath
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, SupportsFloat
from urllib.parse import quote, urlencode

from muster import settings
from muster.errors import InvalidInput, NotAuthenticated, NotFound, Unavailable, error_of

if TYPE_CHECKING:
    from types import TracebackType

EVERY = 1.0  # seconds between batches
BATCH = 1000  # points per request, the maximum that the portal accepts
MOST_FACTS = 100  # parameters and tags per request, likewise
MOST_KEPT = 100_000  # points in memory; beyond that the oldest are dropped
EXIT_WAIT = 5.0  # seconds
FILE_TRIES = 5
FILE_TIMEOUT = 600.0  # seconds without progress

_NEEDED = ("MUSTER_URL", "MUSTER_ORG", "MUSTER_JOB_ID", "MUSTER_TOKEN")
RETRIED = {408, 425, 429, 500, 502, 503, 504}
Numbers = dict[str, SupportsFloat]


def log(
    values: Numbers | None = None, /, *, step: int | None = None, **named: SupportsFloat
) -> None:
    """Log metrics: `log(step=1, loss=0.4)` or `log({"val/loss": 0.4}, step=1)`.

    Values are converted with `float()`, so one-element tensors work. NaN and infinities are
    skipped with a warning.
    """
    if reporter := _reporter():
        reporter.add({**(values or {}), **named}, step)


def log_param(name: str, value: object) -> None:
    """Log a parameter of the run. Each can be set once; another value is refused with a warning."""
    log_params({name: value})


def log_params(params: Mapping[str, object]) -> None:
    """Log parameters of the run, such as `{"lr": 3e-4, "optimizer": "adam"}`."""
    if reporter := _reporter():
        reporter.state("params", params)


def set_tags(tags: Mapping[str, object]) -> None:
    """Set tags of the run. Unlike parameters, tags may change."""
    if reporter := _reporter():
        reporter.state("tags", tags)


def log_artifact(path: str | os.PathLike[str], to: str = "") -> bool:
    """Store a file, or a folder with everything in it, with the run; `to` is a folder of the run.

    Returns when it is stored. After FILE_TRIES attempts it is a warning, and the answer is False.
    """
    reporter = _reporter()
    return reporter is not None and reporter.store(os.fspath(path), to)


def init(
    experiment: str = "",
    *,
    name: str = "",
    params: Mapping[str, object] | None = None,
    tags: Mapping[str, object] | None = None,
) -> Run:
    """Begin a run, to which this process then logs; inside a job, return the run of the job.

    Outside of jobs this uses MUSTER_URL, MUSTER_TOKEN, MUSTER_ORG and MUSTER_TEAM, or the settings
    stored by `muster login`, and raises MusterError if the run cannot be created. The run ends
    with the program, as failed if an exception ends it, or with `finish`.
    """
    global _current
    place = place_of_job()
    if place is None:
        place = _new_run(experiment, name, tags or {})
        with _lock:
            if _current is not None:
                _current.close()
            _current = Reporter(place)
    elif experiment:
        _experiment_id(place, experiment)  # the portal moves the run there while it is empty
    run = Run(place)
    if params:
        log_params(params)
    if tags and place.job:
        set_tags(tags)
    return run


@dataclass(frozen=True)
class RunTarget:
    """The run that this process logs to.

    `job` is the id of its job, "" outside of jobs. The tasks of an array have a run each.
    """

    url: str
    token: str
    org: str
    team: str
    run: str
    job: str = ""

    @property
    def mlflow(self) -> str:
        team = f"/{self.team}" if self.team else ""
        return f"{self.url}/mlflow/{self.org}{team}/api/2.0/mlflow"

    @property
    def api(self) -> str:
        return f"{self.url}/api/v1/orgs/{self.org}"

    def points(self, batch: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        """Return address and body of a request that stores points."""
        if self.job:
            return f"{self.api}/jobs/{self.job}/metrics", {"points": batch}
        rows = [
            {"key": p["name"], "value": p["value"], "timestamp": p["at"], "step": p["step"] or 0}
            for p in batch
        ]
        return f"{self.mlflow}/runs/log-batch", {"run_id": self.run, "metrics": rows}

    def facts(self, rows: list[tuple[str, str, str]]) -> tuple[str, dict[str, Any]]:
        """Return address and body of a request that stores (kind, name, value)."""
        body: dict[str, Any] = {"run_id": self.run}
        for kind, name, value in rows:
            body.setdefault(kind, []).append({"key": name, "value": value})
        return f"{self.mlflow}/runs/log-batch", body

    def send(self, method: str, url: str, body: Any = None, timeout: float = 10) -> Any:
        """Send bytes, or else JSON, and return the JSON of the answer."""
        is_raw = isinstance(body, bytes)
        data = body if is_raw or body is None else json.dumps(body).encode()
        kind = "application/octet-stream" if is_raw else "application/json"
        headers = {"Content-Type": kind, "Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(url, data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.loads(answer.read() or b"{}")


class Run:
    """A run. `with muster.init(…) as run:` ends it with the block."""

    def __init__(self, place: RunTarget):
        self._place = place
        self.id = place.run

    @property
    def page(self) -> str:
        """Address of its page."""
        return f"{self._place.url}/{self._place.org}/runs/{self.id}"

    def finish(self, status: str = "FINISHED") -> None:
        """Send what is left and end the run; the run of a job ends with the job."""
        reporter = _reporter()
        if reporter is not None and reporter.place == self._place:
            reporter.close(status)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish("FAILED" if kind else "FINISHED")

    def __repr__(self) -> str:
        return f"Run({self.page})"


class Reporter:
    """Buffer of points and the thread that sends them."""

    def __init__(self, place: RunTarget) -> None:
        self.place, self.pid = place, os.getpid()
        self.points: deque[dict[str, Any]] = deque(maxlen=MOST_KEPT)
        self.rows: deque[tuple[str, str, str]] = deque(maxlen=MOST_KEPT)
        self.warned: set[str] = set()
        self.is_failed = self._is_closed = False
        self._due, self._sending = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, name="muster-log", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        if not place.job:
            self._watch_failures()

    def add(self, values: Numbers, step: int | None) -> None:
        at = int(time.time() * 1000)
        for name, value in values.items():
            try:
                number, where = float(value), None if step is None else int(step)
            except Exception as error:
                self.warn(f"{name} is not a number: {error}")
                continue
            if not math.isfinite(number):
                self.warn(f"{name} is {number} at step {step}; such points are skipped")
                continue
            if len(self.points) == MOST_KEPT:
                self.warn("the buffer is full; the oldest points are dropped")
            self.points.append({"name": str(name), "value": number, "step": where, "at": at})
        if len(self.points) >= BATCH:
            self._due.set()

    def state(self, kind: str, facts: Mapping[str, object]) -> None:
        """Keep parameters or tags until they are sent."""
        try:
            self.rows.extend([(kind, str(name), str(value)) for name, value in facts.items()])
        except Exception as error:
            self.warn(f"{kind} are not a mapping of names to values: {error}")

    def store(self, path: str, to: str) -> bool:
        """Send a file, or all files of a folder; return whether all are stored."""
        try:
            files = list(_files(path))
        except OSError as error:
            self.warn(f"{path} was not stored: {error}")
            return False
        stored = [self._store(file, posixpath.join(to, name)) for file, name in files]
        return all(stored)

    def _store(self, file: str, name: str) -> bool:
        url = f"{self.place.api}/runs/{self.place.run}/artifacts/{quote(name)}"
        for tried in range(FILE_TRIES):
            try:
                with open(file, "rb") as body:
                    request = urllib.request.Request(
                        url,
                        body,
                        method="PUT",
                        headers={
                            "Content-Type": "application/octet-stream",
                            "Content-Length": str(os.fstat(body.fileno()).st_size),
                            "Authorization": f"Bearer {self.place.token}",
                        },
                    )
                    urllib.request.urlopen(request, timeout=FILE_TIMEOUT).close()
                return True
            except urllib.error.HTTPError as error:
                why = f"the portal answered {error.code}: {_text_of(error)}"
                if error.code not in RETRIED:
                    break
            except Exception as error:
                why = str(error)
            time.sleep(min(0.2 * 4**tried, 20))
        self.warn(f"{name} was not stored: {why}")
        return False

    def close(self, status: str = "") -> None:
        """Send the rest, for at most EXIT_WAIT seconds, and end a run that `init` has begun."""
        if os.getpid() != self.pid or self._is_closed:
            return  # a forked child; the parent sends
        deadline = time.monotonic() + EXIT_WAIT
        while (self.points or self.rows) and time.monotonic() < deadline:
            if not self.send(max(deadline - time.monotonic(), 0.1)):
                time.sleep(0.2)
        if left := len(self.points) + len(self.rows):
            self.warn(f"{left} points could not be sent before exit")
        if not self.place.job:
            self._is_closed = True
            self._due.set()  # ends the thread
            self._end(status or ("FAILED" if self.is_failed else "FINISHED"))

    def _end(self, status: str) -> None:
        body = {"run_id": self.place.run, "status": status, "end_time": int(time.time() * 1000)}
        try:
            self.place.send("POST", f"{self.place.mlflow}/runs/update", body)
        except Exception as error:
            self.warn(f"the run could not be ended: {error}")

    def send(self, timeout: float = 10) -> bool:
        """Send one batch of each; return True if they were accepted or permanently rejected."""
        with self._sending:
            return all([self._send_points(timeout), self._send_facts(timeout)])

    def _send_points(self, timeout: float) -> bool:
        batch = [self.points[at] for at in range(min(BATCH, len(self.points)))]
        if not batch or not self._is_settled("metrics", *self.place.points(batch), timeout):
            return not batch
        for point in batch:
            if self.points and self.points[0] is point:  # not dropped in the meantime
                self.points.popleft()
        return True

    def _send_facts(self, timeout: float) -> bool:
        rows = [self.rows[at] for at in range(min(MOST_FACTS, len(self.rows)))]
        settled: bool | None = not rows
        if rows:
            settled = self._settled("", *self.place.facts(rows), timeout)
        if settled is None:  # one of them is refused: send the others
            settled = all(
                self._is_settled(
                    f"{kind} {name}", *self.place.facts([(kind, name, value)]), timeout
                )
                for kind, name, value in rows
            )
        if settled:
            for row in rows:
                if self.rows and self.rows[0] is row:
                    self.rows.popleft()
        return settled

    def _is_settled(self, kind: str, url: str, body: Any, timeout: float) -> bool:
        """Send a request; return whether it was accepted, or rejected with a warning."""
        return self._settled(kind, url, body, timeout) is not False

    def _settled(self, kind: str, url: str, body: Any, timeout: float) -> bool | None:
        """Send a request; return True if accepted, False to retry, None if rejected."""
        try:
            self.place.send("POST", url, body, timeout)
        except urllib.error.HTTPError as error:
            if error.code in RETRIED:
                return False
            if kind:
                self.warn(
                    f"{kind} were rejected: the portal answered {error.code}: {_text_of(error)}"
                )
            return None
        except Exception as error:
            self.warn(f"metrics are delayed: {error}")
            return False
        return True

    def _run(self) -> None:
        wait = EVERY
        while not self._is_closed:
            self._due.wait(wait)
            self._due.clear()
            wait = EVERY if self.send() else min(wait * 2, 30)

    def _watch_failures(self) -> None:
        """Notice an exception that ends the program."""
        shown = sys.excepthook

        def failed(*error: Any) -> None:
            self.is_failed = True
            shown(*error)

        sys.excepthook = failed

    def warn(self, why: str) -> None:
        kind = why.split(":", 1)[0].split(" is ", 1)[0]
        if kind not in self.warned:
            self.warned.add(kind)
            print(f"muster: {why}", file=sys.stderr)


def _files(path: str) -> Iterator[tuple[str, str]]:
    """Yield (file, name below the folder of the run); not pipes and devices, which never end."""
    base = os.path.basename(os.path.abspath(path))
    if not os.path.isdir(path):
        os.stat(path)
        yield path, base
    for folder, inner, names in os.walk(path):
        inner.sort()
        below = os.path.relpath(folder, path).replace(os.sep, "/")
        for name in sorted(names):
            file = os.path.join(folder, name)
            if os.path.isfile(file) or os.path.islink(file):
                yield file, posixpath.normpath(f"{base}/{below}/{name}")


def _text_of(error: urllib.error.HTTPError) -> str:
    return error.read(300).decode(errors="replace")


def place_of_job() -> RunTarget | None:
    """Return the place of the job that this process runs in, or None outside of jobs."""
    env = os.environ
    if not all(env.get(name) for name in _NEEDED):
        return None
    return RunTarget(
        env["MUSTER_URL"].rstrip("/"),
        env["MUSTER_TOKEN"],
        env["MUSTER_ORG"],
        env.get("MUSTER_TEAM", ""),
        env.get("MUSTER_RUN_ID") or env["MUSTER_JOB_ID"].replace("-", ""),
        env["MUSTER_JOB_ID"],
    )


def _new_run(experiment: str, name: str, tags: Mapping[str, object]) -> RunTarget:
    """Create a run with the settings of this user. Raises MusterError."""
    found = settings.load()
    if not found.url:
        raise InvalidInput(
            "No portal is configured. Run `muster login URL`, or set MUSTER_URL.", code="no_url"
        )
    if not (found.token and found.org):
        raise NotAuthenticated("Run `muster login`, or set MUSTER_TOKEN and MUSTER_ORG.")
    place = RunTarget(found.url, found.token, found.org, found.team, "")
    made = _asked(
        place,
        "POST",
        f"{place.mlflow}/runs/create",
        {
            "experiment_id": _experiment_id(place, experiment or "Default"),
            "start_time": int(time.time() * 1000),
            "run_name": name,
            "tags": [
                {"key": key, "value": str(value)}
                for key, value in {**_source_tags(), **tags}.items()
            ],
        },
    )
    return replace(place, run=made["run"]["info"]["run_id"])


def _asked(place: RunTarget, method: str, url: str, body: Any = None) -> Any:
    """Send a request of `init` and return the answer. Raises MusterError."""
    try:
        return place.send(method, url, body)
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        raise error_of(error.code, answer, text, place.url) from None
    except OSError as error:
        raise Unavailable(f"{place.url} cannot be reached: {error}") from None


def _experiment_id(place: RunTarget, name: str) -> str:
    """Return the id of an experiment, which is created if needed."""
    query = urlencode({"experiment_name": name})
    try:
        found = _asked(place, "GET", f"{place.mlflow}/experiments/get-by-name?{query}")
        return str(found["experiment"]["experiment_id"])
    except NotFound:
        made = _asked(place, "POST", f"{place.mlflow}/experiments/create", {"name": name})
        return str(made["experiment_id"])


def _source_tags() -> dict[str, str]:
    """Return what is known of this program, with MLflow's names."""
    tags = {"mlflow.source.name": sys.argv[0] or "python", "mlflow.source.type": "LOCAL"}
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=True
        )
        tags["mlflow.source.git.commit"] = done.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        pass  # not in a repository
    return tags


_lock = threading.Lock()
_current: Reporter | None = None


def _reporter() -> Reporter | None:
    """Return this process's reporter, or None outside of runs.

    A fork inherits neither the thread nor the points.
    """
    global _current
    with _lock:
        if _current is None or _current.pid != os.getpid():
            place = _current.place if _current else place_of_job()
            _current = Reporter(place) if place else None
        return _current


def _forget_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
