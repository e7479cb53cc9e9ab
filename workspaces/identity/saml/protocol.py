"""SAML 2.0 by allauth and python3-saml, with what they leave open closed here: the assertion itself is signed, names us as its
audience and recipient and the request that it answers, and counts once."""

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

LARGEST = 512 << 10  # characters of one answer
KEEP = 3600  # seconds that fetched metadata counts, and that an assertion is remembered
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
    """One row of ours, as allauth sees it."""

    def redirect(
        self,
        request: HttpRequest,
        process: str,
        next_url: str | None = None,
        data: Any = None,
        **kwargs: Any,
    ) -> HttpResponseRedirect:
        auth = auth_of(self.app.provider_id, self.app.settings["config"])
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
    """What allauth wants to know; never stored."""
    return SocialApp(
        provider="saml", provider_id=slug, name=name, client_id=slug, settings={"config": config}
    )


def auth_of(slug: str, config: Config, response: str = "") -> OneLogin_Saml2_Auth:
    """python3-saml, told of our own address and not of what the request says of it. Raises OAuth2Error, RequestException."""
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
            {"strict": True, "sp": _us(slug), "idp": described(config), "security": _SECURITY},
        )
    except OneLogin_Saml2_Error as error:
        raise OAuth2Error("its metadata lacks what a sign-in needs") from error


def our_metadata(slug: str) -> bytes:
    """What the other side wants to know of us."""
    made = OneLogin_Saml2_Settings(
        {"strict": True, "sp": _us(slug), "security": _SECURITY}, sp_validation_only=True
    ).get_sp_metadata()
    return made if isinstance(made, bytes) else made.encode()


def described(config: Config, *, anew: bool = False) -> dict[str, Any]:
    """The identity provider by its metadata, which an address gives anew each hour. Raises OAuth2Error, RequestException."""
    text = config.metadata or _fetched(config.metadata_url, anew)
    try:
        found = (
            OneLogin_Saml2_IdPMetadataParser.parse(
                text.encode(), entity_id=config.entity_id or None
            ).get("idp")
            or {}
        )
    except Exception as error:  # whatever a document may break of an XML library
        raise OAuth2Error("its metadata cannot be read") from error
    if not found.get("entityId") or not found.get("singleSignOnService", {}).get("url"):
        _refuse("its metadata names no sign-in by redirect")
    if not str(found["singleSignOnService"]["url"]).startswith(("https://", "http://")):
        _refuse("its sign-in page has no web address")
    if not found.get("x509cert") and not found.get("x509certMulti"):
        _refuse("its metadata has no certificate")
    return dict(found)


def accepted(slug: str, config: Config, response: str) -> tuple[OneLogin_Saml2_Auth, str]:
    """An answer in which everything is as it must be, and the id of the request that it answers. Raises OAuth2Error."""
    if not response or len(response) > LARGEST:
        _refuse("it sent no answer of a usable size")
    auth = auth_of(slug, config, response)
    try:
        auth.process_response()
        if auth.get_errors() or not auth.is_authenticated():
            _refuse(_words(str(auth.get_last_error_reason() or "")))
        return auth, _closed(auth, slug)
    except OAuth2Error:
        raise
    except (OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError) as error:
        raise OAuth2Error(_words(str(error))) from error
    except Exception as error:  # whatever a hostile document may break of two XML libraries
        raise OAuth2Error("its answer is not what the protocol says") from error


def _closed(auth: OneLogin_Saml2_Auth, slug: str) -> str:
    """What python3-saml accepts when it is missing must be there, in the part that is signed."""
    us, document = _us(slug), auth.get_last_response_xml()
    found = _Signed(document)
    if us["entityId"] not in found.audiences:
        _refuse("its assertion was made for somebody else")
    confirmed = [
        data
        for data in found.confirmations
        if data.get("Recipient") == us["assertionConsumerService"]["url"]
        and data.get("NotOnOrAfter")
        and data.get("InResponseTo")
    ]
    if not confirmed:
        _refuse("its assertion does not say where, until when and to which request it is an answer")
    if not durable.add(f"saml assertion {slug} {auth.get_last_assertion_id()}", "seen", KEEP):
        _refuse("its assertion was used before")
    return str(confirmed[0]["InResponseTo"])


class _Signed:
    """The one assertion of a response that python3-saml has accepted."""

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
    def confirmations(self) -> list[dict[str, str]]:
        bearer = f"/saml:Subject/saml:SubjectConfirmation[@Method='{Names.CM_BEARER}']/saml:SubjectConfirmationData"
        return [dict(node.attrib) for node in self._nodes(bearer)]


def _us(slug: str) -> dict[str, Any]:
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


def _fetched(url: str, anew: bool) -> str:
    """What one reach was shown is kept for that reach: an address inside the house is the operator's to see."""
    key = "saml:" + hashlib.sha256(f"{reach()} {url}".encode()).hexdigest()
    known = None if anew else cache.get(key)
    if known is None:
        with session() as asking:
            answer = asking.get(url)
        if answer.status_code != 200:
            _refuse(f"its metadata address answered {answer.status_code}")
        known = answer.text
        cache.set(key, known, KEEP)
    return str(known)


def _words(reason: str) -> str:
    return next(
        (words for part, words in _WORDS.items() if part in reason),
        "its answer is not what the protocol says",
    )


def _refuse(why: str) -> NoReturn:
    raise OAuth2Error(why)


_WORDS = {
    "is not signed": "its assertion is not signed",
    "No Signature": "its answer is not signed",
    "Signature validation failed": "the signature of its answer is wrong",
    "audience": "its assertion was made for somebody else",
    "Invalid issuer": "its answer was made by another issuer",
    "Timing issues (please check your clock settings)": "its answer is too old or not valid yet; one of the two clocks may be wrong",
    "expired": "its answer is too old",
    "A valid SubjectConfirmation": "its assertion does not say where, until when and to which request it is an answer",
    "Deprecated": "its answer is signed with SHA-1, which proves nothing",
    "received at": "its answer was sent to another address than this one",
    "must contain 1 assertion": "its answer holds more than one assertion, or none",
    "status code of the Response was not Success": "it did not let you in",
}
