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
    """Bytes that do not compress, told apart by their number."""
    return number.to_bytes(4, "big") + random.Random(number).randbytes(size)


def test_batches_come_out_in_the_order_they_went_in(spool):
    for number in range(50):
        spool.append(b"%d" % number)
    assert len(spool) == 50
    assert drain(spool) == [b"%d" % number for number in range(50)]
    assert len(spool) == 0
    assert spool.peek() is None


def test_a_batch_that_was_not_advanced_past_is_offered_again(spool):
    spool.append(b"a")
    assert spool.peek().data == spool.peek().data == b"a"


def test_the_oldest_are_dropped_and_counted_when_there_is_no_room(spool):
    for number in range(3000):
        spool.append(noise(number))
    left = drain(spool)
    assert left == [noise(number) for number in range(3000 - len(left), 3000)]
    assert spool.dropped == 3000 - len(left)
    assert LIMIT // 2 - 2000 <= len(left) * 1012 <= LIMIT


def test_advancing_past_a_batch_that_was_dropped_meanwhile_loses_no_other(spool):
    spool.append(noise(0))
    held = spool.peek()
    for number in range(1, 3000):
        spool.append(noise(number))
    first = spool.peek().data
    spool.advance(held)
    assert spool.peek().data == first


def test_a_restart_goes_on_where_it_stood(tmp_path):
    spool = Spool(tmp_path, LIMIT)
    for number in range(10):
        spool.append(b"%d" % number)
    for _ in range(4):
        spool.advance(spool.peek())
    spool = reopened(spool, tmp_path)
    assert len(spool) == 6
    assert drain(spool) == [b"%d" % number for number in range(4, 10)]


def test_the_files_are_empty_once_everything_was_sent(tmp_path):
    spool = Spool(tmp_path, LIMIT)
    for number in range(700):
        spool.append(noise(number))
    drain(spool)
    assert (tmp_path / "new").stat().st_size <= 8
    assert not (tmp_path / "old").exists()


@pytest.mark.parametrize("cut", [1, 5, 9, 40])
def test_a_record_torn_by_a_kill_is_cut_off_and_the_rest_is_whole(tmp_path, cut):
    spool = Spool(tmp_path, LIMIT)
    for number in range(3):
        spool.append(noise(number))
    os.truncate(tmp_path / "new", (tmp_path / "new").stat().st_size - cut)
    spool = reopened(spool, tmp_path)
    spool.append(noise(9))
    assert drain(spool) == [noise(0), noise(1), noise(9)]


def test_a_record_that_rotted_is_given_up_and_counted_not_sent(tmp_path):
    spool = Spool(tmp_path, LIMIT)
    spool.append(noise(1))
    with (tmp_path / "new").open("r+b") as file:
        file.seek(500)
        file.write(b"rot")
    assert spool.peek() is None
    assert (spool.dropped, len(spool)) == (1, 0)
    spool.append(noise(2))
    assert drain(spool) == [noise(2)]


def test_a_place_that_outlived_its_file_sends_again_rather_than_too_little(tmp_path):
    spool = Spool(tmp_path, LIMIT)
    spool.append(noise(1))
    (tmp_path / "place").write_text(json.dumps({"file": "00" * 8, "at": 700}))
    assert drain(reopened(spool, tmp_path)) == [noise(1)]


def test_two_agents_cannot_share_a_spool(tmp_path):
    first = Spool(tmp_path, LIMIT)
    with pytest.raises(SpoolBusy, match="another agent uses the spool"):
        Spool(tmp_path, LIMIT)
    reopened(first, tmp_path)


def test_a_full_disk_leaves_nothing_half_written(tmp_path, monkeypatch):
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


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["append", "advance", "reopen"]), max_size=80))
def test_whatever_the_order_of_events_nothing_is_lost_doubled_or_shuffled(tmp_path_factory, steps):
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
