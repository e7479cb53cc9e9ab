"""How the events of experiments and runs read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from experiments.models import Experiment, Run
from portal.core.event_texts import EventKind, Subject
from portal.core.messages import Message
from portal.core.states import Mark


def _experiments(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Experiment.objects.select_related("org").filter(id__in=ids, deleted_at=None)
    return {row.id: (row.name, f"/{row.org.slug}/experiments/{row.number}") for row in rows}


def _runs(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Run.objects.select_related("org").filter(id__in=ids, deleted_at=None)
    return {row.id: (row.name, f"/{row.org.slug}/runs/{row.id.hex}") for row in rows}


EVENTS = (
    EventKind(
        "experiment.created",
        (
            Message("{actor} created the experiment {subject} in {team}"),
            Message("{actor} created the experiment {subject}"),
        ),
    ),
    EventKind(
        "experiment.updated",
        (
            Message("{actor} renamed the experiment {was_name} to {subject}"),
            Message("{actor} changed the experiment {subject}"),
        ),
    ),
    EventKind(
        "experiment.deleted",
        (Message("{actor} moved the experiment {subject} to the trash"),),
        mark=Mark.BAR,
    ),
    EventKind("experiment.restored", (Message("{actor} restored the experiment {subject}"),)),
    EventKind(
        "experiment.purged",
        (Message("{actor} deleted the experiment {subject} permanently"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "experiment.traces_deleted",
        (
            Message("{actor} deleted {traces} traces of the experiment {subject}"),
            Message("{actor} deleted traces of the experiment {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind("run.created", (Message("{actor} started the run {subject}", context="event"),)),
    EventKind(
        "run.updated",
        (
            Message("{actor} ended the run {subject}: {status}", context="event"),
            Message("{actor} changed the run {subject}", context="event"),
        ),
    ),
    EventKind(
        "run.deleted", (Message("{actor} moved the run {subject} to the trash"),), mark=Mark.BAR
    ),
    EventKind("run.restored", (Message("{actor} restored the run {subject}"),)),
    EventKind(
        "run.purged", (Message("{actor} deleted the run {subject} permanently"),), mark=Mark.BAR
    ),
    EventKind("run.archived", (Message("{actor} archived the run {subject}"),), mark=Mark.BAR),
    EventKind("run.unarchived", (Message("{actor} took the run {subject} out of the archive"),)),
    EventKind(
        "run.imported",
        (
            Message("{actor} imported the run {subject} from {source}"),
            Message("{actor} imported the run {subject}"),
        ),
    ),
    EventKind(
        "run.artifacts_deleted",
        (
            Message("{actor} deleted {files} artifacts of the run {subject}"),
            Message("{actor} deleted artifacts of the run {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "model.artifacts_deleted",
        (
            Message("{actor} deleted {files} artifacts of the logged model {subject}"),
            Message("{actor} deleted artifacts of the logged model {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind("logged_model.created", (Message("{actor} logged the model {subject}"),)),
    EventKind(
        "logged_model.deleted",
        (Message("{actor} deleted the logged model {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "logged_model.purged",
        (Message("{actor} deleted the logged model {subject} permanently"),),
        mark=Mark.BAR,
    ),
)
GROUPS = {
    "experiment": Message("Experiments", context="way to group"),
    "run": Message("Runs", context="way to group, training runs"),
    "logged_model": Message("Logged models", context="way to group"),
}
SUBJECTS = (
    Subject("experiment", Message("an experiment", context="subject of an event"), _experiments),
    Subject("run", Message("a run", context="subject of an event"), _runs),
    Subject("logged-model", Message("a logged model", context="subject of an event")),
)
