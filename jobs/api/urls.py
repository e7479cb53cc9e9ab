from __future__ import annotations

from django.urls import path

from jobs.api import output, views

_JOB = "orgs/<slug:org>/jobs/<str:job>"
urlpatterns = [
    path("orgs/<slug:org>/jobs", views.JobsView.as_view(), name="api-jobs"),
    path("orgs/<slug:org>/jobs/validate", views.ValidateView.as_view(), name="api-jobs-validate"),
    path(_JOB, views.JobView.as_view(), name="api-job"),
    path(f"{_JOB}/cancel", views.CancelView.as_view(), name="api-job-cancel"),
    path(f"{_JOB}/hold", views.HoldView.as_view(), name="api-job-hold"),
    path(f"{_JOB}/release", views.ReleaseView.as_view(), name="api-job-release"),
    path(f"{_JOB}/rerun", views.RerunView.as_view(), name="api-job-rerun"),
    path(f"{_JOB}/pending", views.PendingView.as_view(), name="api-job-pending"),
    path(f"{_JOB}/attempts", views.AttemptsView.as_view(), name="api-job-attempts"),
    path(f"{_JOB}/events", views.EventsView.as_view(), name="api-job-events"),
    path(f"{_JOB}/logs", output.LogView.as_view(), name="api-job-logs"),
    path(f"{_JOB}/logs/download", output.LogDownloadView.as_view(), name="api-job-log-download"),
    path(f"{_JOB}/logs/certificate", output.CertificateView.as_view(), name="api-job-log-certificate"),
    path(f"{_JOB}/logs/search", output.LogSearchView.as_view(), name="api-job-log-search"),
    path(f"{_JOB}/metrics", output.MetricsView.as_view(), name="api-job-metrics"),
    path(f"{_JOB}/exec", output.ExecView.as_view(), name="api-job-exec"),
]
