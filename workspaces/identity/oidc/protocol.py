"""OpenID Connect by allauth, with the checks that allauth leaves out.

These are the issuer of the discovery document; the signature, nonce and times of every ID token;
and that userinfo describes the same person.
"""

from __future__ import annotations

import secrets
from typing import Any, NoReturn

import jwt
import requests
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from workspaces.identity.http_client import session

ALGORITHMS = {
    "RS256": "RSA",
    "RS384": "RSA",
    "RS512": "RSA",
    "PS256": "RSA",
    "PS384": "RSA",
    "PS512": "RSA",
    "ES256": "EC",
    "ES384": "EC",
    "ES512": "EC",
    "EdDSA": "OKP",
}
LEEWAY = 60  # seconds of tolerated clock skew
_NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class OidcProvider(OpenIDConnectProvider):
    """One of our providers as allauth sees it, with scopes and parameters from the row."""

    def get_oauth2_adapter(self, request: HttpRequest) -> OidcAdapter:
        return OidcAdapter(request, self.app.provider_id)

    def get_pkce_params(self) -> dict[str, Any]:
        self.app.settings["oauth_pkce_enabled"] = True
        return super().get_pkce_params()  # type: ignore[no-any-return]

    def redirect(
        self,
        request: HttpRequest,
        process: str,
        next_url: str | None = None,
        data: Any = None,
        **kwargs: Any,
    ) -> Any:
        nonce = secrets.token_urlsafe(32)
        return super().redirect(
            request,
            process,
            next_url,
            data,
            scope=self.app.settings["scope"],
            auth_params={"nonce": nonce},
            nonce=nonce,
            **kwargs,
        )

    def extract_uid(self, data: Any) -> str:
        """Return the id that allauth requires; `workspaces.identity.sign_in` links accounts."""
        return str(data["claims"]["sub"])[:191]

    def extract_common_fields(self, data: Any) -> dict[str, Any]:
        return {}

    def extract_email_addresses(self, data: Any) -> list[Any]:
        return []


class OidcAdapter(OpenIDConnectOAuth2Adapter):
    """Verify a provider's answers.

    Raises OAuth2Error or RequestException with a readable reason.
    """

    state: dict[str, Any] | None = None

    @property
    def openid_config(self) -> dict[str, Any]:
        if not hasattr(self, "_openid_config"):
            app = self.get_provider().app
            self._openid_config = discover(app.settings["issuer"])
        return self._openid_config

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return settings.MUSTER_BASE_URL + reverse(
            "account_sso_callback", kwargs={"slug": app.provider_id}
        )

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: Any, **kwargs: Any
    ) -> Any:
        given = kwargs["response"].get("id_token")
        if not isinstance(given, str):
            _refuse("it didn't send an ID token")
        claims = self._verified(app, given)
        if self.openid_config.get("userinfo_endpoint"):
            claims = self._userinfo(token.token, claims) | claims
        return self.get_provider().sociallogin_from_response(request, {"claims": claims})

    def _verified(self, app: SocialApp, given: str) -> dict[str, Any]:
        nonce = (self.state or {}).get("nonce")
        claims = verify_id_token(
            given,
            issuer=app.settings["issuer"],
            audience=app.client_id,
            keys=fetch_keys(self.openid_config["jwks_uri"]),
        )
        if not nonce or not secrets.compare_digest(str(claims.get("nonce", "")), nonce):
            _refuse("its ID token doesn't belong to this sign-in (nonce)")
        return claims

    def _userinfo(self, access_token: str, claims: dict[str, Any]) -> dict[str, Any]:
        found = fetch_json(self.openid_config["userinfo_endpoint"], access_token)
        if found.get("sub") != claims["sub"]:
            _refuse("its userinfo and its ID token identify different people")
        return found


