"""Verification detects and describes any tampering with the trail."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from portal.core import clock
from portal.core.audit.canonical import (
    NO_ORG,
    canonical,
    columns,
    event_table,
    initial_hash,
    next_hash,
    read,
)
from portal.core.audit.models import AuditAnchor, AuditCheck, AuditLink
from portal.core.audit.verify import VerificationReport, store_report, verify
from portal.core.events import EventRecord, record
from portal.core.models import Event
from tests.portal.core.audit.conftest import ORG, OTHER, seal, write


def found(chain=ORG) -> list[tuple[str, int]]:
    return [(fault.kind, fault.seq) for fault in verify(chain).faults]


def event(seq: int) -> Event:
    return Event.objects.get(position=AuditLink.objects.get(chain=ORG, seq=seq).position)


def forge_from(seq: int) -> None:
    """Recompute the chain, as an attacker with the database but without the key would."""
    from django.db import connection

    at = bytes(AuditLink.objects.get(chain=ORG, seq=seq - 1).hash) if seq > 1 else initial_hash(ORG)
    for link in AuditLink.objects.filter(chain=ORG, seq__gte=seq).order_by("seq"):
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {columns()} FROM {event_table()} e WHERE position = %s", [link.position]
            )
            [row] = read(cursor.fetchall())
        at = next_hash(at, canonical(row))
        AuditLink.objects.filter(position=link.position).update(hash=at)


def test_untouched_chain_has_no_faults(sealed):
    report = verify(sealed)
    assert (report.fault_count, report.events, report.first, report.last, report.unsealed) == (
        0,
        20,
        1,
        20,
        0,
    )
    assert report.words == "20 events, #1 to #20: 0 faults."


CHANGES = [
    {"actor": "eve@atlas.example"},
    {"address": "203.0.113.1"},
    {"on_behalf_of": "x"},
    {"via": "session"},
    {"kind": "thing.kept"},
    {"data": {"n": 6}},
    {"request_id": "another"},
    {"subject_id": OTHER},
    {"subject_type": "job"},
    {"org_id": OTHER},
    {"at": clock.now() - timedelta(seconds=30)},
]


@pytest.mark.both_databases  # each has its own SQL for reading events
def test_verify_detects_a_change_of_any_column(sealed):
    for change in CHANGES:
        with transaction.atomic():
            Event.objects.filter(position=event(7).position).update(**change)
            assert found() == [("changed", 7)], change
            assert "#7" in verify(ORG).faults[0].text
            transaction.set_rollback(True)


def test_verify_reads_all_pages(sealed, monkeypatch):
    for gone in ([], [4, 5, 6, 7, 8, 9, 10, 11, 12], [18, 19], [7]):
        with transaction.atomic():
            AuditLink.objects.filter(chain=ORG, seq__in=gone).delete()
            monkeypatch.setattr("portal.core.audit.verify.PAGE", 1000)
            whole = verify(sealed)
            for page in (1, 3, 20, 7):
                monkeypatch.setattr("portal.core.audit.verify.PAGE", page)
                paged = verify(sealed)
                assert (paged.faults, paged.events, paged.last) == (
                    whole.faults,
                    20 - len(gone),
                    20,
                ), (gone, page)
            assert bool(gone) == bool(whole.faults), gone
            transaction.set_rollback(True)


def test_verify_page_queries_are_bounded_and_skip_gaps(sealed, monkeypatch):
    monkeypatch.setattr("portal.core.audit.verify.PAGE", 4)
    AuditLink.objects.filter(chain=ORG, seq=20).update(seq=10**12)
    with CaptureQueriesContext(connection) as queries:
        assert ("missing", 20) in found()
    pages = [query["sql"] for query in queries if "l.seq >" in query["sql"]]
    assert len(pages) == 6 and all("l.seq <=" in sql for sql in pages)


def test_verify_reports_missing_event(sealed):
    event(7).delete()
    assert found() == [("missing", 7)]


@pytest.mark.parametrize(
    ("gone", "kind"), [([7], ("missing", 7)), ([7, 8, 9], ("missing", 7)), ([1, 2], ("missing", 1))]
)
def test_verify_reports_event_missing_with_its_link(sealed, gone, kind):
    for seq in gone:
        event(seq).delete()
        AuditLink.objects.filter(chain=ORG, seq=seq).delete()
    assert found()[0] == kind
    assert {fault for fault, _ in found()} <= {"missing", "changed"}


def test_verify_reports_swapped_events_as_reordered(sealed):
    first, second = AuditLink.objects.get(seq=5), AuditLink.objects.get(seq=9)
    AuditLink.objects.filter(seq__in=[5, 9]).delete()
    AuditLink.objects.bulk_create(
        [
            AuditLink(position=second.position, chain=ORG, seq=5, hash=first.hash),
            AuditLink(position=first.position, chain=ORG, seq=9, hash=second.hash),
        ]
    )
    assert found() == [("reordered", 5), ("reordered", 9)]


def test_verify_reports_recomputed_chain_as_rewritten(sealed):
    Event.objects.filter(position=event(7).position).update(actor="eve@atlas.example")
    forge_from(7)
    assert found() == [("rewritten", 20)]


def test_verify_reports_event_inserted_with_old_time(sealed):
    write(1)
    Event.objects.filter(position=Event.objects.order_by("-position").first().position).update(
        at=F("at") - timedelta(hours=3)
    )
    seal()
    assert found() == [("backdated", 21)]


def test_verify_reports_truncated_end(sealed):
    for seq in (18, 19, 20):
        event(seq).delete()
        AuditLink.objects.filter(chain=ORG, seq=seq).delete()
    assert found() == [("cut_off", 18)]
    assert "#18 to #20" in verify(ORG).faults[0].text


def test_verify_reports_completely_deleted_trail(sealed):
    Event.objects.all().delete()
    AuditLink.objects.all().delete()
    assert found() == [("missing", 1), ("cut_off", 1)]


def test_verify_reports_forged_anchor(sealed):
    AuditAnchor.objects.update(seq=19, hash=AuditLink.objects.get(seq=19).hash)
    assert ("forged", 19) in found()


def test_verify_reports_missing_anchor(sealed):
    for _ in range(2):
        write(2)
        seal()
    AuditAnchor.objects.filter(number=2).delete()
    kinds = [kind for kind, _ in found()]
    assert kinds == ["unanchored"]


def test_verify_reports_old_chain_without_anchors(sealed):
    AuditAnchor.objects.all().delete()
    assert found() == []
    later = timedelta(hours=1)
    original = clock.now
    try:
        clock.now = lambda: original() + later
        assert found() == [("unanchored", 1)]
    finally:
        clock.now = original


def test_anchors_stay_valid_after_key_rotation(sealed, settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = (
        "a new key, long enough to be one",
        [settings.SECRET_KEY],
    )
    assert found() == []
    settings.SECRET_KEY_FALLBACKS = []
    assert [kind for kind, _ in found()] == ["forged"]


def test_verify_reports_unsealed_events_once_they_are_old(sealed):
    write(2)
    report = verify(ORG)
    assert (report.unsealed, report.fault_count) == (2, 0)
    assert "2 not sealed yet" in report.words
    Event.objects.filter(position__gt=event(20).position).update(
        at=clock.now() - timedelta(hours=1)
    )
    assert found() == [("unsealed", 21)]


def test_verify_reports_missing_link_and_unsealed_event(sealed):
    Event.objects.filter(position=event(7).position).update(at=clock.now() - timedelta(hours=1))
    AuditLink.objects.filter(chain=ORG, seq=7).delete()
    assert [kind for kind, _ in found()][:1] == ["missing"]
    assert "unsealed" in [kind for kind, _ in found()]


def test_verify_counts_all_faults_and_keeps_the_first(sealed):
    write(400)
    seal()
    Event.objects.update(actor="eve@atlas.example")
    report = verify(ORG)
    assert report.fault_count == 420
    assert len(report.faults) == 200


def test_last_verification_is_stored(sealed):
    Event.objects.filter(position=event(7).position).update(actor="eve@atlas.example")
    store_report(verify(ORG))
    row = AuditCheck.objects.get(chain=ORG)
    assert (row.events, row.fault_count, row.faults[0]["kind"], row.faults[0]["seq"]) == (
        20,
        1,
        "changed",
        7,
    )


def test_empty_chain_has_no_faults(db):
    assert verify(NO_ORG).words == "There are no events."
    assert VerificationReport(OTHER).words == "There are no events."


def test_verify_chain_deleted_with_its_anchors_reports_tampering(sealed):
    for model in (Event, AuditLink, AuditAnchor):
        model.objects.all().delete()
    assert (
        found() == [("missing", 1)] and verify(ORG).words == "There are no sealed events: 1 fault."
    )
    record(
        EventRecord("audit.verification_asked", ORG, "audit", None)
    )  # by operator, who starts the chain
    seal()
    assert found() == [("missing", 1)]


def test_verify_command_prints_faults_and_exits_with_2(story, capsys):
    seal()
    call_command("verify_audit")
    output = capsys.readouterr().out
    assert (
        "atlas: " in output
        and "borealis: " in output
        and "platform: " in output
        and "0 faults" in output
    )
    link = AuditLink.objects.get(chain=story.atlas.id, seq=3)
    Event.objects.filter(position=link.position).update(actor="eve@atlas.example")
    with pytest.raises(SystemExit) as ended:
        call_command("verify_audit", org="atlas")
    assert ended.value.code == 2
    output = capsys.readouterr().out
    assert (
        "atlas: " in output
        and "1 fault" in output
        and "changed: #3:" in output
        and "borealis" not in output
    )
    call_command("verify_audit", org="borealis")


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "at",
    [
        "1969-12-31T23:59:59.999999",
        "2026-01-31T12:00:00.000001",
        "2026-01-31T12:00:00",
        "9999-12-31T23:59:59.999999",
    ],
)
def test_event_times_are_read_to_the_microsecond(sealed, at):
    when = datetime.fromisoformat(at).replace(tzinfo=UTC)
    position = event(7).position
    Event.objects.filter(position=position).update(at=when)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns()} FROM {event_table()} e WHERE position = %s", [position])
        [row] = read(cursor.fetchall())
    assert row[2] == when and f'"{at}Z"'.encode() in canonical(row)
