"""A session is shared to look at or to work in, seen by its people, and taken back."""

from __future__ import annotations

import pytest

from jobs.ports.provider import PortProvider
from portal.core import clock
from portal.core.errors import NotPermitted
from portal.core.models import Event
from portal.gateway.provider import Address, Credential, PortUse
from schedulers.states import State
from sessions.models import InteractiveSession
from tests.jobs.stage import cluster_with
from tests.sessions.test_sessions import send, set_job, started
from workspaces.tenancy.scope import no_scope, org_scope

pytestmark = pytest.mark.django_db


def grant(story, person, number: int):
    with org_scope(story.atlas.id):
        token = story.token(person)
    with no_scope():
        return PortProvider().admit(Address("atlas", number, "app"), Credential(token=token))


def running(story, template: str) -> InteractiveSession:
    """Start a session of Ada in Ben's team."""
    with org_scope(story.atlas.id):
        session = started(story, template=template, actor=story.ada)
        set_job(session, state=State.RUNNING)
    return session


def test_share_opens_the_app_until_it_is_taken_back(story):
    cluster_with()
    session = running(story, "terminal")
    ada, number, ben = story.api(story.ada), session.number, story.ben
    with pytest.raises(NotPermitted):
        grant(story, ben, number)
    since = PortProvider().access_changes(0)[0]
    for who, access in (("team", "read"), (ben.email, "write"), ("team", "write")):
        for _ in range(2):
            assert send(ada, "POST", f"/{number}/share", {"who": who, "access": access})[0] == 200
        best = "read" if (who, access) == ("team", "read") else "write"
        assert send(story.api(ben), "GET", f"/{number}")[1]["access"] == best
        assert grant(story, ben, number).is_read_only is (best == "read")
        text = story.client(ben).get(f"/atlas/sessions/{number}").content.decode()
        assert (f"muster ssh {number}" in text) is (best == "write")
        assert 'opens-dialog="share"' not in text
    assert PortProvider().access_changes(since)[1], "the gateway looks at once"
    use = PortUse(grant(story, ben, number).key, grant(story, ben, number).port, 0, 1)
    PortProvider().record(
        [PortUse(use.key, use.port, clock.now().timestamp(), 1, people=(str(ben.id),))]
    )
    people = send(ada, "GET", f"/{number}")[1]["people"]
    assert [(one["access"], one["is_in"]) for one in people] == [
        ("owner", False),
        ("write", False),
        ("write", True),
    ]
    assert "in it now" in story.client(story.ada).get(f"/atlas/sessions/{number}").content.decode()
    for who in ("team", ben.email, ben.email):
        assert send(ada, "POST", f"/{number}/unshare", {"who": who})[0] == 200
    with pytest.raises(NotPermitted):
        grant(story, ben, number)
    people = send(ada, "GET", f"/{number}")[1]["people"]
    assert [one["access"] for one in people] == ["owner"], "also not in it any more"
    with org_scope(story.atlas.id):
        kinds = Event.objects.filter(kind__contains="shared").values_list("kind", flat=True)
        assert [kind.partition(".")[2] for kind in kinds.order_by("position")] == [
            *("shared", "shared", "shared", "unshared", "unshared")
        ]


def test_share_is_refused_with_a_reason_at_its_field(story):
    cluster_with()
    number = running(story, "jupyter").number
    wrong = {
        "access": ({"who": "team", "access": "read"}, "JupyterLab can't be shared to look at only"),
        "who": ({"who": "nobody@example.com"}, "There is nobody"),
    }
    for field, (body, text) in wrong.items():
        code, answer = send(story.api(story.ada), "POST", f"/{number}/share", body)
        assert (code, answer["errors"][0]["field"]) == (400, field) and text in str(answer)
    for person in (story.ada.email, story.cyd.email):
        code, _ = send(story.api(story.ada), "POST", f"/{number}/share", {"who": person})
        assert code == 400, "the owner, and somebody of another tenant"
    body = {"who": "team", "access": "write"}
    assert send(story.api(story.ben), "POST", f"/{number}/share", body)[0] == 403
    assert send(story.api(story.ada), "POST", f"/{number}/share", body)[0] == 200
    assert send(story.api(story.ben), "POST", f"/{number}/unshare", body)[0] == 403, "a guest"
    assert not grant(story, story.ben, number).is_read_only
