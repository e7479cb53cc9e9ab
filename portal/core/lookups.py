"""Look-ups that Django lacks."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.models import lookups


@models.UUIDField.register_lookup
class Among(lookups.In):  # type: ignore[type-arg]
    """`id__among=ids`, as `id__in`; but on PostgreSQL one value, however many they are: a parameter for each costs more than to find the rows."""

    lookup_name = "among"

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        if not self.rhs:
            raise EmptyResultSet
        left, params = self.process_lhs(compiler, connection)
        return f"{left} = ANY(%s::uuid[])", [
            *params,
            f"{{{','.join([one.hex for one in self.rhs])}}}",
        ]
