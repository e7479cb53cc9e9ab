"""From an operator's options to what holds for every pod."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from jobs.backends.base import Rejected
from jobs.backends.kubernetes_parts.pod import Site

_PREFIX = re.compile(r"[a-z](?:[a-z0-9-]{0,18}[a-z0-9])?")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class Settings(Protocol):
    """The part of the backend's Config that is about pods."""

    namespace_prefix: str
    image: str
    pull_policy: str
    pull_secrets: Sequence[str]
    node_selector: Sequence[str]
    tolerations: Sequence[str]
    gpu_resource: str
    priority_class: str
    user_id: int
    shared: Sequence[str]


def site_of(config: Any) -> Site:
    """Raises Rejected with the option that is wrong."""
    given: Settings = config
    if not _PREFIX.fullmatch(given.namespace_prefix):
        raise Rejected("A namespace prefix is at most 20 small letters, digits and hyphens.", "namespace_prefix")
    if given.user_id <= 0:
        raise Rejected("Containers never run as root: the user id must be above 0.", "user_id")
    return Site(
        prefix=given.namespace_prefix, image=given.image, pull_policy=given.pull_policy, pull_secrets=tuple(given.pull_secrets),
        selector=dict(_pair(word, "=", "node_selector") for word in given.node_selector),
        tolerations=tuple(_toleration(word) for word in given.tolerations), gpu_resource=given.gpu_resource,
        priority_class=given.priority_class, user=given.user_id, shared=tuple(_shared(word) for word in given.shared))


def _pair(word: str, by: str, option: str) -> tuple[str, str]:
    left, found, right = word.partition(by)
    if not left or not found:
        raise Rejected(f"{word!r} has no {by!r} in it.", option)
    return left, right


def _toleration(word: str) -> Mapping[str, str]:
    taint, _, effect = word.partition(":")
    key, has_value, value = taint.partition("=")
    if (effect and effect not in _EFFECTS) or not key:
        raise Rejected(f"{word!r} is no toleration: write name=value:NoSchedule, or name:NoSchedule.", "tolerations")
    rule = {"operator": "Equal", "value": value} if has_value else {"operator": "Exists"}
    return {"key": key, **rule, **({"effect": effect} if effect else {})}


def _shared(word: str) -> tuple[str, str]:
    claim, path = _pair(word, ":", "shared")
    if not path.startswith("/") or ".." in path or path.startswith(("/muster/", "/dev", "/proc", "/sys", "/etc")) or path == "/":
        raise Rejected(f"{path!r} is no place for a volume.", "shared")
    return claim, path
