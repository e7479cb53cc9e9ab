"""What every backend promises (jobs/backends/base.py). The suite runs over each one that is discovered; a backend without a way
to be started here is red."""

from __future__ import annotations

import multiprocessing
import signal

import pytest

from jobs.backends import backends
from jobs.backends.base import Backend, Launch, Rejected
from jobs.states import Reason, State

MAKE = {"local": lambda path: backends()["local"].configured({"home": str(path)})}


@pytest.fixture(params=sorted(backends()))
def backend(request, tmp_path):
    assert request.param in MAKE, f"say in MAKE how a {request.param} cluster is had here"
    return MAKE[request.param](tmp_path)


def launch(key: str, script: str, **more) -> Launch:
    return Launch(key=f"muster-{key}", name="test", script=script, env={"GREETING": "héllo"}, **more)


@pytest.fixture
def end(backend, wait_for):
    """Submit and wait for the last observation."""

    def run(key, script, seconds=20, **more):
        backend.submit(launch(key, script, **more))
        return ended(backend, f"muster-{key}", wait_for, seconds)

    return run


def ended(backend, key, wait_for, seconds=20):
    def look():
        seen = backend.poll([key]).observations
        return seen and seen[0].state.is_final and seen[0]

    return wait_for(look, seconds=seconds)


def test_it_is_a_backend_and_says_what_it_finds(backend):
    assert isinstance(backend, Backend) and backend.probe().is_ok
    node = backend.inventory()[0]
    assert node.cpus > 0 and node.memory > 0
    assert node.gpus or node.note


@pytest.mark.parametrize(("script", "state", "reason", "code"), [
    ("exit 0", State.SUCCEEDED, Reason.COMPLETED, 0), ("exit 3", State.FAILED, Reason.USER_ERROR, 3),
    ("no_such_program", State.FAILED, Reason.COMMAND_NOT_FOUND, 127),
    ("touch x; ./x", State.FAILED, Reason.NOT_EXECUTABLE, 126), ("kill -SEGV $$", State.FAILED, Reason.KILLED_BY_SIGNAL, 139)])
def test_an_end_is_told_with_its_reason_and_code(end, script, state, reason, code):
    seen = end("a", script)
    assert (seen.state, seen.reason, seen.exit_code) == (state, reason, code)
    assert seen.reason.final_state == seen.state


def test_the_evidence_quotes_what_the_program_said(end):
    seen = end("a", "python3 -c 'raise ValueError(\"shape mismatch\")'")
    assert "ValueError: shape mismatch" in seen.evidence


def test_the_log_is_what_was_written_byte_for_byte_from_any_offset(backend, end):
    end("a", "printf 'line\\n\\377\\000%s\\n' \"$GREETING\"; echo oops >&2")
    whole = b"line\n\xff\x00" + "héllo\n".encode() + b"oops\n"
    assert backend.read_log("muster-a", 0).data == whole
    assert backend.read_log("muster-a", 7, 3).data == whole[7:10]
    assert backend.read_log("muster-a", len(whole)).data == b""


def test_submitting_the_same_key_again_starts_nothing(backend, end, tmp_path):
    end("a", f"echo started >>{tmp_path}/count; sleep 0.3")
    backend.submit(launch("a", f"echo started >>{tmp_path}/count"))
    assert (tmp_path / "count").read_text() == "started\n"


def _submit(name: str, path: str, barrier) -> None:
    made = MAKE[name](path)
    barrier.wait()
    made.submit(launch("race", f"echo started >>{path}/count; sleep 0.5"))


def test_of_many_who_submit_one_key_at_once_one_starts_it(backend, tmp_path, wait_for):
    spawn = multiprocessing.get_context("fork")
    barrier = spawn.Barrier(6)
    crowd = [spawn.Process(target=_submit, args=(backend.name, str(tmp_path), barrier)) for _ in range(6)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join(20)
    ended(backend, "muster-race", wait_for)
    assert (tmp_path / "count").read_text() == "started\n"


def test_a_new_object_finds_what_an_old_one_started(backend, tmp_path, wait_for):
    backend.submit(launch("a", "sleep 1; exit 5"))
    another = MAKE[backend.name](tmp_path)
    assert another.find("muster-a").native_id == backend.find("muster-a").native_id
    assert ended(another, "muster-a", wait_for).exit_code == 5


def test_what_it_never_had_is_missing_and_canceling_it_is_no_error(backend):
    assert backend.find("muster-nobody") is None
    assert list(backend.poll(["muster-nobody"]).missing) == ["muster-nobody"]
    backend.cancel("muster-nobody")


def test_canceling_asks_first(backend, end, wait_for):
    backend.submit(launch("a", "trap 'echo bye; exit 0' TERM; while :; do sleep 0.1; done"))
    wait_for(lambda: backend.poll(["muster-a"]).observations[0].state == State.RUNNING)
    backend.cancel("muster-a", grace=10)
    seen = ended(backend, "muster-a", wait_for)
    assert seen.state.is_final and b"bye" in backend.read_log("muster-a", 0).data


def test_what_does_not_listen_is_killed_after_its_grace(backend, wait_for):
    backend.submit(launch("a", "trap '' TERM; while :; do sleep 0.1; done"))
    wait_for(lambda: backend.poll(["muster-a"]).observations[0].state == State.RUNNING)
    backend.cancel("muster-a", grace=0.5)
    assert ended(backend, "muster-a", wait_for).reason == Reason.CANCELED


def test_the_time_limit_ends_it(end):
    assert end("a", "sleep 60", time_limit=1, grace=1).reason == Reason.TIME_LIMIT


def test_more_memory_than_asked_ends_it_with_the_numbers(end):
    seen = end("a", "python3 -c 'x = bytearray(400 << 20); import time; time.sleep(20)'", memory=100 << 20)
    assert seen.reason == Reason.OUT_OF_MEMORY and "of 100 MiB" in seen.evidence


def test_what_it_leaves_behind_is_ended_and_told(end):
    seen = end("a", "setsid sleep 300 & sleep 0.3; exit 0")
    assert seen.state == State.SUCCEEDED and "left behind" in seen.evidence


def test_a_supervisor_that_is_killed_loses_neither_the_log_nor_the_code(backend, wait_for, tmp_path):
    import psutil

    backend.submit(launch("a", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done; exit 7"))
    wait_for(lambda: backend.read_log("muster-a", 0).data)      # it runs: its first process is the supervisor's child no more
    for process in psutil.process_iter(["cmdline"]):
        if str(tmp_path / "jobs" / "muster-a") in (process.info["cmdline"] or []):
            process.send_signal(signal.SIGKILL)
    seen = ended(backend, "muster-a", wait_for)
    assert seen.exit_code == 7 and backend.read_log("muster-a", 0).data == b"1\n2\n3\n4\n5\n6\n"


def test_forgetting_frees_what_ended_and_only_that(backend, end):
    end("a", "true")
    backend.submit(launch("b", "sleep 2"))
    backend.forget("muster-a")
    backend.forget("muster-b")
    assert backend.find("muster-a") is None and backend.find("muster-b") is not None
    backend.cancel("muster-b", 0.1)


def test_rehearsing_shows_the_script_and_stars_what_is_secret(backend):
    text = backend.render(Launch(key="muster-x", name="x", script="echo hello", env={"MUSTER_TOKEN": "mst_secret", "A": "b"}))
    assert "echo hello" in text and "A=b" in text and "mst_secret" not in text


def test_a_key_is_never_a_path(backend):
    with pytest.raises(Rejected):
        backend.find("../../etc")
