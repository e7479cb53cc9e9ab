"""Checkpoints in MUSTER_OUTPUT_CKPT, from which a job continues after a failure.

A checkpoint is a folder that gets its name once it is complete, so that a reader never finds half
of one. The newest two are kept: files that were written less than 2 seconds ago are not saved yet.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

NAME = "epoch-"


class Checkpoints:
    """Save and load the state of an engine; without MUSTER_OUTPUT_CKPT, do nothing."""

    def __init__(self, every: float):
        folder = os.environ.get("MUSTER_OUTPUT_CKPT")
        self.folder = Path(folder) if folder else None
        self.every = every  # seconds
        self.next = time.monotonic() + every

    def load(self, engine: Any) -> tuple[int, float]:
        """Load the newest checkpoint; return its epoch, and the seconds of training before it."""
        newest = max(self._saved(), default=None)
        if newest is None:
            return 0, 0.0
        engine.load(newest)
        state = json.loads((newest / "state.json").read_text())
        print(f"continues after epoch {state['epoch']} ({newest})", flush=True)
        return state["epoch"], state["seconds"]

    def save(self, engine: Any, epoch: int, seconds: float, is_last: bool) -> None:
        """Save a checkpoint if one is due."""
        if self.folder is None or not (is_last or time.monotonic() >= self.next):
            return
        old = sorted(self._saved())
        new = self.folder / f"{NAME}{epoch:06d}"
        aside = self.folder / f"{new.name}.tmp"
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        engine.save(aside)
        (aside / "state.json").write_text(json.dumps({"epoch": epoch, "seconds": seconds}))
        aside.rename(new)
        for folder in old[:-1]:
            shutil.rmtree(folder)
        print(f"checkpoint {new.name}", flush=True)
        self.next = time.monotonic() + self.every

    def _saved(self) -> list[Path]:
        if self.folder is None:
            return []
        return [path for path in self.folder.glob(f"{NAME}*") if path.suffix != ".tmp"]
