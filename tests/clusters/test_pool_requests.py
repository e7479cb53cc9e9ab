"""Requests for GPUs: from the team's wish to the end, and what operators are told before."""

from __future__ import annotations

import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core import mail
from django.db import connection

from clusters.models import Device, Node, Pool, PoolGrant, PoolRequest
from clusters.pools import pools_for
from clusters.services import pool_requests as service
from clusters.services.pools import delete_pool, grant_pool, revoke_pool
from clusters.tasks import run_pool_requests
from jobs.models import Attempt
from monitoring.what_if import what_if
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from schedulers.states import Wait
from tests.deliver import deliver
from tests.jobs.stage import cluster_with, submit
from workspaces.approvals.selectors import find_request
from workspaces.tenancy.scope import org_scope, platform_scope

DAY = timedelta(days=1)


@pytest.fixture
def pool(story):
    return Pool.objects.create(name="h100", cluster=cluster_with(gpus=8, nodes=2), gpu_type="h100")


@pytest.fixture
def dot(story):
    return story.actor(story.dot, story.atlas)


def ask(story, person=None, gpus=8, days=30, **more):
    return service.request_pool(
        actor=story.actor(person or story.ben),
        org=story.atlas,
        team=more.pop("team", story.vision),
        gpu_type=more.pop("gpu_type", "h100"),
        gpus=gpus,
        ends_at=clock.now() + days * DAY,
        **more,
    )


@pytest.fixture
def atlas(story, pool):
    with org_scope(story.atlas.id):
        yield story


def test_approved_request_gives_the_pool_until_its_end(atlas, pool, dot, monkeypatch, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    row = ask(atlas, purpose="Pre-training")
    assert pools_for(atlas.vision) == []
    service.decide(do="approve", actor=dot, request_id=row.id, pool="h100", word="Welcome")
    assert pools_for(atlas.vision) == [pool]
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 31 * DAY)
    run_pool_requests()
    run_pool_requests()
    assert pools_for(atlas.vision) == []
    row.refresh_from_db()
    assert row.state == "ended"
    kinds = Event.objects.filter(subject_id=row.id).order_by("position")
    assert list(kinds.values_list("kind", flat=True)) == [
        "pool.requested",
        "pool.request_approved",
        "pool.expired",
    ]


def test_request_that_starts_later_is_granted_then(atlas, pool, dot, monkeypatch):
    row = ask(atlas, starts_at=clock.now() + 5 * DAY)
    service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    run_pool_requests()
    assert pools_for(atlas.vision) == []
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 6 * DAY)
    run_pool_requests()
    assert pools_for(atlas.vision) == [pool]


def test_end_keeps_what_an_operator_or_another_request_gave(atlas, pool, dot, monkeypatch):
    grant_pool(actor=dot, pool=pool, team=atlas.speech)
    for team, days in ((atlas.speech, 10), (atlas.vision, 10), (atlas.vision, 20)):
        row = ask(atlas, atlas.ada, team=team, gpus=2, days=days)
        service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 11 * DAY)
    run_pool_requests()
    assert pools_for(atlas.speech) == pools_for(atlas.vision) == [pool]
    assert PoolGrant.objects.get(team=atlas.vision).ends_at is not None
    monkeypatch.setattr(clock, "now", lambda: now + 21 * DAY)
    run_pool_requests()
    assert (pools_for(atlas.speech), pools_for(atlas.vision)) == ([pool], [])


def test_grant_by_an_operator_outlives_the_request(atlas, pool, dot, monkeypatch):
    row = ask(atlas, days=10)
    service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    grant_pool(actor=dot, pool=pool, team=atlas.vision)
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 11 * DAY)
    run_pool_requests()
    assert pools_for(atlas.vision) == [pool]


def test_approval_never_exceeds_the_pool(atlas, dot):
    first, second = ask(atlas, gpus=10), ask(atlas, gpus=10)
    service.decide(do="approve", actor=dot, request_id=first.id, pool="h100")
    with pytest.raises(Conflict, match="at most 6"):
        service.decide(do="approve", actor=dot, request_id=second.id, pool="h100")
    service.decide(do="approve", actor=dot, request_id=second.id, pool="h100", gpus=6)
    later = ask(atlas, gpus=16, starts_at=clock.now() + 40 * DAY, days=60)
    service.decide(do="approve", actor=dot, request_id=later.id, pool="h100")


@pytest.mark.django_db(transaction=True)
def test_concurrent_approvals_never_exceed_the_pool(story):
    Pool.objects.create(name="h100", cluster=cluster_with(gpus=8), gpu_type="h100")
    with org_scope(story.atlas.id):
        asked = [ask(story, gpus=3).id for _ in range(6)]
    outcomes = []

    def approve(request_id):
        try:
            with org_scope(story.atlas.id):
                actor = story.actor(story.dot, story.atlas)
                service.decide(do="approve", actor=actor, request_id=request_id, pool="h100")
            outcomes.append(True)
        except Conflict:
            outcomes.append(False)
        finally:
            connection.close()

    threads = [threading.Thread(target=approve, args=[one]) for one in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False] * 4 + [True] * 2
    with platform_scope("test"):
        assert sum(row.gpus for row in PoolRequest.objects.filter(state="approved")) == 6


