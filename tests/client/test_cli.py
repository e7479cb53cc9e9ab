"""What commands print, for people, as JSON and quiet, and how they end."""

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


def test_json_is_the_answer_of_the_api_as_it_is(portal: PortalDouble, muster: Muster):
    job = portal.add_job()
    assert json.loads(muster("job", "list", "--json").out) == {
        "items": [job],
        "next": None,
        "previous": None,
    }
    assert json.loads(muster("--json", "job", "info", "1").out)["spec"] == job["spec"]


def test_several_pages_are_one_document_with_where_to_go_on(portal: PortalDouble, muster: Muster):
    for _ in range(260):
        portal.add_job()
    told = json.loads(muster("job", "list", "--limit", "250", "--json").out)
    assert [job["number"] for job in told["items"]] == list(range(260, 10, -1))
    rest = json.loads(muster("job", "list", "--json", "--cursor", told["next"]).out)
    assert [job["number"] for job in rest["items"]] == list(range(10, 0, -1))


def test_quiet_prints_ids_only(portal: PortalDouble, muster: Muster):
    portal.add_job()
    portal.add_job()
    assert muster("job", "list", "-q").text == "2\n1\n"
    assert muster("-q", "run", "-d", "--", "true").text == "3\n"


def test_a_table_in_a_pipe_is_plain_and_whole(portal: PortalDouble, muster: Muster):
    portal.add_job(name="n" * 300)
    done = muster("job", "list")
    assert "n" * 300 in done.text
    assert "\x1b" not in done.text
    assert "running" in done.text


def test_a_name_can_neither_steer_the_terminal_nor_break_a_row(
    portal: PortalDouble, muster: Muster
):
    portal.add_job(name="\x1b[2Jevil\n[/red][bold]x")
    lines = muster("job", "list").text.splitlines()
    assert len(lines) == 2
    assert "[2Jevil [/red][bold]x" in lines[1]
    assert "\x1b" not in lines[1]


def test_an_empty_list_says_what_to_do(muster: Muster):
    assert "muster run -- " in muster("job", "list").text
    assert "To see all jobs" in muster("job", "list", "--state", "failed").text


def test_shared_options_count_wherever_they_stand(portal: PortalDouble, muster: Muster):
    portal.add_job()
    for words in (
        ["--json", "job", "info", "1"],
        ["job", "info", "--json", "1"],
        ["job", "info", "1", "--json"],
    ):
        assert json.loads(muster(*words).out)["number"] == 1


@pytest.mark.parametrize("dashes", [(), ("--",)])
def test_the_options_of_a_command_that_is_run_are_its_own(
    portal: PortalDouble, muster: Muster, dashes: tuple[str, ...]
):
    muster("run", "--detach", *dashes, "python", "train.py", "--json", "--team", "x", "-q", "a b")
    assert portal.posts("/jobs")[0].body == {
        "spec": {"name": "train.py", "run": "python train.py --json --team x -q 'a b'"}
    }
    muster("job", "exec", "1", *dashes, "nvidia-smi", "-q", "--json")
    assert portal.posts("/exec")[0].body["argv"] == ["nvidia-smi", "-q", "--json"]


def test_run_turns_its_options_into_a_spec(
    portal: PortalDouble, muster: Muster, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FROM_HERE", "yes")
    words = "--gpus 8 --gpu-type h100 --cpus 64 --memory 512Gi --image a/b:1 --name sft --env A=1=2 --env FROM_HERE --time 2h --team vision"
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
            "name": "sft", "run": "python x.py", "image": "a/b:1", "array": "0-9%2", "after": ["12:any"], "labels": {"p": "q"},
            "resources": {"accelerators": "h100:8", "cpus": "64", "memory": "512Gi"},
            "policy": {"max_runtime": "2h", "priority": "low"}, "envs": {"A": "1=2", "FROM_HERE": "yes"},
        },
    }  # fmt: skip


def test_one_word_with_spaces_is_a_line_of_shell(portal: PortalDouble, muster: Muster):
    muster("run", "-d", "--", "echo $HOME && ls")
    assert portal.posts("/jobs")[0].body["spec"]["run"] == "echo $HOME && ls"


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, 2), (401, 4), (403, 4), (404, 3), (409, 5), (413, 1), (418, 1), (501, 1)],
)
def test_the_exit_code_says_what_kind_of_error_it_was(
    portal: PortalDouble, muster: Muster, status: int, code: int
):
    portal.faults.append(Fault(status, "/quotas"))
    done = muster("quota", "list")
    assert (done.code, done.out) == (code, b"")
    assert "On demand." in done.err


def test_a_portal_that_is_away_ends_with_6(portal: PortalDouble, muster: Muster):
    portal.faults.extend(Fault(503, "/quotas") for _ in range(20))
    assert muster("--org", "atlas", "quota", "list").code == 6


def test_errors_in_json_are_problem_documents_on_standard_error(muster: Muster):
    done = muster("job", "info", "99", "--json")
    assert (done.code, done.out) == (3, b"")
    assert json.loads(done.err)["code"] == "not_found"
    usage = muster("job", "list", "--limit", "0", "--json")
    assert (usage.code, json.loads(usage.err)["code"]) == (2, "usage")


