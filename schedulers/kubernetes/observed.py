"""Observe our attempts: mirrors serve polls of all, direct requests serve single ones."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Observation, PendingReason, Poll, Unavailable
from schedulers.kubernetes import names, states
from schedulers.kubernetes.client import ApiError, Client, segment
from schedulers.kubernetes.failure_logs import LogTailReader, NotRead
from schedulers.kubernetes.list_watch import Mirror
from schedulers.kubernetes.queues import Queues
from schedulers.states import Reason, Wait

log = logging.getLogger(__name__)
Object = dict[str, Any]
JOBS, PODS = "/apis/batch/v1/jobs", "/api/v1/pods"
SYNC = 5.0  # seconds that the first poll may wait for the mirrors
SILENT = 5.0  # seconds of silence of the watch after which the server is pinged
CHUNK = 50  # keys in one request
EVENTS_FOR, EVENTS_AT_ONCE = 15.0, 10
# seconds that a poll waits for the log tails of failed pods; later polls report the rest
TAILS_FOR = 1.0
YOUNG = 3.0  # seconds in which a Job may still be without pods
ENDED = 20_000  # number of ends to remember, so that they are reported consistently


class JobObserver:
    """Observes attempts. Its threads start with the first poll and end with `stop`."""

    def __init__(self, wire: Client, prefix: str, limits: states.StartTimeouts):
        ours = f"{names.MANAGED}={names.MUSTER},{names.PORTAL}={prefix}"
        self._wire, self._limits, self._ours = wire, limits, ours
        self.queues = Queues(wire)
        self._jobs, self._pods = (
            Mirror(wire, JOBS, ours),
            Mirror(wire, PODS, ours, keeps_ended=True),
        )
        # The threads hold the mirrors only: they end with a backend that nobody uses any more, such
        # as that of an earlier configuration.
        for mirror in (self._jobs, self._pods):
            weakref.finalize(self, mirror.stop)
        self._is_on = False
        self._lock = threading.Lock()
        self._ends: OrderedDict[str, Observation] = OrderedDict()
        self._tails = LogTailReader()
        self._refusals: dict[str, tuple[float, str]] = {}
        self._asked_at = 0.0

    def stop(self) -> None:
        self._jobs.stop()
        self._pods.stop()

    def put(self, job: Object) -> None:
        if self._is_on:
            self._jobs.put(job)

    def note(self, job: Object, notes: Mapping[str, str]) -> None:
        """Apply annotations that we set, before the watch reports them."""
        self._jobs.note(job, notes)

    def drop(self, name: str) -> None:
        self._jobs.drop(name)
        self._pods.drop(name)

    def ask(self, key: str) -> Object | None:
        """Return the Job of a key from the server. Raises Rejected (invalid key), Unavailable."""
        return next(iter(self._ask([(key, names.object_name(key))])[key]), None)

    def pods_of(self, job: Object) -> list[Object]:
        """Return the pods of a Job from the server."""
        path = f"/api/v1/namespaces/{segment(job['metadata']['namespace'])}/pods"
        return _owned(job, self._get(path, labelSelector=f"{self._ours},{names.KEY}={_name(job)}"))

    def pod_of(self, name: str, rank: int) -> Object | None:
        """Return the pod of one node of an attempt."""
        found = self._pods.of(name) if self._is_on else []
        if not found:
            found = self._get(PODS, labelSelector=f"{self._ours},{names.KEY}={name}")
        found = [one for one in found if states.rank_of(one) == rank]
        return max(
            found, key=lambda one: str(one["metadata"].get("creationTimestamp") or ""), default=None
        )

    def goes_on(self, pod: Object) -> bool:
        """Return whether a pod may still produce output: no end was observed or reported yet."""
        with self._lock:
            is_reported = any(
                owner.get("uid") in self._ends
                for owner in pod["metadata"].get("ownerReferences", ())
            )
        return not is_reported and states.phase(pod) not in states.OVER

    def known(self, name: str) -> tuple[Object | None, list[Object]]:
        """Return a Job and its pods from the mirrors."""
        job = next(iter(self._jobs.of(name)), None)
        return job, self._known_pods(job, name) if job else []

    def key_of(self, name: str, uid: str) -> str:
        """Return the key of one of our Jobs, else ""."""
        found = next((job for job in self._jobs.of(name) if job["metadata"]["uid"] == uid), None)
        return str(found["metadata"].get("annotations", {}).get(names.KEY) or "") if found else ""

    def poll(self, keys: Sequence[tuple[str, str]], tail: states.Tail) -> Poll:
        """Observe jobs given as (key, name).

        Jobs that the mirror does not know are requested before they count as missing.
        """
        self._be_current()
        began = time.thread_time()
        jobs = {key: self._jobs.of(name) for key, name in keys}
        unknown = [(key, name) for key, name in keys if not jobs[key]]
        if unknown:
            jobs.update(self._ask(unknown))
        for key, name in unknown:
            jobs[key] = jobs[key] or self._deleted(key, name)
        seen, late = self._read_all([(key, name) for key, name in keys if jobs[key]], jobs, tail)
        if late:
            self._tails.wait(TAILS_FOR)
            seen += self._read_all(late, jobs, tail)[0]
        missing = [key for key, _ in keys if not jobs[key]]
        return Poll(seen, missing, time.thread_time() - began)

    def _deleted(self, key: str, name: str) -> list[Object]:
        """Return what stands for a Job that somebody deleted, if its pods are still known."""
        now = datetime.now(UTC) + self._wire.ahead
        job = states.without_job(key, name, self._pods.of(name), now)
        return [job] if job else []

    def _read_all(
        self, keys: Sequence[tuple[str, str]], jobs: Mapping[str, list[Object]], tail: states.Tail
    ) -> tuple[list[Observation], list[tuple[str, str]]]:
        """Return the observations, and the keys whose log tails are still being read."""
        seen, late = [], []
        for key, name in keys:
            try:
                if one := self._read(key, name, jobs[key][0], partial(self._tails.of, tail)):
                    seen.append(one)
            except NotRead:
                late.append((key, name))
        return seen, late

    def _read(self, key: str, name: str, job: Object, tail: states.Tail) -> Observation | None:
        """Observe one attempt; an unreadable one must not block the others."""
        try:
            pods = self._known_pods(job, name)
            if unknown := states.unknown_phases(job, pods):
                log.warning(
                    "%s: a pod's phase %s is not known; its state stays as it was.", key, unknown
                )
                return None
            return self.observe(key, job, pods, tail)
        except (KeyError, TypeError, ValueError, AttributeError):
            log.exception("%s cannot be read", key)
            return None

    def observe(
        self, key: str, job: Object, pods: Sequence[Object], tail: states.Tail
    ) -> Observation:
        """Observe a job like states.observe; a reported end never changes."""
        uid = job["metadata"]["uid"]
        if (known := self._ends.get(uid)) is not None:
            return known
        if states.is_behind(job, pods):
            pods = _merged(pods, self.pods_of(job))
        refusal = "" if pods else self._refusal(job)
        now = datetime.now(UTC) + self._wire.ahead
        queued = self._queued(job)
        seen = states.observe(key, job, pods, tail, self._limits, now, refusal, queued)
        if states.may_be_taken(seen, job, pods) and (newest := self.ask(key)) is not None:
            seen = states.observe(key, newest, pods, tail, self._limits, now, refusal, queued)
        seen = states.by_our_clock(seen, self._wire.ahead)
        if seen.state.is_final:
            if seen.reason == Reason.PREEMPTED:
                self._give_up(job)  # a queue would start it again, and a retry is a new attempt
            with self._lock:
                self._ends[uid] = seen
                while len(self._ends) > ENDED:
                    self._ends.popitem(last=False)
        return seen

    def _give_up(self, job: Object) -> None:
        try:
            self.queues.give_up(job)
        except ApiError as error:
            log.warning(
                "%s may start again: Muster may not take it out of its queue: %s",
                job["metadata"]["name"],
                error,
            )

    def _queued(self, job: Object) -> PendingReason | None:
        try:
            return self.queues.waiting(job)
        except ApiError as error:
            return PendingReason(
                Wait.EVALUATING, "Kueue", f"Muster may not see why Kueue holds it: {error}"[:400]
            )

    def _be_current(self) -> None:
        """Raise Unavailable if the mirrors may be out of date."""
        if not self._is_on:
            self._jobs.start()
            self._pods.start()
            self._is_on = True
        until = time.monotonic() + SYNC
        for mirror in (self._jobs, self._pods):
            if not mirror.wait(max(0.0, until - time.monotonic())):
                raise Unavailable(
                    mirror.trouble
                    or Message("The initial listing of the cluster's objects is not complete yet.")
                )
        last_event = min(self._jobs.heard_at, self._pods.heard_at)
        if time.monotonic() - max(last_event, self._asked_at) > SILENT:
            self._ping()
            for mirror in (self._jobs, self._pods):
                mirror.hurry()  # the server is there again
        for mirror in (self._jobs, self._pods):
            if mirror.trouble and time.monotonic() - mirror.heard_at > SILENT:
                raise Unavailable(mirror.trouble)

    def _ping(self) -> None:
        try:
            self._wire.text("/readyz")
        except ApiError as error:
            if error.status not in {403, 404}:  # not every account may ask; an answer is enough
                raise Unavailable(str(error)) from error
        self._asked_at = time.monotonic()

    def _ask(self, keys: Sequence[tuple[str, str]]) -> dict[str, list[Object]]:
        found: dict[str, list[Object]] = {key: [] for key, _ in keys}
        for at in range(0, len(keys), CHUNK):
            request = ",".join(dict.fromkeys(name for _, name in keys[at : at + CHUNK]))
            for job in self._get(JOBS, labelSelector=f"{self._ours},{names.KEY} in ({request})"):
                key = job["metadata"].get("annotations", {}).get(names.KEY)
                if key in found and "deletionTimestamp" not in job["metadata"]:
                    found[key].append(job)
        return found

    def _get(self, path: str, **query: Any) -> list[Object]:
        try:
            return list(self._wire.get(path, **query)["items"])
        except ApiError as error:
            raise Unavailable(str(error)) from error

    def _known_pods(self, job: Object, name: str) -> list[Object]:
        return _owned(job, self._pods.of(name))

    def _refusal(self, job: Object) -> str:
        """Return why the Job controller cannot create pods.

        Requested rarely, and for a few jobs at a time.
        """
        made = states.time_of(job["metadata"].get("creationTimestamp"))
        if (
            job["spec"].get("suspend")
            or made is None
            or (datetime.now(UTC) + self._wire.ahead - made).total_seconds() < YOUNG
        ):
            return ""
        uid, at = job["metadata"]["uid"], time.monotonic()
        known = self._refusals.get(uid)
        if known and at - known[0] < EVENTS_FOR:
            return known[1]
        if sum(at - when < 1 for when, _ in self._refusals.values()) >= EVENTS_AT_ONCE:
            return known[1] if known else ""
        path = f"/api/v1/namespaces/{segment(job['metadata']['namespace'])}/events"
        events = self._get(
            path, fieldSelector=f"involvedObject.uid={uid},reason=FailedCreate", limit=20
        )
        message = max(
            events,
            key=lambda e: str(e.get("lastTimestamp") or e.get("eventTime") or ""),
            default={},
        ).get("message", "")
        self._refusals = {
            u: v for u, v in self._refusals.items() if at - v[0] < 10 * EVENTS_FOR
        } | {uid: (at, message)}
        return str(message)


def _owned(job: Mapping[str, Any], pods: Sequence[Object]) -> list[Object]:
    uid = job["metadata"]["uid"]
    return [
        pod
        for pod in pods
        if any(owner.get("uid") == uid for owner in pod["metadata"].get("ownerReferences", ()))
    ]


def _merged(known: Sequence[Object], fresh: Sequence[Object]) -> list[Object]:
    """Merge the pods of the server with removed ones, whose end only the watch reports."""
    return list({pod["metadata"]["uid"]: pod for pod in (*known, *fresh)}.values())


def _name(thing: Mapping[str, Any]) -> str:
    return str(thing["metadata"]["labels"][names.KEY])
