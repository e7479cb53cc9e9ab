"""OpenID Connect as a provider type."""

from __future__ import annotations

from portal.core.messages import Message
from workspaces.identity.oidc.settings import Config
from workspaces.identity.oidc.testing import check_settings
from workspaces.identity.provider_types import ProviderTestResult, ProviderType


def _test(config: Config) -> ProviderTestResult:
    return check_settings(config)


OIDC = ProviderType(
    "oidc",
    "OpenID Connect",
    Message("Entra ID, Okta, Google or Keycloak. Recommended."),
    Message(
        "People sign in with your identity provider, such as Entra ID, Okta, Keycloak or Google, "
        "and its groups claim determines their roles."
    ),
    Config,
    _test,
)
