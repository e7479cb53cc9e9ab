"""Build the environment variables that every job finds, on every backend.

Pure, so that tests can be tables. Users may tune defaults (OMP_NUM_THREADS) with their own
variables, but not override where the job runs or which GPUs it has. A variable is only set if what
it refers to exists.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from schedulers.contract import Placement
from schedulers.spec.model import JobSpec, Launcher
from schedulers.spec.names import data_variable

MIB = 1 << 20
# below the ephemeral port range of Linux, which starts at 32768
_FIRST_PORT, _PORTS = 20_000, 12_768


@dataclass(frozen=True, kw_only=True)
class Task:
    """An attempt of a task, with the addresses and credentials it may use.

    Empty text: not available here. `node_rank` and `nodes` locate this node in a multi-node job;
    backends that start the script on several nodes themselves (Slurm, Kubernetes) let their own
    SLURM_ variables take precedence.
    """

    job_id: UUID
    number: int
    attempt_id: UUID
    org: str
    team: str
    attempt: int = 1
    index: int = 0
    url: str = ""
    token: str = field(default="", repr=False)
    # by variable name; a missing secret is shown as its reference
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    nodes: Sequence[str] = ()
    node_rank: int = 0
    placement: Placement | None = None
    examples_dir: str = ""
    output_dir: str = ""
    programs_dir: str = ""  # of Muster's programs that travel with the job
    inputs: Mapping[str, str] = field(default_factory=dict)  # absolute paths by name
    outputs: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)


def environment(spec: JobSpec, task: Task) -> dict[str, str]:
    """Return all variables of one attempt on one node: the user's, overridden by Muster's."""
    defaults = {"OMP_NUM_THREADS": str(max(1, int(spec.resources.cpus) // spec.processes_per_node))}
    return {
        **defaults,
        **_mlflow_names(spec, task),
        **spec.envs,
        **{
            name: task.secrets.get(name, f"(secret {reference})")
            for name, reference in spec.secrets.items()
        },
        # the backend replaces this with the path
        **{
            f"{name}_FILE": f"(file of secret {reference})"
            for name, reference in spec.secret_files.items()
        },
        **_gpu_names(spec, task.placement),
        **_rank_names(spec, task),
        **_torchrun_names(spec, task),
        **_slurm_names(spec, task),
        **_array_names(spec, task),
        **_muster_names(spec, task),
    }


def master_port(attempt_id: UUID) -> int:
    """Return the rendezvous port of an attempt.

    All its nodes agree on the port; two jobs on one node rarely share it.
    """
    return _FIRST_PORT + attempt_id.int % _PORTS


def ports_of(spec: JobSpec, attempt_id: UUID) -> dict[str, int]:
    """Return the ports that an attempt serves on, by name; one without a number gets one."""
    first = master_port(attempt_id) - _FIRST_PORT + 1
    return {
        entry.name: entry.port or _FIRST_PORT + (first + place) % _PORTS
        for place, entry in enumerate(spec.ports)
    }


def _master_address(spec: JobSpec, task: Task) -> str:
    return task.nodes[0] if spec.num_nodes > 1 and task.nodes else "127.0.0.1"


def _rank_names(spec: JobSpec, task: Task) -> dict[str, str]:
    """Return the rank variables of the first process of this node.

    torchrun and mpirun set RANK and LOCAL_RANK again for each process.
    """
    local = spec.processes_per_node
    return {
        "MASTER_ADDR": _master_address(spec, task),
        "MASTER_PORT": str(master_port(task.attempt_id)),
        "WORLD_SIZE": str(spec.num_nodes * local),
        "LOCAL_WORLD_SIZE": str(local),
        "RANK": str(task.node_rank * local),
        "LOCAL_RANK": "0",
        "NODE_RANK": str(task.node_rank),
        "NNODES": str(spec.num_nodes),
    }


def _torchrun_names(spec: JobSpec, task: Task) -> dict[str, str]:
    """Return torchrun's options as PET_<OPTION>, so that a bare `torchrun train.py` just works."""
    return {
        "PET_NNODES": str(spec.num_nodes),
        "PET_NODE_RANK": str(task.node_rank),
        "PET_NPROC_PER_NODE": str(max(1, spec.resources.gpus)),
        "PET_MASTER_ADDR": _master_address(spec, task),
        "PET_MASTER_PORT": str(master_port(task.attempt_id)),
    }


