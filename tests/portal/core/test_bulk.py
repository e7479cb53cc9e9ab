"""Rows inserted in bulk equal rows inserted one by one."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.db import DataError, transaction

from portal.core import clock
from portal.core.bulk import insert_rows, repeat_row
from portal.core.ids import uuid7
from portal.core.models import Event
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import platform_scope

pytestmark = pytest.mark.both_databases  # COPY on PostgreSQL, INSERT on SQLite
AWKWARD = {
    "text": 'quote " tab \t newline \n backslash \\ \\N \\. ä 漢',
    "none": None,
    "n": 1.5,
    "deep": [{"a": []}],
}


def test_insert_rows_stores_values_exactly(db):
    at, ids = clock.now(), [uuid7() for _ in range(3)]
    insert_rows(
        Event,
        ("id", "at", "kind", "org_id", "actor", "subject_type", "subject_id", "data", "request_id"),
        [(pk, at, "t", None, "tab\t\\N\n", "", ids[0], AWKWARD, "") for pk in ids],
    )
    found = list(Event.objects.filter(id__in=ids).order_by("position"))
    assert [event.id for event in found] == ids
    assert (found[1].data, found[1].actor, found[1].at, found[1].org_id, found[1].subject_id) == (
        AWKWARD,
        "tab\t\\N\n",
        at,
        None,
        ids[0],
    )


def test_insert_rows_with_conflicts_keeps_existing_rows(db):
    at, ids = clock.now(), [uuid7(), uuid7()]
    names = (
        "id",
        "at",
        "kind",
        "org_id",
        "actor",
        "on_behalf_of",
        "via",
        "address",
        "subject_type",
        "subject_id",
        "data",
        "request_id",
    )
    for kind, some in (("first", ids[:1]), ("second", ids)):
        insert_rows(
            Event,
            names,
            [(pk, at, kind, None, "", "", "", "", "", None, AWKWARD, "") for pk in some],
            is_new=False,
        )
    assert dict(Event.objects.filter(id__in=ids).values_list("id", "kind")) == {
        ids[0]: "first",
        ids[1]: "second",
    }


def test_insert_rows_accepts_no_rows(db):
    insert_rows(Event, ("id", "at", "kind"), [])
    assert not Event.objects.exists()


def test_repeat_row_changes_only_key_and_counter(story):
    cluster_with()
    job = submit(story, array={"size": 300})
    with platform_scope("test"):
        tasks = list(job.attempts.order_by("id"))
        assert [task.index for task in tasks] == list(range(300))
        assert len({task.id for task in tasks}) == 300 and {task.id.version for task in tasks} == {
            7
        }
        alike = {
            name: {repr(getattr(task, name)) for task in tasks}
            for name in (field.attname for field in type(tasks[0])._meta.concrete_fields)
            if name not in {"id", "index"}
        }
        assert {name for name, values in alike.items() if len(values) > 1} == set()


def test_repeat_row_continues_the_counter(story):
    cluster_with()
    with platform_scope("test"):
        first = submit(story).attempts.get()
        repeat_row(first, "index", 2)
        assert sorted(first.job.attempts.values_list("index", flat=True)) == [0, 1, 2]


def test_insert_rows_keeps_equal_values_of_different_types(db):
    at, ids = clock.now(), [uuid7() for _ in range(3)]
    names = (
        "id",
        "at",
        "kind",
        "org_id",
        "actor",
        "on_behalf_of",
        "via",
        "address",
        "subject_type",
        "subject_id",
        "data",
        "request_id",
    )
    result = [{"flag": flag} for flag in (True, 1, True)]
    insert_rows(
        Event,
        names,
        [
            (pk, at, "same", None, actor, "", "", "", "", ids[0], data, "")
            for pk, actor, data in zip(ids, "aba", result, strict=True)
        ],
        is_new=False,
    )
    found = {event.id: event for event in Event.objects.filter(id__in=ids)}
    assert [found[pk].actor for pk in ids] == ["a", "b", "a"]
    assert [repr(found[pk].data) for pk in ids] == [repr(data) for data in result]
    assert {(event.at, event.kind, event.org_id, event.subject_id) for event in found.values()} == {
        (at, "same", None, ids[0])
    }


def test_insert_rows_refuses_text_too_long_for_its_column(db):
    at = clock.now()
    names = (
        "id",
        "at",
        "kind",
        "org_id",
        "actor",
        "on_behalf_of",
        "via",
        "address",
        "subject_type",
        "subject_id",
        "data",
        "request_id",
    )
    for kinds in ({"x" * 90}, {"x" * 90, "y" * 90}):
        with (
            suppress(DataError),
            transaction.atomic(),
        ):  # PostgreSQL refuses it, SQLite stores it
            insert_rows(
                Event,
                names,
                [(uuid7(), at, kind, None, "", "", "", "", "", None, {}, "") for kind in kinds],
                is_new=False,
            )
    assert {len(event.kind) for event in Event.objects.all()} <= {90}
