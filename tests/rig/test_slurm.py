"""The rig's Slurm is a real one: what a backend relies on happens here, by the command line and by REST."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.rig import keeper
from tests.rig.environment import ROOT
from tests.rig.processes import Folder, RigFailure
from tests.rig.slurm import Slurm, start_cloud
from tests.rig.slurm_by_hand import words

FOREVER = "sleep 600"


@pytest.fixture(autouse=True)
def nothing_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """The Slurm is the session's: a test's jobs end with the test."""
    yield
    if "slurm" in request.fixturenames:
        slurm = request.getfixturevalue("slurm")
        slurm.run("scancel", "--full", "-s", "KILL", "-u", slurm.user)  # steps too: nobody waits for KillWait
        slurm.run("scancel", "-u", slurm.user)


def sbatch(slurm: Slurm, script: str, *options: str) -> str:
    """The id of a new batch job."""
    return slurm.run("sbatch", "--parsable", *options, user=slurm.user, input=f"#!/bin/sh\n{script}\n".encode()).strip()


def job(slurm: Slurm, key: str) -> dict[str, str]:
    """The job as slurmctld has it, by scontrol's names."""
    shown = slurm.run("scontrol", "show", "job", "-o", key)
    return dict(pair.split("=", 1) for pair in shown.split() if "=" in pair)


def output(slurm: Slurm, key: str) -> str:
    path = slurm.work / f"slurm-{key}.out"
    return path.read_text() if path.exists() else ""


def is_in(slurm: Slurm, key: str, *states: str):
    return lambda: job(slurm, key)["JobState"] in states


def accounted(slurm: Slurm, key: str, fields: str) -> list[str]:
    """The job's own row of sacct."""
    rows = slurm.run("sacct", "-n", "-P", "-X", "-j", key, "-o", fields).splitlines()
    return rows[0].split("|") if rows else []


def rest(slurm: Slurm, method: str, path: str, *, token: str = "", user: str = "root", **sent: object) -> httpx.Response:
    headers = {"X-SLURM-USER-NAME": user, "X-SLURM-USER-TOKEN": token or slurm.token()}
    return httpx.request(method, f"{slurm.rest_url}/slurm/v0.0.38{path}", headers=headers, timeout=20, **sent)  # type: ignore[arg-type]


def signed(key: bytes, **claims: object) -> str:
    """A JWT (HS256) made as a portal makes one."""

    def part(data: bytes) -> bytes:
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    body = b".".join(part(json.dumps(thing).encode()) for thing in ({"alg": "HS256", "typ": "JWT"}, claims))
    return (body + b"." + part(hmac.new(key, body, hashlib.sha256).digest())).decode()


def test_all_nodes_are_idle_and_both_partitions_are_there(slurm):
    rows = slurm.run("sinfo", "-h", "-o", "%P %D %t %c %m %G").splitlines()
    assert rows == ["batch* 4 idle 8 16000 gpu:h100:4", "debug 1 idle 8 16000 gpu:h100:4"]


def test_a_batch_job_sees_the_gpus_it_asked_for_and_ends_in_sacct(slurm, wait_for):
    key = sbatch(slurm, "echo $CUDA_VISIBLE_DEVICES; id -un; exit 3", "--gres=gpu:2")
    assert wait_for(is_in(slurm, key, "FAILED"))
    assert output(slurm, key) == f"0,1\n{slurm.user}\n"
    assert wait_for(lambda: accounted(slurm, key, "State,ExitCode,Account") == ["FAILED", "3:0", "atlas"])
    assert "gres/gpu=2" in accounted(slurm, key, "AllocTRES")[0]


def test_two_jobs_on_one_node_get_different_gpus(slurm, wait_for):
    keys = [sbatch(slurm, f"echo $CUDA_VISIBLE_DEVICES; {FOREVER}", "--gres=gpu:h100:1", "-w", "n1") for _ in "ab"]
    assert wait_for(lambda: {output(slurm, key) for key in keys} == {"0\n", "1\n"})


