"""A client that another program generates from the OpenAPI schema reads every list."""

from __future__ import annotations

import json
import subprocess

import httpx
import pytest

from tests.rig.environment import ROOT
from tests.rig.mlflow import python_of

pytestmark = pytest.mark.integration


def test_generated_client_reads_every_list(running_portal, tmp_path):
    python, token = python_of("openapi"), running_portal.token()
    schema = httpx.get(f"{running_portal.url}/api/schema/", params={"format": "json"}, timeout=60)
    (tmp_path / "schema.json").write_bytes(schema.content)
    generate = ["generate", "--path", "schema.json", "--meta", "none", "--output-path", "generated"]
    subprocess.run(
        [python.parent / "openapi-python-client", *generate],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=300,
    )
    program = ROOT / "tests" / "api" / "walk_lists.py"
    done = subprocess.run(
        [
            python,
            program,
            running_portal.url,
            token,
            json.dumps({"org": "home", "team": "default"}),
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert {name: answer for name, answer in found.items() if answer[0] != 200} == {}
    assert len(found) >= 20 and found["orgs_teams_list"][1] >= 1, found
