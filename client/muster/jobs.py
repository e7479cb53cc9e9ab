"""SDK for jobs."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muster.errors import Json, RateLimited, Unavailable
from muster.following import Follower
from muster.records import Attempt, Job, LogPage

if TYPE_CHECKING:
    from muster.client import Client
    from muster.forwarding import Forwarder
    from muster.shapes.jobs import (
        ComparisonShape,
        EventShape,
        ExecResultShape,
        JobOptionsShape,
        JobOutputShape,
        JobPortShape,
        JobSeriesShape,
        KeptShape,
        LogPartShape,
        PendingShape,
        RehearsalShape,
        ValidationShape,
    )

RESOURCES = {"jobs": "Jobs"}
PAGE = 200
PATIENCE = 900.0  # seconds without an answer before giving up


class Jobs:
    """Jobs of the organization.

    `name` is a job's number (12, "12", "#12") or id. All methods raise MusterError.
    """

    def __init__(self, client: Client):
        self._client = client

    def submit(
        self,
        spec: Mapping[str, Any] | None = None,
        *,
        yaml: str | None = None,
        team: str | None = None,
    ) -> Job:
        """Submit a spec given as a mapping, or as text: YAML or a script with #SBATCH lines.

        The job is stored durably when this returns.
        """
        return Job.of(self._client.send("POST", "jobs", self._body(spec, yaml, team)))

    def rehearse(
        self,
        spec: Mapping[str, Any] | None = None,
        *,
        yaml: str | None = None,
        team: str | None = None,
    ) -> RehearsalShape:
        """Dry run: return the checks and the text that would be submitted; nothing is stored."""
        return self._client.send("POST", "jobs", self._body(spec, yaml, team), {"dry_run": "true"})

    def validate(self, yaml: str) -> ValidationShape:
        """Validate a spec."""
        return self._client.send("POST", "jobs/validate", {"yaml": yaml})

    def list(self, *, most: int | None = None, **filters: str) -> Iterator[Job]:
        """Iterate over jobs, newest first, at most `most`; pages are fetched as needed.

        Filters: state, team, owner, cluster, pool, kind, origin, q, name, label, sort.
        """
        limit = PAGE if most is None else min(most, PAGE)
        return map(Job.of, self._client.items("jobs", most, limit=limit, **filters))

    def get(self, name: str | int, *, advice: bool = False) -> Job:
        """Return a job with its spec and attempts.

        `advice`: `raw` also says when it is expected to start, and what would help.
        """
        return Job.of(self._client.get(self._path(name), **({"advice": "true"} if advice else {})))

    def cancel(self, name: str | int, why: str = "") -> Job:
        """Cancel a job. Idempotent."""
        return self._act(name, "cancel", {"why": why})

    def keep(self, name: str | int, hours: float) -> KeptShape:
        """Keep a job that a rule for idle GPUs would stop, for that many hours."""
        return self._client.send("POST", self._path(name, "keep"), {"hours": hours})

    def hold(self, name: str | int) -> Job:
        return self._act(name, "hold")

    def release(self, name: str | int) -> Job:
        return self._act(name, "release")

    def rerun(
        self,
        name: str | int,
        spec: Mapping[str, Any] | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
    ) -> Job:
        """Submit a copy of a job, optionally with another spec.

        `overrides` changes single fields instead: {"envs.LR": "3e-4"}; None removes a field.
        """
        body = {"spec": dict(spec)} if spec is not None else None
        return self._act(name, "rerun", {"overrides": dict(overrides)} if overrides else body)

    def options(self, team: str | None = None) -> JobOptionsShape:
        """Return what a job of the team may use: GPU types with free counts, pools, secrets."""
        return self._client.get("jobs/options", team=team)

    def change(self, name: str | int, **fields: Any) -> Job:
        """Change `name` or `labels`; `priority` only while the job is queued."""
        return Job.of(self._client.send("PATCH", self._path(name), fields))

    def attempts(self, name: str | int, index: int = 0) -> builtins.list[Attempt]:
        """Return the attempts of one task, oldest first."""
        rows = self._client.get(
            self._path(name, "attempts"), limit=200, after=index - 1 if index else None
        )["items"]
        return [Attempt.of(row) for row in rows if row["index"] == index]

    def events(self, name: str | int) -> Iterator[EventShape]:
        """Iterate over the job's events, oldest first."""
        return self._client.items(self._path(name, "events"), cursor_name="after")

    def outputs(self, name: str | int) -> builtins.list[JobOutputShape]:
        """Return the outputs of a job with the versions that it has made, the last one first."""
        items: builtins.list[JobOutputShape] = self._client.get(self._path(name, "outputs"))[
            "items"
        ]
        return items

    def pending(self, name: str | int) -> PendingShape | None:
        """Return why a job is pending, or None if it is not."""
        found: PendingShape | None = self._client.get(self._path(name, "pending"))["pending"]
        return found

    def metrics(self, name: str | int, **query: Any) -> JobSeriesShape:
        """Return metrics. Query: names, start and end (Unix ms), max_points, index, attempt."""
        found: JobSeriesShape = self._client.get(self._path(name, "metrics"), **query)
        return found

    def compare(self, names: Sequence[str | int]) -> ComparisonShape:
        """Compare 2 to 10 jobs: runs, differences of their configuration, metrics and best jobs."""
        jobs = ",".join(str(name).removeprefix("#") for name in names)
        found: ComparisonShape = self._client.get("jobs/compare", jobs=jobs)
        return found

    def exec(
        self, name: str | int, argv: Sequence[str], *, timeout: float = 30, index: int = 0
    ) -> ExecResultShape:
        """Run a command in a running job.

        Not retried, because the command may not be repeatable. `timeout` is in seconds.
        """
        body = {"argv": list(argv), "timeout": timeout, "index": index}
        answer: ExecResultShape = self._client.request(
            "POST",
            self._client.within(self._path(name, "exec")),
            body=body,
            timeout=timeout + 15,
            is_repeatable=False,
        ).json()
        return answer

    def forwarder(
        self, port: JobPortShape, warn: Callable[[str], None] = lambda _text: None
    ) -> Forwarder:
        """Return what forwards local connections to a port, an entry of `ports` of a job."""
        from muster.forwarding import Forwarder

        return Forwarder(port["program_url"], self._client.settings.token, warn)

    def read_log(
        self,
        name: str | int,
        after: int = 0,
        limit: int = 1 << 20,
        *,
        index: int = 0,
        attempt: int | None = None,
    ) -> LogPage:
        """Return at most `limit` bytes of the log from byte `after`."""
        query = {"after": after, "limit": limit, "index": index, "attempt": attempt}
        answer = self._client.request(
            "GET", self._client.within(self._path(name, "logs")), query=query
        )
        data, start = answer.content, int(answer.headers.get("X-Log-Start", after))
        is_all = int(answer.headers.get("X-Log-End", 0)) <= start + len(data)
        return LogPage(
            data,
            start,
            start + len(data),
            answer.headers.get("X-Log-Complete") == "true" and is_all,
        )

    def logs(
        self, name: str | int, *, after: int = 0, index: int = 0, attempt: int | None = None
    ) -> Iterator[bytes]:
        """Iterate over the log stored so far."""
        while (page := self.read_log(name, after, 4 << 20, index=index, attempt=attempt)).data:
            yield page.data
            after = page.end

    def log_page(self, name: str | int, **query: Any) -> LogPartShape:
        """Return one page of the log as JSON, with the times of its bytes."""
        return self._client.get(self._path(name, "logs"), format="json", **query)

    def delete_logs(self, name: str | int) -> Job:
        """Delete an ended job's logs permanently, for all tasks and attempts. Idempotent."""
        return Job.of(self._client.send("DELETE", self._path(name, "logs")))

    def follow(
        self, name: str | int, *, after: int = 0, index: int = 0, attempt: int | None = None
    ) -> Iterator[bytes]:
        """Iterate over the log until the job ends, byte for byte across lost connections.

        Continues into later attempts unless `attempt` is given.
        """
        for piece in Follower(self, str(name), index=index, attempt=attempt, offset=after).pieces():
            if piece.data:
                yield piece.data

    def certificate(
        self, name: str | int, *, index: int = 0, attempt: int | None = None
    ) -> Json | None:
        """Return the log's certificate of completeness, or None while the log grows."""
        path = self._path(name, "logs/certificate")
        found: Json | None = self._client.get(path, index=index, attempt=attempt)["certificate"]
        return found

    def wait(
        self,
        name: str | int,
        *,
        timeout: float | None = None,
        on_poll: Callable[[Job], None] | None = None,
    ) -> Job:
        """Wait for a job to end and return it, tolerating outages of the portal.

        `on_poll` is called with the job after each poll. Raises TimeoutError after `timeout`
        seconds.
        """
        started, lost_at, every = time.monotonic(), 0.0, 0.2
        while True:
            now = time.monotonic()
            try:
                job, lost_at = self.get(name), 0.0
            except (Unavailable, RateLimited):
                lost_at = lost_at or now
                if now - lost_at > PATIENCE:
                    raise
                job = None
            if job is not None and on_poll:
                on_poll(job)
            if job is not None and job.is_final:
                return job
            if timeout is not None and now - started > timeout:
                raise TimeoutError(f"Job {name} did not end within {timeout:g} s.")
            time.sleep(every)
            every = min(every * 1.3, 2.0)

    def _act(self, name: str | int, verb: str, body: Json | None = None) -> Job:
        return Job.of(self._client.send("POST", self._path(name, verb), body))

    def _path(self, name: str | int, *rest: str) -> str:
        from urllib.parse import quote

        return "/".join(["jobs", quote(str(name).removeprefix("#"), safe=""), *rest])

    def _body(self, spec: Mapping[str, Any] | None, yaml: str | None, team: str | None) -> Json:
        if (spec is None) == (yaml is None):
            raise TypeError("give either `spec` or `yaml`")
        team = team or self._client.team
        return {
            **({"yaml": yaml} if yaml is not None else {"spec": dict(spec or {})}),
            **({"team": team} if team else {}),
        }
