"""`muster tensorboard sync`: send the curves of event files to the run of the job."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from muster.errors import Conflict, Unavailable
from muster.options import Commands
from muster.output import Session
from muster.tensorboard import Sync
from muster.training import place_of_job

COMMANDS = {"tensorboard": ("app", 150, "Send TensorBoard curves of a job to its run.")}
app = Commands(help="Send TensorBoard curves of a job to its run.")


@app.command("sync")
def sync(
    session: Session,
    folder: Annotated[
        Path | None,
        Argument(metavar="DIR", help="Folder with event files; default: MUSTER_OUTPUT_DIR."),
    ] = None,
    every: Annotated[
        float, Option("--every", min=0.1, metavar="SECONDS", help="Time between two looks.")
    ] = 5,
    once: Annotated[bool, Option("--once", help="Send what is there, and end.")] = False,
) -> None:
    """Follow the event files below DIR inside a job, and send their scalars to its run.

    Run it beside the program: muster tensorboard sync logs & python train.py. SIGTERM and Ctrl-C
    send the rest and end it.
    """
    place = place_of_job()
    if place is None:
        raise Conflict("This works inside a job only: MUSTER_JOB_ID is not set.", code="no_job")
    found = folder or Path(os.environ.get("MUSTER_OUTPUT_DIR") or ".")
    found.mkdir(parents=True, exist_ok=True)  # the program may make it later
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    warned: set[str] = set()

    def warn(text: str) -> None:
        if text not in warned:
            warned.add(text)
            print(f"muster: {text}", file=sys.stderr)

    files, sent, is_last = Sync(found, place, warn), 0, once
    while True:
        try:
            sent += files.send_new()
        except OSError as error:
            if is_last:
                raise Unavailable(f"{place.url} cannot be reached: {error}") from None
            warn(f"points are delayed: {error}")
        if is_last:
            break
        is_last = stopped.wait(every)
    session.show({"points": sent}, f"Sent {sent:,} points.", [sent])
