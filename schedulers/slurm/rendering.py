"""Render a submission for people: #SBATCH options, masked secrets, and the script verbatim.

Pure.
"""

from __future__ import annotations

from schedulers.contract import Launch
from schedulers.slurm.commands import sbatch
from schedulers.slurm.request import Request

_SECRET = ("TOKEN", "SECRET", "PASSWORD", "KEY")


def rendered(launch: Launch, request: Request) -> str:
    lines = [f"#SBATCH {word}" for word in sbatch(request)[2:] if not word.startswith("--export")]
    env = [
        f"{name}={'••••' if any(part in name.upper() for part in _SECRET) else value}"
        for name, value in sorted(launch.env.items())
    ]
    return "\n".join([*lines, "", *env, "", launch.script])
