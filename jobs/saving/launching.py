"""Add the outputs of an attempt to its launch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from jobs.data.inputs import JobData, files_of
from jobs.data.outputs import output_of
from jobs.models import Attempt
from jobs.saving.scripts import script_with_outputs
from jobs.saving.starting import Begun
from jobs.specs.stored import spec_of
from schedulers.contract import Launch
from schedulers.programs import SAVE, source_of
from schedulers.spec.names import data_variable


def with_resumed(
    data: Mapping[UUID, JobData],
    attempts: Sequence[Attempt],
    begun: Mapping[UUID, Sequence[Begun]],
) -> dict[UUID, JobData]:
    """Return the data of jobs with the versions that their attempts continue from.

    They are inputs like those of the spec, from which the script copies the files.
    """
    found = dict(data)
    for attempt in attempts:
        for one in begun.get(attempt.id, ()):
            if one.resume is not None:
                before = found.get(attempt.job_id, JobData())
                files = files_of(_source(attempt, one), one.resume, "")
                found[attempt.job_id] = replace(
                    before,
                    inputs=[*before.inputs, files],
                    versions=[*before.versions, one.resume],
                )
    return found


def with_outputs(launch: Launch, attempt: Attempt, begun: Sequence[Begun]) -> Launch:
    """Return the launch of an attempt with outputs.

    Where the portal cannot read the folder, the program that saves it travels with the job.
    """
    place = output_of(attempt.cluster, attempt.key)
    is_visible = bool(place and place.local_path)
    sources = {
        one.name: data_variable("MUSTER_INPUT", _source(attempt, one))
        for one in begun
        if one.resume is not None
    }
    script = script_with_outputs(launch.script, begun, sources, is_visible=is_visible)
    outputs = spec_of(attempt.job).outputs if launch.image else {}
    paths = {name: output.path for name, output in outputs.items() if output.path}
    data = replace(launch.data, output_paths=paths)
    if is_visible:
        return replace(launch, script=script, data=data)
    return replace(
        launch,
        script=script,
        env={**launch.env, **_variables(launch, attempt, begun)},
        data=replace(data, programs={**data.programs, SAVE: source_of(SAVE)}),
    )


def _source(attempt: Attempt, one: Begun) -> str:
    """Return the name of the input from which an output continues."""
    task = "" if attempt.job.array_size is None else f".{attempt.index}"
    return f"resume.{one.name}{task}"


def _variables(launch: Launch, attempt: Attempt, begun: Sequence[Begun]) -> dict[str, str]:
    about = [
        {
            "name": one.name,
            "variable": data_variable("MUSTER_OUTPUT", one.name),
            "every": one.every,
            "index": attempt.index,
        }
        for one in begun
    ]
    return {"MUSTER_OUTPUTS": json.dumps(about), "MUSTER_SAVE_GRACE": f"{launch.limits.grace:g}"}
