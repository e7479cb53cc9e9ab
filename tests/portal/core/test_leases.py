"""A lease has one holder, and is taken over at once if the holder is known to be dead."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from portal.core import clock, lease_holder, leases
from portal.core.lease_holder import is_dead, new_holder, new_lease
from tests.rig.environment import ROOT
from tests.stand_in import StandIn

SCRIPT = """
import time
from portal.core.lease_holder import new_holder, new_lease
print(new_holder(), new_lease(), flush=True)
time.sleep(600)
"""


class Other:
    """Another process on this host, and its holder name."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.holder, lease = self.process.stdout.readline().split()
        self.lease = UUID(lease)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def other() -> Iterator[Other]:
    made = Other()
    yield made
    made.process.kill()
    made.process.communicate()


def test_lease_of_live_holder_is_kept_until_expiry(db, other):
    assert leases.take("watch:x", other.holder, 15)
    assert not leases.take("watch:x", new_holder(), 15)
    with clock.frozen(clock.now() + timedelta(seconds=16)):
        assert leases.take("watch:x", new_holder(), 15)


def test_lease_of_killed_holder_is_taken_over_once_at_once(db, other):
    assert leases.take("watch:x", other.holder, 15)
    other.kill()
    first, second = new_holder(), new_holder()
    assert leases.take("watch:x", first, 15)
    assert not leases.take("watch:x", second, 15)
    assert leases.take("watch:x", first, 15)


def test_holders_in_one_process_are_distinct(db):
    first, second = new_holder(), new_holder()
    assert leases.take("watch:x", first, 15) and not leases.take("watch:x", second, 15)
    leases.release("watch:x", first)
    assert leases.take("watch:x", second, 15)


def test_reused_pid_is_not_mistaken_for_dead_holder():
    host, where, _, born, once = new_holder().split(":")
    assert not is_dead(f"{host}:{where}:{os.getpid()}:{born}:{once}")
    assert is_dead(f"{host}:{where}:{os.getpid()}:{int(born) - 1}:{once}")


@pytest.mark.parametrize(
    "change",
    [
        lambda words: [words[0], "0123456789ab", *words[2:]],  # another host, boot or container
        lambda words: [words[0], "", *words[2:]],  # a host that cannot be identified
        lambda words: words[:2],
        lambda words: [words[0], words[1], "x", *words[3:]],
    ],
)
def test_holder_not_known_to_be_dead_counts_as_alive(other, change):
    other.kill()
    assert is_dead(other.holder)
    assert not is_dead(":".join(change(other.holder.split(":"))))


def test_zombie_holder_counts_as_alive(other, wait_for):
    other.process.kill()
    wait_for(lambda: " Z " in Path(f"/proc/{other.process.pid}/stat").read_text())
    assert not is_dead(other.holder)


def test_holder_name_fits_into_its_column(db, monkeypatch):
    stand_in = StandIn(socket, gethostname=lambda: "h" * 64)
    monkeypatch.setattr(lease_holder, "socket", stand_in)
    assert len(new_holder()) <= 90


def test_claim_lease_identifies_its_holder(other):
    assert not is_dead(new_lease()) and not is_dead(other.lease)
    other.kill()
    assert is_dead(other.lease)
    elsewhere = UUID(int=other.lease.int ^ 1 << 127)
    assert not is_dead(elsewhere) and not is_dead(uuid4())


def test_claim_leases_are_distinct_and_valid_uuids(other):
    leases_ = {new_lease() for _ in range(1000)}
    assert len(leases_) == 1000
    assert {(lease.version, lease.variant) for lease in leases_} == {(8, "specified in RFC 4122")}


def test_claim_lease_without_kernel_data_is_random(monkeypatch):
    monkeypatch.setattr(lease_holder, "_where", lambda _: "")
    lease = new_lease()
    assert lease.version == 4 and not is_dead(lease)
