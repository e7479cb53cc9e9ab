"""Secrets given anywhere must not appear in events, exports, pages or forwarded events."""

from __future__ import annotations

import json
import re

import pytest
from django.core import mail
from django.test import Client

from clusters.models import Cluster
from portal.core.audit.reading import all_of
from portal.core.audit.targets import message
from portal.core.models import Event
from schedulers import backends
from tests.portal.core.audit.conftest import seal
from tests.story import PASSWORD
from tests.test_audit_coverage import BEFORE, Able
from tests.test_role_matrix import built as built  # noqa: PLC0414  fixtures
from tests.test_role_matrix import stage as stage  # noqa: PLC0414

CANARY = "canary-7f3a"


@pytest.fixture
def secrets(stage, monkeypatch) -> list[str]:
    """Return every secret that was entered or returned once."""
    monkeypatch.setitem(backends(), "able", Able)
    Cluster.objects.filter(name="local").update(backend="able", config={"url": "u"})
    ada, dot = stage.api("ada"), stage.api("dot")
    found = [CANARY, PASSWORD]
    for client, verb, path, body in (
        (ada, "POST", "orgs/atlas/tokens", {"name": "ci", "scopes": ["all"]}),
        (ada, "POST", "orgs/atlas/members", {"email": "new@atlas.example"}),
        (
            ada,
            "POST",
            "orgs/atlas/audit/forwards",
            {"target": f"https://siem.example/hook?key={CANARY}"},
        ),
        (
            ada,
            "POST",
            "orgs/atlas/jobs",
            {"team": "vision", "spec": {"run": f"echo {CANARY}", "envs": {"KEY": CANARY}}},
        ),
        (
            dot,
            "POST",
            "clusters",
            {
                "name": "fresh",
                "backend": "able",
                "options": {"url": "x", "token": f"{CANARY}-one", "key": CANARY},
            },
        ),
        (dot, "PATCH", "clusters/fresh", {"options": {"token": f"{CANARY}-two"}}),
        (dot, "POST", "clusters/fresh/test", {"options": {"token": f"{CANARY}-three"}}),
        (
            dot,
            "POST",
            "cluster-test",
            {"backend": "able", "options": {"url": "broken", "token": CANARY}},
        ),
    ):
        answer = client.generic(
            verb, f"/api/v1/{path}", json.dumps(body), content_type="application/json"
        )
        assert answer.status_code < 300, answer.content
        data = answer.json()
        found += [
            data[name]
            for name in ("token", "secret", "invite_url")
            if isinstance(data.get(name), str)
        ]
    BEFORE["api-job-exec", "POST"](stage)
    body = json.dumps({"argv": ["login", "--password", CANARY]})
    assert (
        ada.post(
            "/api/v1/orgs/atlas/jobs/1/exec", body, content_type="application/json"
        ).status_code
        == 200
    )
    return found + _of_accounts()


def _of_accounts() -> list[str]:
    """Return attempted passwords and a reset link."""
    browser = Client()
    browser.post("/accounts/login/", {"login": "ada@atlas.example", "password": CANARY})
    browser.post("/accounts/login/", {"login": "ada@atlas.example", "password": PASSWORD})
    browser.post(
        "/accounts/password/change/",
        {"oldpassword": PASSWORD, "password1": f"{CANARY}-new", "password2": f"{CANARY}-new"},
    )
    Client().post("/accounts/password/reset/", {"email": "ada@atlas.example"})
    return re.findall(r"/reset/key/(\S+?)/?\s", mail.outbox[0].body)


def test_secrets_are_absent_from_audit_trail_and_exports(stage, secrets):
    seal()
    org = stage.story.atlas.id
    facts = list(all_of(Event.objects.all()))
    texts = {
        "events": json.dumps(list(Event.objects.values()), default=str),
        "syslog": b"".join(message(fact, "muster") for fact in facts).decode(),
        "page": stage.story.client(stage.people["ada"]).get("/atlas/audit").content.decode(),
        "installation": stage.story.client(stage.people["dot"])
        .get("/platform/audit")
        .content.decode(),
        "settings": stage.api("ada").get("/api/v1/orgs/atlas/audit/settings").content.decode(),
    }
    for kind in ("jsonl", "csv"):
        texts[kind] = b"".join(
            stage.api("ada")
            .get("/api/v1/orgs/atlas/audit/export", {"format": kind})
            .streaming_content
        ).decode()
    assert len(secrets) >= 6 and Event.objects.filter(org_id=org).count() > 10
    assert [
        (name, secret) for name, text in texts.items() for secret in secrets if secret in text
    ] == []


def test_audit_trail_records_actions_on_secrets(stage, secrets):
    kinds = set(Event.objects.values_list("kind", flat=True))
    assert {
        "token.created",
        "audit.forward_added",
        "job.submitted",
        "cluster.connected",
        "cluster.changed",
        "cluster.tested",
        "job.command_run",
        "sign_in.failed",
        "password.changed",
        "password.reset_asked",
    } <= kinds
    changed = Event.objects.get(kind="cluster.changed")
    assert changed.data["secrets_replaced"] == ["token"]
