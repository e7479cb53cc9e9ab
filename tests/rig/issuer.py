"""A double of an OpenID issuer whose responses can be falsified, as no real one allows.

Regular behavior is tested with real providers (tests/workspaces/identity/test_real_providers.py).
"""

from __future__ import annotations

import base64
import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.rig.http_server import LoopbackServer

_KEYS: dict[str, Any] = {}


def key(name: str = "k1") -> Any:
    """Return a key, generated once per run because that is slow."""
    return _KEYS.setdefault(name, rsa.generate_private_key(public_exponent=65537, key_size=2048))


class Issuer:
    """An issuer.

    `claims` are the user's. `lies` maps a part (discovery, jwks, token, userinfo, header, id_token)
    to a function that changes the response. `asked` holds the forms sent to the token endpoint.
    """

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {
            "sub": "u-1",
            "email": "eve@atlas.example",
            "email_verified": True,
            "name": "Eve",
            "groups": [],
        }
        self.lies: dict[str, Any] = {}
        self.asked: list[dict[str, str]] = []
        self.nonce = ""
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer({})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                self._answer({name: values[0] for name, values in parse_qs(body).items()})

            def _answer(self, form: dict[str, str]) -> None:
                found = issuer.answer(urlsplit(self.path).path, form)
                body = found if isinstance(found, bytes) else json.dumps(found).encode()
                self.send_response(200 if found is not None else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = LoopbackServer(Handler)
        self.url = self._server.url

    def close(self) -> None:
        self._server.close()

    def answer(self, path: str, form: dict[str, str]) -> Any:
        if path == "/.well-known/openid-configuration":
            return self._lied(
                "discovery",
                {
                    "issuer": self.url,
                    "authorization_endpoint": f"{self.url}/authorize",
                    "token_endpoint": f"{self.url}/token",
                    "jwks_uri": f"{self.url}/jwks",
                    "userinfo_endpoint": f"{self.url}/userinfo",
                },
            )
        if path == "/jwks":
            public = jwt.algorithms.RSAAlgorithm.to_jwk(key().public_key(), as_dict=True)
            return self._lied(
                "jwks", {"keys": [public | {"kid": "k1", "use": "sig", "alg": "RS256"}]}
            )
        if path == "/userinfo":
            return self._lied("userinfo", self.claims)
        if path == "/token":
            self.asked.append(form)
            return self._lied(
                "token",
                {"access_token": "a", "token_type": "Bearer", "id_token": self.id_token(form)},
            )
        return None

    def id_token(self, form: dict[str, str]) -> str:
        now = int(time.time())
        client = form.get("client_id") or "muster"
        claims = self._lied(
            "id_token",
            self.claims
            | {"iss": self.url, "aud": client, "iat": now, "exp": now + 300, "nonce": self.nonce},
        )
        header = self._lied("header", {"kid": "k1", "alg": "RS256", "key": key()})
        return jwt.encode(claims, header.pop("key"), algorithm=header.pop("alg"), headers=header)

    def _lied(self, part: str, truth: Any) -> Any:
        return self.lies[part](truth) if part in self.lies else truth


def forged(header: dict[str, Any], claims: dict[str, Any], signature: bytes = b"") -> str:
    """Return a token of three arbitrary parts."""
    return ".".join(
        base64.urlsafe_b64encode(part).rstrip(b"=").decode()
        for part in (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
    )
