"""Live viewing: one websocket a page, many subscriptions, nothing lost that has an offset."""

from __future__ import annotations

from typing import Any


def asgi_app() -> Any:
    """The websocket application, to be mounted by `portal.asgi`."""
    from channels.routing import URLRouter
    from django.urls import re_path

    from monitoring.live.consumers import LiveConsumer
    from monitoring.live.identity import Identify

    return Identify(URLRouter([re_path(r"^ws/live$", LiveConsumer.as_asgi())]))
