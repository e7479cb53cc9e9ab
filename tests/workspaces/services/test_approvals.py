"""The workflow of requests, by a kind that only the tests have."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from notifications.kinds import MAPPERS
from portal.core import clock
from portal.core.errors import Conflict, NotFound, NotPermitted
from portal.core.messages import Message
from portal.core.models import Event
from tests.deliver import deliver
from workspaces.access.permissions import Permission
from workspaces.approvals import kinds, selectors
from workspaces.approvals.notices import notices_of
from workspaces.approvals.services import decide_request, submit_request
from workspaces.models import Approval
from workspaces.tasks import end_approvals
from workspaces.tenancy.scope import org_scope, platform_scope

ROOM = UUID(int=7)


class Keys(kinds.ApprovalKind[Approval]):
    """A key of a room: everything that a new kind needs."""

    name = "key"
    title = Message("Key")
    decides = Permission.MEMBERS_WRITE
    held: set[UUID] = set()

    def apply(self, actor, row, do, terms):
        if do == "approve":
            self.held.add(row.subject_id)

    def end(self, row):
        self.held.discard(row.subject_id)


KEYS = Keys()


@pytest.fixture
def atlas(story, monkeypatch, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    every = (*kinds.kinds(), KEYS)
    monkeypatch.setattr(kinds, "declared", lambda *_: every)
    for what in selectors.NOTIFIED:
        monkeypatch.setitem(MAPPERS, KEYS.event_kind(what), notices_of)
    KEYS.held.clear()
    with org_scope(story.atlas.id):
        yield story


def ask(story, **more):
    row = Approval(
        org=story.atlas,
        kind="key",
        asker=story.ben,
        subject_id=ROOM,
        subject="Room 7",
        why="a talk",
        **more,
    )
    return submit_request(actor=story.actor(story.ben), kind=KEYS, row=row)


def decide(story, person, row, do, word=""):
    return decide_request(actor=story.actor(person), kind=KEYS, request_id=row.id, do=do, word=word)


def test_approval_is_applied_ends_and_tells_its_history(atlas, monkeypatch):
    row = ask(atlas, expires_at=clock.now() + timedelta(days=3))
    with pytest.raises(Conflict, match="still open"):
        ask(atlas)
    deliver()
    row = decide(atlas, atlas.ada, row, "approve", "welcome\x07")
    assert (row.state, row.decided_by, KEYS.held) == ("approved", atlas.ada.email, {ROOM})
    deliver()
    assert [sent.subject for sent in mail.outbox] == [
        "Ben asks for Key: Room 7",
        "Approved: Key: Room 7",
    ]
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(days=4))
    end_approvals()
    end_approvals()
    row.refresh_from_db()
    assert (row.state, KEYS.held) == ("ended", set())
    assert [(str(e["text"]), e["word"]) for e in selectors.history_of(KEYS, row)] == [
        ("Ended on its date", ""),
        ("Approved", "welcome"),
        ("Requested", "a talk"),
    ]
    kept = Event.objects.filter(subject_id=row.id).values_list("kind", flat=True)
    assert list(kept) == ["key.requested", "key.request_approved", "key.expired"]


def test_undecided_request_expires_and_another_can_follow(atlas):
    row = ask(atlas, expires_at=clock.now() - timedelta(seconds=1))
    end_approvals()
    row.refresh_from_db()
    assert row.state == "expired"
    with pytest.raises(Conflict, match="decided already"):
        decide(atlas, atlas.ada, row, "approve")
    assert decide(atlas, atlas.ben, ask(atlas), "withdraw").state == "withdrawn"
    assert KEYS.held == set()


def test_only_deciders_decide_and_a_lost_race_changes_nothing(atlas):
    row = ask(atlas)
    for do in ("approve", "decline"):
        with pytest.raises(NotPermitted):
            decide(atlas, atlas.ben, row, do)
    with org_scope(atlas.borealis.id), pytest.raises(NotFound):
        decide_request(actor=atlas.actor(atlas.cyd), kind=KEYS, request_id=row.id, do="withdraw")
    decide(atlas, atlas.ada, row, "decline")
    row.state = "open"  # as somebody read it before
    monkey = KEYS.locked
    KEYS.locked = lambda *_: row  # type: ignore[method-assign]
    try:
        with pytest.raises(Conflict, match="decided already"):
            decide(atlas, atlas.ada, row, "approve")
    finally:
        KEYS.locked = monkey  # type: ignore[method-assign]
    assert Approval.objects.get(id=row.id).state == "declined"


def test_new_kind_has_pages_and_api_without_more(story, atlas):
    row = ask(atlas)
    ben, ada = story.client(story.ben), story.api(story.ada)
    here, api = f"/atlas/approvals/key/{row.id}", f"/api/v1/orgs/atlas/approvals/key/{row.id}"
    assert "Room 7" in ben.get("/atlas/approvals").content.decode()
    shown = story.client(story.ada).get(here).content.decode()
    asked = ben.get(here).content.decode()
    assert "Approve" in shown and "Approve" not in asked and "Waiting for an admin" in asked
    ben.post(here, {"do": "comment", "word": "Is it free?"})
    [listed] = ada.get("/api/v1/orgs/atlas/approvals").json()["items"]
    assert (listed["text"], listed["may"]) == ("Key: Room 7", ["approve", "decline", "withdraw"])
    done = ada.post(api, {"do": "approve", "word": "yes"}, content_type="application/json").json()
    assert (done["state"], done["may"]) == ("approved", [])
    assert [e["word"] for e in done["history"]] == ["yes", "Is it free?", "a talk"]
    assert "Is it free?" in ben.get(here).content.decode()
    assert story.client(story.cyd).get(here.replace("atlas", "borealis")).status_code == 404
    deliver()
    subjects = [(sent.to[0], sent.subject) for sent in mail.outbox]
    assert (story.ada.email, "Comment: Key: Room 7") in subjects
    assert (story.ben.email, "Comment: Key: Room 7") not in subjects


@pytest.mark.integration
@pytest.mark.django_db(transaction=True)
def test_upgrade_keeps_approvals_of_versions(story):
    call_command("migrate", "registry", "0001_initial", verbosity=0)
    apps = MigrationLoader(connection).project_state(
        [("registry", "0001_initial"), ("workspaces", "0003_token_cluster")]
    ).apps  # fmt: skip
    with platform_scope("test"):
        model = apps.get_model("registry", "RegisteredModel").objects.create(
            org_id=story.atlas.id, team_id=story.vision.id, owner_id=story.ben.id, name="digits"
        )
        versions = apps.get_model("registry", "ModelVersion").objects
        states = ("none", "requested", "approved", "rejected")
        for number, state in enumerate(states, start=1):
            versions.create(
                org_id=story.atlas.id,
                model_id=model.id,
                version=number,
                owner_id=story.ben.id,
                approval=state,
                requested_by_id=None if state == "none" else story.ben.id,
                requested_at=clock.now(),
                approval_by="" if state == "requested" else "ada@atlas.example",
                approval_note=f"note of {state}",
            )
    call_command("migrate", verbosity=0)
    answer = story.api(story.ben).get("/api/v1/orgs/atlas/models/vision/digits/versions").json()
    found = {row["approval"]["state"]: row["approval"] for row in answer["items"]}
    assert set(found) == set(states)
    assert {state: (one["requested_by"], one["by"], one["note"]) for state, one in found.items()} == {
        "none": (None, None, ""),
        "requested": (story.ben.email, None, "note of requested"),
        "approved": (story.ben.email, "ada@atlas.example", "note of approved"),
        "rejected": (story.ben.email, "ada@atlas.example", "note of rejected"),
    }  # fmt: skip
