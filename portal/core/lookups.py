"""Register lookups that Django lacks."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.models import lookups


@models.UUIDField.register_lookup
class Among(lookups.In):  # type: ignore[type-arg]
    """`id__among=ids`: like `id__in`, but passes all ids as one parameter on PostgreSQL.

    One parameter per id costs more than finding the rows.
    """

    lookup_name = "among"

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        if not self.rhs:
            raise EmptyResultSet
        left, params = self.process_lhs(compiler, connection)
        return f"{left} = ANY(%s::uuid[])", [
            *params,
            f"{{{','.join([one.hex for one in self.rhs])}}}",
        ]
