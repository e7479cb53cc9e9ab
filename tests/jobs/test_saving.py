"""Outputs of jobs: what becomes a version, when, and which versions are kept."""

from __future__ import annotations

import itertools
import os
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from datasets import services as datasets
from datasets.models import Repository, Version
from datasets.selectors import find_version, tree_of
from jobs.data.outputs import output_of
from jobs.dispatch.launch import build_launches
from jobs.dispatch.lifecycle import StateChange, transition
from jobs.models import Attempt, Job, JobOutput
from jobs.saving import folder as folders
from jobs.saving import saver
from jobs.saving.versions import best_of, versions_by
from jobs.services.measure import store_points
from portal import series
from portal.blobs.files import FileStore
from portal.blobs.store import file_store
from portal.core import clock
from portal.core.errors import InvalidInput, Unavailable
from portal.core.models import Event
from schedulers.programs import save_outputs
from schedulers.states import Reason, State, Wait
from tests.jobs.stage import claim_all, cluster_with, only_attempt, submit
from workspaces.quotas.limits import STORAGE
from workspaces.quotas.set_limits import set_quota
from workspaces.tenancy.scope import org_scope, platform_scope

pytestmark = pytest.mark.django_db
OLD = time.time() - 3600


@pytest.fixture
def stage(story, home):
    with platform_scope("test"):
        cluster_with()
        yield story


def started(story, **output):
    """Submit a job with the output ckpt of the checkpoint resnet, and start it."""
    spec = {"outputs": {"ckpt": {"checkpoint": "resnet", "every": "10m", **output}}}
    job = submit(story, policy={"retries": 1, "backoff": 0}, **spec)
    return job, run(job)


def run(job: Job) -> Attempt:
    claim_all(job.cluster)
    attempt = only_attempt(job)
    build_launches([attempt], (), attempt.cluster)
    transition([StateChange(attempt.id, State.RUNNING, "test")])
    attempt = only_attempt(job)
    folder_of(attempt).mkdir(parents=True)
    return attempt


def folder_of(attempt: Attempt) -> Path:
    output = output_of(attempt.cluster, attempt.key)
    assert output is not None
    return Path(output.path) / "ckpt"


def write(attempt: Attempt, at: float = OLD, **files: str) -> None:
    for name, text in files.items():
        path = folder_of(attempt) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (at, at))


def write_in_place(attempt: Attempt, **files: str) -> None:
    """Write files as a program does that has opened them long ago."""
    for name, text in files.items():
        (folder_of(attempt) / name).write_text(text)
    os.utime(folder_of(attempt), (OLD, OLD))


def end(attempt: Attempt, reason: Reason = Reason.COMPLETED) -> None:
    transition([StateChange(attempt.id, reason.final_state, "test", reason)])


def make_due(job: Job) -> None:
    JobOutput.objects.filter(job=job).update(due_at=clock.now() - timedelta(seconds=1))


def save_now(job: Job) -> JobOutput:
    make_due(job)
    saver.save_due()
    return JobOutput.objects.select_related("version", "repository").get(job=job)


def contents(row: JobOutput) -> dict[str, str]:
    store = file_store()
    return {
        entry.path: store.open(row.org_id, entry.sha256).read().decode()
        for entry in tree_of(row.version).below("")
    }


def test_output_is_saved_while_it_runs_and_at_its_end(stage):
    job, attempt = started(stage)
    assert saver.save_due() == 0  # not due yet
    write(attempt, weights="one", **{"sub/config.json": "{}"})
    points = [series.Point("loss", {}, clock.now_ms(), 0.5, step=400)]
    store_points([(f"job:{job.id.hex}", {})], points, org_id=job.org_id)
    row = save_now(job)
    assert (row.state, row.message, row.is_over) == ("saved", "", False)
    assert contents(row) == {"weights": "one", "sub/config.json": "{}"}
    assert (row.version.message, row.version.job_id) == (f"Job #{job.number}: step 400", job.id)
    assert (row.repository.name, row.repository.team.slug) == ("resnet", "vision")
    assert row.version.author.email == job.owner.email
    assert row.due_at > clock.now() + timedelta(minutes=9)

    assert save_now(job).version == row.version  # nothing has changed
    write(attempt, weights="two")
    (folder_of(attempt) / "sub/config.json").unlink()
    end(attempt, Reason.USER_ERROR)
    saver.save_due()
    row = JobOutput.objects.select_related("version").get(job=job)
    assert (contents(row), row.version.number) == ({"weights": "two"}, 2)
    assert row.is_over
    assert saver.save_due() == 0
    saved = Event.objects.filter(kind="job.output_saved", subject_id=job.id).order_by("position")
    assert [event.data["version"] for event in saved] == [1, 2]


