"""The alerts for Prometheus: they parse, fire as meant, and name only metrics that exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.monitoring.test_grafana import NAME
from tests.monitoring.test_grafana import known as known  # noqa: PLC0414  a fixture
from tests.rig.processes import program

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "alerts.yml"


def promtool(*args):
    done = subprocess.run([program("promtool"), *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_alerts_parse_and_fire_as_their_tests_say():
    assert "12 rules found" in promtool("check", "rules", str(RULES))
    promtool("test", "rules", str(Path(__file__).parent / "alerts_test.yml"))


def test_alerts_name_only_metrics_that_exist(known):
    named = {
        name for expr in re.findall(r"expr: (.+)", RULES.read_text()) for name in NAME.findall(expr)
    }
    assert len(named) > 10
    assert named - known == set()
