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
from portal.process.nginx import find_nginx, run_nginx, write_configuration
from portal.process.sockets import listen, listen_unix
from portal.process.supervisor import Supervisor
from portal.process.words import Refusal, Welcome, say
from portal.settings import env

PARTS = ("nginx", "web", "uploads", "live", "gateway", "worker", "beat", "watcher", "agent")
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
    find_nginx()
    lock = HomeLock(home)
    lock.take()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django

    django.setup()
    from django.conf import settings

    from portal.process.installation import check_home
    from portal.process.prepare import isolation_lines, prepare

    port = settings.MUSTER_PORT
    listen(host, port).close()  # refuses a port in use
    first = prepare()
    check_home(home)
    isolation, refusals = isolation_lines()
    parts.preload_web()
    run_folder = home / "run"
    run_folder.mkdir(mode=0o700, exist_ok=True)
    sockets = _socket_folder(run_folder)
    configuration = write_configuration(run_folder, sockets, host, port)

    def in_child(entry: Callable[[], None]) -> Callable[[], None]:
        def enter() -> None:
            lock.forget()
            entry()

        return enter

    def nginx() -> None:
        os.setpgid(0, 0)  # the supervisor ends the group
        run_nginx(configuration)

    entries: dict[str, Callable[[], None]] = {
        "web": partial(parts.web, path=sockets / "web.sock"),
        "uploads": partial(
            parts.uploads, listen_unix(sockets / "uploads.sock"), is_behind_proxy=True
        ),
        "live": partial(parts.live, listen_unix(sockets / "live.sock")),
        "gateway": partial(
            parts.gateway, listen_unix(sockets / "gateway.sock"), is_behind_proxy=True
        ),
        "nginx": nginx,
        "worker": parts.worker,
        "beat": parts.beat,
        "watcher": parts.watcher,
        "agent": parts.agent,
    }
    entries = {name: in_child(entry) for name, entry in entries.items()}
    supervisor = Supervisor(entries, run_folder)
    # Start first what users wait for.
    supervisor.start("web", "uploads", "live", "gateway", "nginx")
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
        refusals,
    )
    if _wait_until_ready(supervisor, host, port):
        say(welcome.text())
        while supervisor.tick():
            pass
    supervisor.stop()
    if sockets != run_folder:
        shutil.rmtree(sockets, ignore_errors=True)
    lock.release()
    say("Stopped. Jobs keep running; Muster finds them at its next start.")
    return 0


def run_part(name: str, host: str, home: Path, *, is_tcp: bool) -> int:
    """Run one component in the foreground, for a Procfile or a container.

    `web`, `uploads`, `live` and `gateway` listen on Unix sockets for `nginx`, or on a port (`is_tcp`) for another one.
    Raises Refusal for an unknown name.
    """
    if name not in (*PARTS, "prepare"):
        raise Refusal(f"Unknown component {name!r}. Components: {', '.join((*PARTS, 'prepare'))}.")
    _require_servers()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django

    django.setup()
    from django.conf import settings

    from portal.process.installation import check_home, check_key
    from portal.process.prepare import await_schema, prepare

    if name == "prepare":
        first = prepare()
        if first.is_new:
            say(
                f"First administrator: {first.email}  "
                f"{first.password or '(the password in MUSTER_ADMIN_PASSWORD)'}"
            )
        return 0
    port = settings.MUSTER_PORT
    run_folder = home / "run"
    run_folder.mkdir(mode=0o700, exist_ok=True)
    if name == "nginx":
        run_nginx(write_configuration(run_folder, run_folder, host, port))
    await_schema()
    check_key()
    if name in _NEED_HOME:
        check_home(home)
    if name == "web":
        where = {"host": host, "port": port} if is_tcp else {"path": run_folder / "web.sock"}
        return parts.run_until_stopped(partial(parts.web, **where))
    if name in {"live", "uploads", "gateway"}:
        sock = listen(host, port) if is_tcp else listen_unix(run_folder / f"{name}.sock")
        if name == "live":
            return parts.run_until_stopped(partial(parts.live, sock))
        is_behind_proxy = not is_tcp or env.flag("MUSTER_BEHIND_PROXY")
        entry = parts.gateway if name == "gateway" else parts.uploads
        return parts.run_until_stopped(partial(entry, sock, is_behind_proxy=is_behind_proxy))
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


def _socket_folder(run_folder: Path) -> Path:
    """Return the folder for the sockets of web and live.

    The kernel limits the length of such paths, so a long home path needs another folder.
    """
    if len(os.fsencode(run_folder / "uploads.sock")) <= _UNIX_PATH_LIMIT:
        return run_folder
    return Path(tempfile.mkdtemp(prefix="muster-"))


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
