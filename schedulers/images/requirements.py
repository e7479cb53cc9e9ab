"""Evaluate NVIDIA's conditions on a machine, as its container toolkit does.

Spaces are OR, commas are AND, and all variables must hold. Results are three-valued: unknown
properties of a node never fail a condition. The table is from the CUDA release notes of NVIDIA: the
driver that shipped with each CUDA version.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

Version = tuple[int, ...]

BRINGS: Mapping[int, Version] = {  # driver branch: the newest CUDA version it supports
    384: (9, 0),
    390: (9, 1),
    396: (9, 2),
    410: (10, 0),
    418: (10, 1),
    430: (10, 1),
    435: (10, 1),
    440: (10, 2),
    450: (11, 0),
    455: (11, 1),
    460: (11, 2),
    465: (11, 3),
    470: (11, 4),
    495: (11, 5),
    510: (11, 6),
    515: (11, 7),
    520: (11, 8),
    525: (12, 0),
    530: (12, 1),
    535: (12, 2),
    545: (12, 3),
    550: (12, 4),
    555: (12, 5),
    560: (12, 6),
    565: (12, 7),
    570: (12, 8),
    575: (12, 9),
    580: (13, 0),
    590: (13, 1),
    595: (13, 2),
}
_ATOM = re.compile(r"([a-z]+)(<=|>=|!=|=|<|>)([A-Za-z0-9.]+)")
_COMPARE: Mapping[str, Callable[[Version, Version], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_MOST = 200  # alternatives per variable; NVIDIA's own have about forty


@dataclass(frozen=True)
class Device:
    """A GPU model with its driver, as far as known.

    Versions: `driver` (535, 104, 5), `cuda` (12, 2), `compute` (9, 0).
    """

    driver: Version | None = None
    cuda: Version | None = None
    compute: Version | None = None
    brand: str = ""

    @property
    def newest_cuda(self) -> Version | None:
        """Return the newest supported CUDA version, as reported or by the driver branch."""
        return self.cuda or cuda_of(self.driver)


@dataclass(frozen=True)
class Atom:
    """One comparison: `cuda>=12.4`."""

    name: str
    sign: str
    value: str

    def is_met_by(self, device: Device) -> bool | None:
        if self.name == "brand":
            return (
                None
                if not device.brand
                else (self.value.lower() == device.brand) == (self.sign == "=")
            )
        has = {"cuda": device.newest_cuda, "driver": device.driver, "arch": device.compute}.get(
            self.name
        )
        required = version(self.value)
        if has is None or required is None:
            return self._of_new_driver(device, required)
        return _COMPARE[self.sign](*_level(has, required))

    def _of_new_driver(self, device: Device, asked: Version | None) -> bool | None:
        """Evaluate a condition for a driver newer than the table.

        It supports at least the newest known CUDA.
        """
        is_new = (
            self.name == "cuda"
            and self.sign == ">="
            and device.driver is not None
            and device.driver[0] > max(BRINGS)
        )
        return True if is_new and asked and asked <= max(BRINGS.values()) else None


Condition = Sequence[Sequence[Atom]]  # alternatives; each is a list of parts that must all hold


def version(text: str) -> Version | None:
    """Parse "535.104.05" as (535, 104, 5); None if it is no version."""
    if not re.fullmatch(r"v?\d{1,6}(\.\d{1,6}){0,3}([-+][\w.+-]*)?", text, re.ASCII):
        return None
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[-+]", text)[0]))


def version_text(of: Version) -> str:
    return ".".join(map(str, of))


def cuda_of(driver: Version | None) -> Version | None:
    """Return the newest CUDA of a driver branch; None for a branch newer than the table."""
    if driver is None or driver[0] > max(BRINGS):
        return None
    return max((cuda for branch, cuda in BRINGS.items() if branch <= driver[0]), default=(0, 0))


def driver_for(cuda: Version) -> int | None:
    """Return the oldest branch that supports this CUDA; None if it is newer than the table."""
    return min((branch for branch, brings in BRINGS.items() if brings >= cuda[:2]), default=None)


def conditions_of(env: Mapping[str, str]) -> list[Condition]:
    """Return the image's conditions on machines with GPUs.

    An image with CUDA_VERSION but without NVIDIA_REQUIRE_CUDA requires that version.
    """
    if env.get("NVIDIA_DISABLE_REQUIRE", "") in {"1", "t", "T", "true", "TRUE", "True"}:
        return []
    texts = [
        text
        for name, text in sorted(env.items())
        if name.startswith("NVIDIA_REQUIRE_") and not name.startswith("NVIDIA_REQUIRE_JETPACK")
    ]
    found = [parse(text) for text in texts if text.strip()]
    cuda = version(env.get("CUDA_VERSION", ""))
    if cuda and not env.get("NVIDIA_REQUIRE_CUDA"):
        found.append([[Atom("cuda", ">=", version_text(cuda[:2]))]])
    return found


def parse(text: str) -> Condition:
    """Parse a condition; parts that are invalid or too long evaluate to unknown."""
    alternatives = text.split(maxsplit=_MOST)
    found = [
        [_atom(part) for part in alternative.split(",") if part]
        for alternative in alternatives[:_MOST]
    ]
    return [*found, [Atom("?", "=", "")]] if len(alternatives) > _MOST else found


def _atom(text: str) -> Atom:
    match = _ATOM.fullmatch(text)
    return Atom(*match.groups()) if match else Atom("?", "=", text[:40])


def is_met(condition: Condition, device: Device) -> bool | None:
    return _any(_all(atom.is_met_by(device) for atom in alternative) for alternative in condition)


def _all(values: Iterable[bool | None]) -> bool | None:
    found = set(values)
    return False if False in found else None if None in found else True


def _any(values: Iterable[bool | None]) -> bool | None:
    found = set(values)
    return True if True in found else None if None in found else False


def _level(a: Version, b: Version) -> tuple[Version, Version]:
    """Pad versions to equal length: 12.4 is 12.4.0."""
    size = max(len(a), len(b))
    return a + (0,) * (size - len(a)), b + (0,) * (size - len(b))
