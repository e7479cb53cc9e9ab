"""Events are sealed once each, in whatever order they become visible."""

from __future__ import annotations

import hashlib
import threading

import orjson
import pytest
from django.db import IntegrityError, connection, transaction

from portal.core import settled
from portal.core.audit import sealing
from portal.core.audit.anchors import Anchorer
from portal.core.audit.canonical import COLUMNS, NO_ORG
from portal.core.audit.models import AuditAnchor, AuditLink
from portal.core.audit.sealing import Sealer
from portal.core.audit.verify import verify
from portal.core.events import EventRecord, record
from portal.core.models import Event
from tests.portal.core.audit.conftest import ORG, OTHER, seal, write


def links(chain=ORG) -> list[tuple[int, int]]:
    return list(
        AuditLink.objects.filter(chain=chain).order_by("seq").values_list("seq", "position")
    )


@pytest.mark.django_db
def test_sealer_keeps_one_chain_per_organization():
    write(3)
    write(2, OTHER)
    write(1, None)
    assert seal() == 6
    assert [seq for seq, _ in links()] == [1, 2, 3]
    assert [seq for seq, _ in links(OTHER)] == [1, 2]
    assert [seq for seq, _ in links(NO_ORG)] == [1]


@pytest.mark.django_db
def test_exported_chain_can_be_verified_independently():
    write(3, note="ü")
    seal()
    at = hashlib.sha256(b"muster audit chain " + ORG.bytes).digest()
    for link in AuditLink.objects.order_by("seq"):
        e = Event.objects.get(position=link.position)
        time = (
            e.at.strftime("%Y-%m-%dT%H:%M:%S")
            + (f".{e.at.microsecond:06d}" if e.at.microsecond else "")
            + "Z"
        )
        row = [
            e.position,
            str(e.id),
            time,
            e.kind,
            str(e.org_id),
            e.actor,
            e.on_behalf_of,
            e.via,
            e.address,
            e.subject_type,
            str(e.subject_id),
            e.data,
            e.request_id,
        ]
        assert len(row) == len(COLUMNS)
        at = hashlib.sha256(at + orjson.dumps(row, option=orjson.OPT_SORT_KEYS)).digest()
        assert at == bytes(link.hash)


@pytest.mark.django_db
def test_sealing_again_seals_only_new_events(monkeypatch):
    monkeypatch.setattr(settled, "SETTLE", 0.0)
    sealer = Sealer()
    write(5)
    assert seal(sealer) == 5
    assert seal(sealer) == 0
    write(2)
    assert seal(sealer) == 2
    assert [seq for seq, _ in links()] == [1, 2, 3, 4, 5, 6, 7]
    assert verify(ORG).fault_count == 0


@pytest.mark.django_db
def test_sealer_seals_several_batches_per_look(monkeypatch):
    monkeypatch.setattr(sealing, "BATCH", 4)
    write(10)
    assert Sealer().look() == 10
    assert [seq for seq, _ in links()] == list(range(1, 11))
    write(10)
    assert Sealer().look(most=4) == 4


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_sealers_seal_each_event_once():
    write(50)
    made = [Sealer(), Sealer()]
    rows = sealing.unsealed(0, 100)
    made[0].look()
    original = sealing.unsealed
    try:
        sealing.unsealed = lambda above, most: (
            rows
        )  # it read the rows before the other one had finished
        with pytest.raises(IntegrityError):
            made[1].look()
    finally:
        sealing.unsealed = original
    assert made[1].look() == 0
    assert len(links()) == 50
    assert verify(ORG).fault_count == 0


@pytest.mark.django_db(transaction=True)
def test_event_committed_out_of_order_is_sealed(monkeypatch):
    """Only PostgreSQL commits positions out of order."""
    if connection.vendor != "postgresql":
        write(2)
        assert Sealer().look() == 2
        return
    monkeypatch.setattr(settled, "SETTLE", 0.0)
    sealer, is_written, may_commit = Sealer(), threading.Event(), threading.Event()

    def slow() -> None:
        with transaction.atomic():
            record(EventRecord("late.one", ORG, "thing", None))
            is_written.set()
            may_commit.wait(10)
        connection.close()

    thread = threading.Thread(target=slow)
    thread.start()
    assert is_written.wait(10)
    write(3)
    for _ in range(4):
        sealer.look()
    assert sealer.floor < Event.objects.order_by("position").first().position
    may_commit.set()
    thread.join()
    write(1)
    assert sum(sealer.look() for _ in range(3)) == 2
    assert Event.objects.count() == 5 == AuditLink.objects.count()
    first = Event.objects.get(kind="late.one")
    assert (
        links()[3][1] == first.position < links()[0][1]
    )  # sealed fourth, although its position is the lowest
    assert verify(ORG).fault_count == 0


@pytest.mark.integration
# It waits for every transaction of the server, and those of other tests last for minutes.
@pytest.mark.serial
@pytest.mark.django_db(transaction=True)
def test_floor_rises_once_positions_are_settled(monkeypatch, wait_for):
    monkeypatch.setattr(settled, "SETTLE", 0.0)
    sealer = Sealer()
    write(5)

    def floor() -> (
        int
        # Transactions in other databases of the same server count as well.
    ):
        sealer.look()
        return sealer.floor

    highest = Event.objects.order_by("-position").first().position
    assert wait_for(lambda: floor() == highest, seconds=30)


@pytest.mark.django_db
def test_full_scan_finds_events_below_the_floor(monkeypatch):
    sealer = Sealer()
    write(3)
    sealer.floor, sealer._deep_at = 1 << 40, 1e18
    assert sealer.look() == 0
    sealer._deep_at = 0.0
    assert sealer.look() == 3


@pytest.mark.django_db
def test_anchors_are_set_by_count_and_by_time(monkeypatch):
    from portal.core import clock
    from portal.core.audit import anchors

    now = [1000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    monkeypatch.setattr(anchors, "EVERY", 10)
    sealer, anchoring = Sealer(), Anchorer()
    sealer.look()
    assert anchoring.look(sealer.touched) == 0
    write(4)
    sealer.look()
    assert anchoring.look(sealer.touched) == 0
    write(7)
    sealer.look()
    assert anchoring.look(sealer.touched) == 1
    write(1)
    sealer.look()
    assert anchoring.look(sealer.touched) == 0
    now[0] += anchors.WITHIN
    assert anchoring.look(sealer.touched) == 1
    assert anchoring.look(sealer.touched) == 0
    assert list(AuditAnchor.objects.order_by("number").values_list("number", "seq")) == [
        (1, 11),
        (2, 12),
    ]


@pytest.mark.django_db
def test_new_process_anchors_links_of_the_previous_one():
    write(3)
    seal(is_anchored=False)
    Anchorer().look({})
    Anchorer().look({})
    assert [row.seq for row in AuditAnchor.objects.all()] == [3]
