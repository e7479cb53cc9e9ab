from __future__ import annotations

from django.urls import path

from datasets.folders.dav.views import dav

_ONE = "<slug:org>/<str:workspace>"
urlpatterns = [
    path(_ONE, dav, name="dav"),
    path(f"{_ONE}/", dav, name="dav-root"),
    path(f"{_ONE}/<path:path>", dav, name="dav-path"),
]
