"""The idle clock of sessions: what counts as use, the warning, keeping, and the stop."""

from __future__ import annotations

import json
from datetime import timedelta

import httpx
import pytest

from clusters.models import Node, Pool
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, IdleRule, Job, PortActivity
from jobs.ports import handover
from jobs.ports.provider import PortProvider
from jobs.tasks import apply_idle_rules
from portal import series
from portal.core import clock
from portal.core.errors import NotAuthenticated
from portal.core.models import Event
from portal.gateway.person import Frames
from portal.gateway.provider import Address, Credential
from schedulers.states import Reason, State
from sessions import activity, services
from sessions.choices import SessionChoices
from tests.deliver import consume
from tests.jobs.stage import cluster_with
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope

pytestmark = pytest.mark.django_db
MINUTES = timedelta(minutes=1)


@pytest.fixture
def run(story):
    """Return a function that starts a session that has run for two hours, in a pool with a rule."""
    pool = Pool.objects.create(name="main", cluster=cluster_with(gpus=1), is_open=True)
    body = {"window": 60, "action": "stop", "grace": 30}
    answer = story.api(story.dot, story.atlas).put(
        f"/api/v1/orgs/atlas/pools/{pool.name}/idle-rule", body, content_type="application/json"
    )
    assert answer.status_code == 200, answer.json()

    def start(template: str = "jupyter", **choices: str):
        given = SessionChoices(template, pool=pool.name, **choices)
        actor, at = story.actor(story.ben), clock.now() - 120 * MINUTES
        with org_scope(story.atlas.id):
            made = services.start_session(actor=actor, team=story.vision, choices=given)
            for rows in (Job.objects.filter(id=made.job_id), Attempt.objects.filter(job=made.job)):
                rows.update(state=State.RUNNING, started_at=at)
            attempt = Attempt.objects.get(job=made.job)
            PortActivity.objects.create(
                org_id=made.org_id, attempt=attempt, port=1, last_used_at=at, reported_at=at
            )
        return made

    return start


def sign(session, **minutes_ago: int) -> None:
    """Store signs of use, by how many minutes ago they were."""
    with platform_scope("test"):
        at = {name: clock.now() - ago * MINUTES for name, ago in minutes_ago.items()}
        PortActivity.objects.filter(attempt__job=session.job_id).update(**at)


def kinds(session) -> list[str]:
    with platform_scope("test"):
        rows = Event.objects.filter(subject_id=session.job_id, kind__startswith="job.")
        found = list(rows.order_by("position").values_list("kind", flat=True))
    return [kind for kind in found if kind != "job.submitted"]


def shown(story, session) -> dict:
    answer = story.api(story.ben).get(f"/api/v1/orgs/atlas/sessions/{session.number}")
    return answer.json()["idle"]


@pytest.mark.parametrize(
    ("signs", "is_idle"),
    [
        ({"asked_at": 1, "last_used_at": 0, "person_at": 70}, True),  # a tab is open, nobody types
        ({"asked_at": 1, "person_at": 50}, False),
        ({"asked_at": 1, "busy_at": 1, "person_at": 110}, False),  # a kernel computes
        ({"asked_at": 20}, False),  # the app does not answer: nobody knows
        ({}, False),
        ({"cores": 0.05}, True),  # an agent measures what the app does not say
        ({"cores": 0.9}, False),
        ({"cores": 0.9, "asked_at": 1}, False),
    ],
)
def test_session_is_idle_only_if_known_and_nobody_and_nothing_uses_it(story, run, signs, is_idle):
    session, cores = run(), signs.pop("cores", None)
    sign(session, **signs)
    if cores is not None:
        with platform_scope("test"):
            attempt = Attempt.objects.get(job=session.job_id)
            points = [
                series.Point("cpu.used", {}, clock.now_ms() - ago * 60_000, cores, unit="cores")
                for ago in range(59, 0, -1)
            ]
            series.append(f"attempt:{attempt.id.hex}", points, org_id=session.org_id)
    is_known = shown(story, session)["is_running"]
    assert is_known is (cores is not None or signs.get("asked_at", 60) < 10)
    apply_idle_rules()
    assert (kinds(session) == ["job.idle_warned"]) is is_idle


def test_forgotten_session_is_warned_kept_warned_again_and_stopped(story, run):
    session, now = run(), clock.now()
    sign(session, asked_at=0, person_at=61)
    with clock.frozen(now):
        apply_idle_rules()
        consume()
        [told] = story.api(story.ben).get("/api/v1/me/notifications").json()["items"]
        assert "muster session keep 1" in told["body"] and "nothing computed" in told["body"]
        page = story.client(story.ben).get("/atlas/sessions/1").content.decode()
        assert "This session is idle." in page and "Keep running" in page
        story.client(story.ben).post("/atlas/sessions/1/keep", {"hours": "2"})
        page = story.client(story.ben).get("/atlas/sessions/1").content.decode()
        assert "keeps this session" in page and shown(story, session)["warns_at"] is None
    with clock.frozen(now + 60 * MINUTES):
        sign(session, asked_at=0)
        apply_idle_rules()
        assert kinds(session) == ["job.idle_warned", "job.idle_kept"]
    for minutes in (125, 156):
        with clock.frozen(now + minutes * MINUTES):
            sign(session, asked_at=0)
            apply_idle_rules()
    assert kinds(session)[2:] == ["job.idle_warned", "job.idle_stopped", "job.cancel_asked"]
    with platform_scope("test"):
        attempt = Attempt.objects.get(job=session.job_id)
        transition([StateChange(attempt.id, State.CANCELED, "local", Reason.CANCELED)])
    page = story.client(story.ben).get("/atlas/sessions/1").content.decode()
    assert "Nobody used it and nothing computed in it for 217 min" in page


