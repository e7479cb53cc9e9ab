"""OpenID Connect as a kind of provider."""

from __future__ import annotations

from workspaces.identity.oidc.settings import Config
from workspaces.identity.provider_types import Found, Kind


def _test(config: Config) -> Found:
    from workspaces.identity.oidc.testing import look_around

    return look_around(config)


OIDC = Kind(
    "oidc",
    "OpenID Connect",
    "People sign in at your identity provider, as Entra ID, Okta, Keycloak or Google, and its groups "
    "claim gives them their roles.",
    Config,
    _test,
)
