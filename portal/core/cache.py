"""Caches: in Redis, where an outage is a miss; in the database, where an outage is an error."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.core.cache.backends.redis import RedisCache
from django.db import DatabaseError, connection
from redis import exceptions

from portal.core.outage import outage
from portal.core.redis_outages import TIMEOUT, breaker

log = logging.getLogger(__name__)


class ForgivingRedisCache(RedisCache):
    """Django's RedisCache, with every Redis error turned into a miss, and no call in an outage."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        timeouts = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
        options = {**timeouts, **params.get("OPTIONS", {})}
        super().__init__(server, {**params, "OPTIONS": options})

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

    def has_key(self, key: Any, version: int | None = None) -> bool:
        return bool(_call_or(False, super().has_key, key, version))

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        return int(_call_or(delta, super().incr, key, delta, version))

    def get_many(self, keys: Any, version: int | None = None) -> dict[Any, Any]:
        return dict(_call_or({}, super().get_many, keys, version))

    def set_many(self, data: Any, timeout: Any = 300, version: int | None = None) -> list[Any]:
        return list(_call_or([], super().set_many, data, timeout, version))

    def delete_many(self, keys: Any, version: int | None = None) -> None:
        _call_or(None, super().delete_many, keys, version)


def _call_or(default: Any, call: Callable[..., Any], *args: Any) -> Any:
    if not breaker.may_call():
        return default
    try:
        found = call(*args)
    except (exceptions.ConnectionError, exceptions.TimeoutError) as error:
        breaker.failed()
        log.warning("cache unavailable: %s", error)
        return default
    except exceptions.RedisError as error:
        log.warning("cache unavailable: %s", error)
        found = default
    except BaseException:  # an answer all the same, such as a key that is missing
        breaker.succeeded()
        raise
    breaker.succeeded()
    return found


class DurableCache(DatabaseCache):
    """Django's DatabaseCache, whose `add` raises in an outage.

    Else it would say that the entry exists, and a rate limiter would refuse people because another
    process writes.
    """

    def add(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        errors: list[DatabaseError] = []

        def note(statement: Callable[..., Any], *args: Any) -> Any:
            try:
                return statement(*args)
            except DatabaseError as error:
                errors.append(error)
                raise

        with connection.execute_wrapper(note):
            is_added = super().add(key, value, timeout, version)
        if not is_added and errors and outage(errors[-1]):
            raise errors[-1]
        return is_added
