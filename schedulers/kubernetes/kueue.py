"""Explain from a Workload why Kueue has not admitted a job.

Pure. The caller of `waiting` reads the Workloads, and their ClusterQueue for the numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from portal.core.formatting import amount_text
from portal.core.messages import Message
from schedulers import explanations
from schedulers.capacity import AmountChange
from schedulers.contract import PendingReason
from schedulers.kubernetes import nodes, states
from schedulers.states import Wait

Object = Mapping[str, Any]
_MORE = re.compile(
    r"insufficient unused quota(?: in cohort)? for (\S+) in flavor ([^\s,]+)(?:, (\d\S*?) more needed)?(?=[,;.\s]|$)"
)
_NEVER = re.compile(
    r"insufficient quota for (\S+) in flavor ([^\s,]+).*?> ?(?:maximum capacity \()?(?:\d\S* > )?(\d[^\s)]*)\)"
)
_BORROWED = re.compile(r"borrowing limit for (\S+) in flavor (\S+) exceeded")
_MISSING = re.compile(r"resource (\S+) unavailable in ClusterQueue")
_BYPASSED = "equivalent workload recently failed"
_PLACED_BY = ("nodeSelector", "affinity", "tolerations")
_TABLE: tuple[tuple[str, Wait, str, str], ...] = (
    (
        r"LocalQueue (?P<queue>\S+) doesn't exist",
        Wait.CLUSTER_HELD,
        Message("Kueue has no queue {queue} in this namespace."),
        Message("Ask the operator for the queue's name."),
    ),
    (
        r"ClusterQueue (?P<queue>\S+) (?:doesn't exist|not found)",
        Wait.CLUSTER_HELD,
        Message("Kueue's queue {queue} does not exist."),
        Message("Ask the operator of the cluster."),
    ),
    (
        r"(?:Cluster|Local)Queue (?P<queue>\S+) is (?:inactive|stopped)",
        Wait.CLUSTER_HELD,
        Message("Kueue's queue {queue} is stopped."),
        Message("Ask the operator when it resumes."),
    ),
    (
        r"namespace doesn't match ClusterQueue selector",
        Wait.CLUSTER_HELD,
        Message("Kueue's queue does not accept jobs from this team's namespace."),
        Message("Ask the operator of the cluster."),
    ),
    (
        r"flavor (\S+) doesn't match node affinity",
        Wait.IMPOSSIBLE,
        Message("No flavor of Kueue's queue has the requested GPU type or labels."),
        Message("Choose another type, or another pool."),
    ),
    (
        r"untolerated taint (?P<taint>.+?) in flavor (?P<flavor>\S+)",
        Wait.IMPOSSIBLE,
        Message(
            "The nodes of flavor {flavor} are tainted {taint}, which jobs here do not tolerate."
        ),
        Message("Choose another pool, or ask the operator."),
    ),
    (
        _BYPASSED,
        Wait.CLUSTER_LIMIT,
        Message("A job with the same request is ahead of it in Kueue's queue."),
        Message("It starts when other jobs of the queue end; the operator can raise its quota."),
    ),
    (r"pending evaluation", Wait.EVALUATING, Message("Kueue has not evaluated the job yet."), ""),
)
# only shown if nothing more specific is missing
_PREEMPTS = re.compile(r"[Pp]ending the preemption of (\d+)|overlapping preemption targets")


@dataclass(frozen=True)
class Reserved:
    """Quota that a Workload has reserved in a ClusterQueue, by flavor and resource.

    `name` and `uid` are those of its Job; `key` is empty if the Job is not this portal's.
    """

    queue: str
    amounts: Mapping[tuple[str, str], int]
    since: float
    name: str = ""
    uid: str = ""
    key: str = ""


_ADVICE = Message("It starts when other jobs of the queue end; the operator can raise its quota.")


def waiting(
    workload: Object, queue: Object | None = None, others: Iterable[Object] = ()
) -> PendingReason | None:
    """Explain a Workload; None once it is admitted.

    `queue` is its ClusterQueue, for usage and quota. `others` are Workloads of its namespace: of
    several with equal requests Kueue may only report on one.
    """
    conditions = {one["type"]: one for one in workload.get("status", {}).get("conditions", ())}
    if conditions.get("Admitted", {}).get("status") == "True":
        return None
    if workload.get("spec", {}).get("active") is False:
        return PendingReason(
            Wait.CLUSTER_HELD,
            "Inactive",
            Message(
                "Kueue has deactivated the job: somebody did so manually, or it was requeued too "
                "often."
            ),
            Message("Ask the operator of the cluster."),
        )
    reserved = conditions.get("QuotaReserved", {})
    if reserved.get("status") == "True":
        return _checked(workload.get("status", {}).get("admissionChecks", ()))
    message = str(reserved.get("message") or "")
    if not reserved or _BYPASSED in message:
        message = next(
            (
                text
                for one in others
                if (text := _message_of(one)) and _like(one) == _like(workload)
            ),
            message,
        )
    return (
        of_message(message, workload, queue)
        if message
        else PendingReason(
            Wait.EVALUATING, "Pending", Message("Kueue has not evaluated the job yet.")
        )
    )


def _message_of(workload: Object) -> str:
    """Return Kueue's message; empty if it applies to this Workload alone."""
    message = next(
        (
            str(one.get("message") or "")
            for one in workload.get("status", {}).get("conditions", ())
            if one["type"] == "QuotaReserved" and one.get("status") == "False"
        ),
        "",
    )
    return (
        ""
        if _BYPASSED in message
        or _PREEMPTS.search(message)
        or workload.get("spec", {}).get("active") is False
        else message
    )


