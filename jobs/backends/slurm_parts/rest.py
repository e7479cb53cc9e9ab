"""Slurm by slurmrestd, from v0.0.38 (22.05) on: what differs between the versions is settled here."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

import urllib3

from jobs.backends.base import NodeFacts, Rejected, Unavailable
from jobs.backends.slurm_parts import nodes
from jobs.backends.slurm_parts.errors import failure, is_unknown_job
from jobs.backends.slurm_parts.limits import Limits, assoc_rows, partition_rows, qos_rows
from jobs.backends.slurm_parts.queue import Queued, queue_rows
from jobs.backends.slurm_parts.request import Request
from jobs.backends.slurm_parts.rows import Row, rest_row
from jobs.backends.slurm_parts.running import PATH

Json = dict[str, Any]
_LIFE = 900                      # seconds for which a token that we make counts
_EARLY = 60                      # so long before its end a new one is made
_CONNECTIONS = 8
_FEW = 40                        # so many jobs are asked for one by one; more by one listing
_SHARE = 0.1                     # of the time may go into listings: one that took 3 s is used for 30 s
_VERSION = re.compile(r"/slurm/v0\.0\.(\d+)/")


def signed(key: bytes, user: str, now: int, life: int = _LIFE) -> str:
    """A JWT (HS256) for this user, as `scontrol token` would make it."""
    parts = ({"alg": "HS256", "typ": "JWT"}, {"exp": now + life, "iat": now, "sun": user})
    body = b".".join(_base64(json.dumps(part).encode()) for part in parts)
    return (body + b"." + _base64(hmac.new(key, body, hashlib.sha256).digest())).decode()


def ended_at(token: str) -> datetime | None:
    """When a JWT ended, if it has: it says so itself."""
    try:
        body = token.split(".")[1]
        end = datetime.fromtimestamp(json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))["exp"], UTC)
    except (IndexError, ValueError, KeyError, TypeError, OverflowError):
        return None
    return end if end < datetime.now(UTC) else None


def _base64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


class Rest:
    """The door of slurmrestd. It has no look-up by name: what was listed is remembered, job by job, as key and number."""

    def __init__(self, url: str, user: str, token: str, key: str, rest_user: str = ""):
        self.url, self.user, self._token, self._key = url, user, token, key
        self._whose = rest_user or user
        self._made: tuple[str, float] = ("", 0)
        self._numbers: dict[str, int] = {}
        self._listed: tuple[float, float, list[Row]] = (float("-inf"), 0, [])
        self._lock = threading.Lock()
        self._http = urllib3.PoolManager(maxsize=_CONNECTIONS, block=True, timeout=urllib3.Timeout(total=10), retries=False)

    @cached_property
    def _minor(self) -> int:
        """The newest version that it speaks and we know."""
        found = sorted({int(word) for word in _VERSION.findall(" ".join(self._send("GET", "/openapi/v3").get("paths", {})))})
        known = [minor for minor in found if 38 <= minor <= 44]
        if not known:
            raise Unavailable(f"slurmrestd speaks none of v0.0.38 to v0.0.44 but {', '.join(f'v0.0.{minor}' for minor in found) or 'nothing'}.")
        return known[-1]

    @property
    def _slurm(self) -> str:
        return f"/slurm/v0.0.{self._minor}"

    def submit(self, request: Request, script: str) -> int:
        body: Json = {"job": job_body(request, self._minor), "script": script}
        answer = self._send("POST", f"{self._slurm}/job/submit", body)
        number = int(answer.get("job_id") or 0) or int(_without_errors(answer)["job_id"])     # queued with a warning: no node is up now
        with self._lock:
            if self._listed[1]:                      # listing is expensive here: this job is asked for by its number
                self._numbers[request.key] = min(number, self._numbers.get(request.key, number))
            else:
                self._listed = (float("-inf"), 0, [])
        return number

    def jobs(self, keys: Sequence[str]) -> list[Row]:
        """Few and known ones each by its number; else all, of which those of our user are ours."""
        with self._lock:
            numbers = [self._numbers.get(key) for key in keys]
        if len(keys) <= _FEW and all(numbers):
            found = [row for number in numbers if number and (row := self._one(number))]
            if len(found) == len(keys):
                return found
        return self._all()

    def past(self, keys: Sequence[str]) -> list[Row]:
        """What accounting knows, if slurmrestd has its door; nothing otherwise."""
        rows: list[Row] = []
        for key in keys:
            try:
                answer = self._asked("GET", f"/slurmdb/v0.0.{self._minor}/jobs", params={"job_name": key, "users": self.user})
            except (Rejected, Unavailable):
                return rows          # not configured there: the record in the spool is what there is
            rows += [row for job in answer.get("jobs", []) if (row := _past_row(job)).key == key]
        return rows

    def queue(self) -> list[Queued]:
        """Everybody's jobs, as far as we may see them."""
        found = self._asked("GET", f"{self._slurm}/jobs").get("jobs", [])
        return queue_rows(found, map(rest_row, found))

    def limits(self) -> Limits:
        """Of accounts and QOS, if slurmrestd has the door of accounting. Raises where it has none."""
        partitions, about = self._asked("GET", f"{self._slurm}/partitions").get("partitions", []), f"/slurmdb/v0.0.{self._minor}"
        rules = self._asked("GET", f"{about}/qos")
        return Limits(assoc_rows(self._asked("GET", f"{about}/associations").get("associations", [])),
                      qos_rows(rules.get("qos") or rules.get("QOS") or []), partition_rows(partitions))

    def exit_of(self, number: int) -> str:
        row = self._one(number)
        return row.exit if row else ""

    def remark(self, number: int, comment: str) -> None:
        self._change("POST", number, {"comment": comment, **({} if self._minor > 38 else {"environment": {"PATH": PATH}})})

    def ask_to_end(self, number: int) -> None:
        self._change("DELETE", number, params={"signal": "SIGTERM", "flags": "BATCH_JOB"} if self._minor > 38 else {"signal": "15"})

    def kill(self, number: int) -> None:
        self._change("DELETE", number, params={"signal": "SIGKILL" if self._minor > 38 else "9"})

    def cancel(self, number: int) -> None:
        self._change("DELETE", number)

    def nodes(self) -> list[NodeFacts]:
        return nodes.from_rest(self._asked("GET", f"{self._slurm}/nodes").get("nodes", []))

    def drain(self, node: str, why: str) -> None:
        self._node(node, {"state": ["DRAIN"], "reason": why})

    def resume(self, node: str) -> None:
        self._node(node, {"state": ["RESUME"]})

    def version(self) -> str:
        answer = self._asked("GET", f"{self._slurm}/ping")
        if not any(str(ping.get("ping", "UP")).upper() == "UP" or ping.get("pinged") == "UP" for ping in answer.get("pings", [])):
            raise Unavailable("slurmrestd answers, and says that no controller of Slurm does.")
        self._asked("GET", f"{self._slurm}/partitions")                 # a ping needs no permission; this does
        meta = answer.get("meta", {})
        return str((meta.get("Slurm") or meta.get("slurm") or {}).get("release", "")) + f", REST v0.0.{self._minor}"

    def beside(self, number: int, folder: str, argv: Sequence[str], timeout: float) -> tuple[int, bytes]:
        raise Rejected("By REST alone nothing can be run beside a job: connect this cluster by its commands for that.", "argv")

    def _node(self, name: str, body: Json) -> None:
        if self._minor < 40:
            raise Rejected(f"This slurmrestd (v0.0.{self._minor}) cannot change nodes: connect this cluster by its commands for that.", "node")
        self._asked("POST", f"{self._slurm}/node/{name}", body)

    def _one(self, number: int) -> Row | None:
        try:
            found = self._asked("GET", f"{self._slurm}/job/{number}").get("jobs", [])
        except (Rejected, Unavailable) as error:
            if is_unknown_job(str(error)):
                return None
            raise
        return rest_row(found[0]) if found else None

    def _all(self) -> list[Row]:
        """One listing, remembered for as long as it was expensive."""
        with self._lock:
            at, cost, rows = self._listed
            if time.monotonic() - at < cost / _SHARE:
                return rows
            before = time.monotonic()
            answer = self._asked("GET", f"{self._slurm}/jobs")
            rows = [row for job in answer.get("jobs", []) if (row := rest_row(job)).user in {self.user, ""}]
            now = time.monotonic()
            self._listed = (now, now - before if now - before > 0.2 else 0, rows)
            self._numbers = {}
            for row in sorted(rows, key=lambda row: -row.id):
                self._numbers[row.key] = row.id
            return rows

    def _change(self, method: str, number: int, body: Json | None = None, params: Mapping[str, str] | None = None) -> None:
        try:
            self._asked(method, f"{self._slurm}/job/{number}", body, params)
        except (Rejected, Unavailable) as error:
            if not is_unknown_job(str(error)):
                raise

    def _asked(self, method: str, path: str, body: Json | None = None, params: Mapping[str, str] | None = None) -> Json:
        """An answer without errors; an update may be answered by 200 and an error all the same."""
        return _without_errors(self._send(method, path, body, params))

    def _send(self, method: str, path: str, body: Json | None = None, params: Mapping[str, str] | None = None) -> Json:
        headers = {"X-SLURM-USER-NAME": self.user, "X-SLURM-USER-TOKEN": self._current_token()}
        if body is not None:
            headers["Content-Type"] = "application/json"
        address = f"{self.url}{path}?{urlencode(params)}" if params else self.url + path
        try:
            answer = self._http.request(method, address, body=None if body is None else json.dumps(body), headers=headers)
        except urllib3.exceptions.HTTPError as error:
            if isinstance(error, urllib3.exceptions.ReadTimeoutError):
                raise Unavailable(f"slurmrestd at {self.url} did not answer in time.") from error
            why = getattr(error.__cause__, "strerror", None) or error
            raise Unavailable(f"slurmrestd at {self.url} cannot be reached: {why}") from error
        if answer.status >= 400 and (ended := ended_at(headers["X-SLURM-USER-TOKEN"])):      # 22.05 says no more than "Unspecified error"
            raise Unavailable(f"The token for slurmrestd ended at {ended:%Y-%m-%d %H:%M} UTC: give a new one (`scontrol token`), or the key "
                              "itself, with which Muster makes its own.")
        if answer.status in {401, 403}:
            raise Unavailable("slurmrestd did not accept the token: it is wrong, expired, or of another cluster.")
        return _json(answer)

    def _current_token(self) -> str:
        """The given one, or one that we make and make anew before it ends."""
        if not self._key:
            return self._token
        token, until = self._made
        if time.time() > until - _EARLY:
            now = int(time.time())
            token, until = signed(self._key.encode(), self._whose, now), now + _LIFE
            self._made = (token, until)
        return token


