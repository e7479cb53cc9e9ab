"""The log store: offsets, gaps, segments, crashes, certificates and search."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from blake3 import blake3

from portal.blobs import logs
from portal.blobs.logs import Gap, LogStore
from portal.core.errors import Unavailable
from portal.core.messages import Message
from tests.rig.environment import ROOT
from tests.rig.seeds import courses
from tests.stand_in import StandIn

KEY, OTHER = "a" * 32, "b" * 32
# Appends numbered lines of odd sizes and prints each acknowledged end.
WRITER = """
import sys
from pathlib import Path
from portal.blobs import logs
from tests.portal.blobs.test_logs import KEY, content
logs.SEGMENT = 64 << 10
store, at = logs.LogStore(Path(sys.argv[1])), int(sys.argv[2])
while at < len(content()):
    size = 1 + (at * 7919) % 9000
    at = store.append(KEY, at, content()[at:at + size], at)
    print(at, flush=True)
"""


def content() -> bytes:
    return b"".join(b"line %d of the log\n" % n for n in range(60_000))


@pytest.fixture
def store(tmp_path: Path) -> LogStore:
    return LogStore(tmp_path)


def whole(store: LogStore, key: str = KEY) -> bytes:
    return b"".join(store.open_range(key, 0, store.end(key)))


def test_missing_log_is_empty(store):
    assert (store.end(KEY), store.size(KEY), store.read(KEY, 0).data, store.certificate(KEY)) == (
        0,
        0,
        b"",
        None,
    )
    assert store.search(KEY, b"x").done and store.times(KEY, 0, 10) == []


def test_append_twice_stores_bytes_once(store):
    assert store.append(KEY, 0, b"hello ", 1000) == 6
    assert store.append(KEY, 0, b"hello world", 2000) == 11
    assert store.append(KEY, 3, b"lo", 3000) == 11
    assert whole(store) == b"hello world"


def test_append_past_the_end_is_refused_until_skipped(store):
    store.append(KEY, 0, b"abc", 1000)
    with pytest.raises(Gap, match="ends at 3"):
        store.append(KEY, 5, b"fgh", 1000)
    store.skip(KEY, 3, 5, "the node lost power")
    assert store.append(KEY, 5, b"fgh", 1000) == 8
    assert (store.size(KEY), whole(store)) == (6, b"abcfgh")


def test_read_stops_before_a_gap_then_reports_it(store):
    store.append(KEY, 0, b"abc", 1000)
    store.skip(KEY, 3, 7, "lost")
    store.append(KEY, 7, b"h", 1000)
    before, after = store.read(KEY, 1), store.read(KEY, 3)
    assert (before.start, before.data, before.gaps) == (1, b"bc", [])
    assert (after.start, after.data, after.end, after.gaps) == (7, b"h", 8, [(3, 7, "lost")])


def test_read_at_trailing_gap_moves_past_it(store):
    store.append(KEY, 0, b"abc", 1000)
    store.skip(KEY, 3, 9, "lost")
    part = store.read(KEY, 3)
    assert (part.start, part.data, part.end) == (9, b"", 9)


def test_skip_of_stored_bytes_changes_nothing(store):
    store.append(KEY, 0, b"abcdef", 1000)
    store.skip(KEY, 2, 5, "no")
    assert store.seal(KEY, "exit 0").complete and whole(store) == b"abcdef"


def test_adjacent_gaps_with_same_reason_are_merged(store):
    store.skip(KEY, 0, 5, "lost")
    store.skip(KEY, 5, 9, "lost")
    assert store.seal(KEY, "exit 0").gaps == [(0, 9, "lost")]


def test_log_longer_than_a_segment_is_complete(store, tmp_path):
    data = random.Random(1).randbytes(2 * logs.SEGMENT + 12_345)
    for at in range(0, len(data), 3_000_000):
        store.append(KEY, at, data[at : at + 3_000_000], at)
    names = sorted(path.suffix for path in (tmp_path / "aa" / KEY).iterdir() if path.suffix)
    assert names == [".seg", ".zst", ".zst"]
    assert whole(store) == data
    assert store.read(KEY, logs.SEGMENT - 2, 4).data == data[logs.SEGMENT - 2 : logs.SEGMENT]


def test_crash_after_compression_leaves_a_valid_log(store, tmp_path):
    data = random.Random(2).randbytes(logs.SEGMENT + 10)
    store.append(KEY, 0, data, 0)
    (tmp_path / "aa" / KEY / f"{0:016x}.seg").write_bytes(data[: logs.SEGMENT])
    assert (store.end(KEY), whole(store)) == (len(data), data)
    assert store.append(KEY, len(data), b"more", 1) == len(data) + 4


def test_certificate_describes_content_and_closing(store):
    store.append(KEY, 0, text := b"one\ntwo\nthree", 1_700_000_000_000)
    made = store.seal(KEY, "exit 0")
    assert made.text == "The log is complete: 13 bytes."
    assert made.closed_by == "exit 0"
    assert (made.bytes, made.lines, made.complete) == (13, 3, True)
    assert (made.sha256, made.blake3) == (
        hashlib.sha256(text).hexdigest(),
        blake3(text).hexdigest(),
    )
    assert made.first_at == made.last_at == 1_700_000_000_000


def test_certificate_lists_gaps_with_time_size_and_reason(store):
    store.append(KEY, 0, b"x" * 1500, 1_700_000_000_000)
    store.skip(KEY, 1500, 4000, "the disk was full")
    made = store.seal(KEY, "signal 9")
    assert made.text == (
        "Part of the log is missing: 2,500 bytes after 22:13:20 UTC (the disk was full). "
        "1,500 bytes were kept."
    )
    assert not made.complete and made.gaps == [(1500, 4000, "the disk was full")]


def test_log_whose_losses_nobody_counted_is_never_complete(store):
    why = Message("nobody counted on {node}", node="n1")
    store.append(KEY, 0, b"abc\n", 1)
    store.note_uncounted(KEY, why)
    store.note_uncounted(KEY, "another reason")
    made = store.seal(KEY, "exit 0")
    assert (made.complete, made.gaps, made.uncounted) == (False, [], why)
    assert made.text == f"The log has 4 bytes, but some output may be missing: {why}."
    assert store.certificate(KEY).uncounted == why
    store.note_uncounted(KEY, "too late")
    store.append(OTHER, 0, b"a", 1)
    store.skip(OTHER, 1, 5, "the disk was full")
    store.note_uncounted(OTHER, why)
    assert f"more may be missing: {why}" in store.seal(OTHER, "exit 0").text


def test_certificate_text_names_first_three_gaps(store):
    for n in range(5):
        store.append(KEY, n * 10, b"x", 1_700_000_000_000)
        store.skip(KEY, n * 10 + 1, n * 10 + 10, f"why {n}")
    text = store.seal(KEY, "exit 0").text
    assert (
        text.startswith("Part of the log is missing: 9 bytes after ")
        and "why 2" in text
        and "why 3" not in text
        and "and 2 more" in text
    )


def test_closed_log_ignores_writes(store):
    store.append(KEY, 0, b"abc", 1)
    first = store.seal(KEY, "exit 0")
    assert store.append(KEY, 3, b"def", 2) == 3
    assert store.seal(KEY, "somebody else") == store.certificate(KEY) == first
    store.skip(KEY, 3, 9, "late")
    assert (store.end(KEY), whole(store)) == (3, b"abc")


def test_append_over_the_limit_becomes_a_gap(tmp_path):
    store = LogStore(tmp_path, limit=10)
    assert store.append(KEY, 0, b"0123456789abc", 1) == 13
    assert store.append(KEY, 13, b"def", 2) == 16
    assert whole(store) == b"0123456789"
    assert store.seal(KEY, "exit 0").gaps == [(10, 16, "the log's size limit was reached")]


def test_append_on_full_disk_is_unavailable_and_loses_nothing(store, monkeypatch):
    store.append(KEY, 0, b"abc", 1)

    def full(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(logs, "os", StandIn(logs.os, fdatasync=full))
        with pytest.raises(Unavailable, match="The disk with the logs is full"):
            store.append(KEY, 3, b"def", 2)
    store.append(KEY, 3, b"def", 3)
    assert whole(store) == b"abcdef"


def test_search_returns_lines_with_offsets(store):
    store.append(KEY, 0, b"alpha\nBeta beta\n\nlast beta", 1)
    found = store.search(KEY, b"BETA")
    assert found.as_dict() == {
        "hits": [{"offset": 6, "line": "Beta beta"}, {"offset": 17, "line": "last beta"}],
        "after": 26,
        "done": True,
    }
    assert [hit[0] for hit in store.search(KEY, b"beta", ignore_case=False).hits] == [6, 17]
    assert store.search(KEY, b"a.pha").hits == []


def test_search_finds_line_across_segments_once(store):
    line = b"x" * 5000 + b" needle " + b"y" * 100 + b"\n"
    text = b"a" * (logs.SEGMENT - 5003) + b"\n" + line + b"end\n"
    store.append(KEY, 0, text, 1)
    assert [hit[0] for hit in store.search(KEY, b"needle").hits] == [logs.SEGMENT - 5002]


def test_continued_search_finds_everything_once(store, monkeypatch):
    text = b"".join(b"%s %d\n" % (b"hit" if n % 1000 == 0 else b"miss", n) for n in range(200_000))
    store.append(KEY, 0, text, 1)
    monkeypatch.setattr(logs, "SEARCH_BUDGET", 300_000)
    hits, after, done, rounds = [], 0, False, 0
    while not done:
        found = store.search(KEY, b"hit ", after)
        hits, after, done, rounds = (
            hits + [line for _, line in found.hits],
            found.after,
            found.done,
            rounds + 1,
        )
    assert hits == [f"hit {n}" for n in range(0, 200_000, 1000)] and rounds > 1


def test_search_stops_at_limit_and_continues_after_it(store):
    store.append(KEY, 0, b"".join(b"hit %d\n" % n for n in range(50)), 1)
    first = store.search(KEY, b"hit", limit=20)
    rest = store.search(KEY, b"hit", first.after, limit=100)
    assert [line for _, line in first.hits + rest.hits] == [f"hit {n}" for n in range(50)]


def test_search_finds_both_parts_of_line_torn_by_gap(store):
    store.append(KEY, 0, b"first\nneedle one", 1)
    store.skip(KEY, 16, 20, "lost")
    store.append(KEY, 20, b"needle two\n", 1)
    assert store.search(KEY, b"needle").hits == [(6, "needle one"), (20, "needle two")]


def test_torn_time_index_is_repaired_by_next_write(store, tmp_path):
    store.append(KEY, 0, b"abc", 1000)
    with open(tmp_path / "aa" / KEY / "index", "ab") as file:
        file.write(b"\x01\x02\x03")
    assert store.times(KEY, 0, 3) == [(0, 1000)]
    store.append(KEY, 3, b"def", 5000)
    assert store.times(KEY, 0, 6) == [(0, 1000), (3, 5000)]


def test_torn_gap_record_is_ignored(store, tmp_path):
    store.append(KEY, 0, b"abc", 1000)
    (tmp_path / "aa" / KEY / "gaps").write_bytes(b'[3, 9, "lo')
    assert store.end(KEY) == 3
    store.skip(KEY, 3, 5, "lost")
    assert store.seal(KEY, "exit 0").gaps == [(3, 5, "lost")]


def test_times_returns_arrivals_by_offset(store):
    for n in range(10):
        store.append(KEY, n * 10, b"0123456789", n * 1000)
    assert store.times(KEY, 35, 60) == [(30, 3000), (40, 4000), (50, 5000)]


def test_key_that_could_be_a_path_is_refused(store):
    for key in ("../x", "", "a/b", "a.b", "x" * 101, "a\n"):
        with pytest.raises(ValueError, match="key"):
            store.append(key, 0, b"x", 1)


@courses(range(10))
def test_killed_writer_leaves_acknowledged_bytes(store, tmp_path, seed):
    acknowledged = 0
    for life in range(2):
        acknowledged = _killed_writer(
            tmp_path, store.end(KEY), random.Random(seed * 10 + life).uniform(0, 0.15)
        )
        assert store.end(KEY) >= acknowledged
        assert whole(store) == content()[: store.end(KEY)]
    at = store.end(KEY)
    store.append(KEY, at, content()[at : at + 5000], at)
    assert whole(store) == content()[: at + 5000] and acknowledged > 0


def _killed_writer(root: Path, start: int, after: float) -> int:
    """Run a writer, kill it after `after` seconds, and return the last acknowledged end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root), str(start)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=environment,
    ) as process:
        assert process.stdout is not None
        last, deadline = process.stdout.readline(), time.monotonic() + after
        while time.monotonic() < deadline and (line := process.stdout.readline()):
            last = line
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().rpartition(b"\n")[0].splitlines()
    return int(rest[-1] if rest else last)
