"""Read an image's config from its registry with the OCI distribution API, without pulling.

A user names the registry, so `portal.core.outbound` decides where to connect to.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any
from urllib.parse import urlencode

import requests

from portal.core import outbound
from portal.core.outbound import OutboundPolicy, Session
from schedulers.images.config import (
    INDEXES,
    MANIFESTS,
    Image,
    IndexEntry,
    Variant,
    config_digest_of,
    entries_of,
    is_index,
    variant_of,
)
from schedulers.images.reference import Reference

LIMIT = 4 << 20  # bytes of a document
REDIRECTS = 3
SECONDS = 3.0  # for everything together
READ = ("amd64", "arm64")  # architectures to read; only the names of others are kept
_AGENT = "muster-image-check"
_ACCEPT = ", ".join((*INDEXES, *MANIFESTS))
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')


class ImageUnreadable(Exception):
    """The image's config could not be read.

    The message says why, for people; it quotes nothing of the response.
    """


def registry_policy(
    trusted: frozenset[str] = frozenset(),
    plain: frozenset[str] = frozenset(),
    *,
    ca_file: str = "",
    seconds: float = SECONDS,
) -> OutboundPolicy:
    """Return the policy for registries, of which an operator trusts some (`host[:port]`)."""
    return OutboundPolicy(
        trusted=trusted,
        plain=plain,
        ca_file=ca_file,
        seconds=seconds,
        limit=LIMIT,
        redirects=REDIRECTS,
    )


def read_image(reference: Reference, policy: OutboundPolicy) -> Image:
    """Read an image from its registry. Raises ImageUnreadable with the reason."""
    try:
        with Session(policy) as session, outbound.deadline(policy.seconds):
            return _Reader(session, reference).image()
    except (requests.RequestException, OSError) as error:
        raise ImageUnreadable(_why(error, policy)) from error


def _why(error: Exception, policy: OutboundPolicy) -> str:
    match error:
        case outbound.AddressRefused():
            return (
                f"{error.host} is not on the open internet; "
                "an operator may name it in MUSTER_IMAGE_REGISTRIES"
            )
        case outbound.EncryptionRequired():
            return (
                f"{error.host} would be asked without encryption, "
                "which the operator has not allowed"
            )
        case outbound.ResponseTooLarge():
            return "the registry's answer is larger than any image's config"
        case outbound.DeadlineExceeded():
            return f"the registry did not answer within {policy.seconds:g} s"
        case requests.TooManyRedirects():
            return "the registry redirects without end"
        case requests.exceptions.SSLError():
            reason = outbound.tls_reason(error)
            return f"the registry's certificate is not trusted or it speaks no TLS ({reason})"
    return "the registry does not answer"


class _Reader:
    def __init__(self, session: Session, reference: Reference):
        self._session, self._reference, self._authorization = session, reference, ""

    def image(self) -> Image:
        answer = self._get("manifests", self._reference.version)
        digest, document = self._digest(answer, self._reference.digest), _json(answer)
        if not is_index(document):
            return Image(str(self._reference), digest, [self._variant(document, digest)])
        entries = entries_of(document)
        if not entries:
            raise ImageUnreadable("the index names no image")
        chosen = [
            found
            for arch in READ
            if (found := next((e for e in entries if (e.os, e.arch) == ("linux", arch)), None))
        ]
        others = sorted({f"{e.os}/{e.arch}" for e in entries if e not in chosen})
        return Image(
            str(self._reference), digest, [self._of_entry(entry) for entry in chosen], others
        )

    def _of_entry(self, entry: IndexEntry) -> Variant:
        answer = self._get("manifests", entry.digest)
        return self._variant(_json(answer), self._digest(answer, entry.digest))

    def _variant(self, manifest: dict[str, object], digest: str) -> Variant:
        config = config_digest_of(manifest)
        if not config:
            raise ImageUnreadable(
                "what the name leads to is not a container image, or one in a format of before 2016"
            )
        answer = self._get("blobs", config)
        self._digest(answer, config)
        return variant_of(_json(answer), digest)

    def _get(self, kind: str, version: str) -> requests.Response:
        host, is_plain = (
            self._reference.address,
            self._reference.address in self._session.policy.plain,
        )
        url = (
            f"{'http' if is_plain else 'https'}://{host}/v2/{self._reference.path}/{kind}/{version}"
        )
        accept = _ACCEPT if kind == "manifests" else "*/*"
        answer = self._ask(url, accept)
        if answer.status_code == 401 and not self._authorization:
            self._authorization = self._token(answer.headers.get("WWW-Authenticate", ""))
            answer = self._ask(url, accept)
        if answer.status_code != 200:
            raise ImageUnreadable(
                _REFUSALS.get(answer.status_code, f"the registry answered {answer.status_code}")
            )
        return answer

    def _ask(self, url: str, accept: str) -> requests.Response:
        """Send a request; on redirects to another host, requests drops the authorization."""
        headers = {"Accept": accept, "User-Agent": _AGENT}
        if self._authorization:
            headers["Authorization"] = self._authorization
        return self._session.get(url, headers=headers)

    def _token(self, challenge: str) -> str:
        """Get an anonymous token from the server named by the registry."""
        kind, _, rest = challenge.partition(" ")
        params = dict(_PARAMETER.findall(rest))
        if kind.lower() != "bearer" or "realm" not in params:
            raise ImageUnreadable(_REFUSALS[401])
        query = {"scope": f"repository:{self._reference.path}:pull"} | (
            {"service": params["service"]} if "service" in params else {}
        )
        joint = "&" if "?" in params["realm"] else "?"
        answer = self._ask(f"{params['realm']}{joint}{urlencode(query)}", "*/*")
        found = _json(answer) if answer.status_code == 200 else {}
        token = found.get("token") or found.get("access_token")
        if not isinstance(token, str) or not re.fullmatch(r"[\x21-\x7e]+", token):
            raise ImageUnreadable(_REFUSALS[401])
        return f"Bearer {token}"

    @staticmethod
    def _digest(answer: requests.Response, asked: str) -> str:
        """Return the digest of the body, which must match the requested digest if any."""
        algorithm = asked.partition(":")[0] or "sha256"
        digest = f"{algorithm}:{hashlib.new(algorithm, answer.content).hexdigest()}"
        if asked and digest != asked:
            raise ImageUnreadable("the registry's answer is not what its digest says")
        return digest


def _json(answer: requests.Response) -> dict[str, Any]:
    """Parse the body. Raises ImageUnreadable for anything but a JSON object."""
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ImageUnreadable("the registry's answer is no JSON object")
    return found


_REFUSALS = {
    401: "the registry shows it only to those who log in",
    403: "the registry shows it only to those who log in",
    404: "the registry has no such image",
    429: "the registry wants to be asked less often",
}
