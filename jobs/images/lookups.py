"""Query registries about images and cache the results."""

from __future__ import annotations

import hashlib
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from functools import cache as once

from django.conf import settings
from django.core.cache import cache

from portal.core.outbound import OutboundPolicy
from schedulers.images.config import Image
from schedulers.images.reference import Reference, parse
from schedulers.images.registry import ImageUnreadable, read_image, registry_policy

BY_TAG, BY_DIGEST, TROUBLE = 15 * 60, 7 * 24 * 3600, 60  # cache lifetimes in seconds
FRESH = 20  # cache lifetime in seconds for a dry run
READERS, WAITING = 4, 32  # per process; further lookups are refused
BUSY = "too many image lookups are in progress"
OFF = "the operator has disabled it"
NO_NAME = "the name is not one of an image in a registry"

_under_way: dict[str, Future[Image | str]] = {}
_lock = threading.Lock()


def cached_image(name: str) -> Image | str | None:
    """Return the cached image, or the error text of its lookup, without a request."""
    return _cached(name)[1]


def lookup_image(name: str) -> Image | str:
    """Return the image as its registry has it now or had it moments ago, since tags move.

    Returns a text on a timeout or an error. Never raises.
    """
    at, found = _cached(name)
    if found is not None and time.time() - at < FRESH:
        return found
    begun = start_lookup(name)
    if isinstance(begun, str):
        return begun
    try:
        return begun.result(policy().seconds + 0.5)
    except Late:  # a DNS resolver that hangs ignores the HTTP timeout
        return "the lookup of its registry's address timed out"


def start_lookup(name: str) -> Future[Image | str] | str:
    """Start a lookup without waiting for it; returns a text if the lookup is refused."""
    reference = parse(name)
    if not settings.MUSTER_IMAGE_CHECK or reference is None:
        return NO_NAME if reference is None else OFF
    with _lock:
        if name in _under_way:
            return _under_way[name]
        if len(_under_way) >= WAITING:
            return BUSY
        future = _under_way[name] = _pool().submit(_read, name, reference)
    return future


def policy() -> OutboundPolicy:
    """Return the operator's settings: which registries may be queried, and how."""
    hosts = {
        text.removeprefix("http://").removeprefix("https://").strip("/").lower()
        for text in settings.MUSTER_IMAGE_REGISTRIES
    }
    plain = {
        text.removeprefix("http://").strip("/").lower()
        for text in settings.MUSTER_IMAGE_REGISTRIES
        if text.startswith("http://")
    }
    return registry_policy(frozenset(hosts), frozenset(plain), ca_file=settings.MUSTER_IMAGE_CA)


def _read(name: str, reference: Reference) -> Image | str:
    try:
        try:
            found: Image | str = read_image(reference, policy())
        except ImageUnreadable as error:
            found = str(error)
            # Keep the previous result while the registry is down.
            if isinstance(cached := cached_image(name), Image):
                return cached
        cache.set(
            _key(name),
            (time.time(), found),
            TROUBLE if isinstance(found, str) else BY_DIGEST if reference.digest else BY_TAG,
        )
        return found
    finally:
        with _lock:
            _under_way.pop(name, None)


def _cached(name: str) -> tuple[float, Image | str | None]:
    found: tuple[float, Image | str] | None = cache.get(_key(name))
    return found or (0.0, None)


@once
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(READERS, thread_name_prefix="images")


def _key(name: str) -> str:
    return f"image2:{hashlib.sha256(name.encode()).hexdigest()}"
