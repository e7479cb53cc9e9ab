from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.rig.mlflow import MlflowClient
from tests.rig.portal import Portal


@pytest.fixture(scope="module")
def live_portal(running_portal: Portal) -> Portal:
    """Return a running portal with the teams that clients log to."""
    with running_portal.browser() as browser:
        for slug in ("skinny", "two", "three", "same", "others"):
            team = {"slug": slug, "name": slug.title()}
            browser.post("/api/v1/orgs/home/teams", json=team).raise_for_status()
    return running_portal


@pytest.fixture(scope="module")
def token(live_portal: Portal) -> str:
    return live_portal.token()


@pytest.fixture(scope="module")
def browser(live_portal: Portal) -> Iterator[httpx.Client]:
    """Return an HTTP client that is signed in as the administrator."""
    with live_portal.browser() as client:
        yield client


@pytest.fixture
def client_of(
    live_portal: Portal, token: str, tmp_path: Path
) -> Callable[[str, str], MlflowClient]:
    """Return `client_of(environment, team)`."""

    def build(environment: str, team: str) -> MlflowClient:
        return MlflowClient(environment, f"{live_portal.url}/mlflow/home/{team}", tmp_path, token)

    return build