def _slurm_names(spec: JobSpec, task: Task) -> dict[str, str]:
    """Return Slurm's variables, so that scripts written for it keep working.

    Those of sbatch's documentation, as far as they are known. Never SLURM_JOBID, from which MPI
    libraries conclude that they may call `srun`; for `mpirun` no node list either.
    """
    nodes, own = spec.num_nodes, spec.slurm
    tasks = own.tasks or nodes * spec.processes_per_node
    on_one = own.tasks_per_node or -(-tasks // nodes)
    cpus = max(1, int(spec.resources.cpus))
    names = {
        **_job_names(spec, task),
        "SLURM_JOB_ID": str(task.number),
        "SLURM_JOB_NAME": spec.name,
        "SLURM_JOB_NUM_NODES": str(spec.num_nodes),
        "SLURM_NNODES": str(spec.num_nodes),
        "SLURM_NODEID": str(task.node_rank),
        "SLURM_LOCALID": "0",
        "SLURM_PROCID": str(task.node_rank * spec.processes_per_node),
        "SLURM_NTASKS": str(tasks),
        "SLURM_NPROCS": str(tasks),
        "SLURM_TASKS_PER_NODE": _per_node(_layout(tasks, nodes, own.tasks_per_node)),
        "SLURM_CPUS_PER_TASK": str(max(1, cpus // on_one)),
        "SLURM_CPUS_ON_NODE": str(cpus),
        "SLURM_JOB_CPUS_PER_NODE": _per_node([cpus] * nodes),
        "SLURM_RESTART_COUNT": str(max(0, task.attempt - 1)),
    }
    if gpus := spec.resources.gpus:
        kind = spec.resources.gpu_type.removeprefix("mig-")
        names |= {
            "SLURM_GPUS_ON_NODE": str(gpus),
            "SLURM_GPUS": str(gpus * nodes),
            "SLURM_GPUS_PER_NODE": f"{kind}:{gpus}" if kind else str(gpus),
        }
    if own.tasks_per_node:
        names["SLURM_NTASKS_PER_NODE"] = str(own.tasks_per_node)
    if own.gpus_per_task:
        names["SLURM_GPUS_PER_TASK"] = str(own.gpus_per_task)
    if spec.resources.memory:
        names["SLURM_MEM_PER_NODE"] = str(spec.resources.memory // MIB)
    return names


def _job_names(spec: JobSpec, task: Task) -> dict[str, str]:
    """Return where the job was submitted from and to, and its nodes."""
    placed = task.placement.parts if task.placement else ()
    nodes = task.nodes or [part.node for part in placed]
    names = {
        "SLURM_SUBMIT_HOST": urlsplit(task.url).hostname or "",
        "SLURM_JOB_PARTITION": spec.policy.pool,
        "SLURM_JOB_ACCOUNT": spec.slurm.account,
        "SLURM_JOB_QOS": spec.slurm.qos,
        "SLURM_JOB_RESERVATION": spec.slurm.reservation,
        "SLURM_JOB_NODELIST": "" if spec.launcher is Launcher.MPI else ",".join(nodes),
        "SLURMD_NODENAME": "".join(nodes[task.node_rank : task.node_rank + 1]),
        "SLURM_JOB_GPUS": ",".join(map(str, task.placement.gpus)) if task.placement else "",
    }
    return {name: value for name, value in names.items() if value}


def _layout(tasks: int, nodes: int, most: int) -> list[int]:
    """Return the tasks of each node: filled up to `most`, or spread evenly."""
    if most:
        return [max(0, min(most, tasks - most * number)) for number in range(nodes)]
    return [tasks // nodes + (number < tasks % nodes) for number in range(nodes)]


def _per_node(counts: Sequence[int]) -> str:
    """Format counts as Slurm does: 4(x2),3."""
    groups = [(count, len(list(same))) for count, same in groupby(counts)]
    return ",".join(f"{count}(x{times})" if times > 1 else f"{count}" for count, times in groups)


def _array_names(spec: JobSpec, task: Task) -> dict[str, str]:
    """Return the array variables.

    MUSTER_ARRAY_INDEX counts from 0; SLURM_ARRAY_TASK_ID is the task ID in the range of the spec.
    """
    if spec.array is None:
        return {}
    ids = spec.array.parts
    return {
        "MUSTER_ARRAY_INDEX": str(task.index),
        "MUSTER_ARRAY_SIZE": str(spec.array.size),
        "SLURM_ARRAY_JOB_ID": str(task.number),
        "SLURM_ARRAY_TASK_ID": str(spec.array.task_id(task.index)),
        "SLURM_ARRAY_TASK_COUNT": str(spec.array.size),
        "SLURM_ARRAY_TASK_MIN": str(ids[0][0]),
        "SLURM_ARRAY_TASK_MAX": str(ids[-1][-1]),
        "SLURM_ARRAY_TASK_STEP": str(ids[0].step if len(ids[0]) > 1 else 1),
    }


def _gpu_names(spec: JobSpec, placement: Placement | None) -> dict[str, str]:
    """Return the variables that expose exactly the assigned GPUs.

    A job without GPUs gets empty lists, or it would see all. Without a placement the scheduler sets
    these variables itself for jobs with GPUs.
    """
    if spec.resources.gpus and placement is None:
        return {}
    if placement is None or not placement.gpus:
        return {"CUDA_VISIBLE_DEVICES": "", "NVIDIA_VISIBLE_DEVICES": "void"}
    uuids = placement.gpu_uuids
    # a MIG slice has no index of its own
    is_sliced = any(uuid.startswith("MIG-") for uuid in uuids)
    visible = ",".join(uuids if is_sliced else map(str, placement.gpus))
    return {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": visible,
        "NVIDIA_VISIBLE_DEVICES": ",".join(uuids) or visible,
    }


def _mlflow_names(spec: JobSpec, task: Task) -> dict[str, str]:
    """Return MLflow's variables: its client logs to the run of the job, which has the job's id.

    Nothing for jobs that name a tracking server of their own, which must not get the token. Each
    task of an array has a run below that of the job; further runs of the task are below its own.
    """
    is_elsewhere = "MLFLOW_TRACKING_URI" in {*spec.envs, *spec.secrets}
    if is_elsewhere or not (task.url and task.token):
        return {}
    run, name = _run_of(spec, task), spec.experiment or spec.envs.get("MLFLOW_EXPERIMENT_NAME")
    about = {"muster.job": str(task.number)}
    if spec.array is not None:
        about |= {"mlflow.parentRunId": run, "muster.task": str(task.index)}
    return {
        "MLFLOW_TRACKING_URI": f"{task.url.rstrip('/')}/mlflow/{task.org}/{task.team}",
        "MLFLOW_TRACKING_TOKEN": task.token,
        "MLFLOW_EXPERIMENT_NAME": name or "Default",
        "MLFLOW_RUN_CONTEXT": json.dumps(about),  # tags of the runs that the client makes
        "MLFLOW_RUN_ID": run,
    }


def task_run_id(job_id: UUID, index: int) -> UUID:
    """Return the id of the run of a task of an array. The run of another job has the job's id."""
    return uuid5(job_id, str(index))


def _run_of(spec: JobSpec, task: Task) -> str:
    return task.job_id.hex if spec.array is None else task_run_id(task.job_id, task.index).hex


def _muster_names(spec: JobSpec, task: Task) -> dict[str, str]:
    """Return the identity of the job and its credentials for the portal's API."""
    names = {
        "MUSTER_JOB_ID": str(task.job_id),
        "MUSTER_JOB_NUMBER": str(task.number),
        "MUSTER_ATTEMPT": str(task.attempt),
        "MUSTER_ATTEMPT_ID": str(task.attempt_id),
        "MUSTER_RUN_ID": _run_of(spec, task),
        "MUSTER_ORG": task.org,
        "MUSTER_TEAM": task.team,
        "MUSTER_URL": task.url.rstrip("/"),
        "MUSTER_TOKEN": task.token,
        "MUSTER_EXAMPLES": task.examples_dir,
        "MUSTER_OUTPUT_DIR": task.output_dir,
        "MUSTER_PROGRAMS": task.programs_dir,
        **{
            data_variable("MUSTER_PORT", name): str(port)
            for name, port in ports_of(spec, task.attempt_id).items()
        },
        **{data_variable("MUSTER_INPUT", name): path for name, path in task.inputs.items()},
        **{data_variable("MUSTER_OUTPUT", name): path for name, path in task.outputs.items()},
        **{data_variable("MUSTER_WORKSPACE", name): path for name, path in task.folders.items()},
    }
    return {name: value for name, value in names.items() if value}
