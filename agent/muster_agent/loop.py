"""The agent's main loop: collect, send, wait; at shorter intervals while a job runs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from muster_agent.collector import Collector
from muster_agent.columns import combined
from muster_agent.config import Config
from muster_agent.sample import Json
from muster_agent.sender import BatchSender
from muster_agent.spool import MemorySpool, Queue, Spool

log = logging.getLogger("muster.agent")
MEMORY_SPOOL = 8 << 20  # bytes, compressed: a day and a half of an idle machine
WATCHED_BATCH = 5.0  # seconds
Sink = Callable[[Json], object]


class Agent:
    """Collect batches until stopped.

    With a `sink`, every batch is passed to it in this process (embedded mode); otherwise a thread
    sends it to `config.url`. `run()` blocks; `start()` runs the loop in a thread. Raises SpoolBusy,
    and OSError if the spool cannot be opened.
    """

    def __init__(
        self,
        config: Config,
        sink: Sink | None = None,
        *,
        stop: threading.Event | None = None,
        collector: Collector | None = None,
    ):
        self.config, self.collector = config, collector or Collector(config)
        self._halt = stop or threading.Event()
        self._sender = None if sink else BatchSender(config, open_spool(config))
        self._sink: Sink = sink or self._sender.offer  # type: ignore[union-attr]
        self._thread: threading.Thread | None = None
        self.last: Json | None = None  # latest batch, for the Prometheus endpoint
        self.last_at = 0.0  # monotonic
        self._trouble = ""
        self._gathered: list[Json] = []  # batches that are sent as one
        self._gathered_since = 0.0  # monotonic

    def facts(self) -> Json:
        """Return `Collector.facts`, which includes GPUs after the first batch."""
        return self.collector.facts()

    def start(self) -> None:
        self._thread = threading.Thread(target=self.run, name="agent", daemon=True)
        self._thread.start()

    def stop(self, patience: float = 5.0) -> None:
        self._halt.set()
        if self._thread is not None:
            self._thread.join(patience)

    def run(self) -> None:
        if self._sender is not None:
            self._sender.start()
        while not self._halt.is_set():
            began = time.monotonic()
            self.tick()
            self._wait(began)
        if self._sender is not None:
            self._sender.halt()

    def tick(self) -> None:
        """Collect and hand over one batch. Never raises: if the sink fails, the batch is lost.

        Work of the portal comes first, so that the batch has its report.
        """
        if self._sender is not None and (work := self._sender.take_work()):
            self.collector.partition(work)
        body = self.collector.collect()
        if self._sender is not None:
            self._add_courier_facts(body, self._sender)
        self.last, self.last_at = body, time.monotonic()
        if self.config.batch and not self._is_due(body):
            return
        gathered, self._gathered = self._gathered, []
        try:
            self._sink(combined(gathered) if gathered else body)
            self._trouble = ""
        except Exception as error:
            if self._trouble != (text := repr(error)):  # log once, not in every cycle
                log.exception("cannot hand over the batch")
            self._trouble = text

    def _is_due(self, body: Json) -> bool:
        """Gather a batch; return whether it is time to send. An event is sent at once.

        While somebody looks at this machine, batches are short.
        """
        if not self._gathered:
            self._gathered_since = time.monotonic()
        self._gathered.append(body)
        elapsed = time.monotonic() - self._gathered_since
        is_watched = self._sender is not None and self._sender.is_watched
        most = min(self.config.batch, WATCHED_BATCH) if is_watched else self.config.batch
        return elapsed >= most - 0.5 or bool(body["events"])

    @staticmethod
    def _add_courier_facts(body: Json, sender: BatchSender) -> None:
        facts = body["facts"]
        facts["note"] = "; ".join(filter(None, (facts["note"], *sender.notes())))
        facts["clock_skew"] = None if sender.skew is None else round(sender.skew, 1)

    def _wait(self, began: float) -> None:
        """Wait until the next cycle is due, or until a job starts."""
        is_busy = self.collector.has_running()
        due = began + (self.config.busy_interval if is_busy else self.config.idle_interval)
        while (left := due - time.monotonic()) > 0:
            if self._halt.wait(min(left, self.config.busy_interval)):
                return
            if not is_busy and self.collector.has_running():
                return
            if self._sender is not None and self._sender.has_work:
                return


def open_spool(config: Config) -> Queue:
    if config.spool_dir is None:
        return MemorySpool(min(config.spool_bytes, MEMORY_SPOOL))
    return Spool(config.spool_dir, config.spool_bytes)
