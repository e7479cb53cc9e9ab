"""Test the environment variables of a job, name by name."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import UUID

import pytest

from schedulers.contract import Placement
from schedulers.spec import Task, environment, parse_sbatch, parse_yaml
from schedulers.spec.environment import task_run_id
from schedulers.spec.names import FORBIDDEN_FAMILIES, FORBIDDEN_NAMES

ATTEMPT = UUID("0190f3a4-5b6c-7d8e-9f00-112233445566")
TASK = Task(
    job_id=UUID("0190f3a4-0000-7000-8000-000000000001"),
    number=1042,
    attempt_id=ATTEMPT,
    org="atlas",
    team="vision",
    url="http://portal:8000/",
    token="mst_x",
)
PLAIN = environment(parse_yaml("run: x"), TASK)
PORT = PLAIN["MASTER_PORT"]

TABLE: list[tuple[str, dict[str, object], dict[str, str]]] = [
    (
        "run: x",
        {},
        {
            "MASTER_ADDR": "127.0.0.1",
            "WORLD_SIZE": "1",
            "RANK": "0",
            "LOCAL_RANK": "0",
            "NODE_RANK": "0",
            "NNODES": "1",
            "LOCAL_WORLD_SIZE": "1",
            "PET_NNODES": "1",
            "PET_NODE_RANK": "0",
            "PET_NPROC_PER_NODE": "1",
            "PET_MASTER_ADDR": "127.0.0.1",
            "PET_MASTER_PORT": PORT,
        },
    ),
    (
        "run: x",
        {},
        {
            "SLURM_JOB_ID": "1042",
            "SLURM_JOB_NAME": "job",
            "SLURM_NTASKS": "1",
            "SLURM_PROCID": "0",
            "SLURM_LOCALID": "0",
            "SLURM_NODEID": "0",
            "SLURM_JOB_NUM_NODES": "1",
            "SLURM_NNODES": "1",
            "SLURM_CPUS_PER_TASK": "1",
            "SLURM_NPROCS": "1",
            "SLURM_TASKS_PER_NODE": "1",
            "SLURM_CPUS_ON_NODE": "1",
            "SLURM_JOB_CPUS_PER_NODE": "1",
            "SLURM_SUBMIT_HOST": "portal",
            "SLURM_RESTART_COUNT": "0",
        },
    ),
    (
        "run: x",
        {"attempt": 3},
        {
            "MUSTER_JOB_ID": "0190f3a4-0000-7000-8000-000000000001",
            "MUSTER_JOB_NUMBER": "1042",
            "MUSTER_ATTEMPT": "3",
            "MUSTER_ATTEMPT_ID": str(ATTEMPT),
            "MUSTER_ORG": "atlas",
            "MUSTER_TEAM": "vision",
            "MUSTER_URL": "http://portal:8000",
            "MUSTER_TOKEN": "mst_x",
            "SLURM_RESTART_COUNT": "2",
        },
    ),
    (
        "run: x\nresources: {cpus: 16, memory: 2Gi}",
        {},
        {"OMP_NUM_THREADS": "16", "SLURM_CPUS_PER_TASK": "16", "SLURM_MEM_PER_NODE": "2048"},
    ),
    (
        "run: x\nresources: {cpus: 16, accelerators: 4}\nlauncher: torchrun",
        {},
        {
            "OMP_NUM_THREADS": "4",
            "SLURM_CPUS_PER_TASK": "4",
            "SLURM_NTASKS": "4",
            "WORLD_SIZE": "4",
            "LOCAL_WORLD_SIZE": "4",
            "PET_NPROC_PER_NODE": "4",
            "SLURM_GPUS_ON_NODE": "4",
        },
    ),
    (
        "run: x\nresources: {accelerators: 8}\nlauncher: torchrun\nnum_nodes: 2",
        {"nodes": ("a", "b"), "node_rank": 1},
        {
            "MASTER_ADDR": "a",
            "PET_MASTER_ADDR": "a",
            "WORLD_SIZE": "16",
            "RANK": "8",
            "NODE_RANK": "1",
            "NNODES": "2",
            "SLURM_PROCID": "8",
            "SLURM_NODEID": "1",
            "PET_NODE_RANK": "1",
            "PET_NNODES": "2",
            "MASTER_PORT": PORT,
        },
    ),
    (
        "run: x\narray: 10-30:10%2",
        {"index": 2},
        {
            "MUSTER_ARRAY_INDEX": "2",
            "MUSTER_ARRAY_SIZE": "3",
            "SLURM_ARRAY_JOB_ID": "1042",
            "SLURM_ARRAY_TASK_ID": "30",
            "SLURM_ARRAY_TASK_COUNT": "3",
            "SLURM_ARRAY_TASK_MIN": "10",
            "SLURM_ARRAY_TASK_MAX": "30",
            "SLURM_ARRAY_TASK_STEP": "10",
        },
    ),
    ("run: x\nenvs: {OMP_NUM_THREADS: 3, A: b}", {}, {"OMP_NUM_THREADS": "3", "A": "b"}),
    (
        "run: x",
        {"examples_dir": "/e", "output_dir": "/o"},
        {"MUSTER_EXAMPLES": "/e", "MUSTER_OUTPUT_DIR": "/o"},
    ),
    (
        "run: x",
        {"placement": Placement("n", 1, 0)},
        {"CUDA_VISIBLE_DEVICES": "", "NVIDIA_VISIBLE_DEVICES": "void"},
    ),
    (
        "run: x\nresources: {accelerators: 2}",
        {"placement": Placement("n", 1, 0, (1, 3), ("GPU-a", "GPU-b"))},
        {
            "CUDA_VISIBLE_DEVICES": "1,3",
            "NVIDIA_VISIBLE_DEVICES": "GPU-a,GPU-b",
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        },
    ),
    (
        "run: x\nresources: {accelerators: 'mig-1g.10gb:1'}",
        {"placement": Placement("n", 1, 0, (0,), ("MIG-a",))},
        {"CUDA_VISIBLE_DEVICES": "MIG-a", "NVIDIA_VISIBLE_DEVICES": "MIG-a"},
    ),
]


def test_environment_has_documented_variables(subtests: pytest.Subtests) -> None:
    for text, changes, expected in TABLE:
        with subtests.test(text=text, changes=changes):
            found = environment(parse_yaml(text), replace(TASK, **changes))  # type: ignore[arg-type]
            assert {name: found.get(name) for name in expected} == expected


def test_environment_without_gpus_hides_all_gpus() -> None:
    assert PLAIN["CUDA_VISIBLE_DEVICES"] == ""


def test_environment_leaves_gpus_to_scheduler() -> None:
    found = environment(parse_yaml("run: x\nresources: {accelerators: 1}"), TASK)
    assert "CUDA_VISIBLE_DEVICES" not in found
    assert "NVIDIA_VISIBLE_DEVICES" not in found


def test_environment_omits_unavailable_variables() -> None:
    assert not {name for name in PLAIN if "ARRAY" in name or name.startswith(("HF_", "OTEL_"))}
    assert not {
        "MUSTER_EXAMPLES",
        "MUSTER_OUTPUT_DIR",
        "SLURM_JOBID",
        "SLURM_JOB_NODELIST",
        "SLURM_GPUS_ON_NODE",
    } & set(PLAIN)
    offline = environment(parse_yaml("run: x"), replace(TASK, token="", url=""))
    assert "MUSTER_TOKEN" not in offline and not mlflow_of(offline)


def mlflow_of(found: dict[str, str]) -> dict[str, str]:
    """Return MLflow's variables without the prefix."""
    return {n.removeprefix("MLFLOW_"): v for n, v in found.items() if n.startswith("MLFLOW_")}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", {"EXPERIMENT_NAME": "Default"}),
        ("experiment: sft", {"EXPERIMENT_NAME": "sft"}),
        ("envs: {MLFLOW_EXPERIMENT_NAME: own}", {"EXPERIMENT_NAME": "own"}),
        ("envs: {MLFLOW_RUN_ID: abc}", {"EXPERIMENT_NAME": "Default", "RUN_ID": "abc"}),
    ],
)
def test_mlflow_client_logs_to_the_run_of_the_job(more, expected) -> None:
    assert mlflow_of(environment(parse_yaml(f"run: x\n{more}"), TASK)) == {
        "TRACKING_URI": "http://portal:8000/mlflow/atlas/vision",
        "TRACKING_TOKEN": "mst_x",
        "RUN_ID": TASK.job_id.hex,
        "RUN_CONTEXT": '{"muster.job": "1042"}',
        **expected,
    }
    assert PLAIN["MUSTER_RUN_ID"] == TASK.job_id.hex


