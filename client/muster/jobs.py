"""Jobs of the organization, from Python."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muster.errors import Json, RateLimited, Unavailable
from muster.records import Attempt, Job, LogPage

if TYPE_CHECKING:
    from muster.client import Client

PAGE = 200
PATIENCE = 900.0  # seconds without an answer before waiting gives up


class Jobs:
    """`name` of a job is its number (12, "12", "#12") or its id. Every method raises MusterError."""

    def __init__(self, client: Client):
        self._client = client

    def submit(
        self,
        spec: Mapping[str, Any] | None = None,
        *,
        yaml: str | None = None,
        team: str | None = None,
    ) -> Job:
        """A spec as a mapping, or the text of one: YAML, or a script with #SBATCH lines. Accepted means kept."""
        return Job.of(self._client.send("POST", "jobs", self._body(spec, yaml, team)))

    def rehearse(
        self,
        spec: Mapping[str, Any] | None = None,
        *,
        yaml: str | None = None,
        team: str | None = None,
    ) -> Json:
        """What a submission would be asked, and the very text that would be sent; nothing is written."""
        return self._client.send("POST", "jobs", self._body(spec, yaml, team), {"dry_run": "true"})

    def validate(self, yaml: str) -> Json:
        """{"ok", "errors": [{"field", "message", "line"}], "spec", …} of a text, however wrong."""
        return self._client.send("POST", "jobs/validate", {"yaml": yaml})

    def list(self, *, most: int | None = None, **filters: str) -> Iterator[Job]:
        """Newest first, page by page as they are asked for. Filters: state, team, owner, cluster, pool, q, name, label, sort."""
        limit = PAGE if most is None else min(most, PAGE)
        return map(Job.of, self._client.items("jobs", most, limit=limit, **filters))

    def get(self, name: str | int) -> Job:
        """With its spec and attempts."""
        return Job.of(self._client.get(self._path(name)))

    def cancel(self, name: str | int, why: str = "") -> Job:
        """Stop it. Repeating it is no error."""
        return self._act(name, "cancel", {"why": why})

    def hold(self, name: str | int) -> Job:
        return self._act(name, "hold")

    def release(self, name: str | int) -> Job:
        return self._act(name, "release")

    def rerun(self, name: str | int, spec: Mapping[str, Any] | None = None) -> Job:
        """Submit the same again, or with another spec as its successor."""
        return self._act(name, "rerun", {"spec": dict(spec)} if spec is not None else None)

    def change(self, name: str | int, **fields: Any) -> Job:
        """name and labels at any time, priority while it waits."""
        return Job.of(self._client.send("PATCH", self._path(name), fields))

    def attempts(self, name: str | int, index: int = 0) -> builtins.list[Attempt]:
        """The tries of one task, first to last."""
        rows = self._client.get(
            self._path(name, "attempts"), limit=200, after=index - 1 if index else None
        )["items"]
        return [Attempt.of(row) for row in rows if row["index"] == index]

    def events(self, name: str | int) -> Iterator[Json]:
        """What happened to it, oldest first."""
        return self._client.items(self._path(name, "events"), cursor_name="after")

    def pending(self, name: str | int) -> Json | None:
        """Why it waits: text, numbers, holders, the smallest change, history. None when it does not."""
        told = self._client.get(self._path(name, "pending"))
        return told["pending"]

    def metrics(self, name: str | int, **query: Any) -> Json:
        """Curves; `names`, `start` and `end` (Unix ms), `max_points`, `index`, `attempt`."""
        return self._client.get(self._path(name, "metrics"), **query)

    def exec(
        self, name: str | int, argv: Sequence[str], *, timeout: float = 30, index: int = 0
    ) -> Json:
        """Run a command beside the running job: {"exit_code", "output"}. Sent once: it may not be repeatable."""
        body = {"argv": list(argv), "timeout": timeout, "index": index}
        answer: Json = self._client.request(
            "POST",
            self._client.within(self._path(name, "exec")),
            body=body,
            timeout=timeout + 15,
            is_repeatable=False,
        ).json()
        return answer

    def read_log(
        self,
        name: str | int,
        after: int = 0,
        limit: int = 1 << 20,
        *,
        index: int = 0,
        attempt: int | None = None,
    ) -> LogPage:
        """Bytes from an offset on; may be fewer than there are."""
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
        """What is stored now, piece by piece."""
        while (page := self.read_log(name, after, 4 << 20, index=index, attempt=attempt)).data:
            yield page.data
            after = page.end

    def log_page(self, name: str | int, **query: Any) -> Json:
        """One page as JSON, with the times at which bytes came."""
        return self._client.get(self._path(name, "logs"), format="json", **query)

    def delete_logs(self, name: str | int) -> Job:
        """Delete all that an ended job wrote, of every task and try, for good. Repeating it is no error."""
        return Job.of(self._client.send("DELETE", self._path(name, "logs")))

    def follow(
        self, name: str | int, *, after: int = 0, index: int = 0, attempt: int | None = None
    ) -> Iterator[bytes]:
        """The log as it grows, to its end, byte for byte whatever happens to the connection; into later attempts unless one
        is named."""
        from muster.following import Follower

        for piece in Follower(self, str(name), index=index, attempt=attempt, offset=after).pieces():
            if piece.data:
                yield piece.data

    def certificate(
        self, name: str | int, *, index: int = 0, attempt: int | None = None
    ) -> Json | None:
        """How whole the log is; None while it grows."""
        told = self._client.get(self._path(name, "logs/certificate"), index=index, attempt=attempt)
        return told["certificate"]

    def wait(
        self,
        name: str | int,
        *,
        timeout: float | None = None,
        on_look: Callable[[Job], None] | None = None,
    ) -> Job:
        """The job once it has ended; the portal may be away for a while. Raises TimeoutError after `timeout` seconds."""
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
            if job is not None and on_look:
                on_look(job)
            if job is not None and job.is_final:
                return job
            if timeout is not None and now - started > timeout:
                raise TimeoutError(f"job {name} has not ended after {timeout:g} s")
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
