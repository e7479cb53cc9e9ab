from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster_agent.spool import MemorySpool, Queue, Spool, SpoolBusy
from tests.rig.seeds import examples

LIMIT = 1 << 20


@pytest.fixture(params=["disk", "memory"])
def spool(request, tmp_path: Path) -> Queue:
    return Spool(tmp_path / "spool", LIMIT) if request.param == "disk" else MemorySpool(LIMIT)


def drain(spool: Queue) -> list[bytes]:
    found = []
    while waiting := spool.peek():
        found.append(waiting.data)
        spool.advance(waiting)
    return found


def reopened(spool: Spool, folder: Path, limit: int = LIMIT) -> Spool:
    spool.close()
    return Spool(folder, limit)


def noise(number: int, size: int = 1000) -> bytes:
    """Return incompressible bytes that differ by number."""
    return number.to_bytes(4, "big") + random.Random(number).randbytes(size)


def test_spool_returns_batches_in_order(spool):
    for number in range(50):
        spool.append(b"%d" % number)
    assert len(spool) == 50
    assert drain(spool) == [b"%d" % number for number in range(50)]
    assert len(spool) == 0
    assert spool.peek() is None


def test_spool_batch_is_returned_until_advanced(spool):
    spool.append(b"a")
    assert spool.peek().data == spool.peek().data == b"a"


def test_spool_over_its_limit_drops_and_counts_the_oldest(spool):
    for number in range(3000):
        spool.append(noise(number))
    left = drain(spool)
    assert left == [noise(number) for number in range(3000 - len(left), 3000)]
    assert spool.dropped == 3000 - len(left)
    assert LIMIT // 2 - 2000 <= len(left) * 1012 <= LIMIT


def test_spool_advance_after_a_drop_loses_no_other_batch(spool):
    spool.append(noise(0))
    held = spool.peek()
    for number in range(1, 3000):
        spool.append(noise(number))
    first = spool.peek().data
    spool.advance(held)
    assert spool.peek().data == first


def test_spool_reopened_continues_at_its_position(tmp_path):
    spool = Spool(tmp_path, LIMIT)
    for number in range(10):
        spool.append(b"%d" % number)
    for _ in range(4):
        spool.advance(spool.peek())
    spool = reopened(spool, tmp_path)
    assert len(spool) == 6
    assert drain(spool) == [b"%d" % number for number in range(4, 10)]


def test_spool_files_are_empty_after_the_last_batch(tmp_path):
    spool = Spool(tmp_path, LIMIT)
    for number in range(700):
        spool.append(noise(number))
    drain(spool)
    assert (tmp_path / "new").stat().st_size <= 8
    assert not (tmp_path / "old").exists()


@pytest.mark.parametrize("cut", [1, 5, 9, 40])
def test_spool_truncated_record_is_cut_off(tmp_path, cut):
    spool = Spool(tmp_path, LIMIT)
    for number in range(3):
        spool.append(noise(number))
    os.truncate(tmp_path / "new", (tmp_path / "new").stat().st_size - cut)
    spool = reopened(spool, tmp_path)
    spool.append(noise(9))
    assert drain(spool) == [noise(0), noise(1), noise(9)]


def test_spool_corrupt_record_is_counted_and_not_sent(tmp_path):
    spool = Spool(tmp_path, LIMIT)
    spool.append(noise(1))
    with (tmp_path / "new").open("r+b") as file:
        file.seek(500)
        file.write(b"rot")
    assert spool.peek() is None
    assert (spool.dropped, len(spool)) == (1, 0)
    spool.append(noise(2))
    assert drain(spool) == [noise(2)]


def test_spool_position_without_its_file_sends_again(tmp_path):
    spool = Spool(tmp_path, LIMIT)
    spool.append(noise(1))
    (tmp_path / "place").write_text(json.dumps({"file": "00" * 8, "at": 700}))
    assert drain(reopened(spool, tmp_path)) == [noise(1)]


def test_spool_in_use_cannot_be_opened_again(tmp_path):
    first = Spool(tmp_path, LIMIT)
    with pytest.raises(SpoolBusy, match="another agent uses the spool"):
        Spool(tmp_path, LIMIT)
    reopened(first, tmp_path)


def test_spool_full_disk_leaves_no_partial_record(tmp_path, monkeypatch):
    spool = Spool(tmp_path, LIMIT)
    spool.append(noise(1))
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from muster_agent.spool import Spool\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))\n"
        f"spool = Spool(Path({str(tmp_path)!r}), {LIMIT})\n"
        "try: spool.append(bytes(__import__('random').Random(2).randbytes(1000)))\n"
        "except OSError: print('full')\n"
    )
    spool.close()
    environ = {**os.environ, "PYTHONPATH": str(Path("agent").absolute())}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True
    )
    assert found.stdout == "full\n"
    spool = Spool(tmp_path, LIMIT)
    spool.append(noise(3))
    assert drain(spool) == [noise(1), noise(3)]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sampled_from(["append", "advance", "reopen"]), max_size=80))
def test_spool_random_events_keep_every_batch_once_in_order(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("spool")
    spool, put, got = Spool(folder, LIMIT), 0, []
    for step in steps:
        if step == "append":
            spool.append(noise(put, 50))
            put += 1
        elif step == "advance" and (waiting := spool.peek()):
            got.append(waiting.data)
            spool.advance(waiting)
        elif step == "reopen":
            spool = reopened(spool, folder)
    got += drain(spool)
    spool.close()
    assert got == [noise(number, 50) for number in range(put)]
