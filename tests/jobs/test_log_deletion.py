"""Deletion of logs: permissions, all tasks and attempts, resumption after a kill, reporting."""

from __future__ import annotations

import shutil

import pytest

from clusters.models import Node
from jobs import services, tasks
from jobs.data import log_storage
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job
from portal.blobs.logs import log_store
from portal.core import clock
from portal.core.errors import Conflict, NotPermitted, Unavailable
from portal.core.models import Event
from schedulers.states import Reason, State
from tests.jobs.stage import claim_all, cluster_with, submit
from workspaces.models import Quota
from workspaces.tenancy.scope import org_scope, platform_scope

TEXT = b"a line\n" * 100
URL = "/api/v1/orgs/atlas/jobs/1/logs"
pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(autouse=True)
def everywhere(db):
    with platform_scope("test"):
        yield


def ended(story, *, sealed: bool = True, person=None, **spec) -> Job:
    """Return an ended job of Ada's; each task has a log of 700 bytes."""
    if not Node.objects.exists():
        cluster_with(cpus=64)
    job = submit(story, person, **spec)
    claim_all(job.cluster)
    for attempt in job.attempts.all():
        transition(
            [
                StateChange(
                    attempt.id,
                    State.SUCCEEDED,
                    "test",
                    Reason.COMPLETED,
                    started_at=clock.now(),
                    finished_at=clock.now(),
                    native_id="1",
                )
            ]
        )
        written(attempt, sealed=sealed)
    return Job.objects.get(id=job.id)


def written(attempt: Attempt, text: bytes = TEXT, *, sealed: bool = True) -> None:
    log_store().append(attempt.id.hex, 0, text, 1000)
    if sealed:
        log_store().seal(attempt.id.hex, "exit 0")
        Attempt.objects.filter(id=attempt.id).update(is_log_sealed=True)


def delete(story, job, person=None):
    with org_scope(story.atlas.id):
        return services.delete_logs(actor=story.actor(person or story.ada), job=job)


def sizes(job) -> list[int]:
    return [
        log_store().size(a.id.hex)
        for a in Attempt.objects.filter(job=job).order_by("index", "ordinal")
    ]


def test_deletion_removes_the_bytes_and_is_audited_once(story):
    job = ended(story)
    for _ in range(2):
        delete(story, job)
        tasks.delete_logs()
    event = Event.objects.get(kind="job.log_deleted")
    assert (event.subject_id, event.actor) == (job.id, "ada@atlas.example")
    assert event.data == {
        "number": 1,
        "before": {"log": "kept", "bytes": 700},
        "after": {"log": "deleted", "bytes": 0},
    }
    assert sizes(job) == [0]
    job = Job.objects.get(id=job.id)
    assert (
        job.log_deleted_at and log_storage.deleting(job) is None and log_storage.bytes_of(job) == 0
    )


def test_logs_of_all_tasks_and_attempts_are_deleted(story):
    job = ended(story, array="0-4")
    first = Attempt.objects.filter(job=job).order_by("index").first()
    again = Attempt.objects.create(
        org=job.org, job=job, cluster=job.cluster, index=first.index, ordinal=2, state=State.FAILED
    )
    written(again)
    delete(story, job)
    assert log_storage.deleting(Job.objects.get(id=job.id)) == (0, 6)
    tasks.delete_logs()
    assert sizes(job) == [0] * 6


def test_job_that_has_not_ended_keeps_its_log(story):
    cluster_with()
    with pytest.raises(Conflict, match="#1 has not ended"):
        delete(story, submit(story))


def test_deletion_requires_permission_to_cancel(story):
    job = ended(story)
    with pytest.raises(NotPermitted):
        delete(story, job, story.ben)
    tasks.delete_logs()
    assert sizes(job) == [700]


def test_open_log_is_deleted_once_sealed(story):
    job = ended(story, sealed=False)
    delete(story, job)
    tasks.delete_logs()
    assert sizes(job) == [700] and log_storage.deleting(Job.objects.get(id=job.id)) == (0, 1)
    written(job.attempts.get())
    tasks.delete_logs()
    assert sizes(job) == [0] and log_storage.deleting(Job.objects.get(id=job.id)) is None


def test_interrupted_deletion_continues_and_keeps_the_first_requester(story, monkeypatch):
    job = ended(story, array="0-9")
    delete(story, job)
    real, left = type(log_store()).delete, [4]

    def killed(self, *args):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return real(self, *args)

    monkeypatch.setattr(type(log_store()), "delete", killed)
    with pytest.raises(KeyboardInterrupt):
        tasks.delete_logs()
    assert sizes(job) == [0] * 4 + [700] * 6 and Job.objects.get(id=job.id).log_deleted_at is None
    monkeypatch.undo()
    tasks.delete_logs()
    assert sizes(job) == [0] * 10
    assert {log_store().certificate(a.id.hex).deleted["by"] for a in job.attempts.all()} == {
        "ada@atlas.example"
    }


def test_disk_error_is_retried_and_delays_no_other_job(story, monkeypatch):
    broken, well = ended(story), ended(story)
    delete(story, broken)
    delete(story, well)
    real, bad = type(log_store()).delete, broken.attempts.get().id.hex

    def refuse(self, key, *args):
        if key == bad:
            raise Unavailable("The disk that keeps the logs is full.")
        return real(self, key, *args)

    monkeypatch.setattr(type(log_store()), "delete", refuse)
    tasks.delete_logs()
    assert (sizes(broken), sizes(well)) == ([700], [0])
    monkeypatch.undo()
    tasks.delete_logs()
    assert sizes(broken) == [0]


