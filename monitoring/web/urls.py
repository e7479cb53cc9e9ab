from __future__ import annotations

from django.urls import path

from monitoring.web import views

urlpatterns = [
    path("<slug:org>/nodes", views.nodes, name="nodes"),
    path("<slug:org>/nodes/<str:node>", views.node, name="node"),
]
