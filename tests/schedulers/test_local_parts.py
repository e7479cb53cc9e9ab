"""Test the cost of the supervisor as a program, and that its files are JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from schedulers.local import supervisor
from schedulers.local.files import dump, parse

LAUNCH = {
    "key": "muster-1",
    "argv": ["/bin/bash", "a b"],
    "memory": 64 << 20,
    "time_limit": None,
    "grace": 1.5,
    "gpus": [],
    "ok": True,
    "env": {"NAME": 'Zoë \U0001f680 "quoted" \\ \n\t\x01', "EMPTY": ""},
}


def test_supervisor_imports_no_expensive_module():
    folder = Path(supervisor.__file__).parent.parent
    what = (
        f"import sys; sys.path.append({str(folder)!r}); from local import supervisor; "
        "print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", what], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "local.supervisor" in loaded
    assert not {"re", "json", "enum", "typing", "signal", "subprocess", "functools"} & set(loaded)


@pytest.mark.parametrize(
    "make", [json.dumps, dump, lambda value: json.dumps(value, indent=1, ensure_ascii=False)]
)
def test_supervisor_parse_reads_json(make):
    assert parse(make(LAUNCH)) == LAUNCH


def test_supervisor_dump_writes_json():
    assert json.loads(dump(LAUNCH)) == LAUNCH


def test_supervisor_json_works_without_c_scanner(monkeypatch):
    monkeypatch.setitem(sys.modules, "_json", None)
    assert parse(json.dumps(LAUNCH)) == LAUNCH and json.loads(dump(LAUNCH)) == LAUNCH
