"""Define the versions of data that a job reads (`inputs`) and writes (`outputs`).

`workspaces` are folders that it shares with people and other jobs.

Inputs and outputs are mappings of names to repositories. The list form, with a path for each entry, is read as
well; an entry is named after the last part of its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer

from schedulers.spec import field_types, names
from schedulers.spec.errors import invalid, shown
from schedulers.spec.field_types import choice, duration, text, whole
from schedulers.spec.sections import Fault, Section

YEAR = 366 * 86400
MOST = 32  # inputs, and outputs
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")

Revision = Annotated[
    str, text(pattern=names.TREE_PATTERN, hint="a name such as cifar, or name@revision")
]
RepositoryName = Annotated[
    str, text(pattern=names.REPOSITORY_PATTERN, hint="a name such as resnet")
]
MountPath = Annotated[str, text(most=4096, check=names.check_mount_path)]
DataName = Annotated[str, field_types.name(names.DATA_PATTERN, names.check_data_name)]


class Data(Section):
    """A dataset or a checkpoint in a spec: the base of inputs and outputs."""

    path: MountPath = ""

    @property
    def kind(self) -> str:
        return "dataset" if getattr(self, "dataset", "") else "checkpoint"

    @property
    def repository(self) -> str:
        """Return the name as written, with an organization or a revision if they were given."""
        return str(getattr(self, self.kind))

    def faults(self) -> Iterable[Fault]:
        if bool(getattr(self, "dataset", "")) == bool(getattr(self, "checkpoint", "")):
            yield (), "must name either `dataset` or `checkpoint`"


class Input(Data):
    """A version of a dataset or checkpoint, mounted read-only.

    MUSTER_INPUT_NAME has its path.
    """

    dataset: Revision = Field(
        default="",
        description="The dataset, optionally with a revision: the number of a version, a tag, a "
        "branch or the beginning of a version's id",
        examples=["cifar@v1.2"],
    )
    checkpoint: Revision = Field(
        default="",
        description="The checkpoint, instead of a dataset",
        examples=["llama-sft@3"],
    )
    path: MountPath = Field(
        default="",
        description="Also mount it at this path; MUSTER_INPUT_NAME has its path in any case",
        examples=["/data"],
    )

    @property
    def name(self) -> str:
        """Return the name of the repository, with an organization if one was given."""
        return self.repository.partition("@")[0]

    @property
    def revision(self) -> str:
        """Return the revision, or "" for the newest version."""
        return self.repository.partition("@")[2]

    @model_serializer(mode="wrap")
    def _short(self, write: SerializerFunctionWrapHandler) -> Any:
        """Write a dataset without a path as text."""
        is_short = self.dataset and not self.path
        return self.dataset if is_short else write(self)


class Mode(StrEnum):
    MIN = "min"
    MAX = "max"


class Best(Section):
    """Versions that are kept because a metric was best there."""

    metric: Annotated[str, text(most=250, check=names.check_printable)] = Field(
        description="The metric of the run", examples=["val_loss"]
    )
    mode: Annotated[Mode, choice(Mode)] = Field(
        default=Mode.MIN, description="Whether low (min) or high (max) values are better"
    )
    n: Annotated[int, whole(1, 1000)] = Field(default=1, description="How many are kept")


class Keep(Section):
    """Which of the versions that a job writes are kept; by default all of them."""

    last: Annotated[int, whole(1, 1000)] | None = Field(
        default=None, description="Keep this many of the newest", examples=[3]
    )
    best: Best | None = Field(
        default=None,
        description="Also keep the best by a metric",
        examples=[{"metric": "val_loss", "mode": "min", "n": 2}],
    )


class Resume(StrEnum):
    """Whether an attempt finds the files of an earlier version in the folder when it starts."""

    RETRY = "retry"
    LATEST = "latest"
    NONE = "none"


class Output(Data):
    """A folder that is saved as versions of a dataset or checkpoint.

    MUSTER_OUTPUT_NAME has its path.
    """

    dataset: RepositoryName = Field(
        default="", description="The dataset that gets a new version", examples=["features"]
    )
    checkpoint: RepositoryName = Field(
        default="",
        description="The checkpoint that gets a new version, instead of a dataset",
        examples=["resnet"],
    )
    path: MountPath = Field(
        default="",
        description="Also mount the folder at this path; MUSTER_OUTPUT_NAME has its path in any "
        "case",
        examples=["/results"],
    )
    every: Annotated[int, duration(0, YEAR)] = Field(
        default=0, description="Also save at this interval while the job runs", examples=["30m"]
    )
    keep: Keep = Field(
        default=Keep(), description="Which of the job's versions are kept; by default all"
    )
    resume: Annotated[Resume, choice(Resume)] = Field(
        default=Resume.RETRY,
        description="What the folder has when an attempt starts. retry: a retry continues from the "
        "newest version that the job itself has made; latest: the first attempt also, from the "
        "newest version of all; none: it is always empty",
    )


class Workspace(Section):
    """A workspace, mounted read-write or read-only.

    MUSTER_WORKSPACE_NAME has its path.
    """

    workspace: RepositoryName = Field(description="The workspace", examples=["vision-code"])
    path: MountPath = Field(
        default="",
        description="Also mount it at this path; MUSTER_WORKSPACE_NAME has its path in any case",
        examples=["/code"],
    )
    read_only: bool = Field(default=False, description="Only read it")

    @model_serializer(mode="wrap")
    def _short(self, write: SerializerFunctionWrapHandler) -> Any:
        """Write a workspace without options as text."""
        is_short = not self.path and not self.read_only
        return self.workspace if is_short else write(self)


def _read_workspaces(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    return {
        name: {"workspace": entry} if isinstance(entry, str) else entry
        for name, entry in value.items()
    }


def _read_inputs(value: object) -> object:
    """Return the mapping form; text is the name of a dataset."""
    value = _mapping_of(value)
    if not isinstance(value, Mapping):
        return value
    return {
        name: {"dataset": entry} if isinstance(entry, str) else entry
        for name, entry in value.items()
    }


def _mapping_of(value: object) -> object:
    """Return the mapping form of a list of entries with paths."""
    if not isinstance(value, list | tuple):
        return value
    found: dict[str, Any] = {}
    for entry in value:
        path = entry.get("path") if isinstance(entry, Mapping) else None
        if not isinstance(path, str) or not path.strip("/"):
            raise invalid(
                "entries of a list need a `path`; better write names, such as {data: cifar@v1.2}"
            )
        name = _NO_NAME.sub("-", path.rstrip("/").rpartition("/")[2])
        if name in found:
            raise invalid(f"has two entries called {name}; give each a name instead of a list")
        found[name] = _with_target(entry)
    return found


def _with_target(entry: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Read `to: checkpoint:resnet` of the list form."""
    if "to" not in entry:
        return entry
    kind, colon, name = str(entry["to"]).partition(":")
    if kind not in ("dataset", "checkpoint") or not colon:
        raise invalid(f"has `to: {shown(entry['to'])}`; must be checkpoint:name or dataset:name")
    return {**{key: value for key, value in entry.items() if key != "to"}, kind: name}


_ONLY_NAMES = Field(max_length=MOST, json_schema_extra={"additionalProperties": False})
_InputsForm = Annotated[dict[DataName, Input | Revision], _ONLY_NAMES] | list[Input]
_OutputsForm = Annotated[dict[DataName, Output], _ONLY_NAMES] | list[dict[str, Any]]
_WorkspacesForm = Annotated[dict[DataName, Workspace | RepositoryName], _ONLY_NAMES]
Workspaces = Annotated[
    dict[DataName, Workspace],
    Field(max_length=MOST),
    BeforeValidator(_read_workspaces, json_schema_input_type=_WorkspacesForm),
]
Inputs = Annotated[
    dict[DataName, Input],
    Field(max_length=MOST),
    BeforeValidator(_read_inputs, json_schema_input_type=_InputsForm),
]
Outputs = Annotated[
    dict[DataName, Output],
    Field(max_length=MOST),
    BeforeValidator(_mapping_of, json_schema_input_type=_OutputsForm),
]
