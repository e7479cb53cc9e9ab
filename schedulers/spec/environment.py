"""The environment contract: what every job finds set, on every backend. Pure, so that a table can test it.

The user's own variables come in too; they may tune a default (OMP_NUM_THREADS), but not say where the job runs or which
GPUs it has. A variable is set only where what it names exists: there are no dead ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from schedulers.contract import Placement
from schedulers.spec.model import JobSpec

MIB = 1 << 20
_FIRST_PORT, _PORTS = 20_000, 12_768  # below Linux's ephemeral range, which begins at 32768


@dataclass(frozen=True, kw_only=True)
class Task:
    """Which attempt of which task this is, and what the job may reach. Empty texts: that thing does not exist here.

    `node_rank` and `nodes` say which node of a multi-node job this is; backends that run the script on several nodes by
    themselves (Slurm, Kubernetes) let their own variables win over the SLURM_ names given here.
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
    secrets: Mapping[str, str] = field(
        default_factory=dict, repr=False
    )  # by variable; of those not given the reference stands there
    nodes: Sequence[str] = ()
    node_rank: int = 0
    placement: Placement | None = None
    examples_dir: str = ""
    output_dir: str = ""


def environment(spec: JobSpec, task: Task) -> dict[str, str]:
    """All variables of one attempt of one task on one node: the user's, then the contract over them."""
    defaults = {"OMP_NUM_THREADS": str(max(1, int(spec.resources.cpus) // spec.processes_per_node))}
    return {
        **defaults,
        **spec.envs,
        **{
            name: task.secrets.get(name, f"(secret {reference})")
            for name, reference in spec.secrets.items()
        },
        **{
            f"{name}_FILE": f"(file of secret {reference})"
            for name, reference in spec.secret_files.items()
        },  # the backend knows the path
        **_gpu_names(spec, task.placement),
        **_rank_names(spec, task),
        **_torchrun_names(spec, task),
        **_slurm_names(spec, task),
        **_array_names(spec, task),
        **_muster_names(task),
    }


def master_port(attempt_id: UUID) -> int:
    """The port on which the ranks of an attempt meet: the same on all its nodes, rarely that of a neighbour."""
    return _FIRST_PORT + attempt_id.int % _PORTS


def _master_address(spec: JobSpec, task: Task) -> str:
    return task.nodes[0] if spec.num_nodes > 1 and task.nodes else "127.0.0.1"


def _rank_names(spec: JobSpec, task: Task) -> dict[str, str]:
    """For the first process of this node; torchrun and mpirun set RANK and LOCAL_RANK anew for each they start."""
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
    """torchrun reads each of its options from PET_<OPTION>, so that a bare `torchrun train.py` is right everywhere."""
    return {
        "PET_NNODES": str(spec.num_nodes),
        "PET_NODE_RANK": str(task.node_rank),
        "PET_NPROC_PER_NODE": str(max(1, spec.resources.gpus)),
        "PET_MASTER_ADDR": _master_address(spec, task),
        "PET_MASTER_PORT": str(master_port(task.attempt_id)),
    }


def _slurm_names(spec: JobSpec, task: Task) -> dict[str, str]:
    """Slurm's names, so that scripts written for it go on working. Never SLURM_JOBID or a node list: MPI libraries take
    those as the sign of a real Slurm and then call `srun`."""
    processes = spec.num_nodes * spec.processes_per_node
    names = {
        "SLURM_JOB_ID": str(task.number),
        "SLURM_JOB_NAME": spec.name,
        "SLURM_JOB_NUM_NODES": str(spec.num_nodes),
        "SLURM_NNODES": str(spec.num_nodes),
        "SLURM_NODEID": str(task.node_rank),
        "SLURM_LOCALID": "0",
        "SLURM_PROCID": str(task.node_rank * spec.processes_per_node),
        "SLURM_NTASKS": str(processes),
        "SLURM_CPUS_PER_TASK": str(max(1, int(spec.resources.cpus) // spec.processes_per_node)),
        "SLURM_RESTART_COUNT": str(max(0, task.attempt - 1)),
    }
    if spec.resources.gpus:
        names["SLURM_GPUS_ON_NODE"] = str(spec.resources.gpus)
    if spec.resources.memory:
        names["SLURM_MEM_PER_NODE"] = str(spec.resources.memory // MIB)
    return names


def _array_names(spec: JobSpec, task: Task) -> dict[str, str]:
    """MUSTER_ARRAY_INDEX counts from 0; SLURM_ARRAY_TASK_ID is what the spec's own range calls the task."""
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
    }


def _gpu_names(spec: JobSpec, placement: Placement | None) -> dict[str, str]:
    """The GPUs that were given and no others: a job that asked for none is told so, rather than left to find all.

    Where a scheduler places the job (no placement), it sets these names itself for jobs with GPUs.
    """
    if spec.resources.gpus and placement is None:
        return {}
    if placement is None or not placement.gpus:
        return {"CUDA_VISIBLE_DEVICES": "", "NVIDIA_VISIBLE_DEVICES": "void"}
    uuids = placement.gpu_uuids
    is_sliced = any(
        uuid.startswith("MIG-") for uuid in uuids
    )  # a MIG slice has no index of its own
    visible = ",".join(uuids if is_sliced else map(str, placement.gpus))
    return {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": visible,
        "NVIDIA_VISIBLE_DEVICES": ",".join(uuids) or visible,
    }


def _muster_names(task: Task) -> dict[str, str]:
    """Who the job is, and the door through which it speaks to the portal."""
    names = {
        "MUSTER_JOB_ID": str(task.job_id),
        "MUSTER_JOB_NUMBER": str(task.number),
        "MUSTER_ATTEMPT": str(task.attempt),
        "MUSTER_ATTEMPT_ID": str(task.attempt_id),
        "MUSTER_ORG": task.org,
        "MUSTER_TEAM": task.team,
        "MUSTER_URL": task.url.rstrip("/"),
        "MUSTER_TOKEN": task.token,
        "MUSTER_EXAMPLES": task.examples_dir,
        "MUSTER_OUTPUT_DIR": task.output_dir,
    }
    return {name: value for name, value in names.items() if value}
