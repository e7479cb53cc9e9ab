"""Append the output of a job to a file, and count what the disk did not take.

Usage: record_output.py OUTPUT LOST, with the output at stdin. LOST exists, with room for all that is
written to it, because a full disk gives no more: a line "OFFSET BYTES LINES ERROR" for each gap in
the order of OUTPUT, and then "open" while the last gap may grow, else "closed". The counts of a gap
are written before the bytes after it. SIGURG says that the job ended: what is in the pipe is the
rest. Works with Python 3.6, the oldest on today's clusters.
"""

import errno
import os
import signal
import sys
import time

ROOM = 4096  # bytes
MOST = 60  # gaps that fit into the room; the last one takes all the rest
PIECE = 1 << 16
AGAIN = 1.0  # seconds until the disk is tried again
SYNC = 5.0  # seconds; some file systems refuse bytes only when they are synced


class Recorder:
    def __init__(self, output: str, lost: str) -> None:
        self.output = os.open(output, os.O_WRONLY | os.O_APPEND)
        self.lost = os.open(lost, os.O_WRONLY)
        self.gaps: list[list[int]] = []  # offset, bytes and lines
        self.errors: list[str] = []
        self.is_open = False
        self.try_at = 0.0
        self.size = self.synced = os.fstat(self.output).st_size
        self.unsynced_lines = 0
        self.sync_at = time.monotonic() + SYNC

    def store(self, data: bytes) -> None:
        if self.is_open and (time.monotonic() < self.try_at or len(self.gaps) == MOST):
            self.lose(data)
            return
        while data:
            try:
                count = os.write(self.output, data)
            except OSError as error:
                self.lose(data, error.errno or errno.EIO)
                return
            self.size += count
            self.unsynced_lines += data[:count].count(b"\n")
            data = data[count:]
        if self.is_open:
            self.is_open = False
            self.tell()
        if time.monotonic() >= self.sync_at:
            self.sync()

    def lose(self, data: bytes, code: int = 0) -> None:
        self.count(len(data), data.count(b"\n"), code)
        if code:
            self.try_at = time.monotonic() + AGAIN

    def count(self, size: int, lines: int, code: int) -> None:
        last = self.gaps[-1] if self.gaps else None
        if last and (last[0] >= self.size or len(self.gaps) == MOST):
            last[1] += size
            last[2] += lines
        else:
            self.gaps.append([self.size, size, lines])
            self.errors.append(errno.errorcode.get(code, "EIO"))
        self.is_open = True
        self.tell()

    def sync(self) -> None:
        """Make durable what was written; what cannot be is removed, and counts as lost."""
        self.sync_at = time.monotonic() + SYNC
        try:
            os.fsync(self.output)
        except OSError as error:
            size, lines, self.size = self.size - self.synced, self.unsynced_lines, self.synced
            try:
                os.ftruncate(self.output, self.synced)
            except OSError:
                pass
            if size:
                self.count(size, lines, error.errno or errno.EIO)
        self.synced, self.unsynced_lines = self.size, 0

    def tell(self) -> None:
        lines = [
            " ".join(map(str, [*gap, self.errors[number]])) for number, gap in enumerate(self.gaps)
        ]
        text = "\n".join([*lines, "open" if self.is_open else "closed", ""])
        try:
            os.pwrite(self.lost, text.encode().ljust(ROOM), 0)
        except OSError:
            pass  # told again with the next loss

    def close(self) -> None:
        if self.size > self.synced:
            self.sync()
        self.is_open = False
        if self.gaps:
            self.tell()


def main(output: str, lost: str) -> None:
    for name in ("HUP", "INT", "QUIT", "PIPE", "ALRM", "TERM", "USR1", "USR2"):
        signal.signal(getattr(signal, "SIG" + name), signal.SIG_IGN)
    recorder = Recorder(output, lost)
    signal.signal(signal.SIGURG, lambda *_: os.set_blocking(0, False))
    print("ready", flush=True)
    os.close(1)
    while True:
        try:
            data = os.read(0, PIECE)
        except BlockingIOError:
            break
        if not data:
            break
        recorder.store(data)
    recorder.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
