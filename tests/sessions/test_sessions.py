"""Sessions from the API to the job, its launch, the page, the event and the palette."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from unittest.mock import ANY

import pytest

from clusters.models import Cluster, Gpu, Node
from datasets.folders.services import delete_folder
from datasets.models import SharedFolder
from experiments.jobs import follow_job, follow_jobs
from experiments.models import Run
from experiments.selectors import find_run
from jobs import services as job_services
from jobs.dispatch.launch import build_launches
from jobs.models import Attempt, Job, PortActivity
from jobs.ports.listing import port_rows
from jobs.ports.provider import PortProvider
from jobs.scheduling import placement
from portal.blobs.logs import log_store
from portal.core import clock
from portal.core.errors import InvalidInput, NotFound
from portal.core.models import Event
from portal.gateway.provider import Address, Credential
from schedulers.contract import Capability
from schedulers.local.backend import LocalBackend
from schedulers.spec import parse_mapping
from schedulers.states import Reason, State
from sessions import kind, services
from sessions.choices import SessionChoices
from sessions.homes import QUOTA
from sessions.lists import SESSIONS
from sessions.models import Home, InteractiveSession
from sessions.selectors import find_session, state_of, visible_sessions
from sessions.states import SESSION
from sessions.templates import templates
from tests.jobs.stage import cluster_with
from workspaces.models import Team
from workspaces.tenancy.scope import no_scope, org_scope

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/orgs/atlas/sessions"


def send(client, verb: str, path: str = "", body=None) -> tuple[int, dict]:
    with no_scope():
        answer = client.generic(
            verb, f"{ROOT}{path}", json.dumps(body or {}), content_type="application/json"
        )
    return answer.status_code, json.loads(answer.content or b"{}")


def started(story, actor=None, **choices) -> InteractiveSession:
    given, actor = (
        SessionChoices(**{"template": "jupyter", "name": "notebook", **choices}),
        story.actor(actor or story.ben),
    )
    return services.start_session(actor=actor, team=story.vision, choices=given)


def set_job(session: InteractiveSession, **values) -> None:
    Job.objects.filter(id=session.job_id).update(**values)
    shared = {name: values[name] for name in ("state", "reason", "exit_code") if name in values}
    Attempt.objects.filter(job=session.job_id).update(**shared)


def test_session_is_started_found_and_stopped_with_events(story):
    cluster_with(gpus=2)
    ben = story.api(story.ben)
    body = {"team": "vision", "template": "jupyter", "name": "my notebook", "gpus": "h100:1"}
    code, row = send(ben, "POST", "", body)
    assert code == 201, row
    assert (row["state"], row["template_title"]) == ("queued", "JupyterLab")
    number = row["number"]
    with org_scope(story.atlas.id):
        job = Job.objects.get(number=number)
        assert (job.kind, job.origin_kind, str(job.origin_id)) == ("session", "session", row["id"])
        spec = job.spec
    assert [one["name"] for one in spec["ports"]] == ["app", "ssh"] and spec["resources"][
        "accelerators"
    ] == "h100:1"
    assert spec["policy"]["max_runtime"] == "8h"
    for which in (str(number), "my%20notebook"):
        assert send(ben, "GET", f"/{which}")[1]["progress"]["text"]
    assert [
        one["number"] for one in send(ben, "GET", "?query=state:queued user:me")[1]["items"]
    ] == [number]
    assert send(ben, "GET", "?state=ready")[1]["items"] == []
    browser = story.client(story.ben)
    for page in ("/atlas/sessions", f"/atlas/sessions/{number}", "/atlas/sessions/new"):
        text = browser.get(page).content.decode()
        assert "my notebook" in text or page.endswith("new")
    assert f"/atlas/sessions/{number}" in browser.get(f"/atlas/jobs/{number}").content.decode()
    assert f"/atlas/sessions/{number}" in json.dumps(browser.get("/atlas/find?q=notebook").json())
    assert send(ben, "POST", f"/{number}/stop")[1]["state"] == "stopped"  # it had not begun
    assert send(ben, "POST", f"/{number}/stop")[0] == 200
    code, again = send(ben, "POST", f"/{number}/resume")
    assert (code, again["state"], again["number"]) == (200, "queued", number)
    assert again["job"]["number"] == number + 1
    assert send(ben, "GET", f"/{number + 1}")[1]["number"] == number, "by any of its jobs"
    assert browser.get(f"/atlas/sessions/{number + 1}")["Location"].endswith(f"/{number}")
    assert send(ben, "POST", f"/{number}/resume")[0] == 409, "it has not ended"
    code, again = send(ben, "POST", f"/{number}/restart")
    assert (code, again["state"], again["job"]["number"]) == (200, "queued", number + 2)
    assert ben.get(f"/api/v1/orgs/atlas/jobs/{number + 1}").json()["state"] == "canceled"
    with org_scope(story.atlas.id):
        events = Event.objects.filter(subject_type="interactive").order_by("position")
        kinds = [event.kind.removeprefix("interactive.") for event in events]
        assert kinds == ["started", "stopped", "resumed", "restarted"]


def test_session_is_a_run_only_once_something_is_logged_in_it(story):
    cluster_with()
    with org_scope(story.atlas.id):
        job = started(story).job
    follow_jobs()
    with org_scope(story.atlas.id):
        with pytest.raises(NotFound):
            find_run(story.actor(story.ben), job.id.hex)
        follow_job(job.id)
        assert find_run(story.actor(story.ben), job.id.hex).status == "SCHEDULED"
        set_job(started(story), state=State.FAILED)
        Job.objects.filter(id=job.id).update(state=State.SUCCEEDED)
    follow_jobs()
    with org_scope(story.atlas.id):
        assert [run.status for run in Run.objects.all()] == ["FINISHED"], "it is followed"


def test_wrong_choices_are_told_at_their_fields(story):
    cluster_with()
    ben, wrong = (
        story.api(story.ben),
        {
            "template": ({"template": "emacs"}, "There is no template"),
            "gpus": ({"gpus": "h100:many"}, ""),
            "memory": ({"memory": "lots"}, ""),
            "time_limit": ({"time_limit": "soon"}, ""),
            "data": ({"data": "no such"}, ""),
            "command": ({"template": "app"}, "the command that starts the web app"),
        },
    )
    for field, (choice, text) in wrong.items():
        body = {"team": "vision", "template": "jupyter", **choice}
        code, answer = send(ben, "POST", "", body)
        assert (code, answer["errors"][0]["field"]) == (400, field), answer
        code, checked = send(ben, "POST", "?dry_run=true", body)
        assert (code, checked["ok"], checked["errors"][0]["field"]) == (200, False, field)
        assert text in checked["text"]
    code, answer = send(ben, "POST", "", {"template": "emacs"})
    assert answer["errors"][0]["field"] == "template", "before a missing team"
    body = {"team": "vision", "template": "terminal"}
    assert send(ben, "POST", "?dry_run=true", body)[1]["starts_now"] is True
    text = send(ben, "POST", "?dry_run=true", body | {"template": "jupyter"})[1]["text"]
    assert text.endswith("JupyterLab must be installed there, or choose an image.")
    assert send(ben, "POST", "?dry_run=true", body | {"cpus": "64"})[1]["ok"] is False
    with org_scope(story.atlas.id):
        assert not InteractiveSession.objects.exists() and not Job.objects.exists()


def test_gpus_of_clusters_that_open_no_apps_are_not_offered(story, monkeypatch):
    """Only the local cluster, with H100 GPUs, opens ports."""
    cluster_with(gpus=1)
    far = Cluster.objects.create(name="far", backend="local")
    node = Node.objects.create(cluster=far, name="f0", cpus=64_000, memory=1 << 40)
    Gpu.objects.create(node=node, index=0, uuid="GPU-f", model="NVIDIA L40S", type="l40s", memory=1)
    able = placement._able_to(far)
    monkeypatch.setattr(
        placement,
        "_able_to",
        lambda cluster: able - {Capability.ENDPOINTS} if cluster.name == "far" else able,
    )
    form = story.client(story.ben).get("/atlas/sessions/new?team=vision").content.decode()
    assert 'value="h100:1"' in form and "l40s" not in form
    wrong = {
        "gpus": (
            "l40s:1",
            "The clusters with L40S GPUs can't open web apps. Ask an operator, or choose H100.",
        ),
        "cpus": ("32", "local: no node has 32 cores; the most is 8 cores"),
    }
    unknown = {"gpus": ("h200:1", "No cluster that the team may use has H200 GPUs.")}
    for field, (value, text) in [*wrong.items(), *unknown.items()]:
        body = {"team": "vision", "template": "terminal", field: value}
        code, answer = send(story.api(story.ben), "POST", "", body)
        assert (code, answer["errors"]) == (400, [{"field": field, "message": text}])


def test_every_template_makes_a_job_that_would_start(story):
    cluster_with()
    with org_scope(story.atlas.id):
        for one in templates():
            choices = SessionChoices(one.name, command="serve" if one.has_command else "")
            actor = story.actor(story.ben)
            found = services.check_session(actor=actor, team=story.vision, choices=choices)
            assert found.draft.starts_now, (one.name, found.draft.start_text)


def test_home_is_made_once_mounted_by_default_and_full_is_told(story, monkeypatch):
    cluster_with()
    ben, body = story.api(story.ben), {"team": "vision", "template": "terminal"}
    assert send(ben, "POST", "?dry_run=true", body)[1]["ok"]
    with org_scope(story.atlas.id):
        assert not SharedFolder.objects.exists(), "a dry run makes nothing"
    first, second = (send(ben, "POST", "", body)[1]["number"] for _ in range(2))
    plain = send(ben, "POST", "", {**body, "workspace": "none"})[1]["number"]
    homes = [send(ben, "GET", f"/{number}")[1]["home"] for number in (first, second, plain)]
    assert homes == ["home-ben-vision", "home-ben-vision", ""]
    form = story.client(story.ben).get("/atlas/sessions/new?team=vision").content.decode()
    assert "Home (home-ben-vision)" in form
    with org_scope(story.atlas.id):
        folder, row = SharedFolder.objects.get(), Home.objects.get()
        assert (row.folder, row.user, row.team) == (folder, story.ben, story.vision)
        assert (folder.visibility, folder.quota, folder.owner) == ("private", QUOTA, story.ben)
        launch = build_launches(Attempt.objects.filter(job__number=first), {})[0]
        assert 'export HOME="$MUSTER_WORKSPACE_HOME"' in launch.script
        SharedFolder.objects.update(used_bytes=QUOTA)
    code, answer = send(ben, "POST", "", body)
    assert (code, answer["errors"][0]["field"]) == (400, "workspace")
    assert "home-ben-vision is full" in answer["errors"][0]["message"]
    with org_scope(story.atlas.id):
        delete_folder(actor=story.actor(story.ben), folder=SharedFolder.objects.get(id=folder.id))
    again = send(ben, "GET", f"/{send(ben, 'POST', '', body)[1]['number']}")[1]
    assert again["home"] == "home-ben-vision", "a new one, as the old one is in the trash"
    able = placement._able_to
    monkeypatch.setattr(
        placement, "_able_to", lambda cluster: able(cluster) - {Capability.WORKSPACES}
    )
    assert "no home folder" in send(ben, "POST", "?dry_run=true", body)[1]["text"]
    made = send(ben, "POST", "", body)[1]["number"]
    assert send(ben, "GET", f"/{made}")[1]["home"] == ""
    assert "No home folder" in story.client(story.ben).get("/atlas/sessions/new").content.decode()


def test_time_limit_is_raised_where_the_cluster_can_and_rules_allow(story, monkeypatch):
    cluster_with()
    asked, ben = [], story.api(story.ben)
    monkeypatch.setattr(
        LocalBackend,
        "set_time_limit",
        lambda _, key, seconds, grace: asked.append((seconds, grace)),
    )
    with org_scope(story.atlas.id):
        session = started(story)

    def extended(by: str) -> tuple[int, dict]:
        code, answer = send(ben, "POST", f"/{session.number}/extend", {"by": by})
        return code, send(ben, "GET", f"/{session.number}")[1] if code == 200 else answer

    assert extended("90s") == (200, ANY) and not asked, "it waits: only the portal knows"
    with org_scope(story.atlas.id):
        set_job(session, state=State.RUNNING, started_at=clock.now())
    code, row = extended("2h")
    assert (code, row["time_limit"], asked) == (200, "10h2m", [(36_120, 10)])
    left = datetime.fromisoformat(row["ends_at"]) - clock.now()
    assert timedelta(hours=10) < left < timedelta(hours=10, minutes=3)
    page = story.client(story.ben)
    assert "10h2m" in page.get(f"/atlas/sessions/{session.number}").content.decode()
    page.post(f"/atlas/sessions/{session.number}/extend", {"hours": "1"})
    assert asked[-1][0] == 39_720
    text = page.get(f"/atlas/sessions/{session.number}").content.decode()
    assert "raised the time limit" in text and "11h2m" in text
    assert extended("soon")[1]["errors"][0]["field"] == "by"
    with org_scope(story.atlas.id):
        Team.objects.filter(id=story.vision.id).update(job_rules={"max_runtime": 43_200})
    code, answer = extended("2h")
    assert code == 400 and "allows at most 12h" in answer["errors"][0]["message"]
    monkeypatch.setattr(
        LocalBackend, "capabilities", LocalBackend.capabilities - {Capability.TIME_LIMIT}
    )
    code, answer = extended("1m")
    assert code == 409 and "Start another one before it ends" in answer["detail"]
    assert not send(ben, "GET", f"/{session.number}")[1]["can_extend"]


def test_address_of_a_session_leads_to_its_last_job(story):
    cluster_with()
    with org_scope(story.atlas.id):
        session, actor = started(story), story.actor(story.ben)
        services.stop_session(actor=actor, session=session)
        last = services.resume_session(actor=actor, session=session).job
        Job.objects.filter(id=last.id).update(state=State.RUNNING)
        Attempt.objects.filter(job=last).update(state=State.RUNNING)
        attempt, token = Attempt.objects.get(job=last), story.token(story.ben)
        url = port_rows(attempt, last)[0]["url"]
    assert f"/atlas/{session.number}/app/" in url and last.number != session.number
    for number in (session.number, last.number):
        with no_scope():
            grant = PortProvider().admit(Address("atlas", number, "app"), Credential(token=token))
        assert grant.key == attempt.key


def test_only_the_gateway_and_the_job_have_the_secret(story):
    cluster_with()
    ben = story.api(story.ben)
    with org_scope(story.atlas.id):
        session = started(story)
        attempt = Attempt.objects.select_related("job__org", "job__team", "job__owner").get(
            job=session.job
        )
        [launch] = build_launches([attempt], set())
        secret = launch.data.secret_files[kind.TOKEN_FILE]
        assert len(secret) > 40 and secret not in launch.script + json.dumps(dict(launch.env))
        assert secret.encode() not in bytes(session.secret), "sealed"
        set_job(session, state=State.RUNNING)
        token, ours = story.token(story.ben), Address("atlas", session.number, "app")
    with no_scope():
        grant = PortProvider().admit(ours, Credential(token=token))
    assert grant.authorization == f"token {secret}" and secret not in repr(grant)
    for path in ("", f"/{session.number}", f"/../jobs/{session.job.number}"):
        assert secret not in json.dumps(send(ben, "GET", path)[1])
    assert send(ben, "POST", f"/{session.number}/token") == (200, {"token": secret})


def test_session_of_an_earlier_version_is_no_longer_one_once_started_again(story, monkeypatch):
    cluster_with()
    asked, ben = [], story.api(story.ben)
    monkeypatch.setattr(LocalBackend, "set_time_limit", lambda *given: asked.append(given))
    with org_scope(story.atlas.id):
        session = started(story, template="terminal")
        spec = {**session.job.spec, "ports": [{"name": "app"}]}
        set_job(session, state=State.RUNNING, started_at=clock.now(), spec=spec)
    path = f"/{session.number}"
    assert not send(ben, "GET", path)[1]["can_extend"]
    code, refused = send(ben, "POST", f"{path}/extend", {"by": "1h"})
    assert code == 409 and "earlier version" in refused["detail"] and not asked
    code, refused = send(ben, "POST", f"{path}/share", {"who": "team", "access": "read"})
    assert code == 400 and "earlier version" in refused["errors"][0]["message"]
    with org_scope(story.atlas.id):
        set_job(session, state=State.CANCELED)
    assert send(ben, "POST", f"{path}/resume")[0] == 200
    assert send(ben, "GET", path)[1]["can_extend"]
    assert send(ben, "POST", f"{path}/share", {"who": "team", "access": "read"})[0] == 200


def test_time_limit_has_an_end(story):
    cluster_with()
    with org_scope(story.atlas.id):
        session = started(story)
    code, refused = send(story.api(story.ben), "POST", f"/{session.number}/extend", {"by": "366d"})
    assert code == 400 and "in all" in refused["errors"][0]["message"]
    assert send(story.api(story.ben), "GET", f"/{session.number}")[1]["time_limit"] == "8h"


def test_app_on_a_socket_is_guarded_and_one_on_a_port_gets_no_secret(story):
    cluster_with()
    granted = {}
    for command in ("serve", 'serve --uds "$MUSTER_APP_SOCKET"'):
        with org_scope(story.atlas.id):
            session = started(story, template="app", command=command)
            [attempt] = Attempt.objects.select_related(
                "job__org", "job__team", "job__owner"
            ).filter(job=session.job)
            [launch] = build_launches([attempt], set())
            set_job(session, state=State.RUNNING)
            token, ours = story.token(story.ben), Address("atlas", session.number, "app")
        with no_scope():
            grant = PortProvider().admit(ours, Credential(token=token))
        granted[command] = (bool(grant.authorization), "guard.py" in launch.data.programs)
        assert f"\n{command}" in launch.script
    assert [*granted.values()] == [(False, False), (True, True)]


def test_state_follows_the_job_and_the_first_answer(story):
    cluster_with()
    with org_scope(story.atlas.id):
        session, actor = started(story), story.actor(story.ben)
        steps = [
            ({"state": State.DISPATCHING}, "queued"),
            ({"state": State.STARTING}, "starting"),
            ({"state": State.RUNNING}, "starting"),
            ("answers", "ready"),
            ({"state": State.STOPPING}, "stopping"),
            ({"state": State.CANCELED, "reason": Reason.CANCELED}, "stopped"),
            ({"state": State.FAILED, "reason": Reason.TIME_LIMIT}, "stopped"),
            ({"state": State.FAILED, "reason": Reason.USER_ERROR}, "failed"),
            ({"state": State.SUCCEEDED, "reason": Reason.COMPLETED}, "stopped"),
        ]
        for change, state in steps:
            if change == "answers":
                at = clock.now()
                attempt = Attempt.objects.get(job=session.job)
                facts = {"last_used_at": at, "reported_at": at, "answered_at": at}
                PortActivity.objects.create(
                    org_id=session.org_id, attempt=attempt, port=20_001, **facts
                )
            else:
                set_job(session, **change)
            assert state_of(find_session(actor, str(session.number))) == state
            by_state = {
                key: SESSIONS.answer(actor, {"state": key})["items"] for key, _ in SESSION.choices
            }
            assert [key for key, rows in by_state.items() if rows] == [state]


def test_app_that_never_answers_is_told_after_two_minutes(story):
    cluster_with()
    ben = story.api(story.ben)
    with org_scope(story.atlas.id):
        session = started(story)
        set_job(session, state=State.RUNNING)
        Job.objects.filter(id=session.job_id).update(started_at=clock.now() - timedelta(minutes=3))
    text = send(ben, "GET", f"/{session.number}")[1]["progress"]["text"]
    assert text == "JupyterLab has not answered for 3 min. Look at its log, or restart it."


def test_missing_program_is_named_with_one_fix(story):
    cluster_with()
    ben = story.api(story.ben)
    with org_scope(story.atlas.id):
        session = started(story)
        said = "muster: jupyter-lab is not installed here"
        end = {"state": State.FAILED, "reason": Reason.COMMAND_NOT_FOUND, "exit_code": 127}
        set_job(session, evidence=said, **end)
        attempt = Attempt.objects.get(job=session.job)
        log_store().append(
            attempt.id.hex, 0, b"muster: jupyter-lab is not installed here\n", at_ms=clock.now_ms()
        )
    problem = send(ben, "GET", f"/{session.number}")[1]["problem"]
    assert problem["text"] == "jupyter-lab is not installed where the session ran."
    assert re.search(r"pip install jupyterlab|such as quay", problem["fix"])
    browser, image = story.client(story.ben), problem["image"]
    for path in (f"sessions/{session.number}", "sessions", "jobs"):
        page = browser.get(f"/atlas/{path}", follow=True).content.decode()
        assert "jupyter-lab is not installed where the session ran." in page, path
        assert said not in re.sub(r"(?s)<pre class=.tail-lines.*?</pre>", "", page), path
    assert (
        "Use this image" in browser.get(f"/atlas/sessions/{session.number}").content.decode()
    ) == bool(image)
    form = browser.get(f"/atlas/sessions/new?from={session.number}&image=docker.io/a").content
    assert b'value="docker.io/a"' in form


def test_jobs_of_this_kind_have_a_session(story):
    cluster_with()
    spec = parse_mapping({"run": "true", "kind": "session"})
    with org_scope(story.atlas.id):
        actor = story.actor(story.ben)
        with pytest.raises(InvalidInput, match="started on its own page"):
            job_services.submit_job(actor=actor, team=story.vision, spec=spec)
        session = started(story)
        with pytest.raises(InvalidInput, match="started on its own page"):
            job_services.rerun_job(actor=actor, job=session.job)


def test_form_starts_a_session_and_stops_it(story):
    cluster_with()
    ada = story.client(story.ada)
    answer = ada.post("/atlas/sessions/new", {"team": "vision", "template": "terminal"})
    assert answer.status_code == 302, answer.content.decode()[-3000:]
    page = answer["Location"]
    assert "Terminal" in ada.get(page).content.decode()
    assert ada.post(f"{page}/stop")["Location"] == page
    assert "Start again" in ada.get(page).content.decode()
    refused = ada.post("/atlas/sessions/new", {"team": "vision", "template": "app"})
    assert "the command that starts the web app" in refused.content.decode()


def test_session_of_another_team_or_tenant_is_not_there(story):
    cluster_with()
    with org_scope(story.atlas.id):
        theirs = services.start_session(
            actor=story.actor(story.ada), team=story.speech, choices=SessionChoices("terminal")
        )
        assert not visible_sessions(story.actor(story.ben)).exists()
    for client in (story.api(story.ben), story.api(story.cyd, story.borealis)):
        assert send(client, "GET", f"/{theirs.number}")[0] == 404
        assert send(client, "POST", f"/{theirs.number}/stop")[0] == 404
    page = story.client(story.ben).get(f"/atlas/sessions/{theirs.number}")
    assert page.status_code == 404


def test_members_do_not_open_the_sessions_of_others(story):
    """Ben's role may not run commands in jobs of others; Ada's may."""
    cluster_with()
    with org_scope(story.atlas.id):
        hers = services.start_session(
            actor=story.actor(story.ada), team=story.vision, choices=SessionChoices("terminal")
        )
        set_job(hers, state=State.RUNNING)
    for person, may in ((story.ada, True), (story.ben, False)):
        assert send(story.api(person), "GET", f"/{hers.number}")[1]["may_open"] is may
        for path in ("sessions", f"sessions/{hers.number}"):
            text = story.client(person).get(f"/atlas/{path}").content.decode()
            assert ("/ports/app" in text or "muster session open" in text) is may, path
