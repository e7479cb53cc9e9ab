"""Give a job its inputs and workspaces on the nodes.

Inputs are read in the portal's data folder, or fetched into a cache. Each one appears as
SPOOL/KEY/inputs/NAME: a link, or a folder at which the container mounts it. Workspaces are folders
that the nodes share with the portal, and appear as SPOOL/KEY/workspaces/NAME.
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
    `cache`, up to `limit` bytes for each user. `folders` is the folder of all workspaces.
    """

    data: str = ""
    cache: str = "/var/tmp/muster-inputs"  # noqa: S108  each user has a folder beside it
    limit: int = 0
    folders: str = ""


NONE = InputSettings()


def inputs_of(data: str, cache: str, limit: int, folders: str = "") -> InputSettings:
    """Create the settings. Raises Rejected for a path that a shell could misread."""
    for path, option in (
        (data, "data_folder"),
        (cache, "input_cache"),
        (folders, "workspaces_folder"),
    ):
        if path and (not _PATH.fullmatch(path) or "/../" in f"{path}/"):
            raise Rejected(
                Message("The folder must be an absolute path of letters, digits and . _ - only."),
                option,
            )
    if limit < 0:
        raise Rejected(Message("The limit must not be negative."), "input_cache_limit")
    return InputSettings(data.rstrip("/"), cache.rstrip("/"), limit << 30, folders.rstrip("/"))


def check_mounts(launch: Launch) -> None:
    """Raise Rejected for a path where nothing can be mounted."""
    for one in launch.data.inputs:
        _check_path(launch, one.path, "MUSTER_INPUT", f"inputs.{one.name}", one.name)


def check_folders(launch: Launch, site: InputSettings, runtime: str) -> None:
    """Raise Rejected for a workspace that cannot be used here, or not in this way."""
    for one in launch.data.folders:
        field = f"workspaces.{one.name}"
        if not site.folders:
            raise Rejected(
                Message(
                    "The nodes of this cluster do not see workspaces. An operator can set their "
                    "folder: Workspaces in the settings of the cluster."
                ),
                field,
            )
        _check_path(launch, one.path, "MUSTER_WORKSPACE", field, one.name)
        if one.read_only and (not launch.image or runtime == "charliecloud"):
            raise Rejected(
                Message(
                    "Nothing can be mounted read-only on this cluster without an image. Leave "
                    "`read_only` out."
                )
                if not launch.image
                else Message(
                    "Charliecloud, which runs images here, mounts nothing read-only. Leave "
                    "`read_only` out."
                ),
                f"{field}.read_only",
            )


def _check_path(launch: Launch, path: str, variable: str, field: str, name: str) -> None:
    if path and not launch.image:
        raise Rejected(
            Message(
                "Nothing can be mounted at {path} on this cluster without an image. Leave "
                "`path` out and read ${variable}.",
                path=path,
                variable=data_variable(variable, name),
            ),
            f"{field}.path",
        )


@dataclass(frozen=True)
class _Mount:
    """A folder of a job: its place below SPOOL/KEY, its name for people, and how it is mounted.

    `tree` is in the notation of bash.
    """

    place: str
    variable: str
    text: str
    tree: str
    path: str
    mode: str


def _mounts(launch: Launch, site: InputSettings) -> list[_Mount]:
    inputs = [
        _Mount(
            f"inputs/{one.name}",
            data_variable("MUSTER_INPUT", one.name),
            one.text,
            _tree(one, site),
            one.path,
            "ro",
        )
        for one in launch.data.inputs
    ]
    return inputs + [
        _Mount(
            f"workspaces/{one.name}",
            data_variable("MUSTER_WORKSPACE", one.name),
            one.text,
            shlex.quote(f"{site.folders}/{one.tree}"),
            one.path,
            "ro" if one.read_only else "rw",
        )
        for one in launch.data.folders
    ]


def exports(launch: Launch) -> str:
    """Return the shell code that sets MUSTER_INPUT_NAME and MUSTER_WORKSPACE_NAME.

    $1 is the folder of the job.
    """
    return "".join(
        f'export {one.variable}="$(cd -P "$1/{one.place}" && pwd)"\n'
        for one in _mounts(launch, NONE)
    )


def head(launch: Launch, site: InputSettings) -> str:
    """Return the bash that defines the mounts for the programs below. Empty without any."""
    mounts = _mounts(launch, site)
    if not mounts:
        return ""
    return _HEAD.format(
        places=_words(one.place for one in mounts),
        texts=_words(one.text for one in mounts),
        paths=_words(one.path for one in mounts),
        modes=_words(one.mode for one in mounts),
        trees=" ".join(one.tree for one in mounts),
    )


def settings(launch: Launch, folder: str, site: InputSettings) -> str:
    """Return the settings of the fetch program; empty if nothing is fetched."""
    if site.data or not launch.data.inputs:
        return ""
    done = f"{folder}/fetching"
    return fetch_settings(launch, site.cache, limit=site.limit, is_of_user=True, done=done)


def programs(launch: Launch, site: InputSettings) -> dict[str, bytes]:
    """Return the programs that travel with the job."""
    is_fetched = launch.data.inputs and not site.data
    return {**launch.data.programs, **({FETCH: source_of(FETCH)} if is_fetched else {})}


def _tree(one: InputFiles, site: InputSettings) -> str:
    """Return the folder of an input in the notation of bash."""
    if site.data:
        return shlex.quote(f"{site.data}/{one.tree}")
    return f'{shlex.quote(site.cache)}-"$(id -u)"/{shlex.quote(one.commit)}'


def _words(texts: Iterable[str]) -> str:
    return " ".join(map(shlex.quote, texts))


_HEAD = r"""places=({places}) texts=({texts}) paths=({paths}) trees=({trees}) modes=({modes})
"""

# For the batch script, before anything runs on the nodes.
BATCH = r"""mkdir inputs workspaces
for i in "${!places[@]}"; do
    [ -s inputs.json ] && [[ "${places[$i]}" = inputs/* ]] && echo "${texts[$i]}" >> fetching
    if [ ${#more[@]} -gt 0 ] || [ -s node ]; then mkdir "${places[$i]}"
    else ln -s "${trees[$i]}" "${places[$i]}"
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
for i in "${!trees[@]}"; do
    tree=${trees[$i]} what="Reading ${texts[$i]} failed"
    case "${places[$i]}" in
    workspaces/*)
        [ -r "$tree" ] && [ -x "$tree" ] && { [ "${modes[$i]}" = ro ] || [ -w "$tree" ]; } ||
            lost "Mounting ${texts[$i]} failed: it is not there on $node, or $(id -un) may not use it."
        continue ;;
    esac
    [ -s "$folder/inputs.json" ] && continue                       # fetched below
    [ -r "$tree" ] && [ -x "$tree" ] ||
        lost "$what: $tree is not there on $node, or $(id -un) may not read it."
    if { [ -O "$tree" ] || [ "$(id -u)" = 0 ]; } && chmod u+w "$tree" 2> /dev/null; then
        chmod u-w "$tree"
        advice="Mount the portal's data folder read-only there."
        lost "$what: $(id -un) may change $tree on $node. $advice"
    fi
done
if [ -s "$folder/inputs.json" ]; then
    command -v python3 > /dev/null || lost "Fetching ${texts[0]} failed: python3 is not installed on $node."
    exec python3 -I "$folder/programs/FETCH" "$folder/inputs.json" -- "$@"
fi
exec "$@"
""".replace("FAILED", str(FAILED)).replace("FETCH", FETCH)