def test_half_written_files_keep_their_last_content(stage):
    job, attempt = started(stage)
    write(attempt, weights="old", **{"checkpoint.tmp": "half", ".model.Ab3dE9": "half"})
    write(attempt, **{"step-2.tmp/weights": "half"})
    assert contents(save_now(job)) == {"weights": "old"}

    write_in_place(attempt, weights="ne", fresh="h")
    row = save_now(job)
    assert contents(row) == {"weights": "old"}
    assert row.due_at < clock.now() + timedelta(seconds=10)  # looked at again soon

    os.rename(folder_of(attempt) / "step-2.tmp", folder_of(attempt) / "step-2")
    write(attempt, weights="new", fresh="whole")
    whole = {"weights": "new", "fresh": "whole", "step-2/weights": "half"}
    assert contents(save_now(job)) == whole

    # A kill cuts what is being written; at an end of its own the job has finished it.
    # It is saved in a version of its own, and a retry continues from the one before.
    write_in_place(attempt, weights="cut")
    end(attempt, Reason.NODE_FAILED)
    row = save_now(job)
    assert contents(row) == whole
    assert "of writing weights, which may be incomplete" in row.message
    row.version = versions_by(job, row.repository).first()
    assert contents(row) == {**whole, "weights": "cut"}
    assert row.version.message == f"Job #{job.number} (may be incomplete: weights)"
    run(job)
    assert contents(JobOutput.objects.select_related("version").get(job=job)) == whole


def test_file_replaced_again_and_again_is_saved(stage, monkeypatch):
    job, attempt = started(stage)
    place, is_over = folder_of(attempt), threading.Event()

    def replace_always() -> None:
        for number in itertools.count():
            (place / "state.tmp").write_text(f"{number:9}\n")
            os.rename(place / "state.tmp", place / "state")
            if is_over.wait(0.05):
                return

    monkeypatch.setattr(folders, "YOUNG", 0.5)
    monkeypatch.setattr(folders, "_is_renamed", lambda *_, **__: False)  # an old kernel's clock
    thread = threading.Thread(target=replace_always)
    thread.start()
    try:
        assert save_now(job).version is None
        is_over.wait(0.6)
        row = save_now(job)
    finally:
        is_over.set()
        thread.join()
    assert len(contents(row)["state"]) == 10
    assert row.due_at < clock.now() + timedelta(minutes=10)


def test_file_with_a_later_status_change_is_whole_at_once(stage):
    job, attempt = started(stage)
    write_in_place(attempt, weights="half")
    time.sleep(0.05)
    (folder_of(attempt) / "weights").rename(folder_of(attempt) / "best")
    assert contents(save_now(job)) == {"best": "half"}


def test_file_renamed_into_place_just_before_a_kill_is_saved(stage):
    job, attempt = started(stage, every=0)
    write_in_place(attempt, **{"state.tmp": "last"})
    os.rename(folder_of(attempt) / "state.tmp", folder_of(attempt) / "state")
    end(attempt, Reason.KILLED_BY_SIGNAL)
    row = save_now(job)
    assert (contents(row), row.message) == ({"state": "last"}, "")


def test_only_file_of_a_killed_job_is_saved_and_said_to_be_incomplete(stage):
    job, attempt = started(stage)
    write_in_place(attempt, weights="cut")
    end(attempt, Reason.OUT_OF_MEMORY)
    row = save_now(job)
    assert "which may be incomplete" in row.message
    row.version = versions_by(job, row.repository).get()
    assert contents(row) == {"weights": "cut"}
    assert Event.objects.get(kind="job.output_saved").data["is_incomplete"]


