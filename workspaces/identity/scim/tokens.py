"""Bearer tokens of SCIM clients: one per provider, shown once."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction

from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.events import EventRecord, record
from workspaces.access.actors import Actor
from workspaces.credentials.token_format import digest_of, is_well_formed, new_secret
from workspaces.identity.provider_services import check_can_write
from workspaces.models import Provider, ScimToken
from workspaces.tenancy.scope import platform_scope

KINDS = (Provider.Kind.SCIM, Provider.Kind.OIDC, Provider.Kind.SAML)
_TOUCH = timedelta(minutes=5)


@transaction.atomic
def create_scim_token(*, actor: Actor, provider: Provider) -> str:
    """Create a token; the previous one is revoked at once. Raises NotPermitted, InvalidInput."""
    check_can_write(actor, provider.org)
    if provider.kind not in KINDS:
        raise InvalidInput(
            "SCIM isn't available for directories, because Muster queries them itself."
        )
    secret, former = new_secret(), _hint(provider)
    ScimToken.objects.update_or_create(
        provider=provider,
        defaults={
            "digest": digest_of(secret),
            "hint": secret[:8],
            "created_at": clock.now(),
            "last_used_at": None,
        },
    )
    _record("created", provider, actor, before=former, after=secret[:8])
    return secret


@transaction.atomic
def revoke_scim_token(*, actor: Actor, provider: Provider) -> None:
    """Revoke the token. Raises NotPermitted."""
    check_can_write(actor, provider.org)
    former = _hint(provider)
    if ScimToken.objects.filter(provider=provider).delete()[0]:
        _record("ended", provider, actor, before=former, after=None)


@platform_scope("a SCIM token identifies its provider")
def provider_by_token(slug: str, raw: str) -> Provider | None:
    """Return the enabled provider with this slug and token, or None."""
    if not is_well_formed(raw):
        return None
    digests = [digest_of(raw), *(digest_of(raw, key) for key in settings.SECRET_KEY_FALLBACKS)]
    row = (
        ScimToken.objects.select_related("provider", "provider__org")
        .filter(
            digest__in=digests,
            provider__slug=slug,
            provider__is_enabled=True,
            provider__kind__in=KINDS,
        )
        .first()
    )
    if row is None:
        return None
    if row.last_used_at is None or row.last_used_at < clock.now() - _TOUCH:
        ScimToken.objects.filter(provider=row.provider).update(last_used_at=clock.now())
        Provider.objects.filter(id=row.provider_id).update(seen_at=clock.now())
    return row.provider


def _hint(provider: Provider) -> str | None:
    return ScimToken.objects.filter(provider=provider).values_list("hint", flat=True).first()


def _record(verb: str, provider: Provider, actor: Actor, **data: str | None) -> None:
    record(
        EventRecord(
            f"scim_token.{verb}",
            provider.org_id,
            "provider",
            provider.id,
            actor.email,
            {"provider": provider.slug, **data},
        )
    )
