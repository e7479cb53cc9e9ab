"""From the backend's output to the log store, and to whoever watches. The store's end is the only offset: after any crash the
pump goes on from there, so no byte is lost or doubled."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from jobs.backends.base import Backend, Unavailable
from jobs.models import Attempt
from jobs.states import Reason, State
from jobs.watch.observe import Watched
from portal.blobs.logs import log_store
from portal.core import clock, errors, streams

log = logging.getLogger(__name__)
CHUNK = 1 << 20
PER_TURN = 16 << 20       # bytes of one attempt before the next gets its turn


def pump(backend: Backend, attempt: Attempt | Watched, budget: int = PER_TURN) -> bool:
    """Move what there is, at most `budget` bytes; True when the end was reached. Raises nothing: trouble is logged, and the
    next turn tries again."""
    store = log_store()
    name = attempt.id.hex
    try:
        end = store.end(name)
        while budget > 0:
            chunk = backend.read_log(attempt.key, end, min(CHUNK, budget))
            if chunk.start > end:                       # the backend has dropped bytes that we never saw
                store.skip(name, end, chunk.start, "no longer kept by the cluster")
            if not chunk.data:
                return True
            end = store.append(name, chunk.start, chunk.data, chunk.at)
            streams.publish(f"log:{name}", chunk.data, seq=chunk.start, at_ms=chunk.at)
            budget -= len(chunk.data)
    except (Unavailable, errors.Unavailable, OSError) as error:
        log.warning("log of %s: %s", attempt.key, error)
    return False


def seal(backend: Backend, attempts: Sequence[Attempt]) -> None:
    """Close the logs of ended attempts with their certificates, once everything is stored."""
    for attempt in attempts:
        if not _drained(backend, attempt):
            continue
        store = log_store()
        certificate = store.certificate(attempt.id.hex) or store.seal(attempt.id.hex, closed_by=closed_by(attempt))
        Attempt.objects.filter(id=attempt.id).update(is_log_sealed=True)
        streams.publish(f"log:{attempt.id.hex}", b"", seq=certificate.bytes, at_ms=clock.now_ms())


def _drained(backend: Backend, attempt: Attempt) -> bool:
    """All output is stored; or the backend never had any, or cannot be asked for it any more."""
    return (not attempt.native_id and not attempt.started_at) or pump(backend, attempt, 4 * PER_TURN)


def closed_by(attempt: Attempt) -> str:
    """What ended the log: "exit 0", "signal 9", or the reason."""
    if attempt.state == State.SUCCEEDED or (attempt.exit_code is not None and attempt.reason == Reason.USER_ERROR):
        return f"exit {attempt.exit_code or 0}"
    if attempt.signal:
        return f"signal {attempt.signal} ({Reason(attempt.reason).value.replace('_', ' ')})"
    return Reason(attempt.reason).value.replace("_", " ") if attempt.reason else "the end of the attempt"
