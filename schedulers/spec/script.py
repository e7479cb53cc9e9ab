"""The bash that runs: the user's `setup` and `run`, verbatim, with as little round them as their meaning needs.

- `setup` and `run` share one shell, so that `cd`, `source venv/bin/activate` and variables carry over. In `setup` the
  first command that fails ends the job with its exit code (`set -e`). `run` is plain bash, as in a Slurm script: its
  exit code is that of its last command; write `set -e` into it for another.
- torchrun and mpi start `run` once per GPU (once where there is none). The text reaches bash as one argument, quoted by
  the shell itself; no shell text is built from what the user wrote.
- A `run` whose first line names another interpreter (`#!/usr/bin/env python3`) is executed as the file it is.
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
_TORCHRUN_ONE = 'exec torchrun --standalone --nnodes=1 --nproc_per_node={count} --no_python bash -c "$muster_run"\n'
_TORCHRUN_MANY = 'exec torchrun --nproc_per_node={count} --no_python bash -c "$muster_run"\n'
_MPI = 'exec mpirun -np {count} bash -c "$muster_run"\n'


def script(spec: JobSpec) -> str:
    """The text of one task on one node. Without `setup` and launcher it is `run` itself."""
    setup = _SETUP.format(text=_held("muster_setup", spec.setup)) if spec.setup.strip() else ""
    return _started(spec, setup)


def _started(spec: JobSpec, setup: str) -> str:
    if spec.launcher.is_ranked:
        return f"{_HEAD}{setup}{_held('muster_run', spec.run)}{_launch(spec)}"
    if not spec.run.startswith("#!"):
        return f"{_HEAD}{setup}{_ended(spec.run)}"
    if not _SHELL_LINE.match(spec.run):
        return f"{_HEAD}{setup}{_held('muster_run', spec.run)}{_FILE}"
    return f"{_HEAD}{setup}{_ended(spec.run)}" if setup else _ended(spec.run)


def _launch(spec: JobSpec) -> str:
    """One node is self-contained; on several, torchrun finds the others by the PET_ variables of the contract."""
    count = spec.processes_per_node
    if spec.launcher is Launcher.MPI:
        return _MPI.format(count=count * spec.num_nodes)
    return (_TORCHRUN_ONE if spec.num_nodes == 1 else _TORCHRUN_MANY).format(count=count)


def _held(variable: str, text: str) -> str:
    """Bash that puts the text into a variable, verbatim: a quoted here-document whose end is no line of the text."""
    mark = "MUSTER_" + hashlib.sha256(text.encode()).hexdigest()[:16].upper()
    return f"IFS= read -r -d '' {variable} <<'{mark}' || true\n{_ended(text)}{mark}\n"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
