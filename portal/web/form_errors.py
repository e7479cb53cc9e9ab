"""Show the errors of a form on its page, each at the field that causes it.

`static/js/faults.js` moves them to the fields and restores the input. Without scripts they are above
the page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from django.contrib import messages
from django.http import HttpRequest

from portal.core.errors import PortalError
from portal.core.help import error_path
from portal.core.messages import Message
from portal.web.denials import record_denied_request

MOST_ERRORS = 20  # that are shown at a time
_MARK = "error "
# Codes whose section of the guide says no more than the message.
_PLAIN = frozenset({"invalid_input", "not_found", "conflict", "name_taken", "already_exists"})


@dataclass(frozen=True)
class FormError:
    """What a message of an error is about: the name of its field, and a page of the guide, or ""."""

    field: str
    help: str


class FormErrors:
    """`with FormErrors(request):` shows a PortalError of the block and goes on after the block."""

    def __init__(self, request: HttpRequest):
        self.request = request

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, PortalError):
            return False
        record_denied_request(self.request, error)
        _show(self.request, error)
        return True


def form_error_of(message: Any) -> FormError | None:
    """Return what a message of the page is about if it is an error of a form."""
    tags = message.extra_tags or ""
    return FormError(*json.loads(tags.removeprefix(_MARK))) if tags.startswith(_MARK) else None


def _show(request: HttpRequest, error: PortalError) -> None:
    about = "" if error.kind in _PLAIN else error_path(error.kind)
    for field, text in _texts(error)[:MOST_ERRORS]:
        messages.error(request, text, extra_tags=_MARK + json.dumps([field, about]))


def _texts(error: PortalError) -> Sequence[tuple[str, str]]:
    """Return pairs of field, which may be "", and message."""
    found = [(str(one["field"]), one["message"]) for one in error.data.get("errors", ())]
    if len(found) < 2:
        return [(found[0][0] if found else "", error.message)]
    return [(field, Message.joined(": ", (field, text))) for field, text in found]
