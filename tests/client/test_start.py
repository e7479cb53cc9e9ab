"""Test that the command line imports nothing before it is needed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.rig.environment import ROOT

HEAVY = ("httpx", "rich", "django", "asyncio", "yaml", "jobs", "portal")
TEXT = """
import sys
from muster.cli import main
try:
    main({words!r})
except SystemExit:
    pass
sys.stderr.write(repr([m for m in {heavy!r} if m in sys.modules]))
"""


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["job", "--help"],
        ["run", "--help"],
        ["config"],
        ["completion", "bash"],
    ],
)
def test_local_command_imports_no_heavy_library(words: list[str]):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "client")}
    text = TEXT.format(words=words, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", text], env=env, capture_output=True, text=True, check=True
    )
    assert done.stderr.endswith("[]")
    assert done.stdout


def test_help_lists_commands_and_exit_codes():
    env = {**os.environ, "PYTHONPATH": str(ROOT / "client")}
    shown = subprocess.run(
        [sys.executable, "-m", "muster", "--help"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for word in (
        "run",
        "job",
        "team",
        "member",
        "quota",
        "token",
        "node",
        "login",
        "whoami",
        "config",
        "completion",
        "Exit codes",
    ):
        assert word in shown


def test_every_command_has_a_help_text():
    from muster.cli import CommandGroup, groups

    bare = []
    for name in groups():
        noun = CommandGroup(name="muster").get_command(None, name)
        commands = getattr(noun, "commands", {name: noun})
        bare += [f"{name} {verb}" for verb, command in commands.items() if not command.help]
    assert bare == []
