"""Pools: named parts of clusters, and the teams that may use them.

Operators write; a team sees what it may use. A cluster without pools is open to every team. One
with pools is used through its pools only, by the teams with a grant, or by all if the pool is open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from clusters.backends import backend_of
from clusters.models import Cluster, Pool, PoolGrant
from clusters.services.connections import free_name
from clusters.services.pool_requests import end_approved
from portal.core.errors import Conflict, InputErrors, InvalidInput, NotFound
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from schedulers import capabilities_of
from schedulers.contract import Capability, Identity, Rejected
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Team
from workspaces.tenancy.scope import platform_scope

_TEXTS = {"partition": 80, "gpu_type": 34, "note": 300}
MOST_LABELS = 20


@transaction.atomic
def create_pool(*, actor: Actor, cluster: Cluster, name: str, **rule: Any) -> Pool:
    """Create a pool. `rule`: labels, partition, gpu_type, note, is_open; see `Pool`.

    Raises NotPermitted, InvalidInput, Conflict.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    errors = InputErrors()
    with errors:
        name = free_name(name)
    with errors:
        rule = _checked(rule)
    errors.raise_all()
    row = Pool.objects.create(name=name, cluster=cluster, **rule)
    _record_event("created", row, actor, {"cluster": cluster.name, "after": _rule(row)})
    return row


@transaction.atomic
def change_pool(*, actor: Actor, pool: Pool, **rule: Any) -> Pool:
    """Change the rule; omitted fields stay. Raises NotPermitted, InvalidInput."""
    authorize(actor, Permission.CLUSTERS_WRITE)
    given, before = _checked(rule), _rule(pool)
    for name, value in given.items():
        setattr(pool, name, value)
    pool.save(update_fields=list(given))
    _record_event("changed", pool, actor, {"fields": sorted(given), **changes(before, _rule(pool))})
    return pool


@transaction.atomic
def delete_pool(*, actor: Actor, pool: Pool) -> None:
    """Delete a pool with its grants and what was approved there; running jobs continue.

    The last pool of a cluster cannot be deleted unless it is open, because a cluster without pools
    is open to every team. Raises NotPermitted, Conflict.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    if pool.cluster.is_enabled and not pool.is_open and pool.cluster.pools.count() == 1:
        raise Conflict(
            Message(
                "{name} is the last pool of {name2}. Without it, every team could use the whole "
                "cluster. Open the pool to all teams first, or disable the cluster.",
                name=pool.name,
                name2=pool.cluster.name,
            ),
            code="last_pool",
        )
    _record_event("deleted", pool, actor, {"cluster": pool.cluster.name, "before": _rule(pool)})
    with platform_scope("the grants of every organization go with a pool"):
        _end_requests(pool, actor)
        pool.delete()


@transaction.atomic
def grant_pool(
    *, actor: Actor, pool: Pool, team: Team, identity: Identity | None = None
) -> PoolGrant:
    """Grant a pool to a team, with `identity` (None: unchanged, or the cluster's). Idempotent.

    Raises NotPermitted, InvalidInput.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    given: dict[str, Any] = (
        {}
        if identity is None
        else {"run_as": identity.user, "account": identity.account, "qos": identity.qos}
    )
    if identity is not None and identity != Identity():
        _check_identity(pool, identity)
    before: dict[str, Any] = {}
    row, is_new = PoolGrant.objects.select_for_update().get_or_create(
        pool=pool, team=team, defaults={"org_id": team.org_id, **given}
    )
    if row.ends_at is not None:  # until now by a request; an operator's grant has no end
        given["ends_at"] = None
    changed = {name: value for name, value in given.items() if getattr(row, name) != value}
    if changed:
        before = {name: str(getattr(row, name)) for name in changed}
        PoolGrant.objects.filter(id=row.id).update(**changed)
        row.refresh_from_db()
    if is_new or changed:
        _record_event(
            "granted",
            pool,
            actor,
            {
                "team": team.slug,
                **changes(before, {n: v for n, v in given.items() if v or n in before}),
            },
            team,
        )
    return row  # type: ignore[no-any-return]


def _check_identity(pool: Pool, identity: Identity) -> None:
    """Raise InvalidInput for an identity that the pool's cluster does not support."""
    if Capability.IDENTITIES not in capabilities_of(pool.cluster.backend):
        raise InvalidInput(
            Message(
                "{name} has no users, accounts or QOS. Grant the pool without them.",
                name=pool.cluster.name,
            )
        )
    backend: Any = backend_of(pool.cluster)
    try:
        backend.check_identity(identity)
    except Rejected as error:
        raise InvalidInput.at(error.field.rpartition(".")[2] or "user", str(error)) from error


@transaction.atomic
def revoke_pool(*, actor: Actor, pool: Pool, team: Team) -> None:
    """Revoke a grant, and end the requests that gave it; running jobs continue.

    Raises NotPermitted, NotFound.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    row = PoolGrant.objects.filter(pool=pool, team=team).first()
    if row is None:
        raise NotFound(Message("{slug} has no grant for {name}.", slug=team.slug, name=pool.name))
    row.delete()
    given = {"run_as": row.run_as, "account": row.account, "qos": row.qos}
    _record_event(
        "revoked",
        pool,
        actor,
        {"team": team.slug, "before": {name: value for name, value in given.items() if value}},
        team,
    )
    _end_requests(pool, actor, team=team)


def _end_requests(pool: Pool, actor: Actor, **of: Team) -> None:
    """End what was approved in a pool that a team, or all teams, can no longer use.

    Otherwise it would be billed until its date, and granted again if it has not begun.
    """
    end_approved(who=actor.email, pool=pool, **of)


def _checked(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Validate a rule. Raises InvalidInput."""
    given = {name: value for name, value in rule.items() if value is not None}
    for name, most in _TEXTS.items():
        if name in given:
            given[name] = str(given[name]).strip()
            if len(given[name]) > most or not given[name].isprintable():
                raise InvalidInput.at(
                    name,
                    Message(
                        "must be at most {n} characters long, without control characters", n=most
                    ),
                )
    if "gpu_type" in given:
        given["gpu_type"] = given["gpu_type"].lower()
    if "labels" in given:
        _check_labels(given["labels"])
    return given


def _check_labels(labels: Any) -> None:
    fits = (
        isinstance(labels, dict)
        and len(labels) <= MOST_LABELS
        and all(
            isinstance(text, str) and text.isprintable() and len(text) <= 253
            for pair in labels.items()
            for text in pair
        )
    )
    if not fits:
        raise InvalidInput.at(
            "labels",
            f"must be at most {MOST_LABELS} labels with a value each, as the nodes have them",
        )


def _rule(pool: Pool) -> dict[str, Any]:
    return {
        name: getattr(pool, name) for name in ("labels", "partition", "gpu_type", "note", "is_open")
    }


def _record_event(
    what: str, pool: Pool, actor: Actor, data: Mapping[str, Any], team: Team | None = None
) -> None:
    record(
        EventRecord(
            f"pool.{what}",
            team.org_id if team else None,
            "pool",
            pool.id,
            actor.email,
            {"name": pool.name, **data},
        )
    )
