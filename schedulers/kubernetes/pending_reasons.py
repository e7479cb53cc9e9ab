"""Explain from Kubernetes' conditions and events why a pod is not running yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from portal.core.messages import Message
from schedulers.contract import PendingReason
from schedulers.kubernetes import names
from schedulers.states import Wait

Object = Mapping[str, Any]
IMAGE_TROUBLE = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "RegistryUnavailable",
        "SignatureValidationFailed",
        "ImageInspectError",
    }
)
START_TROUBLE = frozenset(
    {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
)
_NODES = re.compile(r"0/(\d+) nodes? (?:is|are) available: (.*)", re.DOTALL)
_PART = re.compile(r"(\d+) (.*)", re.DOTALL)
_INSUFFICIENT = re.compile(r"Insufficient (\S+)")
_TAINT = re.compile(r"node\(s\) had untolerated taint\(?s?\)? ?\{(.+?):? ?\}")
_VOLUME = re.compile(
    r'persistentvolumeclaim "([^"]+)" (?:not found|is being deleted)|unbound immediate PersistentVolumeClaims'
)
_VOLUMES = (
    Message("A volume of its pods is not bound yet."),
    Message(
        "The claim {claim}, a shared volume of this cluster, does not exist in the team's "
        "namespace."
    ),
)
_OPERATOR = Message(
    "Ask the operator of the cluster: shared volumes are theirs to put into each team's namespace."
)
_SAID = (
    (
        "didn't match Pod's node affinity/selector",
        "have no GPU of that type or not the labels asked for",
    ),
    ("had untolerated taint(s)", "have a taint that it does not tolerate"),  # Kubernetes 1.36
    ("were unschedulable", "are cordoned"),
    ("Too many pods", "hold as many pods as they may"),
    ("didn't match pod anti-affinity", "hold a pod that it must not share a node with"),
    ("had volume node affinity conflict", "cannot reach its volume"),
)
# Reasons of nodes by what can end them: other pods, or nobody. A taint is the operator's to remove,
# and whatever else the scheduler says is quoted.
_FULL = ("Too many pods", "didn't match pod anti-affinity", "didn't have free ports")
_NEVER = "didn't match Pod's node affinity/selector"
_ADVICE = {
    Wait.CAPACITY: Message("Ask for less, or wait until something ends."),
    Wait.IMPOSSIBLE: Message(
        "No node of this cluster accepts it. Request less on each node, or choose another pool."
    ),
    Wait.CLUSTER_LIMIT: Message(
        "It starts when other jobs of the team end. The operator can raise the ResourceQuota."
    ),
    Wait.IMAGE: Message("Check the image's name, its tag and the registry credentials."),
    Wait.NODES_DOWN: Message(
        "Nodes are down, cordoned or tainted. Ask the operator when they come back."
    ),
}
_UNMADE = Message(
    "Use an image that runs as a plain user, or ask the operator whether the cluster gives such "
    "containers what they need."
)


def of_pod(pod: Object) -> PendingReason | None:
    """Explain why a pod is not scheduled or its image not pulled. None if nothing is wrong."""
    status = pod.get("status", {})
    for container in (
        *status.get("initContainerStatuses", ()),
        *status.get("containerStatuses", ()),
    ):
        stuck = container.get("state", {}).get("waiting", {})
        if stuck.get("reason") in IMAGE_TROUBLE:
            return _waiting(
                Wait.IMAGE,
                stuck["reason"],
                f"The image cannot be had: {_short(stuck.get('message') or stuck['reason'])}",
            )
        if stuck.get("reason") in START_TROUBLE:
            text = (
                f"Its container cannot be made: {_short(stuck.get('message') or stuck['reason'])}"
            )
            return PendingReason(Wait.IMAGE, stuck["reason"], text, _UNMADE)
    for container in status.get("initContainerStatuses", ()):
        if "running" in container.get("state", {}):
            data = str(pod["metadata"].get("annotations", {}).get(names.INPUTS) or "")
            text = Message("Fetching {inputs} to the node.", inputs=data)
            return PendingReason(Wait.INPUTS, "Init", text)
    for condition in status.get("conditions", ()):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return of_scheduler(
                str(condition.get("reason") or ""), str(condition.get("message") or "")
            )
    return None


def of_scheduler(native_reason: str, message: str) -> PendingReason:
    """Parse the scheduler's message.

    Such as "0/12 nodes are available: 8 Insufficient nvidia.com/gpu, 4 node(s) had untolerated
    taint {a: b}. preemption: …".
    """
    if native_reason == "SchedulingGated":
        return _waiting(
            Wait.CLUSTER_HELD, native_reason, Message("A scheduling gate of the cluster blocks it.")
        )
    found = _NODES.search(message)
    if not found:
        return _waiting(
            Wait.EVALUATING,
            native_reason or "Pending",
            _short(message) or Message("The scheduler has not evaluated the job yet."),
        )
    if volume := _VOLUME.search(found[2]):
        return PendingReason(
            Wait.CLUSTER_HELD,
            native_reason,
            _VOLUMES[bool(volume[1])].format(claim=volume[1]),
            _OPERATOR,
            {"message": message[:1000]},
        )
    if not (counts := _counts(found[2])):
        return _waiting(
            Wait.CLUSTER_HELD,
            native_reason,
            f"The scheduler says: {_short(found[2])}",
            {"message": message[:1000]},
        )
    parts = [f"{number} {_reason(text)}" for text, number in counts.items()]
    return _waiting(
        _kind(counts),
        native_reason,
        f"0 of {found[1]} nodes fit: {', '.join(parts)}.",
        {"nodes": int(found[1]), "lacking": counts},
    )


def of_refusal(message: str) -> PendingReason:
    """Explain an event of the Job controller that may not create pods."""
    if "exceeded quota" in message:
        numbers = _short(message.partition("exceeded quota:")[2])
        return _waiting(
            Wait.CLUSTER_LIMIT,
            "exceeded quota",
            f"The namespace's quota is used up: {numbers}",
            {"message": message[:1000]},
        )
    if "violates PodSecurity" in message or "is forbidden" in message:
        return _waiting(
            Wait.CLUSTER_HELD,
            "FailedCreate",
            f"The cluster does not admit its pods: {_short(message)}",
        )
    return _waiting(
        Wait.EVALUATING, "FailedCreate", f"Its pods cannot be created yet: {_short(message)}"
    )


def _counts(text: str) -> dict[str, int]:
    """Return the number of nodes per reason; the rest of the message is about preemption."""
    counts: dict[str, int] = {}
    for part in re.split(
        r", (?=\d+ )", re.split(r"\. (?:preemption|no new claims)\b", text)[0].rstrip(". ")
    ):
        if found := _PART.fullmatch(part.strip()):
            counts[found[2].strip()] = counts.get(found[2].strip(), 0) + int(found[1])
    return counts


def _reason(text: str) -> str:
    if found := _INSUFFICIENT.fullmatch(text):
        return (
            f"have too little {found[1]} free"
            if found[1] in {"cpu", "memory", "ephemeral-storage"}
            else f"lack free {found[1]}"
        )
    if found := _TAINT.search(text):
        return f"are tainted {found[1].strip()}"
    return next(
        (words for native_reason, words in _SAID if native_reason in text),
        text.removeprefix("node(s) "),
    )


def _kind(counts: Mapping[str, int]) -> Wait:
    """Choose the reason: capacity first, which ends by itself, then nodes out of service.

    Only where each node lacks a type or label, the pod fits on none.
    """
    if any(_INSUFFICIENT.fullmatch(text) or any(one in text for one in _FULL) for text in counts):
        return Wait.CAPACITY
    if any("unschedulable" in text or "taint" in text for text in counts):
        return Wait.NODES_DOWN
    return Wait.IMPOSSIBLE if all(_NEVER in text for text in counts) else Wait.CLUSTER_HELD


def _waiting(
    wait: Wait, native_reason: str, text: str, facts: Mapping[str, Any] | None = None
) -> PendingReason:
    return PendingReason(wait, native_reason, text, _ADVICE.get(wait, ""), facts or {})


def _short(text: str) -> str:
    return " ".join(text.split())[:400]
