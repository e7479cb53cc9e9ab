"""A full disk on the cluster is told, and never as success."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from schedulers.programs import record_output
from schedulers.slurm import states
from schedulers.slurm.files import MountedSpool, RemoteSpool, read_around
from schedulers.slurm.lost_output import LostOutput, parse_lost, position
from schedulers.slurm.rows import Row
from schedulers.slurm.script import batch_script
from schedulers.states import Reason
from tests.schedulers.conftest import SLURM
from tests.schedulers.launches import a_launch

GAPS = "4 10 2 ENOSPC\n9 5 1 EDQUOT\n"


def test_lost_output_is_a_gap_of_the_log():
    """Ten bytes are lost after the fourth, and five after the ninth that was stored."""
    stored, lost, read = b"0123456789AB", f"{GAPS}open\n".ljust(4096), []
    after = 0
    while (chunk := read_around(lambda at: (stored[at:], lost), after)).data or chunk.start > after:
        read.append((chunk.start, chunk.data, chunk.why_lost))
        after = chunk.start + len(chunk.data)
    assert read == [
        (0, b"0123", ""),
        (14, b"45678", "the cluster's disk was full: 2 lines lost"),
        (24, b"9AB", "a quota of the cluster's disk was exceeded"),
    ]


def test_incomplete_record_of_lost_output_is_read_again():
    assert parse_lost(" " * 4096) == ()
    assert parse_lost(GAPS) is parse_lost("4 10 x ENOSPC\nopen") is None
    texts = iter(["4 1", f"{GAPS}closed", f"{GAPS}closed"])
    chunk = read_around(lambda at: (b"0123456789AB"[at:], next(texts)), 14)
    assert (chunk.start, chunk.data) == (14, b"45678")
    assert position(30, parse_lost(f"{GAPS}closed")) == (15, 30, None, "")


@pytest.mark.parametrize("has_python", [True, False])
def test_node_without_python_says_that_nobody_counts(tmp_path, has_python):
    programs, spool = tmp_path / "bin", tmp_path / "spool"
    for folder in (programs, spool):
        folder.mkdir()
    for name in [
        "awk",
        "base64",
        "bash",
        "cat",
        "chmod",
        "cut",
        "date",
        "df",
        "getent",
        "gzip",
        "hostname",
        "id",
        "ls",
        "mkdir",
        "mv",
    ]:
        (programs / name).symlink_to(shutil.which(name))
    for name in ["printf", "rm", "sed", "sh", "sleep", "stat", "tail", "tar"]:
        (programs / name).symlink_to(shutil.which(name))
    if has_python:
        (programs / "python3").symlink_to(sys.executable)
    launch = a_launch("echo on", key="t-1", grace=1.0)
    script = batch_script(launch, f"{spool}/{launch.key}")
    env = {"PATH": str(programs), "SLURM_JOB_ID": "7", "HOME": str(tmp_path), "USER": "ada"}
    subprocess.run([programs / "bash", "-c", script], env=env, check=True, timeout=60)
    chunk = MountedSpool(spool).read(launch.key, 0, 100)
    assert (chunk.data, chunk.why_lost) == (b"on\n", "")
    assert ("no python3" in chunk.uncounted) is not has_python
    lost = "4 1 0 ENOSPC\nuncounted\n".ljust(4096)  # and the disk is full at the end
    chunk = read_around(lambda at: (b"0123"[at:], lost), 4)
    assert chunk.start == 5 and "disk was full" in chunk.why_lost and chunk.uncounted


class HereTransport:
    """A double of a login host: runs the same commands on this machine."""

    env: ClassVar[dict[str, str]] = {}

    def run_all(self, argv: list[str]) -> tuple[int, bytes, bytes]:
        done = subprocess.run(argv, capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr


def test_spool_is_read_alike_here_and_on_a_login_host(tmp_path):
    folder = tmp_path / "t-1"
    folder.mkdir()
    for name, text in (("id", "7 x"), ("start", "1 n1 2 3"), ("end", "0 - 1 2 "), ("again", "")):
        (folder / name).write_text(f"{text}\n")
    (folder / "output.log").write_bytes(b"0123\n--\n89AB")
    (folder / "lost").write_text(f"{GAPS}closed\n".ljust(4096))
    here, there = MountedSpool(tmp_path), RemoteSpool(HereTransport(), str(tmp_path))
    assert here.record("t-1") == there.record("t-1") and there.record("t-1").lost
    for after in (0, 4, 14, 20, 40):
        one, other = here.read("t-1", after, 6), there.read("t-1", after, 6)
        assert (one.start, one.data, one.why_lost) == (other.start, other.data, other.why_lost)
    assert abs(here.space().percent - there.space().percent) <= 1


LOST = (LostOutput(9, 70, 3, "ENOSPC"),)
ENDS = [
    (0, "", Reason.DISK_FULL),
    (1, "", Reason.DISK_FULL),
    (143, "cancel", Reason.CANCELED),
    (143, "time", Reason.TIME_LIMIT),
]


def test_lost_output_is_a_fault_of_the_platform(subtests):
    for code, asked, reason in ENDS:
        with subtests.test(code=code, asked=asked):
            record = states.Record("7", 1000, "n1", code, asked, 1010, limit=10, lost=LOST)
            row = Row(7, "FAILED" if code else "COMPLETED", "t-1", nodes="n1", ended=1010)
            seen = states.ended(row, record, states.Evidence())
            assert seen.reason == reason
            assert "disk was full: 3 lines (70 bytes) of its output are lost" in seen.evidence


def test_job_whose_files_could_not_be_written_is_not_the_users_fault(subtests):
    for exit_code, is_full in (("74:0", False), ("1:0", True), ("0:53", True)):
        with subtests.test(exit=exit_code):
            row = Row(7, "FAILED", "t-1", exit=exit_code, nodes="n1", started=1000, ended=1100)
            seen = states.ended(row, states.Record(), states.Evidence(is_full=is_full))
            assert seen.reason == Reason.DISK_FULL


@dataclass
class SmallDisk:
    """The module `os` of a disk with so many bytes."""

    capacity: int

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, file: int, data: bytes) -> int:
        room = self.capacity - os.fstat(file).st_size
        if room <= 0:
            raise OSError(errno.ENOSPC, "full")
        return os.write(file, data[:room])


def test_recorder_counts_what_does_not_fit_and_goes_on_later(tmp_path, monkeypatch):
    output, lost, disk = tmp_path / "output.log", tmp_path / "lost", SmallDisk(10)
    output.touch()
    lost.write_bytes(b" " * 4096)
    monkeypatch.setattr(record_output, "os", disk)
    made = record_output.Recorder(str(output), str(lost))
    made.store(b"one\ntwo\nthree\nfour\n")
    assert parse_lost(lost.read_text()) == (LostOutput(10, 9, 2, "ENOSPC", True),)
    disk.capacity, made.try_at = 100, 0
    made.store(b"five\n")
    made.close()
    assert output.read_bytes() == b"one\ntwo\nthfive\n"
    assert parse_lost(lost.read_text()) == (LostOutput(10, 9, 2, "ENOSPC"),)


def test_recorder_ends_with_the_job_not_with_what_it_left_behind(tmp_path):
    """The end of the job is a signal, because a process left behind keeps the pipe open."""
    (tmp_path / "output.log").touch()
    (tmp_path / "lost").write_bytes(b" " * 4096)
    inside, outside = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-I", "-S", record_output.__file__, "output.log", "lost"],
        stdin=inside,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    ) as program:
        assert program.stdout is not None and program.stdout.readline() == b"ready\n"
        os.write(outside, b"last words\n")
        program.send_signal(signal.SIGURG)
        assert program.wait(20) == 0
    os.close(inside)
    os.close(outside)
    assert (tmp_path / "output.log").read_bytes() == b"last words\n"


@pytest.fixture
def small_spool(stage):
    """A spool of 2 MiB."""
    spool = stage.path / "spool"
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2M,mode=1777", "tmpfs", str(spool)], check=True
    )
    yield spool
    subprocess.run(["umount", "--lazy", str(spool)], check=True)


@SLURM
def test_full_spool_of_a_real_slurm_is_told(small_spool, stage):
    seen, log = stage.run("seq 1 400000; echo the last line")
    assert seen.reason == Reason.DISK_FULL and seen.exit_code is None, seen
    text, end, gap = log, len(log), None
    while (chunk := stage.backend.read_log(stage.keys[-1], end)).start > end or chunk.data:
        gap = gap or (chunk.start - end, chunk.why_lost)
        end = chunk.start + len(chunk.data)
    whole = "".join(f"{n}\n" for n in range(1, 400001)) + "the last line\n"
    assert end == len(whole) and whole.encode().startswith(text)
    lines = whole.count("\n") - text.count(b"\n")
    assert gap == (end - len(text), f"the cluster's disk was full: {lines:,} lines lost")
    probe = stage.backend.probe()
    assert probe.is_ok and "100 %" in probe.warnings[0]

    seen, _ = stage.run("true")  # nothing of it can be written
    assert seen.reason == Reason.DISK_FULL, seen
