"""Access Slurm through slurmrestd, v0.0.38 (22.05) or later.

Differences between API versions are handled here.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

import jwt

from portal.core.messages import Message
from schedulers.contract import (
    NodeFacts,
    Rejected,
    ReservationFacts,
    ReservationRequest,
    Unavailable,
)
from schedulers.slurm import nodes, reservations
from schedulers.slurm.commands import Commands
from schedulers.slurm.errors import CREDENTIALS, failure, is_unknown_job
from schedulers.slurm.http import UNCHANGED, HttpClient, dumped, read
from schedulers.slurm.limits import SlurmLimits, assoc_rows, partition_rows, qos_rows
from schedulers.slurm.queue import Queued, queue_rows
from schedulers.slurm.request import Request
from schedulers.slurm.rest_body import Json, job_body
from schedulers.slurm.rows import Row, number_of, rest_row
from schedulers.slurm.transport import PATH
from schedulers.slurm.usage import LimitUsage

_LIFE = 900  # lifetime in seconds of tokens that we create
_EARLY = 60  # seconds before expiry when a token is renewed
_FEW = 40  # up to this many jobs are requested one by one; more with one listing
_SEEN = 38  # the minor version whose "not modified" answers were verified
_RESERVES = 43  # the first minor version that makes reservations (Slurm 25.05)
_VERSION = re.compile(r"/slurm/v0\.0\.(\d+)/")


def signed(key: bytes, user: str, now: int, life: int = _LIFE) -> str:
    """Create a JWT (HS256) for this user, like `scontrol token`."""
    return jwt.encode({"exp": now + life, "iat": now, "sun": user}, key)


def ended_at(token: str) -> datetime | None:
    """Return when a JWT expired according to its own claim, if it has."""
    try:
        claims = jwt.decode(token, options={"verify_signature": False})
        end = datetime.fromtimestamp(claims["exp"], UTC)
    except (jwt.InvalidTokenError, ValueError, KeyError, TypeError, OverflowError):
        return None
    return end if end < datetime.now(UTC) else None


class RestClient:
    """Access to Slurm through slurmrestd.

    The API has no lookup by name, so key and number of every listed job are remembered. What it
    cannot do is done by `commands`, if the cluster has any.
    """

    def __init__(
        self,
        url: str,
        user: str,
        token: str,
        key: str,
        rest_user: str = "",
        users: tuple[str, ...] = (),
        commands: Commands | None = None,
    ):
        self.url, self.user, self._token, self._key = url, user, token, key
        self._commands = commands
        self._rest_user, self._users = rest_user, users
        self._made: dict[str, tuple[str, float]] = {}
        self._numbers: dict[str, int] = {}
        self._made_since: dict[str, int] = {}
        self._rows: list[Row] = []
        self._listed_from, self._listed_at = float("-inf"), 0
        self._lock, self._listing = threading.Lock(), threading.Lock()
        self._wire = HttpClient(url)

    @cached_property
    def _minor(self) -> int:
        """Return the newest minor version that both sides support."""
        found = sorted(
            {
                int(word)
                for word in _VERSION.findall(
                    " ".join(self._send("GET", "/openapi/v3").get("paths", {}))
                )
            }
        )
        known = [minor for minor in found if 38 <= minor <= 44]
        if not known:
            raise Unavailable(
                "slurmrestd speaks none of v0.0.38 to v0.0.44 but "
                f"{', '.join(f'v0.0.{minor}' for minor in found) or 'nothing'}.",
                "rest_url",
            )
        return known[-1]

    @property
    def _slurm(self) -> str:
        return f"/slurm/v0.0.{self._minor}"

    def submit(self, request: Request, script: str) -> int:
        body: Json = {"job": job_body(request, self._minor), "script": script}
        answer = self._send("POST", f"{self._slurm}/job/submit", body, whose=request.user)
        # queued with a warning: no node is currently up
        number = int(answer.get("job_id") or 0) or int(_without_errors(answer).get("job_id") or 0)
        if not number:
            raise Unavailable(
                "slurmrestd answered a submission without an error and without a job ID."
            )
        with self._lock:
            for numbers in (self._numbers, self._made_since):
                numbers[request.key] = min(number, numbers.get(request.key, number))
        return number

    def jobs(self, keys: Sequence[str], *, is_whole: bool = False) -> list[Row]:
        """Return the jobs with these keys.

        A few known jobs are requested by number, others are taken from a listing of all jobs.
        """
        with self._lock:
            numbers = [self._numbers.get(key) for key in keys]
        if len(keys) <= _FEW and all(numbers) and not is_whole:
            found = [row for number in numbers if number and (row := self._one(number))]
            if len(found) == len(keys):
                return found
        return self._all()

    def past(self, keys: Sequence[str]) -> list[Row]:
        """Return the jobs from accounting if slurmrestd serves it, else nothing."""
        rows: list[Row] = []
        users = ",".join((self.user, *self._users))
        for key in keys:
            query = {"job_name": key, "users": users}
            try:
                answer = self._asked("GET", f"/slurmdb/v0.0.{self._minor}/jobs", params=query)
            except (Rejected, Unavailable):
                return rows  # not configured there: the record in the spool has to do
            rows += [row for job in answer.get("jobs", []) if (row := _past_row(job)).key == key]
        return rows

    def queue(self) -> list[Queued]:
        """Return the jobs of all users, as far as visible."""
        found = self._asked("GET", f"{self._slurm}/jobs").get("jobs", [])
        return queue_rows(found, map(rest_row, found))

    def limits(self) -> SlurmLimits:
        """Return the limits of accounts and QOS. Raises Unavailable without accounting."""
        partitions, about = (
            self._asked("GET", f"{self._slurm}/partitions").get("partitions", []),
            f"/slurmdb/v0.0.{self._minor}",
        )
        rules = self._asked("GET", f"{about}/qos")
        return SlurmLimits(
            assoc_rows(self._asked("GET", f"{about}/associations").get("associations", [])),
            qos_rows(rules.get("qos") or rules.get("QOS") or []),
            partition_rows(partitions),
        )

    def limit_usage(self, jobs: Sequence[Queued], limits: SlurmLimits) -> LimitUsage:
        """slurmrestd does not serve the use of limits; commands do, if the cluster has any."""
        return self._commands.limit_usage(jobs, limits) if self._commands else LimitUsage()

    def exit_of(self, number: int) -> str:
        row = self._one(number)
        return row.exit if row else ""

    def canceled_by(self, key: str, number: int) -> str | None:
        try:
            answer = self._asked("GET", f"/slurmdb/v0.0.{self._minor}/job/{number}")
        except (Rejected, Unavailable):
            return ""  # slurmrestd serves no accounting
        for job in answer.get("jobs", []):
            if job.get("name") == key and _past_row(job).state == "CANCELLED":
                return str(job.get("kill_request_user") or "")
        return None

    def remark(self, number: int, comment: str, whose: str = "") -> None:
        self._change(
            "POST",
            number,
            {"comment": comment, **({} if self._minor > 38 else {"environment": {"PATH": PATH}})},
            whose=whose,
        )

    def set_minutes(self, number: int, minutes: int) -> None:
        body: Json = {"time_limit": {"set": True, "number": minutes}}
        if self._minor <= 38:
            body = {"time_limit": minutes, "environment": {"PATH": PATH}}
        self._asked("POST", f"{self._slurm}/job/{number}", body)

    def ask_to_end(self, number: int, whose: str = "") -> None:
        params = (
            {"signal": "SIGTERM", "flags": "BATCH_JOB"} if self._minor > 38 else {"signal": "15"}
        )
        self._change("DELETE", number, params=params, whose=whose)

    def kill(self, number: int, whose: str = "") -> None:
        self._change(
            "DELETE", number, params={"signal": "SIGKILL" if self._minor > 38 else "9"}, whose=whose
        )

    def cancel(self, number: int, whose: str = "") -> None:
        self._change("DELETE", number, whose=whose)

    def check_user(self, user: str) -> None:
        try:
            self._asked("GET", f"{self._slurm}/partitions", whose=user)
        except (Rejected, Unavailable) as error:
            raise Rejected(f"Jobs cannot be submitted as {user}: {error}", "users") from error
        try:
            self._asked("GET", f"/slurmdb/v0.0.{self._minor}/user/{user}", whose=user)
        except (Rejected, Unavailable) as error:
            # otherwise accounting is not available
            if "nothing found" in str(error).lower():
                raise Rejected(
                    Message(
                        "Jobs cannot be submitted as {user}: accounting knows no such user.",
                        user=user,
                    ),
                    "users",
                ) from error

    def check_owner(self, user: str) -> None:
        """`version` has asked as this user."""

    def nodes(self) -> list[NodeFacts]:
        rows = self._asked("GET", f"{self._slurm}/nodes").get("nodes", [])
        return nodes.from_rest(rows, self._running)

    def _running(self) -> list[tuple[str, str]]:
        """Return TRES per node and nodes of all running jobs."""
        jobs = self._asked("GET", f"{self._slurm}/jobs").get("jobs", [])
        return [
            (str(job.get("tres_per_node") or ""), str(job.get("nodes") or ""))
            for job in jobs
            if rest_row(job).state in ("RUNNING", "SUSPENDED", "COMPLETING")
        ]

    def drain(self, node: str, why: str) -> None:
        if self._minor < 40 and self._commands:
            self._commands.drain(node, why)
        else:
            self._node(node, {"state": ["DRAIN"], "reason": why})

    def resume(self, node: str) -> None:
        if self._minor < 40 and self._commands:
            self._commands.resume(node)
        else:
            self._node(node, {"state": ["RESUME"]})

    def way_to_keep(self, kind: str) -> str:
        if kind == reservations.PARTITION:
            self._for_partitions()
            return Message("By Slurm's commands, because slurmrestd does not change partitions.")
        if self._for_reservations() is None:
            return Message("By slurmrestd (v0.0.{n}).", n=self._minor)
        return Message(
            "By Slurm's commands, because this slurmrestd (v0.0.{n}) cannot make reservations; "
            "v0.0.43 (Slurm 25.05) can.",
            n=self._minor,
        )

    def reserve(self, request: ReservationRequest, users: str, accounts: str) -> None:
        if commands := self._for_reservations():
            commands.reserve(request, users, accounts)
            return
        is_known = bool(self.reservations(request.name))
        body = reservations.body(request, users, accounts, is_new=not is_known)
        self._reservation("POST", "/reservation", body)

    def unreserve(self, name: str) -> None:
        if commands := self._for_reservations():
            commands.unreserve(name)
            return
        if not self.reservations(name):
            return
        for job in self._asked("GET", f"{self._slurm}/jobs").get("jobs", []):
            if job.get("resv_name") == name:  # one in use cannot be deleted
                self._change("POST", int(job["job_id"]), {"reservation": ""})
        self._reservation("DELETE", f"/reservation/{name}")

    def reservations(self, prefix: str) -> list[ReservationFacts]:
        if commands := self._for_reservations():
            return commands.reservations(prefix)
        answer = self._asked("GET", f"{self._slurm}/reservations")
        return reservations.listed(answer.get("reservations", []), prefix)

    def partition_accounts(self, partition: str) -> str:
        return self._for_partitions().partition_accounts(partition)

    def open_partition(self, partition: str, accounts: str) -> None:
        self._for_partitions().open_partition(partition, accounts)

    def reconfigure(self) -> None:
        if self._minor >= 40:
            self._asked("GET", f"{self._slurm}/reconfigure")
        elif self._commands:
            self._commands.reconfigure()
        else:
            raise Rejected(
                Message("This slurmrestd (v0.0.{n}) cannot make Slurm reconfigure.", n=self._minor)
            )

    def version(self) -> str:
        if self._commands:
            self._commands.version()
        answer = self._asked("GET", f"{self._slurm}/ping")
        if not any(
            str(ping.get("ping", "UP")).upper() == "UP" or ping.get("pinged") == "UP"
            for ping in answer.get("pings", [])
        ):
            raise Unavailable("slurmrestd answers, but Slurm's controller does not.")
        self._asked("GET", f"{self._slurm}/partitions")  # unlike a ping, this needs permission
        meta = answer.get("meta", {})
        return (
            str((meta.get("Slurm") or meta.get("slurm") or {}).get("release", ""))
            + f", REST v0.0.{self._minor}"
        )

    def beside(
        self, number: int, folder: str, argv: Sequence[str], timeout: float, whose: str = ""
    ) -> tuple[int, bytes]:
        if self._commands:
            return self._commands.beside(number, folder, argv, timeout, whose)
        raise Rejected(
            Message(
                "Running commands in a job is not possible over REST. Connect this cluster with "
                "Slurm's commands instead."
            ),
            "argv",
        )

    def _node(self, name: str, body: Json) -> None:
        if self._minor < 40:
            raise Rejected(
                Message(
                    "This slurmrestd (v0.0.{_minor}) cannot change nodes. Connect this cluster "
                    "with Slurm's commands instead.",
                    _minor=self._minor,
                ),
                "node",
            )
        self._asked("POST", f"{self._slurm}/node/{name}", body)

    def _for_reservations(self) -> Commands | None:
        """Return what makes reservations: commands, or None for slurmrestd. Raises Rejected."""
        if self._minor >= _RESERVES:
            return None
        if self._commands is None:
            raise Rejected(
                Message(
                    "This slurmrestd (v0.0.{n}) cannot make reservations; v0.0.43 (Slurm 25.05) "
                    "can. In the settings of the cluster, name a login host or the directory of "
                    "Slurm's commands as well, or choose none for exclusive pools: then nothing "
                    "is kept for single teams.",
                    n=self._minor,
                )
            )
        return self._commands

    def _for_partitions(self) -> Commands:
        if self._commands is None:
            raise Rejected(
                Message(
                    "slurmrestd does not change partitions. In the settings of the cluster, name "
                    "a login host or the directory of Slurm's commands as well."
                )
            )
        return self._commands

    def _reservation(self, method: str, path: str, body: Json | None = None) -> None:
        """Change reservations; an unknown one is ignored. Raises Rejected, Unavailable."""
        text = _errors(self._send(method, f"{self._slurm}{path}", body))
        if text and not reservations.is_unknown(text):
            raise reservations.refusal(text)

    def _one(self, number: int) -> Row | None:
        try:
            found = self._asked("GET", f"{self._slurm}/job/{number}").get("jobs", [])
        except (Rejected, Unavailable) as error:
            if is_unknown_job(str(error)):
                return None
            raise
        return rest_row(found[0]) if found else None

    def _all(self) -> list[Row]:
        """Return a listing that began after this call; concurrent callers share it."""
        before = time.monotonic()
        with self._listing:
            if self._listed_from < before:
                began, at = time.monotonic(), self._clock()
                with self._lock:
                    self._made_since = {}
                if (found := self._changed()) is not None:
                    self._rows = [
                        row
                        for job in found
                        if (row := rest_row(job)).user in {self.user, *self._users, ""}
                    ]
                    with self._lock:
                        self._numbers = self._made_since | {
                            row.key: row.id for row in sorted(self._rows, key=lambda row: -row.id)
                        }
                    self._listed_at = at
                self._listed_from = began
            return self._rows

    def _changed(self) -> list[Json] | None:
        """List all jobs; None if the controller reports no change, which is cheap."""
        since = {"update_time": str(self._listed_at)} if self._listed_at else None
        answer = self._send("GET", f"{self._slurm}/jobs", params=since)
        if since and answer == UNCHANGED:
            return None
        return list(_without_errors(answer).get("jobs", []))

    def _clock(self) -> int:
        """Return the controller's clock in seconds, or 0 for an unconditional listing.

        Changes within that second or later are reported again.
        """
        if self._minor > _SEEN:
            return 0
        try:
            return int(
                number_of(
                    self._asked("GET", f"{self._slurm}/diag").get("statistics", {}).get("req_time")
                )
            )
        except (Rejected, Unavailable):
            return 0

    def _change(
        self,
        method: str,
        number: int,
        body: Json | None = None,
        params: Mapping[str, str] | None = None,
        whose: str = "",
    ) -> None:
        try:
            self._asked(method, f"{self._slurm}/job/{number}", body, params, whose)
        except (Rejected, Unavailable) as error:
            if not is_unknown_job(str(error)):
                raise

    def _asked(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        params: Mapping[str, str] | None = None,
        whose: str = "",
    ) -> Json:
        """Return a response without errors.

        An update may answer 200 and still contain an error.
        """
        return _without_errors(self._send(method, path, body, params, whose))

    def _send(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        params: Mapping[str, str] | None = None,
        whose: str = "",
    ) -> Json:
        user = whose if whose in self._users else self.user
        headers = {
            "X-SLURM-USER-NAME": user,
            "X-SLURM-USER-TOKEN": self._current_token(self._rest_user or user),
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
        path = f"{path}?{urlencode(params)}" if params else path
        status, data = self._wire.send(
            method, path, None if body is None else dumped(body), headers
        )
        # 22.05 only says "Unspecified error"
        if status >= 400 and (ended := ended_at(headers["X-SLURM-USER-TOKEN"])):
            raise Unavailable(
                Message(
                    "The token for slurmrestd ended at {ended} UTC: give a new one (`scontrol "
                    "token`), or the key itself, with which Muster makes its own.",
                    ended=f"{ended:%Y-%m-%d %H:%M}",
                ),
                CREDENTIALS,
            )
        if status in {401, 403}:
            raise Unavailable(
                Message(
                    "slurmrestd rejected the token: it is invalid, expired, or from another "
                    "cluster. Enter the token or the key of this cluster."
                ),
                CREDENTIALS,
            )
        return read(status, data)

    def _current_token(self, user: str) -> str:
        """Return the configured token, or our own, renewed before it expires."""
        if not self._key:
            return self._token
        token, until = self._made.get(user, ("", 0.0))
        if time.time() > until - _EARLY:
            now = int(time.time())
            token, until = signed(self._key.encode(), user, now), now + _LIFE
            self._made[user] = (token, until)
        return token


def _without_errors(answer: Json) -> Json:
    if text := _errors(answer):
        raise failure(text)
    return answer


def _errors(answer: Json) -> str:
    return "; ".join(
        str(one.get("error") or one.get("description") or one) + f" {one.get('description', '')}"
        for one in answer.get("errors") or []
        if one.get("error_number", one.get("errno", 1)) != 0
    )


def _past_row(job: Mapping[str, Any]) -> Row:
    """Convert a job of slurmdb, which names its fields differently."""
    times, exit_code = job.get("time") or {}, job.get("exit_code") or {}
    state = (job.get("state") or {}).get("current", "")
    return rest_row(
        {
            "job_id": job["job_id"],
            "job_state": state if isinstance(state, list) else str(state).split()[:1],
            "name": job.get("name"),
            "start_time": times.get("start"),
            "end_time": times.get("end"),
            "nodes": job.get("nodes"),
            "exit_code": exit_code,
            "account": job.get("account"),
            "partition": job.get("partition"),
            "user_name": job.get("user"),
        }
    )
