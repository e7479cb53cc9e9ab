"""Find reasons in an image's environment why it may not run on a GPU. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from portal.core.messages import Message
from schedulers.images.requirements import (
    Atom,
    Condition,
    Device,
    Version,
    conditions_of,
    driver_for,
    is_met,
    version,
    version_text,
)

# minimum driver per CUDA major version, by minor version compatibility
LEAST_DRIVER: Mapping[int, int] = {
    13: 580,
    12: 525,
    11: 450,
}
FIRST_CUDA: Mapping[Version, Version] = {  # oldest CUDA version that supports a compute capability
    (7, 0): (9, 0),
    (7, 5): (10, 0),
    (8, 0): (11, 0),
    (8, 6): (11, 1),
    (8, 7): (11, 5),
    (8, 9): (11, 8),
    (9, 0): (11, 8),
    (10, 0): (12, 8),
    (10, 1): (12, 8),
    (12, 0): (12, 8),
    (10, 3): (12, 9),
    (12, 1): (12, 9),
}
# oldest compute capability that a CUDA major version still builds for
LEAST_COMPUTE: Mapping[int, Version] = {
    13: (7, 5),
    12: (5, 0),
    11: (3, 5),
}
TRY = Message('To try all the same, set NVIDIA_DISABLE_REQUIRE: "1" in the job\'s environment.')


@dataclass(frozen=True)
class ImageWarning:
    """A reason against an image.

    `is_certain`: it cannot start there. `is_unknown`: too little is known about the node; otherwise
    the image may still run.
    """

    has: str
    needs: str
    advice: str = ""
    is_certain: bool = False
    is_unknown: bool = False


def doubts(env: Mapping[str, str], device: Device) -> Iterator[ImageWarning]:
    """Return the doubts; `env` is the image's environment overridden by the job's."""
    for condition in conditions_of(env):
        answer = is_met(condition, device)
        if answer is not True:
            yield _unmet(condition, device, env) if answer is False else _unknown(condition, device)
    if not conditions_of(env):
        yield from _family(env, device)
    yield from _kernels(env, device)


def _unmet(condition: Condition, device: Device, env: Mapping[str, str]) -> ImageWarning:
    plain = {
        a.name: a
        for alternative in condition
        if len(alternative) == 1 and (a := alternative[0]).sign in (">=", ">")
    }
    if (arch := plain.get("arch")) and device.compute:
        return ImageWarning(
            f"have GPUs of compute capability {version_text(device.compute)}",
            f"it needs {arch.value} or newer",
            Message("Choose newer GPUs, or an image built for these."),
            is_certain=True,
        )
    required = version(plain["cuda"].value) if "cuda" in plain else None
    if required is None:
        return ImageWarning(_has(device), f"it asks for {_quoted(condition)}", TRY)
    has = device.newest_cuda
    is_certain = has is not None and has[0] < required[0]
    return ImageWarning(
        _has(device),
        f"it needs {_needed(required, device)}",
        _advice(has, is_certain),
        is_certain=is_certain,
    )


def _advice(has: Version | None, is_certain: bool) -> str:
    other = (
        Message(
            "Choose an image for CUDA {has} or older there, or newer nodes.", has=version_text(has)
        )
        if has and has > (0, 0)
        else Message("Choose newer nodes.")
    )
    more = (
        ""
        if is_certain
        else Message(
            " NVIDIA's container runtime refuses it there, though CUDA's minor version "
            "compatibility would let most of it run."
        )
    )
    return f"{other}{more} {TRY}"


def _unknown(condition: Condition, device: Device) -> ImageWarning:
    names = {atom.name for alternative in condition for atom in alternative}
    if device.driver is None and device.cuda is None and names & {"cuda", "driver"}:
        plain = next(
            (
                version(a.value)
                for alternative in condition
                for a in alternative
                if a.name == "cuda" and a.sign == ">="
            ),
            None,
        )
        needs = (
            f"it needs {_needed(plain, device)}" if plain else f"it asks for {_quoted(condition)}"
        )
        return ImageWarning("tell no driver version", needs, is_unknown=True)
    if device.compute is None and names == {"arch"}:
        return ImageWarning(
            "tell no compute capability", f"it asks for {_quoted(condition)}", is_unknown=True
        )
    return ImageWarning(
        _has(device),
        f"which only some GPUs may do with it: it asks for {_quoted(condition)}",
        is_unknown=True,
    )


def _family(env: Mapping[str, str], device: Device) -> Iterator[ImageWarning]:
    """Check the minimum driver of the CUDA major version, where no condition is enforced.

    A compatibility package in the image is an alternative.
    """
    cuda = version(env.get("CUDA_VERSION", ""))
    least = LEAST_DRIVER.get(cuda[0]) if cuda else None
    if cuda and least and device.driver and device.driver[0] < least:
        yield ImageWarning(
            _has(device),
            f"its CUDA {cuda[0]} needs {least} or newer",
            Message("Choose newer nodes, or an image with NVIDIA's cuda-compat package."),
        )


def _kernels(env: Mapping[str, str], device: Device) -> Iterator[ImageWarning]:
    """Check for GPU code; never certain, as libraries may bring their own."""
    compute = device.compute
    if compute is None:
        return
    has = f"have GPUs of compute capability {version_text(compute)}"
    if built := _built_for(env.get("TORCH_CUDA_ARCH_LIST", "")):
        if not any(_runs(one, has_ptx, compute) for one, has_ptx in built):
            kinds = ", ".join(version_text(one) for one, _ in built)
            yield ImageWarning(
                has,
                f"its PyTorch is built for {kinds}",
                Message("Use an image that is built for this GPU."),
            )
        return
    cuda = version(env.get("CUDA_VERSION", ""))
    first, least = FIRST_CUDA.get(compute), LEAST_COMPUTE.get(cuda[0]) if cuda else None
    if cuda and first and cuda[:2] < first:
        yield ImageWarning(
            has,
            f"which CUDA {version_text(cuda[:2])} does not know: code for it came with "
            f"{version_text(first)}",
            Message("Use an image with a newer CUDA for these GPUs."),
        )
    elif cuda and least and compute < least:
        yield ImageWarning(
            has,
            f"which CUDA {cuda[0]} no longer builds for",
            Message("Use an image with an older CUDA for these GPUs."),
        )


def _built_for(text: str) -> list[tuple[Version, bool]]:
    """Parse "7.5 8.0 9.0+PTX" into versions and whether PTX is included.

    Empty if any word is not understood.
    """
    words = re.split(r"[\s;,]+", text.strip())
    found = [(re.fullmatch(r"(\d{1,2})\.(\d)[a-z]?(\+PTX)?", word)) for word in words]
    return [((int(m[1]), int(m[2])), bool(m[3])) for m in found if m] if all(found) else []


def _runs(built: Version, has_ptx: bool, compute: Version) -> bool:
    """Return whether the code runs: binaries within their family, PTX on all newer GPUs."""
    return (built[0] == compute[0] and built <= compute) or (has_ptx and built <= compute)


def _has(device: Device) -> str:
    if device.driver:
        return f"have driver {version_text(device.driver)}"
    return (
        f"run CUDA up to {version_text(device.cuda)}" if device.cuda else "tell no driver version"
    )


def _needed(cuda: Version, device: Device) -> str:
    driver = driver_for(cuda)
    if device.driver is None and device.cuda:
        return f"{version_text(cuda)} or newer"
    if driver is None:
        return f"CUDA {version_text(cuda)}"
    return (
        f"{'driver ' if device.driver is None else ''}{driver} or newer (CUDA "
        f"{version_text(cuda[:2])})"
    )


def _quoted(condition: Condition) -> str:
    text = " or ".join(",".join(_text(atom) for atom in alternative) for alternative in condition)
    return text if len(text) <= 100 else f"{text[:99]}…"


def _text(atom: Atom) -> str:
    return f"{atom.name}{atom.sign}{atom.value}" if atom.name != "?" else atom.value or "…"
