"""Deployment files match the code; checked without a container engine."""

from __future__ import annotations

import re
import shlex

import pytest
import yaml

from portal.process.command import parser
from portal.process.stack import PARTS
from tests.rig.environment import ROOT

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


def test_compose_file_starts_stack_after_healthy_servers():
    muster = COMPOSE["services"]["muster"]
    assert parser().parse_args(serve_arguments(shlex.join(muster["command"]))).server
    for needed, how in muster["depends_on"].items():
        assert how == {"condition": "service_healthy"}
        assert "healthcheck" in COMPOSE["services"][needed]


def test_compose_file_sets_only_known_variables():
    for name in COMPOSE["services"]["muster"]["environment"]:
        assert re.search(rf'"{name}"', SOURCES), name


def test_compose_file_passes_every_setting_of_the_env_file():
    muster = COMPOSE["services"]["muster"]
    assert muster["env_file"] == [{"path": ".env", "required": False}]
    assert not {
        name for name, value in muster["environment"].items() if "${MUSTER_" in value
    }  # would override .env


def test_compose_file_has_no_default_for_the_serving_roles_password():
    url = COMPOSE["services"]["muster"]["environment"]["MUSTER_DATABASE_URL"]
    assert re.fullmatch(
        r"postgres://muster_web:\$\{POSTGRES_WEB_PASSWORD:\?[^$}]+\}@postgres/muster", url
    )


def test_dockerfile_copies_existing_files():
    for line in (ROOT / "deploy/Dockerfile").read_text().splitlines():
        if match := re.match(r"COPY (?!--from)(.+) \S+$", line):
            for source in match[1].split():
                assert (ROOT / source).exists(), source
