"""Validate names, references and paths in a spec against allow-lists with explanations."""

from __future__ import annotations

import posixpath
import re
import unicodedata

from schedulers.spec.errors import invalid

ENV_PATTERN = r"[A-Za-z_][A-Za-z0-9_]{0,127}"
LABEL_PATTERN = r"[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?"
IMAGE_PATTERN = (
    r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
    r"(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?"
)
GPU_TYPE_PATTERN = r"[a-z0-9][a-z0-9._-]{0,39}"
SLUG = r"[a-z0-9][a-z0-9._-]{0,62}"
REPOSITORY_PATTERN = rf"({SLUG}/)?[A-Za-z0-9][A-Za-z0-9._-]{{0,95}}"
TREE_PATTERN = rf"{REPOSITORY_PATTERN}(@[A-Za-z0-9_][A-Za-z0-9._/-]{{0,199}})?"
DATA_PATTERN = r"[A-Za-z][A-Za-z0-9._-]{0,62}"
SECRET_PATTERN = rf"{SLUG}/[A-Za-z0-9][A-Za-z0-9._-]{{0,62}}(@[1-9][0-9]{{0,5}})?"

LONGEST_NAME = 100
_NAME_MARKS = set(" ._-:+@/=,#()[]")
_SYSTEM_ROOTS = ("/", "/proc", "/sys", "/dev")

_LOADER = "it makes the dynamic loader run code in the platform's own programs that start your job"
_SHELL = "it changes how the shell that starts your job behaves"
_OURS = "Muster sets it itself"
_GPUS = "Muster sets it from the GPUs that `resources.accelerators` was given"
_RANKS = "Muster sets it from `num_nodes`, `launcher` and where the job runs"

ALLOWED_OF_FAMILY = frozenset({"LD_LIBRARY_PATH"})
FORBIDDEN_FAMILIES: dict[str, str] = {
    "LD_": _LOADER,
    "DYLD_": _LOADER,
    "BASH_FUNC_": _SHELL,
    "MUSTER_": _OURS,
    "SLURM_": _OURS,
    "SLURMD_": _OURS,
}
FORBIDDEN_NAMES: dict[str, str] = {
    **dict.fromkeys(
        ("GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH", "PYTHONSTARTUP"),
        _LOADER,
    ),
    **dict.fromkeys(
        (
            "BASH_ENV",
            "ENV",
            "BASHOPTS",
            "SHELLOPTS",
            "PROMPT_COMMAND",
            "IFS",
            "PS4",
            "POSIXLY_CORRECT",
        ),
        _SHELL,
    ),
    **dict.fromkeys(("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"), _GPUS),
    **dict.fromkeys(
        (
            "MASTER_ADDR",
            "MASTER_PORT",
            "WORLD_SIZE",
            "RANK",
            "LOCAL_RANK",
            "NODE_RANK",
            "NNODES",
            "LOCAL_WORLD_SIZE",
            "PET_NNODES",
            "PET_NODE_RANK",
            "PET_NPROC_PER_NODE",
            "PET_MASTER_ADDR",
            "PET_MASTER_PORT",
        ),
        _RANKS,
    ),
}


def check_env_name(name: str) -> None:
    """Raise for an invalid variable name or one reserved by the loader, shell or Muster."""
    if not re.fullmatch(ENV_PATTERN, name):
        raise invalid(
            "is not a variable name: letters, digits and _, not beginning with a digit, at most 128"
        )
    reason = FORBIDDEN_NAMES.get(name) or _family_reason(name)
    if reason:
        raise invalid(f"may not be set: {reason}")


def _family_reason(name: str) -> str:
    if name in ALLOWED_OF_FAMILY:
        return ""
    return next(
        (reason for prefix, reason in FORBIDDEN_FAMILIES.items() if name.startswith(prefix)), ""
    )


def check_label_name(name: str) -> None:
    if not re.fullmatch(LABEL_PATTERN, name):
        raise invalid("is not a label name: letters, digits and . _ - / inside, at most 63")


def check_data_name(name: str) -> None:
    if not re.fullmatch(DATA_PATTERN, name):
        raise invalid(
            "is not a name of data: letters, digits and . _ -, beginning with a letter, at most 63"
        )


def data_variable(prefix: str, name: str) -> str:
    """Return the variable with the path of an input or output: MUSTER_INPUT_DATA for `data`."""
    return f"{prefix}_{re.sub('[.-]', '_', name).upper()}"


def check_job_name(text: str) -> str:
    """Normalize a job name to NFC.

    Allowed are letters and digits of any script, spaces and plain punctuation.
    """
    name = unicodedata.normalize("NFC", text.strip())
    if not name or len(name) > LONGEST_NAME:
        raise invalid(f"must be 1 to {LONGEST_NAME} characters long, not {len(name)}")
    bad = next(
        (
            char
            for char in name
            if char not in _NAME_MARKS and unicodedata.category(char)[0] not in "LMN"
        ),
        None,
    )
    if bad:
        raise invalid(
            f"contains {bad!a}; letters, digits, spaces and "
            f"{''.join(sorted(_NAME_MARKS)).strip()} are allowed"
        )
    return name


def check_printable(text: str) -> str:
    if not text.isprintable():
        raise invalid("contains characters that cannot be printed")
    return text


def check_mount_path(text: str) -> str:
    """Normalize an absolute path inside the job."""
    if not text.startswith("/"):
        raise invalid(f"must be an absolute path such as /data, not {text[:60]!r}")
    if not text.isprintable():
        raise invalid("contains characters that cannot be printed")
    if any(mark in text for mark in ":,\\"):
        raise invalid("must not contain : or , or a backslash, which container runtimes misread")
    if ".." in text.split("/"):
        raise invalid("must not contain `..`; write the full path of the directory")
    path = posixpath.normpath("/" + text.lstrip("/"))
    if path == "/" or any(
        path == root or path.startswith(f"{root}/") for root in _SYSTEM_ROOTS[1:]
    ):
        raise invalid(
            f"may not be {path}, which belongs to the system; use another directory such as /data"
        )
    return path
