"""Build the batch script: a constant program with the user's script and variables as base64.

No shell ever parses the base64 data. The program and Slurm write these files:

    SPOOL/KEY.slurm      messages of Slurm and of this program
    SPOOL/KEY/output.log output of the job, and nothing else
    SPOOL/KEY/id         "NUMBER SENT" of the job that owns the key: the one that created the folder;
                         any other job with this key exits at once. SENT distinguishes submissions
                         with equal numbers: a controller that lost its state reuses numbers
    SPOOL/KEY/refused    numbers of the jobs that exited at once
    SPOOL/KEY/start      "SECONDS NODE MEMORY LIMIT"
    SPOOL/KEY/end        "EXIT-CODE ASKED START END RANK"; RANK: the first of several that failed
    SPOOL/KEY/failed     created by the first rank that fails, with its "RANK EXIT-CODE" in `first`
    SPOOL/KEY/examples   files submitted with the script, if any
    SPOOL/KEY/programs   programs of Muster submitted with the script, if any
    SPOOL/KEY/inputs     the inputs by name, and beside it the workspaces
    SPOOL/KEY/tunnel.json  while it runs: where its tunnel dials to, of a job that serves something
    SPOOL/KEY/fetching   while the first node fetches them: what is fetched
    SPOOL/KEY/lost       what of the output the disk did not take (record_output.py); room for it, and
                         for the end, is made before the job starts, because a full disk has none
    SPOOL/KEY/again      Slurm requeued the job and started it again, which this program refused
"""

from __future__ import annotations

import base64
import gzip
import io
import re
import shlex
import tarfile
from collections.abc import Mapping
from functools import lru_cache

from portal.core.messages import Message
from schedulers.contract import Launch, Rejected
from schedulers.programs import TUNNEL, recorder_source, source_of, tunnel_settings
from schedulers.slurm import inputs
from schedulers.slurm.images import NODE, NONE, PYXIS, Images
from schedulers.slurm.images import head as image_head
from schedulers.slurm.inputs import NONE as NO_INPUTS
from schedulers.slurm.inputs import InputSettings
from schedulers.slurm.request import SLACK, tasks_of
from schedulers.slurm.states import NO_SPACE

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Variables that change the programs around the job, or would contradict Slurm.
_DROPPED = re.compile(
    r"LD_PRELOAD|LD_AUDIT|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|BASH_XTRACEFD|PS4|PROMPT_COMMAND|IFS"
    r"|SLURM_(?!ARRAY_|RESTART_COUNT$|JOB_NAME$|GPUS$).*|(SBATCH|SRUN|PMI|PMIX)_.*"
    r"|MASTER_ADDR|NODE_RANK|RANK|PET_NODE_RANK|PET_MASTER_ADDR"
)
_SIGNAL = re.compile(
    r"(?:(B):)?(?:SIG)?([A-Z][A-Z0-9+]{1,9}|[1-9][0-9]?)(?:@([0-9]{1,5}))?", re.ASCII
)
_LARGEST = 3 << 20  # bytes; slurmctld accepts at most 4 MiB

_HEAD = r"""#!/bin/bash
# A job of Muster. Its script and its variables are below, in base64.
export LC_ALL=C
me="$SLURM_JOB_ID "{sent}
folder={folder} limit={limit} grace={grace} slack={slack}
nodes={nodes} memory={memory} signal={signal} early={early} whom={whom}
export HOME="${{HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}}" USER="${{USER:-$(id -un)}}"
before=$(umask); umask 027
no_space() {{
    echo "muster: $1 could not be written on $(hostname): the disk of the spool, or /tmp, is full"
    exit {no_space}
}}
if why=$(mkdir "$folder" 2>&1); then
    {{ echo "$me" > "$folder/id.new"; }} && mv "$folder/id.new" "$folder/id" || no_space id
elif [ ! -d "$folder" ]; then
    case "$why" in *"No space left"*|*"quota exceeded"*|*"Read-only"*) echo "muster: $why"; exit {no_space};; esac
    echo "muster: $folder cannot be made: is the spool there on this node, and may $(id -un) write to it?"; exit 125
elif [ "$(cat "$folder/id" 2>/dev/null)" != "$me" ]; then
    echo "$SLURM_JOB_ID" >> "$folder/refused"; echo "muster: another job has this key"; exit 0
fi
if [ -e "$folder/start" ]; then                                          # requeued by Slurm: an attempt runs only once
    : > "$folder/again"; echo "muster: it ran before and is not run again"; exit 0
fi
mkdir -p "$folder/work" "$folder/out" && : >> "$folder/output.log" && cd "$folder" || no_space "$folder"
printf '%4096s' '' > lost && printf '%4096s' '' > end.new || no_space "$folder"
now() {{ echo "${{EPOCHREALTIME:-$(date +%s)}}"; }}
started=$(now)
write_start() {{
    echo "$started ${{SLURMD_NODENAME:-$(hostname)}} $memory ${{limit:-0}}" > start.new && mv start.new start
}}
write_start || no_space start
umask 077
base64 -d > variables <<'DATA' || no_space variables
{variables}
DATA
base64 -d > script <<'DATA' || no_space script
{script}
DATA
base64 -d > rank <<'DATA' || no_space rank
{rank}
DATA
base64 -d > node <<'DATA' || no_space node
{node}
DATA
base64 -d <<'DATA' | gzip -d > record || no_space record
{record}
DATA
chmod 700 script; umask "$before"
{folders}"""

