"""docs/asvs.csv states the status of each ASVS 5.0 requirement (levels 1 and 2), and its test.

Fails for tests that do not exist, unknown statuses and duplicate requirements.
"""

from __future__ import annotations

import ast
import csv
import re
from functools import cache

from tests.rig.environment import ROOT

STATES = {"done", "not applicable", "open"}
with (ROOT / "docs/asvs.csv").open(newline="") as file:
    ROWS = list(csv.DictReader(file))
DONE = [row for row in ROWS if row["status"] == "done"]


@cache
def functions_of(name: str) -> frozenset[str]:
    """Return the test functions of a file."""
    path = ROOT / name
    if not path.is_file() or not path.name.startswith("test_"):
        return frozenset()
    return frozenset(
        node.name
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    )


def is_there(test: str) -> bool:
    name, _, function = test.partition("::")
    return function in functions_of(name)


def test_asvs_done_requirement_names_an_existing_test():
    assert [
        f"{row['requirement']}: {row['test or reason']}"
        for row in DONE
        if not is_there(row["test or reason"])
    ] == []


def test_asvs_requirement_has_one_row_with_status_and_reason():
    names = [row["requirement"] for row in ROWS]
    assert len(names) == len(set(names)) == 253  # levels 1 and 2 of ASVS 5.0.0: 70 and 183
    assert sum(row["level"] == "1" for row in ROWS) == 70
    for row in ROWS:
        assert re.fullmatch(r"\d+\.\d+\.\d+", row["requirement"]), row
        assert row["status"] in STATES and row["what"] and row["test or reason"], row
        assert (row["status"] == "done") == ("::" in row["test or reason"]), row
