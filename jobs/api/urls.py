from __future__ import annotations

from django.urls import path

from jobs.api import (
    comparing,
    idle_rules,
    output,
    outputs,
    quotas,
    ssh,
    storage,
    utilization,
    views,
)
from portal.api.schema import Tag

_POOL = "orgs/<slug:org>/pools/<str:pool>"
_JOB = "orgs/<slug:org>/jobs/<str:job>"
TAGS = (
    Tag("Jobs", 10, ("jobs", "ssh-certificates")),
    Tag("Quotas", 160, ("quotas",)),
)
urlpatterns = [
    path(
        "orgs/<slug:org>/quotas/preview",
        quotas.QuotaPreviewView.as_view(),
        name="api-quotas-preview",
    ),
    path("orgs/<slug:org>/gpu-time", utilization.GpuTimeView.as_view(), name="api-gpu-time"),
    path("orgs/<slug:org>/idle-gpus", utilization.IdleGpusView.as_view(), name="api-idle-gpus"),
    path("orgs/<slug:org>/storage/use", storage.UseView.as_view(), name="api-storage-use"),
    path("orgs/<slug:org>/storage", storage.StorageView.as_view(), name="api-storage"),
    path(
        "orgs/<slug:org>/ssh-certificates",
        ssh.CertificatesView.as_view(),
        name="api-ssh-certificates",
    ),
    path("orgs/<slug:org>/jobs", views.JobsView.as_view(), name="api-jobs"),
    path("orgs/<slug:org>/jobs/validate", views.ValidateView.as_view(), name="api-jobs-validate"),
    path("orgs/<slug:org>/jobs/options", views.JobOptionsView.as_view(), name="api-jobs-options"),
    path("orgs/<slug:org>/jobs/compare", comparing.CompareView.as_view(), name="api-jobs-compare"),
    path(_JOB, views.JobView.as_view(), name="api-job"),
    path(f"{_JOB}/cancel", views.CancelView.as_view(), name="api-job-cancel"),
    path(f"{_JOB}/keep", idle_rules.KeepView.as_view(), name="api-job-keep"),
    path(f"{_JOB}/hold", views.HoldView.as_view(), name="api-job-hold"),
    path(f"{_JOB}/release", views.ReleaseView.as_view(), name="api-job-release"),
    path(f"{_JOB}/rerun", views.RerunView.as_view(), name="api-job-rerun"),
    path(f"{_JOB}/pending", views.PendingView.as_view(), name="api-job-pending"),
    path(f"{_JOB}/attempts", views.AttemptsView.as_view(), name="api-job-attempts"),
    path(f"{_JOB}/events", views.EventsView.as_view(), name="api-job-events"),
    path(f"{_JOB}/logs", output.LogView.as_view(), name="api-job-logs"),
    path(f"{_JOB}/logs/download", output.LogDownloadView.as_view(), name="api-job-log-download"),
    path(
        f"{_JOB}/logs/certificate", output.CertificateView.as_view(), name="api-job-log-certificate"
    ),
    path(f"{_JOB}/logs/search", output.LogSearchView.as_view(), name="api-job-log-search"),
    path(f"{_JOB}/metrics", output.MetricsView.as_view(), name="api-job-metrics"),
    path(f"{_JOB}/outputs", outputs.JobOutputsView.as_view(), name="api-job-outputs"),
    path(f"{_JOB}/outputs/<str:output>", outputs.JobOutputView.as_view(), name="api-job-output"),
    path(
        f"{_JOB}/outputs/<str:output>/versions",
        outputs.JobOutputVersionsView.as_view(),
        name="api-job-output-versions",
    ),
    path(f"{_JOB}/exec", output.ExecView.as_view(), name="api-job-exec"),
    path(f"{_POOL}/idle-rule", idle_rules.IdleRuleView.as_view(), name="api-pool-idle-rule"),
    path(f"{_POOL}/idle-jobs", idle_rules.IdleJobsView.as_view(), name="api-pool-idle-jobs"),
]
