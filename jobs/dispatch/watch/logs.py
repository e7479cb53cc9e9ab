"""Move output from the backend to the log store and to live viewers.

The end of the stored log is the only offset. After a crash the pump continues from there, so no
byte is lost or duplicated.
"""

from __future__ import annotations

import logging
import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, cast

from django.db import DatabaseError

from jobs.dispatch.watch.observations import WatchedAttempt
from jobs.models import Attempt
from portal.blobs.logs import FULL, log_store
from portal.core import clock, errors, streams
from schedulers.contract import Backend, Capability, SupportsRelease, Unavailable
from schedulers.states import Reason, State

log = logging.getLogger(__name__)
CHUNK = 1 << 20
PER_TURN = 16 << 20  # bytes per attempt and turn
READERS = 4  # logs of one cluster read in parallel
MOST_TROUBLE = 100_000  # logs whose last error is remembered, to log it once
_trouble: dict[str, str] = {}


def pump(backend: Backend, attempt: Attempt | WatchedAttempt, budget: int = PER_TURN) -> bool:
    """Move available output, at most `budget` bytes; return True at the end of the log.

    An error with one log is logged and retried in the next turn. Only database errors are raised.
    """
    with _log_errors_once(attempt) as done:
        done[0] = _move(backend, attempt, budget)
    return done[0]


def pump_several(
    backend: Backend, attempts: Sequence[Attempt | WatchedAttempt], patience: float
) -> None:
    """Move the logs of several attempts for at most `patience` seconds; `seal` moves the rest."""
    _in_parallel(lambda attempt: pump(backend, attempt), attempts, patience)


def seal(backend: Backend, attempts: Sequence[Attempt]) -> None:
    """Release ended attempts at their backend and seal their logs once everything is stored.

    Releasing deletes the job's secrets. An error with one log is logged and does not affect the
    others. Only database errors are raised.
    """
    whole: set[str] = set()

    def drain(attempt: Attempt) -> None:
        with _log_errors_once(attempt) as done:
            if attempt.native_id and Capability.RELEASE in backend.capabilities:
                cast(SupportsRelease, backend).release(attempt.key)
            done[0] = _drained(backend, attempt)
        if done[0]:
            whole.add(attempt.key)

    _in_parallel(drain, attempts)
    for attempt in attempts:
        if attempt.key in whole:
            with _log_errors_once(attempt):
                _close(attempt)


def _in_parallel(
    call: Callable[[Any], object], attempts: Sequence[Any], patience: float | None = None
) -> None:
    """Call it for each attempt on READERS daemon threads, which touch no database.

    Daemon threads keep a log that never ends from blocking the process.
    """
    todo = deque(attempts)

    def work() -> None:
        while todo:
            try:
                attempt = todo.popleft()
            except IndexError:
                return
            call(attempt)

    threads = [
        threading.Thread(target=work, name="read-log", daemon=True)
        for _ in range(min(READERS, len(todo)))
    ]
    for thread in threads:
        thread.start()
    until = None if patience is None else monotonic() + patience
    for thread in threads:
        thread.join(None if until is None else max(until - monotonic(), 0))
    todo.clear()


def _move(backend: Backend, attempt: Attempt | WatchedAttempt, budget: int) -> bool:
    store, name = log_store(), attempt.id.hex
    end = store.end(name)
    while budget > 0:
        chunk = backend.read_log(attempt.key, end, min(CHUNK, budget))
        if chunk.start > end:  # the backend dropped bytes that were never read
            store.skip(name, end, chunk.start, chunk.why_lost or "no longer kept by the cluster")
        if chunk.uncounted:
            store.note_uncounted(name, chunk.uncounted)
        if not chunk.data:
            return True
        end = store.append(name, chunk.start, chunk.data, chunk.at)
        streams.publish(f"log:{name}", chunk.data, seq=chunk.start, at_ms=chunk.at)
        budget -= len(chunk.data)
    return False


def _close(attempt: Attempt) -> None:
    certificate = log_store().seal(attempt.id.hex, closed_by=closed_by(attempt))
    Attempt.objects.filter(id=attempt.id).update(is_log_sealed=True)
    streams.publish(f"log:{attempt.id.hex}", b"", seq=certificate.bytes, at_ms=clock.now_ms())


@contextmanager
def _log_errors_once(attempt: Attempt | WatchedAttempt) -> Iterator[list[bool]]:
    """Log an error of this attempt's log when it first occurs, not at every poll."""
    try:
        yield [False]
    except DatabaseError:
        raise
    except (Unavailable, errors.Unavailable, OSError) as error:
        if _is_new_error(attempt.key, str(error)):
            log.warning("log of %s: %s", attempt.key, error)
    except Exception as error:
        if _is_new_error(attempt.key, repr(error)):
            log.exception("log of %s", attempt.key)
    else:
        _trouble.pop(attempt.key, None)


def _is_new_error(key: str, text: str) -> bool:
    """Remember the error and return whether it is new."""
    is_news = _trouble.get(key) != text
    if len(_trouble) >= MOST_TROUBLE:
        _trouble.clear()
    _trouble[key] = text
    return is_news


def _drained(backend: Backend, attempt: Attempt) -> bool:
    """Return whether all output is stored, never existed or can no longer be read."""
    if not attempt.native_id and not attempt.started_at:
        return True
    return _move(backend, attempt, 4 * PER_TURN) or _skip_to_end(backend, attempt)


def _skip_to_end(backend: Backend, attempt: Attempt) -> bool:
    """Record the true length of a log beyond the size limit; False if the limit is not reached.

    Nothing past the limit is kept, so bisection over single bytes finds the length: a sparse file
    may have terabytes.
    """
    store, name = log_store(), attempt.id.hex
    end, step = store.end(name), CHUNK
    if end < store.limit:
        return False

    def is_past_end(after: int) -> bool:
        return not backend.read_log(attempt.key, end + after, 1).data

    while not is_past_end(step):
        step *= 2
    store.skip(name, end, end + bisect_left(range(step), True, key=is_past_end), FULL)
    return True


def closed_by(attempt: Attempt) -> str:
    """Return how the log ended: "exit 0", "signal 9" or the reason."""
    if attempt.state == State.SUCCEEDED or (
        attempt.exit_code is not None and attempt.reason == Reason.USER_ERROR
    ):
        return f"exit {attempt.exit_code or 0}"
    if attempt.signal:
        return f"signal {attempt.signal} ({Reason(attempt.reason).value.replace('_', ' ')})"
    return (
        Reason(attempt.reason).value.replace("_", " ")
        if attempt.reason
        else "the end of the attempt"
    )
