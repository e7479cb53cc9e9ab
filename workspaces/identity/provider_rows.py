"""Look up providers for sign-in."""

from __future__ import annotations

from collections.abc import Sequence

from allauth.socialaccount.models import SocialApp

from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.identity.provider_services import config_of
from workspaces.identity.provider_types import kind_of
from workspaces.models import Provider
from workspaces.tenancy.scope import platform_scope

KINDS = (Provider.Kind.OIDC, Provider.Kind.SAML)


@platform_scope("sign-in looks up a provider by slug")
def provider_named(slug: str, kinds: Sequence[str] = KINDS) -> Provider:
    """Return an enabled provider of one of these types, with its libraries installed.

    Raises NotFound.
    """
    row = (
        Provider.objects.select_related("org")
        .filter(slug=slug, is_enabled=True, kind__in=kinds)
        .first()
    )
    if row is None or kind_of(row.kind).missing():
        raise NotFound(Message("This sign-in method doesn't exist or is disabled."))
    return row


def oidc_app(row: Provider) -> SocialApp:
    """Return the app that allauth requires; it is never stored."""
    config = config_of(row)
    return SocialApp(
        provider="openid_connect",
        provider_id=row.slug,
        name=row.name,
        client_id=config.client_id,
        secret=config.client_secret,
        settings={"issuer": config.issuer, "scope": config.scope.split()},
    )
