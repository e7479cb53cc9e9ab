"""Test that a followed log is byte-exact across outages."""

from __future__ import annotations

import random

import pytest

from muster import Client, NotFound, Unavailable, following
from muster.following import Follower, LogPiece
from tests.client.portal_double import Fault, PortalDouble
from tests.rig.seeds import courses

FAULTS: list[int | str] = ["drop", "cut", 503, 500, 429]


def grow(portal: PortalDouble, client: Client, whole: bytes, chance: random.Random) -> bytes:
    """Follow while the log grows randomly and random requests fail."""
    at, got = 0, b""
    follower = Follower(client.jobs, "1")
    while not follower.is_over:
        if at < len(whole):
            step = chance.randrange(1, 5000)
            portal.logs[1, 1].data = whole[: (at := at + step)]
        elif not portal.logs[1, 1].complete:
            portal.end(1, "succeeded")
        if chance.random() < 0.5:
            portal.faults.append(Fault(chance.choice(FAULTS), "/jobs"))
        piece = follower.next()
        got += piece.data
        follower.advance(piece)
    return got


@courses(range(5))
def test_follow_through_random_failures_is_byte_exact(
    portal: PortalDouble, client: Client, seed: int
):
    chance = random.Random(seed)
    whole = chance.randbytes(60_000)  # not text: the client must not decode it
    portal.add_job()
    assert grow(portal, client, whole, chance) == whole


def test_follow_reports_a_long_outage_once_and_resumes(portal: PortalDouble, client: Client):
    portal.add_job(log=b"one\n")
    follower = Follower(client.jobs, "1", attempt=1, follow_retries=True)
    follower.advance(follower.next())
    portal.faults.extend(Fault(503, "/logs") for _ in range(14))
    notes = [follower.next().note for _ in range(3)]
    portal.logs[1, 1].data += b"two\n"
    portal.end(1, "succeeded")
    assert [bool(note) for note in notes] == [True, False, False]
    assert b"".join(piece.data for piece in follower.pieces()) == b"two\n"


def test_follow_gives_up_after_a_permanent_outage(
    portal: PortalDouble, client: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(following, "PATIENCE", 0)
    portal.add_job(log=b"one\n")
    portal.faults.extend(Fault(503) for _ in range(30))
    with pytest.raises(Unavailable):
        list(client.jobs.follow(1))


def test_follow_repeats_a_chunk_that_was_not_written(portal: PortalDouble, client: Client):
    portal.add_job("succeeded", log=b"whole", complete=True)
    follower = Follower(client.jobs, "1")
    assert follower.next() == follower.next() == LogPiece(b"whole", "", 0, 1)


def test_follow_continues_into_the_next_attempt(portal: PortalDouble, client: Client):
    portal.add_job("failed", log=b"first\n", complete=True)
    portal.add_attempt(1, "succeeded", log=b"second\n", complete=True)
    portal.jobs[1]["state"] = "succeeded"
    follower = Follower(client.jobs, "1", attempt=1, follow_retries=True)
    pieces = list(follower.pieces())
    assert b"".join(piece.data for piece in pieces) == b"first\nsecond\n"
    assert "attempt 2 started" in [piece.note for piece in pieces]


def test_follow_waits_for_a_pending_retry(portal: PortalDouble, client: Client):
    portal.add_job("failed", log=b"first\n", complete=True)
    portal.jobs[1]["state"] = "queued"
    follower = Follower(client.jobs, "1", attempt=1, follow_retries=True)
    got = [follower.next() for _ in range(1)]
    follower.advance(got[0])
    for _ in range(5):
        assert follower.next().data == b""
    portal.add_attempt(1, "running", log=b"second\n")
    portal.end(1, "succeeded")
    assert b"".join(piece.data for piece in follower.pieces()) == b"second\n"


def test_follow_named_attempt_ends_with_it(portal: PortalDouble, client: Client):
    portal.add_job("failed", log=b"first\n", complete=True)
    portal.add_attempt(1, "running", log=b"second\n")
    assert b"".join(client.jobs.follow(1, attempt=1)) == b"first\n"


def test_follow_starts_at_the_given_offset(portal: PortalDouble, client: Client):
    portal.add_job("succeeded", log=b"0123456789", complete=True)
    assert b"".join(client.jobs.follow(1, after=4)) == b"456789"


def test_follow_reports_lost_bytes(portal: PortalDouble, client: Client):
    portal.add_job("succeeded", log=b"0123456789", complete=True)
    portal.logs[1, 1].lost = 4
    pieces = list(Follower(client.jobs, "1").pieces())
    assert b"".join(piece.data for piece in pieces) == b"456789"
    assert pieces[0].note == "bytes 0 to 4 were lost"


def test_follow_of_a_job_that_never_started_ends(portal: PortalDouble, client: Client):
    portal.add_job("queued")
    portal.end(1, "canceled")
    portal.logs[1, 1].complete = False
    follower = Follower(client.jobs, "1")
    assert b"".join(piece.data for piece in follower.pieces()) == b""
    assert follower.certificate_text == "The job never started, so it has no log."


def test_follow_reports_a_log_that_is_not_closed(
    portal: PortalDouble, client: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(following, "SEALING", 0.01)
    portal.add_job("failed", log=b"half")
    follower = Follower(client.jobs, "1")
    assert b"".join(piece.data for piece in follower.pieces()) == b"half"
    assert follower.certificate_text == "The job ended, but the rest of its log has not arrived."


@pytest.mark.parametrize("asked", [{"attempt": 9}, {"index": 3}])
def test_follow_unknown_job_is_not_found(portal: PortalDouble, client: Client, asked: dict):
    portal.add_job("succeeded", complete=True)
    portal.logs[1, 9] = portal.logs[1, 1].__class__()
    with pytest.raises(NotFound):
        list(client.jobs.follow(1, **asked))


def test_logs_returns_the_stored_log_in_pieces(portal: PortalDouble, client: Client):
    portal.add_job(log=(whole := random.Random(1).randbytes(9 << 20)))
    pieces = list(client.jobs.logs(1))
    assert b"".join(pieces) == whole
    assert len(pieces) == 3
