"""HTTP client for providers, whose addresses are set by their administrators and so restricted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from portal.core.outbound import OutboundPolicy, Session
from workspaces.identity import request_limits
from workspaces.models import Provider

SECONDS = 5.0


@dataclass
class _ProviderCall:
    """The current provider; `request` holds the web request's slot under the limits."""

    reach: OutboundPolicy
    provider: Provider | None
    request: ExitStack
    is_waiting: bool = False

    def acquire_slot(self) -> None:
        """Take the slot before the first call, once. Raises Unavailable."""
        if self.provider is not None and not self.is_waiting:
            request_limits.check_is_available(self.provider.slug)
            self.request.enter_context(request_limits.waiting(self.provider.org_id))
            self.is_waiting = True


_current_call: ContextVar[_ProviderCall | None] = ContextVar("sso_asking", default=None)


def reach_of(config: Any) -> OutboundPolicy:
    """Return the network restrictions of a config.

    `is_private`, which only operators set, also allows http, as internal services often use it.
    """
    return OutboundPolicy(
        is_private=config.is_private, is_plain=config.is_private, ca=config.ca, seconds=SECONDS
    )


@contextmanager
def provider_requests(config: Any, provider: Provider | None = None) -> Iterator[None]:
    """Send requests inside to this provider; in a web request, pass `provider` for the limits."""
    with ExitStack() as request:
        token = _current_call.set(_ProviderCall(reach_of(config), provider, request))
        try:
            yield
        finally:
            _current_call.reset(token)


def reach() -> OutboundPolicy:
    """Return the network restrictions for the current provider."""
    call = _current_call.get()
    return call.reach if call else OutboundPolicy(seconds=SECONDS)


def acquire_slot() -> None:
    """Take the web request's slot now, before the first call does. Raises Unavailable."""
    call = _current_call.get()
    if call is not None:
        call.acquire_slot()


def session() -> Session:
    """Return the HTTP session for the current provider."""
    return _Session(reach())


class _Session(Session):
    def request(self, method: Any, url: Any, *args: Any, **given: Any) -> Any:
        """Send a request under the limits. Raises Unavailable too."""
        call = _current_call.get()
        if call is None or call.provider is None:
            return super().request(method, url, *args, **given)
        call.acquire_slot()
        with request_limits.question(call.provider.slug, SECONDS):
            return super().request(method, url, *args, **given)
