"""URLs below /scim/v2/{provider}/."""

from __future__ import annotations

from django.urls import path

from workspaces.identity.scim import views

urlpatterns = [
    path("ServiceProviderConfig", views.config, name="account_scim_config"),
    path("Schemas", views.schemas, name="account_scim_schemas"),
    path("Schemas/<str:urn>", views.schemas, name="account_scim_schema"),
    path("ResourceTypes", views.types, name="account_scim_types"),
    path("ResourceTypes/<str:name>", views.types, name="account_scim_type"),
    path("Users", views.collection, {"kind": "User"}, name="account_scim_users"),
    path("Users/.search", views.search, {"kind": "User"}, name="account_scim_users_search"),
    path("Users/<str:record>", views.item, {"kind": "User"}, name="account_scim_user"),
    path("Groups", views.collection, {"kind": "Group"}, name="account_scim_groups"),
    path("Groups/.search", views.search, {"kind": "Group"}, name="account_scim_groups_search"),
    path("Groups/<str:record>", views.item, {"kind": "Group"}, name="account_scim_group"),
    path("<path:rest>", views.unsupported, name="account_scim_nothing"),
]
