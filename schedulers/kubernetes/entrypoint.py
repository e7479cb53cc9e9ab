"""Define the entrypoint of all containers, a constant program.

It sets the rank of the script, merges its output into one stream, and forwards SIGTERM.
"""

from __future__ import annotations

# The script has its own process group: Kubernetes sends SIGTERM to process 1 only, and it must
# reach the whole group. The time limit starts here; the deadline of the pod starts before the image
# is pulled and serves as a fallback.
#
# Only the kubelet sends SIGTERM to process 1: for a deletion, an eviction or the pod's deadline. A
# script that then ends with 0 was still interrupted. As an end with 0 its Job would count as
# complete and the other ranks would go on, so the pod ends like one without a handler (143).
TIMED_OUT = "time"  # termination message if the script was stopped at its time limit
STOPPED = "stopped"  # termination message if the kubelet stopped the script
STOPPED_CLEANLY = "stopped 0"  # the same, and the script ended with exit code 0
START = r"""
export NODE_RANK="${JOB_COMPLETION_INDEX:-0}"
export RANK="$((NODE_RANK * ${LOCAL_WORLD_SIZE:-1}))"
export PET_NODE_RANK="$NODE_RANK" SLURM_NODEID="$NODE_RANK" SLURM_PROCID="$RANK"
export SLURM_SUBMIT_DIR="$PWD" SLURMD_NODENAME="${HOSTNAME:-$(uname -n)}"
[ "${NNODES:-1}" -gt 1 ] || export SLURM_JOB_NODELIST="$SLURMD_NODENAME"
[ -w "${HOME:-/}" ] || export HOME=/muster/work
[ -e /muster/given/examples ] && export MUSTER_EXAMPLES=/muster/given/examples
[ -e /muster/given/programs ] && export MUSTER_PROGRAMS=/muster/given/programs
exec 3>&1 1>/dev/null 2>&1
if ! mkdir -p -- "$MUSTER_OUTPUT_DIR"; then
    echo "muster: $MUSTER_OUTPUT_DIR, the folder for what the job writes, cannot be made by user $(id -u)" >&3
    exit 73
fi
if [ -e "$MUSTER_TUNNEL_FILE" ] && [ "$NODE_RANK" = 0 ] && command -v python3; then
    python3 -I -S "$MUSTER_PROGRAMS/tunnel.py" "$MUSTER_TUNNEL_FILE" </dev/null 3>&- &
fi
set -m
bash /muster/given/script </dev/null >&3 2>&3 3>&- &
child=$!
stopped=
trap 'read -r word </dev/termination-log
[ "$word" = time ] || { printf stopped >/dev/termination-log; stopped=1; }
kill -TERM -- "-$child"' TERM INT
exec 3>&-
if [ -n "$MUSTER_TIME_LIMIT" ]; then
    (
        sleep "$MUSTER_TIME_LIMIT"
        printf time >/dev/termination-log
        kill -TERM -- "-$child"
        sleep "$MUSTER_GRACE"
        kill -KILL -- "-$child"
    ) &
fi
while kill -0 "$child"; do wait "$child"; done
wait "$child"
code=$?
if [ "$code" = 0 ] && [ "$stopped" ]; then
    printf 'stopped 0' >/dev/termination-log
    code=143
fi
exit "$code"
""".lstrip()