def test_task_of_an_array_has_a_run_of_its_own() -> None:
    names = environment(parse_yaml("run: x\narray: 3"), replace(TASK, index=2))
    run, found = task_run_id(TASK.job_id, 2).hex, mlflow_of(names)
    assert run != TASK.job_id.hex and found["RUN_ID"] == names["MUSTER_RUN_ID"] == run
    assert json.loads(found["RUN_CONTEXT"]) == {
        "muster.job": "1042",
        "mlflow.parentRunId": run,
        "muster.task": "2",
    }


@pytest.mark.parametrize("where", ["envs", "secrets"])
def test_other_tracking_server_does_not_get_the_token(where) -> None:
    value = "http://mine:5000" if where == "envs" else "team/tracking"
    spec = parse_yaml(f"run: x\n{where}: {{MLFLOW_TRACKING_URI: '{value}'}}")
    assert set(mlflow_of(environment(spec, TASK))) == {"TRACKING_URI"}


def test_users_cannot_set_reserved_variables() -> None:
    tunable = {"OMP_NUM_THREADS", *(f"MLFLOW_{name}" for name in mlflow_of(PLAIN))}
    text = "run: x\nlauncher: torchrun\narray: 2\nresources: {accelerators: 1, memory: 1}"
    full = environment(
        parse_yaml(text),
        replace(TASK, placement=Placement("n", 1, 0, (0,)), examples_dir="/e", output_dir="/o"),
    )
    unguarded = {
        name
        for name in full
        if name not in FORBIDDEN_NAMES and not name.startswith(tuple(FORBIDDEN_FAMILIES))
    }
    assert unguarded == tunable


