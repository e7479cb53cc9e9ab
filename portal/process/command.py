"""The command line of `manage.py serve`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from portal.core.disk import trouble
from portal.process.words import Refusal, say


def main(argv: Sequence[str]) -> int:
    """Runs until stopped; returns the exit status. 2 is a refusal, said in words."""
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
        if not (words := trouble(error)):
            raise
        print(
            f"\nMuster does not start, or cannot go on.\n{words}: {error}\nMake room there, and start it again.\n",
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
        help="PostgreSQL, Redis, Celery and one process for each part, supervised",
    )
    to.add_argument(
        "--only",
        metavar="PART",
        help="one part of the server stack in the foreground, for a process file or "
        "a container: web, live, worker, beat, watcher, agent, or prepare (migrate and leave)",
    )
    to.add_argument("--port", type=int, help="instead of MUSTER_PORT (8000)")
    to.add_argument("--host", help="instead of MUSTER_BIND (127.0.0.1: this machine only)")


def _serve(options: argparse.Namespace) -> int:
    os.umask(
        os.umask(0) | 0o077
    )  # nothing that the portal writes is for other users of the machine
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
    """MUSTER_HOME, made and writable. Raises Refusal when it cannot be."""
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
        raise Refusal(f"MUSTER_HOME is {path}, and it cannot be made: {error.strerror}.") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise Refusal(f"MUSTER_HOME is {path}, and this user may not write there.")
    return path
