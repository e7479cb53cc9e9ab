"""A private munged, with which Slurm's daemons and commands authenticate each other."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.rig.processes import Folder, RigFailure, program, wait_until


def start_munge(folder: Folder, place: Path, *, env: Mapping[str, str]) -> Path:
    """Start munged with a new key in `place`; return its socket."""
    place.mkdir()
    place.chmod(0o755)  # for the users of the daemons, whatever the umask
    key, socket = place / "key", place / "socket"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    for path in (place, key):
        shutil.chown(path, "munge", "munge")
    argv = [
        program("munged", "/usr/sbin"),
        "-F",
        "--force",
        "--key-file",
        str(key),
        "--socket",
        str(socket),
    ]
    for kind in ("pid", "log", "seed"):
        argv += [f"--{kind}-file", str(place / kind)]
    process = folder.start("munged", argv, user="munge", env=env)

    def is_ready() -> bool:
        if process.poll() is not None:
            raise RigFailure(f"munged ended at its start: {folder.tail('munged')}")
        return socket.is_socket()

    wait_until(is_ready, "munged answers")
    return socket
