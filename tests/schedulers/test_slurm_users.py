"""Test teams with their own user, account and QOS from the grant of a pool, on a real Slurm."""

from __future__ import annotations

import time

import pytest

from schedulers import backends
from schedulers.contract import Identity, Rejected
from schedulers.slurm.commands import Commands
from schedulers.slurm.rest import signed
from schedulers.slurm.transport import LocalTransport
from schedulers.states import Reason, State
from tests.rig.slurm_cluster import SECOND_USER
from tests.schedulers.conftest import MAKERS, SLURM, Stage
from tests.schedulers.test_slurm_options import shown

NEWS = Identity(user=SECOND_USER, account="borealis", qos="high")


@pytest.fixture
def both(stage):
    """The stage, with a second user that teams may run as."""
    stage.options["users"] = [SECOND_USER]
    stage.backend = stage.again()
    return stage


@SLURM
def test_team_runs_as_own_user_and_account(both, slurm):
    other = both.submit("sleep 60").key
    key = both.submit("id -un; sleep 60", run_as=NEWS).key
    both.logged(key, f"{SECOND_USER}\n".encode())
    job = shown(slurm, both, key)
    assert (job["UserId"].partition("(")[0], job["Account"], job["QOS"]) == (
        SECOND_USER,
        "borealis",
        "high",
    )
    assert shown(slurm, both, other)["UserId"].startswith(slurm.user)
    assert {o.key for o in both.backend.poll([key, other]).observations} == {key, other}


@SLURM
def test_job_of_other_user_is_found_canceled_and_started_once(both):
    launch = both.launch(
        "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.1; done",
        run_as=NEWS,
        grace=5.0,
    )
    first = both.backend.submit(launch)
    both.logged(launch.key, b"up")
    assert both.again().submit(launch) == first
    both.backend.cancel(launch.key, 5)
    seen = both.ended(launch.key)
    assert seen.reason == Reason.CANCELED and both.log(launch.key).endswith(b"bye\n")
    again = both.submit("sleep 60", run_as=NEWS).key
    both.wait_for(lambda: both.look(again).state == State.RUNNING)
    both.backend.cancel(again, 0)
    assert both.ended(again).reason == Reason.CANCELED


@SLURM
def test_team_cannot_read_files_of_other_team(both):
    key = both.submit("echo secret; sleep 60", run_as=NEWS).key
    both.logged(key, b"secret")
    _, log = both.run(f"cat {both.path}/spool/{key}/output.log {both.path}/spool/{key}/variables")
    assert b"secret" not in log and log.count(b"Permission denied") == 2


@SLURM
def test_account_without_team_user_is_rejected_by_slurm(both):
    with pytest.raises(Rejected, match="Invalid account") as caught:
        both.submit("true", run_as=Identity(SECOND_USER, "atlas"))
    assert caught.value.field == "account"


@SLURM
def test_job_cannot_override_grant_settings(both, slurm):
    both.options["may_choose"] = ["account"]
    both.backend = both.again()
    key = both.submit(
        "sleep 60", run_as=Identity(account="borealis"), native={"account": "atlas"}
    ).key
    assert shown(slurm, both, key)["Account"] == "borealis"


@SLURM
@pytest.mark.parametrize("user", ["root", "daemon"])
def test_unlisted_user_is_rejected(both, user):
    with pytest.raises(Rejected) as caught:
        both.backend.check_identity(Identity(user=user))
    assert caught.value.field == "user"
    with pytest.raises(Rejected):
        both.submit("true", run_as=Identity(user=user))


@SLURM
def test_probe_checks_every_user(both):
    assert both.backend.probe().is_ok
    both.options["users"] = ["no-such-user"]
    probe = both.again().probe()
    assert not probe.is_ok and "no-such-user" in probe.message


@pytest.mark.integration
def test_user_token_cannot_act_for_others(place, request, slurm):
    token = signed(slurm.jwt_key.read_bytes(), slurm.user, int(time.time()), 600)
    given = {
        **MAKERS["slurm-rest"](place, request),
        "rest_key": "",
        "rest_token": token,
        "users": [SECOND_USER],
    }
    probe = backends()["slurm"].configured(given).probe()
    assert not probe.is_ok and "speaks for one user" in probe.message


@pytest.mark.integration
def test_root_token_submits_as_listed_user(stage_by_root):
    seen, log = stage_by_root.run("id -un", run_as=NEWS)
    assert (seen.reason, log) == (Reason.COMPLETED, f"{SECOND_USER}\n".encode())


@pytest.fixture
def stage_by_root(request, place, wait_for, slurm):
    given = {
        **MAKERS["slurm-rest"](place, request),
        "rest_key": "",
        "rest_token": slurm.token("root"),
        "rest_user": "root",
        "users": [SECOND_USER],
    }
    return Stage(backends()["slurm"], given, place, wait_for)


def test_non_root_uses_sudo_with_slurm_variables():
    client = Commands(
        LocalTransport({"PATH": "/bin", "SLURM_CONF": "/etc/slurm.conf"}), "portal", ("ada",)
    )
    assert client._as("ada", ["scancel", "7"]) == [
        "sudo",
        "-n",
        "-u",
        "ada",
        "--",
        "env",
        "PATH=/bin",
        "SLURM_CONF=/etc/slurm.conf",
        "scancel",
        "7",
    ]
    assert (
        client._as("portal", ["scancel", "7"])
        == client._as("", ["scancel", "7"])
        == ["scancel", "7"]
    )
    assert Commands(LocalTransport({}), "portal", ("ada",), is_root=True)._as(
        "ada", ["scancel", "7"]
    ) == [
        "scancel",
        "7",
    ]
