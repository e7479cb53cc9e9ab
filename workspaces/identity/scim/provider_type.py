"""SCIM as a provider type of its own, for people who sign in another way.

OpenID and SAML providers may use SCIM in addition.
"""

from __future__ import annotations

from dataclasses import dataclass

from portal.core.messages import Message
from workspaces.identity.provider_types import ProviderTestResult, ProviderType


@dataclass(frozen=True)
class Config:
    """No settings: the client authenticates with a token."""


def _test(config: Config) -> ProviderTestResult:
    return ProviderTestResult(
        True,
        "There is nothing to test: the client connects to Muster, with the token from the "
        "provider's page.",
    )


SCIM = ProviderType(
    "scim",
    "SCIM 2.0",
    Message("Adds and removes people automatically, beside one of the others."),
    "Your identity provider pushes changes of people and groups to Muster. People sign in "
    "with another provider that they link, or with a password.",
    Config,
    _test,
)