class Callback(OAuth2CallbackView):
    """Pass the state to the adapter, which needs it to check the ID token."""

    def _get_state(self, request: HttpRequest, provider: Any) -> Any:
        state, response = super()._get_state(request, provider)
        self.adapter.state = state
        issuer = request.GET.get("iss")
        if state and issuer is not None and issuer != provider.app.settings["issuer"]:
            _refuse("a different provider answered than the one requested")  # RFC 9207
        return state, response


def discover(issuer: str) -> dict[str, Any]:
    """Fetch and check the discovery document. Raises OAuth2Error, RequestException."""
    found = fetch_json(issuer.rstrip("/") + "/.well-known/openid-configuration")
    if found.get("issuer") != issuer:
        _refuse(f"its issuer is {str(found.get('issuer'))[:200]!r}, not {issuer!r}")
    if missing := [name for name in _NEEDED if not isinstance(found.get(name), str)]:
        _refuse(f"its discovery document lacks {', '.join(missing)}")
    if not found["authorization_endpoint"].startswith(("https://", "http://")):
        _refuse("its sign-in page isn't a web address")
    return found


def fetch_json(url: str, access_token: str = "") -> dict[str, Any]:
    """Fetch a JSON object. Raises OAuth2Error, RequestException."""
    with session() as http:
        answer = http.get(
            url,
            headers={"Accept": "application/json"}
            | ({"Authorization": f"Bearer {access_token}"} if access_token else {}),
        )
    if answer.status_code != requests.codes.ok:
        _refuse(f"it answered with status {answer.status_code}")
    try:
        found = answer.json()
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        _refuse("its answer isn't a JSON object")
    return found


def fetch_keys(url: str) -> list[dict[str, Any]]:
    """Fetch the signing keys (JWKS) of kinds that we accept. Raises as `fetch_json`."""
    return [
        key
        for key in fetch_json(url).get("keys") or []
        if isinstance(key, dict)
        and key.get("kty") in ALGORITHMS.values()
        and key.get("use", "sig") == "sig"
    ]


def verify_id_token(
    token: str, *, issuer: str, audience: str, keys: list[dict[str, Any]]
) -> dict[str, Any]:
    """Verify an ID token and return its claims. Raises OAuth2Error."""
    try:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            _refuse(f"its ID token is signed with {str(algorithm)[:20]!r}, which isn't accepted")
        key = _key(keys, header.get("kid"), ALGORITHMS[algorithm])
        claims: dict[str, Any] = jwt.decode(
            token,
            jwt.PyJWK(key, algorithm=algorithm).key,
            algorithms=[algorithm],
            issuer=issuer,
            audience=audience,
            leeway=LEEWAY,
            options={"require": ["iss", "aud", "exp", "iat", "sub"]},
        )
    except jwt.PyJWTError as error:
        raise OAuth2Error(
            _EXPLANATIONS.get(type(error).__name__, "its ID token can't be verified")
        ) from error
    if claims.get("azp", audience) != audience or (
        isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and "azp" not in claims
    ):
        _refuse("its ID token was issued to another client")
    return claims


def _key(keys: list[dict[str, Any]], kid: Any, kind: str) -> dict[str, Any]:
    fit = [key for key in keys if key["kty"] == kind and kid in (None, key.get("kid"))]
    if len(fit) != 1:
        _refuse(
            "its ID token is signed with a key that it doesn't publish"
            if not fit
            else "its ID token doesn't say which key signed it"
        )
    return fit[0]


def _refuse(why: str) -> NoReturn:
    raise OAuth2Error(why)


_EXPLANATIONS = {
    "InvalidSignatureError": "the signature of its ID token is invalid",
    "ExpiredSignatureError": "its ID token has expired; check the clocks of both servers",
    "ImmatureSignatureError": "its ID token isn't valid yet; check the clocks of both servers",
    "InvalidIssuerError": "its ID token was issued by another provider",
    "InvalidAudienceError": "its ID token was issued to another client",
    "MissingRequiredClaimError": "its ID token lacks a required claim",
}
