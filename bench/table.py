"""Rows of a benchmark's results: raw limit, peer and ours, from the same run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One row of docs/bench.md. Figures are text with units; `target` is the goal."""

    what: str
    raw: str
    peer: str
    ours: str
    target: str
    met: bool
    note: str = ""


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def report(rows: Iterable[Row]) -> None:
    """Print the rows, and pass them to `python -m bench` if it runs this benchmark."""
    found = list(rows)
    for row in found:
        print(
            f"\n{row.what}\n  raw     {row.raw}\n  peer    {row.peer}\n  ours    {row.ours}\n  "
            f"target  {row.target}: "
            f"{'met' if row.met else 'NOT met'}" + (f"\n  note    {row.note}" if row.note else ""),
            flush=True,
        )
    if path := os.environ.get("BENCH_ROWS"):
        with Path(path).open("a") as file:
            file.writelines(json.dumps(asdict(row)) + "\n" for row in found)


def markdown(rows: Iterable[Row]) -> str:
    lines = ["| what | raw limit | peer | ours | asked | |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {row.what} | {row.raw} | {row.peer} | {row.ours} | {row.target} | "
        f"{'met' if row.met else '**not met**'}"
        f"{': ' + row.note if row.note else ''} |"
        for row in rows
    ]
    return "\n".join(lines)
