"""Test the local backend: killed supervisors, leftover processes, images with podman, and exec."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.blobs.folders import SharedTree
from schedulers.contract import FolderMount, InputFiles, Port, Rejected
from schedulers.local.backend import LocalBackend
from schedulers.states import Reason, State
from tests.rig.podman import APPLETS, IMAGE
from tests.rig.processes import free_port
from tests.schedulers.conftest import Stage, a_sleep, cleaned_up, running


@pytest.fixture
def local(shared_folder, wait_for) -> Iterator[Stage]:
    yield from cleaned_up(
        Stage(LocalBackend, {"root": str(shared_folder / "jobs")}, shared_folder, wait_for)
    )


@pytest.fixture
def small_disk(shared_folder, wait_for) -> Iterator[Stage]:
    """Jobs on a disk of 4 MiB."""
    root = shared_folder / "jobs"
    root.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4M", "tmpfs", str(root)], check=True)
    try:
        yield from cleaned_up(Stage(LocalBackend, {"root": str(root)}, shared_folder, wait_for))
    finally:
        subprocess.run(["umount", "--lazy", str(root)], check=True)


def test_full_disk_of_local_jobs_is_told(small_disk):
    seen, log = small_disk.run("seq 1 900000 2> /dev/null; sleep 1.5; exit 1")
    assert seen.reason == Reason.DISK_FULL and "The disk was full while it ran" in seen.evidence
    chunk = small_disk.backend.read_log(small_disk.keys[0], len(log))
    assert (chunk.start, chunk.data) == (len(log) + 1, b"") and "disk was full" in chunk.why_lost
    assert small_disk.backend.read_log(small_disk.keys[0], chunk.start).start == chunk.start
    probe = small_disk.backend.probe()
    assert probe.is_ok and "100 % full" in probe.warnings[0]


@pytest.fixture
def boxed(tmp_path: Path, wait_for, podman: tuple[str, ...]) -> Iterator[Stage]:
    """The local backend with podman and no network."""
    options = {"root": str(tmp_path / "jobs"), "podman": podman, "run_options": ["--network=none"]}
    yield from cleaned_up(Stage(LocalBackend, options, tmp_path, wait_for))


def _supervisors(folder: Path) -> list[int]:
    """Return the supervisors of this folder, by their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if (
                len(words) > 2
                and words[-2] == str(folder).encode()
                and words[-3].endswith(b"supervisor.py")
            ):
                found.append(int(entry.name))
    return found


def _kill_supervisor(stage: Stage, key: str) -> None:
    folder = stage.path / "jobs" / key
    for pid in stage.wait_for(lambda: _supervisors(folder)):
        os.kill(pid, signal.SIGKILL)
    stage.wait_for(lambda: not _supervisors(folder))


def test_killed_supervisor_preserves_log_and_exit_code(local):
    key = local.submit("for n in $(seq 1 40); do echo line $n; sleep 0.05; done; exit 6").key
    local.logged(key, b"line 3\n")
    _kill_supervisor(local, key)
    assert local.look(key).state == State.RUNNING
    local.wait_for(lambda: _supervisors(local.path / "jobs" / key))
    seen = local.ended(key)
    assert (seen.reason, seen.exit_code) == (Reason.USER_ERROR, 6)
    assert local.log(key) == b"".join(b"line %d\n" % n for n in range(1, 41))


def test_end_without_supervisor_is_reported_by_next(local):
    key = local.submit("echo on; sleep 0.4; exit 9").key
    local.logged(key, b"on")
    _kill_supervisor(local, key)
    local.wait_for((local.path / "jobs" / key / "exit").exists)
    assert local.ended(key).exit_code == 9


def test_cancel_works_after_supervisor_was_killed(local):
    key = local.submit("echo on; sleep 60").key
    local.logged(key, b"on")
    _kill_supervisor(local, key)
    local.backend.cancel(key, 5)
    assert local.ended(key, 10).reason == Reason.CANCELED


