"""Dry run: make every check of a submission and render its launch, without writing a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction

from clusters.backends import backend_of
from jobs.dispatch.launch import rehearsal_launch
from jobs.images import lookups
from jobs.images.check import check_result_for
from jobs.outputs import warning
from jobs.pricing import check_budget
from jobs.scheduling import quota_limits
from jobs.scheduling.admission import AdmissionRequest, ClusterSnapshot
from jobs.scheduling.pending_explanation import change_text
from jobs.scheduling.pending_summary import wait_text
from jobs.scheduling.snapshot import snapshot_of
from jobs.services.checks import (
    Place,
    check_access,
    check_features,
    check_outputs,
    check_possible,
    check_secrets,
    choose_place,
    find_needs,
    ignored_options,
    request_for,
)
from jobs.services.inputs import check_mounts, resolve_inputs
from jobs.services.inputs import text_of as inputs_text
from jobs.services.team_rules import check_place_rule, check_rules, with_defaults
from jobs.services.workspaces import check_workspaces, resolve_workspaces
from jobs.services.workspaces import text_of as workspaces_text
from portal.core.errors import PortalError
from portal.core.formatting import amount_text
from portal.core.messages import Message
from schedulers.contract import Rejected
from schedulers.images.config import Image
from schedulers.spec import JobSpec
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team


@dataclass(frozen=True)
class Check:
    """One check and the text of its result. `is_ok` is None if an earlier failure prevented it.

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
    checks: list[Check]
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
    checks: list[Check] = []
    spec = with_defaults(team, spec)
    _try(
        checks,
        "access",
        lambda: check_access(actor, team, spec),
        Message("You may submit to team {slug}.", slug=team.slug),
    )
    if team.job_rules and checks[-1].is_ok:
        _try(
            checks,
            "rules",
            lambda: check_rules(team, spec),
            Message("It follows the rules of team {slug}.", slug=team.slug),
        )
    _try_budget(checks, team)
    if (references := {*spec.secrets.values(), *spec.secret_files.values()}) and checks[-1].is_ok:
        _try(
            checks,
            "secrets",
            lambda: check_secrets(team, spec),
            Message("Its secrets exist: {references}.", references=", ".join(sorted(references))),
        )
    place = _try(
        checks,
        "place",
        lambda: choose_place(actor, team, spec),
        lambda p: Message.joined(
            " ", (Message("Runs on cluster {name}.", name=p.cluster.name), p.why)
        ),
    )
    if checks[0].is_ok:
        _check_data(checks, actor, team, spec)
    cluster = place and place.cluster
    starts, launch = False, ""
    if cluster is not None:
        if team.job_rules:
            _try(
                checks,
                "allowed pool",
                lambda: check_place_rule(team, place),
                Message("The team may use it."),
            )
        _try(
            checks,
            "features",
            lambda: check_features(spec, cluster),
            Message("The cluster supports everything in the spec."),
        )
        if spec.image and image is not None and checks[-1].is_ok:
            image_answer = check_result_for(image, spec, cluster, place.pool)
            refused = [{"field": "image", "message": image_answer.text}]
            errors = refused if image_answer.is_ok is False else []
            checks.append(Check("image", image_answer.is_ok, image_answer.text, errors))
        if spec.native or spec.image:
            _try(
                checks,
                "options of the scheduler",
                lambda: ignored_options(actor, team, spec, place),
                lambda out: out or Message("None is ignored."),
            )
        if spec.inputs:
            _try(
                checks,
                "mount paths",
                lambda: check_mounts(actor, team, spec, place),
                Message("The inputs can be mounted at their paths."),
            )
        if spec.workspaces and all(check.is_ok for check in checks if check.name == "workspaces"):
            _try(
                checks,
                "workspace mounts",
                lambda: check_workspaces(actor, team, spec, place, resolve_workspaces(actor, spec)),
                Message("The workspaces can be mounted."),
            )
        if lost := warning(cluster):
            checks.append(Check("output", True, lost))
        request = request_for(actor, team, spec)
        snapshot = snapshot_of(cluster, [request])
        _try(
            checks, "quota and size", lambda: check_possible(request, snapshot), _ask_text(request)
        )
        _try(
            checks, "data", lambda: find_needs(actor, spec), Message("Nothing it needs is missing.")
        )
        starts = _now(checks, place, request, snapshot)
        launch = _render(checks, place, team, actor, spec)
    is_ok = all(
        check.is_ok or (check.name, check.is_ok) == ("image", None)
        for check in checks
        if check.name != "start"
    )
    starts = is_ok and starts and not spec.after
    return DryRun(is_ok, starts, _start_text(checks, spec, is_ok=is_ok), checks, launch)


