"""Django in this process, on a private durable PostgreSQL and Redis."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder
from tests.rig.redis import start_redis


def begin(folder: Folder) -> Any:
    """Start servers, migrate, create the organization `home`; return its administrator's actor."""
    os.environ.update(
        MUSTER_HOME=str(folder.path / "home"),
        MUSTER_DATABASE_URL=start_postgres(folder).url,
        MUSTER_REDIS_URL=start_redis(folder).url,
        MUSTER_ADMIN_EMAIL=EMAIL,
        MUSTER_ADMIN_PASSWORD=PASSWORD,
        DJANGO_SETTINGS_MODULE="portal.settings",
        MUSTER_LOCAL_CLUSTER="true",
    )
    import django

    django.setup()
    import portal.celery  # noqa: F401  send wake-ups to our broker instead of Celery's default
    from clusters.backends import ensure_first_cluster
    from portal.process.tables import create_tables
    from workspaces.access.actors import actor_of
    from workspaces.models import Organization, User
    from workspaces.organizations.bootstrap import bootstrap

    create_tables()
    bootstrap()
    ensure_first_cluster()
    return actor_of(User.objects.get()).enter(Organization.objects.get())


def make_nodes(cluster: Any, count: int, gpus: int) -> list[Any]:
    """Add nodes in racks of eight to a cluster, some drained or not ready; return their H200s."""
    from clusters.models import Gpu, Node

    nodes = Node.objects.bulk_create(
        Node(
            cluster=cluster,
            name=f"n{n:04}",
            cpus=192_000,
            memory=1 << 41,
            used_gpus=n % 9,
            is_drained=n % 50 == 0,
            is_ready=n % 70 != 1,
            labels={"rack": f"r{n // 8}", "fabric": "ib" if n % 2 else "eth"},
            partitions=["main", "night"][: 1 + n % 2],
        )
        for n in range(count)
    )
    return Gpu.objects.bulk_create(
        (
            Gpu(
                node=node,
                index=i,
                uuid=f"{node.name}-{i}",
                model="NVIDIA H200",
                type="h200",
                memory=141 << 30,
            )
            for node in nodes
            for i in range(gpus)
        ),
        batch_size=2000,
    )


@contextmanager
def browser(folder: Folder) -> Iterator[httpx.Client]:
    """Return a signed-in keep-alive client of a server stack on the servers of `begin`."""
    home = {"MUSTER_HOME": os.environ["MUSTER_HOME"]}
    portal = Portal(
        folder, os.environ["MUSTER_DATABASE_URL"], os.environ["MUSTER_REDIS_URL"], settings=home
    )
    try:
        portal.start()
        with httpx.Client(base_url=portal.url, timeout=60) as client:
            token = re.search(
                r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get("/accounts/login/").text
            )
            form = {
                "login": EMAIL,
                "password": PASSWORD,
                "csrfmiddlewaretoken": token[1] if token else "",
            }
            client.post(
                "/accounts/login/", data=form, headers={"Referer": f"{portal.url}/accounts/login/"}
            )
            yield client
    finally:
        portal.stop()
