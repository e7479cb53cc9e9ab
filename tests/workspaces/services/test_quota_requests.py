"""Requests for higher limits, and decisions on them."""

from __future__ import annotations

import pytest
from django.core import mail

from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from tests.deliver import deliver
from tests.each import each
from workspaces.models import Quota, QuotaRequest
from workspaces.quotas.requests import decide, request_limit
from workspaces.quotas.set_limits import set_quota
from workspaces.tenancy.scope import org_scope


@pytest.fixture
def limited(story):
    with org_scope(story.atlas.id):
        set_quota(
            actor=story.actor(story.ada),
            org=story.atlas,
            scope="team",
            subject="vision",
            resource="gpu",
            limit=4,
        )
    return story


def _ask(story, person, **more):
    params = {
        "scope": "team",
        "subject": "vision",
        "resource": "gpu",
        "amount": 6,
        "why": "a paper",
        **more,
    }
    with org_scope(story.atlas.id):
        return request_limit(actor=story.actor(person), org=story.atlas, **params)


def _decide(story, person, row, do, word=""):
    with org_scope(story.atlas.id):
        return decide(actor=story.actor(person), request_id=row.id, do=do, word=word)


def _limit(story):
    with org_scope(story.atlas.id):
        return Quota.objects.get(scope="team", resource="gpu").limit


def test_quota_request_approved_sets_limit_and_shows_message(limited):
    row = _ask(limited, limited.ben)
    assert _limit(limited) == 4
    _decide(limited, limited.ada, row, "approve", "until Friday")
    assert _limit(limited) == 6
    shown = limited.client(limited.ben).get("/atlas/quotas").content.decode()
    assert 'data-state="approved" title="It was approved."' in shown and "until Friday" in shown
    kinds = list(
        Event.objects.filter(kind__startswith="quota")
        .order_by("position")
        .values_list("kind", flat=True)
    )
    assert kinds == ["quota.changed", "quota.requested", "quota.changed", "quota.request_approved"]


def test_quota_request_declined_keeps_limit(limited):
    row = _decide(limited, limited.ada, _ask(limited, limited.ben), "decline", "not now")
    assert (row.state, row.word, _limit(limited)) == ("declined", "not now", 4)


def test_quota_request_decided_twice_is_conflict(limited):
    row = _ask(limited, limited.ben)
    _decide(limited, limited.ada, row, "decline")
    with pytest.raises(Conflict):
        _decide(limited, limited.ada, row, "approve")
    assert _limit(limited) == 4


def test_quota_request_approval_never_lowers_limit(limited):
    row = _ask(limited, limited.ben)
    with org_scope(limited.atlas.id):
        set_quota(
            actor=limited.actor(limited.ada),
            org=limited.atlas,
            scope="team",
            subject="vision",
            resource="gpu",
            limit=9,
        )
    _decide(limited, limited.ada, row, "approve")
    assert _limit(limited) == 9


def test_quota_request_permissions(limited):
    row = _ask(limited, limited.ben)
    for do in ("approve", "decline"):
        with pytest.raises(NotPermitted):
            _decide(limited, limited.ben, row, do)
    assert _decide(limited, limited.ben, row, "withdraw").state == "withdrawn"


def test_quota_request_own_subjects_once_at_a_time(limited):
    _ask(limited, limited.ben)
    with pytest.raises(Conflict):
        _ask(limited, limited.ben, amount=7)
    with pytest.raises(InvalidInput):
        _ask(limited, limited.ada, amount=4)
    with pytest.raises(Conflict):
        _ask(limited, limited.ada, resource="cpu")
    with pytest.raises(NotPermitted):
        _ask(limited, limited.ben, subject="speech")
    with pytest.raises(NotPermitted):
        _ask(limited, limited.ben, scope="user", subject=limited.ada.email)


def test_quota_request_of_other_organization_is_not_found(limited):
    row = _ask(limited, limited.ben)
    with org_scope(limited.borealis.id), pytest.raises(NotFound):
        decide(
            actor=limited.actor(limited.cyd, limited.borealis),
            request_id=row.id,
            do="decline",
        )


def test_quota_request_page_members_see_own_only(limited):
    limited.client(limited.ben).post(
        "/atlas/quotas/requests",
        {"who": "team:vision", "resource": "gpu", "amount": "8", "why": "big model", "job": "7"},
    )
    with org_scope(limited.atlas.id):
        row = QuotaRequest.objects.get()
    assert (row.amount, row.job, row.why) == (8, 7, "big model")
    shown = limited.client(limited.ada).get("/atlas/quotas").content.decode()
    assert "big model" in shown and "Approve" in shown
    limited.client(limited.ada).post(
        f"/atlas/quotas/requests/{row.id}", {"do": "approve", "word": "go on"}
    )
    assert _limit(limited) == 8


@each("by", ["the page", "the API"])
@each(("do", "told"), [("approve", "approved"), ("decline", "declined"), ("withdraw", "")])
def test_quota_request_decision_is_mailed(limited, settings, by, do, told):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    row, decider = _ask(limited, limited.ben), limited.ben if do == "withdraw" else limited.ada
    if by == "the page":
        limited.client(decider).post(
            f"/atlas/quotas/requests/{row.id}", {"do": do, "word": "until Friday"}
        )
    else:
        path = f"/api/v1/orgs/atlas/quotas/requests/{row.id}"
        assert (
            limited.api(decider)
            .post(path, {"do": do, "word": "until Friday"}, content_type="application/json")
            .status_code
            == 200
        )
    deliver()
    told_to = [sent for sent in mail.outbox if sent.to == [limited.ben.email]]
    assert len(told_to) == bool(told)
    for sent in told_to:
        assert sent.subject == f"Your request for 6 GPUs for Vision was {told}"
        assert "until Friday" in sent.body and "/atlas/quotas" in sent.body


def test_quota_request_decision_is_undone_with_its_limit(limited):
    row = _ask(limited, limited.ben)
    _decide(limited, limited.ada, row, "approve")
    assert _limit(limited) == 6
    row = _reopen(limited, limited.ada, row, limit=4)
    assert (row.state, row.decided_by, _limit(limited)) == ("open", "", 4)
    _decide(limited, limited.ada, row, "decline")
    assert _reopen(limited, limited.ada, row).state == "open"
    assert Event.objects.filter(kind="quota.request_reopened").count() == 2


def test_quota_request_undo_is_refused_after_another_change(limited):
    row = _ask(limited, limited.ben)
    with pytest.raises(Conflict, match="no decision to undo"):
        _reopen(limited, limited.ada, row)
    _decide(limited, limited.ada, row, "approve")
    with pytest.raises(NotPermitted):
        _reopen(limited, limited.ben, row)
    with org_scope(limited.atlas.id):
        Quota.objects.filter(scope="team", resource="gpu").update(limit=20)
    with pytest.raises(Conflict, match="changed since"):
        _reopen(limited, limited.ada, row, limit=4)
    assert _limit(limited) == 20


def _reopen(story, person, row, **more):
    with org_scope(story.atlas.id):
        return decide(actor=story.actor(person), request_id=row.id, do="reopen", **more)