_FOLDER = r"""mkdir {name} && base64 -d <<'DATA' | tar -xzf - -C {name} --no-same-owner || no_space {name}
{data}
DATA
"""

_TAIL = r"""
asked= heard= hurry= clock= timer=
end_it() {
    heard=1
    [ -n "$asked" ] && return
    asked=$1
    kill -TERM -- "-$child" 2>/dev/null
    { sleep "$grace"; kill -KILL -- "-$child"; } 2>/dev/null & hurry=$!; disown "$hurry"
}
trap 'end_it cancel' TERM INT
trap 'end_it time' USR1
if [ "$nodes" -gt 1 ]; then                                             # node names may not be resolvable
    first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
    getent hosts "$first" > /dev/null ||
        first=$(scontrol show node "$first" | sed -n 's/^ *NodeAddr=\([^ ]*\).*/\1/p' | head -n 1)
    export MUSTER_FIRST_NODE="$first"
fi
more=() run=(bash "$folder/rank" "$folder") tunnel=
if [ -s tunnel.json ] && command -v python3 > /dev/null; then
    python3 -I -S "$folder/programs/tunnel.py" tunnel.json > /dev/null 2>&1 < /dev/null & tunnel=$!; disown "$tunnel"
fi
#IMAGE
# What the disk does not take is counted. Without python3 the job writes the file itself.
recorder= ready=
if command -v python3 > /dev/null; then
    coproc RECORDER { exec python3 -I -S record output.log lost 2> /dev/null; }
    recorder=$RECORDER_PID
    exec 7>&"${RECORDER[1]}" 8<&"${RECORDER[0]}"
    eval "exec ${RECORDER[1]}>&- ${RECORDER[0]}<&-"
    read -r -t 30 ready <&8
    exec 8<&-
fi 2> /dev/null
[ "$ready" = ready ] || { recorder=; exec 7>> output.log; echo uncounted 1<> lost; }
set -m
if [ "$nodes" -gt 1 ] || [ ${#more[@]} -gt 0 ]; then
    srun --quiet --nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1 --kill-on-bad-exit=1 --export=ALL \
        "${more[@]}" "${run[@]}" >&7 2>&1 7>&- < /dev/null &
else
    "${run[@]}" >&7 2>&1 7>&- < /dev/null &
fi
child=$!
exec 7>&-
left_in_slurm() {
    local ends= try
    for try in 1 2 3 4 5; do             # its controller may be away for a while
        ends=$(SLURM_TIME_FORMAT=%s squeue --noheader --jobs="$SLURM_JOB_ID" --format=%e)
        [ -z "$ends" ] && command -v squeue && sleep 20 || break
    done >/dev/null
    echo $((ends - $(date +%s)))
}
if [ -n "$limit" ]; then             # Slurm's limit is longer by less than two minutes, unless it was raised since
    {
        sleep "$limit"
        while more=$((($(left_in_slurm) - ${grace%.*} - slack) / 60 * 60)) && [ "$more" -gt 0 ]; do
            limit=$((${limit%.*} + more)); write_start
            sleep "$more"
        done
        kill -USR1 $$
    } 2>/dev/null & clock=$!; disown "$clock"
fi
if [ -n "$signal" ]; then            # like sbatch --signal, by our time limit or else Slurm's
    left=${limit%.*}
    if [ -z "$limit" ]; then
        left=$(left_in_slurm)
    fi
    wait_for=$((left - early))
    {
        sleep $((wait_for > 0 ? wait_for : 0))
        if [ "$whom" = B ]; then
            kill -s "$signal" "$child"
        else
            scancel -s "$signal" "$SLURM_JOB_ID"
        fi
    } 2>/dev/null & timer=$!; disown "$timer"
fi
while :; do
    heard=
    wait "$child"; code=$?
    [ -n "$heard" ] || break
done 2>/dev/null
[ -n "$clock" ] && kill -KILL -- "-$clock" 2>/dev/null
[ -n "$timer" ] && kill -KILL -- "-$timer" 2>/dev/null
[ -n "$hurry" ] && kill -KILL -- "-$hurry" 2>/dev/null
[ -n "$asked" ] && kill -KILL -- "-$child" 2>/dev/null
[ -n "$tunnel" ] && kill -KILL "$tunnel" 2>/dev/null
if [ "$recorder" ]; then
    kill -s URG "$recorder"
    while kill -0 "$recorder"; do wait "$recorder"; done
else
    free=($(df -Pk . | tail -n 1))
    [ "${free[3]:-1000}" -ge 64 ] || echo "$(stat -c %s output.log) 1 0 ENOSPC
uncounted" 1<> lost
fi 2> /dev/null
rm -f variables inputs.json tunnel.json fetching                                             # secrets are in it
umask 027
rank= first=
[ -z "$asked" ] && [ -e failed/first ] && read -r rank first < failed/first
if [[ "$rank $first" =~ ^[0-9]+\ [1-9][0-9]*$ ]]; then code=$first; else rank=; fi
echo "$code ${asked:--} $started $(now) $rank" 1<> end.new && mv end.new end
exit "$code"
"""

