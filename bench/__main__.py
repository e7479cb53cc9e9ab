"""Run all benchmarks, or those named, in sequence on an idle machine and rewrite docs/bench.md."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.table import Row, markdown

ROOT = Path(__file__).resolve().parents[1]
_OURS = {"__init__", "__main__", "table", "idle", "setting", "sides"}  # helpers, not benchmarks


def main(names: list[str]) -> int:
    known = sorted(path.stem for path in (ROOT / "bench").glob("*.py") if path.stem not in _OURS)
    unknown = sorted(set(names) - set(known))
    if unknown:
        print(f"There is no bench called {', '.join(unknown)}. There are: {', '.join(known)}.")
        return 2
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        rows_file = Path(folder) / "rows"
        failed = [name for name in names or known if not _run(name, rows_file)]
        rows = (
            [Row(**json.loads(line)) for line in rows_file.read_text().splitlines()]
            if rows_file.exists()
            else []
        )
    if not names:
        page = ROOT / "docs" / "bench.md"
        words = page.read_text().partition("\n## ")  # keep the text below the table
        page.write_text(_page(rows) + "".join(words[1:]))
    short = sum(not row.met for row in rows)
    print(
        f"\n{len(rows)} rows, {short} short of what was asked; failed: "
        f"{', '.join(failed) or 'none'}"
    )
    return int(bool(failed))


def _run(name: str, rows_file: Path) -> bool:
    print(f"== {name}", flush=True)
    environment = {**os.environ, "BENCH_ROWS": str(rows_file)}
    return (
        subprocess.run(
            [sys.executable, "-m", f"bench.{name}"], cwd=ROOT, env=environment, check=False
        ).returncode
        == 0
    )


def _page(rows: list[Row]) -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"
    return (
        "# Benchmark results\n\n"
        f"One run of `make bench` on {machine}; servers, load and portal on the same machine.\n"
        "Raw limit, peer (if it can be installed) and Muster are from the same run, so the "
        "ratios matter more\n"
        f"than the absolute values.\n\n{markdown(rows)}\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
