"""Announcements: authors, readers, times, and plain text."""

from __future__ import annotations

from datetime import timedelta

import pytest

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from tests.each import each
from workspaces.models import Announcement
from workspaces.organizations import announcement_services
from workspaces.organizations.announcement_services import MAX_ANNOUNCEMENTS
from workspaces.organizations.announcements import announced_to
from workspaces.tenancy.scope import org_scope

HOUR = timedelta(hours=1)
ATTACK = """<script>alert(1)</script><img src=x onerror="alert(2)">{{ org }}"""


def announce(story, text="Maintenance tonight", *, by=None, wide=False, **more):
    return announcement_services.announce(
        actor=story.actor(by or story.ada), org=None if wide else story.atlas, text=text, **more
    )


def read_by(story, person, path="/atlas/teams"):
    return story.client(person).get(path).content.decode()


def test_announcement_of_owner_is_visible_in_organization_only(story):
    announce(story)
    assert "Maintenance tonight" in read_by(story, story.ben)
    assert "Maintenance tonight" not in read_by(story, story.cyd, "/borealis/teams")


def test_announcement_of_operator_is_visible_to_everybody(story):
    with org_scope(story.atlas.id):
        announce(story, by=story.dot, wide=True)
    assert "Maintenance tonight" in read_by(story, story.cyd, "/borealis/teams")
    assert "Maintenance tonight" in read_by(story, story.ben, "/accounts/sessions/")
    assert "Maintenance tonight" not in story.client().get("/accounts/login/").content.decode()


def test_announcement_owner_cannot_manage_those_of_installation(story):
    with pytest.raises(NotPermitted):
        announce(story, wide=True)
    row = announce(story, by=story.dot, wide=True)
    with pytest.raises(NotPermitted):
        announcement_services.withdraw_announcement(
            actor=story.actor(story.ada), org=story.atlas, pk=row.id
        )
    assert Announcement.objects.count() == 1


def test_announcement_member_is_denied_other_org_is_not_found(story):
    with pytest.raises(NotPermitted):
        announce(story, by=story.ben)
    row = announce(story)
    with pytest.raises(NotFound):
        announcement_services.withdraw_announcement(
            actor=story.actor(story.cyd), org=story.borealis, pk=row.id
        )


def test_announcement_is_shown_between_start_and_end(story):
    now = clock.now()
    announce(story, "tomorrow", begins_at=now + HOUR)
    soon = announce(story, "short", ends_at=now + HOUR)
    announce(story, "for good")
    assert {row.text for row in announced_to(story.atlas.id, ())} == {"short", "for good"}
    Announcement.objects.filter(id=soon.id).update(ends_at=now - HOUR)
    assert [row.text for row in announced_to(story.atlas.id, ())] == ["for good"]
    with pytest.raises(InvalidInput, match="future"):
        announce(story, "past", ends_at=now - HOUR)


def test_announcements_are_ordered_by_severity(story):
    for level in ("note", "trouble", "warning"):
        announce(story, level, level=level)
    assert [row.text for row in announced_to(story.atlas.id, ())] == ["trouble", "warning", "note"]


@each("text", ["", "   ", "x" * 301, "a\x00b", "turned \u202e round", "bell\x07"])
def test_announcement_invalid_text_is_rejected(story, text):
    with pytest.raises(InvalidInput):
        announce(story, text)


def test_announcement_markup_is_escaped(story):
    announce(story, ATTACK)
    for person, path in ((story.ben, "/atlas/teams"), (story.ada, "/atlas/announcements")):
        page = read_by(story, person, path)
        assert (
            "&lt;script&gt;alert(1)" in page
            and "<script>alert(1)" not in page
            and "<img src=x" not in page
        )


def test_announcement_dismissal_is_per_session(story):
    row, ben = announce(story), story.client(story.ben)
    answer = ben.post(f"/accounts/announcements/{row.id}/dismiss/", {"back": "/atlas/people?x=1"})
    assert (answer.status_code, answer["Location"]) == (302, "/atlas/people?x=1")
    assert "Maintenance tonight" not in ben.get("/atlas/teams").content.decode()
    assert "Maintenance tonight" in read_by(story, story.ben)


@each(
    "back",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""],
)
def test_announcement_dismissal_does_not_redirect_elsewhere(story, back):
    row = announce(story)
    answer = story.client(story.ben).post(
        f"/accounts/announcements/{row.id}/dismiss/", {"back": back}
    )
    assert answer["Location"] == "/"


def test_announcement_publish_and_withdraw_are_recorded(story):
    row = announce(story, level="warning")
    announcement_services.withdraw_announcement(
        actor=story.actor(story.ada), org=story.atlas, pk=row.id
    )
    wide = announce(story, "All of you", by=story.dot, wide=True)
    made, gone, all_of = Event.objects.filter(subject_type="announcement").order_by("position")
    assert (made.kind, made.actor, made.data["after"]["text"]) == (
        "announcement.made",
        "ada@atlas.example",
        "Maintenance tonight",
    )
    assert (gone.kind, gone.data["before"]["level"], gone.org_id) == (
        "announcement.withdrawn",
        "warning",
        story.atlas.id,
    )
    assert (all_of.subject_id, all_of.org_id, all_of.actor) == (
        wide.id,
        None,
        "dot@platform.example",
    )


def test_announcements_above_maximum_are_rejected(story):
    for n in range(MAX_ANNOUNCEMENTS):
        announce(story, f"line {n}")
    with pytest.raises(Conflict, match="already"):
        announce(story, "one more")


def test_announcement_page_reads_times_as_utc(story):
    ada = story.client(story.ada)
    ada.post(
        "/atlas/announcements",
        {
            "text": "Later",
            "level": "trouble",
            "from": "2031-01-02T03:04",
            "until": "2031-01-03T03:04",
        },
    )
    row = Announcement.objects.get()
    assert (row.begins_at.isoformat(), row.ends_at.isoformat()) == (
        "2031-01-02T03:04:00+00:00",
        "2031-01-03T03:04:00+00:00",
    )
    page = ada.post(
        "/atlas/announcements", {"text": "x", "from": "soon"}, follow=True
    ).content.decode()
    assert "is no date and time" in page and Announcement.objects.count() == 1


@each(
    ("name", "moment"),
    [
        ("until", "9999-12-31T23:59-05:00"),
        ("until", "9999-12-31T23:59"),
        ("from", "0001-01-01T00:00+05:00"),
        ("from", "9999-12-31T23:59-05:00"),
        ("from", "0001-01-01T00:00"),
        ("until", "2227-01-01T00:00"),
    ],
)
def test_announcement_far_date_is_rejected(story, name, moment):
    ada = story.client(story.ada)
    answer = ada.post("/atlas/announcements", {"text": "For ever", name: moment}, follow=True)
    assert answer.status_code == 200 and not Announcement.objects.exists()
    assert "That is announced" not in answer.content.decode()
    assert ada.get("/atlas/announcements").status_code == 200
    with pytest.raises(InvalidInput, match="hundred years"):
        announce(story, ends_at=clock.now() + timedelta(days=36_501))
