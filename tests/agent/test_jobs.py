from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from muster_agent.jobs import (
    JobFolders,
    Jobs,
    JobState,
    Running,
    cpu_growth,
    living_root,
    parse_state,
)
from muster_agent.processes import TICKS, Process, ProcFs

SLEEP = "import time; time.sleep(600)"
BUSY = "while True: pass"
READY = "print('ready', flush=True); "


def numbers(jobs: Jobs) -> dict[str, dict[str, float]]:
    return {reading.key: {s.name: s.value for s in reading.samples} for reading in jobs.measure()}


def measured(jobs: Jobs, wait_for, seconds: float = 1.0) -> dict[str, dict[str, float]]:
    """Measure twice, `seconds` apart."""
    jobs.measure()
    until = time.monotonic() + seconds
    wait_for(lambda: time.monotonic() > until)
    return numbers(jobs)


@pytest.mark.serial
@pytest.mark.integration
def test_job_cpu_usage_matches_the_kernel(spawn, state_of, jobs_dir, wait_for):
    child = spawn(BUSY)
    state_of("muster-a", child.pid)
    jobs, clock = Jobs(jobs_dir), time.monotonic
    jobs.measure()
    ticks, began = ProcFs().process(child.pid).own_ticks, clock()
    wait_for(lambda: clock() > began + 1.5)
    used = numbers(jobs)["muster-a"]["cpu.used"]
    counted = (ProcFs().process(child.pid).own_ticks - ticks) / TICKS / (clock() - began)
    assert used == pytest.approx(counted, abs=0.05)
    assert 0 < used <= 1.05  # a busy machine gives it less than a core


def test_job_sleeping_uses_no_cpu_and_its_memory(spawn, state_of, jobs_dir, wait_for):
    child = spawn(f"x = bytearray(50_000_000); {READY} {SLEEP}")
    child.stdout.readline()
    state_of("muster-a", child.pid)
    found = measured(Jobs(jobs_dir), wait_for, 0.2)["muster-a"]
    status = Path(f"/proc/{child.pid}/status").read_text().splitlines()
    rss = int(next(line for line in status if line.startswith("VmRSS")).split()[1]) * 1024
    assert found["cpu.used"] == 0
    assert found["memory.used"] == pytest.approx(rss, rel=0.02)
    assert found["processes"] == 1


def test_job_bytes_written_to_disk_are_counted(spawn, state_of, jobs_dir, tmp_path, wait_for):
    child = spawn(
        "import os, sys, time\n"
        f"f = os.open({str(tmp_path / 'out')!r}, os.O_CREAT | os.O_WRONLY)\n"
        "print('ready', flush=True); time.sleep(0.3)\n"
        "os.write(f, bytes(8 << 20)); os.fsync(f); print('written', flush=True); time.sleep(600)"
    )
    child.stdout.readline()
    state_of("muster-a", child.pid)
    jobs = Jobs(jobs_dir)
    jobs.measure()
    began = time.monotonic()
    child.stdout.readline()
    found = numbers(jobs)["muster-a"]
    assert found["io.write"] * (time.monotonic() - began) == pytest.approx(8 << 20, rel=0.25)


def test_job_includes_children_and_grandchildren(spawn, state_of, jobs_dir):
    child = spawn(
        f"import subprocess, sys; c = [sys.executable, '-c', {SLEEP!r}]\n"
        "ps = [subprocess.Popen(c) for _ in range(3)]; print('ready', flush=True); ps[0].wait()"
    )
    child.stdout.readline()
    state_of("muster-a", child.pid)
    assert numbers(Jobs(jobs_dir))["muster-a"]["processes"] == 4


DAEMON = f"""
import os, sys, time
if os.fork() == 0:
    if {{setsid}}: os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True); {SLEEP}
    os._exit(0)
os.wait(); time.sleep(600)
"""


@pytest.mark.parametrize(("setsid", "env"), [(False, {}), (True, {"MUSTER_ATTEMPT": "muster-a"})])
def test_job_orphaned_process_is_found_by_session_or_environment(
    spawn, state_of, jobs_dir, wait_for, setsid, env
):
    child = spawn(DAEMON.format(setsid=setsid), env=env)
    orphan = int(child.stdout.readline())
    try:
        state_of("muster-a", child.pid)
        assert orphan in next(iter(Jobs(jobs_dir).measure())).pids
    finally:
        os.kill(orphan, signal.SIGKILL)
        # Its environment names the job of the next test, too
        wait_for(lambda: not ProcFs().environ(orphan))


def test_job_excludes_unrelated_processes(spawn, state_of, jobs_dir):
    child, other = spawn(SLEEP), spawn(SLEEP)
    state_of("muster-a", child.pid)
    jobs = Jobs(jobs_dir)
    jobs.measure()
    assert next(iter(jobs.measure())).pids == {child.pid}
    assert other.pid not in next(iter(jobs.measure())).pids


def test_job_process_older_than_the_state_file_is_found(spawn, state_of, jobs_dir):
    first, second = spawn(SLEEP), spawn(SLEEP)
    state_of("muster-a", first.pid)
    jobs = Jobs(jobs_dir)
    assert set(numbers(jobs)) == {"muster-a"}
    state_of("muster-b", second.pid)
    assert set(numbers(jobs)) == {"muster-a", "muster-b"}


