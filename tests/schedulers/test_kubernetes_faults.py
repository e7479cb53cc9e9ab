"""Test Kubernetes with a double of the API server that disconnects, forgets, refuses and hangs."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from portal.core.options import failures
from schedulers.contract import Rejected, Unavailable
from schedulers.kubernetes import access, list_watch, observed
from schedulers.kubernetes.backend import KubernetesBackend
from schedulers.kubernetes.client import Client
from schedulers.states import Reason, State, Wait
from tests.rig.kubernetes_double import Double
from tests.rig.kubernetes_node import NODE
from tests.rig.kubernetes_store import Answer
from tests.rig.seeds import courses
from tests.schedulers.kubernetes_stage import launch, state_of
from tests.stand_in import StandIn

BUSY = Answer(429, "TooManyRequests", "too many requests", after=1)
BROKEN = Answer(500, "InternalError", "etcdserver: leader changed")


def lists_of(double: Double) -> int:
    return sum(
        "GET /apis/batch/v1/jobs?" in line and "watch=1" not in line and "%20in%20" not in line
        for line in double.asked
    )


def test_interrupted_watch_resumes_from_last_version(double, backend, wait_for):
    key = backend.submit(launch("sleep 1.5; exit 4")).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
    lists = lists_of(double)
    for _ in range(3):
        double.cut()
    wait_for(lambda: state_of(backend, key) == State.FAILED, 15)
    assert lists_of(double) == lists


def test_watches_end_with_a_backend_that_is_replaced(double, wait_for):
    before = {*threading.enumerate()}

    def watch() -> list[threading.Thread]:
        replaced = KubernetesBackend.configured({"server": double.url, "token": double.token})
        replaced.poll(["k1"])
        return [t for t in {*threading.enumerate()} - before if t.name.startswith("watch ")]

    watches = watch()
    assert len(watches) == 2
    gc.collect()
    double.cut()
    wait_for(lambda: not any(thread.is_alive() for thread in watches))


@courses(range(3), few=1)
def test_interruptions_at_any_time_lose_no_end(double, backend, wait_for, seed):
    dice, keys = random.Random(seed), []
    for _ in range(8):
        keys.append(backend.submit(launch(f"sleep {dice.random()}; exit {dice.randrange(2)}")).key)
        dice.choice(
            [double.cut, double.store.forget_changes, lambda: double.fail("watch=1", BROKEN)]
        )()
        state_of(backend, keys[-1])
    wait_for(lambda: all((state_of(backend, key) or State.QUEUED).is_final for key in keys), 30)


def test_version_expired_during_watch_triggers_list(double, backend, wait_for):
    key = backend.submit(launch()).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
    lists = lists_of(double)
    double.store.forget_changes()
    wait_for(lambda: lists_of(double) > lists)
    assert state_of(backend, key) == State.RUNNING


def test_version_expired_before_watch_triggers_list(double, backend, wait_for):
    key = backend.submit(launch()).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
    lists = lists_of(double)
    double.fail("/batch/v1/jobs watch=1", Answer(410, "Expired", "too old resource version"))
    double.cut()
    wait_for(lambda: lists_of(double) > lists)
    wait_for(lambda: state_of(backend, key) == State.RUNNING)


def test_bookmarks_advance_resource_version(double, backend, wait_for):
    state_of(backend, "t-none")
    double.store.version += 500
    wait_for(lambda: backend._view._jobs._version == str(double.store.version))
    double.cut()
    wait_for(
        lambda: any(
            f"resourceVersion={double.store.version}&" in line
            for line in double.asked
            if "watch=1" in line
        )
    )


def test_unsynced_mirror_is_unavailable_not_missing(double, backend, monkeypatch, wait_for):
    monkeypatch.setattr(observed, "SYNC", 0.3)
    double.fail("GET /api/v1/pods", BROKEN, 3)
    with pytest.raises(Unavailable, match="leader changed"):
        backend.poll(["t-any"])
    assert wait_for(lambda: state_of(backend, "t-any") is None and not double.answers)


def test_hanging_server_is_unavailable_quickly_and_recovers(double, backend, monkeypatch, wait_for):
    monkeypatch.setattr("schedulers.kubernetes.transport.READ", 0.5)
    key = backend.submit(launch()).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
    monkeypatch.setattr(observed, "SILENT", 0.0)
    double.fail("/readyz", 30.0)
    start = time.monotonic()
    with pytest.raises(Unavailable, match="in time"):
        backend.poll([key])
    assert time.monotonic() - start < 15  # the server hangs for 30 s
    wait_for(lambda: state_of(backend, key) == State.RUNNING)


def test_retry_after_is_respected(double, backend):
    double.fail("POST", BUSY)
    with pytest.raises(Unavailable, match="429"):
        backend.submit(launch())
    before = len(double.asked)
    with pytest.raises(Unavailable, match="to recover"):
        backend.submit(launch())
    assert len(double.asked) == before


@pytest.mark.parametrize(
    "answer",
    [
        BROKEN,
        Answer(503, "ServiceUnavailable", "apiserver not ready"),
        Answer(504, "Timeout", "timed out"),
        Answer(403, "Forbidden", "unable to create new content in namespace: being terminated"),
    ],
    ids=str,
)
def test_failing_server_is_unavailable_and_job_starts_once_later(
    double, backend, answer, tmp_path, wait_for
):
    wanted = launch(f"echo started >> {tmp_path}/starts")
    double.fail("/jobs", answer)
    with pytest.raises(Unavailable):
        backend.submit(wanted)
    backend.submit(wanted)
    wait_for(lambda: state_of(backend, wanted.key) == State.SUCCEEDED)
    assert (tmp_path / "starts").read_text() == "started\n"


def test_resubmit_adds_missing_secret(double, backend, wait_for):
    wanted = launch("echo $WORD", env={"WORD": "kept"})
    double.fail("/secrets", BROKEN)
    with pytest.raises(Unavailable):
        backend.submit(wanted)
    backend.submit(wanted)
    wait_for(lambda: state_of(backend, wanted.key) == State.SUCCEEDED)
    assert backend.read_log(wanted.key, 0).data == b"kept\n"


def test_admission_refusal_is_rejected_with_spec_field(double, backend):
    causes = (
        ("spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]", "Invalid value"),
    )
    double.fail("POST /apis/batch", Answer(422, "Invalid", "Job is invalid", causes))
    with pytest.raises(Rejected, match="invalid") as error:
        backend.submit(launch())
    assert error.value.field == "resources.gpus"


def test_foreign_job_with_same_name_is_not_adopted(double, backend):
    wanted = launch()
    backend.submit(launch())  # creates the namespace
    double.store.create(
        "jobs",
        "muster-jobs",
        {"metadata": {"name": wanted.key, "labels": {}}, "spec": {"suspend": True}, "kind": "Job"},
    )
    with pytest.raises(Rejected, match="does not belong to Muster"):
        backend.submit(wanted)


def test_foreign_namespace_is_not_used(double, backend):
    double.store.create(
        "namespaces",
        "",
        {"kind": "Namespace", "metadata": {"name": "muster-atlas-vision", "labels": {}}},
    )
    with pytest.raises(Rejected, match="not this portal's"):
        backend.submit(launch(org="atlas", team="vision"))


def test_reused_name_is_a_different_job(double, backend, wait_for):
    wanted = launch("exit 3")
    first = backend.submit(wanted)
    wait_for(lambda: state_of(backend, wanted.key) == State.FAILED)
    backend.forget(wanted.key)
    wait_for(lambda: not double.store.all("secrets", "muster-jobs"))
    second = backend.submit(launch("sleep 30", key=wanted.key))
    assert (
        first.native_id.rpartition("/")[0] == second.native_id.rpartition("/")[0]
        and first != second
    )
    wait_for(lambda: state_of(backend, wanted.key) == State.RUNNING)
    assert backend.find(wanted.key) == second


def test_lost_response_after_create_starts_one_job(
    double, backend, tmp_path, wait_for, monkeypatch
):
    wanted = launch(f"echo started >> {tmp_path}/starts")
    made = backend._creator._wire.post

    def lose(path: str, body: Any, **query: Any) -> Any:
        answer = made(path, body, **query)
        if path.endswith("/jobs"):
            monkeypatch.undo()
            raise Unavailable("the reply was lost")
        return answer

    monkeypatch.setattr(backend._creator._wire, "post", lose)
    with pytest.raises(Unavailable, match="lost"):
        backend.submit(wanted)
    handle = backend.submit(wanted)
    wait_for(lambda: state_of(backend, wanted.key) == State.SUCCEEDED)
    assert backend.find(wanted.key) == handle and (tmp_path / "starts").read_text() == "started\n"


def test_watch_event_before_response_is_not_overwritten(double, backend, wait_for, monkeypatch):
    key = backend.submit(launch(gpus=9)).key
    wait_for(lambda: next((o for o in backend.poll([key]).observations if o.waiting), None))
    patch = backend._wire.patch

    def late(path: str, body: Any, **query: Any) -> Any:
        answer = patch(path, body, **query)
        wait_for(lambda: backend._view._jobs.of(key)[0]["status"].get("conditions"))
        return answer

    monkeypatch.setattr(backend._wire, "patch", late)
    backend.cancel(key)
    assert (
        wait_for(
            lambda: next((o for o in backend.poll([key]).observations if o.state.is_final), None)
        ).reason
        == Reason.CANCELED
    )


def test_unreadable_pod_does_not_hide_others(double, backend, wait_for, caplog):
    odd, other = backend.submit(launch()).key, backend.submit(launch("sleep 1; exit 3")).key
    wait_for(lambda: state_of(backend, odd) == State.RUNNING)
    name = next(
        pod["metadata"]["name"]
        for pod in double.store.all("pods", "muster-jobs", f"muster/key={odd}")
    )
    double.store.update(
        "pods", "muster-jobs", name, lambda thing: thing["status"].update(containerStatuses=7)
    )
    wait_for(lambda: state_of(backend, other) == State.FAILED)
    poll = backend.poll([odd, other])
    assert (
        [seen.key for seen in poll.observations] == [other]
        and not poll.missing
        and odd in caplog.text
    )


@pytest.mark.parametrize(("trap", "code"), [("exit 0", None), ("exit 85", 85), ("-", 143)])
def test_pod_deleted_by_somebody_is_interrupted_whatever_its_exit_code(
    double, backend, wait_for, trap, code
):
    key = backend.submit(launch(f"trap '{trap}' TERM\necho on\nwhile :; do sleep 0.1; done")).key
    wait_for(lambda: backend.read_log(key, 0).data == b"on\n")
    double.node.delete(double.store.all("pods", "")[0])
    seen = wait_for(
        lambda: next((o for o in backend.poll([key]).observations if o.state.is_final), None)
    )
    assert (seen.reason, seen.exit_code) == (Reason.INTERRUPTED, code)
    assert "unable to retrieve" not in seen.evidence
    assert ("ended with exit code 0" in seen.evidence) is (trap == "exit 0")
    assert backend.read_log(key, 3).data == b""


def test_job_deleted_by_somebody_is_interrupted_when_its_pod_ends(double, backend, wait_for):
    key = backend.submit(launch("trap 'sleep 1; exit 0' TERM\nwhile :; do sleep 0.1; done")).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
    double.store.remove("jobs", "muster-jobs", key)
    seen = wait_for(
        lambda: next((o for o in backend.poll([key]).observations if o.state.is_final), None)
    )
    assert seen.reason == Reason.INTERRUPTED


def test_watch_reconnects_once_the_server_answers(double, backend, wait_for, monkeypatch):
    monkeypatch.setattr(list_watch, "FIRST_PAUSE", 60.0)
    monkeypatch.setattr(observed, "SILENT", 0.0)
    key = backend.submit(launch("sleep 1; exit 4")).key
    wait_for(lambda: state_of(backend, key) == State.RUNNING)
    double.fail("watch=1", BROKEN, 2)
    double.cut()
    wait_for(lambda: not double.answers)

    def ended() -> bool:
        with suppress(Unavailable):
            return state_of(backend, key) == State.FAILED
        return False

    wait_for(ended, 10)


TEXTS = [
    "$(HOME) $(MUSTER_JOB_KEY)",
    "a\nb: {c}\n---",
    "'\"`$x`\\",
    "\x1b[31m\x07\t",
    "ä \u202e 漢字 \U0001f600",
    "#SBATCH -w x",
    "%s %n {0}",
]


def test_any_text_reaches_process_unchanged(double, backend, wait_for):
    env = {f"VALUE_{number}": text for number, text in enumerate(TEXTS)}
    shown = " ".join(f'"${name}"' for name in env)
    key = backend.submit(launch(f"printf '%s\\0' {shown}", env=env)).key
    wait_for(lambda: state_of(backend, key) == State.SUCCEEDED)
    assert backend.read_log(key, 0).data.decode().split("\0") == [*TEXTS, ""]


def test_oversized_gpu_request_is_explained_and_cancelable(double, backend, wait_for):
    key = backend.submit(launch(gpus=9)).key
    seen = wait_for(lambda: next((o for o in backend.poll([key]).observations if o.waiting), None))
    assert seen.state == State.SUBMITTED and seen.waiting.wait == Wait.IMPOSSIBLE
    assert (
        seen.waiting.text
        == "No node of the cluster is large enough: the largest has 8 GPUs, it asks 9 GPUs."
    )
    backend.cancel(key)
    ended = wait_for(
        lambda: next((o for o in backend.poll([key]).observations if o.state.is_final), None)
    )
    assert (ended.reason, ended.evidence) == (Reason.CANCELED, "Canceled before it started.")


def test_gang_has_rank_and_log_per_node(double, backend, wait_for):
    key = backend.submit(
        launch(
            'echo "rank $NODE_RANK of $NNODES at $MASTER_ADDR"', num_nodes=3, env={"NNODES": "3"}
        )
    ).key
    wait_for(lambda: state_of(backend, key) == State.SUCCEEDED)
    assert [backend.read_rank(key, rank, 0).data for rank in range(3)] == [
        f"rank {r} of 3 at {key}-0.{key}\n".encode() for r in range(3)
    ]
    assert backend.read_log(key, 0).data == backend.read_rank(key, 0, 0).data


def test_slow_log_tails_delay_no_other_state(double, backend, wait_for, monkeypatch):
    monkeypatch.setattr(observed, "TAILS_FOR", 0.1)
    failed = [backend.submit(launch("echo no route; exit 3")).key for _ in range(6)]
    good = backend.submit(launch("true")).key
    wait_for(
        lambda: (
            {pod["status"]["phase"] for pod in double.store.all("pods", "")}
            == {"Failed", "Succeeded"}
        )
    )
    wait_for(lambda: state_of(backend, good) == State.SUCCEEDED)
    double.fail("/log tailLines", 1.5, 6)
    began = time.monotonic()
    assert good in {one.key for one in backend.poll([*failed, good]).observations}
    assert time.monotonic() - began < 5
    wait_for(lambda: all(state_of(backend, key) == State.FAILED for key in failed))
    assert all("no route" in one.evidence for one in backend.poll(failed).observations)


def test_gang_ends_with_first_failure_and_names_rank(double, backend, wait_for):
    key = backend.submit(
        launch('[ "$NODE_RANK" = 1 ] && { echo "no route"; exit 9; }; sleep 0.5', num_nodes=2)
    ).key
    seen = wait_for(
        lambda: next((o for o in backend.poll([key]).observations if o.state.is_final), None)
    )
    assert (
        (seen.reason, seen.exit_code) == (Reason.USER_ERROR, 9)
        and seen.evidence.startswith("Rank 1: ")
        and "no route" in seen.evidence
    )


def test_drain_cordons_node_with_reason_and_resume_undoes_it(double, backend):
    backend.drain(NODE, "Dot: a fan is loud")
    node = backend.inventory()[0]
    assert node.is_drained and "a fan is loud" in node.note and node.is_ready
    backend.resume(NODE)
    assert not backend.inventory()[0].is_drained
    with pytest.raises(Rejected, match="No node"):
        backend.drain("no-such-node", "why not")


def test_probe_names_missing_permissions(double, backend):
    assert backend.probe().is_ok
    double.denied |= {"create jobs", "list nodes"}
    probe = backend.probe()
    assert (
        not probe.is_ok and "create jobs.batch" in probe.message and "list nodes" in probe.message
    )


WRONG = [
    ({"server": "https://no-such-host.invalid:6443"}, "unknown to DNS", "server"),
    ({"server": "http://127.0.0.1:1"}, "connection was refused", "server"),
    ({"server": "ftp://x"}, "must be an address", "server"),
    ({"kubeconfig": "}{"}, "not valid YAML", "kubeconfig"),
    ({"kubeconfig": "{}"}, "no context", "kubeconfig"),
    ({"is_inside": True}, "does not run in a pod", "is_inside"),
    ({"server": "https://x", "authority": "no PEM"}, "Paste all of it", "authority"),
]


def test_probe_describes_problem(subtests):
    for options, words, field in WRONG:
        with subtests.test(options=options, words=words):
            probe = KubernetesBackend.configured(options).probe()
            assert not probe.is_ok and words in probe.message
            assert [check.field for check in failures(probe.checks)] == [field]


def test_all_wrong_options_are_named_at_once():
    options = {"server": "x", "user_id": 0, "tolerations": [":No"], "image": "a b", "outputs": "c"}
    found = [name for name, _ in KubernetesBackend.option_faults(options)]
    assert found == ["user_id", "tolerations", "outputs", "image", "server"]


def test_pod_of_the_cluster_uses_its_own_account(double, tmp_path, monkeypatch):
    monkeypatch.setattr(access, "_INSIDE", tmp_path)
    (tmp_path / "ca.crt").write_text("")
    (tmp_path / "token").write_text("expired")
    made = replace(access.Access(double.url), token_file=tmp_path / "token")
    client = Client(made)
    with pytest.raises(Unavailable, match="401"):
        client.get("/version")
    (tmp_path / "token").write_text(f"{double.token}\n")  # Kubernetes has replaced it
    assert client.get("/version")["gitVersion"]
    monkeypatch.setattr(
        access,
        "os",
        StandIn(os, environ={"KUBERNETES_SERVICE_HOST": "::1", "KUBERNETES_SERVICE_PORT": "1"}),
    )
    assert access.from_inside().server == "https://[::1]:1"


def test_probe_reports_wrong_token(double):
    assert (
        "401"
        in KubernetesBackend.configured({"server": double.url, "token": "wrong"}).probe().message
    )


def test_official_client_is_loaded_with_first_request_only():
    code = "import sys, schedulers; schedulers.backends(); sys.exit('kubernetes' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_stopped_backend_ends_its_threads(double, wait_for):
    backend = KubernetesBackend.configured(
        {"server": double.url, "token": double.token, "image": "x"}
    )
    backend.poll(["t-none"])
    watching = {thread for thread in threading.enumerate() if thread.name.startswith("watch /")}
    assert watching
    mirrors = (backend._view._jobs, backend._view._pods)
    del backend
    double.cut()
    assert wait_for(lambda: all(mirror._stopped.is_set() for mirror in mirrors))


def test_rotated_log_is_not_counted_and_goes_on_after_a_restart(double, backend, wait_for):
    """The kubelet keeps the last file only, and that may be empty."""
    key = backend.submit(launch("echo one; sleep 0.1; echo two; sleep 0.1; echo three")).key
    wait_for(lambda: state_of(backend, key) == State.SUCCEEDED)
    assert backend.read_log(key, 0).data == b"one\ntwo\nthree\n"
    [lines] = double.node.logs.values()
    for left, data in ((2, b"two\nthree\n"), (0, b"")):
        del lines[: len(lines) - left]
        restarted = KubernetesBackend.configured(
            {"server": double.url, "token": double.token, "image": "local/bash:1"}
        )
        state_of(restarted, key)
        chunk = restarted.read_log(key, 4)
        restarted.close()
        assert (chunk.data, "rotated" in chunk.uncounted) == (data, True)


def test_log_reads_pause_while_running_and_end_is_complete(double, backend):
    key = backend.submit(launch("echo one; sleep 2; echo two; exit 4")).key
    output, state = b"", None
    while state != State.FAILED:  # like the watcher: twenty polls a second, and one more at the end
        state = state_of(backend, key)
        output += backend.read_log(key, len(output)).data
        time.sleep(0.05)
    before = sum("/log?" in line for line in double.asked)
    assert output == b"one\ntwo\n" and 3 <= before <= 12
    assert backend.read_log(key, 0).data == output
