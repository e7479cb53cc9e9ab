from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.rig.mlflow import MlflowClient
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.postgres import create_database
from tests.rig.processes import Folder
from tests.rig.redis import start_redis

TEAMS = """
import json
from workspaces.access.actors import actor_of
from workspaces.models import Organization, User
from workspaces.organizations.services import create_team
from workspaces.tenancy.scope import org_scope
org = Organization.objects.get(slug="home")
ada = User.objects.get(is_operator=True)
with org_scope(org.id):
    for slug in json.loads(SLUGS):
        create_team(actor=actor_of(ada).enter(org), org=org, slug=slug, name=slug.title())
"""


@pytest.fixture(scope="module")
def live_portal(mode: str, request: pytest.FixtureRequest) -> Iterator[Portal]:
    """Return a running portal with the teams that clients log to."""
    folder, urls = Folder(), {}
    if mode == "server":
        database = create_database(request.getfixturevalue("postgres_url"), "mlflow_portal")
        urls = {"database_url": database, "redis_url": start_redis(folder).url}
    portal = Portal(folder, **urls, is_furnished=True)
    portal.start()
    slugs = json.dumps(["skinny", "two", "three", "same", "others"])
    portal.manage("shell", "-v", "0", "-c", f"SLUGS = {slugs!r}\n{TEAMS}")
    yield portal
    portal.stop()
    folder.close()


@pytest.fixture(scope="module")
def token(live_portal: Portal) -> str:
    return live_portal.token()


@pytest.fixture(scope="module")
def browser(live_portal: Portal) -> Iterator[httpx.Client]:
    """Return an HTTP client that is signed in as the administrator."""
    with httpx.Client(base_url=live_portal.url, timeout=60) as client:
        page = client.get("/accounts/login/").text
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found
        form = {"login": EMAIL, "password": PASSWORD, "csrfmiddlewaretoken": found[1]}
        assert client.post("/accounts/login/", data=form).is_redirect
        yield client


@pytest.fixture
def client_of(
    live_portal: Portal, token: str, tmp_path: Path
) -> Callable[[str, str], MlflowClient]:
    """Return `client_of(environment, team)`."""

    def build(environment: str, team: str) -> MlflowClient:
        return MlflowClient(environment, f"{live_portal.url}/mlflow/home/{team}", tmp_path, token)

    return build
