"""Check whether a job's image can run on the nodes of its cluster or pool."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from clusters.models import Cluster, Gpu, Node, Pool
from clusters.pools import is_in
from jobs.images import lookups
from jobs.images.failures import remembered
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from schedulers.images.compatibility import Compatibility, CompatibilityReport, NodePlatform, fit
from schedulers.images.config import Image
from schedulers.images.requirements import Device, version
from schedulers.spec import ImageCheck, JobSpec

# Lifetime in seconds and size of the cache; drivers of nodes seldom change.
REMEMBERED, MOST = (
    60,
    2_000,
)
OVERRIDE = Message("To submit it anyway, set `image_check: warn` under `policy`.")
_SWITCH = "NVIDIA_DISABLE_REQUIRE"
_verdicts: dict[object, tuple[float, str]] = {}


@dataclass(frozen=True)
class ImageCheckResult:
    """Result of the check.

    `is_ok` False: refused; None: unknown. `is_doubtful`: may fail on some node.
    """

    is_ok: bool | None
    text: str
    is_doubtful: bool = False


def check_result_for(
    image: Image | str, spec: JobSpec, cluster: Cluster, pool: Pool | None
) -> ImageCheckResult:
    """Describe the result, with advice."""
    if isinstance(image, str):
        return ImageCheckResult(
            None, Message("Not checked: {image}. This refuses nothing.", image=image)
        )
    found = fitting_of(image, spec, cluster, pool)
    is_refused = found.is_hopeless and not _is_only_warned(spec)
    text = _refusal(found) if is_refused else Message.joined(" ", (found.text, found.advice))
    return ImageCheckResult(
        not is_refused, text, any(g.reason.fit >= Compatibility.DOUBTFUL for g in found.groups)
    )


def check_image(spec: JobSpec, cluster: Cluster, pool: Pool | None) -> None:
    """Raise InvalidInput if the image is known to be unable to start on any node.

    Queries no registry; an unknown image is looked up in the background for the next time.
    """
    misfit = image_misfit(spec, cluster, pool)
    if misfit != "":
        lookups.start_lookup(
            spec.image
        )  # also after a refusal: the tag may move before the next attempt
    if misfit:
        raise InvalidInput.at("image", misfit)


def image_misfit(spec: JobSpec, cluster: Cluster, pool: Pool | None) -> str | None:
    """Return why the image can start on no node; empty if it may, None if unknown.

    Positive results are cached in the process, because submissions ask often.
    """
    if not spec.image or _is_only_warned(spec):
        return ""
    resources = spec.resources
    key = (
        spec.image,
        cluster.id,
        pool and pool.id,
        resources.gpus > 0 and (resources.gpu_type or "").lower(),
        spec.envs.get(_SWITCH),
    )
    until, text = _verdicts.get(key, (0.0, ""))
    if time.monotonic() < until:
        return text
    image = lookups.cached_image(spec.image)
    if image is None:
        return None
    text = "" if isinstance(image, str) else _refusal(fitting_of(image, spec, cluster, pool))
    return text or _cache(key, text)


def _refusal(found: CompatibilityReport) -> str:
    return Message.joined(" ", (found.text, found.advice, OVERRIDE)) if found.is_hopeless else ""


def _cache(key: object, text: str) -> str:
    if len(_verdicts) >= MOST:
        _verdicts.clear()
    _verdicts[key] = time.monotonic() + REMEMBERED, text
    return text


def fitting_of(
    image: Image, spec: JobSpec, cluster: Cluster, pool: Pool | None
) -> CompatibilityReport:
    """Compare the image with every node that has the requested GPUs."""
    resources = spec.resources
    hosts = hosts_of(cluster, pool, (resources.gpu_type or "").lower() if resources.gpus else None)
    env = {_SWITCH: spec.envs[_SWITCH]} if _SWITCH in spec.envs else {}
    return fit(
        image,
        hosts,
        wants_gpus=bool(resources.gpus),
        env=env,
        ended=remembered(image) if resources.gpus else {},
    )


def hosts_of(cluster: Cluster, pool: Pool | None, gpu_type: str | None) -> list[NodePlatform]:
    """Return the nodes. `gpu_type` None: GPUs do not matter; "": any type.

    A node with several matching types is represented by the first.
    """
    cards = _cards(cluster)
    nodes = (
        Node.objects.filter(cluster=cluster, is_gone=False)
        .only("id", "name", "labels", "partitions", "runs", "reported")
        .order_by("name")
    )
    inside = [
        node
        for node in nodes
        if pool is None or is_in(pool, node, [kind for kind, _, _ in cards[node.id]])
    ]
    if gpu_type is None:
        return [NodePlatform(node.name, _fact(node, "arch")) for node in inside]
    found = (
        (node, [card for card in cards[node.id] if gpu_type in ("", card[0])]) for node in inside
    )
    return [_host(node, some) for node, some in found if some]


def _cards(cluster: Cluster) -> dict[UUID, list[tuple[str, str, str]]]:
    cards: dict[UUID, list[tuple[str, str, str]]] = defaultdict(list)
    rows = Gpu.objects.filter(node__cluster=cluster, node__is_gone=False).values_list(
        "node_id", "type", "model", "compute"
    )
    for node, kind, model, compute in rows.distinct().order_by("type"):
        cards[node].append((kind, model, compute))
    return cards


def _host(node: Node, cards: Sequence[tuple[str, str, str]]) -> NodePlatform:
    _, model, compute = cards[0]
    device = Device(
        version(_fact(node, "driver")),
        version(_fact(node, "cuda")),
        version(compute or node.reported.get("compute", "")),
        _brand(model),
    )
    return NodePlatform(node.name, _fact(node, "arch"), device, model)


def _fact(node: Node, what: str) -> str:
    """Return the inventory's value, else the agent's."""
    return str(node.runs.get(what) or node.reported.get(what, ""))


def _brand(model: str) -> str:
    """Return NVIDIA's product family in the name; newer data center cards have none."""
    return next(
        (brand for brand in ("tesla", "geforce", "quadro", "titan") if brand in model.lower()), ""
    )


def _is_only_warned(spec: JobSpec) -> bool:
    return spec.policy.image_check == ImageCheck.WARN
