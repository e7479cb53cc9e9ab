"""Channels: signed, safe from SSRF, retried, disabled after long failure, with a log."""

from __future__ import annotations

import hmac
import socket
import time
from datetime import timedelta

import pytest

from notifications.models import Channel, Delivery, Notification
from notifications.services import sending
from portal.core import addresses, clock
from portal.core.models import Event
from tests.deliver import consume, deliver
from tests.jobs.stage import cluster_with, submit
from tests.notifications.conftest import fail
from tests.stand_in import StandIn
from workspaces.models import TeamMembership
from workspaces.tenancy.scope import platform_scope

CHANNELS = "/api/v1/orgs/atlas/notification-channels"


def add(story, url, person=None, *, kind="webhook", **more):
    client = story.api(person or story.ben)
    body = {"kind": kind, "url": url, **more}
    return client.post(CHANNELS, body, content_type="application/json")


def log(story, person=None) -> list[dict]:
    client = story.api(person or story.ben)
    [channel] = client.get(CHANNELS).json()["items"]
    return client.get(f"{CHANNELS}/{channel['id']}").json()["deliveries"]


def test_webhook_is_signed_and_carries_an_idempotency_key(story, failed, hook):
    made = add(story, f"{hook.url}/in?x=1").json()
    job = failed()
    deliver()
    deliver()
    [(path, headers, body, raw)] = hook.requests
    assert path == "/in?x=1" and body["kind"] == "job_failed"
    assert body["url"].endswith(f"/atlas/jobs/{job.number}") and body["organization"] == "Atlas"
    stamp, _, mac = headers["Muster-Signature"].removeprefix("t=").partition(",v1=")
    key = made["signing_key"].encode()
    assert mac == hmac.new(key, f"{stamp}.".encode() + raw, "sha256").hexdigest()
    assert headers["Idempotency-Key"] == headers["Muster-Delivery"] == body["id"]
    [entry] = log(story)
    assert (entry["state"], entry["status"]) == ("sent", 204)
    shown = story.api(story.ben).get(CHANNELS).content.decode()
    assert made["signing_key"] not in shown and "/in?x=1" not in shown, "neither is shown again"


def test_slack_and_teams_get_their_formats(story, failed, hook):
    add(story, f"{hook.url}/slack", kind="slack")
    add(story, f"{hook.url}/teams", kind="teams", team="vision", person=story.ada)
    job = failed()
    deliver()
    bodies = {path: body for path, _, body, _ in hook.requests}
    assert f"#{job.number} {job.name} failed" in bodies["/slack"]["blocks"][0]["text"]["text"]
    card = bodies["/teams"]["attachments"][0]["content"]
    assert card["type"] == "AdaptiveCard" and card["actions"][0]["url"].endswith(f"/{job.number}")


HOSTILE = [
    "https://127.0.0.1/x",
    "https://localhost/x",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/x",
    "https://[::ffff:10.0.0.1]/x",
    "https://0x7f000001/x",
    "https://2130706433/x",
    "https://inside.example.org/x",
]


@pytest.mark.parametrize("url", HOSTILE)
def test_addresses_inside_the_network_are_never_contacted(story, failed, monkeypatch, url):
    real, contacted = socket.getaddrinfo, []
    stand_in = StandIn(
        socket,
        getaddrinfo=lambda host, *a, **k: real(
            "10.1.2.3" if "example.org" in str(host) else host, *a, **k
        ),
        create_connection=lambda address, *_, **__: contacted.append(address),
    )
    monkeypatch.setattr(addresses, "socket", stand_in)
    assert add(story, url).status_code == 201
    failed()
    deliver()
    [entry] = log(story)
    assert entry["state"] == "waiting" and "MUSTER_WEBHOOK_HOSTS" in entry["trouble"]
    assert contacted == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/x",
        "https://user:pass@example.org/",
        "ftp://example.org/",
        "https:///x",
        "https://example.org/#x",
        "https://exa mple.org/",
        "file:///etc/passwd",
        "https://example.org/" + "x" * 500,
    ],
)
def test_invalid_addresses_are_refused(story, url):
    answer = add(story, url)
    assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == "url"


def test_redirects_are_not_followed(story, failed, hook, settings):
    hook.status, hook.location = 302, "http://169.254.169.254/latest"
    add(story, hook.url)
    failed()
    deliver()
    assert [entry["status"] for entry in log(story)] == [302] and len(hook.requests) == 1


def test_failing_channel_backs_off_disables_and_continues_when_enabled(story, failed, hook):
    hook.status = 500
    made = add(story, hook.url).json()
    now = clock.now()
    failed()
    for minutes in range(0, 5 * 24 * 60, 90):
        with clock.frozen(now + timedelta(minutes=minutes)):
            if minutes % (24 * 60) == 0 and minutes:
                failed()
            consume()
            sending.send_to_channels()
    assert 30 < len(hook.requests) < 150, "it backs off"
    with platform_scope("test"):
        row = Channel.objects.get()
        assert (
            row.disabled_at
            and Event.objects.filter(kind="notification_channel.disabled").count() == 1
        )
        told = Notification.objects.get(kind="channel_disabled")
        assert told.user_id == story.ben.id and str(row.id) in told.path
    seen, hook.status = len(hook.requests), 204
    with clock.frozen(now + timedelta(days=5)):
        sending.send_to_channels()
        assert len(hook.requests) == seen, "a disabled channel gets nothing"
        story.api(story.ben).patch(
            f"{CHANNELS}/{made['id']}", {"is_enabled": True}, content_type="application/json"
        )
        sending.send_to_channels()
    assert len(hook.requests) > seen, "what still waited is sent"


