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
def test_a_tenant_model_refuses_every_way_in_without_a_scope(model):
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
def test_a_tenant_model_has_no_second_manager_that_forgets_the_scope(model):
    assert all(isinstance(manager, TenantManager) for manager in model._meta.managers)
    assert isinstance(model._base_manager, TenantManager)


@each("model", MODELS)
def test_a_row_of_another_organization_can_be_neither_saved_nor_deleted(model, db):
    row = model(org_id=uuid7())
    with org_scope(uuid7()):
        for write in (row.save, row.delete, lambda: model.objects.bulk_create([row])):
            with pytest.raises(NoScope):
                write()


def test_inside_one_organization_the_rows_of_others_are_not_there(story):
    with org_scope(story.atlas.id):
        assert set(Team.objects.values_list("slug", flat=True)) == {"vision", "speech"}
        assert not Team.objects.filter(id=story.north.id).exists()
    with platform_scope("test"):
        assert Team.objects.filter(id=story.north.id).exists()


def test_a_row_never_moves_to_another_organization(story):
    with org_scope(story.atlas.id), pytest.raises(NoScope):
        Team.objects.filter(slug="vision").update(org_id=story.borealis.id)


def test_scopes_nest_and_end_with_their_block(story):
    with org_scope(story.atlas.id):
        with org_scope(story.borealis.id):
            assert Team.objects.get().slug == "north"
        assert Team.objects.count() == 2
    with no_scope(), pytest.raises(NoScope):
        Team.objects.count()


def test_organizations_themselves_are_not_tenant_rows(story):
    with no_scope():
        assert Organization.objects.filter(slug="atlas").exists()
