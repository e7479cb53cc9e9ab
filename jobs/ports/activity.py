"""Store when ports were used, for the idle rules and for people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from jobs.models import Attempt, PortActivity
from portal.core import clock
from portal.gateway.provider import PortUse
from workspaces.tenancy.scope import platform_scope


def last_uses(jobs: Collection[UUID], since: datetime) -> dict[UUID, datetime]:
    """Return when ports of jobs were last used, of those used after `since`. One statement."""
    rows = PortActivity.objects.filter(attempt__job__in=jobs, last_used_at__gt=since).order_by()
    return dict(rows.values_list("attempt__job_id").annotate(Max("last_used_at")))


def record_uses(uses: Sequence[PortUse]) -> None:
    """Store what the gateway has seen since its last report: one statement for all ports."""
    at = clock.now()
    by_attempt = {UUID(use.key.removeprefix("muster-")) for use in uses}
    with platform_scope("ports of all organizations were used"), transaction.atomic():
        orgs = dict(Attempt.objects.filter(id__in=by_attempt).values_list("id", "org_id"))
        known = {
            (row.attempt_id, row.port): row
            for row in PortActivity.objects.filter(attempt__in=by_attempt)
        }
        rows = []
        for use in uses:
            attempt = UUID(use.key.removeprefix("muster-"))
            if attempt not in orgs:  # deleted meanwhile
                continue
            before = known.get((attempt, use.port))
            rows.append(
                PortActivity(
                    org_id=orgs[attempt],
                    attempt_id=attempt,
                    port=use.port,
                    last_used_at=datetime.fromtimestamp(use.at, UTC),
                    open_streams=use.streams,
                    answered_at=(before.answered_at if before else None)
                    or (at if use.has_answered else None),
                    reported_at=at,
                    person_at=datetime.fromtimestamp(use.person_at, UTC)
                    if use.person_at
                    else (before.person_at if before else None),
                )
            )
        PortActivity.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["attempt", "port"],
            update_fields=[
                *("last_used_at", "open_streams", "answered_at", "reported_at", "person_at"),
            ],
        )


def record_answer(attempt: Attempt, busy_at: datetime | None) -> None:
    """Store that the app of an attempt has said when it last computed; None: not now."""
    asked = {"asked_at": clock.now(), **({"busy_at": busy_at} if busy_at else {})}
    PortActivity.objects.filter(attempt=attempt).update(**asked)
