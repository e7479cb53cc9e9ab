"""Who may open a port of a job, with what, and when that ends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from jobs.models import Attempt, Job, PortActivity
from jobs.ports import handover
from jobs.ports.activity import record_uses
from jobs.ports.listing import port_rows
from jobs.ports.provider import PortProvider
from portal.blobs.logs import log_store
from portal.core import clock
from portal.core.errors import NotAuthenticated, NotFound, NotPermitted
from portal.core.models import Event
from portal.gateway.provider import Address, Credential, NotReady, NotServing, PortUse
from schedulers.states import State
from tests.jobs.stage import cluster_with, only_attempt, submit
from workspaces.credentials.token_format import secret_of_attempt
from workspaces.credentials.tokens import Bearer, issue_attempt_tokens
from workspaces.models import AccessToken
from workspaces.organizations.services import remove_team_member
from workspaces.tenancy.scope import org_scope, platform_scope

PORTS = [{"name": "web", "port": 8888}, {"name": "tb", "access": "team"}]
WEB, TB = Address("atlas", 1, "web"), Address("atlas", 1, "tb")
PROVIDER = PortProvider()


def serving(story, person: Any = None, state: State = State.RUNNING) -> Job:
    cluster_with()
    job = submit(story, person or story.ben, ports=PORTS)
    with org_scope(story.atlas.id):
        Attempt.objects.update(state=state)
    return job


def with_token(story, person, **options: Any) -> Credential:
    return Credential(token=story.token(person, **options))


def outcome(address: Address, credential: Credential) -> object:
    try:
        return PROVIDER.admit(address, credential).port
    except Exception as error:
        return type(error)


def test_ports_are_opened_by_the_permissions_of_the_job(story):
    job = serving(story)
    team_port = only_number(story, job)
    people = {
        "ben": (8888, team_port),  # the owner
        "ada": (8888, team_port),  # may run commands in jobs of others
        "dot": (8888, team_port),  # an operator
        "cyd": (NotFound, NotFound),  # another organization
    }
    for name, expected in people.items():
        org = story.borealis if name == "cyd" else story.atlas
        credential = with_token(story, getattr(story, name), org=org)
        assert (outcome(WEB, credential), outcome(TB, credential)) == expected, name
    reader = with_token(story, story.ben, scopes=("jobs:read",))
    assert (outcome(WEB, reader), outcome(TB, reader)) == (NotPermitted, team_port)
    assert outcome(Address("atlas", 1, "other"), with_token(story, story.ben)) is NotFound
    assert outcome(Address("atlas", 2, "web"), with_token(story, story.ben)) is NotFound
    assert outcome(WEB, Credential(token="mst_" + "x" * 38)) is NotAuthenticated
    assert outcome(WEB, Credential()) is NotAuthenticated


def only_number(story, job: Job) -> int:
    with org_scope(story.atlas.id):
        return int(port_rows(only_attempt(job), job)[1]["port"])


def test_owner_only_port_is_closed_to_the_rest_of_the_team(story):
    serving(story, story.ada)
    credential = with_token(story, story.ben)
    assert outcome(WEB, credential) is NotPermitted
    assert isinstance(outcome(TB, credential), int)


def test_access_ends_with_membership_token_and_job(story):
    serving(story)
    credential = with_token(story, story.ben)
    assert outcome(WEB, credential) == 8888
    with org_scope(story.atlas.id):
        Attempt.objects.update(state=State.QUEUED)
        assert outcome(WEB, credential) is NotReady
        Attempt.objects.update(state=State.FAILED)
        assert outcome(WEB, credential) is NotServing
        Attempt.objects.update(state=State.RUNNING)
        AccessToken.objects.update(expires_at=story.atlas.created_at)
        assert outcome(WEB, credential) is NotAuthenticated
        AccessToken.objects.update(expires_at=None)
        remove_team_member(actor=story.actor(story.ada), team=story.vision, email=story.ben.email)
    assert outcome(WEB, credential) in (NotFound, NotAuthenticated)


def opened(browser, address: Address = WEB) -> tuple[str, str]:
    """Return the address that a browser is sent to with a code, and the code."""
    page = PROVIDER.portal_address(address, "digest", "/lab?x=%3F", is_below=False)
    parts = urlsplit(page)
    answer = browser.get(f"{parts.path}?{parts.query}")
    assert answer.status_code == 302, answer.content
    return answer.url, parse_qs(urlsplit(answer.url).query).get("code", [""])[0]


def test_browser_gets_a_ticket_that_ends_with_its_session(story):
    serving(story)
    browser = story.client(story.ben)
    where, code = opened(browser)
    assert where.startswith("http://web--1-atlas.") or "/_apps/atlas/1/web/~go" in where
    assert "code" in where and browser.session.session_key not in where
    with pytest.raises(NotPermitted):
        PROVIDER.redeem(code, "other browser", WEB)
    with pytest.raises(NotPermitted):
        PROVIDER.redeem(code, "digest", TB)
    ticket, path = PROVIDER.redeem(code, "digest", WEB)
    assert path == "/lab?x=%3F"
    with pytest.raises(NotPermitted):
        PROVIDER.redeem(code, "digest", WEB)
    credential = Credential(ticket=ticket)
    assert outcome(WEB, credential) == 8888
    assert outcome(TB, credential) is NotAuthenticated, "a ticket opens one port"
    with org_scope(story.atlas.id):
        event = Event.objects.get(kind="job.port_opened")
    assert (event.actor, event.data["port"]) == (story.ben.email, "web")
    browser.logout()
    assert outcome(WEB, credential) is NotAuthenticated


def test_code_expires(story):
    serving(story)
    _, code = opened(story.client(story.ben))
    late = clock.now() + timedelta(seconds=handover.CODE_SECONDS + 1)
    with clock.frozen(late), pytest.raises(NotPermitted):
        PROVIDER.redeem(code, "digest", WEB)


def test_open_page_refuses_as_the_gateway_does(story):
    serving(story, story.ada)
    page = "/atlas/jobs/1/ports/web"
    assert story.client(story.ada).get(page).url.startswith("http")
    assert story.client(story.ben).get(page).status_code == 403
    assert story.client(story.cyd).get(page).status_code == 404
    assert "/accounts/login/" in story.client().get(page).url
    evil = story.client(story.ada).get(page, {"nonce": "n", "path": "@evil.example/"})
    code = parse_qs(urlsplit(evil.url).query)["code"][0]
    assert PROVIDER.redeem(code, "n", WEB)[1] == "/"


def test_tunnel_is_opened_by_the_token_of_a_running_attempt_alone(story):
    job = serving(story)
    with org_scope(story.atlas.id):
        attempt = only_attempt(job)
        issue_attempt_tokens([Bearer(job.org_id, job.team_id, job.owner_id, attempt.id, "job #1")])
    token = secret_of_attempt(attempt.id)
    assert PROVIDER.tunnel_key(token, "") == attempt.key
    with pytest.raises(NotAuthenticated):
        PROVIDER.tunnel_key(story.token(story.ben), "")
    with org_scope(story.atlas.id):
        Attempt.objects.update(state=State.SUCCEEDED)
    with pytest.raises(NotAuthenticated):
        PROVIDER.tunnel_key(token, "")


def test_use_of_ports_is_kept_and_shown(story):
    job = serving(story)
    with org_scope(story.atlas.id):
        key = only_attempt(job).key
    record_uses([PortUse(key, 8888, 1_800_000_000.0, 3, has_answered=True)])
    record_uses([PortUse(key, 8888, 1_800_000_060.0, 2), PortUse("muster-" + "0" * 32, 1, 1.0, 1)])
    with platform_scope("test"):
        row = PortActivity.objects.get()
    assert (row.open_streams, row.last_used_at.timestamp(), bool(row.answered_at)) == (
        2,
        1_800_000_060.0,
        True,
    )
    shown = story.client(story.ben).get("/api/v1/orgs/atlas/jobs/1").json()["ports"]
    assert [(one["name"], one["open_streams"], one["has_answered"]) for one in shown] == [
        ("web", 2, True),
        ("tb", 0, False),
    ]
    page = story.client(story.ben).get("/atlas/jobs/1").content.decode()
    assert "/atlas/jobs/1/ports/web" in page and "muster port-forward 1 8888" in page


def test_page_of_a_dead_app_has_its_log_but_only_for_those_who_see_it(story):
    job = serving(story, state=State.FAILED)
    with org_scope(story.atlas.id):
        log_store().append(only_attempt(job).id.hex, 0, b"Traceback\n<b>boom</b>\n", 1000)
    html = PROVIDER.page(WEB, with_token(story, story.ben), NotServing("It ended.")).decode()
    assert "&lt;b&gt;boom" in html and "/atlas/jobs/1?tab=logs" in html and "It ended." in html
    with pytest.raises(NotFound):
        PROVIDER.page(WEB, with_token(story, story.cyd, org=story.borealis), NotServing("no"))
