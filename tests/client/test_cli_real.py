"""Test `muster` as a process against a real portal: bytes, exit codes and JSON documents."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest
import typer

from muster import Client
from muster.cli import app, groups
from tests.cases import CASES
from tests.rig.environment import ROOT
from tests.rig.portal import EMAIL, Portal
from tests.rig.processes import Folder, wait_until

pytestmark = pytest.mark.integration
FILES = {  # of `dataset` and `checkpoint`
    "upload": ["job.yaml", "cifar", "-m", "One file"],
    "create": ["fresh"],
    "list": [],
    "info": ["cifar"],
    "versions": ["cifar"],
    "files": ["cifar@1"],
    "diff": ["cifar"],
    "tag": ["cifar@1", "v1"],
    "share": ["cifar", "lenders"],
    "download": ["cifar@v1", "copy"],
    "import": ["https://example.com/a.csv", "cifar", "-d"],
    "imports": ["cifar"],
    "retention": ["cifar", "--keep-last", "1"],
    "default-retention": ["--keep-last", "1"],
    "space": ["cifar"],
    "delete": ["cifar"],
    "restore": ["cifar"],
    "purge": ["gone", "--yes"],
}
UNTIL = f"{date.today() + timedelta(days=90)}"
NO_PLAN = "00000000-0000-7000-8000-000000000000"  # of MIG
# Arguments of every command. {running}, {ended} and {waiting} are jobs in that state; {spare} may be
# stopped.
LEAVES = {
    "run": ["-d", "--", "true"],
    "job submit": ["{file}"],
    "job list": [],
    "job info": ["{ended}"],
    "job cancel": ["{spare}"],
    "job hold": ["{waiting}"],
    "job release": ["{waiting}"],
    "job rerun": ["{ended}"],
    "job wait": ["{ended}"],
    "job attach": ["{ended}"],
    "job exec": ["{running}", "--", "echo", "hi"],
    "job open": ["{ended}"],
    "job compare": ["{ended}", "{running}"],
    "job logs": ["{ended}"],
    "job pending": ["{waiting}"],
    "job events": ["{ended}"],
    "job metrics": ["{ended}"],
    "job outputs": ["{ended}"],
    "lineage": ["job:{ended}"],
    "job delete-logs": ["{ended}", "--yes"],
    "idle": [],
    "usage": ["--range", "24h"],
    "cost show": [],
    "cost set-budget": ["5000"],
    "cost budgets": [],
    "cost set-price": ["gpu", "2.50"],
    "cost prices": [],
    "statement issue": ["2025-12"],
    "statement list": [],
    "statement show": ["2025-12"],
    "statement download": ["2025-12", "--as", "csv"],
    "job keep": ["{running}", "2h"],
    "notifications list": ["--unread"],
    "notifications read": [],
    "notifications settings": ["--on", "job_succeeded.email", "--quiet-hours", "22:00-07:00"],
    "notification-channel list": [],
    "notification-channel add": ["slack", "https://hooks.example.org/x", "--for-team", "default"],
    "notification-channel change": ["{channel}", "--disable"],
    "notification-channel test": ["{channel}"],
    "notification-channel log": ["{channel}"],
    "notification-channel redeliver": ["{channel}", "{delivery}"],
    "notification-channel delete": ["{channel}"],
    "tensorboard sync": ["--once"],  # refused: it works in a job only
    "experiment create": ["digits"],
    "experiment list": [],
    "experiment show": ["digits"],
    "experiment delete": ["digits"],
    "experiment restore": ["{experiment}"],
    "experiment import": ["{url}/mlflow/home/default", "-e", "curves"],
    "runs list": ["-e", "curves"],
    "runs show": ["{run}"],
    "runs log": ["{run}", "loss=0.2", "--step", "2", "--param", "lr=0.1"],
    "runs metrics": ["{run}", "loss"],
    "runs upload": ["{run}", "job.yaml"],
    "runs artifacts": ["{run}"],
    "runs download": ["{run}", "--to", "copy"],
    "runs compare": ["{run}", "#{ended}"],
    "runs reproduce": ["#{ended}"],
    "org list": [],
    "org create": ["globex", "--owner", "gil@globex.example"],
    "team list": [],
    "team info": ["default"],
    "team members": ["default"],
    "team create": ["vision"],
    "team add": ["vision", "ben@atlas.example"],
    "team remove": ["vision", "ben@atlas.example"],
    "member list": [],
    "member add": ["cyd@atlas.example"],
    "member change": ["ben@atlas.example", "--role", "admin"],
    "member remove": ["cyd@atlas.example"],
    "role list": [],
    "role create": ["trainer", "--for", "team", "-p", "jobs:read"],
    "role edit": ["trainer", "-p", "jobs:read", "-p", "jobs:submit"],
    "role delete": ["trainer"],
    "access why": ["ben@atlas.example", "jobs:submit"],
    "quota list": [],
    "quota show": [],
    "quota set": ["jobs", "1000"],
    "quota storage": [],
    "quota request": ["jobs", "2000", "--job", "#{waiting}", "--why", "a sweep"],
    "quota requests": [],
    "quota approve": ["{approved}", "-m", "until Friday"],
    "quota decline": ["{declined}"],
    "quota withdraw": ["{withdrawn}"],
    "quota rules": ["default"],
    "approval list": [],
    "approval show": ["quota/{listed_approved}"],
    "approval approve": ["quota/{listed_approved}", "-m", "until Friday"],
    "approval decline": ["quota/{listed_declined}"],
    "approval withdraw": ["quota/{listed_withdrawn}"],
    "approval comment": ["quota/{listed_declined}", "Why so many?"],
    "model upload": ["default/digits", "job.yaml", "--alias", "champion"],
    "model register": ["default/digits", "runs:/{run}/model"],
    "model list": [],
    "model show": ["default/digits"],
    "model download": ["default/digits@champion", "--to", "weights"],
    "model alias": ["default/digits", "canary", "1"],
    "model approve": ["default/digits/1", "--request"],
    "model promote": ["default/digits/1", "vision"],
    "model delete": ["default/digits/2", "--yes"],
    "token list": [],
    "token create": ["a test"],
    "token rotate": ["{token}"],
    "token revoke": ["{token}"],
    "service-account create": ["nightly", "--note", "builds"],
    "service-account list": [],
    "service-account token": ["nightly", "ci", "--from", "127.0.0.0/8"],
    "service-account tokens": ["nightly"],
    "service-account delete": ["nightly"],
    "invitation create": ["eva@atlas.example", "--to", "default=viewer"],
    "invitation list": [],
    "invitation renew": ["{invitation}"],
    "invitation revoke": ["{invitation}"],
    "people import": ["people.csv"],
    "session list": [],
    "session end": ["--all"],
    "secret set": ["default/wandb"],
    "secret list": [],
    "secret delete": ["default/wandb"],
    "node list": [],
    "node info": ["{node}"],
    "node drain": ["local", "{node}", "-m", "fan"],
    "node resume": ["local", "{node}"],
    "node health": ["local", "{node}"],
    "node quarantine": ["local", "{node}", "-m", "fan"],
    "node return": ["local", "{node}"],
    "cluster list": [],
    "cluster show": ["local"],
    "cluster connect": ["again", "local"],
    "cluster change": ["local"],
    "cluster test": ["local"],
    "cluster health": ["local", "--set", "temperature.threshold=85"],
    "cluster disable": ["local"],
    "cluster enable": ["local"],
    "cluster remove": ["local"],
    "mig list": [],
    "mig settings": ["local"],
    "mig plan": ["local", "--want", "1g.10gb:7"],
    "mig show": [NO_PLAN],
    "mig apply": [NO_PLAN],
    "mig undo": [NO_PLAN],
    "mig stop": [NO_PLAN],
    "mig discard": [NO_PLAN],
    "mig confirm": [NO_PLAN, "n1"],
    "pool list": [],
    "pool create": ["all", "local", "--open"],
    "pool grant": ["all", "default"],
    "pool idle-rule": ["all", "--window", "30"],
    "pool idle-jobs": ["all"],
    "pool revoke": ["all", "default"],
    "pool request": ["default", "--gpus", "mig-1g.10gb:2", "--until", UNTIL],
    "pool requests": [],
    "pool reservation": ["{pool_request}"],
    "pool renew": ["{pool_request}", "--until", UNTIL],
    "pool decide": ["{pool_request}", "decline"],
    "pool delete": ["all"],
    "gpu capacity": [],
    "gpu fleet": [],
    "gpu list": [],
    "gpu show": ["GPU-0"],  # this machine may have none
    "telemetry add": ["dc", "dcgm", "--cluster", "local", "--address", "http://127.0.0.1:1"],
    "telemetry list": [],
    "telemetry test": ["dc"],
    "telemetry disable": ["dc"],
    "telemetry enable": ["dc"],
    "telemetry fill": ["dc", "--since", "2026-01-01T00:00Z"],
    "telemetry remove": ["dc"],
    "audit list": [],
    "audit export": ["-o", "audit.jsonl"],
    "audit chain": [],
    "audit verify": [],
    "directory connect": [
        "second",
        "ldap",
        "--set",
        "url=ldap://127.0.0.1:1",
        "--set",
        "people_base=dc=y",
        "--set",
        "is_private=true",
    ],
    "directory change": ["second", "--set", "people_base=dc=z", "--name", "Second"],
    "directory disable": ["second"],
    "directory enable": ["second"],
    "directory remove": ["second"],
    "directory list": [],
    "directory test": ["corp"],
    "directory sync": ["corp", "--dry-run"],
    "application create": [
        "grafana",
        "-a",
        "https://grafana.example.com/login",
        "--name",
        "Grafana",
    ],
    "application list": [],
    "application show": ["grafana"],
    "application change": ["grafana", "--name", "Dashboards"],
    "application rotate": ["grafana"],
    "application delete": ["grafana"],
    **{
        f"{noun} {verb}": words
        for noun in ("dataset", "checkpoint")
        for verb, words in FILES.items()
    },
    "storage": [],
    "workspace create": ["code"],
    "workspace upload": ["job.yaml", "code:configs"],
    "workspace ls": ["code:configs"],
    "workspace info": ["code"],
    "workspace share": ["code", "lenders"],
    "workspace download": ["code:configs", "copy-of-code"],
    "workspace rm": ["code"],
    "workspace restore": ["code"],
    "login": ["{url}", "--with-token"],
    "whoami": [],
    "config": [],
    "completion": ["bash"],
    "logout": [],
}
# Refused for the local cluster of this portal: it has no scheduler, is connected already, and has a
# history.
REFUSED = {
    "node drain",
    "node resume",
    "node quarantine",
    "node return",
    "cluster connect",
    "cluster remove",
    "tensorboard sync",
    "mig plan",  # no GPU is there
}
AWAY = {"directory test", "directory sync", "telemetry test"}  # nothing listens at the address


@dataclass
class Shell:
    """`shell("job", "list")` run it as a child process with this portal's URL and token."""

    portal: Portal
    token: str
    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        plain = {
            name: value for name, value in os.environ.items() if not name.startswith("MUSTER_")
        }
        ours = {
            "PYTHONPATH": str(ROOT / "client"),
            "MUSTER_URL": self.portal.url,
            "MUSTER_TOKEN": self.token,
            "MLFLOW_TRACKING_TOKEN": self.token,
        }
        return (
            plain
            | ours
            | {"MUSTER_CONFIG": str(self.folder / "config.toml"), "BROWSER": "true"}
            | more
        )

    def __call__(
        self, *words: str, stdin: bytes = b"", **more: str
    ) -> subprocess.CompletedProcess[bytes]:
        argv = [sys.executable, "-m", "muster", *words]
        return subprocess.run(
            argv,
            input=stdin,
            capture_output=True,
            env=self.environment(**more),
            cwd=self.folder,
            timeout=90,
            check=False,
        )

    def json(self, *words: str) -> dict:
        done = self(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def submit(self, run: str, **spec: object) -> str:
        with Client(self.portal.url, self.token) as client:
            return str(client.jobs.submit({"run": run, "resources": {"cpus": 0.1}, **spec}).number)


@pytest.fixture(scope="module")
def shell(rig: Folder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    portal = Portal(rig, name="cli-portal", is_furnished=True)
    portal.start()
    made = Shell(portal, portal.token(), tmp_path_factory.mktemp("shell"))
    yield made
    with Client(portal.url, made.token) as client:  # jobs would continue without the portal
        for job in client.jobs.list(state="queued,running"):
            client.jobs.cancel(job.number)
        wait_until(
            lambda: not list(client.jobs.list(state="queued,running,stopping")),
            "all jobs have ended",
            90,
        )
    portal.stop()


@pytest.fixture(scope="module")
def placeholder_values(shell: Shell) -> dict[str, str]:
    """Return the values of the names in the table."""
    running, ended = (
        shell.submit("echo up; sleep 600", name="long"),
        shell.submit("echo done; exit 3", name="short"),
    )
    waiting = shell.submit("true", after=[int(running)])
    (shell.folder / "job.yaml").write_text("run: echo from a file\n")
    (shell.folder / "people.csv").write_bytes(
        "\ufeffE-Mail;Name;Team\r\nida@atlas.example;Ida Müller;default\r\n".encode()
    )
    shell("member", "add", "ben@atlas.example")
    shell("team", "create", "lenders")
    for noun in ("dataset", "checkpoint"):
        shell(noun, "create", "gone")
        shell(noun, "delete", "gone")
    with Client(shell.portal.url, shell.token) as client:
        client.directories.connect(
            "corp", "ldap", {"url": "ldap://127.0.0.1:1", "people_base": "dc=x", "is_private": True}
        )
    with Client(shell.portal.url, shell.token) as client:
        wait_until(lambda: client.jobs.get(running).state == "running", "it runs", 90)
        wait_until(lambda: client.jobs.get(ended).state == "failed", "it ended", 30)
        invitation = client.invitations.create("flo@atlas.example")["id"]
        body = {
            verb: request_quota(client, resource)
            for verb, resource in (
                ("approved", "cpu"),
                ("declined", "memory"),
                ("withdrawn", "gpu"),
                ("listed_approved", "gpu.a100"),
                ("listed_declined", "gpu.h100"),
                ("listed_withdrawn", "gpu.l4"),
            )
        }
        token, node = (
            client.tokens.create("spare", ["jobs:read"])["id"],
            client.nodes.list()[0]["name"],
        )
        curves = client.experiments.create("curves", team="default")["number"]
        run = client.runs.create(experiment=curves, team="default")["id"]
        point = {"name": "loss", "value": 0.3, "step": 1, "at": 1_700_000_000_000}
        client.runs.log(run, [point])
        client.runs.upload(run, "model/weights.bin", shell.folder / "job.yaml")
        channels = client.notification_channels
        channel = channels.create("webhook", "https://127.0.0.1/refused")["id"]
        delivery = channels.test(channel)["id"]
        wait_until(lambda: channels.get(channel)["deliveries"][0]["tries"], "a try", 30)
        client.models.create("default/digits", description="Handwritten digits.")
        pool_request = client.pools.request("default", "mig-1g.10gb", 1, f"{UNTIL}T00:00:00Z")
    return {
        "run": run,
        "pool_request": pool_request["id"],
        "experiment": str(int(curves) + 1),  # of `experiment create`, the next one
        "running": running,
        "ended": ended,
        "waiting": waiting,
        "spare": shell.submit("sleep 600"),
        "channel": channel,
        "delivery": delivery,
        "token": token,
        "invitation": invitation,
        "node": node,
        "file": "job.yaml",
        "url": shell.portal.url,
        **body,
    }


def request_quota(client: Client, resource: str) -> str:
    """Return the id of an open request above the limit of `default`."""
    client.quotas.set(resource, 1 << 50, team="default")
    return str(client.quotas.request(resource, 1 << 51, team="default")["id"])


def leaves() -> Iterator[str]:
    """Return every command of the client."""
    root = typer.main.get_command(app)
    for noun in groups():
        command = root.get_command(None, noun)
        yield from (
            (f"{noun} {verb}" for verb in command.commands)
            if hasattr(command, "commands")
            else (noun,)
        )


def test_table_lists_every_command():
    runs_until_it_is_stopped = {"port-forward"}  # tests/e2e/test_web_apps.py
    assert set(leaves()) == set(LEAVES) | runs_until_it_is_stopped


@pytest.mark.parametrize("name", LEAVES)
def test_command_with_json_prints_one_document(
    shell: Shell, placeholder_values: dict[str, str], name: str
):
    done = shell(
        *name.split(),
        "--json",
        *[word.format(**placeholder_values) for word in LEAVES[name]],
        stdin=shell.token.encode(),
    )
    assert done.returncode == (
        3
        if name in {"job wait", "job attach", "gpu show"} or NO_PLAN in LEAVES[name]
        else 2
        if name == "telemetry fill"  # an exporter has no history
        else 5
        if name in REFUSED
        else 6
        if name in AWAY
        else 0
    ), done.stderr
    assert isinstance(json.loads(done.stdout or done.stderr), dict | list | str)


def test_run_streams_the_log_and_returns_the_exit_code(shell: Shell):
    done = shell("run", "--", "bash", "-c", r"printf 'a\377\000b\r\n'; exit 42")
    assert (done.returncode, done.stdout) == (42, b"a\xff\x00b\r\n")


def test_logs_follow_is_byte_exact_while_written(shell: Shell, shared_folder: Path):
    noise = shared_folder / "noise"
    noise.write_bytes(random.Random(7).randbytes(300_000))
    number = shell.submit(f"for i in 1 2 3 4 5 6; do cat {noise}; sleep 0.3; done")
    done = shell("job", "logs", "-f", number)
    assert (done.returncode, done.stdout) == (0, noise.read_bytes() * 6)
    assert (
        shell("job", "logs", number, "--since-offset", "1799990").stdout == noise.read_bytes()[-10:]
    )


def test_job_found_by_name_shows_all_details(shell: Shell, placeholder_values: dict[str, str]):
    assert shell("job", "list", "--name", "long", "-q").stdout.decode().split() == [
        placeholder_values["running"]
    ]
    data = shell.json("job", "info", placeholder_values["ended"])
    assert (data["name"], data["state"], data["exit_code"]) == ("short", "failed", 3)
    assert data["reason"]["code"] == "user_error"
    assert b"short" in shell("job", "info", placeholder_values["ended"]).stdout


def test_wait_for_a_canceled_job_exits_with_130(shell: Shell, wait_for: Callable):
    number = shell.submit("sleep 600")
    assert shell("job", "cancel", number, "--why", "a test").returncode == 0
    assert shell("job", "wait", number).returncode == 130
    assert shell.json("job", "info", number)["state"] == "canceled"


def test_cluster_secret_is_set_from_a_file_and_unset(shell: Shell):
    (shell.folder / "rest.token").write_text("s3cret-token")
    shell.json(
        "cluster",
        "connect",
        "far",
        "slurm",
        "--set",
        "spool=/tmp",
        "--set",
        "rest_token=@rest.token",
    )
    assert shell.json("cluster", "show", "far")["secrets"] == ["rest_token"]
    shell.json("cluster", "change", "far", "--set", "rest_token=", "--set", "account=lab")
    assert shell.json("cluster", "show", "far")["secrets"] == ["rest_token"]
    shell.json("cluster", "change", "far", "--unset", "rest_token", "--unset", "account")
    data = shell.json("cluster", "show", "far")
    assert (data["secrets"], data["options"]["account"]) == ([], "")
    assert b"s3cret" not in shell("cluster", "show", "far").stdout
    shell("cluster", "remove", "far")


def test_audit_list_export_and_verify(shell: Shell, wait_for: Callable):
    shell("team", "create", "audited")
    [row] = shell.json("audit", "list", "--kind", "team.created", "--subject", "team:audited")[
        "items"
    ]
    assert (row["actor"], row["data"]["after"]["slug"]) == (EMAIL, "audited")
    lines = [
        json.loads(line) for line in shell("audit", "export", "--kind", "team").stdout.splitlines()
    ]
    assert row["id"] in {line["id"] for line in lines} and {
        line["kind"].partition(".")[0] for line in lines
    } == {"team"}
    table = shell("audit", "export", "--kind", "team", "--format", "csv", "-o", "trail.csv")
    assert table.returncode == 0 and (shell.folder / "trail.csv").read_text("utf-8-sig").startswith(
        "at,kind,actor,"
    )
    assert not (shell.folder / "trail.csv.part").exists()
    wait_for(lambda: shell.json("audit", "chain")["waiting"] == 0, 20)
    done = shell("audit", "verify")
    assert (done.returncode, b"0 faults" in done.stdout) == (0, True)
    assert shell("audit", "list", "--since", "yesterdy").returncode == 2


def test_wait_timeout_exits_with_124(shell: Shell, placeholder_values: dict[str, str]):
    assert shell("job", "wait", placeholder_values["running"], "--timeout", "0.5").returncode == 124


def test_rerun_applies_a_change(shell: Shell):
    number = shell.submit("echo $WORD", envs={"WORD": "one"})
    done = shell("job", "rerun", number, "--set", "envs.WORD=two", "--wait")
    assert (done.returncode, done.stdout) == (0, b"two\n")


def test_exec_returns_output_and_exit_code(shell: Shell, placeholder_values: dict[str, str]):
    done = shell(
        "job",
        "exec",
        placeholder_values["running"],
        "--",
        "sh",
        "-c",
        "echo $MUSTER_JOB_NUMBER; exit 7",
    )
    assert (done.returncode, done.stdout) == (7, f"{placeholder_values['running']}\n".encode())


def test_quota_request_approved_becomes_the_limit(shell: Shell):
    shell("team", "create", "asking")
    shell("quota", "set", "gpu", "100", "--team", "asking")
    done = shell("quota", "request", "gpu", "200", "--team", "asking", "--why", "the big run")
    assert done.stdout.startswith(b"Requested a limit of 200 GPUs (gpu) for team asking."), (
        done.stderr
    )
    [row] = [r for r in shell.json("quota", "requests")["items"] if r["why"] == "the big run"]
    assert row["id"].encode() in shell("quota", "requests", "-q").stdout
    done = shell("quota", "approve", row["id"], "-m", "until Friday")
    assert (
        done.stdout
        == f"Approved: a limit of 200 GPUs (gpu) for team asking, requested by {EMAIL}.\n".encode()
    )
    limits = {
        (q["subject"], q["resource"]): q["limit"] for q in shell.json("quota", "list")["items"]
    }
    assert limits["asking", "gpu"] == 200
    assert row["id"].encode() not in shell("quota", "requests").stdout
    assert b"until Friday" in shell("quota", "requests", "--all").stdout
    again = shell("quota", "decline", row["id"])
    assert (again.returncode, b"decided already" in again.stderr) == (5, True)


def test_quota_rules_are_set_and_cleared_with_any(shell: Shell):
    shell("team", "create", "ruled")
    rules = [
        "--max-runtime",
        "1d12h",
        "--max-gpus",
        "0",
        "--image",
        "ghcr.io/lab/*",
        "--image",
        "none",
        "--pool",
        "local",
    ]
    result = shell("quota", "rules", "ruled", *rules)
    assert (
        result.returncode == 0
        and b"1d12h" in result.stdout
        and b"ghcr.io/lab/*, none" in result.stdout
    ), result.stderr
    stands = shell.json("quota", "rules", "ruled")
    assert stands == {
        "max_runtime": 129600,
        "default_runtime": None,
        "max_gpus": 0,
        "images": ["ghcr.io/lab/*", "none"],
        "pools": ["local"],
        "default_pool": "",
    }
    assert shell("quota", "rules", "ruled", "-q").stdout.splitlines()[:2] == [
        b"max_runtime=1d12h",
        b"max_gpus=0",
    ]
    shell(
        "quota",
        "rules",
        "ruled",
        "--max-runtime",
        "any",
        "--image",
        "any",
        "--default-pool",
        "local",
    )
    stands |= {"max_runtime": None, "images": [], "default_pool": "local"}
    assert shell.json("quota", "rules", "ruled") == stands
    over = shell("quota", "rules", "ruled", "--max-runtime", "1h", "--default-runtime", "2h")
    assert (over.returncode, b"default_runtime" in over.stderr) == (2, True)
    assert shell("quota", "rules", "ruled", "--max-runtime", "soon").returncode == 2


def test_application_secret_is_printed_once_and_alone(shell: Shell):
    made = shell(
        "application", "create", "harbor", "-a", "https://harbor.example.com/c/oidc/callback"
    )
    secret = made.stdout.decode().strip()
    assert made.returncode == 0 and secret.startswith("mca_") and " " not in secret, made.stderr
    assert f"{shell.portal.url}/.well-known/openid-configuration" in made.stderr.decode()
    shown = shell("application", "show", "harbor").stdout.decode()
    assert "https://harbor.example.com/c/oidc/callback" in shown and secret not in shown
    other = shell("application", "rotate", "harbor", "-q").stdout.decode().strip()
    assert other.startswith("mca_") and other != secret
    assert shell("application", "list", "-q").stdout == b"harbor\n"
    assert b"Deleted harbor" in shell("application", "delete", "harbor").stdout
    assert b"Create one: muster application create" in shell("application", "list").stdout


@pytest.mark.parametrize(
    ("words_of", "code", "says"),
    [
        (["job", "info", "99999"], 3, "99999"),
        (["job", "info"], 2, "JOB"),
        (["job", "shout"], 2, "shout"),
        (["node", "info", "no-such-node"], 3, "no-such-node"),
        (["run", "-m", "lots", "--", "true"], 2, "memory"),
        (["run", "-c", "9000", "--", "true"], 2, "cpu"),
        (["job", "submit", "no-such.yaml"], 2, "no-such.yaml"),
        (["token", "create", "x", "--scopes", "everything"], 2, "everything"),
        (["team", "create", "default"], 5, "default"),
        (["quota", "request", "gpu", "none"], 2, "requested limit"),
        (["quota", "request", "gpu", "8", "--job", "last"], 2, "not a job number"),
        (["quota", "request", "gpu.h100", "8", "--user", "-"], 5, "no such limit"),
        (["quota", "approve", "00000000-0000-0000-0000-000000000000"], 3, "no such request"),
        (["quota", "approve", "7"], 3, "muster quota requests"),
        (["quota", "rules", "nobody"], 3, "nobody"),
        (["quota", "rules", "default", "--max-gpus", "many"], 2, "many"),
        (["application", "show", "nothing"], 3, "nothing"),
        (["application", "create", "grafana2"], 2, "--address"),
        (
            ["application", "create", "grafana2", "-a", "http://grafana.example.com/"],
            2,
            "grafana.example.com",
        ),
        (["job", "list", "--org", "elsewhere"], 3, "elsewhere"),
    ],
)
def test_failing_command_exits_with_code_and_message(
    shell: Shell, words_of: list[str], code: int, says: str
):
    done = shell(*words_of)
    assert (done.returncode, done.stdout) == (code, b""), done.stderr
    assert says in done.stderr.decode() and "Traceback" not in done.stderr.decode()


def test_error_with_json_prints_one_document(shell: Shell):
    done = shell("job", "info", "99999", "--json")
    assert done.returncode == 3
    assert "99999" in json.dumps(json.loads(done.stdout or done.stderr))


def test_wrong_token_and_unavailable_portal_exit_codes(shell: Shell):
    assert shell("job", "list", MUSTER_TOKEN="mst_wrong").returncode == 4
    assert shell("whoami", MUSTER_URL="http://127.0.0.1:9").returncode == 6
    assert EMAIL.encode() in shell("whoami").stdout


def test_access_why_shows_steps_and_remedies(shell: Shell, placeholder_values: dict[str, str]):
    shell("member", "add", "kim@atlas.example")
    result = shell(
        "--team", "default", "access", "why", "kim@atlas.example", "jobs:submit"
    ).stdout.decode()
    assert result.startswith("kim@atlas.example may not submit jobs in team default (jobs:submit).")
    assert "kim@atlas.example has no role in team default." in result
    assert "It would be allowed with the role Member in team default." in result
    about = shell(
        "access",
        "why",
        "kim@atlas.example",
        "jobs:cancel",
        "--job",
        placeholder_values["running"],
        "--json",
    )
    assert json.loads(about.stdout)["permission"] == "jobs:admin"
    assert shell("-q", "access", "why", "-", "jobs:submit").stdout == b"yes\n"


def test_names_in_terminals_of_other_encodings_are_shown(shell: Shell):
    """The script of a report, as it is."""
    command = shell.folder / "muster"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m muster "$@"\n')
    command.chmod(0o755)
    path = f"{shell.folder}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", CASES / "2026-11-27/cli-other-encoding.sh"],
        env=shell.environment(PATH=path, MUSTER_ORG="home", MUSTER_TEAM="default"),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_sparse_output_of_a_report_is_refused_by_its_size(shell: Shell):
    spec = CASES / "2026-11-27/sparse-output.yaml"
    number = shell("job", "submit", str(spec), "-q").stdout.decode().strip()

    def output() -> dict:
        return shell.json("job", "info", number)["outputs"][0]

    wait_until(lambda: "x.bin was not saved" in output()["text"], "the file is refused", 60)
    assert "1 TiB" in output()["text"]
    [version] = output()["versions"]
    assert (version["files"], version["bytes"]) == (1, 6)
