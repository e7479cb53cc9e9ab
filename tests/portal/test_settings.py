"""Settings derived from the environment, each in a new process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def setting(name: str, **environment: str) -> str:
    output = [sys.executable, "-c", f"from portal.settings import web; print(web.{name})"]
    return subprocess.run(
        output, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize(
    ("address", "policy"),
    [
        ("https://muster.example", "same-origin"),
        ("http://127.0.0.1:8000", "same-origin"),
        ("http://[::1]:8000", "same-origin"),
        ("http://muster.example", "None"),
        ("http://127.0.0.1.example", "None"),
    ],
)
def test_cross_origin_opener_policy_depends_on_base_url(address, policy):
    assert setting("SECURE_CROSS_ORIGIN_OPENER_POLICY", MUSTER_BASE_URL=address) == policy
