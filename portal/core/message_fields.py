"""Model fields that store texts with their templates and parameters.

Migrations see the Django fields that they derive from.
"""

from __future__ import annotations

from typing import Any

from django.db import models

from portal.core import messages


class MessageField(models.TextField):  # type: ignore[type-arg]
    """A text that is read as the `Message` it was stored as, to be translated where it is shown."""

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return value if value is None else messages.dumps(value)

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        return value if value is None else messages.loads(value)

    def deconstruct(self) -> Any:
        name, _path, args, options = super().deconstruct()
        return name, "django.db.models.TextField", args, options


class MessageJSONField(models.JSONField):
    """JSON in which texts may be messages."""

    def __init__(self, *args: Any, **options: Any):
        options |= {"encoder": messages.MessageEncoder, "decoder": messages.MessageDecoder}
        super().__init__(*args, **options)

    def deconstruct(self) -> Any:
        name, _path, args, options = super().deconstruct()
        del options["encoder"], options["decoder"]
        return name, "django.db.models.JSONField", args, options
