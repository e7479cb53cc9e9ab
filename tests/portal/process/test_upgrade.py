"""The database of the previous landing is upgraded while its jobs run."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing

import httpx
import psycopg
import pytest
from django.db.migrations.loader import MigrationLoader

from schedulers.contract import Launch
from schedulers.local.backend import LocalBackend
from tests.rig.landing import KEY, unpack
from tests.rig.portal import Portal
from tests.rig.postgres import binary, create_database
from tests.rig.processes import Folder
from tests.rig.redis import start_redis
from tests.rig.tables import FILE

COMMIT = "53239a21"
# the second job reruns the first one
RERUN = "UPDATE {0} SET parent_id = (SELECT id FROM {0} WHERE number = 1) WHERE number = 2;"


def landed(folder: Folder, database_url: str = "", redis_url: str = "") -> Portal:
    """Return a portal with the database and home of the landing; its second job runs."""
    portal = Portal(folder, database_url, redis_url, settings={"MUSTER_SECRET_KEY": KEY})
    portal.home.mkdir(mode=0o700)
    sql = unpack(f"{COMMIT}-{'postgresql' if database_url else 'sqlite'}", portal.home)
    sql += RERUN.format("public.jobs_job" if database_url else "jobs_job")
    if database_url:
        psql = [binary("psql"), "-q", "-v", "ON_ERROR_STOP=1", database_url]
        subprocess.run(psql, input=sql, text=True, check=True, stdout=subprocess.DEVNULL)
    else:
        with closing(sqlite3.connect(portal.home / FILE)) as database:
            database.executescript(sql)
    [job] = (portal.home / "jobs").iterdir()
    backend = LocalBackend.configured({"home": str(portal.home), "isolation": "none"})
    backend.submit(Launch(key=job.name, name="running", script=""))  # it has a folder: continues
    return portal


@pytest.fixture
def folder() -> Iterator[Folder]:
    made = Folder()
    yield made
    made.close()


@pytest.mark.parametrize(
    "kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)]
)
def test_running_job_of_previous_landing_goes_on_after_upgrade(kind, folder, wait_for, request):
    urls = ()
    if kind == "postgresql":
        server = request.getfixturevalue("postgres_url")
        urls = (create_database(server, "upgrade"), start_redis(folder).url)
    portal = landed(folder, *urls)
    [job] = (portal.home / "jobs").iterdir()
    started = (job / "pid").read_text()
    portal.start()
    headers = {"Authorization": f"Bearer {portal.token()}"}
    with httpx.Client(
        base_url=f"{portal.url}/api/v1/orgs/home/", headers=headers, timeout=60
    ) as api:
        assert [api.get(f"jobs/{n}").json()["state"] for n in (1, 2, 3)] == [
            "succeeded",
            "running",
            "queued",
        ]
        rerun = api.get("jobs/2").json()
        assert (rerun["kind"], rerun["parent"], rerun["origin"]["label"]) == ("batch", 1, "#1")
        os.kill(int(started.split()[0]), 0)
        (job / "out" / "go").touch()
        for number in (2, 3):
            path = f"jobs/{number}"
            wait_for(lambda path=path: api.get(path).json()["state"] == "succeeded")
            assert len(api.get(path).json()["attempts"]) == 1
        wait_for(lambda: api.get("jobs/2/logs/certificate").json()["certificate"])
        assert api.get("jobs/2/logs/download").content.endswith(b"waiting\nwent on\n")
    portal.stop()


def test_postgresql_of_previous_landing_is_upgraded(folder, postgres_url, redis_url):
    url = create_database(postgres_url, "upgrade")
    portal = landed(folder, url, redis_url)
    portal.manage("serve", "--only", "prepare")
    with psycopg.connect(url) as database:
        applied = set(database.execute("SELECT app, name FROM django_migrations").fetchall())
    assert applied >= MigrationLoader(None).graph.nodes.keys()
    [job] = (portal.home / "jobs").iterdir()
    (job / "out" / "go").touch()