def test_cut_files_of_long_paths_are_saved(stage):
    job, attempt = started(stage)
    names = [f"{letter * 200}" for letter in "abcde"]
    write_in_place(attempt, **dict.fromkeys(names, "cut"))
    end(attempt, Reason.OUT_OF_MEMORY)
    assert save_now(job).state == "saved"
    version = versions_by(job, Repository.objects.get()).get()
    assert version.files == 5 and len(version.message) == 500


@pytest.mark.parametrize("resume", ["retry", "latest"])
def test_retry_does_not_continue_from_a_version_that_may_be_incomplete(stage, resume):
    job, attempt = started(stage, resume=resume)
    write_in_place(attempt, weights="cut")
    end(attempt, Reason.NODE_FAILED)
    assert "a retry continues from the version before" in save_now(job).message
    run(job)
    assert not JobOutput.objects.get(job=job).is_resumed  # there is none before


def test_cut_file_without_room_is_not_said_to_be_saved(stage):
    job, attempt = started(stage)
    write(attempt, small="small")
    write_in_place(attempt, cut="cut", huge="huge")
    os.truncate(folder_of(attempt) / "huge", 1 << 40)
    end(attempt, Reason.OUT_OF_MEMORY)
    for _ in range(3):  # tried again, and no further version is made
        row = save_now(job)
        assert (row.state, row.is_over) == ("failed", False)
        assert "huge was not saved: " in row.message
        assert "of writing cut, which may be incomplete" in row.message
    assert [version.number for version in versions_by(job, row.repository)] == [2, 1]


def test_what_is_left_out_is_named_in_words(stage):
    job, attempt = started(stage)
    folder = folder_of(attempt)
    write(attempt, weights="one", **{"a\\b": "odd", "half.tmp": "half"})
    deep = folder.joinpath(*"d" * (folders.DEPTH + 1))
    deep.mkdir(parents=True)
    (deep / "file").write_text("deep")
    (folder / "latest").symlink_to("weights")
    with open(os.fsencode(folder) + b"/\xff.bin", "wb") as file:
        file.write(b"not text")
    end(attempt, Reason.USER_ERROR)
    row = save_now(job)
    assert contents(row) == {"weights": "one"}
    for text in (
        "such a name: \\udcff.bin, a\\b.",
        f"more than 40 folders deep: {'/'.join('d' * 41)[:60]}",
        "link or not a regular file: latest.",
        "unfinished file: half.tmp.",
    ):
        assert text in row.message


def test_file_without_room_does_not_block_the_others(stage):
    job, attempt = started(stage)
    write(attempt, small="small")
    with open(folder_of(attempt) / "huge.bin", "wb") as file:
        file.truncate(1 << 40)
    os.utime(folder_of(attempt) / "huge.bin", (OLD, OLD))
    before = time.process_time()
    row = save_now(job)
    assert contents(row) == {"small": "small"}
    assert "huge.bin was not saved: " in row.message and "1 TiB" in row.message
    assert time.process_time() - before < 5  # no byte of it was read
    stored = sum(path.stat().st_size for path in file_store().root.rglob("*") if path.is_file())
    assert stored < 1 << 20

    write_in_place(attempt, cut="cut")
    end(attempt, Reason.OUT_OF_MEMORY)
    for _ in range(3):  # tried again, and no further version is made
        row = save_now(job)
        assert (row.state, row.is_over) == ("failed", False)
    assert [version.number for version in versions_by(job, row.repository)] == [2, 1]


def test_file_that_changes_while_it_is_read_is_left_out(stage, monkeypatch):
    job, attempt = started(stage)
    write(attempt, weights="old", other="o")
    put = FileStore.put

    def put_while_it_grows(store, org_id, chunks, **about):
        stored = put(store, org_id, chunks, **about)
        with open(folder_of(attempt) / "weights", "a") as file:
            file.write("more")
        return stored

    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "put", put_while_it_grows)
        assert contents(save_now(job)) == {"other": "o"}
    end(attempt)
    saver.save_due()
    row = JobOutput.objects.select_related("version").get(job=job)
    assert contents(row)["weights"].startswith("oldmore")


