"""Copy the story for each test: the same rows with new ids, without running the services.

The services create it once per process. Most tests start with it, so this saves much time.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db import models, transaction
from django.db.models.base import ModelState
from django.db.models.signals import post_save
from django.utils import timezone

from portal.core.events import EventRecord, record_all
from portal.core.models import Event
from tests.story import Story, create_story
from workspaces.tenancy.scope import platform_scope


@dataclass(frozen=True)
class _StoryRows:
    """The rows written while creating the story, in order, and the start and end time."""

    story: Story
    rows: list[models.Model]
    facts: list[EventRecord]
    began: datetime
    ended: datetime


_stored: list[_StoryRows] = []


@transaction.atomic
def copy_story() -> Story:
    """Return a copy; use the services the first time."""
    if _stored:
        return _write(_stored[0])
    began, before = timezone.now(), set(Event.objects.values_list("id", flat=True))
    with _written() as rows:
        story = create_story()
    new = Event.objects.exclude(id__in=before).order_by("position")
    facts = [
        EventRecord(e.kind, e.org_id, e.subject_type, e.subject_id, e.actor, e.data) for e in new
    ]
    _stored.append(
        _StoryRows(*_copies(story, rows, {}, lambda value: value), facts, began, timezone.now())
    )
    return story


@contextmanager
def _written() -> Iterator[list[models.Model]]:
    rows: list[models.Model] = []

    def note(instance: models.Model, created: bool, **_: Any) -> None:
        assert created, f"{instance!r} was changed afterwards; it has to be read again at the end"
        rows.append(instance)

    post_save.connect(note, weak=False)
    try:
        yield rows
    finally:
        post_save.disconnect(note)


def _write(stored: _StoryRows) -> Story:
    now = timezone.now()
    ids = {row.pk: row._meta.pk.get_default() for row in stored.rows}
    story, rows = _copies(
        stored.story,
        stored.rows,
        ids,
        lambda value: now if stored.began <= value <= stored.ended else value,
    )
    with platform_scope("the story is told again"):
        for model, some in groupby(_by_need(rows), key=type):
            model._base_manager.bulk_create(list(some))
        record_all(_again(fact, ids) for fact in stored.facts)
    return story


def _again(fact: EventRecord, ids: dict[Any, Any]) -> EventRecord:
    data = json.dumps(fact.data)
    for before, now in ids.items():
        data = data.replace(str(before), str(now))
    return replace(
        fact,
        org_id=ids.get(fact.org_id),
        subject_id=ids.get(fact.subject_id, fact.subject_id),
        data=json.loads(data),
    )


def _by_need(rows: list[models.Model]) -> list[models.Model]:
    """Sort rows by dependency: people, organizations, teams, then members."""
    kinds = {
        type(row): sum(field.is_relation for field in row._meta.concrete_fields) for row in rows
    }
    return sorted(rows, key=lambda row: (kinds[type(row)], row._meta.label))


def _copies(
    story: Story,
    rows: list[models.Model],
    ids: dict[Any, Any],
    when: Callable[[datetime], datetime],
) -> tuple[Story, list[models.Model]]:
    """Return independent copies of the rows that refer to each other like the originals."""
    copies = {row.pk: _copy(row, ids, when) for row in rows}
    for row in rows:
        known = {
            name: copies.get(other.pk)
            for name, other in row._state.fields_cache.items()
            if isinstance(other, models.Model)
        }
        copies[row.pk]._state.fields_cache = {
            name: other for name, other in known.items() if other is not None
        }
    people = {field.name: copies[getattr(story, field.name).pk] for field in fields(story)}
    return replace(story, **people), list(copies.values())


def _copy(
    row: models.Model, ids: dict[Any, Any], when: Callable[[datetime], datetime]
) -> models.Model:
    made = copy.copy(row)
    made.__dict__ = {name: value for name, value in row.__dict__.items() if name != "_state"}
    made._state = ModelState()
    made._state.adding, made._state.db = False, row._state.db
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if field.primary_key or field.is_relation:
            value = ids.get(value, value)
        setattr(
            made,
            field.attname,
            when(value) if isinstance(value, datetime) else copy.deepcopy(value),
        )
    return made
