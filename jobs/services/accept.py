"""Write the rows of a new job: the job, its attempts and the event.

On PostgreSQL this is a single statement, which is atomic by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection, models

from jobs.models import Attempt, Job
from portal.core.bulk import repeat_row
from portal.core.events import EventRecord, caller, record, request_id
from portal.core.ids import uuid7
from portal.core.message_fields import MessageField
from portal.core.models import Event
from workspaces.models import Organization

_LOW = (1 << 64) - 1
# The number is counted by the statement itself.
_JOB = tuple(f.attname for f in Job._meta.concrete_fields if f.name != "number")


def is_one_statement() -> bool:
    """Return whether `write` is atomic without a surrounding transaction."""
    return connection.vendor == "postgresql"


def write(job: Job, tasks: int, *, is_due: bool, actor: str, data: Mapping[str, Any]) -> None:
    """Insert the job under its organization's next number, with its attempts and the event.

    Call it last: the organization's row stays locked until the commit.
    """
    job.check_scope()
    if is_one_statement():
        _write_at_once(job, tasks, is_due, actor, data)
        return
    job.number = _next_number(job.org_id)
    job.save(force_insert=True)
    _queue(job, tasks, job.state_at, is_due)
    record(
        EventRecord(
            "job.submitted", job.org_id, "job", job.id, actor, {**data, "number": job.number}
        )
    )


def _write_at_once(job: Job, tasks: int, is_due: bool, actor: str, data: Mapping[str, Any]) -> None:
    attempt, at, by = uuid7().int, job.state_at, caller.get()
    values = {name: _value(Job, name, getattr(job, name)) for name in _JOB} | {
        "attempt_high": f"{attempt >> 64:016x}",
        "attempt_low": (attempt & _LOW) - (1 << 64),  # signed; to_hex prints the same bits
        "last": tasks - 1,
        "due_at": at if is_due else None,
        "wait_since": at if job.wait else None,
        "event": uuid7(),
        "actor": by.who(actor),
        "data": _value(Event, "data", dict(data)),
        "request_id": request_id.get(),
        "on_behalf_of": by.on_behalf_of,
        "via": by.via,
        "address": by.address,
    }
    with connection.cursor() as cursor:
        cursor.execute(_statement(), values)
        job.number = int(cursor.fetchone()[0])


@cache
def _statement() -> str:
    """Build the SQL from the models; columns without a given value get the field's default."""
    organization = connection.ops.quote_name(Organization._meta.db_table)
    job = _insert(Job, "counted", {name: f"%({name})s" for name in _JOB} | {"number": "n"})
    attempts = _insert(
        Attempt,
        "counted, generate_series(0, %(last)s) AS task",
        {
            "id": "(%(attempt_high)s || lpad(to_hex(%(attempt_low)s + task), 16, '0'))::uuid",
            "job_id": "%(id)s",
            "index": "task",
            **{
                name: f"%({name})s"
                for name in (
                    "org_id",
                    "cluster_id",
                    "priority",
                    "state_at",
                    "due_at",
                    "wait",
                    "wait_since",
                )
            },
            "queued_at": "%(state_at)s",
        },
    )
    event = _insert(
        Event,
        "counted",
        {
            "id": "%(event)s",
            "at": "%(state_at)s",
            "kind": "'job.submitted'",
            "org_id": "%(org_id)s",
            "actor": "%(actor)s",
            "subject_type": "'job'",
            "subject_id": "%(id)s",
            "data": "%(data)s || jsonb_build_object('number', n)",
            **{name: f"%({name})s" for name in ("request_id", "on_behalf_of", "via", "address")},
        },
    )
    return (
        f"WITH counted AS (UPDATE {organization} SET last_job_number = last_job_number + 1 WHERE id = %(org_id)s "  # noqa: S608  names
        f"RETURNING last_job_number AS n), job AS ({job}), attempts AS ({attempts}), event AS "
        f"({event}) SELECT n FROM counted"
    )


def _insert(model: type[models.Model], rows: str, given: Mapping[str, str]) -> str:
    """Return INSERT … SELECT over every column: the given expression, else the default."""
    quote, fields = (
        connection.ops.quote_name,
        [f for f in model._meta.concrete_fields if not isinstance(f, models.AutoField)],
    )
    values = ", ".join(given[f.attname] if f.attname in given else _default(f) for f in fields)
    columns = ", ".join(quote(str(f.column)) for f in fields)
    return f"INSERT INTO {quote(model._meta.db_table)} ({columns}) SELECT {values} FROM {rows}"  # noqa: S608  names and defaults


def _default(field: models.Field[Any, Any]) -> str:
    match field.get_default():
        case None:
            return "NULL"
        case bool(value):
            return "true" if value else "false"
        case int(value):
            return str(int(value))
        case "":
            return "''"
        case {} as value if not value:
            return "'{}'"
    raise TypeError(f"{field} has a default that the bulk statement cannot write: pass its value")


def _value(model: type[models.Model], name: str, value: Any) -> Any:
    return _adapt(model, name)(value)


@cache
def _adapt(model: type[models.Model], name: str) -> Any:
    """Return the adapter for a field: JSON and messages need one, psycopg handles the rest."""
    field = next(f for f in model._meta.concrete_fields if f.attname == name)
    if isinstance(field, models.JSONField | MessageField):
        return lambda value: field.get_db_prep_save(value, connection)
    return lambda value: value


def _next_number(org_id: UUID) -> int:
    table = connection.ops.quote_name(Organization._meta.db_table)
    sql = f"UPDATE {table} SET last_job_number = last_job_number + 1 WHERE id = %s RETURNING last_job_number"  # noqa: S608  no input
    with connection.cursor() as cursor:
        cursor.execute(sql, [Organization._meta.pk.get_db_prep_value(org_id, connection)])
        return int(cursor.fetchone()[0])


def _queue(job: Job, tasks: int, at: datetime, is_due: bool) -> None:
    first = Attempt.objects.create(
        org_id=job.org_id,
        job=job,
        cluster_id=job.cluster_id,
        index=0,
        priority=job.priority,
        state_at=at,
        queued_at=at,
        due_at=at if is_due else None,
        wait=job.wait,
        wait_since=at if job.wait else None,
    )
    if tasks > 1:
        repeat_row(first, "index", tasks - 1)
