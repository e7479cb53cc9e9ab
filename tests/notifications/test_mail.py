"""Mail of notifications: at once or as a digest, quiet hours, faults, unsubscribing."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from notifications.models import Delivery, Preference
from notifications.services import sending
from portal.core import clock
from portal.web.form_errors import form_error_of
from tests.deliver import consume, deliver
from workspaces.models import TeamMembership
from workspaces.tenancy.scope import org_scope

SETTINGS = "/api/v1/me/notification-settings"


def change(story, **given) -> dict:
    answer = story.api(story.ben).patch(SETTINGS, given, content_type="application/json")
    assert answer.status_code == 200, answer.json()
    return answer.json()


def parts(mail) -> tuple[str, str]:
    text, html = mail.iter_parts()
    return text.get_content(), html.get_content()


def test_failed_job_is_mailed_once_with_text_html_and_unsubscribe(story, failed, post):
    job = failed()
    deliver()
    deliver()
    [mail] = post.mails
    assert mail["To"] == story.ben.email and mail["Subject"] == f"#{job.number} {job.name} failed"
    text, html = parts(mail)
    assert "exit 3" in text and f"/atlas/jobs/{job.number}" in text and "<html lang" in html
    link = re.fullmatch(r"<(http\S+)>", mail["List-Unsubscribe"].strip())[1]
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click" and link in text
    assert link in html
    row = Delivery.objects.get()
    assert row.state == "sent" and mail["Message-ID"].startswith(f"<{row.id}.")


def test_unsubscribe_link_asks_and_one_click_ends_mail_without_sign_in(story, failed, post):
    failed()
    deliver()
    path = re.search(r"/accounts/unsubscribe/[^/>]+/", post.mails[0]["List-Unsubscribe"])[0]
    strangers = Client(enforce_csrf_checks=True)
    page = strangers.get(path).content.decode()
    assert "Stop mail to ben@atlas.example about: Job failed?" in page
    failed()
    deliver()
    assert len(post.mails) == 2, "looking changes nothing"
    failed()
    consume()
    assert strangers.post(path, {"List-Unsubscribe": "One-Click"}).status_code == 200
    failed()
    deliver()
    assert len(post.mails) == 2 and Delivery.objects.filter(state="dropped").count() == 1
    assert not change(story)["kinds"]["job_failed"]["email"]
    assert change(story)["kinds"]["idle_gpus"]["email"], "other kinds stay"
    strangers.post(path, {"what": "all"})
    assert not any(ways["email"] for ways in change(story)["kinds"].values())
    assert strangers.get(path[:-4] + "xxx/").status_code == 404
    # from a signed-in browser, which mail programs and people may use
    assert story.client(story.ada).post(path).status_code == 200


def test_digest_collects_mail_until_its_time_in_the_zone_of_the_person(story, failed, post):
    change(story, pace="daily", daily_at="07:30", time_zone="Asia/Seoul")
    with clock.frozen(datetime(2026, 3, 1, 12, 0, tzinfo=UTC)):
        failed(), failed()
        deliver()
        assert post.mails == []
    with clock.frozen(datetime(2026, 3, 1, 22, 31, tzinfo=UTC)):
        deliver()
    [mail] = post.mails
    assert mail["Subject"].startswith("2 notifications: #1 ")
    assert "21:00 Asia/Seoul" in parts(mail)[0]


@pytest.mark.parametrize(
    ("at", "due"),
    [("12:00", "12:00"), ("13:30", "22:00"), ("21:59", "22:00"), ("22:00", "22:00")],
)
def test_quiet_hours_delay_mail_in_the_zone_of_the_person(story, failed, post, at, due):
    change(story, quiet_from="22:00", quiet_until="07:00", time_zone="Asia/Seoul")
    hour, minute = map(int, at.split(":"))
    with clock.frozen(datetime(2026, 3, 1, hour, minute, tzinfo=UTC)):
        failed()
        consume()
    assert f"{Delivery.objects.get().due_at:%H:%M}" == due


def test_dead_mail_server_delays_and_loses_nothing(story, failed, settings, hook):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    body = {"kind": "webhook", "url": hook.url}
    story.api(story.ben).post(
        "/api/v1/orgs/atlas/notification-channels", body, content_type="application/json"
    )
    failed()
    now = clock.now()
    with clock.frozen(now):
        deliver()
        deliver()
    row = Delivery.objects.get(channel=None)
    assert (row.state, row.tries) == ("waiting", 1) and row.due_at > now
    assert len(hook.requests) == 1, "channels go on"
    from tests.rig.receiver import mailbox

    with mailbox(settings) as box:
        for days in (0.1, 40):  # however long it lasts
            with clock.frozen(now + timedelta(days=days)):
                sending.forget()
                deliver()
    assert len(box.mails) == 1


def test_refused_recipient_fails_alone(story, failed, post):
    post.refused = {story.ben.email: "550 unknown"}
    failed(), failed(story.ada)
    deliver()
    assert [mail["To"] for mail in post.mails] == [story.ada.email]
    assert Delivery.objects.get(user=story.ben).state == "failed"
    post.refused = {story.ben.email: "451 later"}
    failed()
    deliver()
    assert Delivery.objects.filter(user=story.ben).latest("id").state == "waiting"


def test_crash_between_sending_and_marking_sends_again_with_the_same_id(
    story, failed, post, monkeypatch
):
    failed()
    consume()
    real = sending._set
    monkeypatch.setattr(sending, "_set", lambda *a, **f: 1 / 0 if f.get("sent_at") else None)
    with pytest.raises(ZeroDivisionError):
        sending.send_mail_due()
    monkeypatch.setattr(sending, "_set", real)
    sending.send_mail_due()
    sending.send_mail_due()
    assert len({mail["Message-ID"] for mail in post.mails}) == 1 and len(post.mails) == 2


def test_mail_is_written_in_the_language_of_the_person(story, failed, post):
    ben = story.client(story.ben)
    ben.get("/atlas/notifications/unread?zone=Asia/Tokyo", headers={"Accept-Language": "ja"})
    row = Preference.objects.get()
    assert (row.language, row.time_zone, row.is_chosen) == ("ja", "Asia/Tokyo", False)
    failed()
    deliver()
    assert 'lang="ja"' in parts(post.mails[0])[1] and "Asia/Tokyo" in parts(post.mails[0])[0]


def test_mail_waiting_for_somebody_who_lost_access_is_dropped(story, failed, post):
    failed()
    consume()
    with org_scope(story.atlas.id):
        TeamMembership.objects.filter(user=story.ben).delete()
    deliver()
    assert post.mails == [] and Delivery.objects.get().state == "dropped"


def test_settings_page_saves_and_refuses_what_cannot_be(story, post):
    ben, path = story.client(story.ben), "/atlas/notifications/settings"
    form = {
        "job_failed.in_app": "on",
        "job_succeeded.email": "on",
        "pace": "hourly",
        "daily_at": "09:00",
        "time_zone": "Asia/Seoul",
        "language": "ko",
        "quiet": "on",
        "quiet_from": "22:00",
        "quiet_until": "06:00",
    }
    assert ben.post(path, form).status_code == 302
    now = change(story)
    assert now["kinds"]["job_failed"] == {"in_app": True, "email": False}
    assert now["kinds"]["job_succeeded"] == {"in_app": False, "email": True}
    assert (now["pace"], now["quiet_until"], now["language"]) == ("hourly", "06:00", "ko")
    page = ben.get(path).content.decode()
    assert 'value="22:00"' in page and "gpu_unhealthy" not in page
    answer = ben.post(path, form | {"time_zone": "Mars/Olympus"}, follow=True)
    [error] = answer.context["messages"]
    assert form_error_of(error).field == "time_zone" and "must be a name" in error.message
    assert change(story)["time_zone"] == "Asia/Seoul"
    for bad in ({"pace": "never"}, {"kinds": {"x": {}}}, {"quiet_from": "25:00"}, {"kinds": 3}):
        answer = story.api(story.ben).patch(SETTINGS, bad, content_type="application/json")
        assert answer.status_code == 400, bad


@pytest.mark.parametrize("address", ["ben@example..org", "ben@example.org\nBcc: x@example.org"])
def test_impossible_address_delays_no_other_mail(story, failed, post, address):
    type(story.ben).objects.filter(id=story.ben.id).update(email=address)
    failed(), failed(story.ada)
    deliver()
    assert [mail["To"] for mail in post.mails] == [story.ada.email]
    assert Delivery.objects.get(user=story.ben, channel=None).state == "waiting"


def test_mail_refused_for_its_content_fails_alone_and_operators_see_why(story, failed, post):
    bad = failed()
    failed(), failed(story.ada)
    post.refused_content = {f"#{bad.number} {bad.name}": "554 5.7.1 looks like spam"}
    now = clock.now()
    for minutes in (0, 60):
        with clock.frozen(now + timedelta(minutes=minutes)):
            deliver()
    assert sorted(mail["To"] for mail in post.mails) == [story.ada.email, story.ben.email]
    [row] = Delivery.objects.filter(state="failed")
    assert row.title.startswith(f"#{bad.number} ") and row.tries == 1
    page = story.client(story.dot).get("/platform/").content.decode()
    assert "554 5.7.1 looks like spam" in page and row.title not in page
    post.refused_content = {"failed": "451 4.7.1 try later"}
    failed()
    with clock.frozen(now + timedelta(hours=2)):
        deliver()
    row = Delivery.objects.filter(user=story.ben).latest("id")
    assert row.state == "waiting" and row.due_at > now + timedelta(hours=2)
    post.refused_content = {}
    with clock.frozen(now + timedelta(hours=3)):
        deliver()
    assert len(post.mails) == 3
