"""Derive the state of an attempt from its Job and pods.

Kubernetes' reasons are mapped by tables; unknown ones change nothing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Observation, PendingReason
from schedulers.exit_reasons import EndReason, ProcessEnd, classify
from schedulers.kubernetes import names, pending_reasons
from schedulers.kubernetes.entrypoint import STOPPED, STOPPED_CLEANLY, TIMED_OUT
from schedulers.kubernetes.nodes import quantity
from schedulers.states import Reason, State

log = logging.getLogger(__name__)
Object = Mapping[str, Any]
Tail = Callable[[Object], str]  # returns the last output of a pod
# seconds after its grace period when a pod of an unreachable node counts as gone
GONE_AFTER = timedelta(seconds=60)
# within this time after the end, the kubelet confirms a deletion, and the API server then reports
# the time of that as the time of the deletion; clocks of nodes may also be late
CONFIRMED_WITHIN = timedelta(seconds=10)

# Reason of the pod, or of its condition DisruptionTarget, mapped to ours. The pod's own reason says
# more than TerminationByKubelet, its condition.
_POD_ENDS = {
    "Evicted": Reason.INTERRUPTED,  # see _of_eviction
    "Preempting": Reason.PREEMPTED,
    "Shutdown": Reason.NODE_FAILED,
    "Terminated": Reason.NODE_FAILED,
    "NodeShutdown": Reason.NODE_FAILED,
    "NodeLost": Reason.NODE_FAILED,
    "NodeAffinity": Reason.NODE_FAILED,
    "UnexpectedAdmissionError": Reason.NODE_FAILED,
    "OutOfcpu": Reason.NODE_FAILED,
    "OutOfmemory": Reason.NODE_FAILED,
    "OutOfpods": Reason.NODE_FAILED,
    "PreemptionByScheduler": Reason.PREEMPTED,
    "PreemptionByKubeScheduler": Reason.PREEMPTED,
    "DeletionByTaintManager": Reason.NODE_FAILED,
    "DeletionByPodGC": Reason.NODE_FAILED,
    "EvictionByEvictionAPI": Reason.INTERRUPTED,  # a drain, mostly
    "TerminationByKubelet": Reason.INTERRUPTED,
}
# The kubelet evicts a pod that used more than its own limits for local files, or when its node
# runs out of something.
_OVER_LIMIT = re.compile(r"exceeds the (?:total )?limit|exceeded its local ephemeral storage limit")
# The second one from a kubelet that was restarted meanwhile.
_DISK_PRESSURE = re.compile(
    r"low on resource: (?:ephemeral-storage|inodes)|had condition: \[[^]]*DiskPressure"
)
_EXIT_CODE = re.compile(r"failed with exit code (\d+)")
_DELETED = Message("Its pod was deleted, but not by Muster.")
_CLEANLY = Message("When it was told to stop, its script ended with exit code 0.")


@dataclass(frozen=True)
class StartTimeouts:
    """Seconds for which pulling an image or creating a container may fail until the job fails."""

    image: float = 120
    start: float = 120


def observe(
    key: str,
    job: Object,
    pods: Sequence[Object],
    tail: Tail,
    limits: StartTimeouts,
    now: datetime,
    refusal: str = "",
    queued: PendingReason | None = None,
) -> Observation:
    """Observe an attempt.

    `refusal`: why the Job controller may not create pods; `queued`: the explanation of Kueue.
    """
    pods = sorted(pods, key=rank_of)
    native = native_id(job)
    if (end := _end(job, pods, tail, limits, now)) is not None:
        reason, evidence, pod = end
        return _ended(key, native, job, pods, pod, reason, evidence)
    # a deletion by somebody else is no cancellation: its end is told when it is known
    is_stopping = names.CANCELED in job["metadata"].get("annotations", {})
    running = [
        started
        for pod in pods
        for kind in ("running", "terminated")
        if (started := _state(pod).get(kind, {}).get("startedAt"))
    ]
    is_all_up = len(running) >= len_of(job)
    state = (
        State.RUNNING
        if is_all_up
        else State.STARTING
        if any(p["spec"].get("nodeName") for p in pods)
        else State.SUBMITTED
    )
    waiting = (
        None
        if is_all_up
        else next(filter(None, map(pending_reasons.of_pod, pods)), None)
        or queued
        or (pending_reasons.of_refusal(refusal) if refusal else None)
    )
    return Observation(
        key,
        State.STOPPING if is_stopping else state,
        _native_state(job, pods),
        native,
        waiting=waiting,
        started_at=time_of(min(running)) if is_all_up else None,
        **_where(pods),
    )


def by_our_clock(seen: Observation, ahead: timedelta) -> Observation:
    """Convert times to our clock; the cluster's clock is `ahead` of it."""
    started, finished = (at and at - ahead for at in (seen.started_at, seen.finished_at))
    return replace(seen, started_at=started, finished_at=finished) if ahead else seen


