"""Cache in each test process what would be the same for every test."""

from __future__ import annotations

from functools import partialmethod

from django.conf import settings

from portal.web.middleware import StaticFilesMiddleware

Known = dict[tuple[object, ...], dict[str, object]]


def read_static_files_once() -> None:
    """Read static files once: every `Client` builds a new middleware chain."""
    known: Known = {}
    StaticFilesMiddleware.add_files_from_finders = partialmethod(
        _add, known, StaticFilesMiddleware.add_files_from_finders
    )  # type: ignore[assignment]


def _add(self: StaticFilesMiddleware, known: Known, find: object) -> None:
    key = (
        self.static_prefix,
        self.max_age,
        *map(str, settings.STATICFILES_DIRS),
        *settings.STATICFILES_FINDERS,
    )
    if key not in known:
        others, self.files = self.files, {}
        find(self)  # type: ignore[operator]
        known[key], self.files = self.files, others
    self.files.update(known[key])