def test_master_port_is_outside_ephemeral_range() -> None:
    spec = parse_yaml("run: x")
    ports = {
        environment(spec, replace(TASK, attempt_id=UUID(int=n)))["MASTER_PORT"] for n in range(1000)
    }
    assert len(ports) > 900
    assert all(20_000 <= int(port) < 32_768 for port in ports)


def test_task_repr_omits_token() -> None:
    assert "mst_x" not in repr(TASK)


def test_batch_script_finds_the_output_variables_of_sbatch() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -N2 -n5 -c4 --gres=gpu:a100:2 --mem=8G -p gpu -A vision -J fit\ntrue"
    )
    spec = parse_sbatch(text).spec
    found = environment(spec, replace(TASK, nodes=("n1", "n2"), node_rank=1))
    assert {name.removeprefix("SLURM_"): value for name, value in found.items()}.items() >= {
        "JOB_NAME": "fit",
        "NTASKS": "5",
        "NPROCS": "5",
        "TASKS_PER_NODE": "3,2",
        "CPUS_PER_TASK": "4",
        "CPUS_ON_NODE": "12",
        "JOB_CPUS_PER_NODE": "12(x2)",
        "GPUS": "4",
        "GPUS_ON_NODE": "2",
        "GPUS_PER_NODE": "a100:2",
        "MEM_PER_NODE": "8192",
        "JOB_NUM_NODES": "2",
        "JOB_NODELIST": "n1,n2",
        "SLURMD_NODENAME": "n2",
        "JOB_PARTITION": "gpu",
        "JOB_ACCOUNT": "vision",
    }.items()
