"""Names of images as people write them, and where they lead."""

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
    """`host` as it is written in full names ("docker.io", "registry.acme.org:5000"); tag or digest, the digest wins."""

    host: str
    path: str
    tag: str = ""
    digest: str = ""

    @property
    def address(self) -> str:
        """Who is asked: Docker Hub answers at another name than its own."""
        return _HUB_ADDRESS if self.host == DOCKER_HUB else self.host

    @property
    def version(self) -> str:
        return self.digest or self.tag

    def __str__(self) -> str:
        return f"{self.host}/{self.path}{f':{self.tag}' if self.tag else ''}{f'@{self.digest}' if self.digest else ''}"


def parse(text: str) -> Reference | None:
    """The image that a text names; None when it names none in a registry (a file, an address of something else, a typing error).
    Enroot's "host#path" and a "docker://" before it are understood."""
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
    """A colon behind the last slash stands before a tag; one before it stands before a port."""
    at = name.rfind(":")
    return (
        (name[:at], name[at + 1 :]) if at > max(name.rfind("/"), name.rfind("#")) else (name, None)
    )


def _host_of(name: str) -> tuple[str, str]:
    """The first part is a host only if it looks like one, as docker has it: "team/image" is on Docker Hub."""
    if "#" in name:
        name = name.replace("#", "/", 1)
        first, _, rest = name.partition("/")
    else:
        first, _, rest = name.partition("/")
        if not rest or not ("." in first or ":" in first or first == "localhost"):
            first, rest = DOCKER_HUB, name
    host = DOCKER_HUB if first.lower() in _HUB_NAMES else first
    return host, f"library/{rest}" if host == DOCKER_HUB and "/" not in rest else rest