def native_id(job: Object) -> str:
    """Return namespace/name/uid: the name alone may be reused."""
    meta = job["metadata"]
    return f"{meta['namespace']}/{meta['name']}/{meta['uid']}"


def phase(pod: Object) -> str:
    return str(pod.get("status", {}).get("phase") or "Pending")


def unknown_phases(job: Object, pods: Sequence[Object]) -> set[str]:
    """Return unknown phases of pods without any other sign of an end; they decide nothing."""
    is_reported = not _conditions(job).keys().isdisjoint({"Complete", "Failed"})
    return (
        set()
        if is_reported
        else {phase(pod) for pod in pods if "deletionTimestamp" not in pod["metadata"]} - PHASES
    )


def time_of(text: str | None) -> datetime | None:
    """Parse the RFC 3339 times of the API."""
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


OVER = frozenset({"Succeeded", "Failed"})
# not "Unknown": the node does not answer, and the pod may still be running
PHASES = OVER | {
    "Pending",
    "Running",
}
_NEVER_STARTED = frozenset({"StartError", "ContainerCannotRun"})
# whatever else a process ended with, a deletion of its pod comes first
_MORE_THAN_DELETED = frozenset({Reason.CANCELED, Reason.TIME_LIMIT})
_BY_ITSELF = frozenset({Reason.COMPLETED, Reason.USER_ERROR, Reason.KILLED_BY_SIGNAL})
_MAY_END_CLEANLY = frozenset({Reason.COMPLETED, Reason.CANCELED, Reason.TIME_LIMIT})
# no container was found when the pod ended: exit code 137 is a placeholder of the kubelet
_UNSEEN = "ContainerStatusUnknown"
End = tuple[Reason, str, Object | None]


def _end(
    job: Object, pods: Sequence[Object], tail: Tail, limits: StartTimeouts, now: datetime
) -> End | None:
    """Return (reason, evidence, pod) of the end, or None while the job is running."""
    failed = next(
        (
            pod
            for pod in sorted(pods, key=_causes_first)
            if phase(pod) == "Failed"
            or _lost(pod, now)
            or (phase(pod) == "Succeeded" and _was_deleted(pod))
        ),
        None,
    )
    done = _conditions(job)
    is_over = (
        "Complete" in done
        or "Failed" in done
        or (
            len(pods) == int(job["spec"].get("completions") or 1)
            and all(phase(pod) in OVER for pod in pods)
        )
    )
    if failed is not None and (
        is_over or all(phase(pod) in OVER or _lost(pod, now) for pod in pods)
    ):
        reason, evidence = _of_pod(job, failed, tail)
        return reason, evidence, failed
    is_asked = names.CANCELED in job["metadata"].get("annotations", {})
    # unsuspended again meanwhile
    if failed is not None and names.queue_of(job) and len(pods) > len_of(job) and not is_asked:
        return Reason.PREEMPTED, _taken_text(job), failed
    if is_over and _still_ending(job, pods, now):
        return None
    if is_over and "Failed" not in done:
        return Reason.COMPLETED, "", pods[0] if pods else None
    if is_over:
        return *_of_job(job, done["Failed"]), None
    if (
        is_asked
        and job["spec"].get("suspend")
        and not job.get("status", {}).get("active")
        and not any(phase(pod) == "Running" for pod in pods)
    ):
        return Reason.CANCELED, Message("Canceled before it started."), None
    return _stuck(pods, limits, now)


