"""How the events of the model registry read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from django.urls import reverse

from portal.core.event_texts import EventKind, Subject
from portal.core.messages import Message
from portal.core.states import Mark
from registry.models import RegisteredModel
from registry.services.approval import KIND as APPROVALS
from workspaces.approvals.events import approval_events


def _models(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = RegisteredModel.objects.select_related("org", "team").filter(id__in=ids, deleted_at=None)
    return {
        row.id: (row.name, reverse("model", args=(row.org.slug, row.team.slug, row.name)))
        for row in rows
    }


EVENTS = (
    EventKind(
        "model.created",
        (
            Message("{actor} created the model {subject} in {team}"),
            Message("{actor} created the model {subject}"),
        ),
    ),
    EventKind("model.updated", (Message("{actor} changed the model {subject}"),)),
    EventKind(
        "model.deleted", (Message("{actor} moved the model {subject} to the trash"),), mark=Mark.BAR
    ),
    EventKind("model.restored", (Message("{actor} restored the model {subject}"),)),
    EventKind(
        "model.purged", (Message("{actor} deleted the model {subject} permanently"),), mark=Mark.BAR
    ),
    EventKind(
        "model.alias_set",
        (
            Message("{actor} set the alias {alias} of the model {subject} to version {version}"),
            Message("{actor} set an alias of the model {subject}"),
        ),
    ),
    EventKind(
        "model.alias_deleted",
        (
            Message("{actor} removed the alias {alias} of the model {subject}"),
            Message("{actor} removed an alias of the model {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "model.stage_set",
        (
            Message("{actor} moved version {version} of the model {subject} to {stage}"),
            Message("{actor} moved a version of the model {subject} to another stage"),
        ),
    ),
    EventKind(
        "model.upload_started",
        (
            Message("{actor} started to upload version {version} of the model {subject}"),
            Message("{actor} started to upload a version of the model {subject}"),
        ),
    ),
    EventKind(
        "model.upload_discarded",
        (
            Message("{actor} discarded the upload of version {version} of the model {subject}"),
            Message("{actor} discarded an upload of the model {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "model.version_created",
        (
            Message("{actor} registered version {version} of the model {subject}"),
            Message("{actor} registered a version of the model {subject}"),
        ),
        mark=Mark.CHECK,
    ),
    EventKind(
        "model.version_updated",
        (
            Message("{actor} changed version {version} of the model {subject}"),
            Message("{actor} changed a version of the model {subject}"),
        ),
    ),
    EventKind(
        "model.version_deleted",
        (
            Message("{actor} deleted version {version} of the model {subject}"),
            Message("{actor} deleted a version of the model {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "model.version_promoted",
        (
            Message(
                "{actor} promoted a version of another model to version {version} of {subject}"
            ),
            Message("{actor} promoted a version to {subject}"),
        ),
    ),
    EventKind(
        "model.version_inspected",
        (
            Message("{actor} inspected the files of version {version} of the model {subject}"),
            Message("{actor} inspected files of the model {subject}"),
        ),
    ),
    EventKind(
        "model.pickle_acknowledged",
        (
            Message(
                "{actor} acknowledged unsafe files of version {version} of the model {subject}"
            ),
            Message("{actor} acknowledged unsafe files of the model {subject}"),
        ),
    ),
    *approval_events(APPROVALS),
)
GROUPS = {
    "model": Message("Models", context="way to group, machine learning"),
}
SUBJECTS = (Subject("model", Message("a model", context="subject of an event"), _models),)
