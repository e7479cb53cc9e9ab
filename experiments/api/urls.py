from __future__ import annotations

from django.urls import path

from experiments.api import artifacts, event_files, experiments, importing, lineage, runs
from portal.api.schema import Tag

_EXPERIMENT = "orgs/<slug:org>/experiments/<str:number>"
_RUN = "orgs/<slug:org>/runs/<str:run>"
TAGS = (
    Tag("Experiments", 20, ("experiments",)),
    Tag("Runs", 30, ("runs",)),
    Tag("Lineage", 70, ("lineage",)),
)
urlpatterns = [
    path(
        "orgs/<slug:org>/jobs/<str:job>/event-files",
        event_files.JobEventFilesView.as_view(),
        name="api-job-event-files",
    ),
    path("orgs/<slug:org>/lineage", lineage.LineageView.as_view(), name="api-lineage"),
    path(
        "orgs/<slug:org>/experiments",
        experiments.ExperimentsView.as_view(),
        name="api-experiments",
    ),
    path(_EXPERIMENT, experiments.ExperimentView.as_view(), name="api-experiment"),
    path(
        f"{_EXPERIMENT}/restore",
        experiments.RestoreExperimentView.as_view(),
        name="api-experiment-restore",
    ),
    path(
        f"{_EXPERIMENT}/runs",
        experiments.ExperimentRunsView.as_view(),
        name="api-experiment-runs",
    ),
    path("orgs/<slug:org>/runs", runs.RunsView.as_view(), name="api-runs"),
    path("orgs/<slug:org>/runs/import", importing.ImportView.as_view(), name="api-runs-import"),
    path("orgs/<slug:org>/runs/act", runs.ActView.as_view(), name="api-runs-act"),
    path("orgs/<slug:org>/runs/compare", runs.CompareRunsView.as_view(), name="api-runs-compare"),
    path(_RUN, runs.RunView.as_view(), name="api-run"),
    path(f"{_RUN}/metrics", runs.RunMetricsView.as_view(), name="api-run-metrics"),
    path(f"{_RUN}/log", runs.RunLogView.as_view(), name="api-run-log"),
    path(f"{_RUN}/artifacts", artifacts.ArtifactsView.as_view(), name="api-run-artifacts"),
    path(
        f"{_RUN}/artifacts/<path:path>", artifacts.ArtifactView.as_view(), name="api-run-artifact"
    ),
]
