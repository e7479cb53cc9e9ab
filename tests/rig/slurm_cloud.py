"""The ResumeProgram and SuspendProgram of the rig's cloud, as text."""

from __future__ import annotations

from tests.rig.keeper import VARIABLE
from tests.rig.slurm_conf import Plan

# A pid is trusted only if it is still the slurmd of that node.
_HEAD = """#!/bin/sh
export SLURM_CONF={home}/slurm.conf {variable}={home} PATH=/usr/bin:/bin:/usr/sbin:/sbin
stop() {{
  pid=$(cat {home}/spool/$1.awake 2>/dev/null) || return 0
  grep -qzx -- "$1" /proc/$pid/cmdline 2>/dev/null && kill -9 $pid
  rm -f {home}/spool/$1.awake
}}
for node in $(scontrol show hostnames "$1"); do
  stop $node
"""
_WAKE = """  setsid slurmd -b -D -N $node </dev/null >>{home}/spool/$node.log 2>&1 &
  echo $! >{home}/spool/$node.awake
  echo "$! slurmd-$node" >>{folder}/pids
"""


def resume_script(plan: Plan) -> str:
    """Return the ResumeProgram: replaces or starts a slurmd for each given node."""
    return (_HEAD + _WAKE + "done\n").format(
        home=plan.home, variable=VARIABLE, folder=plan.home.parent
    )


def suspend_script(plan: Plan) -> str:
    """Return the SuspendProgram: stops the slurmd of each given node."""
    return (_HEAD + "done\n").format(home=plan.home, variable=VARIABLE)
