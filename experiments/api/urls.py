from __future__ import annotations

from django.urls import path

from experiments.api import artifacts, importing

_RUN = "orgs/<slug:org>/runs/<str:run>"
urlpatterns = [
    path("orgs/<slug:org>/runs/import", importing.ImportView.as_view(), name="api-runs-import"),
    path(f"{_RUN}/artifacts", artifacts.ArtifactsView.as_view(), name="api-run-artifacts"),
    path(
        f"{_RUN}/artifacts/<path:path>", artifacts.ArtifactView.as_view(), name="api-run-artifact"
    ),
]