def test_job_killed_with_supervisor_is_reported(local):
    handle = local.submit("exec sleep 60")
    _kill_supervisor(local, handle.key)
    os.killpg(int(handle.native_id), signal.SIGKILL)
    seen = local.ended(handle.key)
    assert (seen.reason, seen.signal) == (Reason.KILLED_BY_SIGNAL, 9)
    assert "SIGKILL from outside" in seen.evidence


def test_leftover_process_is_killed_and_reported(local):
    started, words = local.path / "started", a_sleep()
    away = f"env -i setsid -f sh -c 'echo > {started}; exec {words}' >/dev/null 2>&1"
    key = local.submit(f"{away}; while [ ! -s {started} ]; do sleep 0.02; done; exit 0").key
    seen = local.ended(key)
    assert seen.reason == Reason.COMPLETED
    assert "1 processes that it left behind were ended" in seen.evidence
    local.wait_for(lambda: not running(words), 5)


def test_exec_uses_directory_and_environment_of_job(local):
    key = local.submit("echo here > note; echo on; sleep 30", env={"WORD": "sesame"}).key
    local.logged(key, b"on")
    assert local.backend.exec(key, ["sh", "-c", "cat note; echo $WORD; exit 3"]) == (
        3,
        b"here\nsesame\n",
    )


@pytest.mark.parametrize(
    ("argv", "words"), [(["no-such-program"], "no such file"), (["sleep", "9"], "within 0.5 s")]
)
def test_impossible_exec_is_rejected_with_message(local, argv, words):
    key = local.submit("sleep 30").key
    with pytest.raises(Rejected, match=words):
        local.backend.exec(key, argv, timeout=0.5)


def test_jobs_see_their_own_files_only(local):
    keys = [local.submit("echo mine > file; ls; echo $MUSTER_OUTPUT_DIR").key for _ in range(2)]
    logs = [local.log(key) for key in keys if local.ended(key)]
    assert all(log.startswith(b"file\n") for log in logs) and len(set(logs)) == 2


def test_image_without_podman_is_rejected_with_advice(tmp_path):
    backend = LocalBackend.configured({"root": str(tmp_path), "podman": ()})
    stage = Stage(LocalBackend, {"root": str(tmp_path), "podman": ()}, tmp_path, None)
    with pytest.raises(Rejected, match="install podman") as refused:
        backend.submit(stage.launch("true", image=IMAGE))
    assert refused.value.field == "image"


def test_image_runs_with_its_files_and_variables_of_job(boxed):
    script = "ls /bin | cat; echo $WORD; pwd; echo kept > $MUSTER_OUTPUT_DIR/result"
    key = boxed.submit(script, image=IMAGE, env={"WORD": "two words"}).key
    seen = boxed.ended(key, 40)
    assert seen.reason == Reason.COMPLETED, boxed.log(key)
    assert boxed.log(key).decode().split("\n") == [
        *sorted(["busybox", *APPLETS]),
        "two words",
        "/muster/work",
        "",
    ]
    assert (boxed.path / "jobs" / key / "out" / "result").read_text() == "kept\n"


@pytest.mark.integration
def test_exec_with_image_runs_inside_container(boxed):
    key = boxed.submit("echo on; sleep 60", image=IMAGE).key
    boxed.logged(key, b"on", 30)
    code, output = boxed.backend.exec(key, ["ls", "/"])
    assert code == 0 and b"muster" in output and b"usr" not in output
    words = a_sleep()
    with pytest.raises(Rejected, match="did not end within"):
        boxed.backend.exec(key, ["sh", "-c", f"{words} & {words}"], timeout=3)
    boxed.wait_for(lambda: not running(words), 5)
    assert boxed.look(key).state == State.RUNNING


