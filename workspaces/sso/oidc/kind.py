"""OpenID Connect as a kind of provider."""

from __future__ import annotations

from workspaces.sso.kinds import Found, Kind
from workspaces.sso.oidc.settings import Config


def _test(config: Config) -> Found:
    from workspaces.sso.oidc.testing import look_around

    return look_around(config)


OIDC = Kind(
    "oidc",
    "OpenID Connect",
    "People sign in at your identity provider, as Entra ID, Okta, Keycloak or Google, and its groups "
    "claim gives them their roles.",
    Config,
    _test,
)
