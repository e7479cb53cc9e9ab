"""Compare explanations with a real Slurm's first failing check.

The reason, numbers, users and proposed change must be right.
"""

from __future__ import annotations

import random
import re
from contextlib import ExitStack, contextmanager

import pytest

from schedulers.slurm.explanations import picture_of, scene_of
from schedulers.states import State, Wait
from tests.schedulers.conftest import COMMANDS, SLURM, Stage


@contextmanager
def limited(slurm, what: str, name: str, before: str, after: str):
    """Set a limit of an account or a QOS for the duration of the test."""
    slurm.run("sacctmgr", "-i", "modify", what, name, "set", *before.split())
    try:
        yield
    finally:
        slurm.run("sacctmgr", "-i", "modify", what, name, "set", *after.split())


def running(stage: Stage, backend, number: int = 1, **more) -> list[str]:
    keys = [backend.submit(stage.launch("sleep 60", **more)).key for _ in range(number)]
    stage.wait_for(lambda: all(stage.look(key, backend).state == State.RUNNING for key in keys), 20)
    return keys


def await_explanation(stage: Stage, backend, key: str, said: str, fact: str):
    """Return the explanation once Slurm gives this reason and the snapshot has its numbers."""

    def seen():
        waiting = stage.look(key, backend).waiting
        return (
            waiting if waiting and waiting.native_reason == said and fact in waiting.facts else None
        )

    return stage.wait_for(seen, 60)  # a busy machine takes snapshots rarely


@SLURM
def test_account_gpu_limit_is_explained(stage, slurm):
    with limited(slurm, "account", "borealis", "GrpTRES=gres/gpu=3", "GrpTRES=gres/gpu=-1"):
        stage.options["account"] = "borealis"
        backend = stage.again()
        [holder] = running(stage, backend, gpus=2)
        key = backend.submit(stage.launch("sleep 60", gpus=2)).key
        seen = await_explanation(stage, backend, key, "AssocGrpGRES", "used")
        assert (seen.wait, seen.text) == (
            Wait.CLUSTER_LIMIT,
            "Account borealis is using 2 of 3 GPUs; this job needs 2 GPUs.",
        )
        assert [one["key"] for one in seen.facts["held"]] == [holder] and "others" not in seen.facts
        change = seen.facts["change"]
        assert change == {"resource": "gpu", "from": 2, "to": 1}
        running(stage, backend, gpus=change["to"])  # the proposed change lets it start
        assert stage.look(key, backend).state == State.SUBMITTED


@SLURM
def test_account_limit_on_user_jobs_is_explained(stage, slurm):
    with limited(slurm, "account", "borealis", "MaxJobs=1", "MaxJobs=-1"):
        stage.options["account"] = "borealis"
        backend = stage.again()
        [holder] = running(stage, backend)
        key = backend.submit(stage.launch("sleep 60")).key
        seen = await_explanation(stage, backend, key, "AssocMaxJobsLimit", "used")
        assert seen.text == "Account borealis lets one user run 1 job at once, and 1 runs."
        assert [one["key"] for one in seen.facts["held"]] == [holder] and "change" not in seen.facts


@COMMANDS
@pytest.mark.parametrize(
    ("rule", "said", "text"),
    [
        ("GrpJobs=1", "QOSGrpJobsLimit", "QOS high lets 1 job run at once, and 1 runs."),
        (
            "GrpTRES=cpu=3",
            "QOSGrpCpuLimit",
            "QOS high is using 2 of 3 cores; this job needs 2 cores.",
        ),
        (
            "MaxTRESPerUser=gres/gpu=1",
            "QOSMaxGRESPerUser",
            "QOS high lets one user use 1 GPU, of which 1 is in use; this job needs 1 GPU.",
        ),
    ],
)
def test_qos_limits_are_explained(stage, slurm, rule, said, text):
    name = rule.rpartition("=")[0]
    with limited(slurm, "qos", "high", rule, f"{name}=-1"):
        stage.options["qos"] = "high"
        backend = stage.again()
        [holder] = running(stage, backend, cpus=2, gpus=1)
        key = backend.submit(stage.launch("sleep 60", cpus=2, gpus=1)).key
        seen = await_explanation(stage, backend, key, said, "used")
        assert (seen.wait, seen.text, [one["key"] for one in seen.facts["held"]]) == (
            Wait.CLUSTER_LIMIT,
            text,
            [holder],
        )


COUNTED = [
    (
        "GrpTRESRunMins=cpu=30",
        "QOSGrpCPURunMinutesLimit",
        r"Running jobs of QOS high may still take \d+ of 30 core minutes, and this job more .*",
    ),
    (
        "MaxTRESMins=cpu=10",
        "QOSMaxCpuMinutesPerJobLimit",
        "QOS high allows one job at most 10 core minutes.",
    ),
    (
        "MaxWall=5",
        "QOSMaxWallDurationPerJobLimit",
        "QOS high allows one job at most 5 minutes of run time.",
    ),
]


