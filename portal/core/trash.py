"""Keep what is deleted in a trash until it is restored or purged.

The rows have `name`, `updated_at` and `deleted_at`, which is null outside of the trash; a unique
constraint on the name leaves out what is in the trash. Functions that take a `row` want it locked
(`Trash.locked`) in the transaction that changes it; who may do it is for the caller to check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import IntegrityError, models, transaction

from portal.core import clock
from portal.core.errors import Conflict, NotFound
from portal.core.messages import Message

Row = TypeVar("Row", bound=models.Model)
BY = "muster"  # in the events of what was long in the trash


@dataclass(frozen=True)
class Trash(Generic[Row]):
    """The trash of a model.

    `missing` is the code of the error for a row that is gone, `taken` makes the one for a name that
    another row has. `free` gives up what a row holds before it is purged, and returns what the
    event says about it; it raises Conflict for a row that must stay. `related` are joined by
    `locked`. The background task purges what `purgeable` filters and `is_in_use` does not keep.
    """

    model: type[Row]
    missing: str
    taken: Callable[[Row], Conflict]
    record: Callable[..., None]  # (kind, by, row, **data)
    free: Callable[[Row], dict[str, Any]]
    related: tuple[str, ...] = ("team", "owner")
    purgeable: Mapping[str, Any] = field(default_factory=dict)
    is_in_use: Callable[[Row], bool] = lambda _row: False

    def locked(self, row: Row, *, with_trash: bool = False, is_to_be_purged: bool = False) -> Row:
        """Lock a row until the transaction ends and return it as it is now.

        Raises NotFound, and Conflict for one in the trash.
        """
        found = self._rows(is_to_be_purged=is_to_be_purged).filter(pk=row.pk).first()
        if found is None:
            raise NotFound(Message("{name} was deleted.", name=_name(row)), code=self.missing)
        if not with_trash and found.deleted_at is not None:
            raise Conflict(
                Message("{name} is in the trash. Restore it first.", name=_name(found)),
                code="deleted",
            )
        return found  # type: ignore[no-any-return]

    def save(self, row: Any) -> None:
        """Save a row with its name. Raises Conflict if another row has it."""
        try:
            with transaction.atomic():
                row.save()
        except IntegrityError as error:
            raise self.taken(row) from error

    def put(self, row: Any, by: str, before: Mapping[str, Any]) -> Row:
        """Move a row to the trash; its name becomes free. `before` is for the event."""
        row.deleted_at = row.updated_at = clock.now()
        row.save(update_fields=["deleted_at", "updated_at"])
        self.record("deleted", by, row, before=dict(before))
        return row  # type: ignore[no-any-return]

    def restore(self, row: Row, by: str) -> Row:
        """Take a row out of the trash. Idempotent. Raises NotFound, Conflict if its name is taken."""
        found: Any = self.locked(row, with_trash=True)
        if found.deleted_at is not None:
            before = {"deleted_at": found.deleted_at.isoformat()}
            found.deleted_at, found.updated_at = None, clock.now()
            self.save(found)
            self.record("restored", by, found, before=before)
        return found  # type: ignore[no-any-return]

    def purge(self, row: Any, by: str) -> None:
        """Delete a row in the trash permanently. Raises Conflict."""
        if row.deleted_at is None:
            raise Conflict(
                Message("{name} is not in the trash. Delete it first.", name=row.name),
                code="not_deleted",
            )
        self.record("purged", by, row, before=self.free(row))
        row.delete()

    def purge_old(self, before: datetime) -> int:
        """Purge what was moved to the trash before a time; return the number of rows."""
        rows = self.model._default_manager.filter(deleted_at__lt=before, **self.purgeable)
        return sum(self._purge_old(pk, before) for pk in list(rows.values_list("pk", flat=True)))

    @transaction.atomic
    def _purge_old(self, pk: UUID, before: datetime) -> bool:
        rows = self._rows(is_to_be_purged=True)
        row = rows.filter(pk=pk, deleted_at__lt=before, **self.purgeable).first()
        if row is None or self.is_in_use(row):  # or restored in the meantime
            return False
        self.purge(row, BY)
        return True

    def _rows(self, *, is_to_be_purged: bool) -> Any:
        """Return the rows with their lock; a deletion also waits for rows that refer to one."""
        rows = self.model._default_manager.select_for_update(
            of=("self",), no_key=not is_to_be_purged
        )
        return rows.select_related(*self.related)


def _name(row: Any) -> str:
    return str(row.name)
