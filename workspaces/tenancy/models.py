"""Base classes for models whose rows belong to an organization."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self, TypeVar

from django.db import models

from portal.core.ids import uuid7
from workspaces.tenancy.scope import NoScope, current

M = TypeVar("M", bound="TenantModel")


class TenantQuerySet(models.QuerySet[M]):
    """Check bulk writes against the tenant scope, as `TenantModel.save` does."""

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        rows = list(objs)
        for row in rows:
            row.check_scope()
        return super().bulk_create(rows, *args, **kwargs)

    def update(self, **fields: Any) -> int:
        if "org" in fields or "org_id" in fields:
            raise NoScope("a row cannot be moved to another organization")
        return super().update(**fields)


class TenantManager(models.Manager[M]):
    """Filter every query by the tenant scope.

    All queries start at `get_queryset`, so this check cannot be bypassed as a list of denied
    methods could.
    """

    use_in_migrations = False

    def get_queryset(self) -> TenantQuerySet[M]:
        scope = current()
        rows: TenantQuerySet[M] = TenantQuerySet(self.model, using=self._db)
        return rows if scope.org_id is None else rows.filter(org_id=scope.org_id)


class TenantModel(models.Model):
    """A row of one organization, invisible to others."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    org = models.ForeignKey("workspaces.Organization", on_delete=models.CASCADE, related_name="+")

    objects: ClassVar[TenantManager[Any]] = TenantManager()

    class Meta:
        abstract = True
        base_manager_name = "objects"
        default_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.check_scope()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        self.check_scope()
        return super().delete(*args, **kwargs)

    def check_scope(self) -> Self:
        """Return self.

        Raises NoScope if the row belongs to an organization other than the current one.
        """
        scope = current()
        if scope.org_id is not None and self.org_id != scope.org_id:
            raise NoScope(
                f"{type(self).__name__} belongs to another organization than the current one"
            )
        return self
