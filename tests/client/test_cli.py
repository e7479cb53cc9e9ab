"""Test `muster` output for people, as JSON and with --quiet, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from muster import settings
from tests.client.conftest import Done
from tests.client.portal_double import TOKEN, Fault, PortalDouble

Muster = Callable[..., Done]


def test_json_prints_the_api_answer_unchanged(portal: PortalDouble, muster: Muster):
    job = portal.add_job()
    assert json.loads(muster("job", "list", "--json").out) == {
        "items": [job],
        "next": None,
        "previous": None,
    }
    assert json.loads(muster("--json", "job", "info", "1").out)["spec"] == job["spec"]


def test_job_list_merges_pages_and_keeps_the_cursor(portal: PortalDouble, muster: Muster):
    for _ in range(260):
        portal.add_job()
    data = json.loads(muster("job", "list", "--limit", "250", "--json").out)
    assert [job["number"] for job in data["items"]] == list(range(260, 10, -1))
    rest = json.loads(muster("job", "list", "--json", "--cursor", data["next"]).out)
    assert [job["number"] for job in rest["items"]] == list(range(10, 0, -1))


def test_quiet_prints_ids_only(portal: PortalDouble, muster: Muster):
    portal.add_job()
    portal.add_job()
    assert muster("job", "list", "-q").text == "2\n1\n"
    assert muster("-q", "run", "-d", "--", "true").text == "3\n"


def test_table_in_a_pipe_is_plain_and_not_cut(portal: PortalDouble, muster: Muster):
    portal.add_job(name="n" * 300)
    done = muster("job", "list")
    assert "n" * 300 in done.text
    assert "\x1b" not in done.text
    assert "running" in done.text


def test_job_name_with_control_characters_is_sanitized(portal: PortalDouble, muster: Muster):
    portal.add_job(name="\x1b[2Jevil\n[/red][bold]x")
    lines = muster("job", "list").text.splitlines()
    assert len(lines) == 2
    assert "[2Jevil [/red][bold]x" in lines[1]
    assert "\x1b" not in lines[1]


def test_empty_list_suggests_a_command(muster: Muster):
    assert "muster run -- " in muster("job", "list").text
    assert "To see all jobs" in muster("job", "list", "--state", "failed").text


def test_shared_options_are_accepted_in_any_position(portal: PortalDouble, muster: Muster):
    portal.add_job()
    for words in (
        ["--json", "job", "info", "1"],
        ["job", "info", "--json", "1"],
        ["job", "info", "1", "--json"],
    ):
        assert json.loads(muster(*words).out)["number"] == 1


@pytest.mark.parametrize("dashes", [(), ("--",)])
def test_run_passes_options_after_the_command_to_it(
    portal: PortalDouble, muster: Muster, dashes: tuple[str, ...]
):
    muster("run", "--detach", *dashes, "python", "train.py", "--json", "--team", "x", "-q", "a b")
    assert portal.posts("/jobs")[0].body == {
        "spec": {"name": "train.py", "run": "python train.py --json --team x -q 'a b'"}
    }
    muster("job", "exec", "1", *dashes, "nvidia-smi", "-q", "--json")
    assert portal.posts("/exec")[0].body["argv"] == ["nvidia-smi", "-q", "--json"]


def test_run_options_become_a_spec(
    portal: PortalDouble, muster: Muster, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FROM_HERE", "yes")
    words = (
        "--gpus 8 --gpu-type h100 --cpus 64 --memory 512Gi --image a/b:1 --name sft --env A=1=2 "
        "--env FROM_HERE --time 2h --team vision --experiment sweep"
    )
    muster(
        "run",
        *words.split(),
        *[
            "--priority",
            "low",
            "--array",
            "0-9%2",
            "--after",
            "12:any",
            "--label",
            "p=q",
            "-d",
            "--",
            "python",
            "x.py",
        ],
    )
    assert portal.posts("/jobs")[0].body == {
        "team": "vision",
        "spec": {
            "name": "sft",
            "experiment": "sweep",
            "run": "python x.py",
            "image": "a/b:1",
            "array": "0-9%2",
            "after": ["12:any"],
            "labels": {"p": "q"},
            "resources": {"accelerators": "h100:8", "cpus": "64", "memory": "512Gi"},
            "policy": {"max_runtime": "2h", "priority": "low"},
            "envs": {"A": "1=2", "FROM_HERE": "yes"},
        },
    }


def test_run_single_argument_with_spaces_is_a_shell_line(portal: PortalDouble, muster: Muster):
    muster("run", "-d", "--", "echo $HOME && ls")
    assert portal.posts("/jobs")[0].body["spec"]["run"] == "echo $HOME && ls"


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, 2), (401, 4), (403, 4), (404, 3), (409, 5), (413, 1), (418, 1), (501, 1)],
)
def test_exit_code_reflects_the_http_status(
    portal: PortalDouble, muster: Muster, status: int, code: int
):
    portal.faults.append(Fault(status, "/quotas"))
    done = muster("quota", "list")
    assert (done.code, done.out) == (code, b"")
    assert "On demand." in done.err


def test_error_of_the_portal_shows_its_request_id(portal: PortalDouble, muster: Muster):
    portal.faults.append(Fault(501, "/quotas", headers={"X-Request-ID": "r-17"}))
    assert "Request ID: r-17" in muster("quota", "list").err


def test_unavailable_portal_exits_with_6(portal: PortalDouble, muster: Muster):
    portal.faults.extend(Fault(503, "/quotas") for _ in range(20))
    assert muster("--org", "atlas", "quota", "list").code == 6


def test_json_errors_are_problem_documents_on_stderr(muster: Muster):
    done = muster("job", "info", "99", "--json")
    assert (done.code, done.out) == (3, b"")
    assert json.loads(done.err)["code"] == "not_found"
    usage = muster("job", "list", "--limit", "0", "--json")
    assert (usage.code, json.loads(usage.err)["code"]) == (2, "usage")


@pytest.mark.parametrize(
    "words",
    [["nothing"], ["job"], ["job", "list", "--no-such"], ["run"], ["run", "-e", "A", "--", "x"]],
)
def test_invalid_usage_exits_with_2_without_requests(
    portal: PortalDouble, muster: Muster, words: list[str]
):
    done = muster(*words)
    assert done.code == 2
    assert portal.asked == []


def test_submit_invalid_file_shows_lines_and_carets(
    portal: PortalDouble, muster: Muster, tmp_path: Path
):
    portal.spec_faults = [{"field": "run", "message": "is empty", "line": 2}]
    file = tmp_path / "job.yaml"
    file.write_text("name: x\nrun: ''\n")
    done = muster("job", "submit", str(file))
    assert done.code == 2
    assert f"{file}:2: run: is empty\n    2 | run: ''\n      |      ^^" in done.err
    assert json.loads(muster("job", "submit", str(file), "--json").err)["code"] == "invalid_spec"


def test_submit_sends_file_and_stdin_unchanged(portal: PortalDouble, muster: Muster):
    text = "#!/bin/bash\n#SBATCH --time=1:00\nhostname\n"
    assert muster("job", "submit", "-", stdin=text).code == 0
    assert portal.posts("/jobs")[0].body == {"yaml": text}


def test_submit_with_set_sends_the_changed_spec(portal: PortalDouble, muster: Muster):
    muster(
        "job", "submit", "-", "--set", "resources.cpus=4", "--set", "envs.A=2", stdin="run: true"
    )
    assert portal.posts("/jobs")[0].body == {
        "spec": {"run": "true", "envs": {"A": "2"}, "resources": {"cpus": "4"}}
    }


def test_rerun_with_set_sends_the_changed_spec(portal: PortalDouble, muster: Muster):
    portal.add_job("failed")
    assert muster("job", "rerun", "1", "--set", "resources.cpus=4").code == 0
    assert portal.posts("/rerun")[0].body["spec"] == {
        "name": "job-1",
        "run": "true",
        "resources": {"cpus": "4"},
    }


def test_rerun_with_set_env_changes_one_variable(portal: PortalDouble, muster: Muster):
    portal.add_job("failed")
    assert muster("job", "rerun", "1", "--set", "env.LR=3e-4").code == 0
    assert portal.posts("/rerun")[0].body["spec"]["envs"] == {"LR": "3e-4"}


def test_dry_run_that_fails_exits_with_1(portal: PortalDouble, muster: Muster):
    done = muster("job", "submit", "-", "--dry-run", stdin="run: true")
    assert (done.code, done.text) == (1, "no   quota: Too much.\n\n#!/bin/sh\n")
    assert portal.jobs == {}


def test_logs_prints_exact_bytes(portal: PortalDouble, muster: Muster):
    whole = bytes(range(256)) * 3
    portal.add_job("succeeded", log=whole, complete=True)
    assert muster("job", "logs", "1").out == whole
    assert muster("job", "logs", "1", "--since-offset", "700").out == whole[700:]
    followed = muster("job", "logs", "-f", "1")
    assert followed.out == whole
    assert followed.err == "The log is complete: 768 bytes.\n"


@pytest.mark.parametrize("follow", [(), ("-f",)])
def test_logs_timestamps_prefix_each_line(
    portal: PortalDouble, muster: Muster, follow: tuple[str, ...]
):
    portal.add_job("succeeded", log=b"a\nbc\nd", complete=True)
    lines = muster("job", "logs", "1", "--timestamps", *follow).text.splitlines()
    assert lines == [
        "2026-11-21T00:07:08.000Z a",
        "2026-11-21T00:07:08.002Z bc",
        "2026-11-21T00:07:08.005Z d",
    ]


def test_logs_json_prints_the_api_answer(portal: PortalDouble, muster: Muster):
    portal.add_job("succeeded", log=b"hi\n", complete=True)
    data = json.loads(muster("job", "logs", "-f", "1", "--json").out)
    assert (data["text"], data["complete"]) == ("hi\n", True)


def test_wait_exits_with_the_first_failure(portal: PortalDouble, muster: Muster):
    portal.add_job("succeeded")
    portal.add_job("failed", exit_code=7)
    portal.add_job("canceled")
    assert muster("job", "wait", "1", "2", "3").code == 7
    assert muster("job", "wait", "1").code == 0


def test_pending_shows_reason_start_holders_and_suggestions(portal: PortalDouble, muster: Muster):
    since = (datetime.now(UTC) - timedelta(minutes=4)).isoformat()
    held = [
        {"text": "#7 holds 4", "since": since},
        {"text": "2 other jobs hold 3 GPUs", "since": None},
    ]
    answer = {
        "code": "capacity",
        "text": "Waits for 2 GPUs.",
        "holders": held,
        "change": {"text": "Ask for 1."},
        "advice": "Or wait.",
    }
    command = "muster job rerun 1 --set resources.accelerators=1"
    offer = {"label": "Use 1 GPU", "text": "", "changes": {}, "page": "", "command": command}
    start = {"text": "Starts about 14:20 UTC, if running jobs use their whole time limits."}
    portal.add_job("queued", pending=answer, expected_start=start, suggestions=[offer])
    result = (
        f"Waits for 2 GPUs.\n{start['text']}\n  #7 holds 4 for 4 min\n  2 other jobs hold 3 GPUs\n"
        f"Or wait.\nUse 1 GPU: {command}\n"
    )
    assert muster("job", "pending", "1").text == result
    info = muster("job", "info", "1").text
    assert start["text"] in info and command in info
    assert "Ask for 1. Or wait." in info and "#7 holds 4; 2 other jobs hold 3 GPUs" in info
    portal.add_job("running")
    assert "is not pending" in muster("job", "pending", "2").text


def test_login_stores_token_and_only_organization(
    portal: PortalDouble, muster: Muster, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MUSTER_URL")
    monkeypatch.delenv("MUSTER_TOKEN")
    assert muster("login", portal.url, "--with-token", stdin=f"{TOKEN}\n").code == 0
    assert settings.kept_settings() == settings.Settings(portal.url, TOKEN, "atlas")
    assert "ada@atlas.example" in muster("whoami").text
    assert muster("logout").code == 0
    assert settings.kept_settings() == settings.Settings(portal.url, "", "atlas")
    assert muster("whoami").code == 4


def test_login_with_a_wrong_token_stores_nothing(portal: PortalDouble, muster: Muster):
    assert muster("login", portal.url, "--token", "mst_wrong").code == 4
    assert not settings.path().exists()


def test_config_hides_the_token_and_clears_it_with_the_url(
    portal: PortalDouble, muster: Muster, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MUSTER_URL")
    monkeypatch.delenv("MUSTER_TOKEN")
    settings.save(settings.Settings(portal.url, "mst_secret_secret", "atlas"))
    assert "secret_secret" not in muster("config").text
    assert muster("config", "team", "vision", "--json").text == '{\n  "team": "vision"\n}\n'
    muster("config", "url", "http://other.example")
    assert settings.kept_settings() == settings.Settings("http://other.example")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_per_shell(muster: Muster, shell: str):
    assert "_MUSTER_COMPLETE" in muster("completion", shell).text


@pytest.mark.parametrize(
    ("resource", "amount", "words"),
    [
        ("gpu", "64Gi", "gpu has no unit Gi"),
        ("cpu", "500m", "cpu has no unit m"),
        ("memory", "64", "64 would be 64 bytes of memory. Use a size such as 64Gi"),
        ("storage", "1e3", "Invalid amount 1e3"),
        ("jobs", "many", "Use a number such as 8, or none"),
    ],
)
def test_quota_in_a_unit_that_does_not_fit_is_refused(
    portal: PortalDouble, muster: Muster, resource: str, amount: str, words: str
):
    done = muster("quota", "set", resource, amount, "--team", "vision")
    assert (done.code, words in done.err) == (2, True), done.err
    assert not [one for one in portal.asked if one.method != "GET"]
