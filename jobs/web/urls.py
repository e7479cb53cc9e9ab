from __future__ import annotations

from django.urls import path, re_path

from jobs.web import (
    comparing,
    guide,
    home,
    hubs,
    idle_rules,
    ports,
    queue,
    quotas,
    starting,
    storage,
    team_rules,
    views,
)

platform_pages = [
    path("queue", queue.queue, name="queue"),
    path(
        "pools/<str:pool>/idle-rule",
        idle_rules.platform_idle_rule,
        name="platform-pool-idle-rule",
    ),
]
urlpatterns = [
    path("<slug:org>/", home.home, name="home"),
    path("<slug:org>/idle", home.idle, name="idle"),
    path("<slug:org>/guide", guide.guide, name="guide"),
    path("<slug:org>/quotas", quotas.quotas, name="quotas"),
    path("<slug:org>/people/<str:email>", hubs.person, name="member"),
    path("<slug:org>/teams/<slug:team>", hubs.team, name="team"),
    path("<slug:org>/secrets/<slug:where>/<str:secret>", hubs.secret, name="secret"),
    path("<slug:org>/teams/<slug:team>/rules", team_rules.set_rules, name="team-rules"),
    path("<slug:org>/quotas/requests", quotas.request_quota, name="quota-requests"),
    path("<slug:org>/quotas/requests/<uuid:ask>", quotas.decide, name="quota-request"),
    path("<slug:org>/quotas/<str:scope>", quotas.quota_subject, name="quota-subject-org"),
    path("<slug:org>/quotas/<str:scope>/<str:subject>", quotas.quota_subject, name="quota-subject"),
    path("<slug:org>/storage/use", storage.storage_use, name="storage-use"),
    path("<slug:org>/storage/unused", storage.unused, name="storage-unused"),
    path("<slug:org>/storage", storage.kept_logs, name="storage"),
    path("<slug:org>/pools/<str:pool>/idle-rule", idle_rules.idle_rule, name="pool-idle-rule"),
    path("<slug:org>/jobs", views.job_list, name="jobs"),
    path("<slug:org>/jobs/new", starting.new_job, name="job-new"),
    path("<slug:org>/jobs/act", views.act_on_jobs, name="jobs-act"),
    path("<slug:org>/jobs/compare", comparing.compare, name="jobs-compare"),
    path("<slug:org>/jobs/<str:job>", views.job, name="job"),
    path("<slug:org>/jobs/<str:job>/ports/<str:name>", ports.open_port, name="job-port"),
    re_path(
        r"^(?P<org>[-\w]+)/jobs/(?P<job>[^/]+)/(?P<verb>cancel|hold|keep|release|rerun|delete-logs)$",
        views.act_on_job,
        name="job-act",
    ),
]
