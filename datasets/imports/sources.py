"""Addresses of sources: s3://BUCKET/PREFIX, https://…, hf://datasets/OWNER/NAME@REVISION, and
cluster://CLUSTER/DIRECTORY.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from clusters.models import Cluster
from datasets.imports.directories import DirectorySource
from datasets.imports.http import HttpSource
from datasets.imports.hub import HubSource
from datasets.imports.s3 import S3Source
from datasets.imports.source import ImportSource
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from workspaces.models import Team

HUB = "https://huggingface.co"
MOST_ADDRESSES, LONGEST_ADDRESS = 1000, 4000
# What secrets are for, by kind of source
SECRETS = {
    "s3": ("access_key_id", "secret_access_key", "session_token"),
    "http": ("token",),
    "hub": ("token",),
    "directory": (),
}
_KINDS = {"s3": "s3", "http": "http", "https": "http", "hf": "hub", "cluster": "directory"}
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}\Z")
_HUB_NAME = re.compile(
    r"(?:(?P<kind>datasets|models)/)?(?P<name>(?!datasets/|models/)[\w.-]+/[\w.-]+)(?:@(?P<revision>[^@]{1,200}))?\Z"
)
_KEYS = {"session_token": "token"}  # as obstore names it
_REGION = re.compile(r"[a-z0-9-]{0,40}\Z")


def kind_of(addresses: str) -> str:
    """Return s3, http, hub or directory. Raises InvalidInput."""
    kinds = {_KINDS.get(urlsplit(line).scheme.lower(), "") for line in addresses.splitlines()}
    if len(kinds) != 1 or "" in kinds:
        raise InvalidInput.at(
            "source",
            Message("must begin with s3://, https://, hf:// or cluster://, all of them alike"),
        )
    return kinds.pop()


def checked_addresses(addresses: str) -> str:
    """Return the addresses, one a line. Raises InvalidInput."""
    lines = list(filter(None, (line.strip() for line in addresses.splitlines())))
    try:
        kind = kind_of("\n".join(lines))
        parts = [urlsplit(line) for line in lines]
        is_host = [bool(one.hostname) and (one.port or 1) > 0 for one in parts]
    except ValueError:
        raise InvalidInput.at("source", Message("is not an address")) from None
    if kind != "http" and len(lines) > 1:
        raise InvalidInput.at("source", Message("must be one address"))
    if len(lines) > MOST_ADDRESSES or any(len(line) > LONGEST_ADDRESS for line in lines):
        raise InvalidInput.at(
            "source", Message("must be at most {n} addresses", n=f"{MOST_ADDRESSES:,}")
        )
    if not all(is_host) or not all(line.isprintable() for line in lines):
        raise InvalidInput.at("source", Message("is not an address"))
    if any(one.username or one.password for one in parts):
        raise InvalidInput.at("source", Message("must not hold a password; name a secret instead"))
    return "\n".join(lines)


def checked_options(kind: str, options: Mapping[str, str]) -> dict[str, str]:
    """Return endpoint and region. Raises InvalidInput."""
    endpoint = options.get("endpoint", "").strip().rstrip("/")
    region = options.get("region", "").strip()
    if endpoint and (kind not in {"s3", "hub"} or not _is_url(endpoint)):
        raise InvalidInput.at("endpoint", Message("must begin with https://"))
    if not _REGION.match(region):
        raise InvalidInput.at("region", Message("must be a region, such as eu-west-1"))
    return {k: v for k, v in (("endpoint", endpoint), ("region", region)) if v}


def checked_secrets(kind: str, secrets: Mapping[str, str]) -> dict[str, str]:
    """Return references to secrets by what they are for. Raises InvalidInput."""
    given = {name: text.strip() for name, text in secrets.items() if text.strip()}
    for name in given:
        if name not in SECRETS[kind]:
            raise InvalidInput.at(f"secrets.{name}", Message("is not used by this source"))
    if kind == "s3" and given and not {"access_key_id", "secret_access_key"} <= given.keys():
        raise InvalidInput.at(
            "secrets", Message("must be both access_key_id and secret_access_key")
        )
    return given


def shown_address(addresses: str) -> str:
    """Return addresses without queries, which may hold signatures."""
    return "\n".join(urlunsplit((*urlsplit(line)[:3], "", "")) for line in addresses.splitlines())


def open_source(
    team: Team, addresses: str, options: Mapping[str, str], secrets: Mapping[str, str]
) -> ImportSource:
    """Return the source; `secrets` are values. Raises InvalidInput."""
    kind, lines = kind_of(addresses), addresses.splitlines()
    at = urlsplit(lines[0])
    token = secrets.get("token", "")
    if kind == "http":
        return HttpSource(lines, token)
    if kind == "hub":
        found = _HUB_NAME.match(lines[0].partition("://")[2])
        if not found:
            raise InvalidInput.at(
                "source", Message("must be such as hf://datasets/owner/name@main")
            )
        endpoint = options.get("endpoint") or HUB
        return HubSource(
            endpoint, found["kind"] or "models", found["name"], found["revision"] or "", token
        )
    if kind == "directory":
        if not Cluster.objects.filter(name=at.netloc, is_enabled=True).exists():
            raise InvalidInput.at("source", Message("must name a cluster"))
        return DirectorySource(team, at.netloc, f"/{_after_host(lines[0])}")
    if not _BUCKET.match(at.netloc):
        raise InvalidInput.at("source", Message("must name a bucket, such as s3://bucket/folder"))
    keys = {_KEYS.get(name, name): value for name, value in secrets.items()}
    return S3Source(
        at.netloc,
        _after_host(lines[0]),
        endpoint=options.get("endpoint", ""),
        region=options.get("region", ""),
        keys=keys,
    )


def _after_host(address: str) -> str:
    """Return what follows the first slash: keys and names may hold "?" and "#"."""
    return address.partition("://")[2].partition("/")[2]


def _is_url(text: str) -> bool:
    try:
        at = urlsplit(text)
        is_bare = not (at.username or at.password or at.query or at.fragment)
        return (
            at.scheme in {"http", "https"} and bool(at.hostname) and (at.port or 1) > 0 and is_bare
        )
    except ValueError:
        return False
