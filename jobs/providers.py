"""What this app answers to the layers below it (docs/design/layout.md)."""

from __future__ import annotations

from jobs.access import job_named
from jobs.data import inputs, space_sources
from jobs.kinds import workload_kinds
from jobs.ports.provider import PortProvider
from jobs.saving.origins import origins_for
from jobs.scheduling import cluster_load
from jobs.selectors import dashboard, gpu_use, leavers, subjects
from jobs.web.origins import RERUN

ACCESS_OBJECTS = (("job", job_named),)
ACTIVE_JOBS_BY_ORG = (leavers.active_jobs_by_org,)
ACTIVE_JOBS_OF_USERS = (leavers.active_jobs_of,)
COMMITS_IN_USE = (inputs.commits_in_use,)
JOB_ORIGINS = (RERUN,)
PORTS = (PortProvider(),)
RUNNING_COUNTS = (dashboard.running_count,)
RUNNING_USAGE = (gpu_use.running,)
SPACE_SOURCES = (space_sources.SOURCE,)
SUBJECT_USE = (subjects.SOURCE,)
VERSION_ORIGINS = (origins_for,)
VERSION_USES = (inputs.jobs_reading,)
WORKLOAD = (cluster_load,)
WORKLOAD_KINDS = (workload_kinds.BATCH,)
