"""Retention deletes from the start of a chain; the rest still verifies; faults are kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from portal.core import clock
from portal.core.audit import retention
from portal.core.audit.models import AuditAnchor, AuditLink, AuditPolicy
from portal.core.audit.retention import trim, trim_all
from portal.core.audit.verify import verify
from portal.core.models import Event
from tests.portal.core.audit.conftest import ORG, OTHER, seal, write


def grow_old(count: int, days: int = 100) -> None:
    """Backdate the first events before they are sealed."""
    old = list(
        Event.objects.filter(org_id=ORG)
        .order_by("position")
        .values_list("position", flat=True)[:count]
    )
    Event.objects.filter(position__in=old).update(at=F("at") - timedelta(days=days))


@pytest.fixture
def kept(db) -> AuditPolicy:
    """Create twelve old and eight new sealed events, kept for 90 days."""
    write(20)
    grow_old(12)
    seal()
    return AuditPolicy.objects.create(chain=ORG, keep_days=90)


def test_trim_deletes_old_events_and_rest_verifies(kept):
    assert trim(kept) == 12
    assert list(
        AuditLink.objects.filter(chain=ORG).order_by("seq").values_list("seq", flat=True)
    ) == list(range(13, 21))
    assert Event.objects.filter(org_id=ORG, kind="thing.changed").count() == 8
    seal()
    report = verify(ORG)
    assert (report.fault_count, report.first, report.last) == (0, 13, 21)


def test_trim_records_an_event(kept):
    trim(kept)
    [event] = Event.objects.filter(kind="audit.trimmed")
    assert (event.org_id, event.actor, event.data["events"], event.data["keep_days"]) == (
        ORG,
        "muster",
        12,
        90,
    )


def test_trim_twice_deletes_once(kept):
    trim(kept)
    assert trim(kept) == 0
    assert AuditAnchor.objects.filter(kind="cut").count() == 1
    assert Event.objects.filter(kind="audit.trimmed").count() == 1


def test_trim_without_policy_keeps_everything(kept):
    write(5, OTHER)
    Event.objects.filter(org_id=OTHER).update(at=clock.now() - timedelta(days=5000))
    seal()
    assert trim_all() == 12
    assert Event.objects.filter(org_id=OTHER).count() == 5
    AuditPolicy.objects.filter(chain=ORG).update(keep_days=None)
    assert trim_all() == 0


def test_trim_keeps_unsealed_events(db):
    write(4)
    grow_old(4)
    assert trim(AuditPolicy.objects.create(chain=ORG, keep_days=90)) == 0


def test_chain_trimmed_completely_continues_from_its_end(db):
    write(4)
    grow_old(4)
    seal()
    trim(AuditPolicy.objects.create(chain=ORG, keep_days=90))
    write(1)
    seal()
    assert AuditLink.objects.filter(chain=ORG).order_by("seq").values_list("seq", flat=True)[0] == 5
    assert verify(ORG).fault_count == 0


def test_trim_deletes_in_pages(kept, monkeypatch):
    monkeypatch.setattr(retention, "PAGE", 5)
    assert trim(kept) == 12
    assert list(
        AuditAnchor.objects.filter(kind="cut").order_by("number").values_list("seq", flat=True)
    ) == [5, 10, 12]
    seal()
    assert verify(ORG).fault_count == 0


def test_trim_stops_at_a_fault_and_reports_it(kept):
    position = AuditLink.objects.get(chain=ORG, seq=4).position
    Event.objects.filter(position=position).update(actor="eve@atlas.example")
    assert trim(kept) == 3
    kept.refresh_from_db()
    assert "#4" in kept.trouble
    assert [(fault.kind, fault.seq) for fault in verify(ORG).faults] == [("changed", 4)]


def test_forged_cut_is_reported(kept):
    row = AuditLink.objects.get(chain=ORG, seq=6)
    positions = list(
        AuditLink.objects.filter(chain=ORG, seq__lte=6).values_list("position", flat=True)
    )
    AuditAnchor.objects.create(
        chain=ORG, number=2, kind="cut", seq=6, hash=bytes(row.hash), mac=b"x" * 32
    )
    AuditLink.objects.filter(position__in=positions).delete()
    Event.objects.filter(position__in=positions).delete()
    assert [fault.kind for fault in verify(ORG).faults] == ["forged"]