def test_links_of_a_job_are_not_followed(stage, tmp_path):
    job, attempt = started(stage)
    secret = tmp_path / "secret"
    secret.write_text("of the portal")
    os.utime(secret, (OLD, OLD))
    write(attempt, weights="mine")
    (folder_of(attempt) / "link").symlink_to(secret)
    (folder_of(attempt) / "folder").symlink_to(tmp_path)
    os.mkfifo(folder_of(attempt) / "pipe")
    assert contents(save_now(job)) == {"weights": "mine"}

    folder_of(attempt).rename(folder_of(attempt).with_name("away"))
    folder_of(attempt).symlink_to(tmp_path)
    end(attempt)
    row = save_now(job)
    assert (contents(row), row.is_over) == ({"weights": "mine"}, True)


def test_keep_last_and_best_delete_the_other_versions(stage):
    keep = {"last": 2, "best": {"metric": "val_loss", "mode": "min", "n": 1}}
    job, attempt = started(stage, keep=keep)
    repository = None
    for step, loss in enumerate([0.9, 0.2, 0.5, 0.4, 0.6], 1):
        point = series.Point("val_loss", {}, clock.now_ms(), loss, step=step)
        store_points([(f"job:{job.id.hex}", {})], [point], org_id=job.org_id)
        write(attempt, weights=f"step {step}")
        repository = save_now(job).repository
        if step == 1:
            tagged = find_version(repository, "1")
            with org_scope(job.org_id):
                actor = stage.actor(stage.ada)
                datasets.set_tag(actor=actor, repository=repository, name="first", version=tagged)
    left = [version.number for version in versions_by(job, repository)]
    assert left == [5, 4, 2, 1]  # the last two, the best, and the tagged one
    row = JobOutput.objects.get(job=job)
    assert [version.number for version in best_of(row, versions_by(job, repository))] == [2]
    assert Repository.objects.get(id=repository.id).stored_bytes == 4 * len("step 1")

    Repository.objects.filter(id=repository.id).update(legal_hold="audit")
    write(attempt, weights="step 6")
    save_now(job)
    assert len(versions_by(job, repository)) == 5


def test_versions_of_others_are_not_deleted_and_their_card_stays(stage):
    with org_scope(stage.atlas.id):
        actor = stage.actor(stage.ben)
        row = datasets.create_repository(
            actor=actor, team=stage.vision, kind="checkpoint", name="resnet"
        )
        stored = datasets.put_file(actor=actor, repository=row, chunks=[b"about"])
        changes = [datasets.Add(name, stored.sha256) for name in ("README.md", "old")]
        datasets.commit(actor=actor, repository=row, changes=changes, message="by hand")
    job, attempt = started(stage, keep={"last": 1})
    for text in ("one", "two"):
        write(attempt, weights=text)
        row = save_now(job)
    assert contents(row) == {"README.md": "about", "weights": "two"}
    assert list(Version.objects.order_by("number").values_list("number", flat=True)) == [1, 3]


def test_retry_waits_for_the_save_and_continues_from_it(stage):
    job, attempt = started(stage, every=0)
    write(attempt, weights="half way")
    end(attempt, Reason.NODE_FAILED)
    retry = only_attempt(job)
    assert (retry.ordinal, retry.due_at, retry.wait) == (2, None, Wait.BACKOFF)
    assert claim_all(job.cluster) == []
    saver.save_due()
    version = Version.objects.get(job_id=job.id)
    again = run(job)
    assert again.id == retry.id
    row = JobOutput.objects.get(job=job)
    assert (row.attempt_id, row.version_id, row.is_resumed) == (again.id, version.id, True)

    # Nothing new was written: no further version
    write(again, weights="half way")
    end(again)
    assert save_now(job).version == version

    other = submit(stage, outputs={"ckpt": {"checkpoint": "resnet", "resume": "latest"}})
    run(other)
    assert JobOutput.objects.get(job=other).version == version
    fresh = submit(stage, outputs={"ckpt": {"checkpoint": "resnet"}})
    run(fresh)
    assert not JobOutput.objects.get(job=fresh).is_resumed


