"""Give a job its inputs on the nodes: read in the portal's data folder, or fetched into a cache.

Each input appears as SPOOL/KEY/inputs/NAME: a link, or a folder at which the container mounts it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from portal.core.messages import Message
from schedulers.contract import InputFiles, Launch, Rejected
from schedulers.programs import FAILED, FETCH, fetch_settings, source_of
from schedulers.spec.names import data_variable

_PATH = re.compile(r"/[A-Za-z0-9_./-]+")


@dataclass(frozen=True)
class InputSettings:
    """Where nodes find inputs.

    `data` is the portal's data folder as they see it, or empty. Else versions are fetched into
    `cache`, up to `limit` bytes for each user.
    """

    data: str = ""
    cache: str = "/var/tmp/muster-inputs"  # noqa: S108  each user has a folder beside it
    limit: int = 0


NONE = InputSettings()


def inputs_of(data: str, cache: str, limit: int) -> InputSettings:
    """Create the settings. Raises Rejected for a path that a shell could misread."""
    for path, option in ((data, "data_folder"), (cache, "input_cache")):
        if path and (not _PATH.fullmatch(path) or "/../" in f"{path}/"):
            raise Rejected(
                Message("The folder must be an absolute path of letters, digits and . _ - only."),
                option,
            )
    if limit < 0:
        raise Rejected(Message("The limit must not be negative."), "input_cache_limit")
    return InputSettings(data.rstrip("/"), cache.rstrip("/"), limit << 30)


def check_mounts(launch: Launch) -> None:
    """Raise Rejected for a path where nothing can be mounted."""
    for one in launch.inputs:
        if one.path and not launch.image:
            raise Rejected(
                Message(
                    "Nothing can be mounted at {path} on this cluster without an image. Leave "
                    "`path` out and read ${variable}.",
                    path=one.path,
                    variable=data_variable("MUSTER_INPUT", one.name),
                ),
                f"inputs.{one.name}.path",
            )


def exports(launch: Launch) -> str:
    """Return the shell code that sets MUSTER_INPUT_NAME; $1 is the folder of the job."""
    return "".join(
        f'export {data_variable("MUSTER_INPUT", one.name)}="$(cd -P "$1/inputs/{one.name}" && pwd)"\n'
        for one in launch.inputs
    )


def head(launch: Launch, site: InputSettings) -> str:
    """Return the bash that defines the inputs for the programs below. Empty without inputs."""
    if not launch.inputs:
        return ""
    return _HEAD.format(
        names=_words(one.name for one in launch.inputs),
        texts=_words(one.text for one in launch.inputs),
        paths=_words(one.path for one in launch.inputs),
        trees=" ".join(_tree(one, site) for one in launch.inputs),
    )


def settings(launch: Launch, folder: str, site: InputSettings) -> str:
    """Return the settings of the fetch program; empty if nothing is fetched."""
    if site.data or not launch.inputs:
        return ""
    done = f"{folder}/fetching"
    return fetch_settings(launch, site.cache, limit=site.limit, is_of_user=True, done=done)


def programs(launch: Launch, site: InputSettings) -> dict[str, bytes]:
    """Return the programs that travel with the job."""
    is_fetched = launch.inputs and not site.data
    return {**launch.programs, **({FETCH: source_of(FETCH)} if is_fetched else {})}


def _tree(one: InputFiles, site: InputSettings) -> str:
    """Return the folder of an input in the notation of bash."""
    if site.data:
        return shlex.quote(f"{site.data}/{one.tree}")
    return f'{shlex.quote(site.cache)}-"$(id -u)"/{shlex.quote(one.commit)}'


def _words(texts: Iterable[str]) -> str:
    return " ".join(map(shlex.quote, texts))


_HEAD = r"""names=({names}) texts=({texts}) paths=({paths}) trees=({trees})
"""

# For the batch script, before anything runs on the nodes.
BATCH = r"""mkdir inputs; [ -s inputs.json ] && echo "${texts[*]}" > fetching
for i in "${!names[@]}"; do
    if [ ${#more[@]} -gt 0 ] || [ -s node ]; then mkdir "inputs/${names[$i]}"
    else ln -s "${trees[$i]}" "inputs/${names[$i]}"
    fi
done
if [ ${#more[@]} -gt 0 ]; then                    # Slurm starts the container: fetch before it
    srun --quiet --nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1 --kill-on-bad-exit=1 --export=ALL \
        bash "$folder/stage" "$folder" true >> output.log 2>&1 < /dev/null || run=(sh -c "exit 76") more=()
else
    run=(bash "$folder/stage" "$folder" "${run[@]}")
fi
"""

# Runs on every node, outside of the image, and then starts its arguments.
STAGE = r"""
folder=$1; shift
node=${SLURMD_NODENAME:-$(hostname)}
lost() { echo "muster: $*"; exit FAILED; }
if [ -s "$folder/inputs.json" ]; then
    command -v python3 > /dev/null || lost "Fetching ${texts[0]} failed: python3 is not installed on $node."
    exec python3 -I "$folder/programs/FETCH" "$folder/inputs.json" -- "$@"
fi
for i in "${!trees[@]}"; do
    tree=${trees[$i]}
    [ -r "$tree" ] && [ -x "$tree" ] ||
        lost "Reading ${texts[$i]} failed: $tree is not there on $node, or $(id -un) may not read it."
    if { [ -O "$tree" ] || [ "$(id -u)" = 0 ]; } && chmod u+w "$tree" 2> /dev/null; then
        chmod u-w "$tree"
        advice="Mount the portal's data folder read-only there."
        lost "Reading ${texts[$i]} failed: $(id -un) may change $tree on $node. $advice"
    fi
done
exec "$@"
""".replace("FAILED", str(FAILED)).replace("FETCH", FETCH)
