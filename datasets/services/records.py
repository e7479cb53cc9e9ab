"""Lock repositories and record events: what all services of datasets share."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from datasets.models import Repository, Version
from portal.core.errors import Conflict, NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.row_locks import keep_rows


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


def lock_to_delete(repository: Repository, ids: Collection[UUID] | None = None) -> None:
    """Lock versions, default: all, of a locked repository until the transaction ends.

    Ask only then what is in use: whoever refers to a version holds it by `keep_versions`.
    """
    rows = Version.objects.select_for_update(of=("self",)).filter(repository=repository)
    rows = rows if ids is None else rows.filter(id__in=ids)
    len(rows.order_by("id").values_list("id", flat=True))


def keep_versions(ids: Collection[UUID]) -> set[UUID]:
    """Keep versions from being deleted until the transaction ends; return those that exist."""
    return keep_rows(Version.objects.filter(id__in=ids))


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
