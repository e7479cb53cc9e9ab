"""Deployment files match the code; checked without a container engine."""

from __future__ import annotations

import os
import re
import shlex
import sys
from urllib.parse import urlsplit

import httpx
import pytest
import yaml
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from portal.process.command import parser
from portal.process.stack import PARTS
from tests.rig.environment import ROOT
from tests.rig.portal import PATIENCE
from tests.rig.postgres import create_database
from tests.rig.processes import free_port, is_listening, wait_until

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SOURCES = "".join(path.read_text() for path in (ROOT / "portal").rglob("*.py"))


def procfile() -> dict[str, str]:
    lines = [
        line for line in (ROOT / "Procfile").read_text().splitlines() if not line.startswith("#")
    ]
    return {name: command.strip() for name, _, command in (line.partition(":") for line in lines)}


def serve_arguments(command: str) -> list[str]:
    words = shlex.split(command)
    return words[words.index("serve") + 1 :]


def test_procfile_lists_every_component_once():
    assert sorted(procfile()) == sorted(PARTS)


@pytest.mark.parametrize("name", PARTS)
def test_procfile_process_runs_its_component(name):
    last = procfile()[name].split("&&")[-1]
    assert parser().parse_args(serve_arguments(last)).only == name


SERVICES = {name: one for name, one in COMPOSE["services"].items() if "build" in one}


def test_compose_file_runs_each_component_as_a_service():
    started = {
        name: parser().parse_args(serve_arguments(shlex.join(one["command"]))).only
        for name, one in SERVICES.items()
    }
    # The agent reports the machine it runs on, which a container does not see.
    assert started == {name: name for name in ("prepare", *PARTS) if name != "agent"}


def test_compose_file_starts_components_after_what_they_need():
    for name, service in SERVICES.items():
        for needed, how in service["depends_on"].items():
            healthy = how == {"condition": "service_healthy"}
            assert healthy == ("healthcheck" in COMPOSE["services"][needed]), (name, needed)
            assert healthy or how == {"condition": "service_completed_successfully"}
    assert set(SERVICES["nginx"]["depends_on"]) == {"web", "uploads", "live", "gateway"}
    assert "prepare" in SERVICES["web"]["depends_on"]


def test_compose_file_gives_all_components_the_data_and_the_workspaces():
    for service in SERVICES.values():
        places = dict(reversed(one.split(":")) for one in service["volumes"])
        assert places == {"/var/lib/muster": "state", "/var/lib/muster/workspaces": "workspaces"}
        assert set(places.values()) <= COMPOSE["volumes"].keys()


def test_compose_file_sets_only_known_variables():
    for service in SERVICES.values():
        for name in service["environment"]:
            assert re.search(rf'"{name}"', SOURCES), name


def test_compose_file_passes_every_setting_of_the_env_file():
    for service in SERVICES.values():
        assert service["env_file"] == [{"path": ".env", "required": False}]
        assert not {
            name for name, value in service["environment"].items() if "${MUSTER_" in value
        }  # would override .env


def test_compose_file_has_no_default_for_the_serving_roles_password():
    for service in SERVICES.values():
        assert re.fullmatch(
            r"postgres://muster_web:\$\{POSTGRES_WEB_PASSWORD:\?[^$}]+\}@postgres/muster",
            service["environment"]["MUSTER_DATABASE_URL"],
        )


def test_compose_file_gives_the_owners_password_to_prepare_only():
    having = {n for n, one in SERVICES.items() if "${POSTGRES_PASSWORD" in str(one)}
    assert having == {"prepare"}


@pytest.mark.integration
def test_compose_commands_serve_a_portal(rig, postgres_url, redis_url):
    """Run as processes of this machine what the file runs as containers."""
    owner, port, home = create_database(postgres_url, "compose"), free_port(), rig.path / "compose"
    where = urlsplit(owner)
    serving = f"postgres://serving_{port}:secret@{where.netloc.rpartition('@')[2]}{where.path}"
    own = {
        "MUSTER_DATABASE_URL": serving,
        "MUSTER_REDIS_URL": redis_url,
        "MUSTER_HOME": str(home),
        "MUSTER_BIND": "127.0.0.1",
        "MUSTER_PORT": str(port),
    }
    inherited = {name: v for name, v in os.environ.items() if not name.startswith("MUSTER_")}
    inherited["DJANGO_SETTINGS_MODULE"] = "portal.settings"
    for name in ("prepare", *(name for name in SERVICES if name != "prepare")):
        service = SERVICES[name]
        migrating = {"MUSTER_MIGRATE_DATABASE_URL": owner} if name == "prepare" else {}
        assert service["environment"].keys() == {*own, *migrating, "MUSTER_LOCAL_CLUSTER"}
        argv = [sys.executable, str(ROOT / "manage.py"), *service["command"][2:]]
        process = rig.start(
            f"compose-{name}", argv, env={**inherited, **service["environment"], **own, **migrating}
        )
        if name == "prepare":
            assert process.wait(PATIENCE) == 0, rig.tail("compose-prepare")
    try:
        # Nine processes start at once: each takes 5 s of CPU.
        wait_until((home / "run/live.sock").exists, "live listens", PATIENCE)
        wait_until(lambda: is_listening(port), "nginx listens", PATIENCE)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            wait_until(lambda: client.get("/healthz").is_success, "web answers", PATIENCE, 0.1)
            assert client.get("/readyz").json()["status"] == "ready"
        with pytest.raises(InvalidStatus, match="404"):
            connect(f"ws://127.0.0.1:{port}/ws/nowhere")
    finally:
        for process, _ in rig.started:
            if "--only" in process.args:  # type: ignore[operator]
                process.terminate()


def test_dockerfile_copies_existing_files():
    for line in (ROOT / "deploy/Dockerfile").read_text().splitlines():
        if match := re.match(r"COPY (?!--from)(.+) \S+$", line):
            for source in match[1].split():
                assert (ROOT / source).exists(), source
