"""Describe the health of a cluster: now, and in its history."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypedDict

from clusters.models import Cluster
from clusters.states import CLUSTER
from portal.core import clock
from portal.core.formatting import span_text
from portal.core.messages import Message
from portal.core.models import Event
from portal.core.shapes import Time
from workspaces.audit.event_links import EventLine, event_lines
from workspaces.tenancy.scope import platform_scope

UNSEEN = 60.0  # Seconds: three missed polls of an idle cluster, which is polled every 20 s.
MOST_EVENTS = 30


class StandingShape(TypedDict):
    word: Annotated[str, "State of a cluster."]
    shape: Annotated[str, "Of its mark."]
    text: Annotated[str, "With its age."]
    since: Time | None


def status_of(cluster: Cluster) -> StandingShape:
    """Return the state of a cluster now."""
    now = clock.now()
    if not cluster.is_enabled:
        text = Message("Disabled: takes no new jobs. Running jobs continue.")
        if cluster.trouble:
            text += Message(
                " It has not responded for {x}.", x=span_text(now - (cluster.trouble_since or now))
            )
        return _state("disabled", text, cluster.seen_at)
    if cluster.trouble:
        since = cluster.trouble_since or now
        return _state(
            "not responding",
            Message(
                "Not responding for {span}: {trouble}",
                span=span_text(now - since),
                trouble=cluster.trouble,
            ),
            since,
        )
    if cluster.seen_at is None:
        return _state(
            "connecting",
            Message("Muster is reading its inventory. This takes a few seconds."),
            None,
        )
    trouble, unseen_since = trouble_of(cluster)
    if trouble:
        return _state("not responding", trouble, unseen_since)
    silence = now - cluster.seen_at
    return _state(
        "connected",
        Message("Responded {silence} ago.", silence=span_text(silence)),
        cluster.seen_at,
    )


def trouble_of(cluster: Cluster) -> tuple[str, datetime | None]:
    """Return the trouble and its beginning, ("", None) without any.

    A cluster that missed three polls is in trouble, too.
    """
    if cluster.trouble or not cluster.is_enabled or cluster.seen_at is None:
        return cluster.trouble, cluster.trouble_since
    silence = (clock.now() - cluster.seen_at).total_seconds()
    if silence <= UNSEEN:
        return "", None
    return (
        Message(
            "No response for {silence}. The watcher is not running, or the cluster is slow.",
            silence=span_text(silence),
        ),
        cluster.seen_at,
    )


@platform_scope("a cluster belongs to no organization")
def history_of(cluster: Cluster) -> list[EventLine]:
    """Return outages and changes, newest first. An outage that is over is one line."""
    shown: list[Event] = []
    is_ended = False
    for event in Event.objects.filter(subject_id=cluster.id).order_by("-position")[:MOST_EVENTS]:
        if not (event.kind == "cluster.silent" and is_ended):
            shown.append(event)
        is_ended = event.kind == "cluster.answered" or (is_ended and event.kind != "cluster.silent")
    return event_lines(shown, None)


def _state(key: str, text: str, since: Any) -> StandingShape:
    state = CLUSTER[key]
    return {"word": state.key, "shape": state.mark, "text": text, "since": since}