def test_save_that_ends_after_its_retry_has_started_does_not_end_that(stage, monkeypatch):
    job, attempt = started(stage)
    write(attempt, weights="one")
    end(attempt, Reason.NODE_FAILED)
    put = saver.save_version

    def late(*args):
        version = put(*args)
        Attempt.objects.filter(job=job, is_current=True).update(due_at=clock.now(), wait="")
        run(job)
        return version

    monkeypatch.setattr(saver, "save_version", late)
    saver.save_due()
    row = JobOutput.objects.get(job=job)
    assert (row.attempt_id, row.is_over, bytes(row.seen)) == (only_attempt(job).id, False, b"")


def test_folder_with_too_many_entries_is_not_read_whole(tmp_path, monkeypatch):
    for name in "abc":
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "x.tmp").touch()
    output = save_outputs.SavedFolder(None, "atlas", "7", {"name": "o"}, str(tmp_path))
    for most, is_too_much in ((4, False), (3, True), (2, True)):  # folders, and what is left out
        monkeypatch.setattr(folders, "MOST_ENTRIES", most)
        monkeypatch.setattr(save_outputs, "MOST_ENTRIES", most)
        with folders.opened_folder(str(tmp_path), []) as folder:
            for read in (
                lambda: folders.listing(folder, whole_until=None),
                lambda: output.listed(None, has_succeeded=False, is_end=True),
            ):
                if is_too_much:
                    with pytest.raises((folders.TooManyFiles, save_outputs.PortalRefusal)):
                        read()
                else:
                    read()


def test_refused_save_is_explained_tried_again_and_does_not_hold_a_retry_forever(
    stage, monkeypatch
):
    job, attempt = started(stage)
    write(attempt, weights="one")
    full = Unavailable("The disk is full.", code="disk_full")

    def refuse(*args, **more):
        raise full

    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "put", refuse)
        row = save_now(job)
        assert (row.state, row.message, row.tries, row.version) == (
            "failed",
            "The disk is full.",
            1,
            None,
        )
        assert row.due_at > clock.now()
        assert save_now(job).tries == 2
        failed = Event.objects.filter(kind="job.output_failed", subject_id=job.id)
        assert [event.data["why"] for event in failed] == ["The disk is full."]  # told once
        end(attempt, Reason.NODE_FAILED)
        assert save_now(job).is_over is False
        assert only_attempt(job).due_at is None
        ended = clock.now() - saver.PATIENCE - timedelta(seconds=1)
        Attempt.objects.filter(id=attempt.id).update(finished_at=ended)
        save_now(job)
        assert only_attempt(job).due_at is not None
    row = save_now(job)
    assert (row.state, row.message, row.is_over, contents(row)) == (
        "saved",
        "",
        True,
        {"weights": "one"},
    )


def test_storage_quota_refuses_a_version_until_there_is_room(stage):
    job, attempt = started(stage)
    write(attempt, weights="one")

    def limit(amount):
        with org_scope(stage.atlas.id):
            set_quota(
                actor=stage.actor(stage.ada),
                org=stage.atlas,
                scope="team",
                subject="vision",
                resource=STORAGE,
                limit=amount,
            )

    limit(0)
    row = save_now(job)
    assert (row.state, row.version) == ("failed", None)
    assert "storage" in row.message.lower()
    limit(None)
    assert save_now(job).state == "saved"


