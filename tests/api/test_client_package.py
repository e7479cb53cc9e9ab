"""The wheel of the command that the portal serves, installed by real pip."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from django.test import Client

from muster import __version__
from portal.api import client_package
from tests.rig.portal import Portal


def test_wheel_has_all_modules_and_the_same_bytes_each_time(settings):
    client_package.client_package.cache_clear()
    first = client_package.client_package()
    client_package.client_package.cache_clear()
    assert client_package.client_package().content == first.content
    names = zipfile.ZipFile(BytesIO(first.content)).namelist()
    sources = client_package.SOURCES.glob("muster/**/*.py")
    assert {path.relative_to(client_package.SOURCES).as_posix() for path in sources} < {*names}
    assert "muster/py.typed" in names and not [name for name in names if "__pycache__" in name]


def test_page_of_a_newcomer_shows_how_to_install_the_command(story):
    package = client_package.client_package()
    page = story.client(story.ben).get(f"/{story.atlas.slug}/").content.decode()
    assert package.pip in page and package.sha256 in page


def test_unknown_version_of_the_wheel_is_not_found():
    assert Client().get("/api/client/muster_client-0.0.1-py3-none-any.whl").status_code == 404


@pytest.mark.integration
@pytest.mark.parametrize("way", ["address", "index", "curl"])
def test_pip_installs_the_command_from_the_portal(way, embedded_portal: Portal, tmp_path: Path):
    package = client_package.client_package()
    url = f"{embedded_portal.url}{client_package.PATH}"
    assert httpx.get(url + package.name).content == package.content
    place = tmp_path / "venv"
    venv.create(place, symlinks=True, with_pip=False)
    # Its dependencies are those of this environment, so that no index is needed.
    (next(place.glob("lib/python*/site-packages")) / "ours.pth").write_text(
        next(path for path in sys.path if path.endswith("site-packages"))
    )
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    pip += [f"--python={place}/bin/python", "install", "--no-deps"]
    if way == "curl":
        program = tmp_path / "pip"
        program.write_text(f'#!/bin/sh\nshift\nexec {" ".join(pip)} "$@"\n')
        program.chmod(0o755)
        line = package.curl.replace(package.url, url + package.name)
        command = ["/bin/sh", "-ec", line]
    elif way == "index":
        command = [*pip, f"--index-url={url}simple", "muster-client"]
    else:
        command = [*pip, url + package.name]
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    environment.pop("PIP_INDEX_URL", None)
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = subprocess.run(
        [place / "bin" / "muster", "--version"], capture_output=True, text=True, check=True, env={}
    )
    assert shown.stdout == f"muster {__version__}\n"
