"""The gateway of an embedded portal, on a port of its own, and the options of every gateway."""

from __future__ import annotations

import threading

from django.conf import settings

from portal.gateway.provider import registered
from portal.gateway.running import run_thread
from portal.gateway.server import Options
from portal.process.prepare import listen
from portal.settings import env


def serve(stop: threading.Event) -> None:
    """Serve until `stop` is set; a background loop."""
    sock = listen(env.text("MUSTER_BIND", "127.0.0.1"), settings.MUSTER_APPS_PORT)
    run_thread(sock, options(is_behind_proxy=env.flag("MUSTER_BEHIND_PROXY")), stop, registered())


def options(*, is_behind_proxy: bool) -> Options:
    """Return the options of this installation."""
    return Options(
        apps_host=settings.MUSTER_APPS_HOST,
        is_secure=settings.SESSION_COOKIE_SECURE,
        is_behind_proxy=is_behind_proxy,
        connections=settings.MUSTER_APPS_CONNECTIONS_IN_ALL,
        of_a_person=settings.MUSTER_APPS_CONNECTIONS,
    )
