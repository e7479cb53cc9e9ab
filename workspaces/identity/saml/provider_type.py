"""SAML as a provider type; python3-saml is optional, as it needs xmlsec."""

from __future__ import annotations

from importlib.util import find_spec

from portal.core.messages import Message
from workspaces.identity.provider_types import MISSING, ProviderTestResult, ProviderType
from workspaces.identity.saml.settings import Config


def _test(config: Config) -> ProviderTestResult:
    from workspaces.identity.saml.testing import check_settings

    return check_settings(config)


def _missing() -> str:
    return "" if find_spec("onelogin") and find_spec("xmlsec") else MISSING


SAML = ProviderType(
    "saml",
    "SAML",
    Message("For providers without OpenID Connect, such as AD FS or Shibboleth."),
    Message(
        "People sign in with your SAML 2.0 identity provider, such as AD FS or Shibboleth, and "
        "its groups attribute determines their roles."
    ),
    Config,
    _test,
    _missing,
)
