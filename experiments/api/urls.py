from __future__ import annotations

from django.urls import path

from experiments.api import artifacts

_RUN = "orgs/<slug:org>/runs/<str:run>"
urlpatterns = [
    path(f"{_RUN}/artifacts", artifacts.ArtifactsView.as_view(), name="api-run-artifacts"),
    path(
        f"{_RUN}/artifacts/<path:path>", artifacts.ArtifactView.as_view(), name="api-run-artifact"
    ),
]