def _without_errors(answer: Json) -> Json:
    if errors := [one for one in answer.get("errors") or [] if one.get("error_number", one.get("errno", 1)) != 0]:
        raise failure("; ".join(str(one.get("error") or one.get("description") or one) + f" {one.get('description', '')}" for one in errors))
    return answer


def _json(answer: urllib3.BaseHTTPResponse) -> Json:
    try:
        found = answer.json()
    except ValueError:
        found = None
    if isinstance(found, dict) and (answer.status < 400 or found.get("errors")):
        return found
    if answer.status == 404:
        raise Unavailable("There is no slurmrestd behind that address: it does not know what was asked.")
    if answer.status == 400:
        raise Rejected(f"slurmrestd refused the request: {_text(answer)[:400]}")
    raise Unavailable(f"slurmrestd answered {answer.status}: {_text(answer)[:300]}")


def _text(answer: urllib3.BaseHTTPResponse) -> str:
    return " ".join(answer.data.decode(errors="replace").split())


def job_body(request: Request, minor: int) -> Json:
    """The job as this version of slurmrestd reads it."""
    number = (lambda value: value) if minor < 39 else (lambda value: {"set": True, "number": value})
    env: Any = {"PATH": PATH, "LC_ALL": "C.UTF-8"}
    body: Json = {
        "name": request.key, "comment": request.comment, "standard_output": request.output, "standard_error": request.output,
        "standard_input": "/dev/null", "open_mode": "append", "current_working_directory": request.spool,
        "tasks_per_node": 1, "cpus_per_task": request.cpus, "dependency": "singleton", "requeue": False,
        "environment": env if minor < 39 else [f"{name}={value}" for name, value in env.items()],
        "account": request.account, "qos": request.qos, "partition": request.partition, "reservation": request.reservation,
        "constraints": request.constraint,
        "memory_per_node": number(request.memory) if request.memory else None, "time_limit": number(request.minutes) if request.minutes else None,
    }
    # v0.0.38 has "gres"; later versions the TRES of a node. The number of nodes was a list [least, most] and is a text since.
    body["gres" if minor < 39 else "tres_per_node"] = request.gres if minor < 39 else (f"gres/{request.gres}" if request.gres else "")
    body["nodes"] = [request.nodes, request.nodes] if minor < 39 else f"{request.nodes}"
    if minor < 39:
        body["tasks"] = request.nodes
    return {name: value for name, value in body.items() if value not in ("", None)}


def _past_row(job: Mapping[str, Any]) -> Row:
    """A job of slurmdb: other names for the same."""
    times, exit_code = job.get("time") or {}, job.get("exit_code") or {}
    state = (job.get("state") or {}).get("current", "")
    return rest_row({
        "job_id": job["job_id"], "job_state": state if isinstance(state, list) else str(state).split()[:1], "name": job.get("name"),
        "start_time": times.get("start"), "end_time": times.get("end"), "nodes": job.get("nodes"), "exit_code": exit_code,
        "account": job.get("account"), "partition": job.get("partition"), "user_name": job.get("user")})
