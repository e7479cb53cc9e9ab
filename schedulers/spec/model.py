# ruff: noqa: RUF009 - `asked` only wraps dataclasses.field; its defaults are immutable
"""Define the fields of a job spec.

These tables are the single source of the parser, the YAML output, the JSON schema and the
documentation. All values are normalized: memory in bytes, times in whole seconds, GPU types in
lower case. Equal specs request the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from schedulers.spec import checks, document, field_types, names, other_tools
from schedulers.spec import features as features_of
from schedulers.spec.errors import FieldError
from schedulers.spec.field_types import Choice, ListOf, MapOf, Text, Whole
from schedulers.spec.parts import (
    Accelerators,
    AcceleratorsKind,
    Array,
    ArrayKind,
    Dependency,
    DependencyKind,
)
from schedulers.spec.sections import Section, asked
from schedulers.spec.slurm import SLURM, Slurm
from schedulers.states import Reason

MOST_NODES = 4096
MOST_TEXT = 100 * 1024  # bytes of `run` or `setup`: below the 128 KiB limit of one execve argument
MEMORY_LIMIT = 1 << 50
YEAR = 366 * 86400


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


class ImageCheck(StrEnum):
    """Action for a job whose image cannot start on any eligible node."""

    REFUSE = "refuse"
    WARN = "warn"


_RETRIED = tuple(
    reason
    for reason in Reason
    if reason not in {Reason.COMPLETED, Reason.CANCELED, Reason.DEPENDENCY_FAILED, Reason.REJECTED}
)
_REASONS = Choice(
    Reason, only=_RETRIED, aliases={"node_fail": Reason.NODE_FAILED, "oom": Reason.OUT_OF_MEMORY}
)
_TREE = Text("dataset reference", pattern=names.TREE_PATTERN, hint="org/name or org/name@revision")
_SECRET = Text(
    "secret reference",
    pattern=names.SECRET_PATTERN,
    hint="the team and name of a secret, such as team/wandb, or team/wandb@3 for its third version",
)


@dataclass(frozen=True)
class Resources:
    """Resources on each node. Amounts are minimums: `64+` means the same as `64`."""

    accelerators: Accelerators = asked(
        AcceleratorsKind(),
        Accelerators(),
        "GPUs on each node, optionally with their type",
        examples=(1, "H100:8", "mig-1g.10gb:1"),
    )
    cpus: float = asked(
        field_types.cores(0.1, 4096), 1.0, "CPU cores on each node", examples=(4, 0.5, "64+")
    )
    memory: int = asked(
        field_types.size(MEMORY_LIMIT),
        0,
        "Memory on each node; unlimited by default. A bare number is in GiB",
        examples=("512Mi", "64Gi", 512),
    )
    shm_size: int = asked(
        field_types.size(MEMORY_LIMIT),
        0,
        "Shared memory (/dev/shm) of the container; needed by data loaders with workers",
        examples=("8Gi",),
    )

    @property
    def gpus(self) -> int:
        return self.accelerators.count

    @property
    def gpu_type(self) -> str:
        """GPU type such as "h100", or "" for any."""
        return self.accelerators.type


@dataclass(frozen=True)
class Input:
    """A dataset or checkpoint, mounted read-only at `path`."""

    dataset: str = asked(
        _TREE, "", "The dataset, optionally pinned to a revision", examples=("atlas/c4@3f2a91c",)
    )
    checkpoint: str = asked(
        _TREE, "", "The checkpoint, instead of a dataset", examples=("atlas/llama-sft@v3",)
    )
    path: str = asked(
        Text("path", most=4096, check=names.check_mount_path),
        "",
        "Mount path in the job",
        examples=("/data",),
        required=True,
    )


@dataclass(frozen=True)
class Output:
    """A directory that is saved as a version when the job ends, and optionally at intervals."""

    path: str = asked(
        Text("path", most=4096, check=names.check_mount_path),
        "",
        "The directory that the job writes to",
        examples=("/results",),
        required=True,
    )
    to: str = asked(
        Text(
            "destination",
            pattern=names.OUTPUT_PATTERN,
            hint="checkpoint:org/name or dataset:org/name",
        ),
        "",
        "The dataset or checkpoint that gets a new version",
        examples=("checkpoint:atlas/llama-sft",),
        required=True,
    )
    every: int = asked(
        field_types.duration(0, YEAR),
        0,
        "Also save at this interval while the job runs",
        examples=("30m",),
    )


@dataclass(frozen=True)
class Port:
    """A port on which the job serves, such as a dashboard."""

    name: str = asked(
        Text(
            "port name",
            pattern=r"[a-z]([a-z0-9-]{0,13}[a-z0-9])?",
            hint="lower-case letters, digits and -, at most 15",
        ),
        "",
        "A short name",
        examples=("tb",),
        required=True,
    )
    port: int = asked(
        Whole(1, 65535), 0, "The port that the program listens on", examples=(6006,), required=True
    )


@dataclass(frozen=True)
class Policy:
    """Scheduling, retries and limits. Times are in seconds."""

    pool: str = asked(
        Text(
            "pool",
            pattern=names.SLUG,
            hint="the name of a pool: lower-case letters, digits and . _ -",
        ),
        "",
        "The pool to run in; by default any that the team may use",
        examples=("h100",),
    )
    priority: Priority = asked(Choice(Priority), Priority.NORMAL, "Priority among queued jobs")
    preempt: Preempt = asked(
        Choice(Preempt),
        Preempt.RUNONCE,
        "runonce: never preempted; restartable: may be preempted and starts over; resumable: may be preempted and resumes",
    )
    max_runtime: int | None = asked(
        field_types.duration(1, YEAR),
        None,
        "The job is stopped after this time",
        examples=("30m", "24h", "1d12h"),
    )
    retries: int = asked(Whole(0, 100), 0, "Maximum number of retries")
    retry_on: tuple[Reason, ...] = asked(
        ListOf(_REASONS, most=20, lone=True),
        (),
        "Reasons to retry for; by default those caused by the platform",
        examples=(["node_failed", "xid"],),
    )
    backoff: int = asked(
        field_types.duration(0, 86400),
        30,
        "Delay before the first retry; doubles with each retry",
        examples=("1m",),
    )
    image_check: ImageCheck = asked(
        Choice(ImageCheck),
        ImageCheck.REFUSE,
        "refuse: reject a job whose image can't start on any node; warn: accept it with a warning",
    )
    grace: int = asked(
        field_types.duration(0, 3600),
        30,
        "Time between SIGTERM and SIGKILL when the job is stopped",
    )


RESOURCES = Section(Resources, elsewhere=other_tools.IN_RESOURCES)
POLICY = Section(Policy, elsewhere=other_tools.IN_POLICY, check=checks.check_policy)


@dataclass(frozen=True)
class JobSpec:
    """A complete, validated job spec; created only by the parsers."""

    name: str = asked(
        Text("name", most=400, check=names.check_job_name),
        "job",
        "Display name of the job",
        examples=("llama-sft",),
    )
    image: str = asked(
        Text(
            "image",
            most=512,
            pattern=names.IMAGE_PATTERN,
            hint="an image reference such as nvcr.io/nvidia/pytorch:26.09-py3",
        ),
        "",
        "The container image; by default the job uses the node's own programs",
        examples=("nvcr.io/nvidia/pytorch:26.09-py3",),
    )
    num_nodes: int = asked(Whole(1, MOST_NODES), 1, "Number of nodes")
    resources: Resources = asked(RESOURCES, Resources(), "Resources on each node")
    launcher: Launcher = asked(
        Choice(Launcher),
        Launcher.NONE,
        "none: `run` is run once per node; torchrun, mpi: once per GPU, as ranks that know of each other; srun: once, as a batch "
        "script of Slurm that starts the rest itself",
    )
    setup: str = asked(
        Text("bash", most=MOST_TEXT, lines=True),
        "",
        "Bash commands before `run`; the first failing command ends the job",
        examples=("pip install -r requirements.txt",),
    )
    run: str = asked(
        Text("bash", most=MOST_TEXT, lines=True, check=checks.check_run),
        "",
        "Bash commands to run",
        examples=("python train.py",),
        required=True,
    )
    envs: Mapping[str, str] = asked(
        MapOf(
            Text("text", most=64 * 1024, lines=True, exact=True),
            most=256,
            pattern=f"^{names.ENV_PATTERN}$",
            check_name=names.check_env_name,
        ),
        {},
        "Environment variables",
        examples=({"NCCL_DEBUG": "WARN"},),
    )
    secrets: Mapping[str, str] = asked(
        MapOf(_SECRET, most=64, pattern=f"^{names.ENV_PATTERN}$", check_name=names.check_env_name),
        {},
        "Environment variables from secrets: team/NAME of the job's team, org/NAME of the organization",
        examples=({"WANDB_API_KEY": "team/wandb"},),
    )
    secret_files: Mapping[str, str] = asked(
        MapOf(_SECRET, most=64, pattern=f"^{names.ENV_PATTERN}$", check_name=names.check_env_name),
        {},
        "Secrets as files that only the job can read; the variable NAME_FILE has the path",
        examples=({"KUBECONFIG": "team/kubeconfig"},),
    )
    inputs: tuple[Input, ...] = asked(
        ListOf(Section(Input, check=checks.check_input), most=32),
        (),
        "Datasets and checkpoints to mount",
    )
    outputs: tuple[Output, ...] = asked(
        ListOf(Section(Output), most=32), (), "Directories to save as versions"
    )
    ports: tuple[Port, ...] = asked(
        ListOf(Section(Port), most=16), (), "Ports on which the job serves"
    )
    labels: Mapping[str, str] = asked(
        MapOf(
            Text("text", most=255, check=names.check_printable),
            most=32,
            pattern=f"^{names.LABEL_PATTERN}$",
            check_name=names.check_label_name,
        ),
        {},
        "Labels to find the job by",
        examples=({"project": "sft"},),
    )
    array: Array | None = asked(
        ArrayKind(),
        None,
        "Run this job as an array of tasks, each with its own SLURM_ARRAY_TASK_ID",
        examples=(100, "1-99:2%4", {"size": 100, "max_parallel": 4}),
        null_refused=True,
    )
    after: tuple[Dependency, ...] = asked(
        ListOf(DependencyKind(), most=64, lone=True),
        (),
        "Jobs that must succeed first, by number or UUID; with `:any` they only have to end, with `:failed` they have to fail",
        examples=([12], ["#12:any"]),
        null_refused=True,
    )
    policy: Policy = asked(POLICY, Policy(), "Scheduling, retries and limits")
    slurm: Slurm = asked(
        SLURM,
        Slurm(),
        "Further options of sbatch, for Slurm clusters; others ignore them with a note",
    )

    @property
    def tasks(self) -> int:
        return self.array.size if self.array else 1

    @property
    def native(self) -> Mapping[str, Any]:
        """Return the Slurm options as plain data, without those left unset."""
        return SLURM.write(self.slurm)

    @property
    def processes_per_node(self) -> int:
        """How many copies of `run` Muster starts on each node."""
        return max(1, self.resources.gpus) if self.launcher.is_ranked else 1

    def to_mapping(self) -> dict[str, Any]:
        """Return plain data that `parse_mapping` turns into an equal spec.

        Only values that differ from the default, in a fixed order.
        """
        return JOB.write(self)

    def to_yaml(self) -> str:
        return document.dump(self.to_mapping())

    def unavailable(self, features: Collection[str]) -> list[FieldError]:
        """Return the fields that need a `Feature` missing from `features`."""
        return features_of.unavailable(self, features)


JOB = Section(JobSpec, elsewhere=other_tools.ELSEWHERE, check=checks.check_job)
