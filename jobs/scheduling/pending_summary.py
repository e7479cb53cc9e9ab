"""Explain in one sentence why a job is pending, from its row alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from clusters.models import Cluster
from jobs.models import Job
from jobs.scheduling import quota_limits
from portal.core import clock
from portal.core.formatting import amount_text, number_text, span_text
from portal.core.messages import Message
from portal.core.shapes import Time, time_text
from schedulers.states import State, Wait

# In the scheduler's queue, or on a node that has not started it.
IN_CLUSTER_QUEUE = frozenset({State.SUBMITTED, State.STARTING})
_BEFORE_CLUSTER_DOWN = frozenset({Wait.HELD, Wait.DEPENDENCY, Wait.NO_CLUSTER, Wait.IMPOSSIBLE})


class PendingSpellShape(TypedDict):
    code: str
    text: str
    since: Time
    until: Time | None


class BlockerShape(TypedDict):
    number: Annotated[int | None, "Of a job; null: others, or hidden ones."]
    text: str
    since: Time | None


class PendingShape(TypedDict):
    code: str
    text: Annotated[str, "In one sentence."]
    since: Time
    numbers: Annotated[dict[str, Any], "The facts of the sentence."]
    holders: Annotated[list[BlockerShape], "Who uses what is missing."]
    change: Annotated[
        dict[str, Any] | None,
        "The smallest that would start it now: field, from, to and text.",
    ]
    advice: NotRequired[str]
    history: NotRequired[Annotated[list[PendingSpellShape], "The oldest reason first."]]


def pending_summary(job: Job) -> PendingShape | None:
    """Return the stored reason for a list row; None for a job that is not pending."""
    if not is_pending(job):
        return None
    wait, facts, since = Wait(job.wait or Wait.EVALUATING), {}, job.state_at
    if job.cluster.trouble and job.state < State.SUBMITTED and wait not in _BEFORE_CLUSTER_DOWN:
        wait, facts, since = (
            Wait.CLUSTER_DOWN,
            silence_of(job.cluster),
            job.cluster.trouble_since or since,
        )
    return {
        "code": str(wait),
        "text": wait_text(wait, facts),
        "since": time_text(since),
        "numbers": {},
        "holders": [],
        "change": None,
    }


def is_pending(job: Job) -> bool:
    """Return whether the job is in our queue, in its scheduler's, or waits for a silent cluster."""
    is_stuck = job.state == State.DISPATCHING and bool(job.cluster.trouble)
    return (
        job.state == State.QUEUED or is_stuck or (job.state in IN_CLUSTER_QUEUE and bool(job.wait))
    )


def silence_of(cluster: Cluster) -> dict[str, str]:
    return {
        "said": cluster.trouble,
        "for": span_text(clock.now() - (cluster.trouble_since or clock.now())),
        "cluster": cluster.name,
    }


def wait_text(wait: Wait, facts: Mapping[str, Any]) -> str:
    """Return the reason as one sentence, without numbers if `facts` is empty."""
    if not facts:
        return _BARE[wait]
    if "text" in facts:  # the scheduler's own text
        return Message(facts["text"])
    match wait:
        case Wait.DEPENDENCY:
            jobs = ", ".join(f"#{n}" for n in facts["jobs"])
            return Message("Waiting for {jobs} to finish.", jobs=jobs)
        case Wait.IMPOSSIBLE:
            return Message(
                "No node is large enough: {resource} requested, and the largest node has {resource2}.",
                resource=amount_text(facts["resource"], facts["ask"]),
                resource2=amount_text(facts["resource"], facts["largest"]),
            )
        case Wait.CLUSTER_DOWN:
            return _down_text(facts)
        case Wait.BACKOFF:
            return Message(
                "Attempt {try} starts in {seconds} s, because the last one failed.",
                seconds=facts["seconds"],
                **{"try": facts["try"]},
            )
        case Wait.ARRAY_LIMIT:
            return Message(
                "{running} of at most {limit} tasks of this array are running.",
                running=facts["running"],
                limit=facts["limit"],
            )
        case Wait.QUOTA_ORG | Wait.QUOTA_TEAM | Wait.QUOTA_USER:
            return quota_limits.limit_text(facts)
        case Wait.SCATTERED if "apart" in facts:
            words = {
                "gpu": Message("GPUs", context="text, jobs"),
                "cpu": Message("cores", context="part of a sentence"),
                "memory": Message("memory", context="part of a sentence"),
            }
            x = Message.joined(", ", (words[n] for n in facts["apart"]))
            return Message("Enough {x} are free, but not together on one node.", x=x)
        case Wait.SCATTERED:
            return Message(
                "{resource} are free, but not on one node: the most on one is {resource2}, "
                "{resource3} requested.",
                resource=amount_text(facts["resource"], facts["free"]),
                resource2=amount_text(facts["resource"], facts.get("most_on_one_node", 0)),
                resource3=amount_text(facts["resource"], facts["ask"]),
            )
        case Wait.CAPACITY:
            return Message(
                "{free} of {total} are free; {needed} requested.",
                free=number_text(facts["resource"], facts["free"]),
                total=amount_text(facts["resource"], facts["total"]),
                needed=amount_text(facts["resource"], facts["ask"]),
            )
    return _BARE[wait]


def _down_text(facts: Mapping[str, Any]) -> str:
    text = Message("The cluster isn't responding.")
    if "tries" in facts:
        text = Message("Cluster {cluster} couldn't accept the job yet.", cluster=facts["cluster"])
    elif "cluster" in facts:
        text = Message(
            "Cluster {cluster} hasn't responded for {for}.",
            cluster=facts["cluster"],
            **{"for": facts["for"]},
        )
    return Message.joined(" ", (text, Message(facts["said"])))


_BARE = {
    Wait.HELD: Message("On hold. Release the job to let it start."),
    Wait.DEPENDENCY: Message("Waiting for another job to finish."),
    Wait.NO_CLUSTER: Message("No cluster is connected."),
    Wait.IMPOSSIBLE: Message("No node of the cluster can run it."),
    Wait.CLUSTER_DOWN: Message("The cluster isn't responding."),
    Wait.BACKOFF: Message("Waiting before the next attempt."),
    Wait.ARRAY_LIMIT: Message("The array's limit of parallel tasks is reached."),
    Wait.QUOTA_USER: Message("Your own limit is reached."),
    Wait.QUOTA_TEAM: Message("The team's limit is reached."),
    Wait.QUOTA_ORG: Message("The organization's limit is reached."),
    Wait.CLUSTER_HELD: Message("The cluster's own scheduler holds it."),
    Wait.CLUSTER_LIMIT: Message("A limit of the cluster itself is reached."),
    Wait.NODES_DOWN: Message("The nodes that could run it are down or drained."),
    Wait.RESERVED: Message("The nodes that could run it are reserved."),
    Wait.IMAGE: Message("The image or the container isn't available yet."),
    Wait.INPUTS: Message("The job's data is being prepared."),
    Wait.CAPACITY: Message("The cluster is full."),
    Wait.SCATTERED: Message("Enough is free, but not on one node."),
    Wait.BEHIND: Message("Other jobs are ahead in the cluster's queue."),
    Wait.EVALUATING: Message("About to start."),
}
