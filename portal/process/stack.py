"""Run the server stack (`serve --server`), or one component of it (`serve --only PART`)."""

from __future__ import annotations

import http.client
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from portal.process import parts
from portal.process.lock import HomeLock
from portal.process.supervisor import Supervisor
from portal.process.words import Refusal, Welcome, say

PARTS = ("web", "live", "worker", "beat", "watcher", "agent")
# These must see the processes and files of local jobs.
_NEED_HOME = (
    "worker",
    "watcher",
)
_UNIX_PATH_LIMIT = 100  # in bytes; the kernel's limit is 108
_READY_TIMEOUT = 30.0  # seconds


def run_stack(host: str, home: Path) -> int:
    """Prepare, fork all components, and supervise them until SIGTERM or SIGINT.

    Returns the exit status.
    """
    _require_servers()
    lock = HomeLock(home)
    lock.take()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django

    django.setup()
    from django.conf import settings

    from portal.process.installation import check_home
    from portal.process.prepare import isolation_line, listen, prepare

    sock = listen(host, settings.MUSTER_PORT)
    first = prepare()
    check_home(home)
    isolation = isolation_line()
    parts.preload_web()
    run_folder = home / "run"
    run_folder.mkdir(mode=0o700, exist_ok=True)
    web_socket, scratch = _web_socket(run_folder)

    def in_child(entry: Callable[[], None]) -> Callable[[], None]:
        def enter() -> None:
            lock.forget()
            entry()

        return enter

    entries = {
        name: in_child(getattr(parts, name)) for name in ("worker", "beat", "watcher", "agent")
    }
    entries = {
        "web": in_child(partial(parts.web, path=web_socket)),
        "live": in_child(partial(parts.live, sock, web_socket)),
        **entries,
    }
    supervisor = Supervisor(entries, run_folder)
    # Start first what users wait for.
    supervisor.start("web", "live")
    parts.preload_tasks()
    supervisor.start()
    welcome = Welcome(
        settings.MUSTER_BASE_URL,
        first.email,
        first.password,
        home,
        first.is_new,
        ", ".join(entries),
        isolation,
    )
    if _wait_until_ready(supervisor, host, settings.MUSTER_PORT):
        say(welcome.text())
        while supervisor.tick():
            pass
    supervisor.stop()
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)
    lock.give_back()
    say("Stopped. Jobs keep running; Muster finds them at its next start.")
    return 0


def run_part(name: str, host: str, home: Path, *, is_tcp: bool) -> int:
    """Run one component in the foreground, for a Procfile or a container.

    `web` listens on a Unix socket for `live`, or on a port (`is_tcp`) for nginx. Raises Refusal for
    an unknown name.
    """
    if name not in (*PARTS, "prepare"):
        raise Refusal(f"Unknown component {name!r}. Components: {', '.join((*PARTS, 'prepare'))}.")
    _require_servers()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django

    django.setup()
    from django.conf import settings

    from portal.process.installation import check_home, check_key
    from portal.process.prepare import await_schema, listen, prepare

    if name == "prepare":
        first = prepare()
        if first.is_new:
            say(
                f"First administrator: {first.email}  "
                f"{first.password or '(the password in MUSTER_ADMIN_PASSWORD)'}"
            )
        return 0
    await_schema()
    check_key()
    if name in _NEED_HOME:
        check_home(home)
    run_folder = home / "run"
    run_folder.mkdir(mode=0o700, exist_ok=True)
    web_socket = run_folder / "web.sock"
    if name == "web":
        where = {"host": host, "port": settings.MUSTER_PORT} if is_tcp else {"path": web_socket}
        return parts.run_until_stopped(partial(parts.web, **where))
    if name == "live":
        return parts.run_until_stopped(
            partial(parts.live, listen(host, settings.MUSTER_PORT), web_socket)
        )
    return parts.run_until_stopped(getattr(parts, name))


def _require_servers() -> None:
    missing = [
        name
        for name in ("MUSTER_DATABASE_URL", "MUSTER_REDIS_URL")
        if not os.environ.get(name, "").strip()
    ]
    if missing:
        raise Refusal(
            f"Server mode needs {' and '.join(missing)}, for example\n"
            "  MUSTER_DATABASE_URL=postgres://muster:secret@127.0.0.1/muster\n"
            "  MUSTER_REDIS_URL=redis://127.0.0.1:6379/0\n"
            "`make run` starts the embedded portal without them; docker-compose.yml includes both."
        )


def _web_socket(run_folder: Path) -> tuple[Path, Path | None]:
    """Return the path of granian's socket, and the temporary folder for it, if any.

    The kernel limits the length of such paths, so a long home path needs another folder.
    """
    path = run_folder / "web.sock"
    if len(os.fsencode(path)) <= _UNIX_PATH_LIMIT:
        return path, None
    scratch = Path(tempfile.mkdtemp(prefix="muster-"))
    return scratch / "web.sock", scratch


def _wait_until_ready(supervisor: Supervisor, host: str, port: int) -> bool:
    """Supervise until the portal responds; return False if it was stopped meanwhile."""
    deadline = time.monotonic() + _READY_TIMEOUT
    address = "127.0.0.1" if host in {"0.0.0.0", "::", ""} else host
    while time.monotonic() < deadline:
        if not supervisor.tick(0.05):
            return False
        try:
            connection = http.client.HTTPConnection(address, port, timeout=0.5)
            connection.request("GET", "/healthz")
            if connection.getresponse().status == http.client.OK:
                return True
        except OSError:
            continue
    say("The portal does not respond yet; see the log above. It keeps trying.")
    return True
