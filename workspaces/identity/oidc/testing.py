"""Test a provider's settings without a sign-in: its discovery document and its keys."""

from __future__ import annotations

from typing import Any

from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from requests import RequestException

from portal.core.messages import Message
from workspaces.identity.error_messages import why_of
from workspaces.identity.http_client import provider_requests
from workspaces.identity.oidc.protocol import discover, fetch_keys
from workspaces.identity.oidc.settings import Config
from workspaces.identity.provider_types import ProviderTestResult


def check_settings(config: Config) -> ProviderTestResult:
    """Fetch the discovery document and the keys."""
    with provider_requests(config):
        try:
            described = discover(config.issuer)
            keys = fetch_keys(described["jwks_uri"])
        except (OAuth2Error, RequestException) as error:
            return ProviderTestResult(False, f"{config.issuer}: {why_of(error)}.")
    if not keys:
        return ProviderTestResult(
            False, Message("{issuer} answers, but publishes no signing key.", issuer=config.issuer)
        )
    warning = _warning(described)
    return ProviderTestResult(
        True,
        f"{config.issuer} has a valid discovery document and publishes {len(keys)} signing "
        f"key{'' if len(keys) == 1 else 's'}.{warning}",
        (("keys", len(keys)), ("issuer", described["issuer"])),
    )


def _warning(described: dict[str, Any]) -> str:
    methods = described.get("code_challenge_methods_supported")
    return (
        Message(" It doesn't declare support for PKCE (S256), which Muster uses.")
        if isinstance(methods, list) and "S256" not in methods
        else ""
    )
