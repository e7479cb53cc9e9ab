"""Read an image's config from its registry with the OCI distribution API, without pulling."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import urlencode

from schedulers.images.config import (
    INDEXES,
    MANIFESTS,
    Entry,
    Image,
    Variant,
    config_digest_of,
    entries_of,
    is_index,
    variant_of,
)
from schedulers.images.http import Answer, Policy, RegistryClient, Unreadable
from schedulers.images.reference import Reference

MANIFEST_LIMIT, CONFIG_LIMIT, TOKEN_LIMIT = 4 << 20, 4 << 20, 64 << 10
READ = ("amd64", "arm64")  # architectures to read; only the names of others are kept
_ACCEPT = ", ".join((*INDEXES, *MANIFESTS))
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')


def read_image(reference: Reference, policy: Policy) -> Image:
    """Read an image from its registry. Raises Unreadable with the reason."""
    with RegistryClient(policy) as wire:
        return _Reader(wire, reference).image()


class _Reader:
    def __init__(self, wire: RegistryClient, reference: Reference):
        self._wire, self._reference, self._authorization = wire, reference, ""

    def image(self) -> Image:
        answer = self._get("manifests", self._reference.version, MANIFEST_LIMIT)
        digest, document = self._digest(answer, self._reference.digest), answer.json()
        if not is_index(document):
            return Image(str(self._reference), digest, [self._variant(document, digest)])
        entries = entries_of(document)
        if not entries:
            raise Unreadable("the index names no image")
        chosen = [
            found
            for arch in READ
            if (found := next((e for e in entries if (e.os, e.arch) == ("linux", arch)), None))
        ]
        others = sorted({f"{e.os}/{e.arch}" for e in entries if e not in chosen})
        return Image(
            str(self._reference), digest, [self._of_entry(entry) for entry in chosen], others
        )

    def _of_entry(self, entry: Entry) -> Variant:
        answer = self._get("manifests", entry.digest, MANIFEST_LIMIT)
        return self._variant(answer.json(), self._digest(answer, entry.digest))

    def _variant(self, manifest: dict[str, object], digest: str) -> Variant:
        config = config_digest_of(manifest)
        if not config:
            raise Unreadable(
                "what the name leads to is not a container image, or one in a format of before 2016"
            )
        answer = self._get("blobs", config, CONFIG_LIMIT)
        self._digest(answer, config)
        return variant_of(answer.json(), digest)

    def _get(self, kind: str, version: str, limit: int) -> Answer:
        url = f"{self._wire.base_of(self._reference.address)}/v2/{self._reference.path}/{kind}/{version}"
        accept = _ACCEPT if kind == "manifests" else "*/*"
        answer = self._wire.get(url, limit=limit, accept=accept, authorization=self._authorization)
        if answer.status == 401 and not self._authorization:
            self._authorization = self._token(answer.headers.get("www-authenticate", ""))
            answer = self._wire.get(
                url, limit=limit, accept=accept, authorization=self._authorization
            )
        if answer.status != 200:
            raise Unreadable(_REFUSALS.get(answer.status, f"the registry answered {answer.status}"))
        return answer

    def _token(self, challenge: str) -> str:
        """Get an anonymous token from the server named by the registry."""
        kind, _, rest = challenge.partition(" ")
        asked = dict(_PARAMETER.findall(rest))
        if kind.lower() != "bearer" or "realm" not in asked:
            raise Unreadable(_REFUSALS[401])
        query = {"scope": f"repository:{self._reference.path}:pull"} | (
            {"service": asked["service"]} if "service" in asked else {}
        )
        joint = "&" if "?" in asked["realm"] else "?"
        answer = self._wire.get(f"{asked['realm']}{joint}{urlencode(query)}", limit=TOKEN_LIMIT)
        found = answer.json() if answer.status == 200 else {}
        token = found.get("token") or found.get("access_token")
        if not isinstance(token, str) or not re.fullmatch(r"[\x21-\x7e]+", token):
            raise Unreadable(_REFUSALS[401])
        return f"Bearer {token}"

    @staticmethod
    def _digest(answer: Answer, asked: str) -> str:
        """Return the digest of the body, which must match the requested digest if any."""
        algorithm = asked.partition(":")[0] or "sha256"
        digest = f"{algorithm}:{hashlib.new(algorithm, answer.body).hexdigest()}"
        if asked and digest != asked:
            raise Unreadable("the registry's answer is not what its digest says")
        return digest


_REFUSALS = {
    401: "the registry shows it only to those who log in",
    403: "the registry shows it only to those who log in",
    404: "the registry has no such image",
    429: "the registry wants to be asked less often",
}