@COMMANDS
@pytest.mark.parametrize(("rule", "said", "text"), COUNTED)
def test_limits_that_only_slurm_counts_have_their_numbers(stage, slurm, rule, said, text):
    with limited(slurm, "qos", "high", rule, f"{rule.rpartition('=')[0]}=-1"):
        stage.options["qos"] = "high"
        backend = stage.again()
        running(stage, backend, time_limit=60)
        key = backend.submit(stage.launch("sleep 60", gpus=1, time_limit=2400)).key
        stage.wait_for(
            lambda: (
                (w := stage.look(key, backend).waiting)
                and w.native_reason == said
                and re.fullmatch(text, w.text)
            ),
            60,
        )


@SLURM
def test_fragmented_full_and_queued_are_explained(stage):
    backend = stage.again()
    running(stage, backend, 4, gpus=3)  # three of four GPUs on each of four nodes
    big = backend.submit(stage.launch("sleep 60", gpus=4)).key
    seen = await_explanation(stage, backend, big, "Resources", "free")
    assert (seen.wait, seen.facts["free"], seen.facts["total"], seen.facts["most_on_one_node"]) == (
        Wait.SCATTERED,
        4,
        16,
        1,
    )
    assert "not on one node" in seen.text and seen.facts["change"] == {
        "resource": "gpu",
        "from": 4,
        "to": 1,
    }
    behind = backend.submit(stage.launch("sleep 60", gpus=2)).key
    later = await_explanation(stage, backend, behind, "Priority", "before")
    assert (later.wait, later.facts["before"], later.facts["fitting"]) == (Wait.BEHIND, 1, 0)
    running(stage, backend, 3, gpus=1, time_limit=60)  # ends before anything pending could start
    full = stage.wait_for(
        lambda: (w := stage.look(big, backend).waiting) and w.wait == Wait.CAPACITY and w, 60
    )
    assert full.facts["free"] == 1 and "Partition batch is full: 1 of 16 GPUs free" in full.text


def first_check(seen) -> str:
    """Return the first failing check of our own model, in Slurm's terms."""
    if seen.wait is None:
        return ""
    if seen.limit is None:
        return "Resources"
    return {
        ("jobs", ""): "QOSGrpJobsLimit",
        ("jobs", "user"): "AssocMaxJobsLimit",
        ("gpu", ""): "AssocGrpGRES",
        ("gpu", "user"): "QOSMaxGRESPerUser",
        ("cpu", ""): "QOSGrpCpuLimit",
    }[seen.limit.kind, seen.limit.each]


def settled(stage: Stage, backend, key: str) -> str:
    """Return Slurm's decision: "" once the job runs, else its reason."""

    def seen():
        look = stage.look(key, backend)
        if look.state == State.RUNNING:
            return "runs"
        return (
            look.waiting.native_reason
            if look.waiting and look.waiting.native_reason not in ("None", "Priority", "Dependency")
            else None
        )

    return stage.wait_for(seen, 20).replace("runs", "")


@COMMANDS
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_random_limits_are_judged_like_real_slurm(stage, slurm, seed):
    dice = random.Random(seed)
    with ExitStack() as stack:
        for what, name, rule, most in (
            ("account", "borealis", "GrpTRES=gres/gpu", 14),
            ("account", "borealis", "MaxJobs", 7),
            ("qos", "high", "GrpTRES=cpu", 14),
            ("qos", "high", "MaxTRESPerUser=gres/gpu", 14),
        ):
            if dice.random() < 0.5:
                stack.enter_context(
                    limited(
                        slurm, what, name, f"{rule}={dice.randint(most // 2, most)}", f"{rule}=-1"
                    )
                )
        stage.options.update(account="borealis", qos="high")
        backend = stage.again()
        requests = [
            {"gpus": dice.randint(1, 3), "cpus": dice.randint(1, 3)}
            for _ in range(dice.randint(3, 6))
        ]
        requests += [
            {
                "gpus": dice.randint(2, 4),
                "cpus": dice.randint(1, 4),
                "num_nodes": dice.randint(1, 2),
            }
            for _ in range(3)
        ]
        for request in requests:
            key = backend.submit(stage.launch("sleep 120", **request)).key
            message, client = settled(stage, backend, key), backend._client
            if not message:
                continue  # another running job
            snapshot = picture_of(client.queue(), client.nodes(), client.limits())
            job = next(one for one in snapshot.queue if one.row.key == key)
            scene, _ = scene_of(job, snapshot)
            assert first_check(scene.judge(job.need)) == message, (request, scene)
            backend.cancel(key, 0)  # so that it does not block the next trial
            stage.ended(key)
            change = scene.smallest_change(job.need)
            name = {"gpu": "gpus", "cpu": "cpus", "nodes": "num_nodes"}
            if change is None or change.kind == "memory":
                continue
            unit = 1000 if change.kind == "cpu" else 1
            for amount, starts in ((change.after // unit + 1, False), (change.after // unit, True)):
                if amount < request.get(name[change.kind], 1):
                    tried = backend.submit(
                        stage.launch("sleep 120", **{**request, name[change.kind]: amount})
                    ).key
                    assert (settled(stage, backend, tried) == "") == starts, (
                        request,
                        change,
                        amount,
                    )
                    backend.cancel(tried, 0)
                    stage.ended(tried)