def _check_data(checks: list[Check], actor: Actor, team: Team, spec: JobSpec) -> None:
    """Check inputs, outputs and workspaces, as far as no cluster must be known."""
    if spec.inputs:
        _try(checks, "inputs", lambda: resolve_inputs(actor, team, spec), inputs_text)
    if spec.workspaces:
        resolve = partial(resolve_workspaces, actor, spec)
        _try(checks, "workspaces", resolve, workspaces_text)
    if spec.outputs:
        names = ", ".join(output.repository for output in spec.outputs.values())
        yes = Message("What it writes is saved to {names}.", names=names)
        _try(checks, "outputs", lambda: check_outputs(actor, team, spec), yes)


def _start_text(checks: Sequence[Check], spec: JobSpec, *, is_ok: bool) -> str:
    if not is_ok:
        return next(c.text for c in checks if c.is_ok is False and c.name != "start")
    if spec.after:
        jobs = ", ".join(map(str, spec.after))
        return Message("Waits for {jobs} to end.", jobs=jobs)
    return next(c.text for c in checks if c.name == "start")


def _try(
    checks: list[Check], name: str, request: Callable[[], Any], yes: str | Callable[[Any], str]
) -> Any:
    try:
        answer = request()
    except PortalError as error:
        checks.append(Check(name, False, error.message, _errors_of(error)))
        return None
    checks.append(Check(name, True, yes if isinstance(yes, str) else yes(answer)))
    return answer


def _try_budget(checks: list[Check], team: Team) -> None:
    """Check budgets that stop new jobs; without one there is nothing to say."""
    if checks[-1].is_ok:
        _try(checks, "budget", lambda: check_budget(team), "")
        if checks[-1].is_ok:
            checks.pop()


_FIELDS = {"cpu": "resources.cpus", "memory": "resources.memory"}


def _errors_of(error: PortalError) -> Sequence[Mapping[str, Any]]:
    """Return the error by field; a limit is an error of the field that requests the resource."""
    if errors := error.data.get("errors"):
        return errors  # type: ignore[no-any-return]
    resource = str(error.data.get("resource", ""))
    field = "resources.accelerators" if resource.startswith("gpu") else _FIELDS.get(resource, "")
    return [{"field": field, "message": error.message}]


def _ask_text(request: AdmissionRequest) -> str:
    held = ", ".join(amount_text(r, n) for r, n in request.resources.totals.items() if r != "jobs")
    return Message("Each task would use {held}.", held=held)


def _now(
    checks: list[Check], place: Place, request: AdmissionRequest, snapshot: ClusterSnapshot
) -> bool:
    decision = snapshot.judge(request)
    if decision.wait is None:
        name = place.pool.name if place.pool else place.cluster.name
        checks.append(Check("start", True, Message("Starts now on {name}.", name=name)))
        return True
    change = snapshot.smallest_change(request)
    text = wait_text(decision.wait, {**decision.facts, **quota_limits.until(decision.facts)})
    parts = (text, change_text(change)) if change else (text,)
    checks.append(Check("start", False, Message.joined(" ", parts)))
    return False


def _render(checks: list[Check], place: Place, team: Team, actor: Actor, spec: JobSpec) -> str:
    try:
        text = backend_of(place.cluster).render(rehearsal_launch(place.pool, team, actor, spec))
    except Rejected as error:
        checks.append(Check("launch", False, str(error)))
        return ""
    return text