@pytest.mark.parametrize(
    "words",
    [["nothing"], ["job"], ["job", "list", "--no-such"], ["run"], ["run", "-e", "A", "--", "x"]],
)
def test_wrong_usage_ends_with_2_and_asks_nothing(
    portal: PortalDouble, muster: Muster, words: list[str]
):
    done = muster(*words)
    assert done.code == 2
    assert portal.asked == []


def test_a_file_with_faults_is_shown_with_lines_and_carets(
    portal: PortalDouble, muster: Muster, tmp_path: Path
):
    portal.spec_faults = [{"field": "run", "message": "is empty", "line": 2}]
    file = tmp_path / "job.yaml"
    file.write_text("name: x\nrun: ''\n")
    done = muster("job", "submit", str(file))
    assert done.code == 2
    assert f"{file}:2: run: is empty\n    2 | run: ''\n      |      ^^" in done.err
    assert json.loads(muster("job", "submit", str(file), "--json").err)["code"] == "invalid_spec"


def test_a_file_goes_as_it_is_and_standard_input_too(portal: PortalDouble, muster: Muster):
    text = "#!/bin/bash\n#SBATCH --time=1:00\nhostname\n"
    assert muster("job", "submit", "-", stdin=text).code == 0
    assert portal.posts("/jobs")[0].body == {"yaml": text}


def test_a_file_is_submitted_with_changes(portal: PortalDouble, muster: Muster):
    muster(
        "job", "submit", "-", "--set", "resources.cpus=4", "--set", "envs.A=2", stdin="run: true"
    )
    assert portal.posts("/jobs")[0].body == {
        "spec": {"run": "true", "envs": {"A": "2"}, "resources": {"cpus": "4"}}
    }


def test_rerun_with_a_change_sends_the_changed_spec(portal: PortalDouble, muster: Muster):
    portal.add_job("failed")
    assert muster("job", "rerun", "1", "--set", "resources.cpus=4").code == 0
    assert portal.posts("/rerun")[0].body["spec"] == {
        "name": "job-1",
        "run": "true",
        "resources": {"cpus": "4"},
    }


def test_a_rehearsal_that_says_no_ends_with_1(portal: PortalDouble, muster: Muster):
    done = muster("job", "submit", "-", "--dry-run", stdin="run: true")
    assert (done.code, done.text) == (1, "no   quota: Too much.\n\n#!/bin/sh\n")
    assert portal.jobs == {}


def test_logs_are_the_bytes_and_nothing_else(portal: PortalDouble, muster: Muster):
    whole = bytes(range(256)) * 3
    portal.add_job("succeeded", log=whole, complete=True)
    assert muster("job", "logs", "1").out == whole
    assert muster("job", "logs", "1", "--since-offset", "700").out == whole[700:]
    followed = muster("job", "logs", "-f", "1")
    assert followed.out == whole
    assert "complete, 768 bytes" in followed.err


@pytest.mark.parametrize("follow", [(), ("-f",)])
def test_timestamps_stand_before_each_line(
    portal: PortalDouble, muster: Muster, follow: tuple[str, ...]
):
    portal.add_job("succeeded", log=b"a\nbc\nd", complete=True)
    lines = muster("job", "logs", "1", "--timestamps", *follow).text.splitlines()
    assert lines == [
        "2026-11-21T00:07:08.000Z a",
        "2026-11-21T00:07:08.002Z bc",
        "2026-11-21T00:07:08.005Z d",
    ]


def test_logs_in_json_are_the_answer_of_the_api(portal: PortalDouble, muster: Muster):
    portal.add_job("succeeded", log=b"hi\n", complete=True)
    told = json.loads(muster("job", "logs", "-f", "1", "--json").out)
    assert (told["text"], told["complete"]) == ("hi\n", True)


def test_waiting_for_several_ends_as_the_first_that_failed(portal: PortalDouble, muster: Muster):
    portal.add_job("succeeded")
    portal.add_job("failed", exit_code=7)
    portal.add_job("canceled")
    assert muster("job", "wait", "1", "2", "3").code == 7
    assert muster("job", "wait", "1").code == 0


def test_pending_tells_reason_holders_and_change(portal: PortalDouble, muster: Muster):
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
    portal.add_job("queued", pending=answer)
    told = "Waits for 2 GPUs.\n  #7 holds 4 for 4 min\n  2 other jobs hold 3 GPUs\nAsk for 1.\nOr wait.\n"
    assert muster("job", "pending", "1").text == told
    info = muster("job", "info", "1").text
    assert "Ask for 1. Or wait." in info and "#7 holds 4; 2 other jobs hold 3 GPUs" in info
    portal.add_job("running")
    assert "is not pending" in muster("job", "pending", "2").text


def test_login_keeps_what_works_and_the_only_organization(
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


def test_login_with_a_wrong_token_keeps_nothing(portal: PortalDouble, muster: Muster):
    assert muster("login", portal.url, "--token", "mst_wrong").code == 4
    assert not settings.path().exists()


def test_config_never_shows_the_token_and_forgets_it_with_the_portal(
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
def test_completion_is_a_script_for_the_shell(muster: Muster, shell: str):
    assert "_MUSTER_COMPLETE" in muster("completion", shell).text