def test_job_continues_until_its_last_process_ends(spawn, state_of, jobs_dir, wait_for):
    child = spawn(
        f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {SLEEP!r}])\n"
        "print(p.pid, flush=True); p.wait()"
    )
    left = int(child.stdout.readline())
    state_of("muster-a", child.pid)
    jobs = Jobs(jobs_dir)
    assert jobs.measure()[0].pids == {child.pid, left}
    child.kill()
    child.wait()
    assert jobs.measure()[0].pids == {left}
    os.kill(left, signal.SIGKILL)
    wait_for(lambda: jobs.measure() == [])
    assert not jobs.has_running()


@pytest.mark.parametrize("told", ["ticks", "seconds", "milliseconds", "iso"])
def test_job_reused_pid_is_not_counted(spawn, state_of, jobs_dir, told):
    child = spawn(SLEEP)
    began = time.time()
    forms = {"ticks": (0, -500), "seconds": (began, -60), "milliseconds": (began * 1000, -60_000)}
    if told == "iso":
        right, wrong = (
            time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(t)) for t in (began, began - 60)
        )
    else:
        start = ProcFs().process(child.pid).started if told == "ticks" else forms[told][0]
        right, wrong = start, start + forms[told][1]
    state_of("muster-right", child.pid, right)
    state_of("muster-wrong", child.pid, wrong)
    assert set(numbers(Jobs(jobs_dir))) == {"muster-right"}


def test_job_adopted_by_a_new_supervisor_is_followed(spawn, state_of, jobs_dir):
    first, second = spawn(SLEEP), spawn(SLEEP)
    state_of("muster-a", first.pid)
    jobs = Jobs(jobs_dir)
    jobs.measure()
    state_of("muster-a", second.pid)
    assert second.pid in jobs.measure()[0].pids


class CountingProcFs(ProcFs):
    """Count how often the agent reads processes."""

    asked = 0

    def process(self, pid: int) -> Process | None:
        self.asked += 1
        return super().process(pid)


def test_job_finished_ones_are_not_read_again(state_of, jobs_dir, monkeypatch):
    for number in range(500):
        state_of(f"muster-{number}", 4_000_000, 1)
    old = time.time() - 100
    os.utime(jobs_dir, (old, old))
    procfs = CountingProcFs()
    folders = JobFolders(jobs_dir, procfs)
    assert folders.measure() == []
    assert procfs.asked == 500
    monkeypatch.setattr(folders, "_read", lambda name: pytest.fail(f"{name} was read again"))
    monkeypatch.setattr(folders, "_mtime", lambda name: pytest.fail(f"{name} was looked at again"))
    assert folders.measure() == []
    assert procfs.asked == 500


def test_job_folder_without_a_state_file_is_read_again(spawn, state_of, jobs_dir):
    folders = JobFolders(jobs_dir, ProcFs())
    assert folders.measure() == []
    (jobs_dir / "muster-a").mkdir()
    assert folders.measure() == []
    state_of("muster-a", spawn(SLEEP).pid)
    assert [job.state.key for job in folders.measure()] == ["muster-a"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"key": "a"}', '{"key": "a", "pid": "x"}', "\x00"]
)
def test_job_invalid_state_file_is_skipped(jobs_dir, text):
    (jobs_dir / "muster-a").mkdir()
    (jobs_dir / "muster-a" / "state.json").write_text(text)
    assert Jobs(jobs_dir).measure() == []


def test_jobs_without_a_folder_are_empty(tmp_path):
    assert Jobs(tmp_path / "none").measure() == []


def running(ticks: dict[tuple[int, int], tuple[int, int]], looked_ticks: int = 100) -> Running:
    process = ProcFs().process(os.getpid())
    assert process is not None
    return Running(
        JobState("k", process.pid, 0), process, ticks=ticks, looked=1.0, measured_ticks=looked_ticks
    )


@pytest.mark.parametrize(
    ("before", "after", "grew"),
    [
        ({(1, 1): (10, 0)}, {(1, 1): (25, 0)}, 15),
        ({(1, 1): (10, 0)}, {(1, 1): (10, 0), (2, 150): (7, 0)}, 7),  # a child started since
        ({(1, 1): (10, 0)}, {(1, 1): (10, 9)}, 9),  # a child started and reaped since
        ({(1, 1): (10, 0), (2, 50): (30, 0)}, {(1, 1): (10, 34)}, 4),  # a known child reaped
        ({(1, 1): (10, 0), (2, 50): (30, 0)}, {(1, 1): (12, 0)}, 2),  # reaped by another process
        (
            {(1, 1): (10, 0)},
            {(1, 1): (10, 0), (2, 50): (500, 20)},
            0,
        ),  # an older process joins: its past is not counted
    ],
)
def test_job_cpu_time_of_a_reaped_child_is_counted_once(before, after, grew):
    assert cpu_growth(running(before), after) == grew


def test_job_cpu_time_includes_short_lived_children(spawn, state_of, jobs_dir, wait_for):
    child = spawn(
        "import subprocess, sys\nwhile True: subprocess.run([sys.executable, '-c', "
        "'sum(range(2_000_000))'])"
    )
    state_of("muster-a", child.pid)
    assert (
        measured(Jobs(jobs_dir), wait_for, 1.0)["muster-a"]["cpu.used"] > 0.1
    )  # its own share is 1 %


def test_living_root_of_the_current_process_is_itself():
    me = ProcFs().process(os.getpid())
    assert living_root(JobState("k", me.pid, me.started), ProcFs()) == me
    assert living_root(JobState("k", me.pid, me.started + 1000), ProcFs()) is None


def test_job_state_file_may_list_gpus():
    assert parse_state({"key": "k", "pid": 1, "started": 0, "gpus": [0, "GPU-a"]}).gpus == (
        "0",
        "GPU-a",
    )
