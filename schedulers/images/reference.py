"""Parse image names and find their registry."""

from __future__ import annotations

import re
from dataclasses import dataclass

DOCKER_HUB = "docker.io"
_HUB_ADDRESS = "registry-1.docker.io"
_HUB_NAMES = {DOCKER_HUB, "index.docker.io", _HUB_ADDRESS}
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_PATH = re.compile(rf"{_PART}(?:/{_PART})*")
_HOST = re.compile(
    r"(?:(?!-)[A-Za-z0-9-]{1,63}(?<!-)(?:\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?"
)
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST = re.compile(r"sha(?:256:[0-9a-f]{64}|512:[0-9a-f]{128})")
_SCHEMES = ("docker://", "dockerd://", "podman://")


@dataclass(frozen=True)
class Reference:
    """A parsed image name.

    `host` is as in full names ("docker.io", "registry.acme.org:5000"); if there are both a tag and
    a digest, the digest is used.
    """

    host: str
    path: str
    tag: str = ""
    digest: str = ""

    @property
    def address(self) -> str:
        """Host to contact: Docker Hub uses another name for its registry."""
        return _HUB_ADDRESS if self.host == DOCKER_HUB else self.host

    @property
    def version(self) -> str:
        return self.digest or self.tag

    def __str__(self) -> str:
        return f"{self.host}/{self.path}{f':{self.tag}' if self.tag else ''}{f'@{self.digest}' if self.digest else ''}"


def parse(text: str) -> Reference | None:
    """Parse an image name; None if it is not in a registry (a file, another URL, a typo).

    Accepts Enroot's "host#path" and a leading "docker://".
    """
    name = text.strip()
    for scheme in _SCHEMES:
        name = name.removeprefix(scheme)
    name, _, digest = name.partition("@")
    name, tag = _tag_of(name)
    host, path = _host_of(name)
    is_good = (
        _HOST.fullmatch(host)
        and _PATH.fullmatch(path)
        and len(host) + len(path) <= 255
        and (tag is None or _TAG.fullmatch(tag))
        and ("@" not in text or _DIGEST.fullmatch(digest))
    )
    if not is_good:
        return None
    return Reference(host.lower(), path, tag or ("" if digest else "latest"), digest)


def _tag_of(name: str) -> tuple[str, str | None]:
    """Split off the tag: a colon after the last slash starts a tag, one before it a port."""
    at = name.rfind(":")
    return (
        (name[:at], name[at + 1 :]) if at > max(name.rfind("/"), name.rfind("#")) else (name, None)
    )


def _host_of(name: str) -> tuple[str, str]:
    """Split off the host, by Docker's rule: "team/image" is on Docker Hub."""
    if "#" in name:
        name = name.replace("#", "/", 1)
        first, _, rest = name.partition("/")
    else:
        first, _, rest = name.partition("/")
        if not rest or not ("." in first or ":" in first or first == "localhost"):
            first, rest = DOCKER_HUB, name
    host = DOCKER_HUB if first.lower() in _HUB_NAMES else first
    return host, f"library/{rest}" if host == DOCKER_HUB and "/" not in rest else rest
