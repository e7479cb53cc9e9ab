"""`manage.py serve` with real processes, in both modes."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator

import httpx
import psutil
import pytest

from portal.process.stack import PARTS
from tests.rig.portal import Portal
from tests.rig.postgres import create_database
from tests.rig.processes import Folder, RigFailure
from tests.rig.redis import start_redis


@pytest.fixture
def folder() -> Iterator[Folder]:
    made = Folder()
    yield made
    made.close()


@pytest.fixture
def portal(folder, mode, request) -> Portal:
    """Return an unstarted portal in the mode of the suite, with a random admin password."""
    if mode == "embedded":
        return Portal(folder, settings={"MUSTER_ADMIN_PASSWORD": ""}, is_furnished=True)
    url = create_database(request.getfixturevalue("postgres_url"), "serve")
    return Portal(
        folder,
        url,
        start_redis(folder).url,
        settings={"MUSTER_ADMIN_PASSWORD": ""},
        is_furnished=True,
    )


@pytest.mark.both_databases
@pytest.mark.integration
def test_first_start_shows_working_login_once(portal, folder, wait_for):
    portal.is_furnished = False
    portal.start()
    shown = wait_for(
        lambda: re.search(r"Password +(\S+) +shown this once", folder.tail("portal", 8000))
    )
    with httpx.Client(base_url=portal.url, follow_redirects=True) as browser:
        page = browser.get("/accounts/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token
        form = {"login": "ada@atlas.example", "password": shown[1], "csrfmiddlewaretoken": token[1]}
        landed = browser.post("/accounts/login/", data=form, headers={"Referer": str(page.url)})
    assert landed.status_code == 200
    assert landed.url.path.startswith("/home")
    portal.stop()
    portal.start()
    wait_for(lambda: "as before" in folder.tail("portal", 1500))


@pytest.mark.integration
def test_secret_key_is_generated_once_with_private_mode(portal):
    portal.start()
    path = portal.home / "secret_key"
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_text()
    portal.stop()
    portal.start()
    assert path.read_text() == before


@pytest.mark.integration
def test_second_portal_on_same_home_does_not_start(portal, folder):
    portal.start()
    second = Portal(
        folder, portal.database_url, portal.redis_url, name="portal", settings=portal.settings
    )
    with pytest.raises(RigFailure, match=r"Another portal .* already runs on"):
        second.start()


@pytest.mark.integration
@pytest.mark.both_databases
def test_sigterm_leaves_no_process_and_mentions_jobs(portal, folder):
    portal.start()
    assert portal.process is not None
    family = psutil.Process(portal.process.pid).children(recursive=True)
    portal.stop()
    assert portal.process.returncode == 0
    assert "Jobs keep running" in folder.tail("portal")
    assert not [process for process in family if process.is_running()]


@pytest.mark.integration
@pytest.mark.both_databases
def test_stack_restarts_every_component_after_kill_9(portal, mode, wait_for):
    portal.start()
    parts = PARTS if mode == "server" else ()
    for name in parts:
        before = portal.part(name)
        os.kill(before, signal.SIGKILL)
        wait_for(lambda name=name, before=before: _part(portal, name) not in {0, before})
        wait_for(lambda: _is_healthy(portal))
    if mode == "embedded":
        portal.kill()
        portal.start()
        assert httpx.get(f"{portal.url}/healthz", timeout=10).status_code == 200


def _is_healthy(portal: Portal) -> bool:
    try:
        return httpx.get(f"{portal.url}/healthz", timeout=10).status_code == 200
    except httpx.TransportError:
        return False  # nginx is restarting


def _part(portal: Portal, name: str) -> int:
    try:
        return portal.part(name)
    except (FileNotFoundError, ValueError):
        return 0
