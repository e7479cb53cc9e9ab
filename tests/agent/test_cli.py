from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from muster_agent.cli import configure, parser
from tests.agent.portal_server import Portal


def command(*arguments: str, **environ: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(Path("agent").absolute()), **environ}
    return subprocess.Popen(
        [sys.executable, "-m", "muster_agent", *arguments],
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_agent_once_prints_one_batch_with_rates_as_json():
    out, _ = command("once", "--json", "--node", "n1").communicate(timeout=30)
    body = json.loads(out)
    assert body["node"] == "n1"
    assert {"cpu.utilization", "memory.used", "net.rx"} <= {s["name"] for s in body["samples"]}


def test_agent_check_describes_the_hardware(tmp_path):
    out, _ = command(
        "check", "--url", "http://127.0.0.1:1", "--jobs-dir", str(tmp_path)
    ).communicate(timeout=30)
    assert "processors" in out
    assert "no GPU: the NVIDIA driver is not installed (libnvidia-ml.so.1 not found)" in out
    assert "jobs: 0 running" in out
    assert "token: none given" in out


def test_agent_run_without_a_portal_names_the_missing_option():
    agent = command("run", MUSTER_URL="")
    assert "--url" in agent.communicate(timeout=30)[1]
    assert agent.returncode == 1


def test_agent_run_sends_until_stopped(wait_for, tmp_path):
    portal = Portal()
    agent = command("--url", portal.url, "--spool", str(tmp_path), MUSTER_AGENT_TOKEN="mst_right")
    try:
        wait_for(lambda: portal.taken)
        agent.send_signal(signal.SIGTERM)
        agent.communicate(timeout=10)
        assert agent.returncode == 0
    finally:
        agent.kill()
        portal.close()


def test_agent_run_with_a_spool_in_use_is_refused(wait_for, tmp_path):
    first = command("--url", "http://127.0.0.1:1", "--spool", str(tmp_path))
    try:
        wait_for((tmp_path / "new").exists)
        second = command("--url", "http://127.0.0.1:1", "--spool", str(tmp_path))
        assert "another agent uses the spool" in second.communicate(timeout=30)[1]
    finally:
        first.kill()
        first.communicate()


@pytest.mark.parametrize(
    "arguments", [["--node", "n1", "once", "--json"], ["once", "--node", "n1", "--json"]]
)
def test_agent_options_are_accepted_before_and_after_the_command(arguments):
    options = parser().parse_args(arguments)
    assert (options.node, options.command, options.json) == ("n1", "once", True)


def test_agent_options_default_to_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("MUSTER_URL", "http://one")
    monkeypatch.setenv("MUSTER_JOBS_DIR", str(tmp_path))
    config = configure(parser().parse_args(["run"]))
    assert (config.url, config.jobs_dir, config.disks) == ("http://one", tmp_path, (Path("/"),))
    assert configure(parser().parse_args(["run", "--url", "http://two"])).url == "http://two"
