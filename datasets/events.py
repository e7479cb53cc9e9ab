"""How the events of datasets, checkpoints and workspaces read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from django.urls import reverse

from datasets.models import Repository, SharedFolder
from portal.core.event_texts import EventKind, Subject
from portal.core.messages import Message
from portal.core.states import Mark


def _repositories(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Repository.objects.select_related("org").filter(id__in=ids, deleted_at=None)
    return {
        row.id: (
            row.name,
            reverse(
                "repository",
                kwargs={"org": row.org.slug, "kind": row.kind, "repository": row.name},
            ),
        )
        for row in rows
    }


def _folders(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = SharedFolder.objects.select_related("org").filter(id__in=ids, deleted_at=None)
    return {row.id: (row.name, f"/{row.org.slug}/workspaces/{row.name}") for row in rows}


EVENTS = (
    EventKind(
        "dataset.created",
        (
            Message("{actor} created the dataset {subject} in {team}"),
            Message("{actor} created the dataset {subject}"),
        ),
    ),
    EventKind("dataset.updated", (Message("{actor} changed the dataset {subject}"),)),
    EventKind(
        "dataset.shared",
        (
            Message("{actor} shared the dataset {subject} with {with}"),
            Message("{actor} shared the dataset {subject}"),
        ),
    ),
    EventKind(
        "dataset.unshared",
        (
            Message("{actor} no longer shares the dataset {subject} with {with}"),
            Message("{actor} no longer shares the dataset {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "dataset.deleted",
        (Message("{actor} moved the dataset {subject} to the trash"),),
        mark=Mark.BAR,
    ),
    EventKind("dataset.restored", (Message("{actor} restored the dataset {subject}"),)),
    EventKind(
        "dataset.purged",
        (Message("{actor} deleted the dataset {subject} permanently"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "dataset.version_created",
        (
            Message("{actor} made version {version} of the dataset {subject}, {files} files"),
            Message("{actor} made a version of the dataset {subject}"),
        ),
    ),
    EventKind(
        "dataset.history_squashed",
        (Message("{actor} squashed the history of the dataset {subject}"),),
    ),
    EventKind(
        "dataset.tagged",
        (
            Message("{actor} set the tag {tag} of the dataset {subject}"),
            Message("{actor} changed a tag of the dataset {subject}"),
        ),
    ),
    EventKind(
        "dataset.untagged",
        (
            Message("{actor} removed the tag {name_of_ref} of the dataset {subject}"),
            Message("{actor} removed a tag of the dataset {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "dataset.branch_created",
        (
            Message("{actor} created the branch {branch} of the dataset {subject}"),
            Message("{actor} created a branch of the dataset {subject}"),
        ),
    ),
    EventKind(
        "dataset.branch_deleted",
        (
            Message("{actor} deleted the branch {name_of_ref} of the dataset {subject}"),
            Message("{actor} deleted a branch of the dataset {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "dataset.versions_deleted",
        (Message("{actor} deleted versions of the dataset {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "dataset.default_retention_changed",
        (Message("{actor} changed how long versions of datasets are kept"),),
    ),
    EventKind(
        "dataset.unused_discarded",
        (Message("{actor} discarded unused files of the dataset {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "dataset.import_started",
        (
            Message("{actor} started an import into the dataset {subject} from {source}"),
            Message("{actor} started an import into the dataset {subject}"),
        ),
    ),
    EventKind(
        "dataset.import_canceled",
        (Message("{actor} canceled an import into the dataset {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "dataset.import_resumed", (Message("{actor} resumed an import into the dataset {subject}"),)
    ),
    EventKind(
        "dataset.import_succeeded",
        (
            Message("The import into the dataset {subject} succeeded: {files} files"),
            Message("The import into the dataset {subject} succeeded"),
        ),
        mark=Mark.CHECK,
    ),
    EventKind(
        "dataset.import_failed",
        (
            Message("The import into the dataset {subject} failed: {error}"),
            Message("The import into the dataset {subject} failed"),
        ),
        mark=Mark.CROSS,
    ),
    EventKind(
        "checkpoint.created",
        (
            Message("{actor} created the checkpoint {subject} in {team}"),
            Message("{actor} created the checkpoint {subject}"),
        ),
    ),
    EventKind("checkpoint.updated", (Message("{actor} changed the checkpoint {subject}"),)),
    EventKind(
        "checkpoint.shared",
        (
            Message("{actor} shared the checkpoint {subject} with {with}"),
            Message("{actor} shared the checkpoint {subject}"),
        ),
    ),
    EventKind(
        "checkpoint.unshared",
        (
            Message("{actor} no longer shares the checkpoint {subject} with {with}"),
            Message("{actor} no longer shares the checkpoint {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "checkpoint.deleted",
        (Message("{actor} moved the checkpoint {subject} to the trash"),),
        mark=Mark.BAR,
    ),
    EventKind("checkpoint.restored", (Message("{actor} restored the checkpoint {subject}"),)),
    EventKind(
        "checkpoint.purged",
        (Message("{actor} deleted the checkpoint {subject} permanently"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "checkpoint.version_created",
        (
            Message("{actor} made version {version} of the checkpoint {subject}, {files} files"),
            Message("{actor} made a version of the checkpoint {subject}"),
        ),
    ),
    EventKind(
        "checkpoint.history_squashed",
        (Message("{actor} squashed the history of the checkpoint {subject}"),),
    ),
    EventKind(
        "checkpoint.tagged",
        (
            Message("{actor} set the tag {tag} of the checkpoint {subject}"),
            Message("{actor} changed a tag of the checkpoint {subject}"),
        ),
    ),
    EventKind(
        "checkpoint.untagged",
        (
            Message("{actor} removed the tag {name_of_ref} of the checkpoint {subject}"),
            Message("{actor} removed a tag of the checkpoint {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "checkpoint.branch_created",
        (
            Message("{actor} created the branch {branch} of the checkpoint {subject}"),
            Message("{actor} created a branch of the checkpoint {subject}"),
        ),
    ),
    EventKind(
        "checkpoint.branch_deleted",
        (
            Message("{actor} deleted the branch {name_of_ref} of the checkpoint {subject}"),
            Message("{actor} deleted a branch of the checkpoint {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "checkpoint.versions_deleted",
        (Message("{actor} deleted versions of the checkpoint {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "checkpoint.default_retention_changed",
        (Message("{actor} changed how long versions of checkpoints are kept"),),
    ),
    EventKind(
        "checkpoint.unused_discarded",
        (Message("{actor} discarded unused files of the checkpoint {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "checkpoint.import_started",
        (
            Message("{actor} started an import into the checkpoint {subject} from {source}"),
            Message("{actor} started an import into the checkpoint {subject}"),
        ),
    ),
    EventKind(
        "checkpoint.import_canceled",
        (Message("{actor} canceled an import into the checkpoint {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "checkpoint.import_resumed",
        (Message("{actor} resumed an import into the checkpoint {subject}"),),
    ),
    EventKind(
        "checkpoint.import_succeeded",
        (
            Message("The import into the checkpoint {subject} succeeded: {files} files"),
            Message("The import into the checkpoint {subject} succeeded"),
        ),
        mark=Mark.CHECK,
    ),
    EventKind(
        "checkpoint.import_failed",
        (
            Message("The import into the checkpoint {subject} failed: {error}"),
            Message("The import into the checkpoint {subject} failed"),
        ),
        mark=Mark.CROSS,
    ),
    EventKind(
        "workspace.created",
        (
            Message("{actor} created the workspace {subject} in {team}"),
            Message("{actor} created the workspace {subject}"),
        ),
    ),
    EventKind("workspace.updated", (Message("{actor} changed the workspace {subject}"),)),
    EventKind(
        "workspace.shared",
        (
            Message("{actor} shared the workspace {subject} with {with}"),
            Message("{actor} shared the workspace {subject}"),
        ),
    ),
    EventKind(
        "workspace.unshared",
        (
            Message("{actor} no longer shares the workspace {subject} with {with}"),
            Message("{actor} no longer shares the workspace {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "workspace.deleted",
        (Message("{actor} moved the workspace {subject} to the trash"),),
        mark=Mark.BAR,
    ),
    EventKind("workspace.restored", (Message("{actor} restored the workspace {subject}"),)),
    EventKind(
        "workspace.purged",
        (Message("{actor} deleted the workspace {subject} permanently"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "workspace.moved",
        (
            Message("{actor} moved {was_path} to {path} in the workspace {subject}"),
            Message("{actor} moved files in the workspace {subject}"),
        ),
    ),
    EventKind(
        "workspace.files_deleted",
        (Message("{actor} deleted files of the workspace {subject}"),),
        mark=Mark.BAR,
    ),
)
GROUPS = {
    "dataset": Message("Datasets", context="way to group"),
    "checkpoint": Message("Checkpoints", context="way to group"),
    "workspace": Message("Workspaces", context="way to group"),
}
SUBJECTS = (
    Subject("dataset", Message("a dataset", context="subject of an event"), _repositories),
    Subject("checkpoint", Message("a checkpoint", context="subject of an event"), _repositories),
    Subject("workspace", Message("a workspace", context="subject of an event"), _folders),
    Subject("organization", Message("the organization", context="subject of an event")),
)
