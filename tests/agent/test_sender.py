from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from muster_agent import sender as sender_module
from muster_agent.config import Config
from muster_agent.sender import BatchSender
from muster_agent.spool import MemorySpool, Spool
from tests.agent.portal_server import Portal


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(sender_module, "FIRST_WAIT", 0.02)
    monkeypatch.setattr(sender_module, "LONGEST_WAIT", 0.1)


@pytest.fixture
def portal() -> Iterator[Portal]:
    portal = Portal()
    yield portal
    portal.close()


@pytest.fixture
def courier_to() -> Iterator[Callable[..., BatchSender]]:
    started: list[BatchSender] = []

    def start(url: str, spool=None, **config) -> BatchSender:
        config.setdefault("token", "mst_right")
        sender = BatchSender(Config(url=url, timeout=0.3, **config), spool or MemorySpool(1 << 20))
        sender.start()
        started.append(sender)
        return sender

    yield start
    for sender in started:
        sender.halt()


def batch(number: int) -> dict[str, object]:
    return {"batch": f"b{number}", "at": 1000 + number}


def numbers(portal: Portal) -> list[int]:
    return [int(request["batch"][1:]) for request in portal.taken]


def test_sender_posts_a_batch_to_the_portal_with_the_token(portal, courier_to, wait_for):
    courier_to(portal.url + "/").offer(batch(1))
    wait_for(lambda: portal.taken == [batch(1)])
    assert portal.paths == ["/api/v1/agent/samples"]


@pytest.mark.parametrize("mood", [500, 503, 429, "hang", "cut", "nonsense"])
def test_sender_unreliable_portal_gets_each_batch_once_in_order(portal, courier_to, wait_for, mood):
    sender = courier_to(portal.url)
    sender.offer(batch(0))
    wait_for(lambda: portal.taken)  # from then on there is a connection that may break
    portal.mood = mood
    for number in range(1, 20):
        sender.offer(batch(number))
    wait_for(lambda: sender.note)
    portal.mood = 202
    portal.freed.set()
    wait_for(lambda: len(portal.taken) == 20)
    assert portal.taken == [batch(number) for number in range(20)]
    wait_for(lambda: sender.notes() == [])


def test_sender_after_an_outage_delivers_everything(portal, courier_to, wait_for):
    port = portal.port
    portal.close()
    sender = courier_to(f"http://127.0.0.1:{port}")
    for number in range(5):
        sender.offer(batch(number))
    wait_for(lambda: "does not answer" in sender.note)
    again = Portal(port)
    try:
        wait_for(lambda: numbers(again) == [0, 1, 2, 3, 4])
    finally:
        again.close()


def test_sender_closed_keep_alive_connection_is_no_failure(portal, courier_to, wait_for):
    sender = courier_to(portal.url)
    sender.offer(batch(0))
    wait_for(lambda: len(portal.taken) == 1)
    sender._target._connection.sock.shutdown(2)
    sender.offer(batch(1))
    wait_for(lambda: numbers(portal) == [0, 1])
    assert sender.note == ""


def test_sender_wrong_token_is_explained_and_batches_are_kept(
    portal, courier_to, wait_for, tmp_path
):
    file = tmp_path / "token"
    file.write_text("mst_wrong\n")
    sender = courier_to(portal.url, token_file=file)
    sender.offer(batch(0))
    wait_for(lambda: "agent:write" in sender.note)
    assert portal.taken == []
    file.write_text("mst_right\n")
    wait_for(lambda: numbers(portal) == [0])


def test_sender_permanently_refused_batch_does_not_block_the_next(portal, courier_to, wait_for):
    portal.mood = 422
    sender = courier_to(portal.url)
    sender.offer(batch(0))
    wait_for(lambda: sender.refused == 1)
    assert "refused a batch (422)" in sender.note
    portal.mood = 202
    sender.offer(batch(1))
    wait_for(lambda: numbers(portal) == [1])


