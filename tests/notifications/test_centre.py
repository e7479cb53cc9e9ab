"""Events become notifications of the right people, each once; access is checked when read."""

from __future__ import annotations

import re
import uuid
from html import unescape

import pytest
from django.db import transaction

from monitoring.live.topics import grant
from notifications.models import Cursor, HandledEvent, Notification
from notifications.services import consuming, inbox
from notifications.services.conditions import check_conditions
from notifications.services.grouping import common_name
from portal.core import clock, settled
from portal.core.errors import NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.models import Event
from tests.deliver import consume
from workspaces.access.actors import actor_of
from workspaces.models import Quota, TeamMembership
from workspaces.organizations.services import remove_team_member
from workspaces.tenancy.scope import org_scope, platform_scope

MINE = "/api/v1/me/notifications"


def listed(client) -> list[dict]:
    return client.get(MINE).json()["items"]


def test_failed_job_notifies_its_owner_once_and_nobody_else(story, failed):
    job = failed()
    consume()
    with transaction.atomic():  # as after a crash before the cursor moved
        HandledEvent.objects.all().delete()
        Cursor.objects.update(position=0)
    consume()
    [row] = listed(story.api(story.ben))
    assert row["title"] == f"#{job.number} {job.name} failed" and row["body"] == "exit 3"
    assert row["path"] == f"/atlas/jobs/{job.number}" and row["organization"] == "atlas"
    assert listed(story.api(story.ada)) == listed(story.api(story.cyd)) == []


# It waits for every transaction of the server, and those of other tests last for minutes.
@pytest.mark.serial
@pytest.mark.integration
def test_event_that_commits_late_is_not_lost(story, failed, monkeypatch):
    monkeypatch.setattr(settled, "SETTLE", 0.0)
    failed()
    consume()
    late = Event.objects.filter(kind="job.failed").get()
    newest = Event.objects.latest("position").position
    consumer = consuming.Consumer()
    for _ in range(3):
        consumer.look()
    assert Cursor.objects.get().position == newest and not HandledEvent.objects.exists()
    Notification.objects.all().delete()
    late.pk, late.id = newest + 5, uuid.uuid4()
    late.save(force_insert=True)
    late.pk, late.id = newest + 3, uuid.uuid4()  # appears below one that was handled already
    consumer.look()
    late.save(force_insert=True)
    consumer.look()
    consumer.look()
    assert Notification.objects.count() == 2


def test_notification_page_marks_read_filters_and_opens(story, failed):
    job = failed()
    failed()
    consume()
    ben = story.client(story.ben)
    assert ben.get("/atlas/notifications/unread?zone=Asia/Seoul").json() == {"unread": 2}
    page = ben.get("/atlas/notifications").content.decode()
    assert "exit 3" in page and "data-drawer-body" in page
    assert "Today" in page and f"2 jobs named “{job.name}” did not succeed" in page
    assert page.count("is-unread") == 1  # the row of both, which opens
    first = Notification.objects.order_by("id").first()
    answer = ben.get(f"/atlas/notifications/{first.id}")
    assert answer.status_code == 302 and answer["Location"] == f"/atlas/jobs/{job.number}"
    assert ben.get("/atlas/notifications/unread").json() == {"unread": 1}
    assert ben.get("/atlas/notifications?show=unread").content.decode().count("is-unread") == 1
    assert "Nothing here" in ben.get("/atlas/notifications?kind=budget").content.decode()
    ben.post("/atlas/notifications", {"do": "read-all"})
    assert ben.get("/atlas/notifications/unread").json() == {"unread": 0}
    both = [str(row.id) for row in Notification.objects.all()]
    ben.post("/atlas/notifications", {"do": "unread", "id": both})
    assert ben.get("/atlas/notifications/unread").json() == {"unread": 2}
    assert (
        "No notifications yet"
        in story.client(story.ada).get("/atlas/notifications").content.decode()
    )
    assert story.client(story.ada).get(f"/atlas/notifications/{first.id}").status_code == 404


def test_older_notifications_are_reached_by_the_link(story, failed, monkeypatch):
    monkeypatch.setattr(inbox, "PAGE", 1)
    first, second = failed(), failed()
    consume()
    ben, path = story.client(story.ben), "/atlas/notifications"
    for job in (second, first):
        page = ben.get(path).content.decode()
        assert page.count("is-unread") == 1 and f"#{job.number} " in page
        path = unescape(re.search(r'rel="next" href="([^"]+)"|$', page)[1] or "")
    assert path == ""


def test_person_who_lost_access_sees_nothing_of_the_object(story, failed):
    failed()
    consume()
    with org_scope(story.atlas.id):
        TeamMembership.objects.filter(user=story.ben).delete()
    ben = story.client(story.ben)
    assert ben.get("/atlas/notifications/unread").json() == {"unread": 0}
    assert listed(story.api(story.ben)) == []
    assert "exit 3" not in ben.get("/atlas/notifications").content.decode()
    row = Notification.objects.get()
    assert ben.get(f"/atlas/notifications/{row.id}").status_code == 404


def test_token_of_another_organization_sees_nothing_of_this_one(story, failed):
    failed()
    consume()
    with platform_scope("test"):
        from workspaces.models import Membership

        Membership.objects.create(org=story.borealis, user=story.ben, role="member")
    assert len(listed(story.api(story.ben))) == 1
    assert listed(story.api(story.ben, story.borealis)) == []


def test_only_the_person_may_watch_their_topic(story):
    topic = f"notifications:{story.ben.id.hex}"
    assert grant(actor_of(story.ben), topic).bus_topics == (topic,)
    for other in (story.ada, story.dot):
        with pytest.raises(NotFound):
            grant(actor_of(other), topic)


