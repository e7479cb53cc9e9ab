"""Translate the texts of services, backends and errors, where pages show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.functional import lazy
from django.utils.translation import gettext, ngettext, npgettext, pgettext

from portal.core.messages import Message


def lazy_choices(pairs: Iterable[tuple[str, Message]]) -> tuple[tuple[str, Any], ...]:
    """Return the choices of a filter, whose labels are translated when they are shown."""
    return tuple((value, _lazily(label)) for value, label in pairs)


def translated(text: str, context: str = "") -> str:
    """Return a text in the active language; English if the catalogue does not have it.

    `context` is for a word that no message carries, such as the name of a state.
    """
    if not text:  # gettext("") is the header of the catalogue
        return ""
    if not isinstance(text, Message):
        text = Message(text, context=context)
    template = _template(text)
    if not text.params:
        return template
    params = {n: translated(v) if isinstance(v, Message) else v for n, v in text.params.items()}
    shown = template.format(**params)
    return shown.replace("。 ", "。")  # Japanese sentences follow each other without a space


def _template(text: Message) -> str:
    if not text.context:
        return ngettext(*text.forms) if text.forms else gettext(text.template)
    if text.forms:
        return npgettext(text.context, *text.forms)
    return pgettext(text.context, text.template)


_lazily = lazy(translated, str)
