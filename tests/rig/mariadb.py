"""A private MariaDB on loopback for slurmdbd, which supports nothing else. Not durable."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.rig.processes import Folder, RigFailure, is_listening, program, wait_until

_TABLES = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
_SHARE = Path("/usr/share/mysql")
_FAST = [
    "--innodb-log-file-size=8M",
    "--innodb-buffer-pool-size=32M",
    "--innodb-flush-log-at-trx-commit=0",
    "--skip-innodb-doublewrite",
    "--innodb-flush-method=nosync",
    "--innodb-use-native-aio=0",
    "--performance-schema=OFF",
]


def start_mariadb(folder: Folder, place: Path, port: int, *, env: Mapping[str, str]) -> None:
    """Create a data folder at `place` (about a second) and serve it on `port`.

    Anybody on loopback may connect without a password.
    """
    place.mkdir(mode=0o700)
    shutil.chown(place, "mysql", "mysql")
    common = [
        program("mariadbd", "/usr/sbin"),
        "--no-defaults",
        f"--datadir={place}",
        f"--tmpdir={place}",
        *_FAST,
    ]
    _fill(common, env)
    listen = [
        "--bind-address=127.0.0.1",
        f"--port={port}",
        f"--socket={place}/socket",
        "--skip-grant-tables",
    ]
    options = [
        f"--pid-file={place}/pid",
        "--innodb-lock-wait-timeout=900",
        "--skip-log-bin",
        "--skip-name-resolve",
    ]
    process = folder.start(
        "mariadbd", [*common, *listen, *options], user="mysql", stop_by=signal.SIGKILL, env=env
    )

    def is_ready() -> bool:
        if process.poll() is not None:
            raise RigFailure(f"MariaDB ended at its start: {folder.tail('mariadbd')}")
        return is_listening(port)

    wait_until(is_ready, "MariaDB answers", every=0.05)


def _fill(common: list[str], env: Mapping[str, str]) -> None:
    """Load only the system tables: mariadb-install-db also loads the manual, which is slow."""
    statements = b"create database mysql;\nuse mysql;\n" + b"".join(
        (_SHARE / name).read_bytes() for name in _TABLES
    )
    argv = [*common, "--bootstrap", "--enforce-storage-engine=", "--log-warnings=0"]
    done = subprocess.run(
        argv,
        input=statements,
        user="mysql",
        group="mysql",
        extra_groups=[],
        env=env,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RigFailure(
            f"MariaDB could not make its tables: {done.stderr[-2000:].decode(errors='replace')}"
        )
