"""README.md: each block of commands runs as written in a fresh clone, or has a reason not to.

Only the port differs, and the job of the example is shorter in the gate. The clone has what
`make run` installs; `test_everything_is_installed_from_nothing` installs it. An ordinary user types
every block in the gate, and root the first commands, whose job runs in another way.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page

from schedulers.spec.parsing import parse_yaml
from tests.e2e.test_closed_clone import USER, open_python
from tests.e2e.test_first_job import watch_the_example
from tests.markdown_blocks import blocks
from tests.rig.environment import ROOT
from tests.rig.portal import PASSWORD, PATIENCE, Portal
from tests.rig.processes import Folder, wait_until
from tests.rig.tables import furnish

README = blocks(ROOT / "README.md")
INSTALLED = (".venv", ".venv-guide", "static/vendor", "node_modules")
START = "make run      # starts"
IN_ORDER = (  # blocks of one person's session in a shell, by their beginnings
    'export PATH="$PWD/.venv/bin:$PATH"',
    "muster dataset upload ./data",
    "muster role create trainer",
)
DEMO = "make run            # in another terminal"
REASONS = {
    "pip install http://": "tests/api/test_client_package.py installs it with pip",
    "muster token create laptop": "needs MLflow and another MLflow server: tests/experiments/mlflow",
    "run: jupyter lab": "a job spec, which is parsed here; needs JupyterLab: tests/e2e/test_web_apps.py",
    "HF_ENDPOINT=": "needs the Hub's client: tests/datasets/test_hub.py",
    "# Slurm, through slurmrestd": "needs a Slurm and a Kubernetes cluster: tests/schedulers",
    "(umask 077; echo POSTGRES": "needs a container engine: tests/portal/process/test_deploy.py",
    "export MUSTER_DATABASE_URL": "needs a database server: tests/portal/process/test_serve.py",
    "apt install gcc": "needs a directory server: tests/workspaces/services/test_providers.py",
    "MUSTER_TEST_KUBECONFIG": "needs a Kubernetes cluster",
}
TEAM = """
muster team create vision
muster member add kim@example.com
mkdir -p data && echo 1 > data/a.csv
"""


def block(beginning: str) -> str:
    return next(one.text for one in README if one.text.startswith(beginning))


def test_each_block_of_the_readme_runs_or_has_a_reason():
    known = (START, DEMO, *IN_ORDER, *REASONS)
    found = [[name for name in known if one.text.startswith(name)] for one in README]
    missing = [one.text for one, names in zip(README, found, strict=True) if len(names) != 1]
    assert not missing, "run it in IN_ORDER, or say in REASONS why not:\n" + "\n".join(missing)
    assert sorted(name for names in found for name in names) == sorted(known)
    for one in README:
        if one.language == "yaml":
            parse_yaml(one.text)


@pytest.mark.integration
def test_commands_that_do_not_run_here_exist_with_their_options(subtests):
    lines = "\n".join(block(name) for name in REASONS).replace("\\\n", " ").splitlines()
    commands = [line for line in lines if line.startswith("muster ")]
    assert len(commands) > 8
    for line in commands:
        with subtests.test(line=line):
            words = shlex.split(line, comments=True)[1:]
            done = subprocess.run(
                [sys.executable, "-m", "muster", *words, "--help"],
                env={**os.environ, "PYTHONPATH": str(ROOT / "client")},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr


@dataclass
class Newcomer(Portal):
    """A fresh clone in a folder of mode 0700, whose user `uid` types `make run`."""

    closed: Path = Path()
    uid: int = 0

    @property
    def clone(self) -> Path:
        return self.closed / "muster"

    @property
    def home(self) -> Path:
        return self.clone / "var"

    @property
    def environment(self) -> dict[str, str]:
        kept = (
            "LANG",
            "LD_LIBRARY_PATH",
            "PIP_INDEX_URL",
            "PIP_CONFIG_FILE",
            "NPM_CONFIG_REGISTRY",
        )
        path = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        theirs = {name: os.environ[name] for name in kept if name in os.environ}
        ours = {n: v for n, v in super().environment.items() if n.startswith("MUSTER_")}
        ours.pop("MUSTER_HOME")
        return {**theirs, **ours, "HOME": str(self.closed), "PATH": ":".join(path)}

    def prepare(self, *, is_installed: bool) -> None:
        self.clone.mkdir()
        files = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        copy = (
            f"{shlex.join(files)} | tar --null -T - -c --ignore-failed-read | tar x -C {self.clone}"
        )
        subprocess.run(["sh", "-c", copy], cwd=ROOT, check=True, capture_output=True)
        if is_installed:
            self._install()
        for path in (self.closed, *self.closed.rglob("*")):
            if not path.is_symlink():
                os.chown(path, self.uid, self.uid)
        self.closed.chmod(0o700)

    def _install(self) -> None:
        """Give it what `make run` would install, as of now, and the tables of a first start."""
        for path in self.clone.rglob("*"):
            if path.is_file():
                os.utime(path, (1, 1))
        for name in INSTALLED:
            (self.clone / name).mkdir(parents=True, exist_ok=True)
        shutil.copytree(ROOT / "build", self.clone / "build", symlinks=True, dirs_exist_ok=True)
        for built in ("static/staticfiles.json", "site/help/topics.json"):
            os.utime(self.clone / "build" / built)  # fails if `make test` did not build it
        wrapper = f'#!/bin/sh\nPYTHONPATH="{self.clone}/client" exec "{self.clone}/.venv/bin/python" -m muster "$@"\n'
        (self.closed / "muster.sh").write_text(wrapper)
        (self.closed / "muster.sh").chmod(0o755)
        self.change_the_example(DIGITS_SECONDS="2")
        furnish(self.home, "", super().environment)

    def change_the_example(self, **settings: str) -> None:
        job = self.clone / "examples/digits/job.yaml"
        envs = json.dumps({"DIGITS_RATE": "1", **settings})
        job.write_text(re.sub("envs: {[^}]*}", f"envs: {envs}", job.read_text()))

    def command(self) -> list[str]:
        mounts = []
        if (self.closed / "muster.sh").exists():
            mounts = [
                f"mount --bind {ROOT / name} {self.clone / name}"
                for name in INSTALLED
                if (ROOT / name).exists()
            ]
            mounts.append(f"mount --bind {self.closed}/muster.sh {self.clone}/.venv/bin/muster")
        steps = [*open_python(self.closed), *mounts, f"cd {self.clone}"]
        steps.append(f"exec {shlex.join([*self._become(), 'make', 'run'])}")
        return ["unshare", "--mount", "sh", "-c", " && ".join(steps)]

    def _become(self) -> list[str]:
        user = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", "--"]
        return user if self.uid else []

    def type(self, script: str, seconds: float = PATIENCE) -> str:
        """Run commands in a shell of this person, approve a sign-in, and return what was shown."""
        assert self.process is not None
        script = script.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")
        inside = ["nsenter", f"--target={self.process.pid}", "--mount", f"--wd={self.clone}"]
        shell = [*inside, *self._become(), "bash", "-exo", "pipefail", "-c", script]
        env = {n: v for n, v in self.environment.items() if not n.startswith("MUSTER_")}
        with tempfile.TemporaryFile("w+") as shown:
            process = subprocess.Popen(
                shell, env=env, stdout=shown, stderr=shown, start_new_session=True
            )
            is_approved, until = False, time.monotonic() + seconds
            while process.poll() is None and time.monotonic() < until:
                shown.seek(0)
                found = re.search(rf"{self.url}(/\S*code\S*)", shown.read())
                if found and not is_approved:
                    self._approve(found[1])
                    is_approved = True
                time.sleep(0.05)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            shown.seek(0)
            text = shown.read()
        assert process.returncode == 0, text
        return text

    def _approve(self, path: str) -> None:
        with self.browser() as browser:
            page = browser.get(path, follow_redirects=True)
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
            assert token, page.text
            form = {"csrfmiddlewaretoken": token[1], "org": "home", "action": "confirm"}
            browser.post(str(page.url), data=form, headers={"Referer": self.url})

    def press_run_the_example(self) -> None:
        with self.browser() as browser:
            body = {"team": "default", "spec": {"run": "true"}}
            browser.post("/api/v1/orgs/home/jobs", json=body).raise_for_status()


@contextmanager
def newcomer(
    uid: int, *, is_installed: bool = True, seconds: float = PATIENCE
) -> Iterator[Newcomer]:
    folder = Folder()
    portal = Newcomer(folder, closed=Path(tempfile.mkdtemp()), uid=uid)
    try:
        portal.prepare(is_installed=is_installed)
        portal.begin()
        portal.await_answer(seconds)
        log = (folder.path / f"{portal.name}.log").read_text()
        assert PASSWORD not in log
        assert bool(re.search("Installing|Building", log)) != is_installed, log
        yield portal
    finally:
        portal.stop()
        shutil.rmtree(portal.closed, ignore_errors=True)
        folder.close()


def see_welcome(portal: Newcomer) -> None:
    welcome = "Next: open the address, sign in and press “Run the example”."
    wait_until(lambda: welcome in portal.folder.tail(portal.name, 4000), "it is welcomed", 60)
    assert f"Address   {portal.url}" in portal.folder.tail(portal.name, 4000)


def walk(portal: Newcomer) -> None:
    """Type what the README says, from the address that `make run` shows to the last command."""
    see_welcome(portal)
    portal.press_run_the_example()
    first, *others = (block(name) for name in IN_ORDER)
    shown = portal.type("\n".join([first, TEAM, *others]))
    for text in ("\nhello\n", "accuracy", "DIGITS_RATE", "The log is complete: ", "jobs:submit"):
        assert text in shown, shown


def test_commands_of_the_readme_run_as_written():
    with newcomer(USER) as portal:
        walk(portal)


@pytest.fixture
def open_path() -> Iterator[Path]:
    """Return an empty folder that every user of this machine may read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.browser
def test_first_minutes_of_root_with_a_browser(page: Page, wait_for: Callable, open_path: Path):
    stop = open_path / "stop"  # the job lasts until everything was seen, however slow the machine
    with newcomer(0) as portal:
        see_welcome(portal)
        portal.change_the_example(DIGITS_SECONDS="300", DIGITS_STOP=str(stop))
        watch_the_example(portal, page, wait_for, finish=stop.touch)
        page.goto("about:blank")  # it would complain about the portal's end
        first_job, more, _ = block(IN_ORDER[0]).partition("muster job submit")
        assert more and "\nhello\n" in portal.type(first_job)


@pytest.mark.integration
@pytest.mark.parametrize("uid", [0, USER], ids=["root", "user"])
def test_everything_is_installed_from_nothing(uid):
    with newcomer(uid, is_installed=False, seconds=1200) as portal:
        walk(portal)
        assert "/aurora/ and sign in as maya" in portal.type("make demo", seconds=1800)