def _like(workload: Object) -> tuple[Any, ...]:
    """Return the properties that Kueue decides by: Workloads of a queue that match wait alike."""
    spec = workload.get("spec", {})
    sets = [
        (
            one.get("count", 1),
            nodes.requests(one["template"]["spec"]),
            *(one["template"]["spec"].get(part) for part in _PLACED_BY),
        )
        for one in spec.get("podSets", ())
    ]
    return spec.get("queueName"), spec.get("priority"), sets


def reserved(workloads: Iterable[Object]) -> list[Reserved]:
    """Return the quota of all unfinished Workloads that have reserved some."""
    found = []
    for one in workloads:
        status = one.get("status", {})
        conditions = {
            condition["type"]: condition
            for condition in status.get("conditions", ())
            if condition.get("status") == "True"
        }
        if (
            (admission := status.get("admission"))
            and "QuotaReserved" in conditions
            and "Finished" not in conditions
        ):
            owner: Object = next(iter(one["metadata"].get("ownerReferences", ())), {})
            since = states.time_of(conditions["QuotaReserved"].get("lastTransitionTime"))
            found.append(
                Reserved(
                    str(admission.get("clusterQueue") or ""),
                    _usage(admission),
                    since.timestamp() if since else 0,
                    str(owner.get("name") or ""),
                    str(owner.get("uid") or ""),
                )
            )
    return found


def _usage(admission: Object) -> dict[tuple[str, str], int]:
    used: Counter[tuple[str, str]] = Counter()
    for part in admission.get("podSetAssignments", ()):
        for resource, flavor in part.get("flavors", {}).items():
            used[str(flavor), _kind(resource)] += _amount(
                resource, str(part.get("resourceUsage", {}).get(resource, ""))
            )
    return dict(used)


def of_message(message: str, workload: Object, queue: Object | None = None) -> PendingReason:
    """Parse a message of Kueue.

    Such as "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu
    in flavor default, 2 more needed".
    """
    if match := _PREEMPTS.search(message):
        others = {
            None: Message("other jobs", context="part of a sentence"),
            "1": Message("another job", context="part of a sentence"),
        }.get(match[1], Message("{n} other jobs", context="text, schedulers", n=match[1]))
        return PendingReason(
            Wait.CAPACITY,
            "QuotaReserved",
            Message("Kueue is stopping {others} to make room for it.", others=others),
            "",
            {"message": message[:1000]},
        )
    if found := _MORE.findall(message):
        return _short_of(
            min(found, key=lambda one: _amount(one[0], one[2])), message, workload, queue
        )
    if match := _NEVER.search(message):
        return _too_much(match, message, workload)
    if match := _BORROWED.search(message):
        return PendingReason(
            Wait.CLUSTER_LIMIT,
            "QuotaReserved",
            Message(
                "The queue may borrow no more {x} of flavor {x2}.", x=_name(match[1]), x2=match[2]
            ),
            _ADVICE,
            {"message": message[:1000], "flavor": match[2]},
        )
    if match := _MISSING.search(message):
        return PendingReason(
            Wait.IMPOSSIBLE,
            "QuotaReserved",
            Message("Kueue's queue gives no {x} at all.", x=match[1]),
            Message("Request none, or choose another pool."),
            {"message": message[:1000]},
        )
    for pattern, wait, text, advice in _TABLE:
        if match := re.search(pattern, message):
            return PendingReason(
                wait,
                "QuotaReserved",
                text.format(**match.groupdict()),
                advice,
                {"message": message[:1000]},
            )
    return PendingReason(
        Wait.CLUSTER_LIMIT,
        "QuotaReserved",
        f"Kueue says: {' '.join(message.split())[:400]}",
        "",
        {"message": message[:1000]},
    )


