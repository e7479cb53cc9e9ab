"""Test Slurm-specific options with a real Slurm, by commands and slurmrestd.

Covers what takes effect, what the operator overrides, and what Slurm refuses.
"""

from __future__ import annotations

import time

import pytest

from schedulers.contract import Rejected
from schedulers.slurm.sbatch_options import checked, choose, combined
from schedulers.states import Reason, State
from tests.schedulers.conftest import COMMANDS, SLURM

FIXED = {"account": "atlas", "qos": "", "reservation": ""}


def shown(slurm, stage, key: str) -> dict[str, str]:
    """Return the job as shown by slurmctld."""
    number = stage.backend.find(key).native_id
    words = slurm.run("scontrol", "show", "job", "-o", number).split()
    return dict(word.split("=", 1) for word in words if "=" in word)


@SLURM
@pytest.mark.parametrize("gpu_type", ["h100", ""])
def test_plain_srun_starts_requested_tasks(stage, gpu_type):
    """8 tasks of 2 cores on 2 nodes with a GPU each, as with sbatch."""
    each = "echo $SLURM_PROCID of $SLURM_NTASKS on $SLURMD_NODENAME sees [$CUDA_VISIBLE_DEVICES]"
    seen, log = stage.run(
        f"srun sh -c '{each}' | sort",
        num_nodes=2,
        cpus=8,
        gpus=4,
        gpu_type=gpu_type,
        is_on_first_node_only=True,
        native={"tasks": 8, "tasks_per_node": 4, "gpus_per_task": 1},
    )
    assert seen.reason == Reason.COMPLETED, log
    assert log.decode().splitlines() == [
        f"{rank} of 8 on n{1 + rank // 4} sees [{rank % 4}]" for rank in range(8)
    ]


@SLURM
def test_job_account_and_qos_are_passed_on(stage, slurm):
    key = stage.submit("sleep 60", native={"account": "borealis", "qos": "high"}).key
    assert (shown(slurm, stage, key)["Account"], shown(slurm, stage, key)["QOS"]) == (
        "borealis",
        "high",
    )


@SLURM
@pytest.mark.parametrize(
    ("native", "field", "words"),
    [
        ({"account": "cygnus"}, "account", "account"),
        ({"qos": "gold"}, "qos", "qos"),
        ({"reservation": "nobodys"}, "reservation", "eservation"),
        ({"constraint": "warp"}, "node_labels", "feature"),
        ({"licenses": "unicorn:1"}, "slurm.licenses", "icense"),
    ],
)
def test_option_refused_by_slurm_is_quoted(stage, native, field, words):
    with pytest.raises(Rejected, match=words) as caught:
        stage.submit("true", native=native)
    assert caught.value.field == field


@SLURM
def test_job_cannot_change_operator_settings(stage, slurm):
    stage.options["account"] = "atlas"
    stage.backend = stage.again()
    launch = stage.launch("sleep 60", native={"account": "borealis", "exclusive": True})
    key = stage.backend.submit(launch).key
    assert shown(slurm, stage, key)["Account"] == "atlas"
    assert stage.backend.ignored_options(launch) == (
        "`slurm.account` is left out: the operator of this cluster has set it.",
        "`slurm.exclusive` is left out: jobs of this cluster may not choose it.",
    )


@SLURM
def test_operator_can_let_jobs_choose(stage, slurm):
    stage.options.update(account="atlas", may_choose=["account", "exclusive"])
    stage.backend = stage.again()
    key = stage.submit("sleep 60", native={"account": "borealis", "exclusive": True}).key
    stage.wait_for(lambda: stage.look(key).state == State.RUNNING)
    job = shown(slurm, stage, key)
    assert (job["Account"], job["NumCPUs"]) == ("borealis", "8")


@SLURM
def test_job_runs_in_named_reservation(stage, slurm):
    slurm.run(
        "scontrol",
        "create",
        "reservation",
        "reservationname=course",
        "starttime=now",
        "duration=10",
        "nodes=n3",
        f"users={slurm.user}",
    )
    try:
        _, log = stage.run("echo $SLURMD_NODENAME", native={"reservation": "course"})
        assert log == b"n3\n"
    finally:
        stage.wait_for(lambda: not slurm.run("squeue", "-h", "-R", "course", "-t", "R,CG").strip())
        slurm.run("scontrol", "delete", "reservationname=course")