# Runs on every node, inside the image if any, so it must work in any shell. The variables are
# loaded here so that they do not affect the programs around the job.
_RANK = r"""
unset LC_ALL
. "$1/variables"
export NODE_RANK="${SLURM_NODEID:-0}"
export RANK="$((NODE_RANK * ${LOCAL_WORLD_SIZE:-1}))"
export MASTER_ADDR="${MUSTER_FIRST_NODE:-127.0.0.1}"
export PET_NODE_RANK="$NODE_RANK" PET_MASTER_ADDR="$MASTER_ADDR"
export MUSTER_OUTPUT_DIR="$1/out"
[ -d "$1/examples" ] && export MUSTER_EXAMPLES="$1/examples"
[ -d "$1/programs" ] && export MUSTER_PROGRAMS="$1/programs"
is_one_of_several=$MUSTER_FIRST_NODE
unset MUSTER_FIRST_NODE
cd "$1/work" || exit 125
export SLURM_SUBMIT_DIR="$PWD"
IFS= read -r line < "$1/script" || true
shell=bash; command -v bash > /dev/null || shell=sh
case "$line" in "#!/usr/bin/env bash"|"#!/bin/bash") ;; "#!"*) shell= ;; esac
[ "$is_one_of_several" ] || exec $shell "$1/script"
# When a rank fails, Slurm kills the others and reports the largest code, which is that of a killed one:
# the first rank to fail records its own.
# Slurm signals every process of the step, so this shell only has to survive the signals.
trap heard=1 HUP INT QUIT USR1 USR2 PIPE ALRM TERM
$shell "$1/script" &
while :; do
    heard=
    wait "$!"; code=$?
    [ "$heard" ] || break
done 2> /dev/null
[ "$code" = 0 ] || { mkdir "$1/failed" && echo "$NODE_RANK $code" > "$1/failed/first"; } 2> /dev/null
exit "$code"
"""

# A file without a name, held open by a process of the job: it disappears with the job, however that
# ends. Works in any shell. The holder ignores SIGTERM, since the job may need its secret to shut
# down, and exits when the job is gone.
_KEEP = r"""
muster_dir=/dev/shm; [ -w "$muster_dir" ] || muster_dir=${TMPDIR:-/tmp}
muster_fail() {
    echo "muster: no space for the secret $1 in $muster_dir"
    exit 125
}
muster_keep() {
    muster_new=$(umask 077; mktemp "$muster_dir/.muster.XXXXXXXX") || muster_fail "$1"
    exec 8> "$muster_new" 9< "$muster_new"
    chmod 400 "$muster_new"
    rm -f "$muster_new"
    printf '%s' "$2" >&8 || muster_fail "$1"
    exec 8>&-
    (trap '' TERM INT HUP QUIT USR1 USR2; while kill -0 $$ 2> /dev/null; do sleep 2; done) <&9 9<&- > /dev/null 2>&1 &
    exec 9<&-
    export "$1_FILE=/proc/$!/fd/0"
}
"""


_TUNNEL = r"""(umask 077; base64 -d > tunnel.json) <<'DATA' || no_space tunnel.json
{settings}
DATA
"""


_INPUTS = r"""base64 -d > stage <<'DATA' || no_space stage
{stage}
DATA
(umask 077; base64 -d > inputs.json) <<'DATA' || no_space inputs.json
{settings}
DATA
"""


