"""Add to a job's script what its outputs need: folders, variables, and the files it resumes from.

Only names that the spec has checked become shell text: letters, digits and . _ -.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence

from jobs.saving.starting import Begun
from schedulers.programs import SAVE
from schedulers.spec.names import data_variable

_FOLDER = """\
export {variable}="$MUSTER_OUTPUT_DIR"/{name}
"""
# Several nodes may share the folder: it appears with all its files, by the first that has them.
_RESUME = """\
if [ -d "${variable}" ] && [ -z "$(ls -A "${variable}")" ] && [ -d "${{{source}:-/nowhere}}"{below} ]; then
    cp -RL "${source}"{below}/. "${variable}"/ && chmod -R u+w "${variable}"
elif [ ! -d "${variable}" ] && [ -d "${{{source}:-/nowhere}}"{below} ]; then
    cp -RL "${source}"{below} "${variable}.new.$$" && chmod -R u+w "${variable}.new.$$" &&
        {{ mv -T "${variable}.new.$$" "${variable}" 2>/dev/null || rm -rf "${variable}.new.$$"; }} ||
        {{ echo "muster: what {variable} continues from could not be copied" >&2; exit 73; }}
fi
[ -z "${{{source}:-}}" ] || export MUSTER_RESUME=1
"""
_MAKE = """\
mkdir -p "${variable}" || exit 73
"""
_BESIDE = """\
if command -v python3 >/dev/null; then
    muster_script=$(mktemp) || exit
    cat >"$muster_script" <<'{mark}'
{script}{mark}
    chmod 700 "$muster_script"
    exec python3 "$MUSTER_PROGRAMS/{program}" "$muster_script"
fi
echo "muster: there is no python3 here, so what the job writes to its outputs is not saved" >&2
"""


def script_with_outputs(
    script: str, begun: Sequence[Begun], sources: Mapping[str, str], *, is_visible: bool
) -> str:
    """Return the script of a task with outputs.

    `sources` are the variables with the folders to resume from, by the name of the output. Where the
    portal does not see the folders (`is_visible`), the program that saves them runs the script.
    """
    first, rest = _split(script)
    text = ""
    for one in begun:
        variable = data_variable("MUSTER_OUTPUT", one.name)
        text += _FOLDER.format(variable=variable, name=shlex.quote(one.name))
        if source := sources.get(one.name):
            below = f"/{shlex.quote(one.below)}" if one.below else ""
            text += _RESUME.format(variable=variable, source=source, below=below)
        text += _MAKE.format(variable=variable)
    if not is_visible:
        mark = "MUSTER_" + hashlib.sha256(script.encode()).hexdigest()[:16].upper()
        text += _BESIDE.format(
            mark=mark, script=script if script.endswith("\n") else f"{script}\n", program=SAVE
        )
    return f"{first}{text}{rest}"


def _split(script: str) -> tuple[str, str]:
    """Return the first line if it names the interpreter, and the rest."""
    if not script.startswith("#!"):
        return "", script
    first, _, rest = script.partition("\n")
    return f"{first}\n", rest