def test_a_job_by_rest_runs_as_the_user_it_names(slurm, wait_for):
    spec = {
        "name": "by-rest",
        "gres": "gpu:h100:1",
        "environment": {"PATH": "/usr/bin:/bin", "WHO": "rest"},
        "current_working_directory": str(slurm.work),
    }
    body = {"job": spec, "script": "#!/bin/sh\necho $WHO $CUDA_VISIBLE_DEVICES; id -un\n"}
    answer = rest(slurm, "POST", "/job/submit", user=slurm.user, json=body)
    assert answer.status_code == 200, answer.text
    key = str(answer.json()["job_id"])
    assert wait_for(lambda: rest(slurm, "GET", f"/job/{key}").json()["jobs"][0]["job_state"] == "COMPLETED")
    assert output(slurm, key) == f"rest 0\n{slurm.user}\n"


def test_an_unknown_key_is_refused_by_its_name(slurm):
    spec = {"environment": {"A": "b"}, "colour": "green", "current_working_directory": "/tmp"}
    answer = rest(slurm, "POST", "/job/submit", json={"job": spec, "script": "#!/bin/sh\n"})
    assert answer.status_code == 400
    assert "colour" in answer.text


def test_a_token_counts_until_it_expires_and_only_with_the_right_key(slurm):
    key, now = slurm.jwt_key.read_bytes(), int(time.time())
    tokens = {
        "good": signed(key, exp=now + 60, iat=now, sun="root"),
        "expired": signed(key, exp=now - 5, iat=now - 60, sun="root"),
        "forged": signed(b"another key", exp=now + 60, iat=now, sun="root"),
    }
    answers = {name: rest(slurm, "GET", "/partitions", token=token) for name, token in tokens.items()}
    assert {row["name"] for row in answers["good"].json()["partitions"]} == set(slurm.partitions)
    for name in ("expired", "forged"):  # this version says no more than 500 for either
        assert answers[name].status_code == 500
        assert answers[name].json()["errors"] and not answers[name].json()["partitions"]



def test_srun_starts_one_task_on_each_of_two_nodes(slurm):
    said = slurm.run("srun", "-N2", "sh", "-c", "echo $SLURMD_NODENAME $SLURM_PROCID of $SLURM_NTASKS", user=slurm.user)
    assert sorted(said.splitlines()) == ["n1 0 of 2", "n2 1 of 2"]


def test_an_array_has_a_task_for_each_index(slurm, wait_for):
    key = sbatch(slurm, "echo task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_JOB_ID", "--array=0-2")
    for index in range(3):
        assert wait_for(lambda index=index: output(slurm, f"{key}_{index}") == f"task {index} of {key}\n")


def test_a_job_waits_for_the_one_it_depends_on(slurm, wait_for):
    first = sbatch(slurm, "while [ ! -e go ]; do sleep 0.1; done")
    second = sbatch(slurm, "echo after", f"--dependency=afterok:{first}")
    never = sbatch(slurm, "echo never", f"--dependency=afternotok:{first}", "--kill-on-invalid-dep=no")
    assert wait_for(lambda: job(slurm, second)["Reason"] == "Dependency")
    (slurm.work / "go").touch()
    assert wait_for(lambda: output(slurm, second) == "after\n")
    assert wait_for(lambda: job(slurm, never)["Reason"] == "DependencyNeverSatisfied")


def test_a_requeued_job_keeps_its_key_and_runs_again(slurm, wait_for):
    key = sbatch(slurm, f"echo run $SLURM_RESTART_COUNT; {FOREVER}", "--requeue", "--open-mode=append")
    assert wait_for(lambda: "run" in output(slurm, key))
    slurm.run("scontrol", "requeue", key)
    assert wait_for(is_in(slurm, key, "PENDING"))
    assert wait_for(lambda: "run 1\n" in output(slurm, key), seconds=40)


def test_a_job_of_the_higher_qos_preempts_by_requeue(slurm, wait_for):
    low = sbatch(slurm, FOREVER, "-w", "n4", "--exclusive", "--qos=normal")
    assert wait_for(is_in(slurm, low, "RUNNING"))
    high = sbatch(slurm, FOREVER, "-w", "n4", "--exclusive", "--qos=high")
    assert wait_for(is_in(slurm, high, "RUNNING"), seconds=20)
    after = job(slurm, low)
    assert (after["JobState"], after["Restarts"]) == ("PENDING", "1")


