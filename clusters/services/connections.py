"""Connect, change, disable and remove clusters.

Operators only. Each change is an event without secrets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from clusters.backend_options import Options, checked
from clusters.backends import make, sealed, secrets_of
from clusters.models import Cluster, Pool
from clusters.workload import workload
from portal.core import vault
from portal.core.errors import Conflict, InputErrors, InvalidInput, NotFound
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from schedulers.contract import Probe
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope

SET = "(set)"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


def connect_cluster(
    *, actor: Actor, name: str, backend: str, options: Mapping[str, Any], way: str = ""
) -> Cluster:
    """Connect a cluster, in one of the ways of its backend; its nodes appear after the first inventory.

    Raises NotPermitted, InvalidInput, Conflict.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    given = _checked_with_name(backend, options, way, name)
    _reject_duplicate(backend, given)
    try:
        with transaction.atomic():
            row = Cluster.objects.create(
                name=name, backend=backend, config=dict(given.plain), secrets=sealed(given.secret)
            )
            record_cluster_event(
                "connected",
                row,
                actor,
                {
                    "backend": backend,
                    "options": sorted(given.plain),
                    "after": _masked_options(given),
                },
            )
    except IntegrityError:
        raise Conflict.at(
            "name",
            Message("A cluster named {name} already exists. Choose another name.", name=repr(name)),
            code="name_taken",
        ) from None
    return row


def change_cluster(
    *, actor: Actor, cluster: Cluster, options: Mapping[str, Any], way: str = ""
) -> Cluster:
    """Change options; omitted ones and empty secrets stay, None removes one.

    Raises NotPermitted, InvalidInput.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(id=cluster.id)
        former = _stored_options(row)
        given = checked(row.backend, options, former, way)
        row.config, row.secrets = dict(given.plain), sealed(given.secret)
        row.save(update_fields=["config", "secrets"])
        moved = sorted(
            {n for n in {*former.plain, *given.plain} if former.plain.get(n) != given.plain.get(n)}
            | {
                n
                for n in {*former.secret, *given.secret}
                if former.secret.get(n) != given.secret.get(n)
            }
        )
        record_cluster_event(
            "changed",
            row,
            actor,
            {
                "options": moved,
                **changes(_masked_options(former), _masked_options(given)),
                **_masked_changes(former, given),
            },
        )
    return row


def probe_options(
    *,
    actor: Actor,
    backend: str,
    options: Mapping[str, Any],
    cluster: Cluster | None = None,
    way: str = "",
    name: str | None = None,
) -> Probe:
    """Test a connection with options that are not stored, merged into those of `cluster` if given.

    With a `name`, also check that a new cluster may have it. Raises NotPermitted, InvalidInput with
    all errors at once.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    if name is not None:
        given = _checked_with_name(backend, options, way, name)
    else:
        given = checked(backend, options, _stored_options(cluster) if cluster else None, way)
    try:
        found = make(backend, given.together()).probe()
    except Exception as error:  # any error of a configuration is a test result
        found = Probe(False, f"{type(error).__name__}: {error}")
    _record_probe(actor, backend, found, given, cluster)
    return Probe(
        found.is_ok,
        _mask(found.message, given)[:1000],
        _mask(found.version, given)[:80],
        tuple(_mask(text, given)[:1000] for text in found.warnings),
        tuple(replace(check, message=_mask(check.message, given)[:1000]) for check in found.checks),
    )


def _checked_with_name(backend: str, options: Mapping[str, Any], way: str, name: str) -> Options:
    """Check name and options of a new cluster, and raise what is wrong with both at once."""
    errors, given = InputErrors(), Options({}, {})
    with errors:
        free_name(name)
    with errors:
        given = checked(backend, options, way=way)
    errors.raise_all()
    return given


def _record_probe(
    actor: Actor, backend: str, found: Probe, given: Options, cluster: Cluster | None
) -> None:
    """Record the test: it uses a stored credential and connects to an arbitrary address."""
    record(
        EventRecord(
            "cluster.tested",
            None,
            "cluster",
            cluster.id if cluster else None,
            actor.email,
            {
                "name": cluster.name if cluster else "",
                "backend": backend,
                "is_ok": found.is_ok,
                "secrets": sorted(given.secret),
            },
        )
    )


def probe_cluster(*, actor: Actor, cluster: Cluster) -> Probe:
    """Test the stored connection and store the scheduler's version. Raises NotPermitted."""
    found = probe_options(actor=actor, backend=cluster.backend, options={}, cluster=cluster)
    if found.is_ok and found.version:
        Cluster.objects.filter(id=cluster.id).exclude(version=found.version).update(
            version=found.version
        )
    return found


