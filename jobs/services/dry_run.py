"""Dry run: make every check of a submission and render its launch, without writing a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from jobs.data.outputs import warning
from jobs.images import lookups
from jobs.images.check import check_result_for
from jobs.kinds.origins import Origin
from jobs.models.job import PRIORITIES
from jobs.scheduling.expected_start import Draft, ExpectedStart, expected_start_of_draft
from jobs.services.checks import CHECKS
from jobs.services.start_now import Start, start_now
from jobs.services.submission import Submission
from portal.core.errors import PortalError
from portal.core.messages import Message
from schedulers.capacity import AmountChange
from schedulers.contract import Rejected
from schedulers.images.config import Image
from schedulers.spec import JobSpec
from schedulers.states import Wait
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team


@dataclass(frozen=True)
class CheckResult:
    """A check and the text of its result. `is_ok` is None if an earlier failure prevented it.

    `errors`: {"field", "message"} pairs of a failed check; `facts`: the data of its error.
    """

    name: str
    is_ok: bool | None
    text: str
    errors: Sequence[Mapping[str, Any]] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DryRun:
    """The result of a dry run.

    `is_ok`: the submission would be accepted. `starts_now`: it would start at once. `start_text`:
    where it starts, what it waits for, or why it is refused. `launch`: what would be sent to the
    backend. `wait` and its `facts`: why it would not start at once. `change`: the smallest with which it
    would. `expected`: when it would start; None if that is now, or if it is refused.
    """

    is_ok: bool
    starts_now: bool
    start_text: str
    checks: list[CheckResult]
    launch: str
    wait: Wait | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    change: AmountChange | None = None
    expected: ExpectedStart | None = None

    @property
    def errors(self) -> list[Mapping[str, Any]]:
        """Return the errors of all failed checks."""
        return [error for check in self.checks for error in check.errors]


def check_draft(
    *,
    actor: Actor,
    team: Team,
    spec: JobSpec,
    is_forecast: bool = False,
    origin: Origin | None = None,
) -> DryRun:
    """Make the checks of a dry run without waiting for a registry: an unknown image passes.

    `is_forecast`: also say when a job that waits is expected to start. `origin`: what would submit it.
    """
    known = lookups.cached_image(spec.image) if spec.image else None
    return _rehearse(actor, team, spec, known, is_forecast=is_forecast, origin=origin)


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
    return _rehearse(actor, team, spec, image, is_forecast=True)


@transaction.atomic
def _rehearse(
    actor: Actor,
    team: Team,
    spec: JobSpec,
    image: Image | str | None,
    *,
    is_forecast: bool,
    origin: Origin | None = None,
) -> DryRun:
    try:
        submission = Submission.of(actor, team, spec, origin=origin, is_rehearsal=True)
    except PortalError as error:
        refused = CheckResult("kind", False, error.message, _errors_of(error))
        return DryRun(False, False, error.message, [refused], "")
    results = _results(submission, image)
    start, launch = Start(), ""
    if not _failed(results, "place"):
        if lost := warning(submission.place.cluster):
            results.append(CheckResult("output", True, lost))
        start = start_now(submission)
        results.append(CheckResult("start", start.wait is None, start.text))
        launch = _render(results, submission)
    is_ok = all(
        result.is_ok or (result.name, result.is_ok) == ("image", None)
        for result in results
        if result.name != "start"
    )
    after = submission.spec.after
    starts = is_ok and start.text != "" and start.wait is None and not after
    text = _start_text(results, submission.spec, is_ok=is_ok)
    expected = None
    if is_ok and start.wait and not after and is_forecast:
        expected = expected_start_of_draft(_draft(submission), start.wait, start.facts)
    return DryRun(
        is_ok, starts, text, results, launch, start.wait, start.facts, start.change, expected
    )


def _draft(submission: Submission) -> Draft:
    place, policy = submission.place, submission.spec.policy
    return Draft(
        place.cluster,
        place.pool,
        submission.request,
        PRIORITIES[policy.priority],
        policy.max_runtime or 0,
    )


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
            results.append(
                CheckResult(check.name, False, error.message, _errors_of(error), error.data)
            )
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


def _render(results: list[CheckResult], submission: Submission) -> str:
    try:
        return str(submission.backend.render(submission.launch))
    except Rejected as error:
        results.append(CheckResult("launch", False, str(error)))
        return ""
