"""Extract the facts about an image from its manifests and config. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
CONFIGS = (
    "application/vnd.oci.image.config.v1+json",
    "application/vnd.docker.container.image.v1+json",
)
_NAMES = ("CUDA_VERSION", "NVIDIA_DISABLE_REQUIRE", "TORCH_CUDA_ARCH_LIST")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_ARCHES = {"x86_64": "amd64", "x86-64": "amd64", "aarch64": "arm64", "arm64v8": "arm64"}
LONGEST = 20_000


@dataclass(frozen=True)
class Variant:
    """The image for one architecture.

    `env` has only variables about GPUs; `digest` is that of the manifest.
    """

    os: str
    arch: str
    digest: str
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Image:
    """An image.

    `digest` is that of the index or manifest that its name refers to; `others` are further
    architectures, which were not read.
    """

    name: str
    digest: str
    variants: Sequence[Variant] = ()
    others: Sequence[str] = ()

    @property
    def arches(self) -> list[str]:
        return sorted(
            {v.arch for v in self.variants if v.os == "linux"}
            | {o.split("/")[1] for o in self.others if o.startswith("linux/")}
        )

    @property
    def digests(self) -> list[str]:
        """All digests by which a runtime may know the image."""
        return list(dict.fromkeys([self.digest, *(v.digest for v in self.variants)]))


@dataclass(frozen=True)
class IndexEntry:
    """An entry of an index."""

    os: str
    arch: str
    digest: str


def arch_name(text: str) -> str:
    """Return the architecture in the notation of images: "amd64", "arm64"."""
    return _ARCHES.get(text.strip().lower(), text.strip().lower())[:20]


def is_index(document: Mapping[str, Any]) -> bool:
    return document.get("mediaType") in INDEXES or isinstance(document.get("manifests"), list)


def entries_of(index: Mapping[str, Any]) -> list[IndexEntry]:
    """Return the images of an index.

    Signatures and attestations are skipped; their platform is "unknown".
    """
    found, lines = [], index.get("manifests")
    for line in lines if isinstance(lines, list) else ():
        platform = line.get("platform") if isinstance(line, dict) else None
        if isinstance(platform, dict) and _DIGEST.fullmatch(str(line.get("digest", ""))):
            os, arch = str(platform.get("os", "")), arch_name(str(platform.get("architecture", "")))
            if os not in ("", "unknown") and arch not in ("", "unknown"):
                found.append(IndexEntry(os[:20], arch, line["digest"]))
    return found


def config_digest_of(manifest: Mapping[str, Any]) -> str:
    """Return the digest of the config.

    Empty if this is no image (a chart, a signature) or a schema 1 manifest, which has no config.
    """
    config = manifest.get("config")
    if not isinstance(config, dict) or config.get("mediaType") not in CONFIGS:
        return ""
    digest = str(config.get("digest", ""))
    return digest if _DIGEST.fullmatch(digest) else ""


def variant_of(config: Mapping[str, Any], digest: str) -> Variant:
    inner = config.get("config")
    lines = inner.get("Env") if isinstance(inner, dict) else None
    env = dict(_pairs(lines if isinstance(lines, list) else ()))
    return Variant(
        str(config.get("os") or "linux")[:20],
        arch_name(str(config.get("architecture") or "")),
        digest,
        env,
    )


def _pairs(lines: Sequence[object]) -> list[tuple[str, str]]:
    pairs = (
        line.partition("=") for line in lines if isinstance(line, str) and len(line) <= LONGEST
    )
    return [
        (name, value)
        for name, _, value in pairs
        if name in _NAMES or name.startswith("NVIDIA_REQUIRE_")
    ]