def _short_of(
    found: tuple[str, str, str], message: str, workload: Object, queue: Object | None
) -> PendingReason:
    """Add the missing amount of a flavor, and the reduction per pod that would suffice."""
    resource, flavor, more = found[0], found[1], _amount(found[0], found[2])
    kind, (requested, count) = _kind(resource), _asked(workload, resource)
    facts: dict[str, Any] = {
        "resource": kind or resource,
        "flavor": flavor,
        "message": message[:1000],
        "ask": requested * count,
        "queue": (queue or {}).get("metadata", {}).get("name", ""),
    }
    text = Message(
        "Kueue's quota of {name} in flavor {flavor} is used up", name=_name(resource), flavor=flavor
    )
    used = _used(queue, flavor, resource)
    # the numbers are older than the message, or the cohort uses the quota
    if used and used[1] - used[0] < max(1, requested * count):
        facts |= {"used": used[0], "limit": used[1]}
        text = Message(
            "Kueue's flavor {flavor} has {n} of {total} in use",
            flavor=flavor,
            n=explanations.part(kind, used[0]),
            total=_text(kind, used[1]),
        )
    if more:
        facts["more"] = more
        least = (requested * count - more) // count if count else 0
        facts |= explanations.changed(
            AmountChange(kind, requested, least) if kind and 0 < least < requested else None
        )
    if requested:
        text += Message("; this job needs {amount}", amount=_text(kind, requested * count))
    if more:
        text += Message.plural(
            1 if _text(kind, more).startswith("1 ") else 2,
            ", and {amount} more is needed",
            ", and {amount} more are needed",
            amount=_text(kind, more),
        )
    return PendingReason(Wait.CLUSTER_LIMIT, "QuotaReserved", text + ".", _ADVICE, facts)


def _too_much(match: re.Match[str], message: str, workload: Object) -> PendingReason:
    resource, flavor, most = match[1], match[2], _amount(match[1], match[3])
    kind, (requested, count) = _kind(resource), _asked(workload, resource)
    least = most // count if count else 0
    facts = {
        "resource": kind or resource,
        "flavor": flavor,
        "limit": most,
        "ask": requested * count,
        "message": message[:1000],
        **explanations.changed(
            AmountChange(kind, requested, least) if kind and 0 < least < requested else None
        ),
    }
    text = Message(
        "Kueue's flavor {flavor} gives {kind} at most; this job needs {kind2}.",
        flavor=flavor,
        kind=_text(kind, most),
        kind2=_text(kind, requested * count),
    )
    return PendingReason(
        Wait.IMPOSSIBLE,
        "QuotaReserved",
        text,
        Message("Ask for less, or choose another pool."),
        facts,
    )


def _checked(checks: Iterable[Object]) -> PendingReason:
    """Explain a Workload that has quota but waits for an admission check."""
    waits = [
        str(one.get("name"))
        for one in checks
        if one.get("state") in ("Pending", "Retry", "Rejected")
    ]
    return PendingReason(
        Wait.CLUSTER_HELD,
        "AdmissionCheck",
        Message(
            "Its quota is reserved; it waits for {x}.",
            x=", ".join(waits) or Message("Kueue to admit it"),
        ),
        "",
        {"checks": waits},
    )


def _asked(workload: Object, resource: str) -> tuple[int, int]:
    """Return the request per pod and the number of pods.

    Of several pod sets, the one with the largest request.
    """
    sets = [
        (
            _amount(resource, str(nodes.requests(one["template"]["spec"]).get(resource, 0))),
            int(one.get("count", 1)),
        )
        for one in workload.get("spec", {}).get("podSets", ())
    ]
    return max(sets, default=(0, 1))


def _used(queue: Object | None, flavor: str, resource: str) -> tuple[int, int] | None:
    """Return the used and the nominal quota of a ClusterQueue."""
    if queue is None:
        return None
    used = [
        row.get("total")
        for one in queue.get("status", {}).get("flavorsReservation", ())
        if one.get("name") == flavor
        for row in one.get("resources", ())
        if row.get("name") == resource
    ]
    quota = [
        row.get("nominalQuota")
        for group in queue.get("spec", {}).get("resourceGroups", ())
        for one in group.get("flavors", ())
        if one.get("name") == flavor
        for row in one.get("resources", ())
        if row.get("name") == resource
    ]
    return (
        (_amount(resource, str(used[0])), _amount(resource, str(quota[0])))
        if used and quota
        else None
    )


def _kind(resource: str) -> str:
    """Return our name of a resource; empty if unknown."""
    return (
        resource
        if resource in ("cpu", "memory", "pods")
        else "gpu"
        if resource.endswith("/gpu") or "/mig-" in resource
        else ""
    )


def _name(resource: str) -> str:
    return {"gpu": "GPUs", "cpu": "cores", "memory": "memory", "pods": "pods"}.get(
        _kind(resource), resource
    )


def _amount(resource: str, text: str) -> int:
    """Convert a quantity to our units; 0 for none."""
    try:
        return round(nodes.quantity(text) * (1000 if resource == "cpu" else 1)) if text else 0
    except ValueError:
        return 0


def _text(kind: str, amount: int) -> str:
    return amount_text(kind, amount) if kind else str(amount)
