"""Every block of the guide is run on a real portal as it is written, or checked, or says why not.

A page is one scenario: its blocks run in order, in one folder, in an organization of its own, by somebody who
owns it and operates the platform. The portal has this machine as a cluster, and a simulated one with GPUs.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click
import httpx
import pytest
import typer

from muster import Client
from muster.cli import app
from schedulers.spec import parse_text
from tests.markdown_blocks import Block, blocks
from tests.rig.environment import ROOT
from tests.rig.muster_shell import MusterShell
from tests.rig.portal import EMAIL, Portal
from tests.rig.processes import Folder
from tests.rig.seeds import WALKS, is_chosen

GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
# The portal and the organization of the guide's examples
PLACEHOLDER, ORG = "https://muster.example.com", "home"
GPUS = ("gpu-job", "pending", "gpus")  # pages that use the simulated GPUs
NOT_A_SPEC = "# not a job spec"
SECONDS = 120


@dataclass
class Stage:
    """A running portal with an administrator's browser, and the command."""

    portal: Portal
    browser: httpx.Client
    shell: MusterShell
    has_gpus: bool = False

    def grant_gpus(self, tokens: dict[str, str]) -> None:
        """Connect a simulated cluster, whose pool only the teams of these organizations may use.

        It would otherwise get the jobs of other pages, which must really run.
        """
        for org, token in tokens.items():
            with Client(self.portal.url, token, org) as muster:
                if not self.has_gpus:
                    muster.clusters.connect("dgx", "simulated")
                    muster.pools.create("h100", "dgx", gpu_type="h100")
                    self.has_gpus = True
                muster.pools.grant("h100", "default")

    def run(self, page: Path, folder: Path, org: str, token: str) -> Iterator[str]:
        """Run the blocks of a page; yield what is wrong."""
        (folder / ".exports").touch()
        for block in blocks(page):
            if block.title:
                (folder / block.title).write_text(block.text)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MUSTER_")},
            "PATH": f"{self.shell.bin}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "client"),
            "MUSTER_URL": self.portal.url,
            "MUSTER_TOKEN": token,
            "MUSTER_ORG": org,
            "MUSTER_CONFIG": str(folder / "config.toml"),
        }
        for block in filter(is_run, blocks(page)):
            text = block.text.replace(PLACEHOLDER, self.portal.url)
            text = re.sub(rf"(/orgs/|/mlflow/|/dav/|@){ORG}(?=/|\.service)", rf"\g<1>{org}", text)
            script = f'cd "{folder}"; . ./.exports; {text}\nexport -p >.exports'
            done = subprocess.run(
                ["timeout", str(SECONDS), "bash", "-euo", "pipefail", "-c", script],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                yield f"{block.place} ended with {done.returncode}\n{text}{done.stdout}{done.stderr}"
                return


def is_commands(block: Block) -> bool:
    return block.language == "bash" and not block.title


def is_run(block: Block) -> bool:
    return is_commands(block) and not block.reason


def new_organization(browser: httpx.Client, slug: str) -> str:
    """Create an organization of Ada's with the team default, as the first one has; return a token."""
    url = f"/api/v1/orgs/{slug}"
    for path, body in (
        ("/api/v1/orgs", {"slug": slug, "name": slug, "owner": EMAIL}),
        (f"{url}/teams", {"slug": "default", "name": "Default"}),
    ):
        made = browser.post(path, json=body)
        assert made.is_success, made.text
    made = browser.post(f"{url}/tokens", json={"name": "guide", "scopes": ["all"]})
    return str(made.raise_for_status().json()["token"])


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    folder = Folder()
    portal = Portal(folder, is_furnished=True)
    portal.start()
    shell = MusterShell(folder.path)
    with portal.browser() as browser:
        yield Stage(portal, browser, shell)
    shell.close()
    portal.stop()
    folder.close()


# In the gate every fourth page; all of them in `make test-all`
@WALKS
def test_guide_runs_as_it_is_written(stage: Stage, tmp_path: Path, is_whole: bool):
    orgs = {
        page: f"{'all' if is_whole else 'some'}-{page.stem}"
        for page in GUIDE
        if any(map(is_run, blocks(page))) and (is_whole or is_chosen("run", page.stem, one_in=4))
    }
    tokens = {page: new_organization(stage.browser, org) for page, org in orgs.items()}
    stage.grant_gpus({orgs[page]: tokens[page] for page in orgs if page.stem in GPUS})

    def run(page: Path) -> list[str]:
        folder = tmp_path / page.stem
        folder.mkdir()
        return list(stage.run(page, folder, orgs[page], tokens[page]))

    with ThreadPoolExecutor(3) as pool:
        wrong = [fault for faults in pool.map(run, orgs) for fault in faults]
    assert not wrong, "\n\n".join(wrong)
    assert len(orgs) > 4


def test_guide_has_no_block_that_is_not_tried():
    wrong = []
    for page in GUIDE:
        found = blocks(page)
        for at, block in enumerate(found):
            later = " ".join(one.text for one in found[at + 1 :] if is_run(one))
            fault = _fault(block, later)
            if fault:
                wrong.append(f"{block.place} {fault}")
    assert wrong == []


def _fault(block: Block, later: str) -> str:
    """Return what is wrong with a block, or ""."""
    if block.language == "bash" and block.reason:
        return "; ".join(_usage_faults(block.text))
    if block.reason:
        return ""
    match block.language:
        case "bash" if not block.title:
            return ""
        case "yaml" if block.title and block.text.startswith(NOT_A_SPEC):
            return ""
        case "yaml" if block.title:
            try:
                parse_text(block.text)
            except Exception as error:
                return str(error)
            return ""
        case "bash" | "python" | "text" if block.title:
            return "" if block.title in later else f"no command uses {block.title}"
    return "is neither run nor checked, and says no reason (`<!-- not run: why -->`)"


def _usage_faults(script: str) -> Iterator[str]:
    """Yield what `muster` would say about the usage of each of its commands in a script."""
    for line in script.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if "muster" not in words:
            continue
        given = words[words.index("muster") + 1 :]
        given = given[: given.index("&")] if "&" in given else given
        command: click.Command = typer.main.get_command(app)
        context = click.Context(command, info_name="muster")
        try:
            while isinstance(command, click.Group):
                name, command, given = command.resolve_command(context, given)
                context = click.Context(command, info_name=name, parent=context)
            command.make_context(command.name, list(given), parent=context.parent)
        except click.UsageError as error:
            if "does not exist" not in error.format_message():
                yield f"{line}: {error.format_message()}"