def test_only_operators_decide_and_only_the_team_withdraws_or_returns(atlas, dot):
    row = ask(atlas)
    for person in (atlas.ben, atlas.ada):
        with pytest.raises(NotPermitted):
            service.decide(do="approve", actor=atlas.actor(person), request_id=row.id, pool="h100")
    service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    with pytest.raises(Conflict):
        service.decide(do="decline", actor=dot, request_id=row.id)
    assert (
        service.decide(do="return", actor=atlas.actor(atlas.ben), request_id=row.id).state
        == "ended"
    )
    assert not PoolGrant.objects.filter(team=atlas.vision).exists()
    withdrawn = service.decide(
        do="withdraw", actor=atlas.actor(atlas.ben), request_id=ask(atlas).id
    )
    assert withdrawn.state == "withdrawn"


def test_invalid_wishes_are_refused(atlas):
    for wrong in (
        {"gpus": 0},
        {"gpu_type": "h999"},
        {"days": -1},
        {"days": 1000},
        {"budget": 0},
    ):
        with pytest.raises(InvalidInput):
            ask(atlas, **wrong)
    with pytest.raises(NotPermitted):
        ask(atlas, team=atlas.speech)
    with pytest.raises(NotFound):
        find_request(atlas.actor(atlas.ben), service.KIND, uuid4())


def test_renewal_extends_the_access(atlas, pool, dot, monkeypatch):
    row = ask(atlas, days=10)
    service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    again = ask(atlas, days=40, starts_at=clock.now() + 10 * DAY, renews=row)
    service.decide(do="approve", actor=dot, request_id=again.id, pool="h100")
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 9.5 * DAY)
    run_pool_requests()
    assert not Event.objects.filter(kind="pool.ends_soon").exists(), "it goes on"
    monkeypatch.setattr(clock, "now", lambda: now + 11 * DAY)
    run_pool_requests()
    assert pools_for(atlas.vision) == [pool]
    assert PoolGrant.objects.get(team=atlas.vision).ends_at == again.ends_at


def test_reminders_are_mailed_once_each(atlas, dot, monkeypatch, settings):
    row = ask(atlas, days=30)
    service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    now = clock.now()
    for days in (1, 17, 18, 24, 29.5, 29.6, 31):
        monkeypatch.setattr(clock, "now", lambda days=days: now + days * DAY)
        run_pool_requests()
        deliver()
    subjects = [sent.subject for sent in mail.outbox if sent.to == [atlas.ben.email]]
    ends = [subject for subject in subjects if "end" in subject]
    assert ends == ["8 × H100 for Vision end soon"] * 3 + ["8 × H100 for Vision have ended"]


def test_reminders_are_only_of_days_that_a_request_lasts(atlas, dot, monkeypatch):
    for days in (10, 1):
        row = ask(atlas, gpus=1, days=days)
        service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    run_pool_requests()
    assert not Event.objects.filter(kind="pool.ends_soon").exists()
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 4 * DAY)
    run_pool_requests()
    assert Event.objects.filter(kind="pool.ends_soon").count() == 1


def test_what_if_tells_who_waits_and_what_must_end(atlas, pool, dot):
    grant_pool(actor=dot, pool=pool, team=atlas.vision)
    submit(atlas, atlas.ada, resources={"accelerators": {"h100": 4}})
    without_quota = submit(atlas, atlas.ada, resources={"accelerators": {"h100": 2}})
    with platform_scope("test"):
        Attempt.objects.filter(job=without_quota).update(wait=Wait.QUOTA_TEAM)
        Node.objects.filter(name="n0").update(is_drained=True)
    row = ask(atlas, team=atlas.speech, person=atlas.ada)
    [effect] = what_if(dot, row)
    found = effect.as_dict()
    assert (found["pool"], found["total"], found["free"]) == ("h100", 16, 8)
    assert (found["pending_jobs_of_others"], found["pending_gpus_of_others"]) == (1, 4)
    assert found["gpu_hours_held"] == pytest.approx(8 * 30 * 24, abs=8)
    with pytest.raises(NotPermitted):
        what_if(atlas.actor(atlas.ada), row)


def test_what_if_plans_mig_where_the_profile_is_not_provisioned(atlas, dot):
    Pool.objects.update(gpu_type="")  # one of h100 has no instances
    node = Node.objects.get(name="n0")
    Device.objects.bulk_create(
        Device(
            node=node,
            index=n,
            uuid=f"GPU-0-{n}",
            model="NVIDIA H100 80GB HBM3",
            type="h100",
            memory=85 * 10**9,
        )
        for n in range(8)
    )
    [effect] = what_if(dot, ask(atlas, gpu_type="mig-1g.10gb", gpus=14))
    assert effect.plan and len(effect.plan.changes) == 2 and effect.plan.cost.drains == 0
    assert effect.as_dict()["mig"]["gpus"][0]["created"] == ["1g.10gb"] * 7
    assert (effect.wish, effect.wish_nodes) == ("14 x 1g.10gb", "n0, n1")


