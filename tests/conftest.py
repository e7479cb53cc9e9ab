"""Fixtures of the whole suite: servers, a home, waiting with a deadline, and the story."""

from __future__ import annotations

import gc
import itertools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import pytest
from django.utils import translation
from hypothesis import HealthCheck, settings

from tests.leftovers import Leftovers, note_places
from tests.rig.open_folder import open_folder
from tests.rig.order import PARTS, is_integration, marks_of, place, unit_of
from tests.rig.portal import Portal
from tests.rig.postgres import create_database, start_postgres
from tests.rig.processes import Folder
from tests.rig.redis import start_redis
from tests.rig.slurm import Slurm, start_slurm

if TYPE_CHECKING:
    from tests.story import Story

# A busy machine must not fail a test.
settings.register_profile("muster", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("muster")
T = TypeVar("T")
Wait = Callable[..., T]


def pytest_configure(config: pytest.Config) -> None:
    note_places()
    config.pluginmanager.register(Leftovers())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files of which `make test` runs nothing; some take seconds."""
    is_gate = "not integration" in config.getoption("markexpr") and config.args == ["tests"]
    return True if is_gate and is_integration(collection_path) else None


@pytest.hookimpl(trylast=True)  # keep Django's order within a file
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: place(item.path))
    unseen = {
        f"{item.path}: {mark.name}"
        for item in items
        for mark in item.iter_markers()
        if mark.name in PARTS and mark.name not in marks_of(item.path)
    }
    if unseen:
        raise pytest.UsageError(
            f"not marked as `pytest.mark.NAME` in its file, so the suite would not run it: {unseen}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Collect tests without garbage collection, and freeze what was made: it lives until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)  # as in a web process
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the files that share a portal in one process, one after the other."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(super()._split_scope(nodeid))

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


_portals: dict[str, Portal] = {}


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop the portal that files share after the last of them."""
    if nextitem is None or unit_of(item.nodeid) != unit_of(nextitem.nodeid):
        while _portals:
            _portals.popitem()[1].stop()


def _running(mode: str, rig: Folder, request: pytest.FixtureRequest) -> Portal:
    if mode not in _portals:
        from tests.rig.kube import portal_address  # imports the client of Kubernetes

        name = f"{mode}-{uuid4().hex[:8]}"
        portal = Portal(rig, name=name, address=portal_address(), is_furnished=True)
        if mode == "server":
            server = request.getfixturevalue("postgres_url")
            portal.database_url = create_database(server, "running_portal")
            portal.redis = start_redis(rig, name=f"{name}-redis")
            portal.redis_url = portal.redis.url
        portal.start()
        _portals[mode] = portal
    return _portals[mode]


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Reset the language of the thread, which a request for another language has changed."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def forgotten_backends() -> Iterator[None]:
    """Forget the backends of a test's clusters, which watch theirs in threads."""
    yield
    from clusters.backends import forget_backends

    forget_backends()


@pytest.fixture(autouse=True)
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep rate windows constant, so that no test fails when a minute ends."""
    from portal.core import rate_windows  # settings can only be imported once Django is ready

    now = int(time.time())
    monkeypatch.setattr(rate_windows, "_seconds", lambda: now)


_keys: dict[tuple[int, int], Any] = {}


@pytest.fixture(autouse=True)
def kept_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generate RSA keys once per process, at half a second each; a test gets each key once."""
    from cryptography.hazmat.primitives.asymmetric import rsa

    generate, number = rsa.generate_private_key, itertools.count()

    def kept(public_exponent: int, key_size: int, backend: Any = None) -> Any:
        place = (key_size, next(number))
        if place not in _keys:
            _keys[place] = generate(public_exponent, key_size, backend)
        return _keys[place]

    monkeypatch.setattr(rsa, "generate_private_key", kept)


@pytest.fixture(scope="session")
def mode() -> str:
    """Return "embedded" or "server"."""
    return os.environ["MUSTER_TEST_MODE"]


@pytest.fixture(scope="session")
def rig() -> Iterator[Folder]:
    """Return a temporary directory whose processes end with the session."""
    folder = Folder()
    yield folder
    folder.close()


@pytest.fixture(scope="session")
def postgres_url(rig: Folder) -> str:
    """Return a PostgreSQL: that of the suite in server mode, else a new one."""
    return os.environ.get("MUSTER_DATABASE_URL") or start_postgres(rig, durable=False).url


@pytest.fixture(scope="session")
def redis_url(rig: Folder) -> str:
    """Return a Redis: that of the suite in server mode, else a new one."""
    return os.environ.get("MUSTER_REDIS_URL") or start_redis(rig).url


@pytest.fixture(scope="module")
def embedded_portal(rig: Folder, request: pytest.FixtureRequest) -> Portal:
    """Return a running embedded portal, which the files of `tests.rig.order.TOGETHER` share."""
    return _running("embedded", rig, request)


@pytest.fixture(scope="module")
def running_portal(mode: str, rig: Folder, request: pytest.FixtureRequest) -> Portal:
    """Return a running portal of the current mode, shared likewise; in server mode the stack."""
    return _running(mode, rig, request)


@pytest.fixture(scope="session")
def slurm() -> Iterator[Slurm]:
    """Return a real Slurm of four nodes with fake GPUs, one per xdist worker."""
    folder = Folder()
    try:
        yield start_slurm(folder)
    finally:
        folder.close()


@pytest.fixture
def home(tmp_path: Path, settings) -> Path:
    """Return a MUSTER_HOME for one test."""
    path = tmp_path / "home"
    path.mkdir()
    settings.MUSTER_HOME = path
    return path


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """Return a folder that both the test and its local jobs may write."""
    with open_folder() as folder:
        yield folder


@pytest.fixture
def wait_for() -> Callable[..., object]:
    """Return `wait_for(condition, seconds=60)`, which returns the first true value or fails."""

    def poll(condition: Callable[[], T], seconds: float = 60, every: float = 0.02) -> T:
        deadline = time.monotonic() + seconds
        while True:
            if value := condition():
                return value
            if time.monotonic() > deadline:
                pytest.fail(f"not true within {seconds:g} s (last: {value!r})")
            time.sleep(every)

    return poll


@pytest.fixture
def story(db) -> Story:
    """Return Ada, Ben, Cyd and Dot, with Atlas and Borealis (tests/story.py)."""
    from tests.story_copy import copy_story  # models can only be imported once Django is ready

    return copy_story()


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment, django_db_blocker) -> None:
    """Copy the migrated tables for this process."""
    from django.db import connection
    from django.test import TransactionTestCase

    from tests.rig.tables import delete_committed_rows, test_database

    TransactionTestCase._fixture_teardown = delete_committed_rows
    with django_db_blocker.unblock():
        connection.close()
        connection.settings_dict["NAME"] = test_database(connection.settings_dict)


@pytest.fixture(scope="module")
def shared_story(django_db_setup, django_db_blocker) -> Iterator[Story]:
    """Create the story once for a module with hundreds of rows; rolled back at its end."""
    from django.db import transaction

    from tests.story import create_story

    with django_db_blocker.unblock(), transaction.atomic():
        yield create_story()
        transaction.set_rollback(True)


@pytest.fixture
def undone(shared_story: Story) -> Iterator[None]:
    """Roll back the changes of one test."""
    from django.db import connection, transaction

    from workspaces.access.custom_roles import invalidate

    with transaction.atomic():
        yield
        if not connection.needs_rollback:
            connection.check_constraints()  # as on commit
        transaction.set_rollback(True)
    invalidate()  # cached roles of this process that were rolled back
