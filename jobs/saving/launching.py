"""Add the outputs of an attempt to its launch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jobs.models import Attempt
from jobs.outputs import output_of
from jobs.saving.scripts import PROGRAM, script_with_outputs
from jobs.saving.starting import Begun
from schedulers.contract import Launch
from schedulers.spec.names import data_variable


def with_outputs(launch: Launch, attempt: Attempt, begun: Sequence[Begun]) -> Launch:
    """Return the launch of an attempt with outputs.

    Where the portal cannot read the folder, the program that saves it travels with the job.
    """
    place = output_of(attempt.cluster, attempt.key)
    is_visible = bool(place and place.local_path)
    script = script_with_outputs(launch.script, begun, {}, is_visible=is_visible)
    if is_visible:
        return replace(launch, script=script)
    return replace(
        launch,
        script=script,
        env={**launch.env, **_variables(launch, attempt, begun)},
        programs={**launch.programs, PROGRAM: _program()},
    )


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
    return {"MUSTER_OUTPUTS": json.dumps(about), "MUSTER_SAVE_GRACE": f"{launch.grace:g}"}


def _program() -> bytes:
    return (Path(__file__).parent / "programs" / PROGRAM).read_bytes()
