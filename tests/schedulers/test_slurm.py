"""Test the Slurm backend with a real Slurm, by commands and slurmrestd, beyond the contract."""

from __future__ import annotations

import contextlib
import os
import time
import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.core.options import failures
from schedulers import backends
from schedulers.contract import Launch, NodeFacts, Rejected, Unavailable
from schedulers.images.config import arch_name
from schedulers.slurm.backend import config_of
from schedulers.slurm.interface import faults_in
from schedulers.slurm.request import build_request
from schedulers.slurm.rest import signed
from schedulers.slurm.script import batch_script
from schedulers.states import Reason, State, Wait
from tests.rig.processes import RigFailure
from tests.schedulers.conftest import COMMANDS, MAKERS, SLURM, Stage

TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40)
MEET = """
python3 - <<'END'
import os, socket, time
where = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if os.environ["RANK"] == "0":
    with socket.create_server(where) as server:
        print("heard", server.accept()[0].recv(99).decode())
else:
    while True:
        try:
            socket.create_connection(where).sendall(b"rank 1 on " + os.environ["SLURMD_NODENAME"].encode())
            break
        except OSError:
            time.sleep(0.05)
END
"""


@SLURM
@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=TEXT, values=st.lists(TEXT, min_size=3, max_size=8), line=TEXT)
def test_any_text_reaches_job_unchanged(stage, name, values, line):
    env = {
        f"X_{number}": value
        for number, value in enumerate([*values, "a'b\"c\n#SBATCH --uid=0\n$(id)`id`\x01\x7f"])
    }
    script = f"env -0\nexit 0\n#SBATCH --nodes=99\n{line}\r\n'"
    key = stage.submit(script, name=name, env=env).key
    assert stage.ended(key).reason == Reason.COMPLETED
    seen = dict(pair.split(b"=", 1) for pair in stage.log(key).split(b"\0") if b"=" in pair)
    assert {name: seen[name.encode()].decode() for name in env} == env
    assert (stage.path / "spool" / key / "script").read_bytes() == script.encode()


@SLURM
def test_job_runs_as_configured_user(stage, slurm):
    assert stage.run("id -un; id -gn")[1].decode().split() == [slurm.user, slurm.group]


@SLURM
def test_ranks_of_two_nodes_meet_at_first_node(stage):
    seen, log = stage.run(
        f"echo $RANK of $SLURM_NNODES{MEET}", num_nodes=2, env={"MASTER_PORT": "29517"}
    )
    assert seen.reason == Reason.COMPLETED
    assert sorted(log.decode().splitlines()) == ["0 of 2", "1 of 2", "heard rank 1 on n2"]


@SLURM
def test_multi_node_job_ends_with_first_failed_rank(stage):
    script = (
        'if [ "$NODE_RANK" = 1 ]; then sleep 0.5; echo no route to the data; exit 6; fi; echo '
        "rank 0 works; sleep 600"
    )
    seen, _ = stage.run(script, num_nodes=2)
    assert (seen.reason, seen.exit_code, seen.signal) == (Reason.USER_ERROR, 6, None)
    assert seen.evidence == "Rank 1: Exit code 6. no route to the data"


@SLURM
def test_own_launcher_runs_on_first_node_only(stage):
    _, log = stage.run("echo once $SLURM_NNODES", num_nodes=2, is_on_first_node_only=True)
    assert log == b"once 2\n"


@SLURM
def test_job_sees_gpus_allocated_by_slurm(stage):
    _, log = stage.run("echo $CUDA_VISIBLE_DEVICES", gpus=2, gpu_type="h100")
    assert len(log.decode().strip().split(",")) == 2


@SLURM
def test_duplicate_job_with_same_key_never_runs(stage):
    launch = stage.launch(f"echo started >> {stage.path}/starts; sleep 0.5")
    backend = stage.backend
    given = (
        build_request(launch, backend.site),
        batch_script(launch, f"{backend.site.spool}/{launch.key}"),
    )
    first, second = backend._client.submit(*given), backend._client.submit(*given)
    assert backend.find(launch.key).native_id == str(min(first, second))
    assert stage.ended(launch.key).reason == Reason.COMPLETED
    stage.wait_for(
        lambda: all(
            row.state == "COMPLETED"
            for row in stage.again()._client.jobs([launch.key])
            if row.key == launch.key
        ),
        20,
    )
    assert (stage.path / "starts").read_text() == "started\n"


@SLURM
@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"partition": "nowhere"}, "partition"),
        ({"gpus": 99}, "resources"),
        ({"memory": 1 << 50}, "resources"),
        ({"node_labels": {"a": "none"}}, "node_labels"),
    ],
)
def test_impossible_request_is_rejected_with_field(stage, more, field):
    with pytest.raises(Rejected) as caught:
        stage.submit("true", **more)
    assert caught.value.field.startswith(field)


