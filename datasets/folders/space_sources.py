"""What workspaces take, for the pages of storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, QuerySet, Sum
from django.urls import reverse

from datasets.folders.selectors import visible_folders
from datasets.models import FolderUpload, SharedFolder
from portal.core.messages import Message
from workspaces.quotas.space import SpaceQuery, SpaceSource, SpaceUse, Total


def _rows(asked: SpaceQuery, *, is_deleted: bool = False) -> QuerySet[SharedFolder]:
    return asked.narrow(visible_folders(asked.actor, is_deleted=is_deleted))  # type: ignore[no-any-return]


def _total(asked: SpaceQuery) -> Total:
    sums = [
        _rows(asked, is_deleted=is_deleted).aggregate(n=Count("id"), bytes=Sum("used_bytes"))
        for is_deleted in (False, True)
    ]
    return Total(sum(one["n"] for one in sums), sum(one["bytes"] or 0 for one in sums))


def _largest(asked: SpaceQuery, most: int) -> Sequence[SpaceUse]:
    rows = _rows(asked).filter(used_bytes__gt=0).order_by("-used_bytes")[:most]
    return [_use(asked, row, detail=_files(row.files)) for row in rows]


def _files(n: int) -> Message | str:
    """Say how many files there were when they were last counted."""
    return (
        Message.plural(n, "{n} file", "{n} files", context="number of things", n=f"{n:,}")
        if n
        else ""
    )


def _unused(asked: SpaceQuery, most: int) -> Sequence[SpaceUse]:
    return [*_trash(asked, most), *_uploads(asked, most)]


def _trash(asked: SpaceQuery, most: int) -> Iterator[SpaceUse]:
    page = reverse("workspaces-trash", kwargs={"org": asked.org})
    days = timedelta(days=settings.MUSTER_TRASH_DAYS)
    rows = _rows(asked, is_deleted=True).filter(used_bytes__gt=0).order_by("-used_bytes")
    for row in rows[:most]:
        assert row.deleted_at is not None
        yield SpaceUse(
            row.name,
            row.used_bytes,
            row.team.slug,
            row.owner.email,
            page,
            reason=Message("In the trash until {day}", day=f"{row.deleted_at + days:%Y-%m-%d}"),
            step=Message("Restore or delete permanently"),
        )


def _uploads(asked: SpaceQuery, most: int) -> Iterator[SpaceUse]:
    """Yield workspaces with uploads that are not complete; they hold no storage yet."""
    uploads = FolderUpload.objects.filter(folder__in=_rows(asked), is_complete=False)
    counts = dict(uploads.values_list("folder").annotate(n=Count("id")).order_by("-n")[:most])
    for row in _rows(asked).filter(id__in=counts):
        reason = Message.plural(
            counts[row.id],
            "{n} upload not completed; deleted after a day",
            "{n} uploads not completed; deleted after a day",
            n=counts[row.id],
        )
        yield _use(asked, row, 0, reason=reason, step=Message("Resume it, or wait"))


def _use(
    asked: SpaceQuery, row: SharedFolder, size: int | None = None, **more: Message | str
) -> SpaceUse:
    page = reverse("workspace", kwargs={"org": asked.org, "workspace": row.name})
    size = row.used_bytes if size is None else size
    return SpaceUse(row.name, size, row.team.slug, row.owner.email, page, **more)


SOURCE = SpaceSource(
    "workspace", Message("Workspaces", context="what takes space"), 15, _total, _largest, _unused
)
