"""Paths of the protocols of this app."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("hf/", include("datasets.hub.urls")),
    path("dav/", include("datasets.folders.dav.urls")),
    path("xet/", include("datasets.xet.urls")),
]
