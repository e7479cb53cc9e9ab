"""Dry run: make every check of a submission and render its launch, without writing a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from jobs.data.outputs import warning
from jobs.images import lookups
from jobs.images.check import check_result_for
from jobs.scheduling import quota_limits
from jobs.scheduling.pending_explanation import change_text
from jobs.scheduling.pending_summary import wait_text
from jobs.services.checks import CHECKS
from jobs.services.submission import Submission
from portal.core.errors import PortalError
from portal.core.messages import Message
from schedulers.contract import Rejected
from schedulers.images.config import Image
from schedulers.spec import JobSpec
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team


@dataclass(frozen=True)
class CheckResult:
    """A check and the text of its result. `is_ok` is None if an earlier failure prevented it.

    `errors`: {"field", "message"} pairs of a failed check.
    """

    name: str
    is_ok: bool | None
    text: str
    errors: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class DryRun:
    """The result of a dry run.

    `is_ok`: the submission would be accepted. `starts_now`: it would start at once. `start_text`:
    where it starts, what it waits for, or why it is refused. `launch`: what would be sent to the
    backend.
    """

    is_ok: bool
    starts_now: bool
    start_text: str
    checks: list[CheckResult]
    launch: str

    @property
    def errors(self) -> list[Mapping[str, Any]]:
        """Return the errors of all failed checks."""
        return [error for check in self.checks for error in check.errors]


def check_draft(*, actor: Actor, team: Team, spec: JobSpec) -> DryRun:
    """Make the checks of a dry run without waiting for a registry: an unknown image passes."""
    known = lookups.cached_image(spec.image) if spec.image else None
    return _rehearse(actor, team, spec, known)


def dry_run_job(*, actor: Actor, team: Team, spec: JobSpec) -> DryRun:
    """Make every check of a submission and return the results.

    A check that fails is part of the result, not an exception. The image registry may be queried
    for some seconds, so that happens before the transaction.
    """
    image = (
        lookups.lookup_image(spec.image)
        if spec.image and actor.may(Permission.JOBS_SUBMIT, team.id)
        else ""
    )
    return _rehearse(actor, team, spec, image)


@transaction.atomic
def _rehearse(actor: Actor, team: Team, spec: JobSpec, image: Image | str | None) -> DryRun:
    try:
        submission = Submission.of(actor, team, spec, is_rehearsal=True)
    except PortalError as error:
        refused = CheckResult("kind", False, error.message, _errors_of(error))
        return DryRun(False, False, error.message, [refused], "")
    results = _results(submission, image)
    starts, launch = False, ""
    if not _failed(results, "place"):
        if lost := warning(submission.place.cluster):
            results.append(CheckResult("output", True, lost))
        starts = _now(results, submission)
        launch = _render(results, submission)
    is_ok = all(
        result.is_ok or (result.name, result.is_ok) == ("image", None)
        for result in results
        if result.name != "start"
    )
    starts = is_ok and starts and not submission.spec.after
    text = _start_text(results, submission.spec, is_ok=is_ok)
    return DryRun(is_ok, starts, text, results, launch)


def _results(submission: Submission, image: Image | str | None) -> list[CheckResult]:
    results: list[CheckResult] = []
    for check in CHECKS:
        if not check.applies(submission) or any(_failed(results, name) for name in check.needs):
            continue
        if check.name == "image":
            results += [_image_result(submission, image)] if image is not None else []
            continue
        try:
            check.make(submission)
        except PortalError as error:
            results.append(CheckResult(check.name, False, error.message, _errors_of(error)))
        else:
            if text := check.text(submission):
                results.append(CheckResult(check.name, True, text))
    return results


def _failed(results: Sequence[CheckResult], name: str) -> bool:
    return any(result.name == name and result.is_ok is False for result in results)


def _image_result(submission: Submission, image: Image | str) -> CheckResult:
    place = submission.place
    found = check_result_for(image, submission.spec, place.cluster, place.pool)
    errors = [{"field": "image", "message": found.text}] if found.is_ok is False else []
    return CheckResult("image", found.is_ok, found.text, errors)


def _start_text(results: Sequence[CheckResult], spec: JobSpec, *, is_ok: bool) -> str:
    if not is_ok:
        return next(r.text for r in results if r.is_ok is False and r.name != "start")
    if spec.after:
        jobs = ", ".join(map(str, spec.after))
        return Message("Waits for {jobs} to end.", jobs=jobs)
    return next(r.text for r in results if r.name == "start")


_FIELDS = {"cpu": "resources.cpus", "memory": "resources.memory"}


def _errors_of(error: PortalError) -> Sequence[Mapping[str, Any]]:
    """Return the error by field; a limit is an error of the field that requests the resource."""
    if errors := error.data.get("errors"):
        return errors  # type: ignore[no-any-return]
    resource = str(error.data.get("resource", ""))
    field = "resources.accelerators" if resource.startswith("gpu") else _FIELDS.get(resource, "")
    return [{"field": field, "message": error.message}]


def _now(results: list[CheckResult], submission: Submission) -> bool:
    place, request, snapshot = submission.place, submission.request, submission.snapshot
    decision = snapshot.judge(request)
    if decision.wait is None:
        name = place.pool.name if place.pool else place.cluster.name
        started = Message("Starts now on {name}.", name=name)
        results.append(CheckResult("start", True, started))
        return True
    change = snapshot.smallest_change(request)
    text = wait_text(decision.wait, {**decision.facts, **quota_limits.until(decision.facts)})
    parts = (text, change_text(change)) if change else (text,)
    results.append(CheckResult("start", False, Message.joined(" ", parts)))
    return False


def _render(results: list[CheckResult], submission: Submission) -> str:
    try:
        return str(submission.backend.render(submission.launch))
    except Rejected as error:
        results.append(CheckResult("launch", False, str(error)))
        return ""