@pytest.mark.integration
def test_cancel_stops_container_and_forget_removes_it(boxed):
    key = boxed.submit(
        "trap 'echo bye; exit 0' TERM; echo on; while true; do sleep 0.1; done", image=IMAGE
    ).key
    boxed.logged(key, b"on", 30)
    boxed.backend.cancel(key, 20)
    boxed.ended(key, 20)
    assert boxed.log(key) == b"on\nbye\n"
    boxed.backend.forget(key)
    listed = subprocess.run(
        [*boxed.options["podman"], "ps", "--all", "--format", "{{.Names}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert key not in listed.stdout


@pytest.mark.integration
def test_container_ignoring_sigterm_is_killed(boxed):
    key = boxed.submit("trap '' TERM; echo on; while true; do sleep 0.1; done", image=IMAGE).key
    boxed.logged(key, b"on", 30)
    boxed.backend.cancel(key, 1)
    assert boxed.ended(key, 30).reason == Reason.CANCELED


@pytest.mark.integration
def test_image_without_gpu_code_has_reason_and_digest(boxed, podman):
    seen, _ = boxed.run(
        "echo 'CUDA error: no kernel image is available for execution on the device' >&2; exit 1",
        image=IMAGE,
    )
    inspect = [*podman, "image", "inspect", "--format", "{{.Digest}}", IMAGE]
    digest = subprocess.run(inspect, capture_output=True, text=True, check=True).stdout.strip()
    assert (seen.reason, seen.image_digest) == (
        Reason.NO_KERNEL_IMAGE,
        digest,
    ) and digest.startswith("sha256:")


@pytest.mark.integration
def test_missing_image_is_reported(boxed):
    seen, _ = boxed.run("true", image="localhost/muster-none:1")
    assert seen.reason == Reason.IMAGE_UNAVAILABLE and "muster-none" in seen.evidence


MOUNTED = """
cat /data/a.txt "$MUSTER_INPUT_DATA/a.txt" /code/train.py
(echo bad > /data/a.txt) 2> /dev/null && echo wrote
(echo bad > "$MUSTER_WORKSPACE_VOICES/x") 2> /dev/null && echo wrote
echo new > /code/new; cat "$MUSTER_WORKSPACE_CODE/new"; echo end
"""


@pytest.mark.integration
def test_container_has_inputs_and_workspaces_at_their_paths(boxed, shared_folder):
    home = shared_folder / "home"
    data = home / "trees" / "o" / "c-k"
    data.mkdir(parents=True)
    (data / "a.txt").write_text("bytes\n")
    trees = [SharedTree(home / "workspaces" / "org", name) for name in ("code", "voices")]
    for tree in trees:
        tree.create()
    (trees[0].path / "train.py").write_text("the code\n")
    boxed.options["home"] = str(home)
    boxed.backend = boxed.again()
    seen, log = boxed.run(
        MOUNTED,
        image=IMAGE,
        inputs=[
            InputFiles("data", "o", "dataset", "x", 1, "c" * 40, tree="trees/o/c-k", path="/data")
        ],
        workspaces=[
            FolderMount("code", str(trees[0].path), "/code"),
            FolderMount("voices", str(trees[1].path), read_only=True),
        ],
    )
    assert (seen.reason, log) == (Reason.COMPLETED, b"bytes\nbytes\nthe code\nnew\nend\n")
    assert trees[0].entry("new").size == 4 and trees[1].listing("") == []


def test_port_of_a_container_on_the_machines_network_is_found(tmp_path, wait_for, podman):
    network = ["--network=host"]
    options = {"root": str(tmp_path / "jobs"), "podman": podman, "run_options": network}
    stage = Stage(LocalBackend, options, tmp_path, wait_for)
    cleanup = cleaned_up(stage)
    next(cleanup)
    port, other = free_port(), free_port()
    run = f"while true; do echo from the container | nc -l -p {port}; done"
    key = stage.submit(run, image=IMAGE, ports=(Port("web", port),)).key
    wait_for(lambda: answer_of(stage, key, port) == b"from the container\n", 30)
    with pytest.raises(Rejected):
        stage.backend.endpoint(key, other)
    list(cleanup)


def answer_of(stage: Stage, key: str, port: int) -> bytes:
    try:
        found = stage.backend.endpoint(key, port)
        with socket.create_connection((found.host, found.port), 5) as sock:
            sock.settimeout(5)
            return sock.recv(100)
    except (Rejected, OSError):
        return b""