def without_job(
    key: str, name: str, found: Sequence[Object], now: datetime
) -> dict[str, Any] | None:
    """Return what stands for a Job that somebody deleted: its pods tell how it ended.

    None when there are none, or they outlive their deletion.
    """
    pods = [pod for pod in found if any(owner["name"] == name for owner in _owners(pod))]
    for pod in pods:
        until = time_of(pod["metadata"].get("deletionTimestamp"))
        if phase(pod) not in OVER and (until is None or now - until > GONE_AFTER):
            return None
    if not pods:
        return None
    is_asked = any(pod["spec"].get("activeDeadlineSeconds") == 1 for pod in pods)  # see `cancel`
    return {
        "metadata": {
            "namespace": pods[0]["metadata"]["namespace"],
            "name": name,
            "uid": next(owner["uid"] for owner in _owners(pods[0]) if owner["name"] == name),
            "annotations": {names.KEY: key, **({names.CANCELED: "asked"} if is_asked else {})},
        },
        "spec": {"completions": len(pods)},
        "status": {},
    }


def _owners(pod: Object) -> Sequence[Object]:
    owners: Sequence[Object] = pod["metadata"].get("ownerReferences", ())
    return owners


def is_behind(job: Object, pods: Sequence[Object]) -> bool:
    """Return whether the Job is finished but these pods are not yet.

    The two watches are not ordered, so the pods are older than the Job.
    """
    return not _conditions(job).keys().isdisjoint({"Complete", "Failed"}) and (
        not pods or not all(phase(pod) in OVER for pod in pods)
    )


def may_be_taken(seen: Observation, job: Object, pods: Sequence[Object]) -> bool:
    """Return whether the queue may have suspended the Job since it was read: its pods are newer."""
    return (
        seen.state.is_final
        and seen.reason != Reason.PREEMPTED
        and bool(names.queue_of(job))
        and any(map(_was_deleted, pods))
    )


def _was_taken(job: Object, pod: Object) -> bool:
    """Return whether the Job is suspended, or was since the pod was made.

    `startTime` is that of the last time it was unsuspended.
    """
    began = time_of(job.get("status", {}).get("startTime"))
    made = time_of(pod["metadata"].get("creationTimestamp"))
    return bool(job["spec"].get("suspend") or (began and made and began > made))


def _still_ending(job: Object, pods: Sequence[Object], now: datetime) -> bool:
    """Return whether to keep waiting for pods that have not reported their end."""
    since = [
        at
        for c in _conditions(job).values()
        if (at := time_of(c.get("lastTransitionTime"))) is not None
    ]
    grace = max(
        (int(pod["spec"].get("terminationGracePeriodSeconds") or 0) for pod in pods), default=0
    )
    return (
        is_behind(job, pods)
        and bool(pods)
        and bool(since)
        and now - max(since) < GONE_AFTER + timedelta(seconds=grace)
    )


def _stuck(pods: Sequence[Object], limits: StartTimeouts, now: datetime) -> End | None:
    for pod in pods:
        waiting = pending_reasons.of_pod(pod)
        placed = next(
            (
                c.get("lastTransitionTime")
                for c in pod.get("status", {}).get("conditions", ())
                if c.get("type") == "PodScheduled" and c.get("status") == "True"
            ),
            None,
        )
        since = (now - (time_of(placed) or now)).total_seconds()
        if waiting is None:
            continue
        if waiting.native_reason == "InvalidImageName" or (
            waiting.native_reason in pending_reasons.IMAGE_TROUBLE and since > limits.image
        ):
            return Reason.IMAGE_UNAVAILABLE, waiting.text, pod
        if waiting.native_reason in pending_reasons.START_TROUBLE and since > limits.start:
            return Reason.REJECTED, waiting.text, pod
    return None


