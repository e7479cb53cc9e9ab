"""The two programs by which slurmctld wakes a node of the rig's cloud and sends it to sleep, as text."""

from __future__ import annotations

from tests.rig.keeper import VARIABLE
from tests.rig.slurm_conf import Plan

# A pid is only believed if it still is the slurmd of that node.
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
    """ResumeProgram: starts a slurmd for each node of its argument, after ending a stale one."""
    return (_HEAD + _WAKE + "done\n").format(
        home=plan.home, variable=VARIABLE, folder=plan.home.parent
    )


def suspend_script(plan: Plan) -> str:
    """SuspendProgram: ends the slurmd of each node of its argument."""
    return (_HEAD + "done\n").format(home=plan.home, variable=VARIABLE)
