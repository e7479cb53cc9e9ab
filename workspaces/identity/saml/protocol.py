"""SAML 2.0 by allauth and python3-saml, with the checks that they leave out.

The assertion itself must be signed, name us as audience and recipient, name the request that it
answers, and be used only once.
"""

from __future__ import annotations

import hashlib
from typing import Any, NoReturn
from urllib.parse import urlsplit

from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.saml.provider import SAMLProvider
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Names
from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser
from onelogin.saml2.settings import OneLogin_Saml2_Settings

from workspaces.identity.http_client import reach, session
from workspaces.identity.rate_limit_cache import durable
from workspaces.identity.saml.settings import Config

LARGEST = 512 << 10  # characters in one response
KEEP = 3600  # seconds that metadata is cached and that an assertion is remembered
_ASSERTION = "/samlp:Response/saml:Assertion"
_SECURITY = {
    "wantAssertionsSigned": True,
    "rejectDeprecatedAlgorithm": True,
    "signatureAlgorithm": Names.RSA_SHA256,
    "digestAlgorithm": Names.SHA256,
    "requestedAuthnContext": False,
    "wantNameId": False,
    "wantAttributeStatement": False,
    "allowRepeatAttributeName": True,
    "allowSingleLabelDomains": True,
}


class SamlProvider(SAMLProvider):
    """One of our providers as allauth sees it."""

    def redirect(
        self,
        request: HttpRequest,
        process: str,
        next_url: str | None = None,
        data: Any = None,
        **kwargs: Any,
    ) -> HttpResponseRedirect:
        auth = saml_client(self.app.provider_id, self.app.settings["config"])
        url = auth.login(return_to="")
        self.stash_redirect_state(
            request,
            process,
            next_url,
            data,
            state_id=auth.get_last_request_id(),
            user=kwargs.get("user", ""),
        )
        return HttpResponseRedirect(url)


def saml_app(slug: str, name: str, config: Config) -> SocialApp:
    """Return the app that allauth requires; it is never stored."""
    return SocialApp(
        provider="saml", provider_id=slug, name=name, client_id=slug, settings={"config": config}
    )


def saml_client(slug: str, config: Config, response: str = "") -> OneLogin_Saml2_Auth:
    """Return python3-saml's client, which uses our configured address, not the request's.

    Raises OAuth2Error, RequestException.
    """
    base, path = (
        urlsplit(settings.MUSTER_BASE_URL),
        reverse("account_saml_acs", kwargs={"slug": slug}),
    )
    request = {
        "https": "on" if base.scheme == "https" else "off",
        "http_host": base.netloc,
        "script_name": "",
        "path_info": path,
        "get_data": {},
        "post_data": {"SAMLResponse": response} if response else {},
    }
    try:
        return OneLogin_Saml2_Auth(
            request,
            {
                "strict": True,
                "sp": _service_provider(slug),
                "idp": idp_metadata(config),
                "security": _SECURITY,
            },
        )
    except OneLogin_Saml2_Error as error:
        raise OAuth2Error("its metadata lacks data that sign-in requires") from error


def sp_metadata(slug: str) -> bytes:
    """Return our metadata as a service provider."""
    made = OneLogin_Saml2_Settings(
        {"strict": True, "sp": _service_provider(slug), "security": _SECURITY},
        sp_validation_only=True,
    ).get_sp_metadata()
    return made if isinstance(made, bytes) else made.encode()


def idp_metadata(config: Config, *, refresh: bool = False) -> dict[str, Any]:
    """Return the identity provider's metadata, which is fetched again every hour from its address.

    Raises OAuth2Error, RequestException.
    """
    text = config.metadata or _fetch_metadata(config.metadata_url, refresh)
    try:
        found = (
            OneLogin_Saml2_IdPMetadataParser.parse(
                text.encode(), entity_id=config.entity_id or None
            ).get("idp")
            or {}
        )
    except Exception as error:  # an XML library may raise anything for a malformed document
        raise OAuth2Error("its metadata can't be read") from error
    if not found.get("entityId") or not found.get("singleSignOnService", {}).get("url"):
        _refuse("its metadata has no sign-in address with redirect binding")
    if not str(found["singleSignOnService"]["url"]).startswith(("https://", "http://")):
        _refuse("its sign-in page isn't a web address")
    if not found.get("x509cert") and not found.get("x509certMulti"):
        _refuse("its metadata has no certificate")
    return dict(found)


def verify_response(slug: str, config: Config, response: str) -> tuple[OneLogin_Saml2_Auth, str]:
    """Verify a response; return it with the id of the request that it answers.

    Raises OAuth2Error.
    """
    if not response or len(response) > LARGEST:
        _refuse("its answer is missing or too large")
    auth = saml_client(slug, config, response)
    try:
        auth.process_response()
        if auth.get_errors() or not auth.is_authenticated():
            _refuse(_explain(str(auth.get_last_error_reason() or "")))
        return auth, _check_assertion(auth, slug)
    except OAuth2Error:
        raise
    except (OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError) as error:
        raise OAuth2Error(_explain(str(error))) from error
    except Exception as error:  # two XML libraries may raise anything for a hostile document
        raise OAuth2Error("its answer violates the protocol") from error