def test_log_lost_with_its_disk_counts_as_deleted(story):
    lost, other = ended(story), ended(story)
    log_storage.count_closed()
    for job in (lost, other):
        delete(story, job)
    shutil.rmtree(log_store()._folder(Attempt.objects.get(job=lost).id.hex))
    log_storage.delete_requested()
    assert not Job.objects.filter(log_deleted_at=None).exists() and sizes(other) == [0]
    assert set(Quota.objects.filter(resource="storage").values_list("used", flat=True)) == {0}


def test_unreadable_certificate_blocks_no_other_count_or_deletion(story, caplog):
    broken, other = ended(story), ended(story)
    path = log_store()._folder(Attempt.objects.get(job=broken).id.hex) / "certificate.json"
    path.write_text("{")
    log_storage.count_closed()
    assert list(Attempt.objects.order_by("id").values_list("log_bytes", flat=True)) == [None, 700]
    for job in (broken, other):
        delete(story, job)
    log_storage.delete_requested()
    assert [bool(job.log_deleted_at) for job in Job.objects.order_by("id")] == [
        False,
        True,
    ] and "cannot be deleted" in caplog.text


def test_jobs_with_open_logs_block_no_other_deletion(story, monkeypatch):
    waiting, hinted, delete_really = (
        [ended(story, sealed=False) for _ in range(5)],
        [],
        log_storage._delete,
    )
    monkeypatch.setattr(log_storage, "wake_worker", hinted.append)
    job = ended(story)
    for one in (*waiting, job):
        delete(story, one)
    hinted.clear()
    monkeypatch.setattr(
        log_storage,
        "_delete",
        lambda one, until: (
            delete_really(one, until) if one == job else pytest.fail("it has none that may go")
        ),
    )
    log_storage.delete_requested()
    assert sizes(job) == [0] and hinted == []


def test_job_canceled_before_start_has_no_log_to_wait_for(story):
    cluster_with()
    job = submit(story)
    with org_scope(story.atlas.id):
        services.cancel_job(actor=story.actor(story.ada), job=job)
    delete(story, Job.objects.get(id=job.id))
    log_storage.delete_requested()
    assert Job.objects.get(id=job.id).log_deleted_at


def test_long_deletion_yields_to_others_and_continues(story, monkeypatch):
    job = ended(story, array="0-9")
    delete(story, job)
    monkeypatch.setattr(log_storage, "BATCH", 3)
    monkeypatch.setattr(log_storage, "PIECE", 0.15)
    ticks = iter(n / 10 for n in range(1000))
    monkeypatch.setattr(clock, "monotonic", lambda: next(ticks))
    for left in (7, 4, 1, 0):
        tasks.delete_logs()
        assert sum(map(bool, sizes(job))) == left
    tasks.delete_logs()
    assert log_storage.deleting(Job.objects.get(id=job.id)) is None


def test_api_deletes_once_and_every_reader_reports_it(story):
    ended(story)
    api = story.api(story.ada)
    for _ in range(2):
        answer = api.delete(URL)
        assert answer.status_code == 202, answer.content
    data = answer.json()["log_deletion"]
    assert (data["by"], data["is_over"], data["done"], data["total"]) == (
        "ada@atlas.example",
        False,
        0,
        1,
    )
    tasks.delete_logs()
    raw, page = api.get(URL), api.get(f"{URL}?format=json").json()
    why = raw["X-Log-Deleted"]
    assert why.startswith("deleted by ada@atlas.example on ") and raw.content == b""
    assert (raw["X-Log-Start"], raw["X-Log-Size"], raw["X-Log-Complete"]) == ("700", "700", "true")
    assert page["gaps"] == [[0, 700, why]] and page["complete"]
    gone = api.get(f"{URL}/download")
    assert (gone.status_code, gone.json()["code"], gone.json()["detail"]) == (
        410,
        "gone",
        f"This log was {why}.",
    )
    assert api.get(f"{URL}/certificate").json()["certificate"]["deleted"]["bytes"] == 700
    assert api.get(f"{URL}/search?q=line").json() == {"hits": [], "after": 700, "done": True}
    assert api.get("/api/v1/orgs/atlas/jobs/1").json()["log_deletion"]["is_over"]


def test_page_offers_deletion_with_its_size_and_reports_it_afterwards(story):
    ended(story)
    ada = story.client(story.ada)
    before = ada.get("/atlas/jobs/1?tab=logs").content.decode()
    assert "Delete all logs of #1 permanently, of every task and attempt? They use 700 B." in before
    assert (
        "delete-logs" not in story.client(story.ben).get("/atlas/jobs/1?tab=logs").content.decode()
    )
    assert ada.post("/atlas/jobs/1/delete-logs")["Location"] == "/atlas/jobs/1?tab=logs"
    assert "0 of 1 are deleted" in ada.get("/atlas/jobs/1?tab=logs").content.decode()
    tasks.delete_logs()
    after = ada.get("/atlas/jobs/1?tab=logs").content.decode()
    assert "deleted by ada@atlas.example on" in after and "are deleted" not in after
    assert "logs/download" not in after and "delete-logs" not in after
