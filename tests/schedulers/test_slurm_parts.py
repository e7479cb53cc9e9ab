"""Test the pure parts of the Slurm backend: what is sent to Slurm and how its output is read."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from dataclasses import replace

import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedulers.contract import Rejected, Unavailable
from schedulers.slurm import nodes, queue, states
from schedulers.slurm.commands import sbatch
from schedulers.slurm.errors import failure
from schedulers.slurm.files import parse_record
from schedulers.slurm.pending_reasons import waiting
from schedulers.slurm.queue import queue_lines
from schedulers.slurm.request import SlurmSettings, build_request, comment_of, slice_names
from schedulers.slurm.rest import signed
from schedulers.slurm.rest_body import job_body
from schedulers.slurm.rows import (
    COMMENT_WIDTH,
    NAME_WIDTH,
    SEPARATOR,
    SQUEUE,
    Row,
    oldest,
    rest_row,
    sacct_rows,
)
from schedulers.slurm.script import batch_script, exports
from schedulers.states import Reason, State, Wait
from tests.rig.seeds import examples
from tests.schedulers.launches import a_launch

SITE = SlurmSettings("/shared/spool", "ada", account="atlas")
TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=60)


def launch(**more):
    return a_launch(**more)


def read_by_bash(text: str) -> dict[bytes, bytes]:
    argv, path = ["bash", "-c", 'eval "$(cat)"; env -0'], {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(argv, input=text.encode(), capture_output=True, check=True, env=path)
    return dict(pair.split(b"=", 1) for pair in done.stdout.split(b"\0") if pair)


@settings(max_examples=examples(60), deadline=None)
@given(st.dictionaries(st.from_regex(r"\AX_[A-Za-z0-9_]{0,10}\Z"), TEXT, max_size=5))
def test_any_variable_value_reaches_bash_unchanged(env):
    seen = read_by_bash(exports(env))
    assert {name: seen[name.encode()].decode() for name in env} == env


def test_invalid_variable_name_is_rejected(subtests):
    for name in ["A B", "A;id", "1A", "", "A=B", "Ä", "A\nB", "$(id)"]:
        with subtests.test(name=name):
            with pytest.raises(Rejected):
                exports({name: "x"})


def test_variables_affecting_wrapper_programs_are_dropped():
    dropped = dict.fromkeys(
        ["LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "SLURM_CONF", "SBATCH_UID", "BASH_FUNC_ls"], "/x"
    )
    assert exports({**dropped, "KEPT": "1"}) == "export KEPT=1\n"


@settings(max_examples=examples(60), deadline=None)
@given(TEXT, st.dictionaries(st.just("VALUE"), TEXT))
def test_batch_script_has_user_input_as_base64_only(text, env):
    plain = batch_script(launch(script=""), "/shared/spool/t-1").splitlines()
    made = batch_script(launch(script=text, env=env), "/shared/spool/t-1").splitlines()
    assert set("".join(line for line in made if line not in plain)) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
    )
    assert base64.b64encode(text.encode()).decode() in "".join(made)


def test_batch_script_is_valid_bash():
    text = batch_script(launch(script="#SBATCH --uid=0\n'\"`$(id)"), "/shared/spool/t-1")
    assert (
        subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=True).stderr
        == b""
    )
    assert "#SBATCH" not in text


@given(st.text(max_size=300))
def test_comment_is_one_printable_line(name):
    comment = comment_of(name)
    assert len(comment.splitlines()) <= 1 and comment.isprintable() and len(comment) <= 200


APART = [
    ({"partition": "a,b"}, "partition"),
    ({"partition": "--uid=0"}, "partition"),
    ({"partition": "a b"}, "partition"),
    ({"gpus": 1, "gpu_type": "h100,gpu:x"}, "gpu_type"),
    ({"node_labels": {"x": "a|b"}}, "node_labels"),
    ({"node_labels": {"x": "a&b"}}, "node_labels"),
    ({"image": "busybox"}, "image"),
]


def test_word_with_separator_is_rejected(subtests):
    for more, field in APART:
        with subtests.test(more=more, field=field):
            with pytest.raises(Rejected) as caught:
                build_request(launch(**more), SITE)
            assert caught.value.field == field


def test_request_is_converted_to_sbatch_options():
    request = launch(
        cpus=1.5,
        memory=(3 << 30) + 1,
        gpus=2,
        gpu_type="H100",
        num_nodes=2,
        time_limit=90,
        grace=30,
        partition="big",
        node_labels={"nvlink": ""},
    )
    argv = sbatch(build_request(request, SITE))
    assert {
        "--nodes=2",
        "--ntasks-per-node=1",
        "--cpus-per-task=2",
        "--mem=3073M",
        "--gres=gpu:h100:2",
        "--time=3",
        "--account=atlas",
        "--partition=big",
        "--constraint=nvlink",
        "--job-name=t-1",
        "--dependency=singleton",
    } <= set(argv)
    assert not any(word.startswith("--qos") for word in argv)


def test_failed_nodes_are_excluded():
    request = build_request(launch(exclude_nodes=("n1", "n2")), SITE)
    assert "--exclude=n1,n2" in sbatch(request)
    assert job_body(request, 38)["exclude_nodes"] == "n1,n2"
    assert job_body(request, 40)["excluded_nodes"] == ["n1", "n2"]
    with pytest.raises(Rejected):
        build_request(launch(exclude_nodes=("n1 --uid=0",)), SITE)


BODIES = [
    (38, ("gres", "gpu:2"), 1024),
    (40, ("tres_per_node", "gres/gpu:2"), {"set": True, "number": 1024}),
]


def test_request_is_converted_to_body_of_api_version(subtests):
    for minor, gres, memory in BODIES:
        with subtests.test(minor=minor, gres=gres):
            body = job_body(build_request(launch(gpus=2, memory=1 << 30), SITE), minor)
            assert body[gres[0]] == gres[1] and body["memory_per_node"] == memory
            assert isinstance(body["environment"], dict if minor == 38 else list)
            assert json.dumps(body)


def test_token_has_user_and_expiry():
    key, at = b"k" * 32, int(time.time())
    claims = jwt.decode(signed(key, "ada", at, 60), key, algorithms=["HS256"])
    assert claims == {"exp": at + 60, "iat": at, "sun": "ada"}


def squeue_line(*words, name="t-1", comment="a|b|c", width=COMMENT_WIDTH):
    """Return one record as squeue prints it."""
    free = name.encode()[:NAME_WIDTH].ljust(NAME_WIDTH) + comment.encode()[:width].ljust(width)
    return SEPARATOR.join(map(str, words)).encode() + SEPARATOR.encode() + free + b"\n"


WORDS = (7, "RUNNING", "None", 1000, 2000, "n[1-2]", "batch", "atlas", "normal", "ada")


def test_squeue_with_any_comment_is_parsed():
    [row] = SQUEUE.rows(squeue_line(*WORDS) + b"rubbish\n")
    assert row == Row(
        7,
        "RUNNING",
        "t-1",
        "None",
        1000,
        2000,
        "n[1-2]",
        "batch",
        "atlas",
        "normal",
        "ada",
        "a|b|c",
    )


def test_no_name_or_comment_imitates_the_line_of_another_job():
    fake = squeue_line(9, "COMPLETED", *WORDS[2:], name="t-2").decode()
    hostile = squeue_line(*WORDS, name=f"x\n{fake}", comment=f"\n{fake}\n")
    out = hostile + squeue_line(8, *WORDS[1:], name="t-2")
    assert [(row.id, row.key) for row in SQUEUE.rows(out)][1:] == [(8, "t-2")]
    assert SQUEUE.rows(out)[0].id == 7 and SQUEUE.rows(out)[0].state == "RUNNING"
    assert queue_lines(b"rubbish\n" + out) == []


def test_sacct_peak_is_largest_of_steps():
    text = "7|CANCELLED by 0|0:15|1000|1010|n1|t-1\n"
    steps = "7|\n7.batch|2048K\n7.0|3M\n"
    assert sacct_rows(text, steps) == [
        Row(7, "CANCELLED", "t-1", started=1000, ended=1010, nodes="n1", exit="0:15", peak=3 << 20)
    ]


VERSIONS = [
    {"job_state": "FAILED", "exit_code": 256, "start_time": 1000},
    {
        "job_state": ["FAILED"],
        "exit_code": {"return_code": {"set": True, "number": 1}},
        "start_time": {"set": True, "number": 1000},
    },
]


def test_rest_job_of_any_api_version_is_parsed_alike(subtests):
    for job in VERSIONS:
        with subtests.test(job=job):
            row = rest_row({"job_id": 7, "name": "t-1", **job})
            assert (row.state, row.exit, row.started) == ("FAILED", "1:0", 1000)


def test_rest_reason_is_converted_to_squeue_notation():
    message = (
        "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority "
        "partitions"
    )
    row = rest_row(
        {
            "job_id": 7,
            "job_state": "PENDING",
            "name": "k1",
            "state_reason": "Resources",
            "state_description": message,
        }
    )
    assert waiting(row).wait == Wait.NODES_DOWN


def test_duplicate_key_uses_first_job():
    assert (
        oldest([Row(9, "PENDING", "t-1"), Row(7, "RUNNING", "t-1"), Row(8, "PENDING", "t-2")])[
            "t-1"
        ].id
        == 7
    )


STATES = [
    ("PENDING", State.SUBMITTED),
    ("CONFIGURING", State.STARTING),
    ("RUNNING", State.RUNNING),
    ("SUSPENDED", State.RUNNING),
    ("COMPLETING", State.RUNNING),
    ("REQUEUED", State.SUBMITTED),
]


def test_native_state_is_mapped(subtests):
    for native, state in STATES:
        with subtests.test(native=native, state=state):
            assert states.live(Row(7, native, "t-1"), states.Record()).state == state


def test_unknown_state_is_skipped_and_logged(caplog):
    assert states.live(Row(7, "QUANTUM", "t-1"), states.Record()) is None
    assert "QUANTUM" in caplog.text


ENDS = [
    ("PREEMPTED", Reason.PREEMPTED),
    ("NODE_FAIL", Reason.NODE_FAILED),
    ("BOOT_FAIL", Reason.NODE_FAILED),
    ("TIMEOUT", Reason.TIME_LIMIT),
    ("DEADLINE", Reason.TIME_LIMIT),
    ("OUT_OF_MEMORY", Reason.OUT_OF_MEMORY),
    ("CANCELLED", Reason.CANCELED),
]


def test_end_by_slurm_has_reason(subtests):
    for native, reason in ENDS:
        with subtests.test(native=native, reason=reason):
            seen = states.ended(
                Row(7, native, "t-1", started=1000, ended=1010, nodes="n[3-4]"),
                states.Record(started=1000.5),
                states.Evidence(),
            )
            assert (seen.reason, seen.state, seen.node) == (reason, reason.final_state, "n3")


def test_failed_launch_is_not_a_user_error():
    seen = states.ended(Row(7, "FAILED", "t-1", exit="0:53"), states.Record(), states.Evidence())
    assert seen.reason == Reason.PLATFORM_ERROR and "spool" in seen.evidence


WAITS = [
    ("Priority", Wait.BEHIND, "higher priority"),
    ("Resources", Wait.CAPACITY, "not free"),
    ("JobHeldAdmin", Wait.CLUSTER_HELD, "administrator"),
    ("AssocGrpGRES", Wait.CLUSTER_LIMIT, "Account atlas is at its limit of GPUs"),
    ("QOSMaxJobsPerUserLimit", Wait.CLUSTER_LIMIT, "QOS high is at its limit of jobs"),
    ("AssocGrpCpuLimit", Wait.CLUSTER_LIMIT, "cores"),
    ("QOSMaxNodePerJobLimit", Wait.IMPOSSIBLE, "fewer nodes"),
    ("ReqNodeNotAvail, UnavailableNodes:n1", Wait.NODES_DOWN, "down"),
    ("PartitionDown", Wait.NODES_DOWN, "Partition big is closed"),
    ("Reservation", Wait.RESERVED, "reservation"),
    ("Licenses", Wait.CAPACITY, "licenses"),
    ("Dependency", Wait.DEPENDENCY, "another Slurm job"),
    ("SomethingNew", Wait.CLUSTER_LIMIT, "Slurm says SomethingNew"),
]


def test_pending_reason_has_a_sentence(subtests):
    for message, wait, words in WAITS:
        with subtests.test(output=message, wait=wait):
            seen = waiting(
                Row(7, "PENDING", "t-1", message, partition="big", account="atlas", qos="high")
            )
            assert seen.wait == wait and words in seen.text


FAILURES = [
    (
        (
            "sbatch: error: Batch job submission failed: Invalid account or account/partition "
            "combination specified"
        ),
        Rejected,
        "account",
    ),
    ("sbatch: error: invalid partition specified: nope", Rejected, "partition"),
    ("Invalid qos specification", Rejected, "qos"),
    ("Invalid generic resource (gres) specification", Rejected, "resources.gpus"),
    ("squeue: error: Unable to contact slurm controller (connect failure)", Unavailable, None),
    ("Socket timed out on send/recv operation", Unavailable, None),
    ("Protocol authentication error", Unavailable, None),
    ("something that nobody has seen", Unavailable, None),
]


def test_failure_is_rejected_or_unavailable(subtests):
    for message, kind, field in FAILURES:
        with subtests.test(output=message, kind=kind):
            found = failure(message)
            assert isinstance(found, kind) and (field is None or found.field == field)


def test_slices_named_by_autodetect_are_no_whole_gpus():
    gres = "gpu:a100_1g.5gb:7(S:0-1),gpu:nvidia_h100_80gb_hbm3_1g.10gb+me:1,gpu:nvidia_h100_80gb_hbm3:1"
    [node] = nodes.from_scontrol(f"NodeName=n1 State=IDLE Gres={gres}")
    kinds = ["mig-1g.5gb"] * 7 + ["mig-1g.10gb.me", "nvidia_h100_80gb_hbm3"]
    assert [gpu.type for gpu in node.gpus] == kinds
    assert queue.kind_of("gres/gpu:a100_1g.5gb") == "gpu.mig-1g.5gb"
    names = slice_names([node])
    assert names == {
        "mig-1g.5gb": "a100_1g.5gb",
        "mig-1g.10gb.me": "nvidia_h100_80gb_hbm3_1g.10gb+me",
    }


def test_node_has_gpus_and_drain_reason():
    line = (
        "NodeName=n1 Arch=x86_64 CPUAlloc=4 CPUTot=8 ActiveFeatures=nvlink,rack1 "
        "Gres=gpu:h100:2(S:0-1),gpu:1g.10gb:1 "
        "GresUsed=gpu:h100:1(IDX:0),gpu:1g.10gb:0(IDX:N/A) "
        "OS=Linux 6.1 #1 SMP RealMemory=16000 AllocMem=64 State=IDLE+DRAIN "
        "Partitions=batch,debug  Reason=fan is loud [root@2026-11-21T03:00:00]"
    )
    [node] = nodes.from_scontrol(line)
    assert [(gpu.uuid, gpu.type) for gpu in node.gpus] == [
        ("n1/gpu0", "h100"),
        ("n1/gpu1", "h100"),
        ("n1/gpu2", "mig-1g.10gb"),
    ]
    assert (node.is_ready, node.is_drained, node.note) == (True, True, "drain idle: fan is loud")
    assert (node.cpus, node.memory, node.used_cpus, node.used_memory, node.used_gpus) == (
        8,
        16000 << 20,
        4,
        64 << 20,
        1,
    )
    assert (node.arch, nodes.from_rest([{"name": "n1", "architecture": "aarch64"}])[0].arch) == (
        "amd64",
        "arm64",
    )
    assert node.partitions == ("batch", "debug") and set(node.labels) == {"nvlink", "rack1"}


def test_unresponsive_node_is_not_ready():
    [node] = nodes.from_scontrol("NodeName=n1 CPUTot=8 RealMemory=100 Gres=(null) State=DOWN*")
    assert node.arch == ""
    assert not node.is_ready and not node.is_drained and "not_responding" in node.note.lower()


def test_incomplete_record_is_ignored():
    assert parse_record("7", "1000.5 n1 64 2.5", "0 - 1000").code is None
    assert parse_record("7\n", "1000.5 n1 64 2.5", "143 time 1000.5 1003.25") == states.Record(
        "7", 1000.5, "n1", 143, "time", 1003.25, 64, 2.5
    )


CODES = [
    (None, Reason.LOST_BY_SCHEDULER),
    (137, Reason.LOST_BY_SCHEDULER),
    (0, Reason.COMPLETED),
    (3, Reason.USER_ERROR),
]


def test_end_is_that_of_original_job_not_replacement(subtests):
    """Slurm lost job 6 while it ran and got 7, whose script finds the folder taken and exits 0."""
    for code, reason in CODES:
        with subtests.test(code=code, reason=reason):
            record = states.Record(
                id="6", started=1000, code=code, ended=1001 if code is not None else 0
            )
            seen = states.ended(
                Row(7, "COMPLETED", "t-1", started=1010, ended=1011, nodes="n1"),
                record,
                states.Evidence(),
            )
            assert seen.reason == reason


KILLED = [
    ("", 2, "", Reason.LOST_BY_SCHEDULER),
    ("", 600, "", Reason.KILLED_BY_SIGNAL),
    ("time", 2, "", Reason.TIME_LIMIT),
    ("cancel", 2, "", Reason.CANCELED),
    (
        "",
        2,
        "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch.",
        Reason.OUT_OF_MEMORY,
    ),
    (
        "",
        2,
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.batch.",
        Reason.OUT_OF_MEMORY,
    ),
]


def test_killed_job_unknown_to_controller_is_forgotten(subtests):
    """A controller knows an end for minutes; the record is of a job killed some seconds ago."""
    for request, age, native_reason, reason in KILLED:
        with subtests.test(asked=request, age=age):
            record = states.Record(
                id="7", started=1000, code=137, ended=1010, asked=request, limit=10
            )
            seen = states.ended(
                states.left("t-1", record, 1010 + age),
                record,
                states.Evidence(output=native_reason),
            )
            assert seen.reason == reason


def test_completing_job_is_not_stopping():
    request = Row(7, "COMPLETING", "t-1", comment="[cancel 1000 30] x")
    assert states.live(request, states.Record()).state == State.STOPPING


PUT_BACK = [
    ("PREEMPTION", Reason.PREEMPTED),
    ("JOB REQUEUE", Reason.INTERRUPTED),
    ("NODE FAILURE", Reason.NODE_FAILED),
    ("", Reason.NODE_FAILED),
]
PUT_BACK_ROWS = [
    (Row(7, "PENDING", "t-1", reason="BeginTime", exit="0:0"), False),
    (Row(7, "COMPLETED", "t-1", exit="0:0"), True),
    (Row(7, "CANCELLED", "t-1", exit="0:0"), False),
]


def test_requeued_job_ends_with_reason_of_slurm(subtests):
    for why, reason in PUT_BACK:
        for row, is_again in PUT_BACK_ROWS:
            with subtests.test(why=why, reason=reason):
                message = (
                    (
                        "slurmstepd-n1: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-21T22:40:32 DUE "
                        f"TO {why} ***\n"
                    )
                    if why
                    else ""
                )
                expected = Reason.CANCELED if row.state == "CANCELLED" and not why else reason
                seen = states.ended(
                    row,
                    states.Record("7", 1000, "n1", None, is_again=is_again),
                    states.Evidence(output=message),
                )
                assert seen.reason == expected
                assert seen.exit_code is None or row.state != "PENDING"


AFTERWARDS = [
    Row(7, "NODE_FAIL", "t-1", exit="0:1", nodes="n1", started=1000, ended=1100),
    Row(7, "PENDING", "t-1", reason="BeginTime", exit="0:0", started=5000),
    Row(7, "COMPLETED", "t-1", exit="0:0", nodes="n1", started=1200, ended=1201),
    Row(7, "CANCELLED", "t-1", exit="0:0", ended=1300),
    Row(7, "PREEMPTED", "t-1", exit="0:0", nodes="n1", ended=1300),
    Row(7, "BOOT_FAIL", "t-1", exit="0:0", nodes="n1", ended=1300),
]


def test_end_that_the_job_recorded_wins_over_what_slurm_did_later(subtests):
    """A controller with an older state takes an ended job for one that its node lost."""
    for row in AFTERWARDS:
        for code, reason in ((0, Reason.COMPLETED), (3, Reason.USER_ERROR)):
            with subtests.test(state=row.state, code=code):
                record = states.Record("7", 1000, "n1", code, "", 1050, is_again=row.started > 1000)
                seen = states.ended(row, record, states.Evidence())
                assert (seen.reason, seen.exit_code) == (reason, code)
                assert seen.finished_at.timestamp() == 1050


def test_end_that_slurm_caused_is_no_result(subtests):
    """A job that stops with exit 0 when it is preempted has not succeeded."""
    for row in AFTERWARDS[:2] + AFTERWARDS[4:]:
        for code in (0, 137, 143):
            with subtests.test(state=row.state, code=code):
                record = states.Record("7", 1000, "n1", code, "" if code else "cancel", 1050)
                seen = states.ended(row, record, states.Evidence())
                assert seen.reason.is_retryable and seen.exit_code != 0


def test_node_failure_of_several_nodes_is_not_the_exit_code_of_a_survivor():
    record = states.Record("7", 1000, "n1", 1, "", 1050)
    row = Row(7, "NODE_FAIL", "t-1", nodes="n[1-2]", ended=1060)
    seen = states.ended(row, record, states.Evidence("srun: error: Node failure on n2"))
    assert seen.reason == Reason.NODE_FAILED


def test_cancel_in_slurm_says_by_whom_or_that_it_is_not_known():
    row = Row(7, "CANCELLED", "t-1", ended=1000, canceled_by="ada")
    told = [
        states.ended(one, states.Record(), states.Evidence()).evidence
        for one in (row, replace(row, canceled_by=""), replace(row, comment="[cancel 900 30] x"))
    ]
    assert told == [
        "Canceled in Slurm by ada, not by Muster.",
        "Canceled in Slurm, not by Muster. Slurm does not say by whom.",
        "",
    ]


PROJECTED = [
    (Row(7, "PENDING", "t-1", reason="BeginTime", started=900, ended=90000), 2000),
    (Row(7, "PREEMPTED", "t-1", nodes="n1", started=900, ended=1500), 1500),
    (Row(7, "NODE_FAIL", "t-1", nodes="n1", started=900, ended=72000), 2000),
    (Row(7, "CANCELLED", "t-1", ended=0), 2000),
]


def test_projected_end_is_never_the_end(subtests):
    for row, end in PROJECTED:
        with subtests.test(state=row.state):
            seen = states.ended(row, states.Record("7", 1000, "n1"), states.Evidence(), 2000)
            assert seen.finished_at.timestamp() == end


def test_job_failed_without_record_is_forgotten():
    """Happens when its number still runs on the node, for a job that the controller lost."""
    row = Row(7, "FAILED", "t-1", exit="1:0", nodes="n1", started=1000, ended=1001)
    assert states.ended(row, states.Record(), states.Evidence()).reason == Reason.LOST_BY_SCHEDULER
    for ran in (replace(row, ended=1400), replace(row, exit="3:0")):
        assert states.ended(ran, states.Record(), states.Evidence()).reason == Reason.PLATFORM_ERROR
    assert (
        states.ended(row, states.Record(), states.Evidence(output="bash: not found")).reason
        == Reason.PLATFORM_ERROR
    )


def test_job_refused_by_node_is_forgotten():
    """Slurm reused the number: the record belongs to the lost job."""
    row = Row(29, "PENDING", "t-1", reason="launch failed requeued held")
    seen = states.ended(row, states.Record(id="29", started=1000), states.Evidence())
    assert seen.reason == Reason.LOST_BY_SCHEDULER