@pytest.mark.parametrize(
    ("kind", "data", "told"),
    [
        ("node.xid", {"code": 79, "gpu": 0, "meaning": "lost", "action": "drain"}, ["dot"]),
        ("node.xid", {"code": 13, "gpu": 0, "meaning": "bug", "action": "program"}, []),
        ("node.health_changed", {"after": {"state": "quarantined"}, "why": "ECC"}, ["dot"]),
        ("node.health_changed", {"after": {"state": "healthy"}}, []),
    ],
)
def test_unhealthy_hardware_notifies_operators(story, failed, kind, data, told):
    from clusters.models import Node

    node = Node.objects.first()
    record(EventRecord(kind, None, "node", node.id, "agent", data))
    consume()
    with platform_scope("test"):
        found = Notification.objects.filter(kind="gpu_unhealthy").values_list(
            "user__name", flat=True
        )
        assert [name.lower() for name in found] == told


def test_budget_event_notifies_owners_and_the_leads_of_the_team(story):
    data = {"team": "vision", "percent": 80, "anything": {"else": 1}}
    with platform_scope("test"):
        lead = TeamMembership.objects.get(user=story.ben)
        TeamMembership.objects.filter(id=lead.id).update(role="lead")
    record(EventRecord("budget.threshold_reached", story.atlas.id, "budget", None, "muster", data))
    record(EventRecord("budget.threshold_reached", story.atlas.id, "budget", None, "muster", {}))
    consume()
    with platform_scope("test"):
        rows = Notification.objects.order_by("title").values_list("user__name", "title")
        assert [(name, str(title)) for name, title in rows] == [
            ("Ada", "Atlas has used ?% of its budget"),
            ("Ada", "Vision has used 80% of its budget"),
            ("Ben", "Vision has used 80% of its budget"),
        ]


def test_what_lasts_is_reported_when_it_begins_and_again_after_it_was_over(story, failed):
    with platform_scope("test"):
        meter, _ = Quota.objects.update_or_create(
            org=story.atlas,
            scope="team",
            subject_id=story.vision.id,
            resource="storage",
            defaults={"limit": 100, "used": 95},
        )

        def check(used: int) -> int:
            Quota.objects.filter(id=meter.id).update(used=used)
            check_conditions()
            return Event.objects.filter(kind="quota.nearly_used").count()

        assert [check(n) for n in (95, 96, 50, 91)] == [1, 1, 1, 2]
    consume()
    [row, _] = listed(story.api(story.ada))
    assert row["title"] == "Vision has used 91% of the limit of storage"


def test_job_that_is_pending_for_long_notifies_its_owner_once(story, monkeypatch):
    from jobs.models import Attempt
    from tests.jobs.stage import cluster_with, submit

    cluster_with(gpus=1)
    job = submit(story, person=story.ben)
    check_conditions()
    assert not Event.objects.filter(kind="job.pending_long").exists()
    with platform_scope("test"):
        Attempt.objects.update(queued_at=clock.after(-3700))
    check_conditions()
    check_conditions()
    consume()
    [row] = listed(story.api(story.ben))
    assert row["title"] == f"#{job.number} {job.name} is still pending"


def test_requests_reach_those_who_decide_and_the_answer_those_who_asked(story):
    from workspaces.quotas.requests import decide, request_limit
    from workspaces.quotas.set_limits import set_quota

    with org_scope(story.atlas.id):
        ada, ben = story.actor(story.ada), story.actor(story.ben)
        set_quota(
            actor=ada, org=story.atlas, scope="team", subject="vision", resource="gpu", limit=2
        )
        row = request_limit(
            actor=ben,
            org=story.atlas,
            scope="team",
            subject="vision",
            resource="gpu",
            amount=6,
            why="a deadline",
        )
        consume()
        [asked] = listed(story.api(story.ada))
        assert asked["kind"] == "approval" and asked["body"] == "“a deadline”"
        decide(actor=ada, request_id=row.id, do="approve", word="ok")
    consume()
    [answer] = listed(story.api(story.ben))
    assert answer["title"] == "Your request for 6 GPUs for Vision was approved"
    assert (answer["body"], answer["path"]) == ("“ok”", "/atlas/quotas")


def test_removed_member_is_not_told(story, failed):
    failed()
    with org_scope(story.atlas.id):
        remove_team_member(actor=story.actor(story.ada), team=story.vision, email=story.ben.email)
    consume()
    assert not Notification.objects.exists()


def test_person_who_no_longer_leads_sees_no_budget(story):
    with platform_scope("test"):
        TeamMembership.objects.filter(user=story.ben).update(role="lead")
    data = {"team": "vision", "percent": 80}
    record(EventRecord("budget.threshold_reached", story.atlas.id, "budget", None, "muster", data))
    consume()
    [row] = listed(story.api(story.ben))
    assert "80%" in row["title"]
    with platform_scope("test"):
        TeamMembership.objects.filter(user=story.ben).update(role="member")
    assert listed(story.api(story.ben)) == []
    assert len(listed(story.api(story.ada))) == 1


@pytest.mark.parametrize(
    ("name", "stem"),
    [("lr-3", "lr"), ("train_12 (4)", "train"), ("x=1e-4", "x"), ("llama", "llama"), ("7", "7")],
)
def test_jobs_of_a_sweep_share_a_name_without_their_number(name, stem):
    title = Message("#{number} {name} failed", number=1, name=name)
    assert common_name(Notification(kind="job_failed", title=title)) == stem
