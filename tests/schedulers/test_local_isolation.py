"""Test what a job can reach of the portal and other teams, at each level of isolation here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedulers.contract import Launch, Rejected, Unavailable
from schedulers.local import interpreters, isolation
from schedulers.local.backend import LocalBackend
from schedulers.states import Reason, State
from tests.schedulers.conftest import UID, Stage, a_sleep, cleaned_up, running
from tests.stand_in import StandIn

LEVELS = ("user", "user-plain", "sandbox") if os.geteuid() == 0 else ("sandbox",)
BWRAP_LEVELS = tuple(level for level in LEVELS if level != "user-plain")
MARK = "s3same"
ATTACK = """
for file in {home}/secret_key {home}/muster.sqlite3 {victim}/launch.json {victim}/secret.json {victim}/output.log {victim}/work/data \
  {victim}/script /dev/shm/*/secrets-{key}/.env /dev/shm/muster-0/secrets-{key}/.env /dev/shm/muster-0/secrets-{key}/FILE /proc/*/environ; do
    grep -q {mark} "$file" 2>/dev/null && echo "could read $file"
done
ls {home} 2>/dev/null | grep -q secret_key && echo "could list {home}"
ls {home}/jobs 2>/dev/null | grep -q {key} && echo "could list the jobs"
for pid in {pids}; do kill -0 $pid 2>/dev/null && echo "could signal $pid"; done
for file in exit end.json launch.json pid cancel; do
    (echo 0 > ../$file; rm ../$file; ln -sf /etc/passwd ../$file; mv ../out ../away) 2>/dev/null
done
echo tried all
"""


@pytest.fixture
def stage(request: pytest.FixtureRequest, shared_folder: Path, wait_for) -> Iterator[Stage]:
    home = shared_folder / "home"
    (home / "jobs").mkdir(mode=0o700, parents=True)
    home.chmod(0o700)
    options = {"home": str(home), "isolation": request.param}
    yield from cleaned_up(Stage(LocalBackend, options, home, wait_for))


@pytest.mark.parametrize("stage", LEVELS, indirect=True)
def test_job_cannot_reach_portal_or_other_team(stage):
    assert stage.backend.isolation.is_shared, stage.backend.probe().message
    home, secrets = stage.path, {"env": {"WORD": MARK}, "secret_files": {"FILE": MARK}}
    (home / "secret_key").write_text(MARK)
    (home / "muster.sqlite3").write_text(MARK)
    for name in ("secret_key", "muster.sqlite3"):
        (home / name).chmod(0o644)
    stage.backend = stage.again()
    stage.backend.probe()  # like a start of the portal with such files
    victim = stage.submit(f"echo {MARK} > data; echo {MARK}; sleep 60", **secrets)
    stage.logged(victim.key, MARK.encode())
    portal = subprocess.Popen(["sleep", "60"], env={"KEY": MARK})
    try:
        inside = stage.wait_for(
            lambda: next(
                (pid for pid in _tree(int(victim.native_id)) if _name(pid) == "sleep"), None
            )
        )
        attack = ATTACK.format(
            home=home,
            victim=home / "jobs" / victim.key,
            key=victim.key,
            mark=MARK,
            pids=f"{portal.pid} {os.getpid()} {inside} {victim.native_id}",
        )
        key = stage.submit(f"{attack}\necho on\nsleep 60", uid=UID + 1).key
        stage.logged(key, b"on\n", 20)
        assert stage.log(key) == b"tried all\non\n"
        assert stage.look(key).state == State.RUNNING and _files(home / "jobs" / key) == _files(
            home / "jobs" / victim.key
        )
        assert stage.backend.exec(key, ["sh", "-c", attack]) == (0, b"tried all\n"), (
            "nor does a command in it"
        )
    finally:
        portal.kill()
        portal.wait()


@pytest.mark.parametrize("stage", LEVELS, indirect=True)
def test_isolated_job_has_own_files_and_known_end(stage):
    script = """cat "$FILE_FILE"; echo "$WORD"; echo kept > "$MUSTER_OUTPUT_DIR/result"; echo err >> /dev/stderr; touch "$HOME/mine"