@SLURM
def test_pending_job_is_explained_and_canceled_at_once(stage):
    full = stage.submit("sleep 60", partition="debug", cpus=8).key
    stage.wait_for(lambda: stage.look(full).state == State.RUNNING)
    key = stage.submit("true", partition="debug", cpus=8).key
    seen = stage.wait_for(
        lambda: (
            (o := stage.look(key)).waiting and o.waiting.wait in {Wait.CAPACITY, Wait.BEHIND} and o
        )
    )
    assert seen.state == State.SUBMITTED and "partition debug" in seen.waiting.text.lower()
    stage.backend.cancel(key, 20)
    ended = stage.ended(key)
    assert (ended.reason, ended.started_at) == (Reason.CANCELED, None)


@COMMANDS
def test_preempted_job_is_not_requeued(stage):
    low = stage.submit("echo up; sleep 60", partition="debug", cpus=8).key
    stage.logged(low, b"up")
    stage.options["qos"] = "high"
    high = stage.again().submit(stage.launch("true", partition="debug", cpus=8)).key
    assert stage.ended(low).reason == Reason.PREEMPTED
    assert stage.ended(high).reason == Reason.COMPLETED


@SLURM
def test_job_on_failed_node_has_reason_node_failed(stage, slurm):
    key = stage.submit("echo up; sleep 60", partition="debug").key
    stage.logged(key, b"up")
    slurm.run("scontrol", "update", "nodename=n1", "state=down", "reason=test")
    try:
        assert stage.ended(key).reason == Reason.NODE_FAILED
    finally:  # the node returns by itself (ReturnToService)
        stage.wait_for(lambda: _node(stage, "n1").is_ready, 30)


@SLURM
def test_end_is_known_after_slurm_purged_job(stage, monkeypatch):
    key = stage.submit("exit 7").key
    first = stage.ended(key)
    other = stage.again()
    monkeypatch.setattr(type(other._client), "jobs", lambda *_: [])
    seen = stage.look(key, other)
    assert (seen.reason, seen.exit_code, seen.started_at, seen.finished_at) == (
        Reason.USER_ERROR,
        7,
        first.started_at,
        first.finished_at,
    )


@COMMANDS
def test_job_canceled_before_start_is_read_from_accounting(stage, monkeypatch):
    full = stage.submit("sleep 60", partition="debug", cpus=8).key
    stage.wait_for(lambda: stage.look(full).state == State.RUNNING)
    key = stage.submit("true", partition="debug", cpus=8).key
    stage.wait_for(lambda: stage.backend._client.past([key]))
    stage.backend.cancel(key)
    other = stage.again()
    stage.wait_for(lambda: any(row.state == "CANCELLED" for row in other._client.past([key])))
    with monkeypatch.context() as patch:
        patch.setattr(type(other._client), "jobs", lambda *_: [])
        assert stage.look(key, other).reason == Reason.CANCELED


@SLURM
def test_poll_with_controller_down_guesses_nothing(stage, slurm):
    key = stage.submit("echo up; sleep 60").key
    stage.logged(key, b"up")
    slurm.save()
    slurm.kill_controller()
    try:
        for act in (
            lambda: stage.again().poll([key]),
            lambda: stage.again().submit(stage.launch("true")),
            lambda: stage.again().find(key),
        ):
            with pytest.raises(Unavailable):
                act()
        probe = stage.again().probe()
        assert not probe.is_ok and probe.message
    finally:
        slurm.start_controller()
    assert stage.wait_for(lambda: _state(stage, key) == State.RUNNING, 20)


def _node(stage: Stage, name: str) -> NodeFacts:
    return next(node for node in stage.backend.inventory() if node.name == name)


def _state(stage: Stage, key: str) -> State | None:
    try:
        return stage.look(key).state
    except (Unavailable, StopIteration):
        return None


@SLURM
def test_submit_with_all_nodes_down_is_accepted_and_explained(stage, slurm):
    """slurmrestd answers such a submission with both an error and a job."""
    nodes = f"nodename={','.join(slurm.nodes)}"
    slurm.run("scontrol", "update", nodes, "state=drain", "reason=test")
    try:
        key = stage.submit("true", is_new=True).key
        waiting = stage.wait_for(lambda: stage.look(key).waiting, 20)
        assert waiting.wait == Wait.NODES_DOWN
    finally:
        for node in slurm.nodes:
            # a node that Slurm had drained itself and resumed since
            with contextlib.suppress(RigFailure):
                slurm.run("scontrol", "update", f"nodename={node}", "state=resume")
    assert stage.ended(key, 60).reason == Reason.COMPLETED


