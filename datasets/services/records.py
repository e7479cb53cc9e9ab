"""Lock repositories, record events and keep the trash: what all services of datasets share."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from datasets import storage
from datasets.models import Ref, Repository, Version
from datasets.uses import commits_in_use
from portal.core.errors import Conflict
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.row_locks import keep_rows
from portal.core.trash import Trash


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


def check_no_hold(row: Repository) -> None:
    """Raise Conflict under a legal hold."""
    if row.legal_hold:
        raise Conflict(
            Message(
                "{name} is under a legal hold ({reason}), so nothing of it can be deleted.",
                name=row.name,
                reason=row.legal_hold,
            ),
            code="legal_hold",
        )


def _taken(row: Repository) -> Conflict:
    return Conflict.at(
        "name",
        Message("The name {name} is already used in this organization.", name=row.name),
        code="already_exists",
    )


def _free(row: Repository) -> dict[str, Any]:
    check_no_hold(row)
    lock_to_delete(row)
    storage.release(row, row.stored_bytes)
    Ref.objects.filter(repository=row).delete()
    return {"bytes": row.stored_bytes}


def _is_in_use(row: Repository) -> bool:
    lock_to_delete(row)
    in_use = commits_in_use(row.org_id)
    return bool(Version.objects.filter(repository=row, commit__in=in_use).exists())


TRASH = Trash(
    Repository,
    "no_repository",
    _taken,
    record_change,
    _free,
    purgeable={"legal_hold": ""},
    is_in_use=_is_in_use,
)
locked = TRASH.locked  # every writer locks the repository first
