"""Send batches to the portal, in order and with retries, in a thread separate from collection."""

from __future__ import annotations

import http.client
import json
import logging
import random
import threading
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from muster_agent.config import Config
from muster_agent.sample import Json
from muster_agent.spool import Queue
from muster_agent.version import VERSION

log = logging.getLogger("muster.agent")
PATH = "/api/v1/agent/samples"
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # backoff in seconds while the portal is unavailable
CATCH_UP = (
    2.0  # seconds at most before the next batch once the portal is back: all agents have some
)
CLOCK_TOLERANCE = 2.0  # seconds; the Date header has no fractions
QUICK = 1.0  # seconds; slower answers are too imprecise for clock skew
NEEDS_HAND = {
    301: "the portal has moved: correct the agent's url",
    302: "the portal redirects: correct the agent's url",
    307: "the portal redirects: correct the agent's url",
    308: "the portal has moved: correct the agent's url",
    401: (
        "the portal does not know this agent's token (401): give it a new one, of scope agent:write"
    ),
    403: (
        "the portal does not let this token write samples of this node (403): it needs the scope "
        "agent:write, and to be of the node's cluster if it is limited to one"
    ),
    404: "no portal at this address (404): correct the agent's url",
}


@dataclass(frozen=True)
class SendResult:
    """Result of sending one batch.

    `is_done`: accepted, or permanently rejected. Otherwise retry after `wait` seconds, or after
    the usual backoff.
    """

    is_done: bool
    note: str = ""
    wait: float | None = None


class BatchSender(threading.Thread):
    """Send batches from the spool.

    `note` describes the current problem; `skew` is how far the portal's clock is ahead, in
    seconds, None before its first answer. An answer of the portal may contain work, see
    `take_work`; `is_watched` is whether somebody looked at this machine then.
    """

    def __init__(self, config: Config, spool: Queue):
        super().__init__(name="agent-sender", daemon=True)
        self._config, self._spool, self._target = config, spool, PortalConnection(config)
        self._wake, self._halt = threading.Event(), threading.Event()
        self._wake.set()  # batches of a previous run may be waiting
        self.note, self.refused = "", 0
        self.skew: float | None = None
        self.is_watched = False
        self._work: Json | None = None

    def offer(self, body: Json) -> None:
        """Queue a batch; on a full disk, drop it and set the note. Never raises or blocks."""
        try:
            self._spool.append(json.dumps(body, separators=(",", ":")).encode())
        except OSError as error:
            self._tell(f"batches are lost: the spool cannot be written ({error.strerror})")
        self._wake.set()

    @property
    def has_work(self) -> bool:
        return self._work is not None

    def take_work(self) -> Json | None:
        """Return what the portal asked for in its last answer, once; see `mig.carry_out`."""
        work, self._work = self._work, None
        return work

    def notes(self) -> list[str]:
        found = [self.note] if self.note else []
        if self.skew is not None and abs(self.skew) > CLOCK_TOLERANCE:
            side = "behind" if self.skew > 0 else "ahead of"
            found.append(f"this machine's clock is {abs(self.skew):.0f} s {side} the portal's")
        if self._spool.dropped:
            found.append(f"{self._spool.dropped} batches were dropped: the spool is full")
        return found

    def halt(self, patience: float = 2.0) -> None:
        """Stop the thread. Unsent batches stay in the spool."""
        self._halt.set()
        self._wake.set()
        if self.is_alive():
            self.join(patience)

    def run(self) -> None:
        wait = FIRST_WAIT
        while not self._halt.is_set():
            self._wake.wait()
            self._wake.clear()
            while not self._halt.is_set() and (waiting := self._spool.peek()):
                answer = self._bring(waiting.data)
                if answer.is_done:
                    self._spool.advance(waiting)
                    if wait > FIRST_WAIT:
                        self._halt.wait(random.uniform(0, CATCH_UP))
                    wait = FIRST_WAIT
                    continue
                pause = answer.wait if answer.wait is not None else wait * random.uniform(0.5, 1.0)
                self._halt.wait(pause)
                wait = min(2 * wait, LONGEST_WAIT)
        self._target.close()

    def _bring(self, data: bytes) -> SendResult:
        try:
            began = time.time()
            status, headers, text = self._target.post(data)
            self._compare_clocks(began, time.time(), headers)
            if status // 100 == 2:
                found = parsed(text)
                self.is_watched = found.get("watched") is True
                if self._config.allow_mig:
                    self._work = work_in(found) or self._work
            answer = self._judge(status, headers, text)
        except Exception as error:  # no network, no token file, invalid answer: retry
            answer = SendResult(
                False, f"the portal does not answer: {type(error).__name__}: {error}".rstrip(": ")
            )
        self._tell(answer.note)
        return answer

    def _judge(self, status: int, headers: http.client.HTTPMessage, text: str) -> SendResult:
        if 200 <= status < 300 or status == 409:  # 409: this batch id was accepted before
            return SendResult(True)
        if status in NEEDS_HAND:
            return SendResult(False, NEEDS_HAND[status], LONGEST_WAIT * random.uniform(0.5, 1.0))
        if status == 429 or status >= 500:
            after = headers.get("Retry-After", "")
            # Not all agents at the same moment
            wait = float(after) * random.uniform(1.0, 1.5) if after.isdigit() else None
            return SendResult(False, f"the portal answers {status}: {text[:200]}", wait)
        self.refused += 1  # permanent rejection: drop it, or it would block later batches
        return SendResult(True, f"the portal refused a batch ({status}): {text[:200]}")

    def _compare_clocks(
        self, sent: float, received: float, headers: http.client.HTTPMessage
    ) -> None:
        if received - sent <= QUICK and (date := headers.get("Date")):
            self.skew = parsedate_to_datetime(date).timestamp() + 0.5 - (sent + received) / 2

    def _tell(self, note: str) -> None:
        if note != self.note:
            log.warning("%s", note) if note else log.info("the portal accepts batches again")
        self.note = note