@SLURM
def test_script_receives_requested_signal_before_end(stage):
    text = 'trap "echo warned; exit 0" USR1\necho ready\nwhile :; do sleep 0.1; done'
    began = time.monotonic()
    seen, log = stage.run(text, time_limit=600.0, native={"signal": "B:USR1@598"})
    assert (seen.reason, log) == (Reason.COMPLETED, b"ready\nwarned\n")
    assert time.monotonic() - began < 30


@COMMANDS
def test_signal_without_b_reaches_steps_only(stage):
    step = 'trap "echo step; exit 0" USR1; while :; do sleep 0.1; done'
    seen, log = stage.run(
        f"trap 'echo script' USR1\nsrun sh -c '{step}'\necho after",
        time_limit=600.0,
        is_on_first_node_only=True,
        native={"signal": "USR1@597"},
    )
    assert (
        seen.reason == Reason.COMPLETED
        and {b"step", b"after"} <= set(log.splitlines())
        and b"script" not in log
    )


@COMMANDS
def test_signal_without_time_limit_uses_partition_limit(stage):
    """Jobs without a time limit get 5 minutes in `debug`."""
    text = 'trap "echo warned; exit 0" USR1\nwhile :; do sleep 0.1; done'
    seen, log = stage.run(text, partition="debug", native={"signal": "B:USR1@298"})
    assert (seen.reason, log) == (Reason.COMPLETED, b"warned\n")


CHOICES = [
    ({"qos": "long", "tasks": 4}, [], {"qos": "long", "tasks": 4}, 0),
    ({"account": "borealis"}, [], {}, 1),
    ({"account": "atlas"}, [], {}, 0),
    ({"account": "borealis", "qos": "long"}, ["account"], {"account": "borealis"}, 1),
    ({"account": "borealis", "constraint": "a", "signal": "USR1"}, ["none"], {"signal": "USR1"}, 2),
    ({"exclusive": True}, [], {}, 1),
    ({"exclusive": True}, ["exclusive"], {"exclusive": True}, 0),
]


def test_job_chooses_only_allowed_options(subtests):
    for native, may_choose, values, left_out in CHOICES:
        with subtests.test(native=native, may_choose=may_choose):
            found = choose(native, FIXED, checked(may_choose))
            assert (found.values, len(found.ignored_options)) == (values, left_out)


def test_unknown_choosable_option_is_rejected_by_name():
    with pytest.raises(Rejected, match="'uid'") as caught:
        checked(["account", "uid"])
    assert caught.value.field == "may_choose"


def test_pool_features_are_combined_with_job_features():
    assert combined("nvlink", "a100") == "nvlink&a100" and combined("", "a100|h100") == "a100|h100"
    with pytest.raises(Rejected):
        combined("nvlink", "a100|h100")


@SLURM
def test_array_task_and_restart_variables_are_set(stage):
    """Slurm treats each task as a separate job, so Muster sets the array variables.

    Variables that Slurm does set take precedence.
    """
    ours = {
        "SLURM_ARRAY_TASK_ID": "7",
        "SLURM_ARRAY_JOB_ID": "12",
        "SLURM_ARRAY_TASK_COUNT": "9",
        "SLURM_ARRAY_TASK_MIN": "1",
        "SLURM_ARRAY_TASK_MAX": "17",
        "SLURM_RESTART_COUNT": "2",
        "SLURM_JOB_NAME": "my name",
        "SLURM_JOB_ID": "12",
        "SLURM_NNODES": "5",
    }
    key = stage.submit(
        "env | grep ^SLURM_; srun sh -c 'echo step $SLURM_ARRAY_TASK_ID'", env=ours
    ).key
    assert stage.ended(key).reason == Reason.COMPLETED
    lines = stage.log(key).decode().splitlines()
    seen = dict(line.split("=", 1) for line in lines if "=" in line)
    assert {name: seen.get(name) for name in ours} == {
        **ours,
        "SLURM_JOB_ID": stage.backend.find(key).native_id,
        "SLURM_NNODES": "1",
    }
    assert lines[-1] == "step 7"
