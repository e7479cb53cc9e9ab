"""A Redis cache that tolerates outages: reads miss, writes are dropped, nothing raises."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = logging.getLogger(__name__)


class ForgivingRedisCache(RedisCache):
    """Django's RedisCache, with every Redis error turned into a miss."""

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return _call_or(default, super().get, key, default, version)

    def set(self, key: Any, value: Any, timeout: Any = 300, version: int | None = None) -> None:
        _call_or(None, super().set, key, value, timeout, version)

    def add(self, key: Any, value: Any, timeout: Any = 300, version: int | None = None) -> bool:
        return bool(_call_or(True, super().add, key, value, timeout, version))

    def touch(self, key: Any, timeout: Any = 300, version: int | None = None) -> bool:
        return bool(_call_or(False, super().touch, key, timeout, version))

    def delete(self, key: Any, version: int | None = None) -> bool:
        return bool(_call_or(False, super().delete, key, version))

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        return int(_call_or(delta, super().incr, key, delta, version))

    def get_many(self, keys: Any, version: int | None = None) -> dict[Any, Any]:
        return dict(_call_or({}, super().get_many, keys, version))


def _call_or(default: Any, call: Callable[..., Any], *args: Any) -> Any:
    try:
        return call(*args)
    except RedisError as error:
        log.warning("cache unavailable: %s", error)
        return default
