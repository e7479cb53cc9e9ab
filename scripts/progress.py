"""Run a command quietly and show that it goes on: `progress.py TITLE [--of N PREFIX] -- COMMAND …`.

On a terminal it is one changing line, which the next step replaces; elsewhere a line at the start
and every 15 seconds. With --of, lines of output that begin with PREFIX are counted up to N. If the
command fails, its last output is shown and its exit code returned.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import deque

EVERY_LINE, EVERY_DRAW = 15.0, 0.5  # seconds
KEPT = 30  # lines of output, shown after a failure


class Progress:
    def __init__(self, title: str, most: int) -> None:
        self.title, self.most, self.count = title, most, 0
        self.began, self.is_terminal = time.monotonic(), sys.stdout.isatty()
        self.ended = threading.Event()

    def text(self) -> str:
        seconds = f"{time.monotonic() - self.began:.0f} s"
        counted = f"{min(self.count, self.most)} of {self.most}, " if self.most else ""
        return f"{self.title} … {counted}{seconds}"

    def show(self) -> None:
        """Show how far it is until it ends."""
        if not self.is_terminal:
            self._write(f"{self.title} …\n")
        while not self.ended.wait(EVERY_DRAW if self.is_terminal else EVERY_LINE):
            self._write(f"\r\x1b[K{self.text()}" if self.is_terminal else f"  {self.text()}\n")
        if self.is_terminal:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def run(title: str, command: list[str], most: int = 0, prefix: str = "") -> int:
    progress, kept = Progress(title, most), deque[str](maxlen=KEPT)
    shower = threading.Thread(target=progress.show)
    shower.start()
    try:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                kept.append(line)
                progress.count += bool(prefix) and line.startswith(prefix)
    finally:
        progress.ended.set()
        shower.join()
    if process.returncode:
        sys.stderr.write(f"{title} failed:\n{''.join(kept)}")
    return process.returncode


def main(argv: list[str]) -> int:
    at = argv.index("--")
    title, *options = argv[:at]
    most, prefix = (int(options[1]), options[2]) if options else (0, "")
    return run(title, argv[at + 1 :], most, prefix)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
