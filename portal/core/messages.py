"""Texts for people that keep their template and parameters, to be translated where they are shown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, SupportsIndex

_STORED = '{"template": '


class Message(str):
    """An English text that knows its template and its named parameters.

    `Message("{name} is changed.", name=row.name)` is the text "Vision is changed.", for programs,
    logs and the API. Pages show the translation of the template, filled with the parameters
    (`portal.web.translation`). Parameters that are messages are translated as well. Write the first
    argument as a literal, because `manage.py messages` extracts it. A short text says in `context`
    what it is, as `Message("Down", context="state of a node")`.
    """

    template: str
    params: dict[str, str]
    context: str  # for translators; empty for a text that explains itself
    forms: tuple[str, str, int] | None  # singular, plural and the number that chooses

    def __new__(cls, template: str, /, *, context: str = "", **params: Any) -> Message:
        if isinstance(template, Message) and not params:
            return template
        values = {n: v if isinstance(v, Message) else format(v) for n, v in params.items()}
        message = super().__new__(cls, template.format(**values) if values else template)
        message.template, message.params, message.forms = template, values, None
        message.context = context
        return message

    @classmethod
    def plural(
        cls, number: int, one: str, many: str, /, *, context: str = "", **params: Any
    ) -> Message:
        """Return one of two templates by a number: "1 job waits.", "2 jobs wait."."""
        message = cls(one if number == 1 else many, context=context, **params)
        message.forms = (one, many, number)
        return message

    @classmethod
    def joined(cls, separator: str, parts: Iterable[str]) -> Message:
        """Join the texts that are not empty; the messages among them stay translatable."""
        named = {f"part{n}": part for n, part in enumerate(filter(None, parts))}
        return cls(separator.join(f"{{{name}}}" for name in named), **named)

    def format(self, /, **params: Any) -> Message:  # type: ignore[override]
        """Return the message of a table of templates, filled with parameters."""
        return Message(self.template, context=self.context, **params)

    def __str__(self) -> str:
        return self

    def __add__(self, other: str) -> Message:
        return Message.joined("", (self, other))

    def __radd__(self, other: str) -> Message:
        return Message.joined("", (other, self))

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        """Return the message itself for a slice that cuts nothing off, such as `[:500]`."""
        part = super().__getitem__(key)
        return self if part == self else part

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.template, self.params, self.forms, self.context)


def _restored(
    template: str, params: dict[str, Any], forms: Any = None, context: str = ""
) -> Message:
    message = Message(template, context=context, **params)
    message.forms = tuple(forms) if forms else None
    return message


class MessageEncoder(json.JSONEncoder):
    """Encode messages as {"template", "params"}, with "forms" of a plural and "context", for JSON."""

    def encode(self, o: Any) -> str:
        return super().encode(_packed(o))


class MessageDecoder(json.JSONDecoder):
    """Decode what `MessageEncoder` wrote."""

    def __init__(self, **options: Any):
        super().__init__(**options, object_hook=_unpacked)


def dumps(text: str) -> str:
    """Return the form of a text that is stored in a text column: JSON unless it is a plain text."""
    if text.startswith(_STORED):  # not ours, such as a line of a job's log
        text = Message.joined("", (text,))
    if isinstance(text, Message) and (text.params or text.context):
        return json.dumps(text, cls=MessageEncoder, ensure_ascii=False)
    return str(text)


def loads(stored: str) -> Message:
    """Return the text that `dumps` wrote."""
    is_json = stored.startswith(_STORED)
    return Message(json.loads(stored, cls=MessageDecoder) if is_json else stored)


def _packed(value: Any) -> Any:
    if isinstance(value, Message):
        more = {"forms": value.forms, "context": value.context}
        kept = {name: part for name, part in more.items() if part}
        return {"template": value.template, "params": _packed(value.params), **kept}
    if isinstance(value, dict):
        return {name: _packed(inner) for name, inner in value.items()}
    return [_packed(inner) for inner in value] if isinstance(value, list | tuple) else value


def _unpacked(value: dict[str, Any]) -> Any:
    is_message = (
        {"template", "params"} <= value.keys() <= {"template", "params", "forms", "context"}
    )
    return _restored(**value) if is_message else value
