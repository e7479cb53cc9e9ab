"""The test button: what the metadata says. Nobody has to sign in for it."""

from __future__ import annotations

from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from requests import RequestException

from workspaces.identity.error_messages import why_of
from workspaces.identity.http_client import reaching
from workspaces.identity.provider_types import Found
from workspaces.identity.saml.protocol import described
from workspaces.identity.saml.settings import Config


def look_around(config: Config) -> Found:
    """Its metadata, read anew."""
    with reaching(config):
        try:
            found = described(config, anew=True)
        except (OAuth2Error, RequestException) as error:
            return Found(False, f"{config.metadata_url or 'The metadata'}: {why_of(error)}.")
    many = found.get("x509certMulti", {}).get("signing") or [found.get("x509cert")]
    return Found(
        True,
        f"{found['entityId']} signs people in at {found['singleSignOnService']['url']} and signs with "
        f"{len(many)} certificate{'' if len(many) == 1 else 's'}.",
        (("entity", found["entityId"]), ("certificates", len(many))),
    )