def _of_pod(job: Object, pod: Object, tail: Tail) -> tuple[Reason, str]:
    """Return how one pod ended: first what happened to it, then the result of its process."""
    status, ended = pod.get("status", {}), _state(pod).get("terminated", {})
    is_asked = names.CANCELED in job["metadata"].get("annotations", {})
    native_reason, message = str(status.get("reason") or ""), str(status.get("message") or "")
    if native_reason not in _POD_ENDS:
        native_reason = _disruption(pod) or native_reason
    if (reason := _POD_ENDS.get(native_reason)) and not is_asked:
        message = message or _disruption_message(pod)
        if native_reason == "Evicted":
            reason = _of_eviction(message)
        elif native_reason == "DeletionByTaintManager" and _code(ended) is not None:
            reason = Reason.INTERRUPTED  # its kubelet was there to stop it
        return reason, _stopped_text(f"{native_reason}: {message}", ended)
    if (
        names.queue_of(job)
        and _was_taken(job, pod)
        and not is_asked
        and (ended.get("exitCode") or _was_deleted(pod))
    ):
        return Reason.PREEMPTED, _taken_text(job)
    if is_asked and ended.get("reason") == _UNSEEN:
        return Reason.CANCELED, Message("Canceled before it started.") if not ended.get(
            "startedAt"
        ) else ""
    if ended.get("reason") == _UNSEEN and native_reason != "DeadlineExceeded":
        return (
            Reason.NODE_FAILED,
            f"Its node lost track of the container: {ended.get('message') or native_reason}"[:500],
        )
    if not ended and not is_asked and (failed := _fetch_failure(pod)):
        return Reason.INPUT_UNAVAILABLE, failed
    code = ended.get("exitCode") if ended.get("reason") != _UNSEEN else None
    if code is None and native_reason != "DeadlineExceeded" and not is_asked:
        log.warning("A pod ended in a way that is not known: %r %r", native_reason, message[:200])
        return (
            Reason.PLATFORM_ERROR,
            f"The pod failed without an exit code: {native_reason} {message}".strip()[:500],
        )
    if ended.get("reason") in _NEVER_STARTED:
        words = " ".join(str(ended.get("message") or "").split())
        # skip the layers of the container runtime
        words = words[max(0, words.rfind("exec: ")) :][:400]
        return (
            Reason.COMMAND_NOT_FOUND if "not found" in words else Reason.NOT_EXECUTABLE,
            f"The image cannot start bash: {words}",
        )
    limit = _limit(pod)  # without a limit the termination message of a script means nothing
    is_timed_out = limit is not None and (
        native_reason == "DeadlineExceeded" or ended.get("message") == TIMED_OUT
    )
    stop_reason = "cancel" if is_asked else "time" if is_timed_out else ""
    verdict = classify(
        ProcessEnd(
            exit_code=code,
            signal=ended.get("signal") or None,
            tail=tail(pod),
            asked=stop_reason,
            peak=_memory_limit(pod),
            limit=_memory_limit(pod),
            is_over_memory=ended.get("reason") == "OOMKilled",
            time_limit=limit,
        )
    )
    rank = "" if len_of(job) == 1 else f"Rank {rank_of(pod)}: "
    if (
        verdict.reason not in _MORE_THAN_DELETED
        and ended.get("reason") != "OOMKilled"
        and _was_deleted(pod)
    ):
        return Reason.INTERRUPTED, Message.joined("", (rank, _deleted_text(verdict, ended)))
    return verdict.reason, Message.joined("", (rank, verdict.evidence)) if verdict.evidence else ""


def _stopped_text(text: str, ended: Object) -> str:
    text = " ".join(text.split())[:500]
    if ended.get("message") == STOPPED_CLEANLY:
        return Message.joined(" ", (f"{text.rstrip('.')}.", _CLEANLY))
    return text


def _deleted_text(verdict: EndReason, ended: Object) -> Message:
    evidence = verdict.evidence if verdict.reason in _BY_ITSELF else ""
    if ended.get("message") == STOPPED_CLEANLY:
        evidence = _CLEANLY
    return Message.joined(" ", (_DELETED, evidence))


