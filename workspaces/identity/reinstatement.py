"""Find the people whom a provider suspended, and reinstate them when it is removed."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from portal.core.events import EventRecord, record_all
from workspaces.access.actors import Actor
from workspaces.models import Identity, Membership, Provider, User
from workspaces.tenancy.scope import platform_scope

_SOME = 1000
_WHY = "people suspended by a provider in its organizations"


def suspended_addresses(provider: Provider) -> list[str]:
    """Return the sorted addresses of people whom this provider suspended or deactivated."""
    with platform_scope(_WHY):
        suspended = list(_suspended(provider).values_list("user__email", flat=True))
    return sorted({*suspended, *_switched_off(provider).values_list("email", flat=True)})


def reinstate_people(provider: Provider, actor: Actor) -> None:
    """Restore the roles and accounts that the provider suspended, in the caller's transaction.

    Accounts suspended by an operator stay suspended.
    """
    with platform_scope(_WHY):
        rows = list(_suspended(provider).select_related("user").order_by("id"))
        Membership.objects.filter(id__in=[row.id for row in rows]).update(suspended_at=None)
    people = list(_switched_off(provider).order_by("id"))
    User.objects.filter(id__in=[user.id for user in people]).update(is_active=True)
    record_all(
        EventRecord(
            "member.restored",
            row.org_id,
            "user",
            row.user_id,
            actor.email,
            {
                "name": row.user.email,
                "provider": provider.slug,
                "via": row.via,
                "before": f"{row.role} (suspended)",
                "after": row.role,
            },
        )
        for row in rows
    )
    record_all(
        EventRecord(
            "person.switched_on",
            provider.org_id,
            "user",
            user.id,
            actor.email,
            {"provider": provider.slug, "email": user.email},
        )
        for user in people
    )


def removed_by_other_providers(provider: Provider, users: Sequence[UUID]) -> frozenset[UUID]:
    """Return the deactivated accounts that another provider of the installation reports as removed.

    Only that provider can reactivate them.
    """
    if provider.org_id is not None or not users:
        return frozenset()
    gone = _gone_by_another(provider)
    some = (users[start : start + _SOME] for start in range(0, len(users), _SOME))
    return frozenset(
        user_id
        for few in some
        for user_id in gone.filter(user_id__in=few).values_list("user_id", flat=True)
    )


def _gone_by_another(provider: Provider):  # type: ignore[no-untyped-def]  # a queryset
    return Identity.objects.filter(provider__org_id=None, gone_since__isnull=False).exclude(
        provider=provider
    )


def _suspended(provider: Provider):  # type: ignore[no-untyped-def]  # a queryset
    return Membership.objects.filter(provider=provider, suspended_at__isnull=False)


def _switched_off(provider: Provider):  # type: ignore[no-untyped-def]  # a queryset
    gone = provider.identities.filter(gone_since__isnull=False).values("user_id")
    off = User.objects.filter(id__in=gone, is_active=False, suspended_at=None).exclude(
        id__in=_gone_by_another(provider).values("user_id")
    )
    return off if provider.org_id is None else User.objects.none()
