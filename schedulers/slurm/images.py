"""Run images with Pyxis (enroot), Apptainer or Charliecloud.

The programs are constant; the name of the image is their only variable part.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from portal.core.messages import Message
from schedulers.contract import Launch, Rejected
from schedulers.exit_reasons import EndReason
from schedulers.states import Reason

KINDS = ("none", "auto", "pyxis", "apptainer", "charliecloud")
NO_IMAGE = 125
_PATH = re.compile(r"/[A-Za-z0-9_./-]*")
_MOUNT = re.compile(r"(/[A-Za-z0-9_./-]*)(?::(/[A-Za-z0-9_./-]*))?")
_TROUBLE = re.compile(r"(?m)^muster: (the image .*)$")
_PYXIS = re.compile(r"(?m)^.*pyxis: (?!importing|imported)(.*)$")


@dataclass(frozen=True)
class Images:
    """How this cluster runs images.

    `folder` is where prepared images are, as seen by the nodes.
    """

    kind: str = "none"
    folder: str = ""
    mounts: tuple[str, ...] = ()


NONE = Images()


def images_of(kind: str, folder: str, mounts: Iterable[str]) -> Images:
    """Create the image settings. Raises Rejected for an option that a shell could misread."""
    if kind not in KINDS:
        raise Rejected(
            Message("Choose an image runtime: {KINDS}.", KINDS=", ".join(KINDS)), "containers"
        )
    if folder and not _PATH.fullmatch(folder):
        raise Rejected(
            Message("The image folder must be an absolute path of letters, digits and . _ - only."),
            "images",
        )
    if wrong := next((mount for mount in mounts if not _MOUNT.fullmatch(mount)), None):
        raise Rejected(
            Message("{x} is not a valid mount. Write /data, or /data:/there.", x=repr(wrong[:80])),
            "mounts",
        )
    return Images(kind, folder.rstrip("/"), tuple(mounts))


def check_image(launch: Launch, images: Images) -> None:
    """Raise Rejected for an image that cannot run here, or not with these options."""
    if not launch.image:
        return
    if images.kind == "none":
        raise Rejected(
            Message(
                "This Slurm cluster does not run images. Remove `image`, or start the container "
                "in your script."
            ),
            "image",
        )
    if launch.place.is_on_first_node_only:
        raise Rejected(
            Message(
                "`srun` and `mpirun` start the ranks from outside of an image: leave `image` "
                "out, and start the container in your "
                "script (`srun --container-image=…`, `srun apptainer exec …`), or use torchrun."
            ),
            "launcher",
        )


def ready_name(image: str) -> str:
    """Return the file name of a prepared image: Charliecloud's folder name, for all runtimes."""
    return image.replace("/", "%").replace(":", "+")


def head(launch: Launch, images: Images) -> str:
    """Return the bash that defines the image for both programs below. Empty without an image."""
    if not launch.image:
        return ""
    ready = f"{images.folder}/{ready_name(launch.image)}" if images.folder else ""
    return _HEAD.format(
        image=shlex.quote(launch.image),
        ready=shlex.quote(ready),
        how=images.kind,
        gpus=launch.limits.gpus,
        mounts=" ".join(shlex.quote(mount) for mount in images.mounts),
    )


def image_trouble(code: int | None, tail: str) -> EndReason | None:
    """Return why the image was unavailable, in the words of its container runtime."""
    found = _TROUBLE.findall(tail) if code == NO_IMAGE else _PYXIS.findall(tail) if code else []
    return EndReason(Reason.IMAGE_UNAVAILABLE, found[-1].strip()[:500]) if found else None


_HEAD = r"""image={image} ready={ready} how={how} gpus={gpus} mounts=({mounts})
on_disk() {{
    [ -n "$ready" ] && for tail in "$@"; do
        [ -e "$ready$tail" ] && echo "$ready$tail" && return
    done
    return 1
}}
if [ "$how" = auto ]; then
    if srun --help 2>/dev/null | grep -q -e --container-image; then how=pyxis
    elif command -v apptainer singularity > /dev/null; then how=apptainer
    elif command -v ch-run > /dev/null; then how=charliecloud
    fi
fi
"""

# For the batch script, if Slurm starts the container. Only the text above doubles braces for
# Python.
PYXIS = r"""if [ "$how" = pyxis ]; then
    what=$(on_disk .sqsh .sqfs) || {
        what=$image
        case "${image%%/*}" in
            "$image") ;;
            *.*|*:*|localhost) what="${image%%/*}#${image#*/}";;
        esac
    }
    all=$folder:$folder
    for mount in "${mounts[@]}"; do
        case "$mount" in
            *:*) all=$all,$mount;;
            *) all=$all,$mount:$mount;;
        esac
    done
    for i in "${!trees[@]}"; do
        all=$all,${trees[$i]}:$folder/${places[$i]}:${modes[$i]}
        [ -z "${paths[$i]}" ] || all=$all,${trees[$i]}:${paths[$i]}:${modes[$i]}
    done
    more=(--container-image="$what" --container-mounts="$all"); run=(sh "$folder/rank" "$folder")
else
    run=(bash "$folder/node" "$folder")
fi
"""

# For every node, if the job starts the container runtime itself.
NODE = r"""
folder=$1
lost() { echo "muster: the image $image cannot be run on ${SLURMD_NODENAME:-this node}: $*"; exit 125; }
case "$how" in
apptainer)
    apptainer=apptainer; command -v apptainer > /dev/null || apptainer=singularity
    what=$(on_disk .sif "") || what=docker://$image
    options=(--bind "$folder"); for mount in "${mounts[@]}"; do options+=(--bind "$mount"); done
    for i in "${!trees[@]}"; do
        options+=(--bind "${trees[$i]}:$folder/${places[$i]}:${modes[$i]}")
        [ -z "${paths[$i]}" ] || options+=(--bind "${trees[$i]}:${paths[$i]}:${modes[$i]}")
    done
    [ "$gpus" -gt 0 ] && options+=(--nv)
    said=$("$apptainer" exec "$what" sh -c : 2>&1) || lost "${said##*$'\n'}"
    exec "$apptainer" exec "${options[@]}" "$what" sh "$folder/rank" "$folder" ;;
charliecloud)
    if ! what=$(on_disk "" .sqfs); then
        what=$image
        said=$(flock "/var/tmp/$USER.ch.lock" ch-image pull "$image" 2>&1) || lost "${said##*$'\n'}"
    fi
    options=(--bind "$folder:/mnt"); for mount in "${mounts[@]}"; do options+=(--bind "$mount"); done
    for i in "${!trees[@]}"; do
        [[ "${modes[$i]} ${places[$i]}" == "ro workspaces/"* ]] &&
            lost "Charliecloud mounts nothing read-only: leave \`read_only\` out"
        options+=(--bind "${trees[$i]}:/mnt/${places[$i]}")
        [ -z "${paths[$i]}" ] && continue
        [ -d "$what" ] && [ ! -d "$what${paths[$i]}" ] &&
            lost "it has no folder ${paths[$i]} for ${texts[$i]}, and Charliecloud cannot make one: leave \`path\` out"
        options+=(--bind "${trees[$i]}:${paths[$i]}")
    done
    [ -e "$what/ch/environment" ] && options+=(--set-env)
    said=$(ch-run "${options[@]}" "$what" -- sh -c : 2>&1) || lost "${said##*$'\n'}"
    exec ch-run "${options[@]}" "$what" -- sh /mnt/rank /mnt ;;
*)
    lost "neither Pyxis nor Apptainer nor Charliecloud is installed there" ;;
esac
"""