def _fetch_failure(pod: Object) -> str:
    """Return why the init container could not fetch the inputs; empty if it did not fail."""
    for container in pod.get("status", {}).get("initContainerStatuses", ()):
        ended = container.get("state", {}).get("terminated", {})
        if ended.get("exitCode"):
            if message := " ".join(str(ended.get("message") or "").split()):
                return message[:500]
            return Message(
                "Fetching {inputs} failed: its container ended with exit code {code}.",
                inputs=str(pod["metadata"].get("annotations", {}).get(names.INPUTS) or ""),
                code=ended["exitCode"],
            )
    return ""


def _taken_text(job: Object) -> Message:
    return Message("The queue {queue} took its place back while it ran.", queue=names.queue_of(job))


def _of_eviction(message: str) -> Reason:
    """Return why a kubelet evicted a pod: neither reason has to do with other jobs."""
    if _OVER_LIMIT.search(message):
        return Reason.USER_ERROR
    return Reason.DISK_FULL if _DISK_PRESSURE.search(message) else Reason.INTERRUPTED


def has_run(pod: Object) -> bool:
    """Return whether the start program of a pod has run and ended."""
    return _code(_state(pod).get("terminated", {})) is not None


def was_evicted_for_disk(pod: Object) -> bool:
    """Return whether the kubelet stopped a pod because its disk was almost full."""
    status = pod.get("status", {})
    return status.get("reason") == "Evicted" and bool(
        _DISK_PRESSURE.search(str(status.get("message") or ""))
    )


def _was_deleted(pod: Object) -> bool:
    """Return whether the pod's deletion was requested before its process ended.

    The API reports when the grace period ends, not when the deletion was requested, and once the
    kubelet has confirmed it, the time of that.
    """
    ended = _state(pod).get("terminated", {})
    until, finished = (
        time_of(pod["metadata"].get("deletionTimestamp")),
        time_of(ended.get("finishedAt")),
    )
    if until is None or finished is None or ended.get("message") in {STOPPED, STOPPED_CLEANLY}:
        return until is not None
    grace = timedelta(seconds=int(pod["metadata"].get("deletionGracePeriodSeconds") or 0))
    return finished >= until - grace - CONFIRMED_WITHIN


def _of_job(job: Object, condition: Object) -> tuple[Reason, str]:
    """Return the end recorded in the Job, as its pods are gone."""
    native_reason, message = str(condition.get("reason") or ""), str(condition.get("message") or "")
    if names.CANCELED in job["metadata"].get("annotations", {}):
        return Reason.CANCELED, ""
    if "DisruptionTarget" in message:
        return Reason.INTERRUPTED, message[:500]
    if native_reason == "DeadlineExceeded":
        return Reason.TIME_LIMIT, message[:500]
    if found := _EXIT_CODE.search(message):
        if found[1] in {"137", "143"}:  # by a signal, and somebody deleted the pod
            return Reason.INTERRUPTED, Message.joined(" ", (message[:400], _DELETED))
        return Reason.USER_ERROR, message[:500]
    return Reason.PLATFORM_ERROR, f"{native_reason}: {message}"[:500]


def _ended(
    key: str,
    native: str,
    job: Object,
    pods: Sequence[Object],
    pod: Object | None,
    reason: Reason,
    evidence: str,
) -> Observation:
    ends = [_state(p).get("terminated", {}) for p in pods]
    status = _state(pod).get("terminated", {}) if pod else {}
    code = _code(status)
    finished = [e["finishedAt"] for e in ends if e.get("finishedAt")]
    started = [e["startedAt"] for e in ends if e.get("startedAt")]
    at = max(finished, default=None) or next(
        (c.get("lastTransitionTime") for c in job.get("status", {}).get("conditions", ())), None
    )
    if reason == Reason.COMPLETED and code is None:
        code = 0
    if status.get("message") == STOPPED_CLEANLY:
        code = 0  # of the script; the entrypoint made 143 of it
    if code == 0 and reason not in _MAY_END_CLEANLY:
        code = None  # what stopped it, not the script, decided how it ended
    signal = status.get("signal") or (code - 128 if code and 128 < code < 193 else None)
    peak = (
        _memory_limit(pod)
        if pod and reason == Reason.OUT_OF_MEMORY and status.get("reason") == "OOMKilled"
        else None
    )
    return Observation(
        key,
        reason.final_state,
        _native_state(job, pods),
        native,
        reason,
        code,
        signal,
        evidence,
        time_of(min(started, default=None)),
        time_of(at),
        peak_memory=peak or None,
        image_digest=_image_digest(pod) if pod else "",
        **_where(pods),
    )