def _check_assertion(auth: OneLogin_Saml2_Auth, slug: str) -> str:
    """Check, in the signed part, what python3-saml accepts when it is missing."""
    us, document = _service_provider(slug), auth.get_last_response_xml()
    found = _Signed(document)
    if us["entityId"] not in found.audiences:
        _refuse("its assertion was issued to another service")
    confirmed = [
        data
        for data in found.confirmations
        if data.get("Recipient") == us["assertionConsumerService"]["url"]
        and data.get("NotOnOrAfter")
        and data.get("InResponseTo")
    ]
    if not confirmed:
        _refuse("its assertion lacks a recipient, an expiry time or the request that it answers")
    if not durable.add(f"saml assertion {slug} {auth.get_last_assertion_id()}", "seen", KEEP):
        _refuse("its assertion was already used")
    return str(confirmed[0]["InResponseTo"])


def attributes_of(auth: OneLogin_Saml2_Auth) -> dict[str, list[Any]]:
    """Return the attributes of a verified response.

    A value with elements of its own, which python3-saml leaves out, is an object, so that nobody
    takes it for no value.
    """
    found: dict[str, list[Any]] = auth.get_attributes()
    for node in _Signed(auth.get_last_response_xml()).nested_attributes:
        found.setdefault(str(node.get("Name")), []).append({"elements": len(node)})
    return found


class _Signed:
    """The signed assertion of a response that python3-saml has accepted."""

    def __init__(self, document: Any):
        from onelogin.saml2.xml_utils import OneLogin_Saml2_XML as Xml

        root = Xml.to_etree(document)
        self._nodes = lambda path: Xml.query(root, _ASSERTION + path)
        self._text = Xml.element_text

    @property
    def audiences(self) -> list[str]:
        return [
            str(self._text(node)).strip()
            for node in self._nodes("/saml:Conditions/saml:AudienceRestriction/saml:Audience")
        ]

    @property
    def nested_attributes(self) -> list[Any]:
        nested = "saml:AttributeValue/*[not(self::saml:NameID)]"
        return list(self._nodes(f"/saml:AttributeStatement/saml:Attribute[{nested}]"))

    @property
    def confirmations(self) -> list[dict[str, str]]:
        bearer = f"/saml:Subject/saml:SubjectConfirmation[@Method='{Names.CM_BEARER}']/saml:SubjectConfirmationData"
        return [dict(node.attrib) for node in self._nodes(bearer)]


def _service_provider(slug: str) -> dict[str, Any]:
    def address(name: str) -> str:
        return settings.MUSTER_BASE_URL + reverse(name, kwargs={"slug": slug})

    return {
        "entityId": address("account_saml_metadata"),
        "NameIDFormat": Names.NAMEID_UNSPECIFIED,
        "assertionConsumerService": {
            "url": address("account_saml_acs"),
            "binding": Names.BINDING_HTTP_POST,
        },
    }


def _fetch_metadata(url: str, refresh: bool) -> str:
    """Fetch metadata; cached per network scope, as only operators may read private addresses."""
    key = "saml:" + hashlib.sha256(f"{reach()} {url}".encode()).hexdigest()
    known = None if refresh else cache.get(key)
    if known is None:
        with session() as http:
            answer = http.get(url)
        if answer.status_code != 200:
            _refuse(f"its metadata address answered with status {answer.status_code}")
        known = answer.text
        cache.set(key, known, KEEP)
    return str(known)


def _explain(reason: str) -> str:
    return next(
        (words for part, words in _EXPLANATIONS.items() if part in reason),
        "its answer violates the protocol",
    )


def _refuse(why: str) -> NoReturn:
    raise OAuth2Error(why)


_EXPLANATIONS = {
    "is not signed": "its assertion isn't signed",
    "No Signature": "its answer isn't signed",
    "Signature validation failed": "the signature of its answer is invalid",
    "audience": "its assertion was issued to another service",
    "Invalid issuer": "its answer was issued by another provider",
    "Timing issues (please check your clock settings)": (
        "its answer has expired or isn't valid yet; check the clocks of both servers"
    ),
    "expired": "its answer has expired",
    "A valid SubjectConfirmation": (
        "its assertion lacks a recipient, an expiry time or the request that it answers"
    ),
    "Deprecated": "its answer is signed with SHA-1, which isn't accepted",
    "received at": "its answer was sent to a different address",
    "must contain 1 assertion": "its answer must contain exactly one assertion",
    "status code of the Response was not Success": "it denied the sign-in",
}
