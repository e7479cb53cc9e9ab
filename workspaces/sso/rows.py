"""Providers' rows as sign-in needs them."""

from __future__ import annotations

from allauth.socialaccount.models import SocialApp

from portal.core.errors import NotFound
from workspaces.models import Provider
from workspaces.services.providers import config_of

KINDS = (Provider.Kind.OIDC, Provider.Kind.SAML)


def provider_named(slug: str) -> Provider:
    """One that people sign in through. Raises NotFound."""
    row = Provider.objects.select_related("org").filter(slug=slug, is_enabled=True, kind__in=KINDS).first()
    if row is None:
        raise NotFound("There is no such way to sign in, or it is switched off.")
    return row


def oidc_app(row: Provider) -> SocialApp:
    """What allauth wants to know; never stored."""
    config = config_of(row)
    return SocialApp(provider="openid_connect", provider_id=row.slug, name=row.name, client_id=config.client_id,
                     secret=config.client_secret, settings={"issuer": config.issuer, "scope": config.scope.split()})