def test_a_limit_of_the_account_is_the_reason_a_job_waits(slurm, wait_for):
    slurm.run("sacctmgr", "-i", "modify", "account", "borealis", "set", "GrpTRES=gres/gpu=1")
    try:
        held = [sbatch(slurm, FOREVER, "--gres=gpu:1", "-A", "borealis") for _ in "ab"]
        assert wait_for(is_in(slurm, held[0], "RUNNING"))
        assert wait_for(lambda: job(slurm, held[1])["Reason"] == "AssocGrpGRES")
        assert job(slurm, held[1])["JobState"] == "PENDING"
    finally:
        slurm.run("sacctmgr", "-i", "modify", "account", "borealis", "set", "GrpTRES=gres/gpu=-1")
    assert wait_for(is_in(slurm, held[1], "RUNNING"))


def test_an_account_the_user_is_not_in_is_refused(slurm):
    with pytest.raises(RigFailure, match="Invalid account or account/partition combination"):
        sbatch(slurm, "true", "-A", "cygnus")


def test_a_job_is_warned_before_its_time_is_over(slurm, wait_for):
    script = 'trap "echo warned; exit 0" USR1\necho ready\nwhile :; do sleep 0.1; done'
    key = sbatch(slurm, script, "--time=1", "--signal=B:USR1@58")
    assert wait_for(is_in(slurm, key, "COMPLETED"), seconds=50)  # slurmctld looks at limits every 30 s
    assert output(slurm, key) == "ready\nwarned\n"


def test_a_running_job_outlives_the_controller(slurm, wait_for):
    key = sbatch(slurm, f"echo started; {FOREVER}")
    assert wait_for(lambda: output(slurm, key) == "started\n")
    held = sbatch(slurm, "true", "--hold")
    slurm.save()
    slurm.kill_controller()
    with pytest.raises(RigFailure, match="Unable to contact slurm controller"):
        slurm.run("squeue")
    slurm.start_controller()
    assert job(slurm, key)["JobState"] == "RUNNING"
    assert job(slurm, held)["Reason"] == "JobHeldUser"
    slurm.run("scancel", key)
    assert wait_for(lambda: accounted(slurm, key, "State")[:1] == ["CANCELLED by 0"])


def test_slurmrestd_comes_back_at_the_same_address(slurm):
    slurm.stop_rest()
    with pytest.raises(httpx.ConnectError):
        rest(slurm, "GET", "/ping")
    slurm.start_rest()
    assert rest(slurm, "GET", "/ping").status_code == 200


def test_the_words_for_a_person_name_this_slurm(slurm):
    assert f"SLURM_CONF={slurm.conf}" in words(slurm)
    assert slurm.rest_url in words(slurm)


def test_a_cloud_has_2000_nodes_and_wakes_what_a_job_needs(wait_for):
    folder = Folder()
    try:
        cloud = start_cloud(folder)
        assert cloud.run("sinfo", "-h", "-p", "batch", "-o", "%D %t %G").strip() == "2000 idle~ gpu:h100:8"
        key = sbatch(cloud, "true", "-N2", "--gres=gpu:8")
        assert wait_for(lambda: job(cloud, key)["NodeList"] == "e[0001-0002]", seconds=60)
        assert wait_for(lambda: cloud.run("sinfo", "-h", "-n", "e0001", "-p", "batch", "-o", "%t").strip() in {"mix", "alloc"}, seconds=60)
    finally:
        folder.close()
    assert not keeper.marked(str(cloud.home))


def test_nothing_of_a_slurm_outlives_a_killed_starter(wait_for):
    code = (
        "import os, signal; from tests.rig.processes import Folder; from tests.rig.slurm import start_slurm\n"
        "slurm = start_slurm(Folder(), nodes=1, accounting=False, rest=False)\n"
        "slurm.run('sbatch', '--wrap', 'setsid sleep 600 & touch running; sleep 600', user=slurm.user)\n"
        "from tests.rig.processes import wait_until; wait_until((slurm.work / 'running').exists, 'the job runs')\n"
        "print(slurm.home, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    home = done.stdout.strip()
    assert home, done.stderr
    assert wait_for(lambda: not keeper.marked(home))
    shutil.rmtree(Path(home).parent)
