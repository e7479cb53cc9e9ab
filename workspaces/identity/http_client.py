"""Where a provider may be asked, and by which client. Its administrators typed its addresses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from portal.core.outbound import Reach, Session
from workspaces.identity import request_limits
from workspaces.models import Provider

SECONDS = 5.0


@dataclass
class _Asking:
    """The provider at hand; `request` holds the place of the web request among those that wait."""

    reach: Reach
    provider: Provider | None
    request: ExitStack
    is_waiting: bool = False

    def wait(self) -> None:
        """From the first question on, once. Raises Unavailable."""
        if self.provider is not None and not self.is_waiting:
            request_limits.check_is_not_away(self.provider.slug)
            self.request.enter_context(request_limits.waiting(self.provider.org_id))
            self.is_waiting = True


_asking: ContextVar[_Asking | None] = ContextVar("sso_asking", default=None)


def reach_of(config: Any) -> Reach:
    """Of a kind's Config. `is_private` is set by operators only; it also allows http, as services inside a house have it."""
    return Reach(
        is_private=config.is_private, is_plain=config.is_private, ca=config.ca, seconds=SECONDS
    )


@contextmanager
def reaching(config: Any, provider: Provider | None = None) -> Iterator[None]:
    """Requests inside are of this provider. In a web request, name the provider: then they are within `limits`."""
    with ExitStack() as request:
        token = _asking.set(_Asking(reach_of(config), provider, request))
        try:
            yield
        finally:
            _asking.reset(token)


def reach() -> Reach:
    """How far the provider at hand may be gone to."""
    asking = _asking.get()
    return asking.reach if asking else Reach(seconds=SECONDS)


def wait() -> None:
    """Take the web request's place among those that wait, before the first question takes it. Raises Unavailable."""
    asking = _asking.get()
    if asking is not None:
        asking.wait()


def session() -> Session:
    """The client for the provider at hand."""
    return _Session(reach())


class _Session(Session):
    def request(self, method: Any, url: Any, *args: Any, **given: Any) -> Any:
        """As any session; raises Unavailable as well."""
        asking = _asking.get()
        if asking is None or asking.provider is None:
            return super().request(method, url, *args, **given)
        asking.wait()
        with request_limits.question(asking.provider.slug, SECONDS):
            return super().request(method, url, *args, **given)