@pytest.mark.parametrize(("metric", "use", "is_idle"), [
    ("auto", 0.6, False), ("auto", 0.01, True), ("auto", None, False), ("ports", 0.6, True)
])  # fmt: skip
def test_session_whose_gpu_works_or_is_not_measured_is_left_alone(story, run, metric, use, is_idle):
    session = run(gpus="h100:1")
    IdleRule.objects.update(metric=metric)
    sign(session, asked_at=0, person_at=61)
    with platform_scope("test"):
        placement = {"node": "n0", "gpus": [0], "uuids": [], "cpus": 1000, "memory": 0}
        Attempt.objects.filter(job=session.job_id).update(node="n0", placement=placement)
        name, node = "gpu.utilization", Node.objects.get(name="n0")
        points = [
            series.Point(name, {"gpu": "0"}, clock.now_ms() - ago * 60_000, use or 0, unit="x")
            for ago in range(61 if use is not None else 0, 0, -1)
        ]
        series.append(f"node:{node.id.hex}", points, org_id=None)
    assert shown(story, session)["is_running"] is is_idle
    apply_idle_rules()
    assert (kinds(session) == ["job.idle_warned"]) is is_idle


def test_use_after_the_warning_ends_it(story, run):
    session = run()
    sign(session, asked_at=0, person_at=61)
    apply_idle_rules()
    sign(session, person_at=0)
    apply_idle_rules()
    assert kinds(session) == ["job.idle_warned", "job.idle_ended"]


def test_use_of_any_port_counts(story, run):
    session = run()
    sign(session, asked_at=0, person_at=61)
    with platform_scope("test"):
        attempt, now = Attempt.objects.get(job=session.job_id), clock.now()
        PortActivity.objects.create(  # of SSH
            org_id=session.org_id, attempt=attempt, port=2, last_used_at=now, reported_at=now
        )
    apply_idle_rules()
    assert kinds(session) == ["job.idle_warned"]
    with platform_scope("test"):
        PortActivity.objects.filter(port=2).update(person_at=now)
    apply_idle_rules()
    assert kinds(session) == ["job.idle_warned", "job.idle_ended"]


@pytest.mark.parametrize("terminals", [[{"name": "1"}], [{"name": "x" * activity.MOST}]])
def test_what_an_app_does_not_say_in_time_and_size_is_unknown(story, run, monkeypatch, terminals):
    session = run()

    def app(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=terminals if "terminals" in request.url.path else [])

    monkeypatch.setattr(
        activity, "new_client", lambda: httpx.Client(transport=httpx.MockTransport(app))
    )
    activity.ask_apps()
    assert not shown(story, session)["is_running"]


def test_apps_say_whether_they_compute_and_the_answer_is_kept(story, run, monkeypatch):
    jupyter, terminal, silent = run(), run("terminal"), run("jupyter", name="silent")
    answers = {
        f"/{jupyter.number}/": {"kernels": [{"execution_state": "busy"}], "terminals": []},
        f"/{terminal.number}/": {"status": {"shells": 1, "busy": False}},
    }

    def app(request: httpx.Request) -> httpx.Response:
        found = next((one for key, one in answers.items() if key in request.url.path), None)
        name = request.url.path.rpartition("/")[2]
        return httpx.Response(200 if found else 503, json=(found or {}).get(name))

    monkeypatch.setattr(
        activity, "new_client", lambda: httpx.Client(transport=httpx.MockTransport(app))
    )
    activity.ask_apps()
    with platform_scope("test"):
        rows = {row.attempt.job_id: row for row in PortActivity.objects.all()}
    known = [
        (bool(rows[one.job_id].asked_at), bool(rows[one.job_id].busy_at))
        for one in (jupyter, terminal, silent)
    ]
    assert known == [(True, True), (True, False), (False, False)]
    ours = Address("atlas", jupyter.number, "app")
    ticket = handover.make_own_ticket(ours)
    with no_scope():
        grant = PortProvider().admit(ours, Credential(ticket=ticket))
        assert not grant.is_counted and grant.authorization
        with pytest.raises(NotAuthenticated):
            PortProvider().admit(
                Address("atlas", terminal.number, "app"), Credential(ticket=ticket)
            )
        with clock.frozen(clock.now() + MINUTES), pytest.raises(NotAuthenticated):
            PortProvider().admit(ours, Credential(ticket=ticket))


def frame(opcode: int, content: bytes, mask: bytes = b"\x11\x22\x33\x44") -> bytes:
    size = len(content)
    head = (
        bytes((0x80 | opcode, 0x80 | size))
        if size < 126
        else bytes((0x80 | opcode, 0xFE)) + (size.to_bytes(2, "big"))
    )
    return head + mask + bytes(byte ^ mask[n % 4] for n, byte in enumerate(content))


def test_only_messages_count_as_a_person_however_frames_are_cut():
    quiet = [
        frame(0x9, b"ping"), frame(0xA, b""), frame(0x8, b"\x03\xe8"), frame(0x2, b""),
        frame(0x2, b"\x09" + bytes(12)), frame(0x2, b"\x03" + bytes(12)),
    ]  # fmt: skip
    typed = [frame(0x2, b"l"), frame(0x1, json.dumps({"a": "b" * 300}).encode()),
             frame(0x2, b"\x01" + bytes(12))]  # fmt: skip
    for size in (1, 3, 7, 10_000):
        for message in (*quiet, *typed):
            frames, data = Frames(), b"".join(quiet) + message + quiet[0]
            parts = [data[at : at + size] for at in range(0, len(data), size)]
            heard = [frames.feed(part) for part in parts]
            assert any(heard) is (message in typed)
