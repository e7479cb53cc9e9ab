"""Image check for the submission form."""

from __future__ import annotations

from typing import TypedDict

from jobs.images import lookups
from jobs.images.check import check_result_for
from jobs.services.checks import check_features
from jobs.services.submission import Submission
from portal.core.errors import PortalError
from schedulers.spec import JobSpec
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team


class ImageNoteShape(TypedDict):
    ok: bool | None
    doubtful: bool
    text: str


def image_note(
    actor: Actor, team: Team | None, spec: JobSpec, *, is_settled: bool
) -> ImageNoteShape | None:
    """Return the known result of the image check; None if there is none.

    `is_settled`: the name is complete, so a registry lookup may start in the background.
    """
    if not spec.image or team is None or not actor.may(Permission.JOBS_SUBMIT, team.id):
        return None
    image = lookups.cached_image(spec.image)
    if image is None:
        begun = lookups.start_lookup(spec.image) if is_settled else None
        if not isinstance(begun, str):
            return {"ok": None, "doubtful": False, "text": ""}
        image = begun
    try:
        submission = Submission.of(actor, team, spec, is_rehearsal=True)
        check_features(submission)
    except PortalError:  # reported elsewhere; this note is about the image only
        return None
    place = submission.place
    answer = check_result_for(image, submission.spec, place.cluster, place.pool)
    return {"ok": answer.is_ok, "doubtful": answer.is_doubtful, "text": answer.text}
