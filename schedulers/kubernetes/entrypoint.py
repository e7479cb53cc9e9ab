"""The program that every container of ours starts: a constant.

It gives the user's script its rank, one stream for its output, and the polite signal."""

from __future__ import annotations

# The script is a process group of its own, so that SIGTERM, which Kubernetes sends to process 1 only, reaches all of it. The time limit counts
# from here: a pod's own deadline counts from before its image was pulled, and stands behind as the last resort.
TIMED_OUT = "time"  # what it leaves as its last word, when it ended the script for its time
START = r"""
export NODE_RANK="${JOB_COMPLETION_INDEX:-0}"
export RANK="$((NODE_RANK * ${LOCAL_WORLD_SIZE:-1}))"
export PET_NODE_RANK="$NODE_RANK" SLURM_NODEID="$NODE_RANK" SLURM_PROCID="$RANK"
[ -w "${HOME:-/}" ] || export HOME=/muster/work
[ -e /muster/given/examples ] && export MUSTER_EXAMPLES=/muster/given/examples
exec 3>&1 1>/dev/null 2>&1
if ! mkdir -p -- "$MUSTER_OUTPUT_DIR"; then
    echo "muster: $MUSTER_OUTPUT_DIR, the folder for what the job writes, cannot be made by user $(id -u)" >&3
    exit 73
fi
set -m
bash /muster/given/script </dev/null >&3 2>&3 3>&- &
child=$!
trap 'kill -TERM -- "-$child"' TERM INT
exec 3>&-
if [ -n "$MUSTER_TIME_LIMIT" ]; then
    (sleep "$MUSTER_TIME_LIMIT"; printf time >/dev/termination-log; kill -TERM -- "-$child"; sleep "$MUSTER_GRACE"; kill -KILL -- "-$child") &
fi
while kill -0 "$child"; do wait "$child"; done
wait "$child"
exit "$?"
""".lstrip()
