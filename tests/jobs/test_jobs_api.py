"""The REST API of jobs, as a program uses it."""

from __future__ import annotations

import json
import threading

import pytest
from django.db import connections

from jobs.models import Attempt, Job
from portal.core.ids import uuid7
from portal.core.models import Event
from schedulers.states import State
from tests.jobs.stage import GIB, cluster_with, submit
from workspaces.quotas.set_limits import set_quota
from workspaces.tenancy.scope import org_scope, platform_scope

JOBS = "/api/v1/orgs/atlas/jobs"


@pytest.fixture
def ada(story):
    cluster_with(cpus=8, memory=32 * GIB)
    return story.api(story.ada)


def post(client, body, path=JOBS, **headers):
    return client.post(path, json.dumps(body), content_type="application/json", headers=headers)


def test_accepted_job_has_its_number_and_page(ada):
    answer = post(ada, {"team": "vision", "spec": {"run": "true", "name": "first"}})
    body = answer.json()
    assert answer.status_code == 201
    assert (body["number"], body["state"], body["page"]) == (1, "queued", "/atlas/jobs/1")
    assert (
        ada.get(f"{JOBS}/1").json()["id"]
        == ada.get(f"{JOBS}/{body['id']}").json()["id"]
        == body["id"]
    )


BAD = [
    ({"run": "true", "nmae": "x"}, "nmae", "name"),
    ({}, "run", "required"),
    ({"run": "true", "name": "a" * 500}, "name", "long"),
    ({"run": "true", "name": "a\nb"}, "name", ""),
    ({"run": "true", "envs": {"LD_PRELOAD": "x"}}, "envs.LD_PRELOAD", ""),
    ({"run": "true", "resources": {"cpus": 64}}, "resources.cpus", "8 cores"),
    ({"run": "true", "resources": {"memory": "1Ti"}}, "resources.memory", "32 GiB"),
    ({"run": "true", "resources": {"accelerators": 1}}, "resources.accelerators", "0 GPUs"),
    ({"run": "true", "after": [99]}, "after[0]", "99"),
    ({"run": "true", "policy": {"pool": "moon"}}, "policy.pool", "local"),
    ({"run": "true", "secrets": {"A": "team/a"}}, "secrets.A", "no secret team/a"),
    ({"run": "true", "num_nodes": 2}, "num_nodes", ""),
]


def test_invalid_input_names_the_field_and_allowed_values_and_writes_nothing(subtests, ada):
    for spec, field, word in BAD:
        with subtests.test(spec=spec, field=field):
            answer = post(ada, {"team": "vision", "spec": spec})
            assert answer.status_code == 400
            assert answer["Content-Type"] == "application/problem+json"
            fault = next(f for f in answer.json()["errors"] if f["field"] == field)
            assert word in fault["message"]
            with platform_scope("test"):
                assert (
                    not Job.objects.exists()
                    and not Event.objects.filter(kind="job.submitted").exists()
                )


