"""Define sections of a spec: frozen models that ignore empty values and refuse unknown keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from schedulers.spec.errors import invalid, nearest, shown

Fault = tuple[tuple[str, ...], str]
"""The path of a field below a section, and the message."""


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    elsewhere: ClassVar[Mapping[str, str]] = {}
    """Keys of other tools and where they belong here, for error messages."""
    never_empty: ClassVar[Iterable[str]] = ()
    """Fields whose empty value is an error instead of the default."""

    @model_validator(mode="before")
    @classmethod
    def _drop_empty_values(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise invalid(f"must be a mapping of keys to values, not {shown(data)}")
        optional = cls.model_fields.keys() - cls.never_empty
        return {
            key: value for key, value in data.items() if value is not None or key not in optional
        }

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        faults = list(self.faults())
        if faults:
            raise ValidationError.from_exception_data(
                type(self).__name__,
                [
                    {"type": invalid(message), "loc": path, "input": None}
                    for path, message in faults
                ],
            )
        return self

    def faults(self) -> Iterable[Fault]:
        """Return what is wrong between fields that are each valid."""
        return ()

    @classmethod
    def message_for_unknown(cls, key: str) -> str:
        if key.lower() in cls.elsewhere:
            return f"is not a valid key: {cls.elsewhere[key.lower()]}"
        known = list(cls.model_fields)
        return f"is not a known key{nearest(key, known) or '; known are ' + ', '.join(known)}"
