"""What datasets and checkpoints take, for the pages of storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse

from datasets.models import Content, Ref, Repository, RepositoryKind, Upload, Version
from datasets.references import referred_to
from datasets.selectors import visible_repositories
from portal.core.messages import Message
from workspaces.quotas.space import SpaceQuery, SpaceSource, SpaceUse, Total

MOST_LOOSE = 5000  # versions of one answer


def _rows(
    asked: SpaceQuery, kind: RepositoryKind, *, is_deleted: bool = False
) -> QuerySet[Repository]:
    rows = visible_repositories(asked.actor, kind, is_deleted=is_deleted)
    return asked.narrow(rows)  # type: ignore[no-any-return]


def _total(kind: RepositoryKind) -> Callable[[SpaceQuery], Total]:
    def total(asked: SpaceQuery) -> Total:
        sums = [
            _rows(asked, kind, is_deleted=is_deleted).aggregate(
                n=Count("id"), bytes=Sum("stored_bytes")
            )
            for is_deleted in (False, True)
        ]
        return Total(sum(one["n"] for one in sums), sum(one["bytes"] or 0 for one in sums))

    return total


def _largest(kind: RepositoryKind) -> Callable[[SpaceQuery, int], Sequence[SpaceUse]]:
    def largest(asked: SpaceQuery, most: int) -> list[SpaceUse]:
        rows = _rows(asked, kind).order_by("-stored_bytes").filter(stored_bytes__gt=0)[:most]
        counts = dict(
            Version.objects.filter(repository__in=[row.id for row in rows])
            .values_list("repository")
            .annotate(Count("id"))
        )
        return [
            _use(asked, row, row.stored_bytes, detail=_versions(counts.get(row.id, 0)))
            for row in rows
        ]

    return largest


def _versions(n: int) -> Any:
    return Message.plural(n, "{n} version", "{n} versions", context="number of things", n=n)


def _unused(kind: RepositoryKind) -> Callable[[SpaceQuery, int], Sequence[SpaceUse]]:
    def unused(asked: SpaceQuery, most: int) -> list[SpaceUse]:
        return [*_trash(asked, kind, most), *_unnamed(asked, kind, most), *_loose(asked, kind)]

    return unused


def _trash(asked: SpaceQuery, kind: RepositoryKind, most: int) -> Iterator[SpaceUse]:
    page = reverse("repository-trash", kwargs={"org": asked.org, "kind": kind})
    days = timedelta(days=settings.MUSTER_TRASH_DAYS)
    rows = _rows(asked, kind, is_deleted=True).filter(stored_bytes__gt=0)
    for row in rows.order_by("-stored_bytes")[:most]:
        assert row.deleted_at is not None
        end = row.deleted_at + days
        reason = (
            Message("In the trash, kept by a legal hold")
            if row.legal_hold
            else Message("In the trash until {day}", day=f"{end:%Y-%m-%d}")
        )
        yield SpaceUse(
            row.name,
            row.stored_bytes,
            row.team.slug,
            row.owner.email,
            page,
            reason=reason,
            step=Message("Restore or delete permanently"),
        )


def _unnamed(asked: SpaceQuery, kind: RepositoryKind, most: int) -> Iterator[SpaceUse]:
    """Yield repositories with files that no version names, or uploads not completed."""
    unnamed = Content.objects.filter(repository=OuterRef("id"), is_used=False).order_by()
    sizes = unnamed.values("repository").annotate(n=Sum("size")).values("n")
    uploads = Upload.objects.filter(repository=OuterRef("id"), sha256="").order_by()
    counts = uploads.values("repository").annotate(n=Count("id")).values("n")
    rows = _rows(asked, kind).annotate(
        unnamed=Coalesce(Subquery(sizes), 0), waiting=Coalesce(Subquery(counts), 0)
    )
    for row in rows.filter(Q(unnamed__gt=0) | Q(waiting__gt=0)).order_by("-unnamed")[:most]:
        if row.unnamed:
            yield _use(
                asked,
                row,
                row.unnamed,
                "#space",
                reason=Message("Files that no version names; deleted after a day"),
                step=Message("Delete now", context="text, datasets"),
            )
        if row.waiting:
            yield _use(
                asked,
                row,
                0,
                "#space",
                reason=Message.plural(
                    row.waiting,
                    "{n} upload not completed; deleted after a day",
                    "{n} uploads not completed; deleted after a day",
                    n=row.waiting,
                ),
                step=Message("Resume or delete now"),
            )


def _loose(asked: SpaceQuery, kind: RepositoryKind) -> Iterator[SpaceUse]:
    """Yield repositories with versions to which no branch, tag, job or model refers."""
    named = Ref.objects.filter(version=OuterRef("id"))
    versions = Version.objects.filter(repository__in=_rows(asked, kind)).exclude(
        id__in=named.values("version_id")
    )
    found = dict(versions.values_list("id", "repository_id")[:MOST_LOOSE])
    kept = referred_to(found.keys())
    counts: dict[Any, int] = {}
    for pk, repository_id in found.items():
        counts[repository_id] = counts.get(repository_id, 0) + (pk not in kept)
    for row in _rows(asked, kind).filter(id__in=[pk for pk, n in counts.items() if n]):
        n = counts[row.id]
        yield _use(
            asked,
            row,
            0,
            "?keep_last=1&keep_days=0#retention",
            reason=Message.plural(
                n,
                "{n} version without a branch, tag, job or model",
                "{n} versions without a branch, tag, job or model",
                n=n,
            ),
            step=Message("See what retention would free"),
        )


def _use(
    asked: SpaceQuery, row: Repository, size: int, settings_part: str = "", **more: Any
) -> SpaceUse:
    kwargs = {"org": asked.org, "kind": row.kind, "repository": row.name}
    name = "repository-settings" if settings_part else "repository"
    page = reverse(name, kwargs=kwargs) + settings_part
    return SpaceUse(row.name, size, row.team.slug, row.owner.email, page, **more)


SOURCES = tuple(
    SpaceSource(kind.value, label, order, _total(kind), _largest(kind), _unused(kind))
    for kind, label, order in (
        (RepositoryKind.DATASET, Message("Datasets", context="what takes space"), 10),
        (RepositoryKind.CHECKPOINT, Message("Checkpoints", context="what takes space"), 20),
    )
)
