"""Explain access to jobs: acting on another user's job requires more permissions."""

from __future__ import annotations

from uuid import UUID

from jobs.kinds.workload_kinds import page_at
from jobs.selectors.jobs import find_job
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.access.check import AccessObject, Needs
from workspaces.access.permissions import AppPermission, Permission
from workspaces.models import Organization

_ACTS: dict[AppPermission, tuple[AppPermission, ...]] = {
    Permission.JOBS_CANCEL: (Permission.JOBS_ADMIN,),
    Permission.JOBS_EXEC: (Permission.JOBS_EXEC_OTHERS, Permission.JOBS_EXEC),
}


def job_named(actor: Actor, org: Organization, name: str) -> AccessObject:
    """Return the job as the subject of an access check. Raises NotFound if not visible."""
    job = find_job(actor, name)

    def needs(permission: AppPermission, user_id: UUID | None) -> Needs:
        if permission not in _ACTS or user_id == job.owner_id:
            return (permission,), ""
        if permission == Permission.JOBS_EXEC:
            return (
                _ACTS[permission],
                Message(
                    "#{number} belongs to {email}: running something in it takes jobs:exec-others "
                    "and jobs:exec.",
                    number=job.number,
                    email=job.owner.email,
                ),
            )
        return (
            _ACTS[permission],
            Message(
                "#{number} belongs to {email}: acting on another's job takes {JOBS_ADMIN}.",
                number=job.number,
                email=job.owner.email,
                JOBS_ADMIN=Permission.JOBS_ADMIN,
            ),
        )

    return AccessObject(
        job.team, f"#{job.number} {job.name}", page_at(org.slug, job.kind, job.number), needs
    )
