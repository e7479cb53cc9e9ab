"""The command line of `manage.py serve`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from portal.core.disk import disk_error_text
from portal.process.words import Refusal, say


def main(argv: Sequence[str]) -> int:
    """Run until stopped; return the exit status, 2 for a refusal with an explanation."""
    options = parser().parse_args(list(argv))
    if options.port:
        os.environ["MUSTER_PORT"] = str(options.port)
    try:
        return _serve(options)
    except Refusal as refusal:
        print(f"\nMuster does not start.\n{refusal}\n", file=sys.stderr, flush=True)
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if not (words := disk_error_text(error)):
            raise
        print(
            f"\nMuster does not start or cannot continue.\n{words}: {error}\n"
            "Make room there, then start it again.\n",
            file=sys.stderr,
            flush=True,
        )
        return 2


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="manage.py serve", description="Run the portal.")
    add_options(made)
    return made


def add_options(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--server",
        action="store_true",
        help="run PostgreSQL, Redis, Celery and one process per component, supervised",
    )
    to.add_argument(
        "--only",
        metavar="PART",
        help="run one component of the server stack in the foreground, for a Procfile or a "
        "container: nginx, web, uploads, live, gateway, worker, beat, watcher, agent, or prepare (migrate and exit)",
    )
    to.add_argument("--port", type=int, help="port to listen on (default: MUSTER_PORT, 8000)")
    to.add_argument("--host", help="address to listen on (default: MUSTER_BIND, 127.0.0.1)")


def _serve(options: argparse.Namespace) -> int:
    # Files written by the portal must not be readable by other users of the machine.
    os.umask(os.umask(0) | 0o077)
    home = _home()
    host = options.host or os.environ.get("MUSTER_BIND", "").strip() or "127.0.0.1"
    if options.only:
        from portal.process.stack import run_part

        return run_part(options.only, host, home, is_tcp=bool(options.host))
    if options.server:
        from portal.process.stack import run_stack

        return run_stack(host, home)
    if os.environ.get("MUSTER_REDIS_URL"):
        say("MUSTER_REDIS_URL is set: starting the server stack (as --server does).")
        from portal.process.stack import run_stack

        return run_stack(host, home)
    from portal.process.embedded import run_embedded

    return run_embedded(host, home)


def _home() -> Path:
    """Return MUSTER_HOME, created and writable. Raises Refusal."""
    path = (
        Path(
            os.environ.get("MUSTER_HOME", "").strip() or Path(__file__).resolve().parents[2] / "var"
        )
        .expanduser()
        .resolve()
    )
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"Cannot create MUSTER_HOME {path}: {error.strerror}.") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise Refusal(f"MUSTER_HOME {path} is not writable for this user.")
    return path
