"""The REST API as Python objects. Every change carries an Idempotency-Key, so a request that is tried again counts once."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import httpx

from muster import settings

Json = dict[str, Any]
TRIES = 5
_AGAIN = {408, 429, 502, 503, 504}


class MusterError(Exception):
    """What the portal answered: `code` for programs, the message for people, `errors` per field."""

    def __init__(self, message: str, *, code: str = "error", status: int = 0, errors: list[Json] | None = None, body: Json | None = None):
        super().__init__(message)
        self.message, self.code, self.status = message, code, status
        self.errors, self.body = errors or [], body or {"code": code, "detail": message, "status": status}


class Client:
    """`url`, `token`, `org` and `team` default to MUSTER_URL … MUSTER_TEAM, then to what `muster login` kept.
    Raises MusterError from every call."""

    def __init__(self, url: str | None = None, token: str | None = None, org: str | None = None, team: str | None = None,
                 timeout: float = 30):
        self.settings = settings.load(url=url, token=token, org=org, team=team)
        if not self.settings.url:
            raise MusterError("Which portal? Run `muster login URL`, or set MUSTER_URL.", code="no_url")
        head = {"Authorization": f"Bearer {self.settings.token}"} if self.settings.token else {}
        self._http = httpx.Client(base_url=f"{self.settings.url}/api/v1/", headers=head | {"User-Agent": "muster/0.1"}, timeout=timeout)

    @cached_property
    def org(self) -> str:
        """The organization to work in: the one set, else the only one there is."""
        if self.settings.org:
            return self.settings.org
        mine = [org["slug"] for org in self.me()["orgs"]]
        if len(mine) == 1:
            return str(mine[0])
        raise MusterError(f"Which organization? Set MUSTER_ORG or --org to one of: {', '.join(mine) or 'none yet'}.", code="no_org")

    @property
    def jobs(self) -> Jobs:
        return Jobs(self)

    def me(self) -> Json:
        """Who one is."""
        return self.request("GET", "me").json()

    def get(self, path: str, **query: Any) -> Json:
        """Below the organization."""
        return self.request("GET", f"orgs/{self.org}/{path}", params=_set(query)).json()

    def send(self, method: str, path: str, body: Json | None = None, **query: Any) -> Json:
        """A change below the organization; {} where the answer is empty."""
        answer = self.request(method, f"orgs/{self.org}/{path}", json=body if body is not None else {}, params=_set(query))
        return answer.json() if answer.content else {}

    def items(self, path: str, most: int | None = None, **query: Any) -> Iterator[Json]:
        """All items of a list, page by page."""
        cursor, count = "", 0
        while True:
            page = self.get(path, **query, cursor=cursor)
            for item in page["items"]:
                yield item
                count += 1
                if most is not None and count >= most:
                    return
            cursor = page.get("next") or ""
            if not cursor:
                return

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One call, tried again while the portal is away or asks to wait."""
        headers = {"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}
        for attempt in range(TRIES):
            last = attempt == TRIES - 1
            try:
                answer = self._http.request(method, path, headers=headers, **options)
            except httpx.TransportError as error:
                if last:
                    raise MusterError(f"{self.settings.url} does not answer: {error}. Is the portal running?", code="unavailable", status=503) from error
                time.sleep(_pause(attempt))
                continue
            if answer.status_code not in _AGAIN or last:
                break
            time.sleep(_pause(attempt, answer.headers.get("Retry-After")))
        if answer.is_error:
            raise _error(answer)
        return answer


class Jobs:
    """Jobs of the organization. `name` is a number ("12") or an id."""

    def __init__(self, client: Client):
        self._client = client

    def submit(self, *, spec: Mapping[str, Any] | None = None, yaml: str | None = None, team: str | None = None) -> Json:
        """Accepted means kept."""
        return self._client.send("POST", "jobs", self._body(spec, yaml, team))

    def rehearse(self, *, spec: Mapping[str, Any] | None = None, yaml: str | None = None, team: str | None = None) -> Json:
        """What a submission would be asked, and what would be sent; nothing is written."""
        return self._client.send("POST", "jobs", self._body(spec, yaml, team), dry_run="true")

    def list(self, most: int | None = None, **filters: str) -> Iterator[Json]:
        return self._client.items("jobs", most, limit=min(most or 200, 200), **filters)

    def get(self, name: str) -> Json:
        return self._client.get(f"jobs/{name}")

    def act(self, name: str, verb: str, body: Json | None = None) -> Json:
        """cancel, hold, release or rerun."""
        return self._client.send("POST", f"jobs/{name}/{verb}", body)

    def log(self, name: str, after: int = 0, limit: int = 1 << 20, *, index: int = 0, attempt: int | None = None) -> tuple[bytes, int, bool]:
        """Bytes from an offset, where to go on, and whether nothing will follow."""
        answer = self._client.request("GET", f"orgs/{self._client.org}/jobs/{name}/logs",
                                      params=_set({"after": after, "limit": limit, "index": index, "attempt": attempt}))
        return answer.content, int(answer.headers["X-Log-End"]), answer.headers["X-Log-Complete"] == "true"

    def follow(self, name: str, after: int = 0, *, index: int = 0, attempt: int | None = None) -> Iterator[bytes]:
        """The log as it grows, to its end; by offset, so that no loss of connection makes a gap or a double."""
        pause = 0.1
        while True:
            data, after, is_over = self.log(name, after, index=index, attempt=attempt)
            if data:
                yield data
                pause = 0.1
            elif is_over:
                return
            else:
                time.sleep(pause)
                pause = min(pause * 1.5, 1.0)

    def wait(self, name: str, every: float = 1.0) -> Json:
        """The job once it has ended."""
        while True:
            job = self.get(name)
            if job["state"] in {"succeeded", "failed", "canceled"}:
                return job
            time.sleep(every)

    def _body(self, spec: Mapping[str, Any] | None, yaml: str | None, team: str | None) -> Json:
        team = team or self._client.settings.team
        return {**({"yaml": yaml} if yaml is not None else {"spec": dict(spec or {})}), **({"team": team} if team else {})}


def exit_code(job: Json) -> int:
    """The job's own exit code; 130 when canceled, 124 at the time limit, 75 where the platform failed."""
    if job["state"] == "succeeded":
        return 0
    reason = job.get("reason") or {}
    if job["state"] == "canceled":
        return 130
    if reason.get("code") == "time_limit":
        return 124
    code = job.get("exit_code")
    if code:
        return int(code)
    return 75 if reason.get("fault") == "platform" else 137 if reason.get("code") in {"out_of_memory", "killed_by_signal"} else 1


def _set(query: Mapping[str, Any]) -> Json:
    return {name: value for name, value in query.items() if value not in (None, "")}


def _pause(attempt: int, asked: str | None = None) -> float:
    if asked and asked.isdigit():
        return min(float(asked), 60)
    return float(0.3 * 2**attempt * random.uniform(0.7, 1.3))  # noqa: S311  jitter


def _error(answer: httpx.Response) -> MusterError:
    try:
        body = answer.json()
        return MusterError(body["detail"], code=body["code"], status=answer.status_code, errors=body.get("errors"), body=body)
    except (ValueError, KeyError, TypeError):
        return MusterError(f"The portal answered {answer.status_code}: {answer.text[:200]}", status=answer.status_code)
