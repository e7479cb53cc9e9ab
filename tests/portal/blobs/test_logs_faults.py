"""The log store under faults: crash or full disk at any line, two writers, lost bytes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from portal.blobs import arrivals, logs
from portal.blobs.logs import Gap, LogStore
from portal.core.errors import Unavailable
from tests.stand_in import StandIn

KEY = "b" * 32
FOLDER = Path("bb") / KEY
TEXT = b"".join(b"line %d\n" % n for n in range(40))
LOST = (200, 230)  # offsets that the writer below skips
OURS = {logs.__file__, arrivals.__file__}


@pytest.fixture
def store(tmp_path: Path) -> LogStore:
    return LogStore(tmp_path)


@pytest.fixture
def small_segments(monkeypatch) -> None:
    monkeypatch.setattr(logs, "SEGMENT", 64)


@pytest.fixture
def unsynced(monkeypatch) -> None:
    """Skip fsync: bytes of a dead process survive in the page cache anyway."""
    skipped = dict.fromkeys(("fsync", "fdatasync"), lambda _: None)
    for module in (arrivals, logs):
        monkeypatch.setattr(module, "os", StandIn(os, **skipped))


def whole(store: LogStore) -> bytes:
    return b"".join(store.open_range(KEY, 0, store.end(KEY)))


def kept(end: int) -> bytes:
    """Return the stored content of a log of TEXT with that end."""
    return TEXT[: min(end, LOST[0])] + TEXT[LOST[1] : max(end, LOST[1])]


def write(store: LogStore, told: Callable[[int], object]) -> None:
    """Append TEXT in pieces of odd sizes from the end of the log, with one gap.

    `told` is called with each acknowledged end.
    """
    while (at := store.end(KEY)) < len(TEXT):
        if at == LOST[0]:
            store.skip(KEY, *LOST, "lost")
        else:
            stop = min(at + 37, len(TEXT)) if at > LOST[0] else min(at + 37, LOST[0])
            store.append(KEY, at, TEXT[at:stop], at * 10)
        told(store.end(KEY))


def at_line(number: int, act: Callable[[], None]) -> Callable[..., object]:
    """Return a trace function that acts before the `number`th line of our modules runs."""
    left = number

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., object] | None:
        nonlocal left
        if frame.f_code.co_filename not in OURS:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                act()
        return trace

    return trace


def moments(root: Path, *, is_thorough: bool) -> list[int]:
    """Return when to inject a fault: the first time that each second line runs.

    In the thorough mode the first, second and last time of each, and at every 40th executed line.
    """
    ran: dict[tuple[str, int], list[int]] = {}
    count = 0

    def note(frame: FrameType, event: str, _: object) -> Callable[..., object] | None:
        nonlocal count
        if frame.f_code.co_filename not in OURS:
            return None
        if event == "line":
            count += 1
            ran.setdefault((frame.f_code.co_filename, frame.f_lineno), []).append(count)
        return note

    sys.settrace(note)
    try:
        write(LogStore(root), lambda end: None)
    finally:
        sys.settrace(None)
    assert count > 500
    if not is_thorough:
        return sorted(times[0] for times in ran.values())[::2]
    return sorted(
        {*range(1, count, 40), *(at for times in ran.values() for at in (*times[:2], times[-1]))}
    )


THOROUGH = pytest.mark.parametrize(
    "is_thorough", [False, pytest.param(True, marks=pytest.mark.integration)]
)


def dies_at(number: int, root: Path) -> int:
    """Run a writer process that exits at that line; return the last acknowledged end."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        sys.settrace(at_line(number, lambda: os._exit(9)))
        write(LogStore(root), lambda end: os.write(into, b"%d\n" % end))
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        body = pipe.read().split()
    os.waitpid(child, 0)
    return int(body[-1]) if body else 0


@THOROUGH
def test_writer_killed_at_any_line_keeps_acknowledged_bytes(
    tmp_path, small_segments, unsynced, is_thorough
):
    for number in moments(tmp_path / "counted", is_thorough=is_thorough):
        store = LogStore(tmp_path / str(number))
        result = dies_at(number, store.root)
        end = store.end(KEY)
        assert end >= result and whole(store) == kept(end), number
        write(store, lambda _: None)
        made = store.seal(KEY, "exit 0")
        assert whole(store) == kept(len(TEXT)) and made.gaps == [(*LOST, "lost")], number
        assert [at for at, _ in store.times(KEY, 0, len(TEXT))] == sorted(
            at for at, _ in store.times(KEY, 0, len(TEXT))
        )


@THOROUGH
def test_disk_full_at_any_line_is_reported_and_leaves_valid_log(
    tmp_path, small_segments, unsynced, is_thorough
):
    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for number in moments(tmp_path / "counted", is_thorough=is_thorough):
        store = LogStore(tmp_path / str(number))
        result: list[int] = [0]
        sys.settrace(at_line(number, full))
        try:
            write(store, result.append)
        except (Unavailable, OSError):
            pass  # outside the lock, reads raise the OS error
        finally:
            sys.settrace(None)
        assert store.end(KEY) >= result[-1] and whole(store) == kept(store.end(KEY)), number
        write(store, lambda _: None)
        assert whole(store) == kept(len(TEXT)), number


