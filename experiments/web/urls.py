from __future__ import annotations

from django.urls import path

from experiments.web import bulk, comparing, run, runs, views

urlpatterns = [
    path("<slug:org>/experiments", views.experiments, name="experiments"),
    path("<slug:org>/experiments/<str:number>", runs.experiment, name="experiment"),
    path("<slug:org>/experiments/<str:number>/act", bulk.act_on_runs, name="experiment-runs-act"),
    path(
        "<slug:org>/experiments/<str:number>/edit", views.act_on_experiment, name="experiment-act"
    ),
    path("<slug:org>/compare", comparing.compare, name="compare-runs"),
    path("<slug:org>/runs/<str:run>", run.run_page, name="run"),
    path("<slug:org>/runs/<str:run>/act", run.act_on_run, name="run-act"),
    path("<slug:org>/runs/<str:run>/register", run.register, name="run-register"),
    path("<slug:org>/runs/<str:run>/curves", run.curves, name="run-curves"),
]