def test_repository_of_another_team_is_refused_at_submission(stage):
    with org_scope(stage.atlas.id):
        ada = stage.actor(stage.ada)
        datasets.create_repository(actor=ada, team=stage.speech, kind="checkpoint", name="taken")
    for name, text in (
        ("taken", "another team"),
        ("a--b", "letters, digits"),
        ("borealis/x", "another organization"),
    ):
        with pytest.raises(InvalidInput, match=text) as caught:
            submit(stage, stage.ben, outputs={"ckpt": {"checkpoint": name}})
        assert caught.value.data["errors"][0]["field"] == "outputs.ckpt"
    # Its owner sees it, and has no token of which to speak.
    with pytest.raises(InvalidInput, match=r"taken belongs to Speech.*A job of Vision can't write"):
        submit(stage, stage.ada, outputs={"ckpt": {"checkpoint": "taken"}})


def test_tasks_of_an_array_have_folders_of_their_own(stage):
    job = submit(stage, array="3-4", outputs={"ckpt": {"dataset": "sweep"}})
    claim_all(job.cluster)
    for index in (0, 1):
        attempt = only_attempt(job, index)
        build_launches([attempt], (), attempt.cluster)
        transition([StateChange(attempt.id, State.RUNNING, "test")])
        write(only_attempt(job, index), result=f"of {index}")
        end(attempt)
    saver.save_due()
    row = JobOutput.objects.select_related("version").order_by("version__number").last()
    assert contents(row) == {"3/result": "of 0", "4/result": "of 1"}


def test_two_savers_take_an_output_once(stage):
    job, attempt = started(stage)
    write(attempt, weights="one")
    make_due(job)
    first = saver.take_due(10)
    assert (len(first), saver.take_due(10)) == (1, [])
    JobOutput.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    assert saver.take_due(10) == first


def test_program_in_jobs_reads_a_folder_by_the_same_rules(tmp_path):
    assert save_outputs.UNFINISHED.pattern == folders._UNFINISHED.pattern
    names = ("YOUNG", "MOST_FILES", "MOST_ENTRIES", "DEPTH")
    assert [getattr(save_outputs, n) for n in names] == [getattr(folders, n) for n in names]
    root = tmp_path / "out"
    _write_odd_folder(root)
    now, found = time.time(), []
    for until, has_succeeded, has_ended in itertools.product((None, now), (0, 1), (0, 1)):
        program = save_outputs.SavedFolder(None, "atlas", "7", {"name": "o"}, str(root))
        files, changing = program.listed(until, bool(has_succeeded), bool(has_ended))
        with folders.opened_folder(str(root), []) as folder:
            ours = folders.listing(
                folder,
                whole_until=until,
                has_succeeded=bool(has_succeeded),
                has_ended=bool(has_ended),
            )
        assert {path: tuple(mark) for path, mark in ours.files.items()} == files
        assert sorted(ours.changing) == sorted(changing)
        told = {why: sorted(paths) for why, paths in program.notes.items()}
        reasons = {
            folders._WHY[why].format(paths="", depth=folders.DEPTH): sorted(paths)
            for why, paths in ours.left_out.items()
        }
        assert {f"Not saved, because {why}: .": paths for why, paths in told.items()} == reasons
        found.append((len(files), len(changing), sum(map(len, told.values()))))
    assert len(set(found)) > 3, "the rules depend on time, end and success"


def _write_odd_folder(root: Path) -> None:
    """Write files in place, renamed, old and empty; links, pipes, odd names and deep folders."""
    deep = root.joinpath(*["d"] * 42)
    deep.mkdir(parents=True)
    for folder in (root, root / "d", deep, deep.parent.parent.parent):
        (folder / "in-place").write_text("x")
        (folder / "empty").touch()
        (folder / "part.tmp").write_text("x")
        (folder / "part.tmp").rename(folder / "renamed")
        (folder / "old").write_text("x")
        os.utime(folder / "old", (1, 1))
        (folder / "left.part").write_text("x")
        (folder / "link").symlink_to("old")
        (folder / "links").symlink_to(".")
        os.mkfifo(folder / "pipe")
        (folder / "tmp-folder").mkdir()
        (folder / "tmp-folder" / "inside").write_text("x")
        os.close(os.open(os.fsencode(folder) + b"/\xff", os.O_CREAT))
    (root / "d").rename(root / "renamed-folder")