def test_sender_duplicate_batch_counts_as_delivered(portal, courier_to, wait_for):
    portal.mood = 409
    spool = MemorySpool(1 << 20)
    courier_to(portal.url, spool).offer(batch(0))
    wait_for(lambda: portal.paths and len(spool) == 0)


def test_sender_respects_retry_after(portal, courier_to, wait_for, monkeypatch):
    portal.mood, portal.retry_after = 429, "30"
    sender, pauses = courier_to(portal.url), []
    monkeypatch.setattr(
        sender._halt, "wait", lambda seconds: pauses.append(seconds) or sender._halt.set()
    )
    sender.offer(batch(0))
    wait_for(lambda: len(pauses) == 1)
    assert 30.0 <= pauses[0] <= 45.0  # agents do not come back at the same moment


@pytest.mark.parametrize(
    ("ahead", "words"), [(95, "9[456] s behind"), (-300, "(299|30[01]) s ahead of"), (0, "")]
)
def test_sender_wrong_clock_is_reported(portal, courier_to, wait_for, ahead, words):
    portal.clock_ahead = ahead
    sender = courier_to(portal.url)
    sender.offer(batch(0))
    wait_for(lambda: portal.taken and len(sender._spool) == 0)
    assert sender.skew == pytest.approx(ahead, abs=1.5)
    assert re.search(words, "".join(sender.notes()))
    assert bool(sender.notes()) == bool(words)


def test_sender_after_a_restart_sends_spooled_batches_first(portal, courier_to, wait_for, tmp_path):
    spool = Spool(tmp_path, 1 << 20)
    lone = BatchSender(Config(url="http://127.0.0.1:1"), spool)
    for number in range(3):
        lone.offer(batch(number))
    spool.close()
    courier_to(portal.url, Spool(tmp_path, 1 << 20)).offer(batch(3))
    wait_for(lambda: numbers(portal) == [0, 1, 2, 3])


def test_sender_unwritable_spool_drops_the_batch_with_a_message(courier_to, tmp_path, monkeypatch):
    sender = courier_to("http://127.0.0.1:1")
    monkeypatch.setattr(
        sender._spool, "append", Mock(side_effect=OSError(28, "No space left on device"))
    )
    sender.offer(batch(0))
    assert "batches are lost" in sender.note


KILLED = """
import sys
import threading
from pathlib import Path
from muster_agent.config import Config
from muster_agent.sender import BatchSender
from muster_agent.spool import Spool
sender = BatchSender(Config(url=sys.argv[1], token="mst_right"), Spool(Path(sys.argv[2]), 1 << 20))
sender.start()
for number in range(int(sys.argv[3]), 1_000_000):
    sender.offer({"batch": f"b{number}", "at": 1000 + number})
    print(number, flush=True)
    while len(sender._spool) > 5:
        threading.Event().wait(0.0005)
"""


def test_sender_killed_agent_keeps_all_batches_in_order(portal, courier_to, wait_for, tmp_path):
    environ, spool, offered = (
        {**os.environ, "PYTHONPATH": str(Path("agent").absolute())},
        tmp_path / "spool",
        0,
    )
    for life in range(3):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, portal.url, str(spool), str(offered)],
            stdout=subprocess.PIPE,
            env=environ,
        )
        wait_for(lambda goal=offered + 20: portal.requests and numbers(portal)[-1] >= goal)
        child.send_signal(signal.SIGKILL)
        count = int(child.communicate()[0].split(b"\n")[-2])
        kept = in_spool(Path(shutil.copytree(spool, tmp_path / f"copy{life}")))
        offered = max(kept + numbers(portal)) + 1
        assert offered > count, "a batch that was taken is nowhere"
    courier_to(portal.url, Spool(spool, 1 << 20))
    wait_for(lambda: numbers(portal)[-1] == offered - 1)
    assert numbers(portal) == list(range(offered))


def in_spool(folder: Path) -> list[int]:
    spool, found = Spool(folder, 1 << 20), []
    while waiting := spool.peek():
        found.append(int(json.loads(waiting.data)["batch"][1:]))
        spool.advance(waiting)
    spool.close()
    return found
