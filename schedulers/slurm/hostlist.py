"""Expand Slurm's hostlists such as "gpu[001-003,7],cpu1". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

MOST = 4096  # names; longer lists are truncated
_PART = re.compile(r"(?:[^,\[]|\[[^\]]*\])+")
_PIECE = re.compile(r"\[([^\]]*)\]|([^\[]+)")


def expand(text: str) -> tuple[str, ...]:
    """Return all host names in order. Invalid hostlists are returned unchanged."""
    names: dict[str, None] = {}
    for part in _PART.findall(text):
        for words in product(
            *(
                tuple(_choices(inside)) if inside else (plain,)
                for inside, plain in _PIECE.findall(part)
            )
        ):
            names["".join(words)] = None
            if len(names) == MOST:
                return tuple(names)
    return tuple(names)


def _choices(inside: str) -> Iterator[str]:
    """Expand "001-003,7" to 001, 002, 003, 7; leading zeros are kept."""
    for item in inside.split(","):
        first, dash, last = item.partition("-")
        if dash and first.isdigit() and last.isdigit() and 0 <= int(last) - int(first) < MOST:
            yield from (f"{n:0{len(first)}}" for n in range(int(first), int(last) + 1))
        else:
            yield item
