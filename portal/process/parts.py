"""The components of the server stack, each a function that runs until SIGTERM.

They are forked by the supervisor, or run alone with `--only`.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from portal.core import declarations
from portal.process.embedded import serve
from portal.process.limits import raise_file_limit
from portal.settings import env
from schedulers import backends

Environ = dict[str, Any]
WSGIApp = Callable[[Environ, Any], Iterable[bytes]]
_PR_SET_PDEATHSIG = 1
WEB_THREADS = 8  # of each web process
_MOST_WEB_PROCESSES = 4  # by default
_WEB_MODULES = (
    *(
        "portal.celery",
        "portal.wsgi",
        "portal.asgi",
        "portal.process.limits",
        "granian.server",
    ),
    *(
        "monitoring.live.consumers",
        "monitoring.live.identity",
        "channels.routing",
        "django.contrib.auth.hashers",
    ),
    *("uvicorn.lifespan.off", "uvicorn.protocols.http.h11_impl"),
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "portal.gateway.running",
)
_TASK_MODULES = (
    *(
        "portal.process.clock",
        "pynvml",
    ),
    *(
        "celery.apps.worker",
        "celery.apps.beat",
        "celery.app.control",
        "celery.app.events",
        "celery.app.log",
    ),
    *(
        "celery.events.dispatcher",
        "celery.events.receiver",
        "celery.concurrency.thread",
        "celery.worker.components",
    ),
    *(
        "celery.worker.autoscale",
        "celery.worker.strategy",
        "celery.worker.consumer",
        "kombu.transport.redis",
    ),
)


def web_processes() -> int:
    """Return the number of web processes: Python runs on one core in each."""
    cores = len(os.sched_getaffinity(0))
    return int(env.text("MUSTER_WEB_PROCESSES", str(min(cores, _MOST_WEB_PROCESSES))))


def web(*, path: Path | None = None, host: str = "", port: int = 0) -> None:
    """Serve pages and REST with granian (WSGI), on a Unix socket for nginx or on a port."""
    from granian.constants import Interfaces
    from granian.server import Server

    where: dict[str, Any] = {"address": host, "port": port}
    if path is not None:
        path.unlink(missing_ok=True)
        where = {"uds": path, "uds_permissions": 0o600}
    Server(
        "portal.wsgi:application",
        **where,
        interface=Interfaces.WSGI,
        workers=web_processes(),
        blocking_threads=WEB_THREADS,
        runtime_threads=1,
        respawn_failed_workers=True,
        workers_kill_timeout=10,
        log_enabled=False,
        websockets=False,
        backlog=2048,
    ).serve(target_loader=lambda *_: _loaded_wsgi(is_behind_proxy=path is not None))


def _loaded_wsgi(*, is_behind_proxy: bool) -> WSGIApp:
    """Load the application in granian's worker, which must not outlive its parent."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    from portal.wsgi import application

    collect_seldom()
    if is_behind_proxy:  # our own nginx, which sees MUSTER_HOME
        from django.conf import settings

        settings.MUSTER_ACCEL = True
    if is_behind_proxy or env.flag("MUSTER_BEHIND_PROXY"):
        return _behind_nginx(application)
    return application


def _behind_nginx(application: WSGIApp) -> WSGIApp:
    """Set REMOTE_ADDR to the last address of X-Forwarded-For, which nginx has written.

    And read the rest of a body, which is small: granian closes a connection with unread bytes after
    its response, and the next request that nginx sends on it would be answered 502.
    """

    def app(environ: Environ, start_response: Any) -> Iterable[bytes]:
        forwarded = environ.pop("HTTP_X_FORWARDED_FOR", "")
        environ["REMOTE_ADDR"] = forwarded.rpartition(",")[2].strip()
        body = environ["wsgi.input"]
        response = application(environ, start_response)
        body.read()
        return response

    return app


