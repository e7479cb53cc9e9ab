"""Audit retention and forwarding: changes are recorded, and secrets are shown once."""

from __future__ import annotations

import json

import pytest

from portal.core.audit.models import AuditForward, AuditPolicy
from portal.core.models import Event
from tests.each import each

API = "/api/v1/orgs/atlas/audit"
HOOK = "https://siem.example/hook?token=canary-of-the-receiver"


@pytest.fixture
def ada(story):
    return story.api(story.ada)


def post(client, path, body=None):
    return client.post(f"{API}{path}", body or {}, content_type="application/json")


def test_retention_is_set_shown_and_recorded(story, ada):
    assert ada.get(f"{API}/settings").json() == {"keep_days": None, "trouble": "", "forwards": []}
    for days in (90, None):
        answer = ada.put(f"{API}/settings", {"keep_days": days}, content_type="application/json")
        assert answer.json()["keep_days"] == days
    assert AuditPolicy.objects.get(chain=story.atlas.id).keep_days is None
    first, second = Event.objects.filter(kind="audit.retention_changed").order_by("position")
    assert (first.data["before"], first.data["after"]) == ({"keep_days": None}, {"keep_days": 90})
    assert second.data["after"] == {"keep_days": None}


@each("days", [0, 29, -1, 36_501, "many"])
def test_retention_invalid_days_are_rejected(ada, days):
    assert (
        ada.put(f"{API}/settings", {"keep_days": days}, content_type="application/json").status_code
        == 400
    )


def test_forward_secret_is_shown_once_and_key_never(story, ada):
    made = post(ada, "/forwards", {"target": HOOK})
    assert made.status_code == 201 and made.json()["secret"].startswith("whsec_")
    secret = made.json()["secret"]
    row = AuditForward.objects.get()
    assert secret.encode() not in bytes(row.secret) and row.target == HOOK
    texts = [
        ada.get(f"{API}/settings").content.decode(),
        story.client(story.ada).get("/atlas/audit").content.decode(),
        json.dumps(list(Event.objects.values()), default=str),
        b"".join(ada.get(f"{API}/export").streaming_content).decode(),
    ]
    assert all(secret not in text and "canary-of-the-receiver" not in text for text in texts)
    assert "siem.example/hook?…" in texts[0]


@each(
    "target",
    [
        "ftp://x",
        "https://u:p@host/",
        "https://höst.example/",
        "syslog+tls://host/path",
        "https://host/a b",
    ],
)
def test_forward_invalid_target_is_rejected(ada, target):
    answer = post(ada, "/forwards", {"target": target})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "target")


def test_forward_targets_are_unique_and_limited(ada):
    assert post(ada, "/forwards", {"target": HOOK}).status_code == 201
    assert post(ada, "/forwards", {"target": HOOK}).status_code == 409
    for n in range(4):
        assert post(ada, "/forwards", {"target": f"syslog+tls://log{n}.example"}).status_code == 201
    assert post(ada, "/forwards", {"target": "syslog+tls://one-more.example"}).status_code == 409


def test_forward_retry_and_removal(story, ada):
    made = post(ada, "/forwards", {"target": HOOK, "from_start": True}).json()
    AuditForward.objects.update(tries=30, dead_at=Event.objects.first().at, trouble="no")
    again = post(ada, f"/forwards/{made['id']}").json()
    assert (again["is_dead"], again["next_at"]) == (False, None)
    assert ada.delete(f"{API}/forwards/{made['id']}").status_code == 204
    assert ada.delete(f"{API}/forwards/{made['id']}").status_code == 404
    kinds = (
        Event.objects.filter(kind__startswith="audit.forward")
        .order_by("position")
        .values_list("kind", flat=True)
    )
    assert list(kinds) == ["audit.forward_added", "audit.forward_retried", "audit.forward_removed"]


def test_forward_of_other_organization_is_not_found(story, ada):
    made = post(ada, "/forwards", {"target": HOOK}).json()
    cyd = story.api(story.cyd)
    for path in (
        f"{API}/forwards/{made['id']}",
        f"/api/v1/orgs/borealis/audit/forwards/{made['id']}",
    ):
        assert cyd.delete(path).status_code == 404
    assert AuditForward.objects.count() == 1


def test_audit_page_manages_forwards(story):
    browser = story.client(story.ada)
    text = browser.post("/atlas/audit", {"do": "forward", "target": HOOK}).content.decode()
    assert "whsec_" in text
    assert "whsec_" not in browser.get("/atlas/audit").content.decode()
    row = AuditForward.objects.get()
    assert browser.post("/atlas/audit", {"do": "retry", "forward": str(row.id)}).status_code == 302
    assert browser.post("/atlas/audit", {"do": "keep", "keep_days": "45"}).status_code == 302
    assert AuditPolicy.objects.get().keep_days == 45
    for wrong in (
        {"do": "stop", "forward": "x"},
        {"do": "keep", "keep_days": "x"},
        {"do": "forward", "target": "x"},
    ):
        assert browser.post("/atlas/audit", wrong).status_code == 302
    assert browser.post("/atlas/audit", {"do": "stop", "forward": str(row.id)}).status_code == 302
    assert AuditForward.objects.count() == 0
