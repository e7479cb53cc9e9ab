"""Sessions on a real Slurm and on Kubernetes: terminal, JupyterLab, TensorBoard in a browser.

VS Code also on this machine. It needs MUSTER_TEST_CODE_SERVER, a folder with the program code-server: its
packages take many minutes to compile, so nothing here does that.

Pods with JupyterLab and TensorBoard need an image that has them: MUSTER_TEST_K8S_APPS_IMAGE, on a real
cluster only. Elsewhere pods run the terminal.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_anywhere import api_of
from tests.e2e.test_first_job import sign_in
from tests.e2e.test_sessions import JUPYTER, run_cell, stop
from tests.experiments.test_tensorboard import NEW
from tests.rig.environment import ROOT
from tests.rig.kube import is_real, options_of, portal_address
from tests.rig.portal import Portal
from tests.rig.processes import Folder
from tests.rig.slurm import Slurm, start_slurm
from tests.rig.slurm_cluster import SECOND_USER

pytestmark = [pytest.mark.browser, pytest.mark.serial, pytest.mark.integration]
IMAGE = os.environ.get("MUSTER_TEST_K8S_APPS_IMAGE", "") if is_real() else ""
APPS = ("jupyter", "tensorboard")
COMMAND = """\
python3 - <<'END'
import os
from http.server import BaseHTTPRequestHandler
from socketserver import UnixStreamServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<h1>from the socket")

    def log_message(self, *args):
        pass

