"""Prepare the environment of a test process: a home and, unless SQLite is used, two servers.

Imported before Django reads its settings. The process that starts PostgreSQL and Redis stops them;
parallel workers (xdist) inherit their addresses, and each has its own Redis database and home.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder
from tests.rig.redis import start_redis

MODES = ("embedded", "server")
MODE = os.environ.setdefault("MUSTER_TEST_MODE", "server")
ROOT = Path(__file__).resolve().parents[2]
_OURS = "MUSTER_TEST_RIG"


def prepare() -> None:
    """Set the variables, and drop those of the shell, so that no test touches another portal."""
    if MODE not in MODES:
        raise SystemExit(f"MUSTER_TEST_MODE is {MODE!r}; it may be one of {', '.join(MODES)}")
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if _OURS not in os.environ:
        for name in [
            name
            for name in os.environ
            if name.startswith("MUSTER_") and not name.startswith(("MUSTER_TEST_", "MUSTER_CI"))
        ]:
            del os.environ[name]
        if MODE == "server":
            _start_servers()
        if "MUSTER_TEST_TABLES" not in os.environ:  # the suite has one for all of its parts
            os.environ["MUSTER_TEST_TABLES"] = tables = tempfile.mkdtemp(prefix="muster-tables-")
            atexit.register(_remove, tables, os.getpid())
        os.environ[_OURS] = str(os.getpid())
    if worker and os.environ.get("MUSTER_REDIS_URL"):
        base = os.environ["MUSTER_REDIS_URL"].rsplit("/", 1)[0]
        os.environ["MUSTER_REDIS_URL"] = f"{base}/{1 + int(worker.removeprefix('gw'))}"
    home = tempfile.mkdtemp(prefix="muster-home-")
    os.environ["MUSTER_HOME"] = home
    os.environ.setdefault(
        "MUSTER_SECRET_KEY", "a key that only the test suite knows, long enough for every check"
    )
    atexit.register(_remove, home, os.getpid())


def _start_servers() -> None:
    folder, owner = Folder(), os.getpid()
    atexit.register(lambda: folder.close() if os.getpid() == owner else None)
    os.environ["MUSTER_DATABASE_URL"] = start_postgres(folder, durable=False).url
    os.environ["MUSTER_REDIS_URL"] = start_redis(folder).url


def _remove(home: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(home, ignore_errors=True)


prepare()
