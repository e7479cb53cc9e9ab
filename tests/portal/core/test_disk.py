"""Full disks are recognized, and told apart from each other and from other errors."""

from __future__ import annotations

import errno
import sqlite3

import psycopg
import pytest
from django.db import OperationalError

from portal.core.disk import full_disk


def sqlite_error(tmp_path, pragma: str) -> sqlite3.Error:
    """Return a real error of SQLite."""
    with sqlite3.connect(tmp_path / "x.sqlite3") as base:
        base.execute("CREATE TABLE t (x)")
        base.commit()
        base.execute(pragma)
        with pytest.raises(sqlite3.Error) as caught:
            base.execute("INSERT INTO t VALUES (zeroblob(1000000))")
        return caught.value


@pytest.mark.parametrize(
    ("pragma", "words"),
    [
        ("PRAGMA max_page_count=3", "keeps the database, is full"),
        ("PRAGMA query_only=1", "can only be read now"),
    ],
)
def test_full_disk_recognizes_sqlite_errors(tmp_path, pragma, words):
    try:
        raise OperationalError("as Django wraps it") from sqlite_error(tmp_path, pragma)
    except OperationalError as error:
        message = full_disk(error)
    assert (
        message is not None
        and words in message.message
        and message.http == 503
        and message.data == {"retry_after": 10}
    )


def test_full_disk_recognizes_postgresql_errors():
    message = full_disk(psycopg.errors.DiskFull("could not extend file"))
    assert message is not None and "database server is full" in message.message


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "is full"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "can only be read"),
        (errno.EFBIG, "no longer files"),
    ],
)
def test_full_disk_recognizes_os_errors_in_the_chain(number, words):
    try:
        try:
            raise OSError(number, "no")
        except OSError:
            raise ValueError("while that was handled")  # noqa: B904  # intended
    except ValueError as error:
        message = full_disk(error)
    assert message is not None and "MUSTER_HOME" in message.message and words in message.message


@pytest.mark.parametrize(
    "error",
    [
        None,
        ValueError("x"),
        OSError(errno.ENOENT, "no"),
        OSError("x"),
        sqlite3.OperationalError("locked"),
        psycopg.errors.UniqueViolation("x"),
        OperationalError("gone"),
    ],
)
def test_full_disk_ignores_other_errors(error):
    assert full_disk(error) is None


def test_full_disk_handles_cyclic_causes():
    error, other = ValueError("a"), ValueError("b")
    error.__cause__, other.__cause__ = other, error
    assert full_disk(error) is None
