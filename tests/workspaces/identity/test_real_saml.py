"""Sign-in with pysaml2 as the identity provider, which answers as Shibboleth does."""

from __future__ import annotations

import base64
import html
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.cache import cache
from django.test import Client

from tests.rig.processes import program
from tests.rig.saml_idp import pair
from tests.workspaces.identity.conftest import ONWARD, rule
from workspaces.models import Identity, Provider, User

ENTITY = "https://pysaml2.example/idp"


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()


def _config(folder, ours=b""):
    from saml2 import BINDING_HTTP_REDIRECT  # reads XML schemas for most of a second
    from saml2.config import IdPConfig

    key, cert = pair("pysaml2")
    (folder / "key.pem").write_text(key)
    (folder / "cert.pem").write_text(cert)
    (folder / "sp.xml").write_bytes(ours)
    return IdPConfig().load(
        {
            "entityid": ENTITY,
            "xmlsec_binary": program("xmlsec1"),
            "key_file": str(folder / "key.pem"),
            "cert_file": str(folder / "cert.pem"),
            "metadata": {"local": [str(folder / "sp.xml")]} if ours else {},
            "service": {
                "idp": {
                    "endpoints": {
                        "single_sign_on_service": [
                            ("https://pysaml2.example/sso", BINDING_HTTP_REDIRECT)
                        ]
                    },
                    "policy": {"default": {"lifetime": {"minutes": 5}}},
                }
            },
        }
    )


def _answer(folder, ours, asked):
    from saml2 import BINDING_HTTP_REDIRECT
    from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
    from saml2.server import Server
    from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256

    idp = Server(config=_config(folder, ours))
    request = idp.parse_authn_request(asked["SAMLRequest"][0], BINDING_HTTP_REDIRECT)
    args = idp.response_args(request.message)
    args.pop("name_id_policy", None)
    identity = {
        "mail": ["eve@atlas.example"],
        "displayName": ["Eve"],
        "isMemberOf": ["people", "vision"],
    }
    return idp.create_authn_response(
        identity,
        userid="eve",
        name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text="eve-1"),
        sign_assertion=True,
        sign_response=False,
        authn={
            "class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password",
            "authn_auth": ENTITY,
        },
        sign_alg=SIG_RSA_SHA256,
        digest_alg=DIGEST_SHA256,
        **args,
    )


def test_sign_in_with_pysaml2_creates_account(story, tmp_path):
    from saml2.metadata import entity_descriptor

    row = Provider.objects.create(
        kind="saml",
        org=story.atlas,
        slug="pysaml2",
        name="pysaml2",
        domains=["atlas.example"],
        config={"metadata": entity_descriptor(_config(tmp_path)).to_string().decode()},
    )
    rule(row, "people", story.atlas)
    rule(row, "vision", story.atlas, story.vision)
    client, poster = Client(), Client()
    found = ONWARD.search(client.post("/accounts/sso/pysaml2/").content.decode())
    assert found
    query = parse_qs(urlsplit(html.unescape(found[1])).query)
    ours = client.get("/accounts/sso/pysaml2/metadata/").content

    texts = str(_answer(tmp_path, ours, query))
    landed = poster.post(
        "/accounts/sso/pysaml2/acs/", {"SAMLResponse": base64.b64encode(texts.encode()).decode()}
    )
    client.cookies["saml-acs-session"] = poster.cookies["saml-acs-session"].value
    answer = client.get(landed["Location"])
    assert answer.status_code == 302, answer.content.decode()
    assert Identity.objects.values_list("subject", "groups").get() == (
        "eve-1",
        ["people", "vision"],
    )
    assert client.session["_auth_user_id"] == str(User.objects.get(email="eve@atlas.example").id)
