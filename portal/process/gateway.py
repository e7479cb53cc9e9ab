"""The gateway of this installation: a thread of an embedded portal, or a component of its own."""

from __future__ import annotations

import threading

from django.conf import settings
from django.db import close_old_connections

from portal.core.declarations import declared
from portal.gateway.running import run_thread
from portal.gateway.server import Gateway, Options
from portal.process.sockets import listen
from portal.settings import env


def serve(stop: threading.Event) -> None:
    """Serve on a port of its own until `stop` is set; a background loop."""
    sock = listen(env.text("MUSTER_BIND", "127.0.0.1"), settings.MUSTER_APPS_PORT)
    run_thread(sock, lambda: gateway(is_behind_proxy=env.flag("MUSTER_BEHIND_PROXY")), stop)


def gateway(*, is_behind_proxy: bool) -> Gateway:
    """Return the gateway with the options of this installation."""
    options = Options(
        apps_host=settings.MUSTER_APPS_HOST,
        is_secure=settings.SESSION_COOKIE_SECURE,
        is_behind_proxy=is_behind_proxy,
        connections=settings.MUSTER_APPS_CONNECTIONS_IN_ALL,
        of_a_person=settings.MUSTER_APPS_CONNECTIONS,
    )
    (provider,) = declared("providers", "PORTS")
    return Gateway(provider, options, close_old_connections)
