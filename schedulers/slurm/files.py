"""Read a job's files in the spool: its output and the records of its batch script.

Directly if the spool is mounted here, else over SSH.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from portal.core.messages import Message
from schedulers.contract import DiskSpace, LogChunk, Unavailable
from schedulers.slurm.lost_output import LostOutput, parse_lost, position, why_uncounted
from schedulers.slurm.states import Record
from schedulers.slurm.transport import SshTransport, ssh_trouble

TAIL = 64 << 10
OUTPUT, SAID = "output.log", ".slurm"  # in the job's folder, and next to it
LOST = "lost"  # in the job's folder
_TRIES = 6


class Files(Protocol):
    """Access to the spool.

    All methods raise Unavailable if the spool cannot be read; missing files are empty.
    """

    def record(self, key: str) -> Record: ...
    def read(self, key: str, after: int, limit: int) -> LogChunk:
        """Return output; its offsets count what the recorder on the node could not write."""

    def space(self) -> DiskSpace: ...
    def tails(self, key: str) -> tuple[str, str]:
        """Return the last part of the job's output and of Slurm's messages."""

    def remove(self, key: str) -> None: ...


@dataclass(frozen=True)
class MountedSpool:
    """A spool mounted at `root` on this machine."""

    root: Path
    is_elsewhere: bool = False  # nodes see it by another path

    def record(self, key: str) -> Record:
        names = ("id", "start", "end", "refused", LOST)
        texts = (
            self._read(self.root / key / name, 0, 4096).decode(errors="replace") for name in names
        )
        record = parse_record(*texts, is_again=(self.root / key / "again").exists())
        fetching = self._read(self.root / key / "fetching", 0, 4096) if record.code is None else b""
        return replace(record, fetching=fetching.decode(errors="replace").strip())

    def read(self, key: str, after: int, limit: int) -> LogChunk:
        return read_around(lambda at: self._output(key, at, limit), after)

    def _output(self, key: str, at: int, limit: int) -> tuple[bytes, str]:
        data = self._read(self.root / key / OUTPUT, at, limit)
        return data, self._read(self.root / key / LOST, 0, 4096).decode(errors="replace")

    def space(self) -> DiskSpace:
        try:
            disk = os.statvfs(self.root)
        except OSError as error:
            raise Unavailable(
                Message(
                    "The spool {root} cannot be read: {why}. Create it, or enter its path as this "
                    "machine sees it.",
                    root=self.root,
                    why=error.strerror,
                ),
                "mount" if self.is_elsewhere else "spool",
            ) from error
        used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
        return DiskSpace(used, disk.f_bavail * disk.f_frsize)

    def tails(self, key: str) -> tuple[str, str]:
        return self._tail(self.root / key / OUTPUT), self._tail(self.root / (key + SAID))

    def remove(self, key: str) -> None:
        try:
            shutil.rmtree(self.root / key)
        except FileNotFoundError:  # never started, or forgotten already
            self._check_root()
        except OSError as error:
            raise Unavailable(f"The job's files cannot be removed: {error.strerror}") from error
        (self.root / (key + SAID)).unlink(missing_ok=True)

    def _tail(self, path: Path) -> str:
        try:
            after = max(path.stat().st_size - TAIL, 0)
        except OSError:
            return ""
        return self._read(path, after, TAIL).decode(errors="replace")

    def _read(self, path: Path, after: int, limit: int) -> bytes:
        try:
            with open(path, "rb") as file:
                return os.pread(file.fileno(), limit, after)
        except FileNotFoundError:
            self._check_root()
            return b""
        except OSError as error:
            raise Unavailable(
                f"{path.name} cannot be read in the spool: {error.strerror}"
            ) from error

    def _check_root(self) -> None:
        if not self.root.is_dir():
            raise Unavailable(Message("The spool {root} does not exist.", root=self.root)) from None


# One program for all requests, with data as arguments; its exit code reports an unreadable spool.
_REMOTE = {
    "record": '[ -d "$1" ] || exit 3; for f in id start end refused lost; do [ ! -e "$1/$2/$f" ] || cat '
    '"$1/$2/$f" || exit; echo "--"; done;'
    ' if [ -e "$1/$2/again" ]; then echo again; fi; echo "--"; cat "$1/$2/fetching" 2> /dev/null; true',
    "read": (
        '[ -d "$1" ] || exit 3; [ -e "$1/$2/output.log" ] || exit 0; tail -c "+$3" '
        '"$1/$2/output.log" | head -c "$4"; echo; echo "--"; cat "$1/$2/lost" 2> /dev/null; true'
    ),
    "space": 'df -Pk -- "$1"',
    "tail": '[ -e "$1" ] || exit 0; tail -c 65536 "$1"',
    "remove": '[ -d "$1" ] || exit 3; rm -rf -- "$1/$2" "$1/$2.slurm"',
}


@dataclass(frozen=True)
class RemoteSpool:
    """A spool that is only mounted on the login host."""

    there: SshTransport
    spool: str

    def record(self, key: str) -> Record:
        parts = self._run("record", key).decode(errors="replace").split("--\n")
        record = parse_record(*[*parts, *[""] * 5][:5], is_again=parts[5:6] == ["again\n"])
        return replace(record, fetching="".join(parts[6:]).strip())

    def read(self, key: str, after: int, limit: int) -> LogChunk:
        return read_around(lambda at: self._output(key, at, limit), after)

    def _output(self, key: str, at: int, limit: int) -> tuple[bytes, str]:
        out = self._run("read", key, str(at + 1), str(limit))
        data, _, lost = out.rpartition(b"\n--\n")
        return data, lost.decode(errors="replace")

    def space(self) -> DiskSpace:
        words = self._run("space", "").decode(errors="replace").splitlines()[-1].split()
        if len(words) < 6 or not all(word.isdigit() for word in words[1:4]):
            raise Unavailable(Message("The login host does not say how full the spool is."))
        return DiskSpace(int(words[2]) << 10, int(words[3]) << 10)

    def tails(self, key: str) -> tuple[str, str]:
        paths = f"{self.spool}/{key}/{OUTPUT}", f"{self.spool}/{key}{SAID}"
        first, second = (
            self.there.run(["sh", "-c", _REMOTE["tail"], "sh", path]).decode(errors="replace")
            for path in paths
        )
        return first, second

    def remove(self, key: str) -> None:
        self._run("remove", key)

    def _run(self, what: str, *words: str) -> bytes:
        code, out, err = self.there.run_all(["sh", "-c", _REMOTE[what], "sh", self.spool, *words])
        if code:
            said = err.decode(errors="replace").strip()[:300]
            if code == 255:
                raise ssh_trouble(self.there.login.host, said)
            raise Unavailable(
                Message(
                    "The spool cannot be read on the login host. Create it, or correct its path. "
                    "{said}",
                    said=said,
                ),
                "spool",
            )
        return out


def parse_record(
    number: str,
    start: str,
    end: str,
    refused: str = "",
    lost: str = "",
    *,
    is_again: bool = False,
) -> Record:
    """Parse the record files of a job; an incomplete file counts as missing."""
    begun, ended = start.split(), end.split()
    code, before, since, until = ended[:4] if len(ended) in (4, 5) else ("", "-", "0", "0")
    rank = int(ended[4]) if len(ended) == 5 and ended[4].isdigit() else None
    first, node, memory, limit = begun if len(begun) == 4 else (since, "", "0", "0")
    return Record(
        number.partition(" ")[0].strip(),
        _seconds(first),
        node,
        int(code) if code.isdigit() else None,
        before.strip("-"),
        _seconds(until),
        int(_seconds(memory)),
        _seconds(limit),
        is_again,
        frozenset(map(int, filter(str.isdigit, refused.split()))),
        rank,
        lost=parse_lost(lost) or (),
    )


def read_around(read: Callable[[int], tuple[bytes, str]], after: int) -> LogChunk:
    """Read output from the portal's offset `after`.

    `read` returns bytes from an offset of the file, and afterwards the record of what was lost. The
    recorder writes its record before the bytes after a gap: if it did not change, the offsets hold.
    """
    lost: tuple[LostOutput, ...] = ()
    for _ in range(_TRIES):
        at, start, gap, why = position(after, lost)
        data, text = read(at)
        if (now := parse_lost(text)) == lost:
            data = data[: gap - at] if gap else data
            return LogChunk(start, data, _now(), why, why_uncounted(text))
        lost = lost if now is None else now
    raise Unavailable(Message("The output changed while it was read."))


def _now() -> int:
    return int(time.time() * 1000)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0
