"""Test the client against a real portal with its own local cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from muster import Client, NotAuthenticated, NotFound
from tests.rig.environment import ROOT
from tests.rig.portal import Portal


@pytest.fixture(scope="module")
def real(embedded_portal: Portal) -> tuple[Portal, str]:
    """Return a portal and a token with all scopes."""
    return embedded_portal, embedded_portal.token()


@pytest.fixture
def sdk(real: tuple[Portal, str]) -> Iterator[Client]:
    with Client(real[0].url, real[1]) as client:
        yield client


@pytest.fixture
def begin(real: tuple[Portal, str], tmp_path: Path) -> Callable[..., subprocess.Popen[bytes]]:
    def begin(*words: str) -> subprocess.Popen[bytes]:
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "client"),
            "MUSTER_URL": real[0].url,
            "MUSTER_TOKEN": real[1],
            "MUSTER_CONFIG": str(tmp_path / "none"),
        }
        return subprocess.Popen(
            [sys.executable, "-m", "muster", *words],
            env=env,
            stdout=-1,
            stderr=-1,
            cwd=tmp_path,
            bufsize=0,
        )

    return begin


def test_run_prints_the_bytes_and_exits_like_the_job(begin: Callable):
    process = begin("run", "--", "bash", "-c", r"printf 'one\r\n\377\000two'; exit 3")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (3, b"one\r\n\xff\x00two")
    assert b"The log is complete: 10 bytes.\n" in err


@pytest.mark.integration
def test_run_of_a_job_ended_by_a_signal_exits_with_128_plus_signal(begin: Callable):
    process = begin("run", "--", "bash", "-c", "kill -SEGV $$")
    process.communicate(timeout=60)
    assert process.returncode == 139


@pytest.mark.integration
def test_run_arguments_reach_the_job_unchanged(begin: Callable):
    words = ["a b", "", "$HOME", "it's", '"q"', "*", "back\\slash", "ü", "new\nline"]
    process = begin("run", "--", sys.executable, "-c", "import sys; print(sys.argv[1:])", *words)
    out, _ = process.communicate(timeout=60)
    assert out.decode().strip() == repr(words)


@pytest.mark.integration
def test_follow_after_a_portal_kill_is_complete(
    real: tuple[Portal, str], sdk: Client, begin: Callable, wait_for: Callable, shared_folder: Path
):
    go = shared_folder / "go"
    script = (
        f"for i in $(seq 1000); do echo line $i; done; while [ ! -e {go} ]; do sleep 0.1; done; "
        "for i in $(seq 1001 2000); do echo line $i; done"
    )
    process = begin("run", "--name", "long", "--", "bash", "-c", script)
    wait_for(lambda: next(iter(sdk.jobs.list(name="long", state="running")), None), seconds=30)
    assert process.stdout.readline() == b"line 1\n"
    real[0].kill()
    go.touch()
    real[0].start()
    out, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    assert b"line 1\n" + out == b"".join(b"line %d\n" % i for i in range(1, 2001))


@pytest.mark.integration
def test_follow_continues_into_an_automatic_retry(sdk: Client, shared_folder: Path):
    flag = shared_folder / "second"
    spec = {
        "run": f"if [ -e {flag} ]; then echo good; else touch {flag}; echo bad; exit 1; fi",
        "policy": {"retries": 1, "retry_on": ["user_error"], "backoff": 0},
    }
    job = sdk.jobs.submit(spec)
    assert b"".join(sdk.jobs.follow(job.number, attempt=None)).endswith(b"good\n")
    assert sdk.jobs.wait(job.number, timeout=60).return_code == 0
    assert [attempt.state for attempt in sdk.jobs.attempts(job.number)] == ["failed", "succeeded"]


@pytest.mark.integration
def test_follow_ends_for_a_job_canceled_before_start(sdk: Client):
    first = sdk.jobs.submit({"run": "sleep 60"})
    waiting = sdk.jobs.submit({"run": "true", "after": [first.number]})
    assert (sdk.jobs.pending(waiting.number) or {})["code"] == "dependency"
    sdk.jobs.cancel(waiting.number)
    assert b"".join(sdk.jobs.follow(waiting.number)) == b""
    sdk.jobs.cancel(first.number, "the test is over")
    assert sdk.jobs.wait(first.number, timeout=60).return_code == 130


@pytest.mark.integration
def test_job_reports_its_own_metrics(sdk: Client, wait_for: Callable, shared_folder: Path):
    shutil.copytree(ROOT / "client" / "muster", shared_folder / "muster")
    text = "import muster\nfor s in range(1500): muster.log(step=s, loss=1/(s+1))"
    job = sdk.jobs.submit(
        {"run": f"{sys.executable} -c '{text}'", "envs": {"PYTHONPATH": str(shared_folder)}}
    )
    assert sdk.jobs.wait(job.number, timeout=60).return_code == 0
    [curve] = sdk.jobs.metrics(job.number, names="loss")["training"]
    assert (curve["name"], curve["values"][0], curve["steps"][-1]) == ("loss", 1.0, 1499)


@pytest.mark.integration
def test_sbatch_script_is_submitted_and_rerun_with_a_change(sdk: Client):
    job = sdk.jobs.submit(
        yaml="#!/bin/bash\n#SBATCH --job-name=from-slurm\n#SBATCH --time=00:05:00\necho "
        "$SLURM_JOB_NAME\n"
    )
    assert b"".join(sdk.jobs.follow(job.number)) == b"from-slurm\n"
    again = sdk.jobs.rerun(job.number, {**job.raw["spec"], "name": "again"})
    assert b"".join(sdk.jobs.follow(again.number)) == b"again\n"


@pytest.mark.integration
def test_token_is_created_used_and_revoked(real: tuple[Portal, str], sdk: Client):
    made = sdk.tokens.create("for a test", ["jobs:read"], days=1)
    with Client(real[0].url, made["token"]) as other:
        assert other.me()["email"] == sdk.me()["email"]
        sdk.tokens.revoke(made["id"])
        with pytest.raises(NotAuthenticated):
            other.me()
    assert made["id"] not in [token["id"] for token in sdk.tokens.list()]


@pytest.mark.integration
def test_teams_quotas_and_nodes_are_listed(sdk: Client):
    sdk.teams.create("vision", "Vision")
    assert [team["slug"] for team in sdk.teams.list()] == ["default", "vision"]
    sdk.quotas.set("cpu", 64, team="vision")
    assert {
        (q["scope"], q["subject"], q["limit"])
        for q in sdk.quotas.list()
        if q["resource"] == "cpu" and q["limit"]
    } == {("team", "vision", 64.0)}
    sdk.quotas.set("cpu", None, team="vision")
    [node] = [node for node in sdk.nodes.list() if node["cluster"] == "local"]
    assert sdk.nodes.get(node["name"])["name"] == node["name"]
    with pytest.raises(NotFound):
        sdk.nodes.get("no-such-node")


@pytest.mark.integration
def test_model_goes_from_upload_to_download(begin: Callable, sdk: Client, tmp_path: Path):
    def muster(*words: str, code: int = 0) -> str:
        process = begin(*words)
        out, err = process.communicate(timeout=60)
        assert process.returncode == code, err
        return out.decode()

    source = tmp_path / "source"
    (source / "code").mkdir(parents=True)
    (source / ".git").mkdir()
    (source / ".git" / "config").write_text("left out")
    # Random bytes could begin as a pickle does, which nobody may approve
    (source / "weights #1.bin").write_bytes(b"weights" + os.urandom((3 << 20) - 7))
    (source / "code" / "empty.py").write_bytes(b"")
    assert "version 1" in muster(
        "model", "upload", "default/digits", "source", "--alias", "champion"
    )
    assert muster("model", "list", "-q").splitlines()[0].endswith("/digits")
    assert "@champion" in muster("model", "show", "default/digits")
    muster("model", "download", "default/digits@champion", "--to", "copy")
    for path in ("weights #1.bin", "code/empty.py"):
        assert (tmp_path / "copy" / path).read_bytes() == (source / path).read_bytes()
    assert not (tmp_path / "copy" / ".git").exists()
    (tmp_path / "copy" / "weights #1.bin").write_bytes(b"changed")
    sdk.models.download("default/digits", "1", tmp_path / "copy")
    assert (tmp_path / "copy" / "weights #1.bin").stat().st_size == 3 << 20
    assert sdk.models.change("default/digits", description="# Card")["summary"] == ""
    assert "requested" in muster(
        "model", "approve", "default/digits/1", "--acknowledge-pickles", "--request"
    )
    muster("model", "approve", "default/digits/1", code=4)  # the requester
    muster("model", "delete", "default/digits/1", "--yes", code=5)  # has an alias
    muster("model", "alias", "default/digits", "champion", "--remove")
    muster("model", "delete", "default/digits/1", "--yes")
    muster("model", "download", "default/digits/1", code=3)
    assert "trash" in muster("model", "delete", "default/digits")