UnixStreamServer(os.environ["MUSTER_APP_SOCKET"], Handler).serve_forever()
END
"""
CODE_SERVER = os.environ.get("MUSTER_TEST_CODE_SERVER", "")
PLACES = [
    ("slurm", "terminal"),
    ("kubernetes", "terminal"),
    *(("slurm", name) for name in (*APPS, "app")),
    *(("kubernetes", name) for name in APPS if IMAGE),
    *((name, "vscode") for name in ("local", "slurm") if CODE_SERVER),
    *([("kubernetes", "vscode")] if CODE_SERVER and IMAGE else []),
]


@pytest.fixture(scope="module")
def folder() -> Iterator[Folder]:
    made = Folder()
    yield made
    made.close()


@pytest.fixture(scope="module")
def slurm(folder: Folder) -> Slurm:
    """Return a Slurm whose site puts JupyterLab and TensorBoard into the PATH of jobs."""
    prolog = folder.path / "prolog"
    prolog.write_text(f"#!/bin/sh\necho export PATH={_programs(folder.path)}:{CODE_SERVER}:$PATH\n")
    prolog.chmod(0o755)
    return start_slurm(folder, nodes=2, settings={"TaskProlog": str(prolog)})


@pytest.fixture(scope="module")
def portal(
    folder: Folder, slurm: Slurm, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Portal]:
    """Return a portal with both clusters, and a dataset with curves."""
    made = Portal(
        folder,
        address=portal_address(),
        settings={
            "MUSTER_BIND": "0.0.0.0",
            "MUSTER_APPS_HOST": "*.apps.localhost",
            "PATH": f"{CODE_SERVER}:{os.environ['PATH']}",
        },
        is_furnished=True,
    )
    made.start()
    spool = slurm.work / "portal"
    spool.mkdir()
    spool.chmod(0o1777)
    rest = {"rest_url": slurm.rest_url, "rest_key": slurm.jwt_key.read_text()}
    image = {"image": IMAGE} if IMAGE else {}
    clusters = {
        "slurm": {"spool": str(spool), "user": slurm.user, **rest},
        "kubernetes": {**options_of(), **image, "shared": []},
    }
    with api_of(made) as api:
        for name, options in clusters.items():
            body = {"name": name, "backend": name, "options": options}
            api.post("/api/v1/clusters", json=body).raise_for_status()
    _upload(made, tmp_path_factory.mktemp("curves"))
    yield made
    made.stop()


def _programs(folder: Path) -> Path:
    """Return a folder with the programs of .venv-jupyter that the users of jobs may run.

    The virtual environment may have a Python that only its owner reaches.
    """
    [library] = (JUPYTER.parent / "lib").iterdir()
    made = folder / "jupyter"
    python = made / "bin" / "python3"
    subprocess.run([f"/usr/bin/{library.name}", "-m", "venv", "--without-pip", made], check=True)
    (made / "share").symlink_to(JUPYTER.parent / "share")
    [packages] = made.glob("lib/*/site-packages")
    (packages / "jupyter.pth").write_text(f"{library}/site-packages\n")
    for name in ("jupyter-lab", "tensorboard"):
        _, _, text = (JUPYTER / name).read_text().partition("\n")
        (made / "bin" / name).write_text(f"#!{python}\n{text}")
        (made / "bin" / name).chmod(0o755)
    return made / "bin"


def _upload(portal: Portal, folder: Path) -> None:
    (folder / "events.out.tfevents.1.test").write_bytes(NEW.read_bytes())
    env = os.environ | {
        "PYTHONPATH": str(ROOT / "client"),
        "MUSTER_URL": portal.url,
        "MUSTER_TOKEN": portal.token(),
    }
    words = ("muster", "dataset", "upload", str(folder), "curves", "-m", "First")
    subprocess.run([sys.executable, "-m", *words], env=env, check=True)


@pytest.mark.parametrize(("cluster", "template"), PLACES)
def test_app_is_used_in_a_browser_and_refuses_neighbours(
    portal: Portal, slurm: Slurm, page: Page, cluster: str, template: str
):
    sign_in(page, portal)
    chosen = {"template": template, "pool": cluster, **MORE.get(template, {})}
    page.goto(f"{portal.url}/home/sessions/new?{urlencode(chosen)}")
    page.get_by_role("button", name="Start session").click()
    expect(page.locator(".job-head .state")).to_have_text("ready", timeout=120_000)
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open", exact=True).click()
    USE[template](popup.value)
    if cluster == "slurm":
        port = _port(portal, page)
        assert _asked(slurm, port) == "403", "another user of the node has no secret"
    stop(page)


def _port(portal: Portal, page: Page) -> int:
    with api_of(portal) as api:
        job = api.get(f"/api/v1/orgs/home/jobs/{page.url.rpartition('/')[2]}").json()
    return int(job["ports"][0]["port"])


def _asked(slurm: Slurm, port: int) -> str:
    url = f"http://127.0.0.1:{port}/api/status"
    words = ("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", url)
    return slurm.run(*words, user=SECOND_USER)


def _use_terminal(app: Page) -> None:
    app.locator(".xterm-screen").click()
    app.keyboard.type("echo $((6 * 7)) $MUSTER_JOB_NUMBER\n")
    expect(app.locator(".xterm-rows")).to_contain_text("42")


def _use_jupyter(app: Page) -> None:
    run_cell(app, "print(6 * 7)", "42\n")


def _use_tensorboard(app: Page) -> None:
    expect(app.locator("text=loss").first).to_be_visible(timeout=60_000)


def _use_vscode(app: Page) -> None:
    app.locator(".monaco-workbench .explorer-folders-view").wait_for(timeout=120_000)
    app.keyboard.press("Control+Shift+Backquote")
    app.locator(".terminal-wrapper.active .xterm-screen").wait_for()
    app.wait_for_timeout(4000)  # it drops what is typed before the shell has begun
    app.keyboard.type("echo before > notes.txt\n")
    app.get_by_role("treeitem", name="notes.txt").dblclick()
    lines = app.locator(".editor-instance .view-lines")
    expect(lines).to_contain_text("before")
    lines.click()
    app.keyboard.press("Control+End")
    app.keyboard.type("after")
    app.keyboard.press("Control+s")
    expect(app.locator(".tab.dirty")).to_have_count(0)
    app.locator(".terminal-wrapper.active .xterm-screen").click()
    app.keyboard.type("cat notes.txt | tr a-z A-Z > loud.txt; clear\n")
    app.get_by_role("treeitem", name="loud.txt").dblclick()
    expect(lines.last).to_contain_text("AFTER")


def _use_app(app: Page) -> None:
    expect(app.locator("h1")).to_have_text("from the socket")


USE = {
    "terminal": _use_terminal,
    "jupyter": _use_jupyter,
    "tensorboard": _use_tensorboard,
    "vscode": _use_vscode,
    "app": _use_app,
}
MORE = {"tensorboard": {"data": "curves"}, "app": {"command": COMMAND}}
