"""Whether a job's image fits the nodes of the place it goes to: for the rehearsal, the form, and the door."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.core.cache import cache

from clusters.models import Cluster, Gpu, Node, Pool
from jobs import image_looks
from jobs.clusters.pools import is_in
from jobs.image_ends import remembered
from jobs.images.config import Image
from jobs.images.fitting import Fit, Fitting, Host, fit
from jobs.images.requirements import Device, version
from jobs.spec import ImageCheck, JobSpec
from portal.core.errors import InvalidInput

REMEMBERED = 60                       # seconds for which a verdict of the door holds: nodes seldom get another driver
OVERRIDE = "To submit it all the same, write `image_check: warn` under `policy`."
_SWITCH = "NVIDIA_DISABLE_REQUIRE"


@dataclass(frozen=True)
class Answer:
    """`is_ok` False: it would be refused; None: it could not be asked. `is_doubtful`: some node may not run it."""

    is_ok: bool | None
    text: str
    is_doubtful: bool = False


def answer_for(image: Image | str, spec: JobSpec, cluster: Cluster, pool: Pool | None) -> Answer:
    """In words, with what to do."""
    if isinstance(image, str):
        return Answer(None, f"Not checked: {image}. This refuses nothing.")
    found = fitting_of(image, spec, cluster, pool)
    is_refused = found.is_hopeless and not _is_only_warned(spec)
    text = " ".join(filter(None, (found.text, found.advice, OVERRIDE if is_refused else "")))
    return Answer(not is_refused, text, any(g.reason.fit >= Fit.DOUBTFUL for g in found.groups))


def check_image(spec: JobSpec, cluster: Cluster, pool: Pool | None) -> None:
    """Raises InvalidInput when it is known by now that no node could start the image. Asks no registry: what is not known yet
    is asked for in the background, for the next time."""
    if misfit := image_misfit(spec, cluster, pool):
        raise InvalidInput.at("image", misfit)
    if spec.image and not _is_only_warned(spec) and image_looks.known(spec.image) is None:
        image_looks.begin(spec.image)


def image_misfit(spec: JobSpec, cluster: Cluster, pool: Pool | None) -> str:
    """Why the image, as far as it is known by now, can start on no node of this place; empty where it may."""
    image = image_looks.known(spec.image) if spec.image and not _is_only_warned(spec) else None
    if not isinstance(image, Image):
        return ""
    found = _remembered(image, spec, cluster, pool)
    return " ".join(filter(None, (found.text, found.advice, OVERRIDE))) if found.is_hopeless else ""


def fitting_of(image: Image, spec: JobSpec, cluster: Cluster, pool: Pool | None) -> Fitting:
    """Against every node of the place that has the GPUs asked for."""
    ask = spec.resources
    hosts = hosts_of(cluster, pool, (ask.gpu_type or "").lower() if ask.gpus else None)
    env = {_SWITCH: spec.envs[_SWITCH]} if _SWITCH in spec.envs else {}
    return fit(image, hosts, wants_gpus=bool(ask.gpus), env=env, ended=remembered(image) if ask.gpus else {})


def hosts_of(cluster: Cluster, pool: Pool | None, gpu_type: str | None) -> list[Host]:
    """`gpu_type` None: GPUs do not matter; "": any. A node with several kinds that would do is known by the first."""
    cards = _cards(cluster)
    nodes = Node.objects.filter(cluster=cluster, is_gone=False).only("id", "name", "labels", "partitions", "runs", "told").order_by("name")
    inside = [node for node in nodes if pool is None or is_in(pool, node, [kind for kind, _, _ in cards[node.id]])]
    if gpu_type is None:
        return [Host(node.name, _told(node, "arch")) for node in inside]
    found = ((node, [card for card in cards[node.id] if gpu_type in ("", card[0])]) for node in inside)
    return [_host(node, some) for node, some in found if some]


def _cards(cluster: Cluster) -> dict[UUID, list[tuple[str, str, str]]]:
    cards: dict[UUID, list[tuple[str, str, str]]] = defaultdict(list)
    rows = Gpu.objects.filter(node__cluster=cluster, node__is_gone=False).values_list("node_id", "type", "model", "compute")
    for node, kind, model, compute in rows.distinct().order_by("type"):
        cards[node].append((kind, model, compute))
    return cards


def _host(node: Node, cards: Sequence[tuple[str, str, str]]) -> Host:
    _, model, compute = cards[0]
    device = Device(version(_told(node, "driver")), version(_told(node, "cuda")), version(compute or node.told.get("compute", "")),
                    _brand(model))
    return Host(node.name, _told(node, "arch"), device, model)


def _told(node: Node, what: str) -> str:
    """The inventory's word goes before the agent's."""
    return str(node.runs.get(what) or node.told.get(what, ""))


def _brand(model: str) -> str:
    """NVIDIA's own word for the family, where the name has it; newer data centre cards have none."""
    return next((brand for brand in ("tesla", "geforce", "quadro", "titan") if brand in model.lower()), "")


def _is_only_warned(spec: JobSpec) -> bool:
    return spec.policy.image_check == ImageCheck.WARN


def _remembered(image: Image, spec: JobSpec, cluster: Cluster, pool: Pool | None) -> Fitting:
    """The door is asked often for the same. Only what is certain counts there, so whose memory of ends this was does not."""
    ask = spec.resources
    asked: Iterable[object] = (image.digest, cluster.id.hex, pool.id.hex if pool else "", (ask.gpu_type or "").lower() if ask.gpus else None,
                               spec.envs.get(_SWITCH))
    key = "fit1:" + ":".join(str(part).replace(" ", "_")[:90] for part in asked)
    found: Fitting | None = cache.get(key)
    if found is None:
        found = fitting_of(image, spec, cluster, pool)
        cache.set(key, found, REMEMBERED)
    return found
