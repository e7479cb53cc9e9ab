"""Granted GPUs are kept for their team: by the portal's own admission, and through a scheduler."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.models import Cluster, Node, Pool, PoolReservation
from clusters.services import pool_requests as service
from clusters.services.pool_reservations import reconcile
from clusters.services.pools import grant_pool, revoke_pool
from clusters.tasks import run_pool_requests
from jobs import services
from jobs.models import Job
from jobs.scheduling import pending_explanation
from jobs.scheduling.placement import gpu_offers
from jobs.services.dry_run import dry_run_job
from monitoring.capacity import supply_of
from monitoring.what_if import what_if
from portal.core import clock
from portal.core.errors import Conflict
from portal.core.models import Event
from schedulers import backends
from schedulers.contract import (
    Capability,
    Rejected,
    ReservationFacts,
    ReservationScope,
    Unavailable,
)
from schedulers.spec import parse_mapping
from schedulers.states import Wait
from tests.clusters.test_pool_requests import DAY, ask
from tests.jobs.stage import claim_all, cluster_with, only_attempt
from tests.story import Story
from workspaces.tenancy.scope import org_scope, platform_scope


@pytest.fixture
def pool(story):
    """Two nodes of eight GPUs; Speech and North of another organization may use them, too."""
    made = Pool.objects.create(name="h100", cluster=cluster_with(gpus=8, nodes=2), gpu_type="h100")
    dot = story.actor(story.dot, story.atlas)
    with platform_scope("test"):
        for team in (story.speech, story.north):
            grant_pool(actor=dot, pool=made, team=team)
    return made


@pytest.fixture
def atlas(story, pool):
    with org_scope(story.atlas.id):
        yield story


@pytest.fixture
def dot(story):
    return story.actor(story.dot, story.atlas)


def granted(story, dot, gpus=8, days=30, **more) -> PoolReservation:
    """Return the reservation of an approved request, as the task leaves it."""
    row = ask(story, gpus=gpus, days=days, **more)
    row = service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    run_pool_requests()
    return PoolReservation.objects.get(id=row.reservation_id)


def submit(story: Story, team, gpus: int, **spec) -> Job:
    person, org = (story.cyd, story.borealis) if team == story.north else (story.ada, story.atlas)
    spec = {"run": "true", "resources": {"cpus": 1, "accelerators": {"h100": gpus}}, **spec}
    with org_scope(org.id):
        return services.submit_job(actor=story.actor(person), team=team, spec=parse_mapping(spec))


def claimed(cluster: Cluster) -> list:
    with platform_scope("test"):
        return [(a.job_id, a.node) for a in claim_all(cluster)]


def test_other_teams_wait_while_the_team_gets_its_gpus(story, pool, dot):
    with org_scope(story.atlas.id):
        kept = granted(story, dot)
    assert (kept.state, kept.nodes, kept.is_whole) == ("active", {"n0": 8}, False)
    theirs, other, own, beyond = (
        submit(story, team, gpus)
        for team, gpus in (
            (story.north, 8),
            (story.speech, 4),
            (story.vision, 6),
            (story.vision, 2),
        )
    )
    assert claimed(pool.cluster) == [
        (theirs.id, "n1"),
        (own.id, "n0"),
        (beyond.id, "n0"),
    ]
    with org_scope(story.atlas.id):
        waiting = pending_explanation.explanation_of(other, story.actor(story.ada))
    assert (waiting.code, waiting.change) == (Wait.CAPACITY, None)


def test_reason_names_the_team_only_within_its_organization(story, pool, dot):
    with org_scope(story.atlas.id):
        granted(story, dot, gpus=12)
    texts = []
    for team, org, person in (
        (story.speech, story.atlas, story.ada),
        (story.north, story.borealis, story.cyd),
    ):
        job = submit(story, team, 6)
        claimed(pool.cluster)
        with org_scope(org.id):
            told = pending_explanation.explanation_of(job, story.actor(person))
        assert told.code == Wait.RESERVED
        assert told.change["to"] == 4
        texts.append(told.text)
    assert texts[0].startswith("12 H100 GPUs are reserved for Vision until 20")
    assert texts[1].startswith("12 H100 GPUs are reserved for another team until 20")


def test_free_counts_leave_out_what_is_reserved_for_others(story, pool, dot):
    with org_scope(story.atlas.id):
        granted(story, dot, gpus=10)
        counts = {
            team.slug: [offer["free"] for offer in gpu_offers(team)]
            for team in (story.speech, story.vision)
        }
    assert counts == {"speech": [6], "vision": [16]}
    submit(story, story.vision, 3)
    claimed(pool.cluster)
    with org_scope(story.atlas.id):
        row = next(s.as_dict() for s in supply_of(story.actor(story.ada)) if not s.pool)
    assert (row["total"], row["allocated"], row["reserved"], row["free"]) == (16, 3, 7, 6)
    with org_scope(story.borealis.id):
        dry = dry_run_job(
            actor=story.actor(story.cyd),
            team=story.north,
            spec=parse_mapping({"run": "true", "resources": {"accelerators": {"h100": 8}}}),
        )
    assert not dry.starts_now and "reserved for another team" in dry.start_text


def test_running_jobs_of_others_end_first(story, pool, dot):
    running = [submit(story, story.north, 6) for _ in range(2)]
    claimed(pool.cluster)
    with org_scope(story.atlas.id):
        row = ask(story)
        [effect] = what_if(dot, row)
        found = effect.as_dict()["reservation"]
        kept = granted(story, dot)
    assert (found["nodes"], found["gpus"], found["must_become_free"]) == (["n0"], 8, 6)
    assert found["text"] == "Keeps 8 H100 GPUs on n0 for the team: jobs of other teams wait."
    assert kept.state == "pending"
    assert kept.note == "6 GPUs are still used by jobs of others, which must end first."
    submit(story, story.north, 2)
    assert claimed(pool.cluster)[0][1] == "n1"  # the two free ones of n0 are kept
    with platform_scope("test"):
        attempt = only_attempt(running[0])
        type(attempt).objects.filter(id=attempt.id).update(state=70, has_reservation=False)
        run_pool_requests()
        kept.refresh_from_db()
    assert (kept.state, kept.note) == ("active", "")


def test_return_and_end_free_the_gpus_at_once_and_renewal_extends(atlas, pool, dot, monkeypatch):
    kept = granted(atlas, dot, days=10)
    first = kept.requests.get()
    again = ask(atlas, days=40, starts_at=first.ends_at, renews=first)
    again = service.decide(do="approve", actor=dot, request_id=again.id, pool="h100")
    assert again.reservation_id == kept.id
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 20 * DAY)
    run_pool_requests()
    kept.refresh_from_db()
    assert (kept.state, kept.ends_at, kept.name) == ("active", again.ends_at, kept.name)
    service.decide(do="return", actor=atlas.actor(atlas.ben), request_id=again.id)
    assert [offer["free"] for offer in gpu_offers(atlas.speech)] == [16]
    run_pool_requests()
    kept.refresh_from_db()
    assert kept.state == "ended"
    kinds = Event.objects.filter(subject_id=kept.id).order_by("position")
    assert list(kinds.values_list("kind", flat=True)) == ["pool.reserved", "pool.released"]


def test_returning_early_also_returns_the_renewal(atlas, pool, dot):
    kept = granted(atlas, dot, days=10)
    first = kept.requests.get()
    again = first
    for days in (40, 70):
        again = ask(atlas, days=days, starts_at=again.ends_at, renews=again)
        service.decide(do="approve", actor=dot, request_id=again.id, pool="h100")
    service.decide(do="return", actor=atlas.actor(atlas.ben), request_id=first.id)
    run_pool_requests()
    assert [r.state for r in kept.requests.order_by("created_at")] == ["ended"] * 3
    kept.refresh_from_db()
    assert kept.state == "ended"


def test_revoked_access_ends_the_reservation(atlas, pool, dot):
    kept = granted(atlas, dot)
    revoke_pool(actor=dot, pool=pool, team=atlas.vision)
    run_pool_requests()
    kept.refresh_from_db()
    assert kept.state == "ended"


class Nodes:
    """A backend of whole nodes that keeps reservations in memory and can be told to fail."""

    reservation_scope = ReservationScope.NODES

    def __init__(self):
        self.kept, self.error, self.calls = {}, None, 0

    def plan_reservation(self, request):
        return f"Reserves {', '.join(request.nodes)} as {request.name}"

    def reserve(self, request):
        self.calls += 1
        if self.error:
            raise self.error
        self.kept[request.name] = ReservationFacts(request.name, request.nodes, request.ends_at)

    def unreserve(self, name, partition=""):
        self.kept.pop(name, None)

    def reservations(self, prefix):
        if isinstance(self.error, Unavailable):
            raise self.error
        return [one for name, one in self.kept.items() if name.startswith(prefix)]


@pytest.fixture
def native(pool, monkeypatch):
    """Make the cluster one whose scheduler keeps whole nodes."""
    made = Nodes()
    kind = backends()["slurm"]
    monkeypatch.setattr(
        kind, "capabilities_with", classmethod(lambda *_: frozenset({Capability.RESERVATIONS}))
    )
    monkeypatch.setattr("clusters.services.pool_reservations.backend_of", lambda _: made)
    Cluster.objects.filter(id=pool.cluster_id).update(backend="slurm")
    return made


def test_cluster_is_made_to_agree_after_faults_and_changes_by_hand(atlas, pool, dot, native):
    native.error = Unavailable("no answer")
    kept = granted(atlas, dot, gpus=6)
    assert (kept.state, kept.note, kept.nodes) == ("pending", "no answer", {"n0": 8})
    native.error = Rejected("only operators may")
    run_pool_requests()
    kept.refresh_from_db()
    assert (kept.state, kept.note) == ("failed", "only operators may")
    native.error = None
    run_pool_requests()
    kept.refresh_from_db()
    assert kept.state == "active" and native.kept[kept.name].nodes == ("n0",)
    calls = native.calls
    run_pool_requests()
    assert native.calls == calls  # nothing to repair
    native.kept.clear()
    leftover = f"{kept.name[:16]}-0123456789"
    native.kept[leftover] = native.kept["muster-other-1"] = ReservationFacts("x")
    native.kept[leftover] = ReservationFacts(leftover)
    run_pool_requests()
    assert native.kept.keys() == {kept.name, "muster-other-1"}
    PoolReservation.objects.update(applied_at=None, state="pending")  # killed before it was noted
    run_pool_requests()
    kept.refresh_from_db()
    assert kept.state == "active" and kept.applied_at
    Node.objects.filter(name="n0").update(is_gone=True)
    run_pool_requests()
    kept.refresh_from_db()
    assert kept.nodes == {"n1": 8} and native.kept[kept.name].nodes == ("n1",)
    service.decide(do="return", actor=atlas.actor(atlas.ben), request_id=kept.requests.get().id)
    run_pool_requests()
    assert native.kept.keys() == {"muster-other-1"}


def test_reservation_that_another_process_makes_meanwhile_is_no_leftover(
    atlas, pool, dot, native, monkeypatch
):
    listed = Nodes.reservations

    def listing(self, prefix):
        monkeypatch.setattr(Nodes, "reservations", listed)
        granted(atlas, dot)  # approved and made while the first process lists
        return listed(self, prefix)

    granted(atlas, dot)
    monkeypatch.setattr(Nodes, "reservations", listing)
    removed = []
    monkeypatch.setattr(Nodes, "unreserve", lambda self, name, _: removed.append(name))
    run_pool_requests()
    assert len(native.kept) == 2 and not removed


def test_whole_nodes_are_promised_once_and_shown_before(atlas, pool, dot, native):
    row = ask(atlas, gpus=6)
    [effect] = what_if(dot, row)
    found = effect.as_dict()["reservation"]
    assert (found["nodes"], found["gpus"]) == (["n0"], 8)
    kept = granted(atlas, dot, gpus=6)
    assert found["text"].startswith("Reserves n0 as muster-") and kept.nodes == {"n0": 8}
    second = granted(atlas, dot, gpus=8)
    assert second.nodes == {"n1": 8}
    last = ask(atlas, gpus=2)
    with pytest.raises(Conflict, match="too few nodes"):
        service.decide(do="approve", actor=dot, request_id=last.id, pool="h100")
    later = ask(atlas, gpus=16, starts_at=clock.now() + timedelta(days=31), days=60)
    planned = service.decide(do="approve", actor=dot, request_id=later.id, pool="h100").reservation
    assert (planned.state, planned.nodes) == ("planned", {"n0": 8, "n1": 8})
    reconcile()
    assert planned.name not in native.kept


def test_cluster_that_keeps_nothing_says_so_before_and_after(atlas, pool, dot, native, monkeypatch):
    kept = granted(atlas, dot)
    monkeypatch.setattr(
        backends()["slurm"], "capabilities_with", classmethod(lambda *_: frozenset())
    )
    run_pool_requests()
    kept.refresh_from_db()
    assert kept.state == "failed" and "no longer keep GPUs" in kept.note
    assert not native.kept and kept.applied_at is None
    assert [offer["free"] for offer in gpu_offers(atlas.speech)] == [16]
    row = ask(atlas)
    [effect] = what_if(dot, row)
    assert "other teams with access can use these GPUs" in effect.reservation.text
    assert (
        service.decide(do="approve", actor=dot, request_id=row.id, pool="h100").reservation is None
    )


def test_reservation_is_shown_on_pages_and_by_the_api(story, pool, dot):
    with org_scope(story.atlas.id):
        kept = granted(story, dot, gpus=12)
        row = kept.requests.get()
        waiting = ask(story, gpus=4)
    page = f"/atlas/pool-requests/{row.id}"
    seen = story.client(story.ben).get(page).content.decode()
    assert kept.name in seen and "Only this team" in seen
    assert (
        "Keeps 4 H100 GPUs on n1"
        in story.client(story.dot).get(f"/platform/pool-requests/{waiting.id}").content.decode()
    )
    api = "/api/v1/orgs/atlas/pool-requests"
    found = story.api(story.ben).get(f"{api}/{row.id}").json()["reservation"]
    assert (found["state"], found["gpus"], found["nodes"]) == ("active", 12, ["n0", "n1"])
    assert found["name"] not in story.client(story.cyd).get("/borealis/capacity").content.decode()
    supply = story.api(story.cyd, story.borealis).get("/api/v1/orgs/borealis/capacity").json()
    assert {(row["reserved"], row["free"]) for row in supply["items"]} == {(12, 4)}