@SLURM
def test_examples_are_delivered_with_script(stage):
    end, log = stage.run(
        'cd "$MUSTER_EXAMPLES"; cat "a b/x.txt"; od -An -tx1 y',
        examples={"a b/x.txt": b"hello\n", "y": b"\0\xff"},
    )
    assert (end.reason, log) == (Reason.COMPLETED, b"hello\n 00 ff\n")


@SLURM
def test_inventory_has_architecture_in_image_notation(stage):
    stage.wait_for(lambda: _node(stage, "n1").is_ready, 30)
    assert _node(stage, "n1").arch == arch_name(os.uname().machine)


@COMMANDS
def test_drain_sets_reason_and_resume_clears_it(stage):
    stage.wait_for(lambda: _node(stage, "n4").is_ready, 30)
    stage.backend.drain("n4", "fan is\nloud")
    assert _node(stage, "n4").is_drained and "fan is loud" in _node(stage, "n4").note
    stage.backend.resume("n4")
    assert not _node(stage, "n4").is_drained
    for name in ("n99", "n4 state=down", "--help"):
        with pytest.raises(Rejected):
            stage.backend.drain(name, "x")


@COMMANDS
def test_exec_has_variables_of_job(stage, slurm):
    key = stage.submit("touch mark; echo up; sleep 60", env={"WORD": "it's"}).key
    stage.logged(key, b"up")
    assert stage.backend.exec(key, ["sh", "-c", "echo $WORD; ls; id -un; exit 3"]) == (
        3,
        f"it's\nmark\n{slurm.user}\n".encode(),
    )


@pytest.mark.integration
@pytest.mark.parametrize(
    ("change", "words", "fields"),
    [
        (
            {"rest_url": "http://127.0.0.1:1", "spool": "/nosuch"},
            "cannot be reached",
            ["rest_url", "spool"],
        ),
        ({"rest_key": "another key"}, "", ["rest_key"]),
        ({"rest_key": "", "rest_token": "expired"}, "", ["rest_token"]),
        ({"user": ""}, "set the user", ["user"]),
        ({"spool": "/a b", "rest_key": ""}, "absolute path", ["spool", "rest_key"]),
        (
            {"partition": "nosuch", "account": "cygnus", "spool": "/nosuch"},
            "no 'nosuch'. Choose one of",
            ["spool", "partition", "account"],
        ),
    ],
)
def test_probe_with_wrong_slurmrestd_options_marks_all_of_them(
    request, place, slurm, change, words, fields
):
    given = {**MAKERS["slurm-rest"](place, request), **change}
    if given.get("rest_token"):
        given["rest_token"] = signed(
            slurm.jwt_key.read_bytes(), slurm.user, int(time.time()) - 1000, 60
        )
    if "/a b" in change.values():
        assert [name for name, _ in faults_in(config_of(given))] == fields
        return
    backend = backends()["slurm"].configured(given)
    probe = backend.probe()
    assert not probe.is_ok and probe.message and words in probe.message
    assert [check.field for check in failures(probe.checks)] == fields
    if fields in (["rest_key"], ["rest_token"]):
        with pytest.raises(Unavailable):
            backend.submit(Launch(key=f"t-{uuid.uuid4().hex}", name="x", script="true"))


@pytest.mark.integration
def test_probe_without_slurm_is_explained(tmp_path):
    backend = backends()["slurm"].configured(
        {"spool": str(tmp_path), "conf": "/nowhere/slurm.conf", "user": "games"}
    )
    assert not backend.probe().is_ok
    with pytest.raises(Unavailable):
        backend.poll(["t-1"])


def test_unsafe_spool_path_is_rejected(subtests):
    for spool in ["relative", "/a b", "/a/$(id)", "/a/../b", "/a%j"]:
        with subtests.test(spool=spool):
            with pytest.raises(Rejected):
                backends()["slurm"].configured({"spool": spool})


@SLURM
def test_cancel_by_a_person_in_slurm_says_by_whom(stage, slurm):
    keys = [stage.submit("sleep 60").key for _ in range(2)]
    stage.wait_for(lambda: all(stage.look(key).state == State.RUNNING for key in keys), 20)
    for key, user in zip(keys, (slurm.user, None), strict=True):
        slurm.run("scancel", f"--name={key}", user=user)

    def ends():
        found = {seen.key: seen for seen in stage.backend.poll(keys).observations}
        return len(found) == 2 and all(seen.state.is_final for seen in found.values()) and found

    found = stage.wait_for(ends, 30)
    told = [(found[key].reason, found[key].evidence) for key in keys]
    assert told == [
        (Reason.CANCELED, f"Canceled in Slurm by {user}, not by Muster.")
        for user in (slurm.user, "root")
    ]
