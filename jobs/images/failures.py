"""Remember "no kernel image" failures by image digest and GPU, for later submissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clusters.models import Gpu
from jobs.images import lookups
from jobs.models import Attempt, ImageEnd
from jobs.specs.stored import spec_of
from portal.core import clock
from schedulers.images.config import Image


def remember(ended: Iterable[tuple[Attempt, str]]) -> None:
    """Store failed attempts with the digest that the runtime reported, if any.

    Without a digest or a GPU nothing is stored. Runs in the transaction that ends the attempts, and
    must not fail it.
    """
    for attempt, reported_digest in ended:
        gpu = _gpu_of(attempt)
        for digest in _digests_of(attempt, reported_digest) if gpu else ():
            ImageEnd.objects.update_or_create(
                org_id=attempt.org_id,
                digest=digest[:140],
                gpu=gpu,
                defaults={"job_id": attempt.job_id, "at": clock.now()},
            )


def remembered(image: Image) -> Mapping[str, str]:
    """Return where and when the image failed, by GPU model."""
    rows = (
        ImageEnd.objects.filter(digest__in=image.digests)
        .order_by("at")
        .values_list("gpu", "job__number", "at")
    )
    return {gpu: f"in job #{number} on {at:%-d %B %Y}" for gpu, number, at in rows}


def _digests_of(attempt: Attempt, reported_digest: str) -> list[str]:
    """Return the runtime's digest, else that of the image name or the registry's cached answer."""
    name = spec_of(attempt.job).image
    if reported_digest or "@" in name:
        return [reported_digest or name.partition("@")[2]]
    image = lookups.cached_image(name) if name else None
    return image.digests if isinstance(image, Image) else []


def _gpu_of(attempt: Attempt) -> str:
    """Return the GPU model; empty if the nodes have several models that match."""
    rows = Gpu.objects.filter(
        node__cluster_id=attempt.cluster_id, node__name__in=attempt.node.split(",")
    )
    if kind := (spec_of(attempt.job).resources.gpu_type or "").lower():
        rows = rows.filter(type=kind)
    models = list(rows.values_list("model", flat=True).distinct()[:2])
    return models[0] if len(models) == 1 else ""