def test_one_bad_channel_delays_no_other(story, failed, hook):
    add(story, "https://127.0.0.1:1/x")
    add(story, hook.url, person=story.ada)
    failed(), failed(story.ada)
    deliver()
    assert len(hook.requests) == 1


def test_crash_between_sending_and_marking_repeats_the_key(story, failed, hook, monkeypatch):
    add(story, hook.url)
    failed()
    consume()
    real = sending._note
    monkeypatch.setattr(sending, "_note", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sending.send_to_channels()
    monkeypatch.setattr(sending, "_note", real)
    sending.send_to_channels()
    assert len(hook.requests) == 2
    assert len({headers["Idempotency-Key"] for _, headers, _, _ in hook.requests}) == 1


def test_page_adds_tests_redelivers_and_deletes_a_channel(story, failed, hook):
    ben = story.client(story.ben)
    form = {"kind": "webhook", "url": hook.url, "name": "my bot", "kinds": ["job_failed"]}
    page = ben.post("/atlas/notification-channels", form | {"once": "a"}).content.decode()
    assert "mhk_" in page and "Copy it now" in page
    again = ben.post("/atlas/notification-channels", form | {"once": "a"}).content.decode()
    assert "mhk_" not in again
    with platform_scope("test"):
        row = Channel.objects.get()
    path = f"/atlas/notification-channels/{row.id}"
    ben.post(path, {"do": "test"})
    deliver()
    assert hook.requests[0][2]["is_test"] is True
    assert "delivered" in ben.get(path).content.decode()
    ben.post(path, {"do": "redeliver", "delivery": str(Delivery.objects.get().id)})
    deliver()
    assert hook.requests[0][1]["Idempotency-Key"] == hook.requests[1][1]["Idempotency-Key"]
    ben.post(path, {"do": "save", "name": "bot", "kinds": ["budget"]})
    failed()
    deliver()
    assert len(hook.requests) == 2, "no longer wanted"
    assert "bot" in ben.get("/atlas/notification-channels").content.decode()
    ben.post(path, {"do": "delete"})
    assert ben.get(path).status_code == 404 and not Delivery.objects.filter(channel=row.id)


def test_channels_belong_to_their_person_or_the_leads_of_their_team(story, hook):
    mine = add(story, hook.url).json()
    team = add(story, hook.url, person=story.ada, team="vision").json()
    assert add(story, hook.url, team="vision").status_code == 403, "Ben is no lead"
    for person, org, channel in (
        (story.ada, "atlas", mine),
        (story.ben, "atlas", team),
        (story.cyd, "borealis", mine),
    ):
        path = f"/api/v1/orgs/{org}/notification-channels/{channel['id']}"
        client = story.api(person)
        assert client.get(path).status_code == 404
        assert client.post(f"{path}/test").status_code == 404
        assert client.delete(path).status_code == 404
    assert [row["id"] for row in story.api(story.ada).get(CHANNELS).json()["items"]] == [team["id"]]


def test_name_of_a_job_is_no_link_in_teams(story, hook):
    cluster_with(gpus=1)
    name = "[Sign in](https://evil.example)"
    job = submit(story, person=story.ben, name=name)
    add(story, hook.url, kind="teams")
    fail(job)
    deliver()
    card = hook.requests[0][2]["attachments"][0]["content"]
    assert {block["type"] for block in card["body"]} == {"RichTextBlock"}, "reads no Markdown"
    assert name in card["body"][0]["inlines"][0]["text"]


def test_log_of_a_channel_hides_what_its_person_may_no_longer_see(story, failed, hook):
    add(story, hook.url)
    title = f"#{failed().number} "
    deliver()
    assert len(log(story)) == 1
    with platform_scope("test"):
        TeamMembership.objects.filter(user=story.ben).delete()
    assert log(story) == []
    page = story.client(story.ben)
    [channel] = story.api(story.ben).get(CHANNELS).json()["items"]
    assert title not in page.get(f"/atlas/notification-channels/{channel['id']}").content.decode()


def test_slow_channels_keep_the_lease(story, failed, hook, monkeypatch):
    add(story, hook.url)
    failed()
    consume()
    real, calls = sending.post, []

    def slow(*args, **given):
        time.sleep(0.5)
        return real(*args, **given)

    monkeypatch.setattr(sending, "post", slow)
    monkeypatch.setattr(sending, "RENEW", 0.1)
    assert sending.send_to_channels(lambda: not calls.append(1)) == 1
    assert len(calls) > 4, "it is renewed while the channel is awaited"


def test_team_channel_of_a_lead_who_left_is_disabled_until_another_lead_enables_it(
    story, failed, hook
):
    with platform_scope("test"):
        TeamMembership.objects.filter(user=story.ben, team=story.vision).update(role="lead")
    made = add(story, hook.url, team="vision").json()
    failed()
    deliver()
    assert len(hook.requests) == 1
    with platform_scope("test"):
        TeamMembership.objects.filter(user=story.ben, team=story.vision).update(role="member")
    failed()
    deliver()
    deliver()
    assert len(hook.requests) == 1, "a member no longer gets what the team gets"
    ada, path = story.api(story.ada), f"{CHANNELS}/{made['id']}"
    row = ada.get(path).json()
    assert not row["is_enabled"] and story.ben.email in row["trouble"]
    assert Notification.objects.filter(kind="channel_disabled", user=story.ada).count() == 1
    ada.patch(path, {"is_enabled": True}, content_type="application/json")
    deliver()
    assert len(hook.requests) == 2, "what waited is sent"