def test_malformed_yaml_names_the_line(ada):
    answer = post(ada, {"team": "vision", "yaml": "run: true\nresources: {cpus: [}\n"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["line"] == 2


def test_exceeded_quota_names_its_subject_and_amount(ada, story):
    with org_scope(story.atlas.id):
        set_quota(
            actor=story.actor(story.ada),
            org=story.atlas,
            scope="team",
            subject="vision",
            resource="cpu",
            limit=2,
        )
    answer = post(ada, {"team": "vision", "spec": {"run": "true", "resources": {"cpus": 5}}})
    assert (answer.status_code, answer.json()["code"]) == (409, "quota_exceeded")
    assert (
        "the team's limit is 2 cores" in answer.json()["detail"]
        and "3 cores less" in answer.json()["detail"]
    )


def test_repeated_request_is_one_job_and_another_body_a_conflict(ada):
    first = post(ada, {"team": "vision", "spec": {"run": "true"}}, **{"Idempotency-Key": "k1"})
    again = post(ada, {"team": "vision", "spec": {"run": "true"}}, **{"Idempotency-Key": "k1"})
    other = post(ada, {"team": "vision", "spec": {"run": "false"}}, **{"Idempotency-Key": "k1"})
    assert first.json()["id"] == again.json()["id"] and again["Idempotent-Replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")


def test_replay_with_a_token_without_the_scope_is_refused(ada, story):
    body, key = {"team": "vision", "spec": {"run": "true"}}, {"Idempotency-Key": "k1"}
    assert post(ada, body, **key).status_code == 201
    assert post(story.api(story.ada, scopes=["jobs:read"]), body, **key).status_code == 403
    assert post(ada, body, **key)["Idempotent-Replayed"] == "true"
    with platform_scope("test"):
        assert Job.objects.count() == 1


def test_failed_request_may_be_repeated_under_its_key(ada):
    assert (
        post(ada, {"team": "vision", "spec": {"nope": 1}}, **{"Idempotency-Key": "k"}).status_code
        == 400
    )
    assert (
        post(
            ada, {"team": "vision", "spec": {"run": "true"}}, **{"Idempotency-Key": "k"}
        ).status_code
        == 201
    )


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_with_one_key_create_one_job(transactional_db):
    from tests.story import create_story

    story = create_story()
    cluster_with()
    token, answers = story.token(story.ada), []

    def send():
        from django.test import Client

        answers.append(
            post(
                Client(headers={"Authorization": f"Bearer {token}"}),
                {"team": "vision", "spec": {"run": "true"}},
                **{"Idempotency-Key": "race"},
            )
            .json()
            .get("number")
        )
        connections.close_all()

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [1] * 6


def test_dry_run_answers_everything_and_writes_nothing(ada):
    answer = post(
        ada,
        {"team": "vision", "spec": {"run": "python train.py", "envs": {"A": "b"}}},
        f"{JOBS}?dry_run=true",
    ).json()
    assert answer["ok"] and answer["starts_now"]
    assert "python train.py" in answer["launch"] and "A=b" in answer["launch"]
    with platform_scope("test"):
        assert not Job.objects.exists()


def test_dry_run_of_an_impossible_job_names_the_largest_node(ada):
    answer = post(
        ada,
        {"team": "vision", "spec": {"run": "true", "resources": {"cpus": 99}}},
        f"{JOBS}?dry_run=true",
    ).json()
    assert not answer["ok"]
    assert any("8 cores" in check["text"] for check in answer["checks"] if not check["ok"])


def test_pages_visit_all_jobs_in_both_directions(ada, story):
    for n in range(23):
        submit(story, name=f"job-{n}")
    seen, cursor = [], ""
    while True:
        page = ada.get(JOBS, {"limit": 5, "cursor": cursor}).json()
        seen.append([j["number"] for j in page["items"]])
        if not page["next"]:
            break
        cursor = page["next"]
    assert sum(seen, []) == list(range(23, 0, -1))
    back = ada.get(JOBS, {"limit": 5, "cursor": page["previous"]}).json()
    assert [j["number"] for j in back["items"]] == seen[-2]


@pytest.mark.both_databases
def test_unknown_filter_is_refused(ada, story):
    submit(story, name="alpha", labels={"kind": "eval"})
    submit(story, name="beta")

    def names(**asked):
        return [j["name"] for j in ada.get(JOBS, asked).json()["items"]]

    assert (
        names(q="al") == ["alpha"]
        and names(q="#2") == ["beta"]
        and names(label="kind:eval") == ["alpha"]
    )
    assert (
        names(state="queued,running") == ["beta", "alpha"]
        and names(state="failed") == []
        and names(owner="me") == ["beta", "alpha"]
    )
    assert ada.get(JOBS, {"order_by": "password"}).status_code == 400
    assert ada.get(JOBS, {"state": "happy"}).json()["errors"][0]["field"] == "state"


def test_longer_list_takes_no_more_queries(ada, story, django_assert_max_num_queries):
    for n in range(30):
        submit(story, name=f"job-{n}")
    ada.get(JOBS)
    with django_assert_max_num_queries(7):
        assert len(ada.get(JOBS, {"limit": 30}).json()["items"]) == 30


def test_every_response_has_the_rate_limit_and_429_has_retry_after(ada, settings):
    assert ada.get(JOBS)["RateLimit-Limit"] == str(settings.MUSTER_API_RATE)
    settings.MUSTER_API_RATE = 1
    answer = ada.get(JOBS)
    assert (
        answer.status_code == 429
        and int(answer["Retry-After"]) <= 60
        and answer.json()["retryable"] is True
    )


def test_cancel_hold_release_and_rerun_take_effect(ada, story):
    submit(story)
    assert post(ada, {}, f"{JOBS}/1/hold").json()["pending"]["code"] == "held"
    assert post(ada, {}, f"{JOBS}/1/release").json()["pending"]["code"] == "evaluating"
    assert post(ada, {"why": "wrong data"}, f"{JOBS}/1/cancel").json()["state"] == "canceled"
    assert "wrong data" in ada.get(f"{JOBS}/1").json()["reason"]["evidence"]
    assert post(ada, {}, f"{JOBS}/1/cancel").status_code == 200
    assert post(ada, {}, f"{JOBS}/1/rerun").json()["number"] == 2
    assert ada.get(f"{JOBS}/2").json()["parent"] == 1


def test_canceled_running_job_is_stopping_until_it_ends(ada, story):
    job = submit(story)
    with platform_scope("test"):
        Attempt.objects.filter(job=job).update(state=State.RUNNING)
    assert post(ada, {}, f"{JOBS}/1/cancel").json()["state"] == "stopping"


def test_array_of_a_thousand_is_one_call(ada):
    body = post(ada, {"team": "vision", "spec": {"run": "true", "array": 1000}}).json()
    assert body["array"]["size"] == 1000
    assert ada.get(f"{JOBS}/1").json()["array"]["states"] == {"queued": 1000}


def test_attempt_pages_omit_and_repeat_no_attempt(subtests, story, ada):
    """Page through three tasks, of which the second has four attempts."""
    job = submit(story, array="0-2")
    with platform_scope("test"):
        second = job.attempts.get(index=1)
        for ordinal in (2, 3, 4):
            Attempt.objects.filter(id=second.id).update(is_current=False)
            second.pk, second.ordinal, second.is_current = uuid7(), ordinal, True
            second.save(force_insert=True)
    for limit in (1, 2, 3, 4, 5, 200):
        with subtests.test(limit=limit):
            seen, after = [], ""
            while after is not None:
                page = ada.get(
                    f"{JOBS}/1/attempts", {"limit": limit, **({"after": after} if after else {})}
                ).json()
                seen += [(attempt["index"], attempt["ordinal"]) for attempt in page["items"]]
                after = page["next"]
            assert seen == [(0, 1), (1, 1), (1, 2), (1, 3), (1, 4), (2, 1)]


def test_validation_says_what_a_submission_would_answer(ada, story):
    def start(text: str) -> dict:
        answer = post(ada, {"team": "vision", "yaml": text}, f"{JOBS}/validate").json()
        assert answer["ok"], answer
        return answer["start"]

    assert start("run: 'true'\n") == {
        "ok": True,
        "starts_now": True,
        "text": "Starts now on local.",
        "errors": [],
        "expected": None,
        "suggestions": [],
    }
    submit(story, resources={"cpus": 8})
    with platform_scope("test"):
        Attempt.objects.update(has_reservation=True, state=State.RUNNING)
    large = start("run: 'true'\nresources:\n  cpus: 99\n")
    assert not large["ok"] and "8 cores" in large["text"]
    assert [(e["field"], e["line"]) for e in large["errors"]] == [("resources.cpus", 3)]


def test_gpu_type_quota_is_refused_while_typing_as_at_submission(story):
    cluster_with(cpus=8, memory=32 * GIB, gpus=8)
    with org_scope(story.atlas.id):
        set_quota(
            actor=story.actor(story.ada),
            org=story.atlas,
            scope="team",
            subject="vision",
            resource="gpu.h100",
            limit=2,
        )
    ada = story.api(story.ada)
    text = "run: 'true'\nresources: {accelerators: 'h100:4'}\n"
    body = {"team": "vision", "yaml": text}
    start = post(ada, body, f"{JOBS}/validate").json()["start"]
    refused = post(ada, body)
    assert refused.status_code == 409
    assert start["text"] == refused.json()["detail"]
    assert [(e["field"], e["line"]) for e in start["errors"]] == [("resources.accelerators", 2)]


def test_rerun_with_overrides_changes_single_fields_and_keeps_the_parent(ada, story):
    submit(story, envs={"LR": "1e-3", "SEED": "1"}, name="train")
    path = f"{JOBS}/1/rerun"
    made = post(ada, {"overrides": {"env.LR": "3e-4", "labels.try": "2"}}, path)
    assert made.status_code == 201
    assert made.json()["spec"]["envs"] == {"LR": "3e-4", "SEED": "1"}
    assert made.json()["spec"]["labels"] == {"try": "2"}
    assert ada.get(f"{JOBS}/2").json()["parent"] == 1
    with platform_scope("test"):
        event = Event.objects.filter(kind="job.submitted").order_by("position").last()
    assert event.data["origin"]["label"] == "#1"
    wrong = post(ada, {"overrides": {"resources.cups": 2}}, path)
    assert wrong.status_code == 400
    assert wrong.json()["errors"][0]["field"] == "resources.cups"
    assert post(ada, {"overrides": {"name.x": 1}}, path).json()["errors"][0]["field"] == "name.x"
    body = {"yaml": "run: 'true'\nenvs: {LR: 1}\n", "parent": 1, "team": "vision"}
    changes = post(ada, body, f"{JOBS}/validate").json()["changes"]
    assert {"field": "envs.LR", "before": "1e-3", "after": "1"} in changes


def test_job_options_list_gpu_types_of_the_team_with_free_counts(story):
    cluster_with(cpus=8, memory=32 * GIB, gpus=8)
    answer = story.api(story.ada).get(f"{JOBS}/options", {"team": "vision"}).json()
    assert answer == {
        "gpu_types": [{"type": "h100", "free": 8, "total": 8, "most_per_node": 8, "note": ""}],
        "pools": [],
        "secrets": [],
    }
