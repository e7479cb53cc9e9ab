"""Build the bash script of a job from `setup` and `run`, with minimal wrapping.

- `setup` and `run` share one shell, so `cd`, `source venv/bin/activate` and variables carry over.
  In `setup` the first failing command ends the job with its exit code (`set -e`). `run` is plain
  bash, as in a Slurm script: its exit code is that of its last command, unless it uses `set -e`.
- torchrun and mpi start `run` once per GPU (once without GPUs). The text is passed to bash as one
  argument, quoted by the shell; no shell code is built from user input.
- A `run` with another interpreter in its first line (`#!/usr/bin/env python3`) is executed as a
  file.
"""

from __future__ import annotations

import hashlib
import re

from schedulers.spec.model import JobSpec, Launcher

_HEAD = "#!/usr/bin/env bash\n"
_SHELL_LINE = re.compile(r"#!\s*(\S*/env\s+(-S\s+)?)?(\S*/)?(ba|da)?sh\b")

_SETUP = """\
# setup: the first command that fails ends the job
{text}trap 'echo "muster: setup ended with exit code $?; run was not started" >&2' EXIT
set -e
eval "$muster_setup"
set +e
trap - EXIT
unset muster_setup

"""
_FILE = """\
muster_file=$(mktemp) || exit
printf '%s' "$muster_run" >"$muster_file" && chmod 700 "$muster_file" || exit
exec "$muster_file"
"""
_TORCHRUN_ONE = (
    "exec torchrun --standalone --nnodes=1 --nproc_per_node={count} --no_python bash -c "
    '"$muster_run"\n'
)
_TORCHRUN_MANY = 'exec torchrun --nproc_per_node={count} --no_python bash -c "$muster_run"\n'
_MPI = 'exec mpirun -np {count} bash -c "$muster_run"\n'


def script(spec: JobSpec) -> str:
    """Return the script of one task on one node.

    Without `setup` and launcher it is `run` itself.
    """
    setup = _SETUP.format(text=_assigned("muster_setup", spec.setup)) if spec.setup.strip() else ""
    return _started(spec, setup)


def _started(spec: JobSpec, setup: str) -> str:
    if spec.launcher.is_ranked:
        return f"{_HEAD}{setup}{_assigned('muster_run', spec.run)}{_launch(spec)}"
    if not spec.run.startswith("#!"):
        return f"{_HEAD}{setup}{_ended(spec.run)}"
    if not _SHELL_LINE.match(spec.run):
        return f"{_HEAD}{setup}{_assigned('muster_run', spec.run)}{_FILE}"
    return f"{_HEAD}{setup}{_ended(spec.run)}" if setup else _ended(spec.run)


def _launch(spec: JobSpec) -> str:
    """Return the command that starts the ranks.

    With one node it is standalone; with several, torchrun reads the PET_ variables.
    """
    count = spec.processes_per_node
    if spec.launcher is Launcher.MPI:
        return _MPI.format(count=count * spec.num_nodes)
    return (_TORCHRUN_ONE if spec.num_nodes == 1 else _TORCHRUN_MANY).format(count=count)


def _assigned(variable: str, text: str) -> str:
    """Assign the text to a bash variable, verbatim.

    Uses a quoted here-document with a delimiter that does not occur in the text.
    """
    mark = "MUSTER_" + hashlib.sha256(text.encode()).hexdigest()[:16].upper()
    return f"IFS= read -r -d '' {variable} <<'{mark}' || true\n{_ended(text)}{mark}\n"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
