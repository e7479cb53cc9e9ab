"""Test a provider's settings without a sign-in: read its metadata."""

from __future__ import annotations

from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from requests import RequestException

from portal.core.messages import Message
from workspaces.identity.error_messages import why_of
from workspaces.identity.http_client import provider_requests
from workspaces.identity.provider_types import ProviderTestResult
from workspaces.identity.saml.protocol import idp_metadata
from workspaces.identity.saml.settings import Config


def check_settings(config: Config) -> ProviderTestResult:
    """Fetch the metadata again and describe it."""
    with provider_requests(config):
        try:
            found = idp_metadata(config, refresh=True)
        except (OAuth2Error, RequestException) as error:
            return ProviderTestResult(
                False, f"{config.metadata_url or 'The metadata'}: {why_of(error)}."
            )
    many = found.get("x509certMulti", {}).get("signing") or [found.get("x509cert")]
    return ProviderTestResult(
        True,
        Message.plural(
            len(many),
            Message("{entityId} uses the sign-in page {url} and signs with {many} certificate."),
            Message("{entityId} uses the sign-in page {url} and signs with {many} certificates."),
            entityId=found["entityId"],
            url=found["singleSignOnService"]["url"],
            many=len(many),
        ),
        (("entity", found["entityId"]), ("certificates", len(many))),
    )
