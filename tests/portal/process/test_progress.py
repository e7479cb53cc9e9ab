"""scripts/progress.py, which `make run` uses while it installs."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from tests.rig.environment import ROOT

PROGRESS = [sys.executable, str(ROOT / "scripts" / "progress.py"), "Installing", "--of", "2", "Got"]
SLOW = ["--", "sh", "-c", "echo Got a; echo other; sleep 1.2; echo Got b; exit 3"]


def test_progress_without_a_terminal_is_lines_and_shows_a_failure():
    done = subprocess.run([*PROGRESS, *SLOW], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "Installing …\n")
    assert done.stderr == "Installing failed:\nGot a\nother\nGot b\n"


def test_progress_on_a_terminal_is_one_line_that_is_cleared():
    ours, its = pty.openpty()
    done = subprocess.run([*PROGRESS, *SLOW], stdout=its, stderr=subprocess.PIPE, check=False)
    os.close(its)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 3 and "\n" not in shown
    assert "\r\x1b[KInstalling … 1 of 2, 1 s" in shown and shown.endswith("\r\x1b[K")