def _code(ended: Object) -> int | None:
    """Return the exit code of the process; None if unknown."""
    return (
        None
        if ended.get("reason") in _NEVER_STARTED or ended.get("reason") == _UNSEEN
        else ended.get("exitCode")
    )


def _lost(pod: Object, now: datetime) -> bool:
    """Return whether the node does not answer and the grace period is long over."""
    until = time_of(pod["metadata"].get("deletionTimestamp"))
    return (
        until is not None
        and phase(pod) not in OVER
        and bool(_disruption(pod))
        and now - until > GONE_AFTER
    )


def _disruption(pod: Object) -> str:
    return next(
        (
            str(c.get("reason") or "")
            for c in pod.get("status", {}).get("conditions", ())
            if c.get("type") == "DisruptionTarget" and c.get("status") == "True"
        ),
        "",
    )


def _disruption_message(pod: Object) -> str:
    return next(
        (
            str(c.get("message") or "")
            for c in pod.get("status", {}).get("conditions", ())
            if c.get("type") == "DisruptionTarget"
        ),
        "",
    )


def _conditions(job: Object) -> dict[str, Object]:
    return {
        c["type"]: c
        for c in job.get("status", {}).get("conditions", ())
        if c.get("status") == "True"
    }


def _state(pod: Object) -> Object:
    statuses = pod.get("status", {}).get("containerStatuses", ())
    return next((s.get("state", {}) for s in statuses if s.get("name") == names.CONTAINER), {})


def _image_digest(pod: Object) -> str:
    """Return the resolved digest from "docker.io/library/x@sha256:…".

    An image without a registry has none.
    """
    statuses = pod.get("status", {}).get("containerStatuses", ())
    result = next(
        (str(s.get("imageID") or "") for s in statuses if s.get("name") == names.CONTAINER), ""
    )
    digest = result.rpartition("@")[2]
    return digest if "@" in result and digest.startswith("sha256:") and len(digest) <= 140 else ""


def rank_of(pod: Object) -> int:
    """Return the rank of a pod."""
    text = pod["metadata"].get("labels", {}).get("batch.kubernetes.io/job-completion-index", "0")
    return int(text) if text.isdigit() else 0


def _causes_first(pod: Object) -> tuple[bool, str]:
    """Sort key that puts causes first: pods that failed before pods killed as a consequence.

    Times have a resolution of one second.
    """
    return "deletionTimestamp" in pod["metadata"], str(
        _state(pod).get("terminated", {}).get("finishedAt") or "~"
    )


def len_of(job: Object) -> int:
    """Return the number of nodes of the job."""
    return int(job["spec"].get("completions") or 1)


def _limit(pod: Object) -> float | None:
    """Return the time limit in seconds, if any."""
    text = pod["metadata"].get("annotations", {}).get(names.LIMIT)
    return float(text) if text else None


def _memory_limit(pod: Object | None) -> int:
    limits = pod["spec"]["containers"][0].get("resources", {}).get("limits", {}) if pod else {}
    return int(quantity(limits["memory"])) if "memory" in limits else 0


def _where(pods: Sequence[Object]) -> dict[str, Any]:
    """Return the node of the first rank that has one, and all nodes if there are several."""
    names = tuple(
        dict.fromkeys(pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName"))
    )
    return {"node": next(iter(names), ""), "nodes": names if len(names) > 1 else ()}


def _native_state(job: Object, pods: Sequence[Object]) -> str:
    done = next(
        (kind for kind in ("Complete", "Failed", "Suspended") if kind in _conditions(job)), ""
    )
    return done or ",".join(dict.fromkeys(phase(pod) for pod in pods)) or "Pending"
