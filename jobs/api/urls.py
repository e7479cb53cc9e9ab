from __future__ import annotations

from django.urls import path

from clusters.api import health
from clusters.api import views as clusters
from jobs.api import comparing, idle_rules, output, outputs, quotas, storage, utilization, views
from portal.api.schema import Tag

_CLUSTER, _POOL = "clusters/<str:cluster>", "orgs/<slug:org>/pools/<str:pool>"
_JOB = "orgs/<slug:org>/jobs/<str:job>"
TAGS = (
    Tag("Jobs", 10, ("jobs",)),
    Tag("Pools", 130, ("pools", "pool-requests")),
    Tag("Clusters", 140, ("clusters", "cluster-test")),
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
    path("clusters", clusters.ClustersView.as_view(), name="api-clusters"),
    path("cluster-test", clusters.ClusterTestView.as_view(), name="api-cluster-try"),
    path(_CLUSTER, clusters.ClusterView.as_view(), name="api-cluster"),
    path(f"{_CLUSTER}/test", clusters.ClusterProbeView.as_view(), name="api-cluster-test"),
    path(f"{_CLUSTER}/nodes", clusters.ClusterNodesView.as_view(), name="api-cluster-nodes"),
    path(f"{_CLUSTER}/nodes/<str:node>/drain", clusters.DrainView.as_view(), name="api-node-drain"),
    path(
        f"{_CLUSTER}/nodes/<str:node>/resume", clusters.ResumeView.as_view(), name="api-node-resume"
    ),
    path(f"{_CLUSTER}/health", health.ClusterHealthView.as_view(), name="api-cluster-health"),
    path(
        f"{_CLUSTER}/health/reset",
        health.HealthResetView.as_view(),
        name="api-cluster-health-reset",
    ),
    path(
        f"{_CLUSTER}/nodes/<str:node>/health",
        health.NodeHealthView.as_view(),
        name="api-node-health",
    ),
    path(
        f"{_CLUSTER}/nodes/<str:node>/quarantine",
        health.QuarantineView.as_view(),
        name="api-node-quarantine",
    ),
    path(
        f"{_CLUSTER}/nodes/<str:node>/return", health.ReturnView.as_view(), name="api-node-return"
    ),
    path("orgs/<slug:org>/pools", clusters.PoolsView.as_view(), name="api-pools"),
    path(_POOL, clusters.PoolView.as_view(), name="api-pool"),
    path(f"{_POOL}/idle-rule", idle_rules.IdleRuleView.as_view(), name="api-pool-idle-rule"),
    path(f"{_POOL}/idle-jobs", idle_rules.IdleJobsView.as_view(), name="api-pool-idle-jobs"),
    path(f"{_POOL}/teams/<slug:team>", clusters.PoolTeamView.as_view(), name="api-pool-team"),
]
