"""What uploaded files of models take, for the pages of storage."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Sum
from django.urls import reverse

from portal.core.messages import Message
from registry.models import ModelVersion
from registry.selectors import visible_models
from workspaces.quotas.space import SpaceQuery, SpaceSource, SpaceUse, Total


def _sums(asked: SpaceQuery, *, is_deleted: bool) -> dict[UUID, int]:
    models = asked.narrow(visible_models(asked.actor, is_deleted=is_deleted))
    rows = ModelVersion.objects.filter(model__in=models, stored_bytes__gt=0)
    return dict(rows.values_list("model").annotate(n=Sum("stored_bytes")).order_by("-n"))


def _total(asked: SpaceQuery) -> Total:
    sums = [*_sums(asked, is_deleted=False).values(), *_sums(asked, is_deleted=True).values()]
    return Total(len(sums), sum(sums))


def _uses(asked: SpaceQuery, most: int, *, is_deleted: bool) -> list[SpaceUse]:
    sums = dict([*_sums(asked, is_deleted=is_deleted).items()][:most])
    trash = reverse("models-trash", args=[asked.org])
    return [
        SpaceUse(
            row.name,
            sums[row.id],
            row.team.slug,
            row.owner.email,
            trash if is_deleted else reverse("model", args=[asked.org, row.team.slug, row.name]),
            reason=Message("In the trash", context="why something takes space")
            if is_deleted
            else "",
            step=Message("Restore or delete permanently") if is_deleted else "",
        )
        for row in visible_models(asked.actor, is_deleted=is_deleted).filter(id__in=sums)
    ]


SOURCE = SpaceSource(
    "model",
    Message("Models", context="what takes space, machine learning"),
    30,
    _total,
    lambda asked, most: _uses(asked, most, is_deleted=False),
    lambda asked, most: _uses(asked, most, is_deleted=True),
)