def test_journey_by_page_from_request_to_return(story, pool):
    ben, dot = story.client(story.ben), story.client(story.dot)
    form = {"team": "vision", "gpu_type": "h100", "gpus": "8", "ends_at": "2020-01-01"}
    refused = ben.post("/atlas/pool-requests", form).content.decode()
    assert "must be after the start" in refused, refused[refused.find("<main") :][:3000]
    later = (clock.now() + 30 * DAY).date().isoformat()
    answer = ben.post("/atlas/pool-requests", form | {"ends_at": later}, follow=True)
    here = answer.redirect_chain[-1][0]
    assert b"Waiting for an operator" in answer.content
    assert b"8 \xc3\x97 H100" in dot.get("/platform/pool-requests").content
    assert "Decide in Platform" in dot.get(here).content.decode()
    there = here.replace("/atlas/", "/platform/")
    seen = dot.get(there).content.decode()
    assert "16 of 16" in seen and "GPU-hours" in seen
    fewer = dot.get(f"{there}?gpus=4&ends_at=x").content.decode()
    assert "Approve 4 in h100" in fewer and "Approve 8 in h100" in seen
    too_many = dot.get(f"{there}?gpus=20").content.decode()
    assert "Show the effect of 16 GPUs" in too_many and "Approve 20" not in too_many
    assert dot.post(here, {"do": "approve", "pool": "h100"}).status_code == 400
    assert ben.get(there).status_code == 403
    dot.post(there, {"do": "approve", "pool": "h100", "gpus": "4", "word": "Enjoy"})
    shown = ben.get(here).content.decode()
    assert "Enjoy" in shown and "Approved 4 × H100 in h100" in shown and "8 were requested" in shown
    with org_scope(story.atlas.id):
        [node] = PoolRequest.objects.get().reservation.nodes
    assert f"/atlas/nodes/{node}" in shown
    for client, org, words in (
        (ben, "atlas", f'<a href="{here}">4 × H100</a>'),
        (story.client(story.cyd), "borealis", "for another organization"),
    ):
        page = " ".join(client.get(f"/{org}/nodes/{node}").content.decode().split())
        assert words in page and ("for Vision" in page) is (org == "atlas")
    assert here in ben.get("/atlas/pools/h100").content.decode()
    assert story.client(story.cyd).get(here).status_code == 404
    assert story.client(story.cyd).get(here.replace("/atlas/", "/borealis/")).status_code == 404
    ben.post(here, {"do": "return"})
    with org_scope(story.atlas.id):
        assert PoolRequest.objects.get().state == "ended"


def test_deleted_pool_ends_what_was_approved_there_and_holds_up_no_other(
    atlas, pool, dot, monkeypatch
):
    other = Pool.objects.create(name="other", cluster=pool.cluster, gpu_type="h100")
    now = clock.now()
    rows = [ask(atlas, gpus=2), ask(atlas, gpus=2, starts_at=now + DAY)]
    kept = ask(atlas, gpus=2, starts_at=now + DAY)
    for row in rows:
        service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    service.decide(do="approve", actor=dot, request_id=kept.id, pool="other")
    delete_pool(actor=dot, pool=pool)
    assert {PoolRequest.objects.get(id=row.id).state for row in rows} == {"ended"}
    PoolRequest.objects.filter(id=rows[1].id).update(state="approved")  # deleted before this change
    monkeypatch.setattr(clock, "now", lambda: now + 2 * DAY)
    run_pool_requests()
    assert pools_for(atlas.vision) == [other]


def test_revoked_grant_ends_its_request(atlas, pool, dot):
    row = ask(atlas)
    service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    revoke_pool(actor=dot, pool=pool, team=atlas.vision)
    row.refresh_from_db()
    assert row.state == "ended" and row.ends_at <= clock.now(), "it is billed no longer"


def test_dates_beyond_the_calendar_and_foreign_renewals_are_refused(atlas, pool):
    ben = atlas.api(atlas.ben)
    body = {"team": "vision", "gpu_type": "h100", "gpus": 1, "ends_at": "9999-12-31T23:00:00Z"}
    for more in ({"starts_at": "9999-12-31T00:00:00Z"}, {}):
        url = "/api/v1/orgs/atlas/pool-requests"
        answer = ben.post(url, body | more, content_type="application/json")
        assert answer.status_code == (201 if more else 400), answer.content
    with pytest.raises(InvalidInput, match="same team"):
        ask(atlas, atlas.ada, renews=ask(atlas, atlas.ada, team=atlas.speech))