def parsed(answer: str) -> Json:
    """Return an answer of the portal, empty if it is malformed."""
    try:
        found = json.loads(answer)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def work_in(answer: Json) -> Json | None:
    """Return the work in an answer of the portal, if it is well formed."""
    work = answer.get("work")
    is_work = isinstance(work, dict) and isinstance(work.get("gpus"), list) and work.get("id")
    return work if is_work else None


class PortalConnection:
    """One keep-alive connection to the portal."""

    def __init__(self, config: Config):
        self._config, self._url = config, urlsplit(config.url)
        self._connection: http.client.HTTPConnection | None = None

    def post(self, data: bytes) -> tuple[int, http.client.HTTPMessage, str]:
        """Send a batch; return status, headers and the beginning of the body.

        Raises OSError and http.client.HTTPException.
        """
        try:
            if self._connection is not None:
                try:
                    return self._post(self._connection, data)
                except (ConnectionError, http.client.BadStatusLine):
                    self.close()  # the portal closed an idle connection; retry once
            self._connection = self._connect()
            return self._post(self._connection, data)
        except BaseException:
            self.close()  # after a timeout, a connection takes no further request
            raise

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _connect(self) -> http.client.HTTPConnection:
        kind = (
            http.client.HTTPSConnection
            if self._url.scheme == "https"
            else http.client.HTTPConnection
        )
        return kind(self._url.hostname or "", self._url.port, timeout=self._config.timeout)

    def _post(
        self, connection: http.client.HTTPConnection, data: bytes
    ) -> tuple[int, http.client.HTTPMessage, str]:
        connection.request(
            "POST",
            self._url.path.rstrip("/") + PATH,
            body=data,
            headers={
                "Authorization": f"Bearer {self._config.bearer()}",
                "Content-Type": "application/json",
                "User-Agent": f"muster-agent/{VERSION}",
                "Muster-Sent": str(int(time.time() * 1000)),  # tells the portal of a wrong clock
            },
        )
        response = connection.getresponse()
        text = response.read(1 << 16).decode(errors="replace")
        if response.will_close or not response.isclosed():
            self.close()
        return response.status, response.headers, text
