"""Measure memory (PSS) and CPU time of an idle process tree against targets.

Starts nothing: `python bench/idle.py --seconds 60 embedded=1234 agent=5678` measures the trees
below these pids. PSS (smaps_rollup) divides shared pages among their processes; the sum of RSS would
count them several times. Exit code 1 if a target is missed, 2 if a pid does not exist or is not readable.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Sample:
    """A process tree's processes, PSS in bytes, and CPU seconds including reaped children."""

    processes: int
    pss: int
    seconds: float


def parents() -> dict[int, int]:
    """Map each running pid to its parent."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := stat_fields(int(folder.name))):
            found[int(folder.name)] = int(fields[1])
    return found


def stat_fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on; empty if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def tree(root: int) -> set[int]:
    above, found = parents(), {root}
    while new := {pid for pid, parent in above.items() if parent in found} - found:
        found |= new
    return found


def pss(pid: int) -> int:
    """Return PSS in bytes. Raises OSError if the process is gone or belongs to another user."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def sample_tree(root: int) -> Sample:
    pids = tree(root)
    ticks = sum(sum(map(int, fields[11:15])) for pid in pids if (fields := stat_fields(pid)))
    sizes = [pss(pid) for pid in pids if stat_fields(pid)]
    return Sample(len(sizes), sum(sizes), ticks / TICKS)


def measure(roots: dict[str, int], seconds: float, max_pss: float, max_cpu: float) -> bool:
    """Print one row per tree and return whether targets are met.

    `max_pss` is in MiB, `max_cpu` in percent of a core.
    """
    before, began = {name: sample_tree(pid) for name, pid in roots.items()}, time.monotonic()
    time.sleep(seconds)
    elapsed, is_met = time.monotonic() - began, True
    print(
        f"{'tree':<16}{'pid':>8}{'processes':>11}{'PSS MiB':>10}{'target':>8}{'CPU %':>9}{'target':>8}"
    )
    for name, pid in roots.items():
        now = sample_tree(pid)
        cpu = 100 * (now.seconds - before[name].seconds) / elapsed
        is_good = now.pss / MIB <= max_pss and cpu <= max_cpu
        is_met = is_met and is_good
        print(
            f"{name:<16}{pid:>8}{now.processes:>11}{now.pss / MIB:>10.1f}{max_pss:>8.0f}{cpu:>9.3f}{max_cpu:>8.2f}"
            f"  {'ok' if is_good else 'MISSED'}"
        )
    return is_met


def parse_root(text: str) -> tuple[str, int]:
    name, _, pid = text.rpartition("=")
    return name or pid, int(pid)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("roots", nargs="+", type=parse_root, metavar="[NAME=]PID")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--pss", type=float, default=200, help="MiB a tree may take (200 embedded, 300 server)"
    )
    parser.add_argument("--cpu", type=float, default=1.0, help="percent of one core a tree may use")
    options = parser.parse_args()
    try:
        return 0 if measure(dict(options.roots), options.seconds, options.pss, options.cpu) else 1
    except OSError as error:
        print(f"idle: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