@transaction.atomic
def enable_cluster(*, actor: Actor, cluster: Cluster, is_enabled: bool) -> Cluster:
    """Enable or disable the cluster; disabled, it takes no new jobs and running ones continue.

    Raises NotPermitted.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    if (
        Cluster.objects.filter(id=cluster.id)
        .exclude(is_enabled=is_enabled)
        .update(is_enabled=is_enabled)
    ):
        record_cluster_event(
            "enabled" if is_enabled else "disabled",
            cluster,
            actor,
            {"before": {"is_enabled": not is_enabled}, "after": {"is_enabled": is_enabled}},
        )
    cluster.is_enabled = is_enabled
    return cluster


def remove_cluster(*, actor: Actor, cluster: Cluster) -> None:
    """Delete a cluster with its nodes and pools, unless a job ever ran there.

    The history of jobs refers to it. Raises NotPermitted, Conflict.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    with (
        platform_scope("jobs of every organization keep a cluster from being removed"),
        transaction.atomic(),
    ):
        live = workload().active_attempts_on(cluster)
        if live:
            raise Conflict(
                Message.plural(
                    live,
                    "{live} job is active on {name}. Disable the cluster now, and delete it when "
                    "the job has ended.",
                    "{live} jobs are active on {name}. Disable the cluster now, and delete it when "
                    "they have ended.",
                    live=f"{live:,}",
                    name=cluster.name,
                ),
                code="in_use",
            )
        record_cluster_event(
            "removed", cluster, actor, {"backend": cluster.backend, "before": dict(cluster.config)}
        )
        try:
            Cluster.objects.filter(id=cluster.id).delete()
        except ProtectedError:
            raise Conflict(
                Message(
                    "{name} can't be deleted, because the history of jobs refers to it. Disable it instead.",
                    name=cluster.name,
                ),
                code="in_use",
            ) from None


def find_cluster(name: str) -> Cluster:
    """Return the cluster with this name. Raises NotFound."""
    row = Cluster.objects.filter(name=name).first() if name.isprintable() else None
    if row is None:
        raise NotFound(Message("There is no cluster {x}.", x=repr(name[:80])))
    return row


def cluster_names() -> list[str]:
    """Return the names of all clusters, sorted."""
    return list(Cluster.objects.order_by("name").values_list("name", flat=True))


def free_name(name: str) -> str:
    """Check that no cluster or pool has the name; `policy.pool` may name either.

    Raises InvalidInput, Conflict.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput.at(
            "name",
            Message(
                "must be 1 to 40 small letters, digits and hyphens, with no hyphen at either end"
            ),
        )
    if Cluster.objects.filter(name=name).exists() or Pool.objects.filter(name=name).exists():
        raise Conflict.at(
            "name",
            Message(
                "A cluster or pool named {name} already exists. Choose another name.",
                name=repr(name),
            ),
            code="name_taken",
        )
    return name


def record_cluster_event(
    what: str, cluster: Cluster, actor: Actor, data: Mapping[str, Any] | None = None
) -> None:
    """Record an event about the cluster."""
    record(
        EventRecord(
            f"cluster.{what}",
            None,
            "cluster",
            cluster.id,
            actor.email,
            {"name": cluster.name, **(data or {})},
        )
    )


def _masked_options(given: Options) -> dict[str, Any]:
    """Return the options for an event; of a secret only that it is set."""
    return {**given.plain, **dict.fromkeys(given.secret, SET)}


def _masked_changes(former: Options, given: Options) -> dict[str, Any]:
    """Return changed secrets as masked entries of the event."""
    names = sorted(
        n for n in given.secret if n in former.secret and former.secret[n] != given.secret[n]
    )
    return {"secrets_replaced": names} if names else {}


def _mask(text: str, given: Options) -> str:
    """Mask secrets that a scheduler's or library's message may quote."""
    for secret in given.secret.values():
        if len(secret) >= 4 and secret in text:
            text = text.replace(secret, "••••")
    return text


def _reject_duplicate(backend: str, given: Options) -> None:
    """Reject a second row for the same scheduler: both would adopt each other's jobs."""
    twin = Cluster.objects.filter(backend=backend, config=dict(given.plain)).first()
    if twin:
        raise Conflict(
            Message("{name} is already connected with the same settings.", name=twin.name),
            code="same_cluster",
        )


def _stored_options(cluster: Cluster) -> Options:
    """Return the stored options; secrets that cannot be decrypted are missing."""
    try:
        return Options(cluster.config, secrets_of(cluster))
    except vault.Unreadable:
        return Options(cluster.config, {})
