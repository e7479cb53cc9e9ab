"""Ends of the kind "no kernel image": remembered for the image's digest and the GPU, and told at the next look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clusters.models import Gpu
from jobs.images import lookups
from jobs.job_specs import spec_of
from jobs.models import Attempt, ImageEnd
from portal.core import clock
from schedulers.images.config import Image


def remember(ended: Iterable[tuple[Attempt, str]]) -> None:
    """Attempts that ended so, with the digest that their runtime told, if any. Without a digest or a GPU there is nothing to
    remember. Runs inside the transaction of the end, and must not fail it."""
    for attempt, told in ended:
        gpu = _gpu_of(attempt)
        for digest in _digests_of(attempt, told) if gpu else ():
            ImageEnd.objects.update_or_create(
                org_id=attempt.org_id,
                digest=digest[:140],
                gpu=gpu,
                defaults={"job_id": attempt.job_id, "at": clock.now()},
            )


def remembered(image: Image) -> Mapping[str, str]:
    """By the GPU's model: in which job, and when."""
    rows = (
        ImageEnd.objects.filter(digest__in=image.digests)
        .order_by("at")
        .values_list("gpu", "job__number", "at")
    )
    return {gpu: f"in job #{number} on {at:%-d %B %Y}" for gpu, number, at in rows}


def _digests_of(attempt: Attempt, told: str) -> list[str]:
    """The runtime's word; else what the name itself says, or what is remembered of its registry's answer."""
    name = spec_of(attempt.job).image
    if told or "@" in name:
        return [told or name.partition("@")[2]]
    image = lookups.known(name) if name else None
    return image.digests if isinstance(image, Image) else []


def _gpu_of(attempt: Attempt) -> str:
    """Empty where its nodes have several kinds that would do: which it was, nobody knows."""
    rows = Gpu.objects.filter(
        node__cluster_id=attempt.cluster_id, node__name__in=attempt.node.split(",")
    )
    if kind := (spec_of(attempt.job).resources.gpu_type or "").lower():
        rows = rows.filter(type=kind)
    models = list(rows.values_list("model", flat=True).distinct()[:2])
    return models[0] if len(models) == 1 else ""
