"""Run one test over a table of rows, isolated from each other, and report every failure."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.db import connection, transaction

from workspaces.access.custom_roles import invalidate


def each(
    names: str | tuple[str, ...], rows: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a test its rows one after the other, like `pytest.mark.parametrize`, but as one test.

    Fixtures are made once for all rows. What a row writes to the database, the cache or the
    mailbox is undone before the next; objects in memory are not.
    """
    arguments = (
        [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    )
    table = list(rows)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        fixtures = [
            parameter for name, parameter in signature.parameters.items() if name not in arguments
        ]

        @functools.wraps(test)
        def loop(**given: Any) -> None:
            assert table, "a table without rows tests nothing"
            failures = []
            for row in table:
                values = (row,) if len(arguments) == 1 else row
                try:
                    with _undone():
                        test(**given, **dict(zip(arguments, values, strict=True)))
                except (Exception, pytest.fail.Exception):
                    failures.append(f"{row!r}: {traceback.format_exc(limit=-4)}")
            if failures:
                pytest.fail(
                    f"{len(failures)} of {len(table)} rows\n" + "\n".join(failures), pytrace=False
                )

        loop.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return loop

    return decorate


@contextmanager
def _undone() -> Iterator[None]:
    """Roll back to this point after commit checks; drop caches and messages."""
    if not connection.in_atomic_block:
        yield
        return
    try:
        with transaction.atomic():
            yield
            if not connection.needs_rollback:
                connection.check_constraints()
            transaction.set_rollback(True)
    finally:
        invalidate()
        cache.clear()
        getattr(mail, "outbox", []).clear()
