"""Define the job spec as models.

They are the single source of the parser, the YAML output and the JSON schema. All values are
normalized: memory in bytes, times in whole seconds, GPU types in lower case. Equal specs request
the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from portal.core.messages import Message
from schedulers.contract import PortProtocol
from schedulers.spec import checks, document, field_types, names, other_tools
from schedulers.spec import features as features_of
from schedulers.spec.data import YEAR, Inputs, Outputs, Workspaces
from schedulers.spec.errors import EMPTY, FieldError, invalid
from schedulers.spec.field_types import choice, duration, text, whole
from schedulers.spec.parts import (
    Accelerators,
    AcceleratorsField,
    ArrayField,
    DependencyField,
)
from schedulers.spec.sections import Fault, Section
from schedulers.spec.slurm import Slurm
from schedulers.states import Reason

MOST_NODES = 4096
MOST_TEXT = 100 * 1024  # bytes of `run` or `setup`: below the 128 KiB limit of one execve argument
MEMORY_LIMIT = 1 << 50


class Launcher(StrEnum):
    NONE = "none"
    TORCHRUN = "torchrun"
    MPI = "mpi"
    SRUN = "srun"

    @property
    def is_ranked(self) -> bool:
        """Whether Muster starts `run` once per GPU; otherwise the script does that itself."""
        return self in {Launcher.TORCHRUN, Launcher.MPI}


class Priority(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


class Preempt(StrEnum):
    """Whether a job may be preempted and how it resumes, in the terms of NVIDIA Base Command."""

    RUNONCE = "runonce"
    RESTARTABLE = "restartable"
    RESUMABLE = "resumable"


class PortAccess(StrEnum):
    """Who may open a port of a job."""

    OWNER = "owner"
    TEAM = "team"


class ImageCheck(StrEnum):
    """Action for a job whose image cannot start on any eligible node."""

    REFUSE = "refuse"
    WARN = "warn"


_RETRIED = tuple(
    reason
    for reason in Reason
    if reason not in {Reason.COMPLETED, Reason.CANCELED, Reason.DEPENDENCY_FAILED, Reason.REJECTED}
)
_RetryReason = Annotated[
    Reason,
    choice(
        Reason,
        only=_RETRIED,
        aliases={"node_fail": Reason.NODE_FAILED, "oom": Reason.OUT_OF_MEMORY},
    ),
]
_Bytes = Annotated[int, field_types.size(MEMORY_LIMIT)]
_VariableName = Annotated[str, field_types.name(names.ENV_PATTERN, names.check_env_name)]
_LabelName = Annotated[str, field_types.name(names.LABEL_PATTERN, names.check_label_name)]
_Secret = Annotated[
    str,
    text(
        pattern=names.SECRET_PATTERN,
        hint="the team and name of a secret, such as team/wandb, or team/wandb@3 for its third "
        "version",
    ),
]
_NO_OTHER_NAMES = {"additionalProperties": False}


def _as_list(value: object) -> object:
    """Let a single value stand for a list of it."""
    if value is None:
        raise invalid(EMPTY)
    return [value] if isinstance(value, str | int) else value


class Resources(Section):
    """Resources on each node. Amounts are minimums: `64+` means the same as `64`."""

    elsewhere = other_tools.IN_RESOURCES

    accelerators: AcceleratorsField = Field(
        default=Accelerators(),
        description="GPUs on each node, optionally with their type",
        examples=[1, "H100:8", "mig-1g.10gb:1"],
    )
    cpus: Annotated[float, field_types.cores(0.1, 4096)] = Field(
        default=1.0, description="CPU cores on each node", examples=[4, 0.5, "64+"]
    )
    memory: _Bytes = Field(
        default=0,
        description="Memory on each node; unlimited by default. A bare number is in GiB",
        examples=["512Mi", "64Gi", 512],
    )
    shm_size: _Bytes = Field(
        default=0,
        description="Shared memory (/dev/shm) of the container; needed by data loaders with workers",
        examples=["8Gi"],
    )

    @property
    def gpus(self) -> int:
        return self.accelerators.count

    @property
    def gpu_type(self) -> str:
        """GPU type such as "h100", or "" for any."""
        return self.accelerators.type


class Port(Section):
    """A port on which the job serves, such as a dashboard."""

    name: Annotated[
        str,
        text(
            pattern=r"[a-z][a-z0-9]*(-[a-z0-9]+)*",
            most=15,
            hint="lower-case letters, digits and single -, at most 15",
        ),
    ] = Field(description="A short name", examples=["tb"])
    port: Annotated[int, whole(1, 65535)] = Field(
        default=0,
        description="The port that the program listens on. By default one is chosen for each "
        "attempt; MUSTER_PORT_NAME has it",
        examples=[6006],
    )
    protocol: Annotated[PortProtocol, choice(PortProtocol)] = Field(
        default=PortProtocol.HTTP,
        description="http: HTTP and websockets; tcp: anything else; ssh: terminals, commands and "
        "files of the job, by `muster ssh`. Muster serves it",
    )
    access: Annotated[PortAccess, choice(PortAccess)] = Field(
        default=PortAccess.OWNER,
        description="Who may open it: the owner of the job and those who may run commands in it, "
        "or everyone who sees the job",
        examples=["team"],
    )


def _as_ports(value: object) -> object:
    """Let a number stand for a port of this number, and a single port for a list of it."""
    if value is None:
        raise invalid(EMPTY)
    values = value if isinstance(value, list | tuple) else [value]
    return [
        {"name": f"port-{one}", "port": one} if isinstance(one, int) and one > 0 else one
        for one in values
    ]


class Policy(Section):
    """Scheduling, retries and limits. Times are in seconds."""

    elsewhere = other_tools.IN_POLICY

    pool: Annotated[
        str,
        text(
            pattern=names.SLUG,
            hint="the name of a pool: lower-case letters, digits and . _ -",
        ),
    ] = Field(
        default="",
        description="The pool to run in; by default any that the team may use",
        examples=["h100"],
    )
    priority: Annotated[Priority, choice(Priority)] = Field(
        default=Priority.NORMAL, description="Priority among queued jobs"
    )
    preempt: Annotated[Preempt, choice(Preempt)] = Field(
        default=Preempt.RUNONCE,
        description="runonce: never preempted; restartable: may be preempted and starts over; resumable: "
        "may be preempted and resumes",
    )
    max_runtime: Annotated[int, duration(1, YEAR)] | None = Field(
        default=None,
        description="The job is stopped after this time",
        examples=["30m", "24h", "1d12h"],
    )
    retries: Annotated[int, whole(0, 100)] = Field(
        default=0, description="Maximum number of retries"
    )
    retry_on: Annotated[
        tuple[_RetryReason, ...],
        Field(max_length=20),
        BeforeValidator(_as_list, json_schema_input_type=list[_RetryReason] | _RetryReason),
    ] = Field(
        default=(),
        description="Reasons to retry for; by default those caused by the platform",
        examples=[["node_failed", "xid"]],
    )
    backoff: Annotated[int, duration(0, 86400)] = Field(
        default=30,
        description="Delay before the first retry; doubles with each retry",
        examples=["1m"],
    )
    image_check: Annotated[ImageCheck, choice(ImageCheck)] = Field(
        default=ImageCheck.REFUSE,
        description="refuse: reject a job whose image can't start on any node; warn: accept it with a "
        "warning",
    )
    grace: Annotated[int, duration(0, 3600)] = Field(
        default=30, description="Time between SIGTERM and SIGKILL when the job is stopped"
    )

    def faults(self) -> Iterable[Fault]:
        if self.retry_on and not self.retries:
            yield ("retry_on",), "has no effect without `retries`; set `retries: 1` or more"


class JobSpec(Section):
    """A complete, validated job spec; created only by the parsers."""

    elsewhere = other_tools.ELSEWHERE
    never_empty = ("array", "after")

    kind: Annotated[
        str, text(pattern=r"[a-z][a-z-]{0,15}", hint="lower-case letters, such as batch")
    ] = Field(
        default="batch",
        description="The kind of workload; which ones there are depends on the portal",
        examples=["batch"],
    )
    name: Annotated[str, text(most=400, check=names.check_job_name)] = Field(
        default="job", description="Display name of the job", examples=["llama-sft"]
    )
    experiment: Annotated[str, text(most=500, check=names.check_printable)] = Field(
        default="",
        description="The experiment of the team that the run of this job belongs to; by default "
        "`MLFLOW_EXPERIMENT_NAME` of `envs`, else Default",
        examples=["llama-sft"],
    )
    image: Annotated[
        str,
        text(
            most=512,
            pattern=names.IMAGE_PATTERN,
            hint="an image reference such as nvcr.io/nvidia/pytorch:26.09-py3",
        ),
    ] = Field(
        default="",
        description="The container image; by default the job uses the node's own programs",
        examples=["nvcr.io/nvidia/pytorch:26.09-py3"],
    )
    num_nodes: Annotated[int, whole(1, MOST_NODES)] = Field(
        default=1, description="Number of nodes"
    )
    resources: Resources = Field(default=Resources(), description="Resources on each node")
    launcher: Annotated[Launcher, choice(Launcher)] = Field(
        default=Launcher.NONE,
        description="none: `run` is run once per node; torchrun, mpi: once per GPU, as ranks that know "
        "of each other; srun: once, as a batch "
        "script of Slurm that starts the rest itself",
    )
    setup: Annotated[str, text(most=MOST_TEXT, lines=True)] = Field(
        default="",
        description="Bash commands before `run`; the first failing command ends the job",
        examples=["pip install -r requirements.txt"],
    )
    run: Annotated[str, text(most=MOST_TEXT, lines=True, check=checks.check_run)] = Field(
        description="Bash commands to run", examples=["python train.py"]
    )
    envs: Annotated[
        dict[_VariableName, Annotated[str, text(most=64 * 1024, lines=True, exact=True)]],
        Field(max_length=256, json_schema_extra=_NO_OTHER_NAMES),
    ] = Field(default={}, description="Environment variables", examples=[{"NCCL_DEBUG": "WARN"}])
    secrets: Annotated[
        dict[_VariableName, _Secret], Field(max_length=64, json_schema_extra=_NO_OTHER_NAMES)
    ] = Field(
        default={},
        description="Environment variables from secrets: team/NAME of the job's team, org/NAME of the "
        "organization",
        examples=[{"WANDB_API_KEY": "team/wandb"}],
    )
    secret_files: Annotated[
        dict[_VariableName, _Secret], Field(max_length=64, json_schema_extra=_NO_OTHER_NAMES)
    ] = Field(
        default={},
        description="Secrets as files that only the job can read; the variable NAME_FILE has the path",
        examples=[{"KUBECONFIG": "team/kubeconfig"}],
    )
    inputs: Inputs = Field(
        default={},
        description="Versions of datasets and checkpoints to mount read-only, by name; "
        "MUSTER_INPUT_NAME has the path",
        examples=[
            {"data": "cifar@v1.2"},
            {"base": {"checkpoint": "resnet", "path": "/base"}},
            [{"dataset": "cifar@v1.2", "path": "/data"}],
        ],
    )
    outputs: Outputs = Field(
        default={},
        description="Folders to save as versions of datasets and checkpoints, by name; "
        "MUSTER_OUTPUT_NAME has the path",
        examples=[
            {"ckpt": {"checkpoint": "resnet", "every": "10m", "resume": "latest"}},
            [{"path": "/results", "to": "checkpoint:resnet"}],
        ],
    )
    workspaces: Workspaces = Field(
        default={},
        description="Workspaces to mount, by name: folders that people and jobs share; "
        "MUSTER_WORKSPACE_NAME has the path",
        examples=[
            {"code": "vision-code"},
            {"code": {"workspace": "vision-code", "path": "/code", "read_only": True}},
        ],
    )
    ports: Annotated[
        tuple[Port, ...],
        Field(max_length=16),
        BeforeValidator(_as_ports, json_schema_input_type=list[Port | int] | Port | int),
    ] = Field(
        default=(),
        description="Ports on which the job serves HTTP, by number or with a name; the page of the "
        "job opens them",
        examples=[[8000], [{"name": "tb", "port": 6006, "access": "team"}]],
    )
    labels: Annotated[
        dict[_LabelName, Annotated[str, text(most=255, check=names.check_printable)]],
        Field(max_length=32, json_schema_extra=_NO_OTHER_NAMES),
    ] = Field(default={}, description="Labels to find the job by", examples=[{"project": "sft"}])
    array: ArrayField = Field(
        default=None,
        description="Run this job as an array of tasks, each with its own SLURM_ARRAY_TASK_ID",
        examples=[100, "1-99:2%4", {"size": 100, "max_parallel": 4}],
    )
    after: Annotated[
        tuple[DependencyField, ...],
        Field(max_length=64),
        BeforeValidator(_as_list, json_schema_input_type=list[DependencyField] | DependencyField),
    ] = Field(
        default=(),
        description="Jobs that must succeed first, by number or UUID; with `:any` they only have to end, "
        "with `:failed` they have to fail",
        examples=[[12], ["#12:any"]],
    )
    policy: Policy = Field(default=Policy(), description="Scheduling, retries and limits")
    slurm: Slurm = Field(
        default=Slurm(),
        description="Further options of sbatch, for Slurm clusters; others ignore them with a note",
    )

    def faults(self) -> Iterable[Fault]:
        return checks.faults_of_job(self)

    @property
    def tasks(self) -> int:
        return self.array.size if self.array else 1

    @property
    def native(self) -> Mapping[str, Any]:
        """Return the Slurm options as plain data, without those left unset."""
        return self.slurm.model_dump(exclude_defaults=True)

    @property
    def processes_per_node(self) -> int:
        """How many copies of `run` Muster starts on each node."""
        return max(1, self.resources.gpus) if self.launcher.is_ranked else 1

    def to_mapping(self) -> dict[str, Any]:
        """Return plain data that `parse_mapping` turns into an equal spec.

        Only values that differ from the default, in a fixed order.
        """
        return self.model_dump(mode="json", exclude_defaults=True)

    def to_yaml(self) -> str:
        return document.dump(self.to_mapping())

    def unavailable(self, features: Collection[str]) -> list[FieldError]:
        """Return the fields that need a `Feature` missing from `features`."""
        return features_of.unavailable(self, features)


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of a spec, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **JobSpec.model_json_schema(),
        "title": Message("Muster job spec", context="heading"),
    }
