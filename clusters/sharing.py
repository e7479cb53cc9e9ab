"""Share the portal's own machine: which organization may use it, and each team's system user."""

from __future__ import annotations

import grp
import logging
import pwd
from collections.abc import Collection, Mapping
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError, transaction
from django.db.models import Max

from clusters.backends import backend_of
from clusters.models import Cluster, LocalUser
from portal.core.messages import Message
from schedulers import backends, capabilities_of
from schedulers.contract import Capability, Unavailable
from workspaces.models import Organization

log = logging.getLogger(__name__)
_able = set[UUID]()  # clusters that run jobs, as found by this process: saves queries


def uids_of(cluster: Cluster, teams: Collection[UUID]) -> Mapping[UUID, int]:
    """Return the uid of each team, allocating missing ones for good.

    Empty if the cluster needs none; a team is missing if no uid is left. Call it outside of a
    transaction: a rollback could hand out a uid in use twice.
    """
    if not _has_users(cluster):
        return {}
    found = dict(LocalUser.objects.filter(team_id__in=teams).values_list("team_id", "uid"))
    return found | {team: uid for team in teams if team not in found and (uid := _new_uid(team))}


def isolation_text(cluster: Cluster) -> str:
    """Describe how jobs are isolated; empty if the scheduler does that."""
    if not _has_users(cluster):
        return ""
    try:
        level = backend_of(cluster).isolation.text  # type: ignore[attr-defined]
        return Message.joined(" ", (level, _served_text(cluster)))
    except Unavailable as error:
        return str(error)


def refusal_text(cluster: Cluster) -> str:
    """Explain why no job runs on a cluster before an operator acts; empty if jobs run."""
    if cluster.id in _able:
        return ""
    if _has_users(cluster):
        try:
            isolation = backend_of(cluster).isolation  # type: ignore[attr-defined]
        except Unavailable:
            return ""  # the machine is busy; not an answer
        if isolation.is_refused:
            return isolation.text  # type: ignore[no-any-return]
    _able.add(cluster.id)
    return ""


def refusals() -> list[str]:
    """Return why no job runs at all: a text per cluster; empty if one of them runs jobs."""
    if _able:
        return []
    rows = Cluster.objects.filter(is_enabled=True).order_by("name")
    found = [(row.name, refusal_text(row)) for row in rows]
    if not all(text for _, text in found):
        return []
    return [Message.joined(": ", one) for one in found]


def start_text() -> str:
    """Describe the isolation of all such clusters, for the start-up output.

    Gives a cluster the options without which no job could run. Raises ImproperlyConfigured.
    """
    _range()
    for cluster in Cluster.objects.all():
        if refusal_text(cluster):
            options = backend_of(cluster).new_options()  # type: ignore[attr-defined]
            if options:
                cluster.config = {**cluster.config, **options}
                cluster.save(update_fields=["config"])
    return " ".join(
        f"{cluster.name}: {text}"
        for cluster in Cluster.objects.order_by("name")
        if (text := isolation_text(cluster))
    )


def only_org_id(cluster: Cluster) -> UUID | None:
    """Return the only organization whose jobs may run there.

    That is the one named by MUSTER_LOCAL_ORG, else the oldest. None means every organization; the
    id of a missing organization means none. Raises Unavailable.
    """
    if not _has_users(cluster) or backend_of(cluster).isolation.is_shared:  # type: ignore[attr-defined]
        return None
    org = _served_org()
    return org.id if org else UUID(int=0)


def not_served_text(cluster: Cluster) -> str:
    """Explain why jobs of other organizations wait, without naming the one that is served."""
    return Message(
        "{name} runs jobs of one other organization only, since this machine cannot "
        "isolate jobs of several from each other. Ask an operator to change that.",
        name=cluster.name,
    )


def _served_text(cluster: Cluster) -> str:
    if only_org_id(cluster) is None:
        return ""
    org = _served_org()
    return (
        Message("It runs jobs of {name} only.", name=org.name)
        if org
        else Message(
            "There is no organization {MUSTER_LOCAL_ORG} (MUSTER_LOCAL_ORG), so it runs no jobs.",
            MUSTER_LOCAL_ORG=repr(settings.MUSTER_LOCAL_ORG),
        )
    )


def _served_org() -> Organization | None:
    rows = Organization.objects.order_by("created_at", "id")
    return (
        rows.filter(slug=settings.MUSTER_LOCAL_ORG) if settings.MUSTER_LOCAL_ORG else rows
    ).first()


def _has_users(cluster: Cluster) -> bool:
    return cluster.backend in backends() and Capability.USERS in capabilities_of(cluster.backend)


def _new_uid(team: UUID) -> int:
    first, last = _range()
    uid = max(first, 1 + (LocalUser.objects.aggregate(last=Max("uid"))["last"] or 0))
    while uid <= last:
        if not _is_known(uid):
            try:
                with transaction.atomic():
                    return LocalUser.objects.get_or_create(team_id=team, defaults={"uid": uid})[
                        0
                    ].uid
            except IntegrityError:
                pass  # another team took this uid
        uid += 1
    log.error(
        "MUSTER_LOCAL_UIDS (%s) has no uid left for another team: enlarge the range",
        settings.MUSTER_LOCAL_UIDS,
    )
    return 0


def _range() -> tuple[int, int]:
    try:
        first, last = (int(word) for word in settings.MUSTER_LOCAL_UIDS.split("-"))
    except ValueError:
        first, last = 0, 0
    if not 1000 <= first <= last < 1 << 31:
        raise ImproperlyConfigured(
            Message(
                "MUSTER_LOCAL_UIDS is {MUSTER_LOCAL_UIDS}; it must be two numbers from 1000 "
                "on, such as 70000-79999.",
                MUSTER_LOCAL_UIDS=repr(settings.MUSTER_LOCAL_UIDS),
            )
        )
    return first, last


def _is_known(uid: int) -> bool:
    """Return whether this machine has a user or group with that number."""
    for find in (pwd.getpwuid, grp.getgrgid):
        try:
            find(uid)
        except KeyError:
            continue
        return True
    return False