def live(sock: socket.socket) -> None:
    """Serve websockets with uvicorn (ASGI), on a Unix socket for nginx or on a port."""
    from monitoring.live import asgi_app, not_found
    from portal.asgi import ProtocolRouter

    gc.set_threshold(50_000, 20, 50)  # a full collection pauses all viewers
    is_behind_proxy = sock.family == socket.AF_UNIX or env.flag("MUSTER_BEHIND_PROXY")
    serve(
        ProtocolRouter(not_found, asgi_app(), is_behind_proxy=is_behind_proxy), sock, lambda: None
    )


def uploads(sock: socket.socket, *, is_behind_proxy: bool) -> None:
    """Take requests with large bodies with uvicorn, on a Unix socket for nginx or on a port.

    One process, so that it can bound what is in progress; hashing and writing run in parallel.
    """
    from monitoring.live import not_found
    from portal.asgi import ProtocolRouter, threaded_http

    collect_seldom()
    http = threaded_http(judges_heads=True)
    router = ProtocolRouter(http, not_found, is_behind_proxy=is_behind_proxy)
    serve(router, sock, lambda: None)


def gateway(sock: socket.socket, *, is_behind_proxy: bool) -> None:
    """Pass requests to the ports of jobs, on a Unix socket for nginx or on a port."""
    from portal.gateway.running import run_process
    from portal.process import gateway as made

    raise_file_limit()
    collect_seldom()
    run_process(sock, lambda: made.gateway(is_behind_proxy=is_behind_proxy))


def collect_seldom() -> None:
    """Collect garbage rarely: most objects of a request or task are gone by its end."""
    gc.set_threshold(20_000, 20, 50)


def worker() -> None:
    """Run a Celery worker with threads, because its tasks wait for I/O."""
    import warnings

    from celery.platforms import SecurityWarning

    from portal.celery import app

    warnings.simplefilter("ignore", SecurityWarning)  # about running as root: only JSON is accepted
    app.Worker(
        pool="threads",
        concurrency=4,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        loglevel="WARNING",
        quiet=True,
        redirect_stdouts=False,
        hostname=f"muster-{os.getpid()}@{socket.gethostname()}",
    ).start()


def beat() -> None:
    """Run Celery beat."""
    from portal.celery import app, schedule

    app.conf.beat_schedule = {
        task: {"task": task, "schedule": seconds} for task, seconds in schedule().items()
    }
    app.Beat(
        scheduler_cls="portal.process.clock.CalmScheduler",
        loglevel="WARNING",
        quiet=True,
        redirect_stdouts=False,
    ).run()


def watcher() -> None:
    """Watch the clusters and run the background loops; several elect a leader by lease."""
    from django.core.management import call_command

    from portal.background import Background, server_loops

    loops = Background(server_loops())
    loops.start()
    call_command("watch", skip_checks=True)
    loops.stop(5)


def agent() -> None:
    """Run the node agent of this machine."""
    from monitoring.background import agent as loop
    from portal.background import run

    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    run(loop, stop)


def preload_web() -> None:
    """Load and freeze what web and live need before forking, so that memory pages stay shared."""
    from django.template.loader import get_template
    from django.urls import reverse

    _load(_WEB_MODULES)
    reverse("account_login")  # compiles all patterns, which a first request would pay
    for name in ("account/login.html", "base.html"):
        get_template(name)
    _freeze()


def preload_tasks() -> None:
    """Load and freeze everything that the other components need."""
    os.environ["CELERY_SKIP_CHECKS"] = (
        # Django's checks belong to `make check`; here they would copy every shared page.
        "1"
    )
    _load(_TASK_MODULES)
    from portal.celery import app

    declarations.load()
    app.loader.import_default_modules()
    collect_seldom()
    app.finalize()
    backends()
    _freeze()


def _load(names: Iterable[str]) -> None:
    for name in names:
        import_module(name)


def _freeze() -> None:
    gc.collect()
    gc.freeze()


def run_until_stopped(entry: Callable[[], None]) -> int:
    """Run one component in the foreground; return the exit status."""
    try:
        entry()
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130
    return 0
