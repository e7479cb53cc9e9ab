"""Parse and format sizes, durations and counts.

Each `parse_*` raises ValueError with the accepted formats.
"""

from __future__ import annotations

import math
import re

KIB = 1024
_BINARY = {"k": KIB, "m": KIB**2, "g": KIB**3, "t": KIB**4, "p": KIB**5}
_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}

SIZE_PATTERN = r"^\s*[0-9]{1,20}(\.[0-9]{1,9})?\s*([kKmMgGtTpP]([iI]?[bB]?)?|[bB])?\s*\+?\s*$"
DURATION_PATTERN = r"^\s*([0-9]{1,12}(\.[0-9]{1,6})?\s*[dhmsDHMS]\s*)+$|^\s*[0-9]{1,12}\s*$"
CORES_PATTERN = r"^\s*[0-9]{1,9}(\.[0-9]{1,9})?\s*\+?\s*$"

SIZE_HINT = "a size such as 64Gi, 512GB or 1500Mi (a bare number is in GiB)"
DURATION_HINT = "a duration such as 30m, 24h or 1d12h (a bare number is in seconds)"
CORES_HINT = "a number of cores such as 4, 0.5 or 64+"

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:([kmgtp])(i?)(b?)|(b))?\s*\+?", re.ASCII)
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([dhms])\s*", re.ASCII)


def parse_size(value: int | float | str) -> int:
    """Parse a size in bytes.

    A bare number is in GiB, like `memory: 512` in SkyPilot. K, M, G, T and Ki, Mi, Gi, Ti are
    powers of 1024; KB, MB, GB, TB are powers of 1000. A trailing + ("at least") is accepted and
    ignored.
    """
    if isinstance(value, int | float):
        return _rounded(value * KIB**3)
    if len(value) > 40 or not re.match(SIZE_PATTERN, value, re.ASCII):
        raise ValueError(f"must be {SIZE_HINT}")
    match = _SIZE.fullmatch(value.strip().lower())
    assert match
    number, letter, binary, byte, only_byte = match.groups()
    if only_byte:
        return _rounded(float(number)) if "." in number else int(number)
    unit = _DECIMAL[letter] if letter and byte and not binary else _BINARY[letter or "g"]
    return _rounded(float(number) * unit) if "." in number else int(number) * unit


def format_size(size: int) -> str:
    """Format a size exactly and as short as possible.

    68719476736 is 64Gi, 512000000000 is 512GB, 1001 is 1001B.
    """
    spelt = [f"{size}B"]
    for units, ending in ((_BINARY, "i"), (_DECIMAL, "B")):
        spelt += [
            f"{size // unit}{letter.upper()}{ending}"
            for letter, unit in units.items()
            if size % unit == 0
        ]
    return min(spelt, key=len)


def parse_duration(value: int | float | str) -> int:
    """Parse a duration in whole seconds. A bare number is in seconds."""
    if isinstance(value, int | float):
        return _whole(value)
    if len(value) > 60 or not re.match(DURATION_PATTERN, value, re.ASCII):
        raise ValueError(f"must be {DURATION_HINT}")
    text = value.strip().lower()
    if text.isdigit():
        return int(text)
    parts = _DURATION_PART.findall(text)
    units = [unit for _, unit in parts]
    if sorted(set(units), key="dhms".index) != units:
        raise ValueError(
            "must name days, hours, minutes and seconds once each and in this order, such as 1d12h"
        )
    return _whole(sum(float(number) * _SECONDS[unit] for number, unit in parts))


def format_duration(seconds: int) -> str:
    """Format a duration: 129600 is 1d12h, 0 is 0s."""
    text, rest = "", seconds
    for unit, length in _SECONDS.items():
        count, rest = divmod(rest, length)
        text += f"{count}{unit}" if count else ""
    return text or "0s"


def parse_cores(value: int | float | str) -> float:
    """Parse a number of cores, rounded to thousandths."""
    if isinstance(value, str):
        if not re.match(CORES_PATTERN, value, re.ASCII):
            raise ValueError(f"must be {CORES_HINT}")
        value = float(value.strip().rstrip("+ \t\r\n\f\v"))
    return float(round(value, 3))


def parse_range(text: str, most: int) -> tuple[range, ...]:
    """Parse Slurm's array notation: "0-9", "1,5,9" or "1-99:2".

    Returns ascending, disjoint ranges of at most `most` IDs in total.
    """
    parts: list[range] = []
    for word in text.split(","):
        match = re.fullmatch(
            r"\s*([0-9]{1,7})(?:-([0-9]{1,7})(?::([1-9][0-9]{0,6}))?)?\s*", word, re.ASCII
        )
        if not match:
            raise ValueError("must be ids such as 0-9, 1,5,9 or 1-99:2")
        start = int(match[1])
        part = range(start, int(match[2] or start) + 1, int(match[3] or 1))
        if not part or (parts and part[0] <= parts[-1][-1]):
            raise ValueError("must be in ascending order without repeated ids")
        parts.append(part)
        if sum(map(len, parts)) > most:
            raise ValueError(f"must name at most {most:,} ids")
    return tuple(parts)


def format_range(parts: tuple[range, ...]) -> str:
    """Format ranges; the inverse of `parse_range`."""
    words = []
    for part in parts:
        last = "" if len(part) == 1 else f"-{part[-1]}"
        words.append(f"{part[0]}{last}{f':{part.step}' if last and part.step > 1 else ''}")
    return ",".join(words)


def _rounded(value: float) -> int:
    if not math.isfinite(value):
        raise ValueError(f"must be {SIZE_HINT}, and finite")
    return round(value)


def _whole(value: float) -> int:
    if not math.isfinite(value) or value != int(value):
        raise ValueError(f"must be {DURATION_HINT}, in whole seconds")
    return int(value)
