"""Detect resubmission of forms whose response shows a secret, as by a reload."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.core.cache import cache
from django.utils.translation import gettext as _

KEPT = 24 * 3600  # seconds; a form left open longer has been filled in again


def is_resubmitted(request: Any) -> bool:
    """Return whether this form (with `{% once %}`) was submitted before, adding a message if so.

    Forms without the mark, as sent by programs, count as new.
    """
    if not request.POST.get("once") or cache.add(_key(request), 1, KEPT):
        return False
    messages.warning(
        request,
        _(
            "This form was already sent, so nothing was done again. What it created is shown once: "
            "make another if it is lost."
        ),
    )
    return True


@contextmanager
def release_on_failure(request: Any) -> Iterator[None]:
    """Allow resubmission if the wrapped work fails, so that the form can be corrected."""
    try:
        yield
    except BaseException:
        cache.delete(_key(request))
        raise


def _key(request: Any) -> str:
    return f"once:{request.actor.user_id}:{hashlib.sha256(request.POST.get('once', '').encode()).hexdigest()}"
