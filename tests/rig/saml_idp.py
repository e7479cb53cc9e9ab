"""A double of a SAML identity provider that signs any text, as no real one does.

Regular behavior is tested with pysaml2 (tests/workspaces/identity/test_real_providers.py).
"""

from __future__ import annotations

import base64
import datetime as dt
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Names
from onelogin.saml2.utils import OneLogin_Saml2_Utils as Saml

ENTITY = "https://idp.example/metadata"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"

ASSERTION = """<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{id}" Version="2.0" IssueInstant="{now}"><saml:Issuer>{issuer}</saml:Issuer><saml:Subject><saml:NameID Format="{format}">{nameid}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData {confirmed}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="{before}" NotOnOrAfter="{after}">{audience}</saml:Conditions><saml:AuthnStatement AuthnInstant="{now}" SessionIndex="s"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>{attributes}</saml:AttributeStatement></saml:Assertion>"""  # noqa: E501  a document of one line: white space would be signed
RESPONSE = """<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{rid}" Version="2.0" IssueInstant="{now}" Destination="{destination}"{answers}><saml:Issuer>{issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="{status}"/></samlp:Status>{assertion}</samlp:Response>"""  # noqa: E501  the same


@cache
def pair(name: str) -> tuple[str, str]:
    """Return a private key and its certificate (PEM), generated once per run."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
    )
    made = made.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(
        now + dt.timedelta(days=30)
    )
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    return pem, made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


def metadata() -> str:
    body = "".join(pair("idp")[1].splitlines()[1:-1])
    return (
        '<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" '
        f'entityID="{ENTITY}"><md:IDPSSODescriptor '
        'protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:KeyDescriptor '
        'use="signing"><ds:KeyInfo '
        f'xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>{body}</ds:X509Certificate></ds:X509Data>'
        "</ds:KeyInfo></md:KeyDescriptor><md:SingleSignOnService "
        'Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" '
        'Location="https://idp.example/sso"/></md:IDPSSODescriptor></md:EntityDescriptor>'
    )


def facts(acs: str, us: str, request: str, **changed: Any) -> dict[str, Any]:
    """Return the parts of a valid response."""
    now = dt.datetime.now(dt.UTC)
    known = {
        "id": Saml.generate_unique_id(),
        "rid": Saml.generate_unique_id(),
        "issuer": ENTITY,
        "format": PERSISTENT,
        "nameid": "u-1",
        "destination": acs,
        "now": _stamp(now),
        "before": _stamp(now - dt.timedelta(minutes=1)),
        "after": _stamp(now + dt.timedelta(minutes=5)),
        "audience": f"<saml:AudienceRestriction><saml:Audience>{us}</saml:Audience></saml:AudienceRestriction>",
        "answers": f' InResponseTo="{request}"',
        "status": Names.STATUS_SUCCESS,
        "attributes": attribute("email", "eve@atlas.example")
        + attribute("groups", "people", "cooks")
        + attribute("displayName", "Eve"),
        "confirmed": (
            f'InResponseTo="{request}" Recipient="{acs}" '
            f'NotOnOrAfter="{_stamp(now + dt.timedelta(minutes=5))}"'
        ),
    }
    return known | changed


def attribute(name: str, *values: str) -> str:
    inside = "".join(f"<saml:AttributeValue>{value}</saml:AttributeValue>" for value in values)
    return f'<saml:Attribute Name="{name}">{inside}</saml:Attribute>'


def signed(
    xml: str, by: str = "idp", sign: str = Names.RSA_SHA256, digest: str = Names.SHA256
) -> str:
    key, cert = pair(by)
    made = Saml.add_sign(xml, key, cert, sign_algorithm=sign, digest_algorithm=digest)
    return (
        (made if isinstance(made, str) else made.decode())
        .replace('<?xml version="1.0"?>', "")
        .strip()
    )


def assertion(known: dict[str, Any]) -> str:
    return ASSERTION.format(**known)


def response(known: dict[str, Any], inside: str) -> str:
    return RESPONSE.format(**known, assertion=inside)


def posted(xml: str) -> str:
    return base64.b64encode(xml.encode()).decode()


def _stamp(at: dt.datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
