"""The story has the properties on which other tests rely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.db import models, transaction

from portal.core.errors import NotFound
from portal.core.models import Event
from tests.story import Story, create_story
from tests.story_copy import copy_story
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope


def test_story_actors_have_their_permissions(story):
    assert story.actor(story.ada).may(Permission.ORG_ADMIN)
    assert story.actor(story.ben).may(Permission.JOBS_SUBMIT, story.vision.id)
    assert not story.actor(story.ben).may(Permission.JOBS_SUBMIT, story.speech.id)
    assert not story.actor(story.ben).may(Permission.ORG_ADMIN)
    assert story.actor(story.dot).is_operator


def test_story_stranger_cannot_see_other_organization(story):
    with pytest.raises(NotFound):
        story.actor(story.cyd, story.atlas)


def test_story_token_belongs_to_its_owner(story):
    assert story.token(story.ben).startswith("mst_")


def test_copied_story_has_same_rows_as_one_made_by_services(db):
    services = _rows(create_story)
    assert len(services) == 23 and services == _rows(copy_story) == _rows(copy_story)


def test_copied_story_has_new_ids_and_current_times(db):
    one, other = (_undone(copy_story) for _ in range(2))
    for field in fields(Story):
        assert getattr(one, field.name).pk != getattr(other, field.name).pk, field.name
    assert (
        one.ada.date_joined < other.ada.date_joined
        and one.vision.created_at < other.vision.created_at
    )
    one.ada.name = "Another"
    assert other.ada.name == _undone(copy_story).ada.name == "Ada"


def _undone(telling: Callable[[], Story], look: Callable[[], object] = lambda: None) -> Any:
    with transaction.atomic():
        story = telling()
        seen = look()
        transaction.set_rollback(True)
    return seen or story


def _rows(telling: Callable[[], Story]) -> list[str]:
    """Return all our rows with names in place of ids, and dates as present or absent."""
    with platform_scope("the story is told again"):
        return _undone(
            telling,
            lambda: sorted(
                _named(row)
                for model in apps.get_models()
                if model._meta.managed
                for row in _all(model)
            ),
        )


def _all(model: type[models.Model]) -> list[models.Model]:
    return (
        [] if model._meta.app_label in {"auth", "contenttypes"} else list(model._base_manager.all())
    )


def _named(row: models.Model) -> str:
    """Return a row as text, with the names of the rows to which it refers."""
    values = {}
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if field.is_relation and value is not None:
            value = str(
                getattr(getattr(row, field.name), "email", "") or getattr(row, field.name).slug
            )
        elif field.primary_key or field.name == "password" or isinstance(value, datetime | UUID):
            value = type(value).__name__
        values[field.name] = value
    return f"{row._meta.label} {values}"


def test_copied_story_events_refer_to_its_own_rows(db):
    _undone(copy_story)
    story = copy_story()
    of = {(event.kind, event.org_id, event.subject_id) for event in Event.objects.all()}
    assert ("org.created", story.atlas.id, story.atlas.id) in of
    assert ("team.created", story.borealis.id, story.north.id) in of
