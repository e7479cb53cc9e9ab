"""Live updates: one websocket per page with many subscriptions; logs arrive without loss."""

from __future__ import annotations

from typing import Any


def asgi_app() -> Any:
    """Return the websocket application for `portal.asgi`."""
    from channels.routing import URLRouter
    from django.urls import re_path

    from monitoring.live.consumers import LiveConsumer
    from monitoring.live.identity import Identify

    elsewhere: Any = not_found
    return Identify(
        URLRouter([re_path(r"^ws/live$", LiveConsumer.as_asgi()), re_path("", elsewhere)])
    )


async def not_found(scope: Any, receive: Any, send: Any) -> None:
    """Refuse a connection at an address that has no websocket."""
    kind = "websocket.http" if scope["type"] == "websocket" else "http"
    await send(
        {
            "type": f"{kind}.response.start",
            "status": 404,
            "headers": [(b"content-type", b"text/plain; charset=utf-8")],
        }
    )
    await send(
        {
            "type": f"{kind}.response.body",
            "body": b"There is no websocket at this address.\n",
        }
    )
