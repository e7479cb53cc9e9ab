"""The kind of origin that this app owns, for `jobs.kinds.origins`: the job that another one reruns."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from jobs.kinds import reruns
from jobs.kinds.origins import OriginKind
from jobs.kinds.workload_kinds import page_of
from jobs.selectors.jobs import visible_jobs
from portal.core.messages import Message
from workspaces.access.actors import Actor


def _pages(actor: Actor, ids: Collection[UUID]) -> dict[UUID, str]:
    rows = visible_jobs(actor).filter(id__in=ids).select_related("org")
    return {row.id: page_of(row) for row in rows}


RERUN = OriginKind(reruns.NAME, Message("Rerun of", context="text, jobs"), _pages)
