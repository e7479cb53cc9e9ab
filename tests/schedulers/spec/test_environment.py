"""Test the environment variables of a job, name by name."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from schedulers.contract import Placement
from schedulers.spec import Task, environment, parse_yaml
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
    assert not {
        name for name in PLAIN if "ARRAY" in name or name.startswith(("MLFLOW_", "HF_", "OTEL_"))
    }
    assert not {
        "MUSTER_EXAMPLES",
        "MUSTER_OUTPUT_DIR",
        "SLURM_JOBID",
        "SLURM_JOB_NODELIST",
        "SLURM_GPUS_ON_NODE",
    } & set(PLAIN)
    assert "MUSTER_TOKEN" not in environment(parse_yaml("run: x"), replace(TASK, token="", url=""))


def test_users_cannot_set_reserved_variables() -> None:
    tunable = {"OMP_NUM_THREADS"}
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
    ports = {
        environment(parse_yaml("run: x"), replace(TASK, attempt_id=UUID(int=n)))["MASTER_PORT"]
        for n in range(4000)
    }
    assert len(ports) > 3000
    assert all(20_000 <= int(port) < 32_768 for port in ports)


def test_task_repr_omits_token() -> None:
    assert "mst_x" not in repr(TASK)