def batch_script(
    launch: Launch,
    folder: str,
    sent: str = "",
    images: Images = NONE,
    input_settings: InputSettings = NO_INPUTS,
) -> str:
    """Build the batch script; `sent` identifies the submission.

    Raises Rejected for values that no shell can represent.
    """
    nodes = 1 if launch.place.is_on_first_node_only else launch.place.num_nodes
    about_inputs = inputs.head(launch, input_settings)
    programs, serves = inputs.programs(launch, input_settings), tunnel_settings(launch)
    if serves:
        programs[TUNNEL] = source_of(TUNNEL)
    head = _HEAD.format(
        sent=shlex.quote(sent),
        folder=shlex.quote(folder),
        limit=f"{launch.limits.time_limit:g}" if launch.limits.time_limit else "",
        grace=f"{max(launch.limits.grace, 0):g}",
        slack=f"{SLACK:g}",
        nodes=nodes,
        memory=launch.limits.memory,
        **_warning(str(launch.native.get("signal", ""))),
        variables=_base64(
            exports({**launch.env, "MUSTER_JOB_KEY": launch.key, "PYTHONUNBUFFERED": "1"})
            + _for_srun(launch)
            + inputs.exports(launch)
            + kept(launch.data.secret_files)
        ),
        script=_base64(launch.script),
        rank=_RANK_TEXT,
        record=_RECORD_TEXT,
        no_space=NO_SPACE,
        node=_base64(image_head(launch, images) + about_inputs + NODE) if launch.image else "",
        folders="".join(
            _FOLDER.format(name=name, data=_lines(_packed(files)))
            for name, files in (("examples", launch.data.examples), ("programs", programs))
            if files
        )
        + (
            about_inputs
            + _INPUTS.format(
                stage=_base64(about_inputs + inputs.STAGE),
                settings=_base64(inputs.settings(launch, folder, input_settings)),
            )
            if about_inputs
            else ""
        )
        + (_TUNNEL.format(settings=_base64(serves)) if serves else ""),
    )
    text = head + _TAIL.replace(
        "#IMAGE\n",
        (image_head(launch, images) + PYXIS if launch.image else "")
        + (inputs.BATCH if about_inputs else ""),
    )
    if len(text) > _LARGEST:
        raise Rejected(
            Message(
                "Script and variables take {x} KiB together; Slurm takes at most {x2} KiB.",
                x=f"{len(text) >> 10:,}",
                x2=f"{_LARGEST >> 10:,}",
            ),
            "run",
        )
    return text


def kept(files: Mapping[str, str]) -> str:
    """Return the shell code that creates the secret files on each node. Raises Rejected."""
    lines = []
    for name, value in files.items():
        if not _NAME.fullmatch(name) or "\0" in value:
            raise Rejected(
                Message(
                    "{x} is no name of a file, or its secret holds a NUL, which no shell can.",
                    x=repr(name[:80]),
                ),
                "secret_files",
            )
        lines.append(f"muster_keep {name} {shlex.quote(value)}\n")
    return (
        f"{_KEEP}{''.join(lines)}unset -f muster_keep muster_fail\nunset muster_dir muster_new\n"
        if lines
        else ""
    )


def _for_srun(launch: Launch) -> str:
    """Return the variables from which an `srun` in the script takes the job's options."""
    tasks = tasks_of(launch)
    return f"export SLURM_GPUS_PER_TASK={tasks.gpus}\n" if tasks and tasks.gpus else ""


def _warning(text: str) -> dict[str, str]:
    """Parse "B:USR1@120".

    Returns the signal, the seconds before the end, and whether only the script gets it. Raises
    Rejected.
    """
    match = _SIGNAL.fullmatch(text)
    if text and not match:
        raise Rejected(
            Message("{x} is not a signal such as B:USR1@120.", x=repr(text[:40])), "slurm.signal"
        )
    return (
        {"signal": match[2], "early": match[3] or "60", "whom": match[1] or ""}
        if match
        else {"signal": "", "early": "0", "whom": ""}
    )


def exports(env: Mapping[str, str]) -> str:
    """Return bash exports with quoted values. Raises Rejected for an invalid name or value."""
    lines = []
    for name, value in env.items():
        if "\0" in value:
            raise Rejected(
                Message("The value of {name} holds a NUL, which no variable can.", name=name), "env"
            )
        if _is_passed(name):
            lines.append(f"export {name}={shlex.quote(value)}\n")
    return "".join(lines)


@lru_cache(4096)
def _is_passed(name: str) -> bool:
    if not _NAME.fullmatch(name):
        raise Rejected(Message("{x} is not a valid variable name.", x=repr(name[:80])), "env")
    return not _DROPPED.fullmatch(name)


def _base64(text: str) -> str:
    return _lines(text.encode(errors="surrogateescape"))


def _packed(files: Mapping[str, bytes]) -> bytes:
    """Pack files as tar.gz."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _lines(content: bytes) -> str:
    """Encode as base64, 76 characters a line, without a trailing newline."""
    return base64.encodebytes(content).decode().rstrip("\n")


_RANK_TEXT = _base64(_RANK)
_RECORD_TEXT = _lines(gzip.compress(recorder_source().encode(), mtime=0))
