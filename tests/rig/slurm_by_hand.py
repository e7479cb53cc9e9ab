"""Run a Slurm of the rig for manual use, until Ctrl-C."""

from __future__ import annotations

import signal

from tests.rig.processes import Folder
from tests.rig.slurm import Slurm, start_cloud, start_slurm

_WORDS = """
{count} nodes are idle. In another shell:

    export SLURM_CONF={conf}
    sinfo
    setpriv --reuid {user} --regid {group} --clear-groups sbatch -D {work} --gres=gpu:1 --wrap 'echo $CUDA_VISIBLE_DEVICES'

REST:   {url}/slurm/v0.0.38/ping, with the headers X-SLURM-USER-NAME and X-SLURM-USER-TOKEN
Token:  scontrol token username=root lifespan=3600      (as root it may submit as {user})
Key:    {key}
Logs:   {folder}/*.log

Ctrl-C ends all of it.
"""


def words(slurm: Slurm) -> str:
    """Return the instructions, with addresses."""
    return _WORDS.format(
        count=len(slurm.nodes),
        conf=slurm.conf,
        user=slurm.user,
        group=slurm.group,
        work=slurm.work,
        url=slurm.rest_url,
        key=slurm.jwt_key,
        folder=slurm.folder.path,
    )


def serve_slurm(kind: str) -> int:
    """Start a "slurm" or a "cloud", print instructions, and stop it at SIGINT or SIGTERM."""
    stops = {signal.SIGINT, signal.SIGTERM}
    folder = Folder()
    try:
        slurm = start_cloud(folder) if kind == "cloud" else start_slurm(folder)
        signal.pthread_sigmask(
            signal.SIG_BLOCK, stops
        )  # only now, because children inherit the mask
        print(words(slurm), flush=True)
        signal.sigwait(stops)
    finally:
        folder.close()
    return 0