trap 'sleep 0.2; echo bye; exit 7' TERM; (env -i setsid sleep 99 &) ; echo on; while true; do sleep 0.05; done"""
    key = stage.submit(
        script, env={"WORD": "it's\ntwo lines"}, secret_files={"FILE": "sesame\n"}
    ).key
    stage.logged(key, b"on\n")
    stage.backend.cancel(key, 20)
    seen = stage.ended(key, 15)
    assert (seen.reason, seen.exit_code) == (Reason.CANCELED, 7)
    log = stage.log(key)
    assert log.startswith(b"sesame\nit's\ntwo lines\nerr\non\n") and log.endswith(b"bye\n")
    folder = stage.path / "jobs" / key
    assert (folder / "out" / "result").read_text() == "kept\n" and (
        folder / "work" / "mine"
    ).exists()
    assert not [
        path
        for path in folder.rglob("*")
        if path.is_file() and b"two lines" in path.read_bytes() and path.name != "output.log"
    ]
    assert list(Path("/dev/shm").rglob(f"*{key}*")) == []


@pytest.mark.parametrize("stage", BWRAP_LEVELS, indirect=True)
def test_job_sees_no_foreign_process_and_leaves_none(stage):
    other, own = a_sleep(), a_sleep()
    stage.submit(f"{other} & wait")
    stage.wait_for(lambda: running(other))
    look = "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"
    away = f"env -i setsid {own} >/dev/null 2>&1 &"
    key = stage.submit(f"{look}\n{away}\nsleep 2; exit 5", uid=UID + 1).key
    stage.wait_for(lambda: running(own))
    code, siblings = stage.backend.exec(key, ["sh", "-c", look])
    seen = stage.ended(key)
    assert code == 0 and other.encode() not in siblings + stage.log(key)
    assert seen.exit_code == 5 and "1 processes that it left behind were ended" in seen.evidence
    stage.wait_for(lambda: not running(own), 5)


@pytest.mark.parametrize("stage", LEVELS, indirect=True)
def test_job_finds_python_under_both_names_beside_broken_shims(stage, monkeypatch):
    shims = stage.path.parent / "shims"
    shims.mkdir()
    for name in interpreters.NAMES:
        (shims / name).write_text("#!/bin/sh\nexit 3\n")
        (shims / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{shims}:{os.environ['PATH']}")
    key = stage.submit("python3 -c 'print(1)' && python -c 'print(2)' && exit 5").key
    assert stage.ended(key).exit_code == 5 and stage.log(key) == b"1\n2\n"


@pytest.mark.integration
def test_copy_of_python_runs_as_another_user(shared_folder, monkeypatch):
    monkeypatch.setattr(interpreters, "OPEN", (Path("/proc/none"), shared_folder / "open"))
    copy = interpreters._open_copy()
    assert copy == interpreters._open_copy() and copy.is_relative_to(shared_folder)
    script = (
        "import ctypes, json, os, sqlite3, ssl, subprocess, sys; print(os.getuid(), sys.prefix)"
    )
    uid = UID if os.geteuid() == 0 else os.geteuid()  # only root's jobs have other users
    become = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
    done = subprocess.run(
        [*(become if uid == UID else []), copy, "-c", script],
        cwd="/",
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"{uid} {copy.parent.parent}\n", done.stderr


def _files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _tree(pid: int) -> list[int]:
    children = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [pid, *(one for child in children for one in _tree(child))]


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def test_foreign_or_symlinked_memory_folder_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(isolation, "MEMORY", tmp_path)
    path = StandIn(os.path, ismount=lambda _: True)
    monkeypatch.setattr(isolation, "os", StandIn(os, path=path))
    made = isolation.memory_folder()
    assert made == tmp_path / f"muster-{os.geteuid()}" and made.stat().st_mode & 0o777 == 0o711
    made.rmdir()
    made.symlink_to(tmp_path)
    assert isolation.memory_folder() is None
    made.unlink()
    made.mkdir()
    os.chown(made, UID, UID)
    assert isolation.memory_folder() is None


def test_isolation_that_cannot_be_tested_is_unavailable(tmp_path, monkeypatch):
    def hang(*args, **kwargs):
        raise subprocess.TimeoutExpired("bwrap", 10)

    with monkeypatch.context() as patched:
        patched.setattr(isolation, "subprocess", StandIn(isolation.subprocess, run=hang))
        with pytest.raises(Unavailable):
            isolation.isolation_of(tmp_path, None)
    assert isolation.isolation_of(tmp_path, None).is_shared


def test_submit_as_root_without_isolation_is_unavailable(tmp_path, monkeypatch):
    backend = LocalBackend.configured({"root": str(tmp_path / "jobs")})
    monkeypatch.setattr(
        LocalBackend,
        "isolation",
        isolation.Isolation(isolation.IsolationLevel.NONE, is_refused=True),
    )
    with pytest.raises(Unavailable, match="do not run as root"):
        backend.submit(Launch(key="k1", name="k", script="id"))


@pytest.mark.parametrize(
    "stage", ["user", "sandbox"] if os.geteuid() == 0 else ["sandbox"], indirect=True
)
def test_exec_with_endless_output_is_truncated_and_killed(stage):
    key = stage.submit("echo on; sleep 60").key
    stage.logged(key, b"on\n")
    code, output = stage.backend.exec(key, ["yes", key])
    assert code == 137 and 1 << 20 < len(output) < (1 << 20) + 200
    stage.wait_for(lambda: not running(f"^yes {key}"))


@pytest.mark.parametrize("stage", LEVELS, indirect=True)
def test_exec_timeout_leaves_no_process(stage):
    key, words = stage.submit("echo on; sleep 60").key, a_sleep()
    stage.logged(key, b"on\n")
    with pytest.raises(Rejected, match="did not end within"):
        stage.backend.exec(key, ["sh", "-c", f"setsid {words} & {words}"], timeout=1)
    stage.wait_for(lambda: not running(words), 5)
    assert stage.look(key).state == State.RUNNING


def test_unfinished_folder_is_removed_by_next_submission(tmp_path):
    backend = LocalBackend.configured({"root": str(tmp_path / "jobs")})
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = [backend.config.root / f".k1.{pid}.7" for pid in (gone.pid, os.getpid())]
    for folder in left:
        folder.mkdir()
        (folder / "secret.json").write_text("sesame")
    backend._remove_unfinished("k1")
    assert [folder.exists() for folder in left] == [False, True]
