"""Lock repositories and record events: what all services of datasets share."""

from __future__ import annotations

from typing import Any

from datasets.models import Repository
from portal.core.errors import Conflict, NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message


def locked(repository: Repository, *, with_trash: bool = False) -> Repository:
    """Lock a repository until the transaction ends and return its row.

    Every writer does so first. Raises NotFound, and Conflict for one in the trash.
    """
    row = (
        Repository.objects.select_for_update(of=("self",), no_key=True)
        .select_related("team", "owner")
        .filter(id=repository.id)
        .first()
    )
    if row is None:
        raise NotFound(Message("{name} was deleted.", name=repository.name), code="no_repository")
    if row.deleted_at is not None and not with_trash:
        raise Conflict(
            Message("{name} is in the trash. Restore it first.", name=row.name), code="deleted"
        )
    return row  # type: ignore[no-any-return]


def record_change(kind: str, by: str, repository: Repository, **data: Any) -> None:
    """Record an event of a repository, such as `dataset.created`."""
    named = {"name": repository.name, "team": repository.team.slug}
    record(
        EventRecord(
            f"{repository.kind}.{kind}",
            repository.org_id,
            repository.kind,
            repository.id,
            by,
            {**named, **data},
        )
    )
