"""Whether an image fits, beside the form as one types."""

from __future__ import annotations

from typing import Any

from jobs.images import lookups
from jobs.images.check import answer_for
from jobs.services.checks import check_features, choose_place
from portal.core.errors import PortalError
from schedulers.spec import JobSpec
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team


def image_note(
    actor: Actor, team: Team | None, spec: JobSpec, *, is_settled: bool
) -> dict[str, Any] | None:
    """From what is known by now; `is_settled`: the name is typed to its end, so its registry may be asked, without waiting for it.
    None where there is nothing to say."""
    if not spec.image or team is None or not actor.may(Permission.JOBS_SUBMIT, team.id):
        return None
    image = lookups.known(spec.image)
    if image is None:
        begun = lookups.begin(spec.image) if is_settled else None
        if not isinstance(begun, str):
            return {"ok": None, "doubtful": False, "text": ""}
        image = begun
    try:
        place = choose_place(actor, team, spec)
        check_features(spec, place.cluster)
    except PortalError:  # said elsewhere: here it is about the image alone
        return None
    told = answer_for(image, spec, place.cluster, place.pool)
    return {"ok": told.is_ok, "doubtful": told.is_doubtful, "text": told.text}
