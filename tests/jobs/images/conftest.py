from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import pytest
from django.core.cache import cache

from clusters.models import Cluster, Gpu, Node
from schedulers import backends
from schedulers.contract import Capability
from tests.clusters.conftest import Drainable
from tests.jobs.stage import GIB
from tests.rig.registry import Registry, start_registry


class Imaging(Drainable):
    """A scheduler that runs images; only `render` is implemented."""

    name: ClassVar[str] = "imaging"
    capabilities = frozenset({Capability.IMAGES})


@pytest.fixture(scope="module")
def registry(rig) -> Registry:
    """Return a real registry, which the tests of one file fill."""
    return start_registry(rig)


@pytest.fixture
def allowed(registry, settings) -> Registry:
    """Return the registry, allowed by the operator and not cached."""
    settings.MUSTER_IMAGE_CHECK, settings.MUSTER_IMAGE_REGISTRIES = (
        True,
        [f"http://{registry.host}"],
    )
    cache.clear()
    return registry


@pytest.fixture
def cluster(db, monkeypatch) -> Cluster:
    monkeypatch.setitem(backends(), "imaging", Imaging)
    return Cluster.objects.create(name="big", backend="imaging", config={"url": "x"})


@pytest.fixture
def add_nodes(cluster) -> Callable[..., None]:
    """Return a function: `add_nodes(2, driver="470.82.01")` adds nodes of one GPU each."""

    def add(
        count: int,
        *,
        arch: str = "amd64",
        driver: str = "",
        model: str = "NVIDIA H200",
        compute: str = "",
        **node: object,
    ) -> None:
        kind = model.rpartition(" ")[2].lower()
        runs = {name: value for name, value in (("arch", arch), ("driver", driver)) if value}
        rows = Node.objects.bulk_create(
            Node(
                cluster=cluster,
                name=f"{model}-{arch}-{driver}-{n}".replace(" ", ""),
                cpus=64_000,
                memory=512 * GIB,
                runs=runs,
                **node,
            )
            for n in range(count)
        )
        Gpu.objects.bulk_create(
            Gpu(
                node=row,
                index=0,
                uuid=f"{row.name}/0",
                model=model,
                type=kind,
                memory=80 * GIB,
                compute=compute,
            )
            for row in rows
        )

    return add
