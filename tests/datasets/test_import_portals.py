"""Imports of running portals: one is killed, and another takes its dataset from it as from a Hub."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from muster import Client, MusterError
from tests.rig.environment import ROOT
from tests.rig.portal import Portal
from tests.rig.processes import Folder, free_port, wait_until
from tests.rig.web import WebServer, web_server

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def portals() -> Iterator[tuple[Portal, Portal, WebServer]]:
    """Return two portals and a web server; both may import from all of them."""
    folder = Folder()
    with web_server() as web:
        ports = free_port(), free_port()
        hosts = ",".join([web.host, *(f"127.0.0.1:{port}" for port in ports)])
        made = [
            Portal(
                folder,
                name=f"portal-{number}",
                port=port,
                settings={"MUSTER_IMPORT_HOSTS": hosts},
                is_furnished=True,
            )
            for number, port in enumerate(ports)
        ]
        for portal in made:
            portal.start()
        yield made[0], made[1], web
        for portal in made:
            portal.stop()
    folder.close()


def test_import_survives_a_kill_and_another_portal_takes_it(portals, tmp_path: Path):
    first, second, web = portals
    data = {f"{n}.bin": os.urandom(400_000) for n in range(60)}
    web.files = {f"/{name}": content for name, content in data.items()}
    web.seconds = 0.1  # each answer takes so long, so that there is a middle
    urls = [f"{web.url}/{name}" for name in data]
    token = first.token()
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "client"),
        "MUSTER_URL": first.url,
        "MUSTER_TOKEN": token,
        "MUSTER_CONFIG": str(tmp_path / "none"),
    }
    argv = [sys.executable, "-m", "muster", "dataset", "import", *urls, "noise"]
    command = subprocess.Popen(argv, env=env, stdout=-1, stderr=-1)
    with Client(first.url, token) as client:

        def done() -> int:
            try:
                [row] = client.datasets.imports("noise")
            except (MusterError, ValueError):
                return 0
            return int(row["files_done"])

        wait_until(lambda: done() >= 8, "some files are stored", 90)
        first.kill()
        first.start()
        out, err = command.communicate(timeout=180)
        assert command.returncode == 0, err
        assert b"imported 60 files" in out
        [row] = client.datasets.imports("noise")
        assert (row["state"], row["version"], row["bytes_done"]) == ("succeeded", 1, 24_000_000)
    gets = [path for method, path, _range in web.requests if method == "GET"]
    assert len(gets) < 60 + 30  # files that were stored are not fetched again
    assert "valid" in first.manage("fsck", "--deep")
    other = second.token()
    with Client(second.url, other) as client:
        client.datasets.create("copy", "default")
        client.send("PUT", "secrets/default/HUB", {"value": token})
        asked = {"endpoint": f"{first.url}/hf", "secrets": {"token": "team/HUB"}}
        row = client.datasets.start_import("copy", "hf://datasets/home/noise@main", **asked)
        row = client.datasets.wait_for_import("copy", row["id"], every=0.3)
        assert row["files_done"] == 60
        paths = {f["path"]: f["sha256"] for f in client.datasets.files("copy")}
        with Client(first.url, token) as source:
            assert paths == {f["path"]: f["sha256"] for f in source.datasets.files("noise")}
        row = client.datasets.start_import(
            "copy", "hf://datasets/home/noise", folder="again", **asked
        )
        assert client.datasets.wait_for_import("copy", row["id"], every=0.3)["version"] == 2
        bad = client.datasets.start_import("copy", "hf://datasets/home/none", **asked)
        with pytest.raises(MusterError, match="404"):
            client.datasets.wait_for_import("copy", bad["id"], every=0.3)
        web.seconds = 1.0
        slow = client.datasets.start_import("copy", urls)
        wait_until(
            lambda: client.datasets.get_import("copy", slow["id"])["state"] == "running", "it runs"
        )
        assert client.datasets.cancel_import("copy", slow["id"])["state"] == "canceled"
        with pytest.raises(MusterError, match="canceled"):
            client.datasets.wait_for_import("copy", slow["id"])
