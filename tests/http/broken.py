"""A URL configuration with a view that raises (ROOT_URLCONF of one test)."""

from __future__ import annotations

from django.urls import path

from portal.urls import handler404, handler500  # noqa: F401  Django reads them here
from portal.urls import urlpatterns as ours


def broken(request):
    raise RuntimeError("a secret in the exception")


urlpatterns = [path("broken/", broken), *ours]