def test_bytes_refused_by_disk_do_not_count(store, monkeypatch):
    store.append(KEY, 0, b"abc", 1)

    def refuse(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(logs, "os", StandIn(logs.os, fdatasync=refuse))
        with pytest.raises(OSError, match="Input/output"):
            store.append(KEY, 3, b"def", 2)
    assert (store.end(KEY), whole(store)) == (3, b"abc")


def test_concurrent_writers_store_each_byte_once(tmp_path, small_segments):
    children = []
    for size in (7, 30):
        if not (child := os.fork()):
            store, at = LogStore(tmp_path), 0
            while at < len(TEXT):
                at = store.append(KEY, at, TEXT[at : at + size], at)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert whole(LogStore(tmp_path)) == TEXT


def test_lost_segment_is_a_gap_in_the_certificate(store, tmp_path, small_segments):
    store.append(KEY, 0, TEXT[:200], 1_700_000_000_000)
    (tmp_path / FOLDER / f"{64:016x}-{128:016x}.zst").unlink()
    part = store.read(KEY, 64)
    assert part.start == 128 and part.gaps == [
        (64, 128, "missing from the disk that keeps the logs")
    ]
    made = store.seal(KEY, "exit 0")
    assert not made.complete and made.bytes == 136
    assert "64 bytes after 22:13:20 UTC (missing from the disk" in made.text


def test_incomplete_segment_listing_is_repeated(store, monkeypatch, small_segments):
    store.append(KEY, 0, TEXT[:200], 1)
    seen, real = [], os.listdir

    def torn(folder: Path) -> Iterator[str]:
        seen.append(folder)
        return [n for n in real(folder) if len(seen) > 1 or not n.startswith(f"{64:016x}")]

    monkeypatch.setattr(logs, "os", StandIn(logs.os, listdir=torn))
    assert store.read(KEY, 64, 10).data == TEXT[64:74] and len(seen) == 2


def test_writes_past_the_limit_store_one_gap(tmp_path):
    store = LogStore(tmp_path, limit=10)
    for at in range(0, 2000, 20):
        assert store.append(KEY, at, b"x" * 20, at) == at + 20
    assert (tmp_path / FOLDER / "gaps").stat().st_size < 100
    assert store.read(KEY, 0).gaps == [] and store.read(KEY, 10).gaps == [
        (10, 2000, "the log's size limit was reached")
    ]


def test_time_index_survives_clock_set_back(store):
    for n, at_ms in enumerate((10_000, 10_010, 5_000, 5_020, 5_100)):
        store.append(KEY, n, b"x", at_ms)
    assert store.times(KEY, 0, 5) == [(0, 10_000), (2, 5_000), (4, 5_100)]


def test_times_without_bytes_are_removed_by_next_write(store, tmp_path):
    store.append(KEY, 0, b"abc", 1_000)
    with open(tmp_path / FOLDER / "index", "ab") as file:
        file.write(arrivals._RECORD.pack(90, 2_000) + arrivals._RECORD.pack(95, 3_000))
    store.append(KEY, 3, b"def", 9_000)
    assert store.times(KEY, 0, 100) == [(0, 1_000), (3, 9_000)]


def test_times_of_long_log_are_found_by_bisection(store, tmp_path, monkeypatch):
    store.append(KEY, 0, b"abc", 1)
    (tmp_path / FOLDER / "index").write_bytes(
        b"".join(arrivals._RECORD.pack(n * 10, n * 1000) for n in range(100_000))
    )
    reads, real = [], os.pread
    monkeypatch.setattr(
        arrivals,
        "os",
        StandIn(arrivals.os, pread=lambda fd, size, at: reads.append(size) or real(fd, size, at)),
    )
    assert store.times(KEY, 500_005, 500_025) == [
        (500_000, 50_000_000),
        (500_010, 50_001_000),
        (500_020, 50_002_000),
    ]
    assert sum(reads) < 2000


def test_read_past_the_end_returns_end(store):
    store.append(KEY, 0, b"abc", 1)
    store.skip(KEY, 3, 9, "lost")
    assert (store.read(KEY, 50).start, store.read(KEY, 50).end) == (9, 9)


def test_search_matching_everything_is_limited(store, monkeypatch):
    store.append(KEY, 0, b"a\n" * 100_000, 1)
    made, real = [], logs._hits
    monkeypatch.setattr(logs, "_hits", lambda *args: made.append(real(*args)) or made[-1])
    found = store.search(KEY, b"a", limit=10)
    assert (len(found.hits), found.after, found.done) == (10, 20, False)
    assert sum(map(len, made)) <= 11


def test_seal_syncs_bytes_written_without_fsync(store, monkeypatch):
    store.append(KEY, 0, b"abc", 1, durable=False)
    synced, real = [], os.fdatasync
    monkeypatch.setattr(
        logs,
        "os",
        StandIn(logs.os, fdatasync=lambda fd: synced.append(os.fstat(fd).st_size) or real(fd)),
    )
    store.seal(KEY, "exit 0")
    assert synced == [3]


def test_refused_append_leaves_no_trace(store):
    with pytest.raises(Gap):
        store.append(KEY, 5, b"x", 1)
    assert (store.end(KEY), store.seal(KEY, "exit 0").first_at) == (0, None)
