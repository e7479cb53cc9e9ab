"""Every tenant model denies access without a scope and shows one organization only."""

from __future__ import annotations

import pytest
from django.apps import apps

from portal.core.ids import uuid7
from tests.each import each
from workspaces.models import Organization, Team
from workspaces.tenancy.models import TenantManager, TenantModel
from workspaces.tenancy.scope import NoScope, no_scope, org_scope, platform_scope

pytestmark = [pytest.mark.both_databases]
MODELS = [model for model in apps.get_models() if issubclass(model, TenantModel)]


@each("model", MODELS)
def test_tenant_model_without_scope_raises(model):
    with no_scope():
        for reach in (
            model.objects.all,
            model.objects.count,
            model.objects.create,
            model.objects.first,
            model._base_manager.all,
            model._default_manager.exists,
            lambda: model.objects.filter(id=uuid7()),
        ):
            with pytest.raises(NoScope):
                reach()


@each("model", MODELS)
def test_tenant_model_has_only_scoped_managers(model):
    assert all(isinstance(manager, TenantManager) for manager in model._meta.managers)
    assert isinstance(model._base_manager, TenantManager)


@each("model", MODELS)
def test_tenant_model_save_or_delete_in_other_scope_raises(model, db):
    row = model(org_id=uuid7())
    with org_scope(uuid7()):
        for write in (row.save, row.delete, lambda: model.objects.bulk_create([row])):
            with pytest.raises(NoScope):
                write()


def test_tenant_model_shows_rows_of_scope_only(story):
    with org_scope(story.atlas.id):
        assert set(Team.objects.values_list("slug", flat=True)) == {"vision", "speech"}
        assert not Team.objects.filter(id=story.north.id).exists()
    with platform_scope("test"):
        assert Team.objects.filter(id=story.north.id).exists()


def test_tenant_model_change_of_organization_raises(story):
    with org_scope(story.atlas.id), pytest.raises(NoScope):
        Team.objects.filter(slug="vision").update(org_id=story.borealis.id)


def test_scopes_nest_and_end_with_block(story):
    with org_scope(story.atlas.id):
        with org_scope(story.borealis.id):
            assert Team.objects.get().slug == "north"
        assert Team.objects.count() == 2
    with no_scope(), pytest.raises(NoScope):
        Team.objects.count()


def test_organization_is_not_tenant_model(story):
    with no_scope():
        assert Organization.objects.filter(slug="atlas").exists()
