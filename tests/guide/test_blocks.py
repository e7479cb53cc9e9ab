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

GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
PLACEHOLDER, ORG = (
    "https://muster.example.com",
    "home",
)  # in the guide: the portal, the organization
GPUS = ("guide-gpu-job", "guide-pending")  # organizations that may use the simulated GPUs
NOT_A_SPEC = "# not a job spec"
SECONDS = 120


@dataclass
class Stage:
    """A running portal, the command, and a token for each page's organization."""

    url: str
    shell: MusterShell
    tokens: dict[str, str]
    prefix: str = "guide"

    def org(self, page: Path) -> str:
        return f"{self.prefix}-{page.stem}"

    def run(self, page: Path, folder: Path) -> Iterator[str]:
        """Run the blocks of a page; yield what is wrong."""
        org = self.org(page)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MUSTER_")},
            "PATH": f"{self.shell.bin}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "client"),
            "MUSTER_URL": self.url,
            "MUSTER_TOKEN": self.tokens[org],
            "MUSTER_ORG": org,
            "MUSTER_CONFIG": str(folder / "config.toml"),
        }
        for block in blocks(page):
            if not is_run(block):
                continue
            text = block.text.replace(PLACEHOLDER, self.url)
            text = re.sub(rf"(/orgs/|/mlflow/|/dav/){ORG}/", rf"\g<1>{org}/", text)
            done = subprocess.run(
                [
                    "timeout",
                    str(SECONDS),
                    "bash",
                    "-euo",
                    "pipefail",
                    "-c",
                    f'cd "{folder}"; . ./.exports; {text}\nexport -p >.exports',
                ],
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


def add_gpus(url: str, tokens: dict[str, str]) -> None:
    """Connect a simulated cluster, whose pool only the teams of these organizations may use.

    It would otherwise get the jobs of other pages, which must really run.
    """
    is_connected = False
    for org, token in tokens.items():
        with Client(url, token, org) as muster:
            if not is_connected:
                muster.clusters.connect("dgx", "simulated")
                muster.pools.create("h100", "dgx", gpu_type="h100")
                is_connected = True
            muster.pools.grant("h100", "default")


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    folder = Folder()
    portal = Portal(folder, is_furnished=True)
    portal.start()
    shell = MusterShell(folder.path)
    with portal.browser() as browser:
        pages = [page for page in GUIDE if any(map(is_run, blocks(page)))]
        tokens = {
            f"guide-{page.stem}": new_organization(browser, f"guide-{page.stem}") for page in pages
        }
    add_gpus(portal.url, {org: tokens[org] for org in GPUS})
    yield Stage(portal.url, shell, tokens)
    shell.close()
    portal.stop()
    folder.close()


def test_guide_runs_as_it_is_written(stage: Stage, tmp_path: Path):
    def run(page: Path) -> list[str]:
        folder = tmp_path / page.stem
        folder.mkdir()
        (folder / ".exports").touch()
        for block in blocks(page):
            if block.title:
                (folder / block.title).write_text(block.text)
        return list(stage.run(page, folder))

    with ThreadPoolExecutor(3) as pool:
        wrong = [
            fault
            for faults in pool.map(run, [p for p in GUIDE if stage.org(p) in stage.tokens])
            for fault in faults
        ]
    assert not wrong, "\n\n".join(wrong)


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
