"""A form whose answer shows a secret does its work once: who loads that answer again sends the form again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.core.cache import cache
from django.utils.translation import gettext as _

KEPT = 24 * 3600  # seconds; a form that stood open for longer is filled in anew by a person


def is_again(request: Any) -> bool:
    """Whether this very form (`{% once %}` in it) was sent before; then it is said, and nothing is to be done. A form without the mark,
    as a program sends it, counts as new."""
    if not request.POST.get("once") or cache.add(_key(request), 1, KEPT):
        return False
    messages.warning(
        request,
        _(
            "This form was sent already, and nothing was done again. What it made is shown once: make another if it is lost."
        ),
    )
    return True


@contextmanager
def free_if_it_fails(request: Any) -> Iterator[None]:
    """Around the work of a form: one that failed made nothing, so who goes back to it may mend it and send it again."""
    try:
        yield
    except BaseException:
        cache.delete(_key(request))
        raise


def _key(request: Any) -> str:
    return f"once:{request.actor.user_id}:{hashlib.sha256(request.POST.get('once', '').encode()).hexdigest()}"
