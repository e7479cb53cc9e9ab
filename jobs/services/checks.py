"""The checks of a submission, in order; submission stops at the first fault, a dry run reports all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from clusters.sharing import refusal_text
from datasets.folders import access as folder_access
from jobs.dispatch.job_status import is_met
from jobs.images.check import check_image
from jobs.kinds.workload_kinds import faults_of_kind
from jobs.models.job import PRIORITIES
from jobs.quotas.pricing import check_budget
from jobs.saving.versions import check_output
from jobs.scheduling import quota_limits
from jobs.scheduling.admission import AdmissionRequest, ClusterSnapshot, meters_of_request
from jobs.scheduling.placement import FEATURES, HERE
from jobs.services import folders, inputs
from jobs.services.submission import Submission
from jobs.services.team_rules import check_pool_rule, check_rules
from portal.core.errors import InvalidInput, PortalError, QuotaExceeded
from portal.core.formatting import amount_text
from portal.core.messages import Message
from schedulers import capabilities_of
from schedulers.capacity import Candidates
from schedulers.contract import Capability, Rejected
from schedulers.states import State, Wait
from workspaces.access.actors import authorize
from workspaces.access.permissions import Permission
from workspaces.credentials.secrets import check_references
from workspaces.quotas.limits import GPU_HOURS, STORAGE

MAX_ARRAY = 100_000


def check_submission(submission: Submission) -> None:
    """Make every check that applies. Raises the first fault."""
    for check in CHECKS:
        if check.applies(submission):
            check.make(submission)


def check_access(submission: Submission) -> None:
    """Require permission to submit to this team at this priority. Raises NotPermitted."""
    actor, team = submission.actor, submission.team
    authorize(actor, Permission.JOBS_SUBMIT, team)
    if PRIORITIES[submission.spec.policy.priority] > PRIORITIES["normal"]:
        authorize(actor, Permission.JOBS_ADMIN, team)


def check_kind(submission: Submission) -> None:
    """Require the spec to ask only for what its kind allows. Raises InvalidInput."""
    if errors := faults_of_kind(submission.kind, submission.spec, submission.origin):
        raise InvalidInput(Message.joined(": ", errors[0].values()), errors=errors)


def check_secrets(submission: Submission) -> None:
    """Require every referenced secret to exist and be usable by the team. Raises InvalidInput."""
    for field in ("secrets", "secret_files"):
        if references := getattr(submission.spec, field):
            check_references(submission.team, references, field)


def check_outputs(submission: Submission) -> None:
    """Require that the job may save its outputs where the spec says. Raises InvalidInput."""
    for name, output in submission.spec.outputs.items():
        try:
            check_output(submission.actor, submission.team, output)
        except PortalError as error:
            raise InvalidInput.at(f"outputs.{name}", error.message) from error


def check_features(submission: Submission) -> None:
    """Require the cluster and installation to support the spec's features. Raises InvalidInput."""
    spec, cluster = submission.spec, submission.place.cluster
    if refusal := refusal_text(cluster):
        raise InvalidInput(Message.joined(": ", (cluster.name, refusal)), code="no_isolation")
    # Only these features depend on the options of the backend.
    options = (lambda: cluster.config) if spec.image or spec.workspaces else None
    has = {
        *HERE,
        *(f for c, f in FEATURES.items() if c in capabilities_of(cluster.backend, options)),
    }
    if faults := spec.unavailable(has):
        raise InvalidInput(
            Message.joined(": ", (faults[0].field, faults[0].message)),
            errors=[{"field": f.field, "message": f.message} for f in faults],
        )
    if spec.tasks > MAX_ARRAY:
        raise InvalidInput.at(
            "array", f"has {spec.tasks:,} tasks; at most {MAX_ARRAY:,} are allowed"
        )


def check_inputs(submission: Submission) -> None:
    """Resolve the inputs, and keep their versions from being deleted until the commit."""
    if submission.inputs and not submission.is_rehearsal:
        inputs.keep_inputs(submission.inputs)


def check_mounts(submission: Submission) -> None:
    """Require the cluster to be able to mount inputs where the spec wants. Raises InvalidInput."""
    if Capability.INPUTS not in capabilities_of(submission.place.cluster.backend):
        return
    try:
        submission.backend.check_inputs(submission.launch)
    except Rejected as error:
        raise InvalidInput.at(error.field or "inputs", str(error)) from error


def check_folders(submission: Submission) -> None:
    """Require the cluster to be able to mount the workspaces, for this person. Raises InvalidInput."""
    cluster = submission.place.cluster
    if Capability.WORKSPACES not in capabilities_of(cluster.backend, lambda: cluster.config):
        return  # `Feature.WORKSPACES` has refused it
    for one in submission.folders if not submission.backend.has_private_mounts else ():
        if not folder_access.may_write(submission.actor, one.folder):
            raise InvalidInput.at(
                f"workspaces.{one.name}",
                Message(
                    "You may only read {name}. Jobs on {cluster} could also write to it, because "
                    "they have the rights of one user of that cluster.",
                    name=one.folder.name,
                    cluster=cluster.name,
                ),
            )
    try:
        submission.backend.check_folders(submission.launch)
    except Rejected as error:
        raise InvalidInput.at(error.field or "workspaces", str(error)) from error


def check_size(submission: Submission) -> None:
    """Require that the task fits and no limit is below it. Raises InvalidInput, QuotaExceeded."""
    if submission.plain_cluster is None:
        check_possible(submission.request, submission.snapshot)


def check_needs(submission: Submission) -> None:
    """Reject a dependency that has already ended and can never be met. Raises InvalidInput."""
    for at, need in enumerate(submission.needs):
        state = State(need.job.state)
        if state.is_final and not is_met(need.condition, state):
            raise InvalidInput.at(
                f"after[{at}]",
                f"#{need.job.number} has already ended {state.label}, so this job would never "
                "start; "
                f'write "#{need.job.number}:any" to start it anyway',
            )


def check_possible(request: AdmissionRequest, snapshot: ClusterSnapshot) -> None:
    """Require that an empty node could run the task and that no limit is below the request.

    Raises InvalidInput, QuotaExceeded.
    """
    decision = snapshot.judge(request)
    if decision.wait == Wait.IMPOSSIBLE:
        facts = decision.facts
        field = {
            "cpu": "resources.cpus",
            "memory": "resources.memory",
            "gpu": "resources.accelerators",
        }[str(facts["resource"])]
        if "text" in facts:  # a job of several nodes
            one = replace(request.resources, nodes=1)
            is_short_of_nodes = Candidates(snapshot.nodes).could_run(one)
            raise InvalidInput.at("num_nodes" if is_short_of_nodes else field, str(facts["text"]))
        kind = f" of type {facts['type']}" if facts.get("type") else ""
        raise InvalidInput.at(
            field,
            f"needs {amount_text(facts['resource'], facts['ask'])}{kind}; the largest node, "
            f"{facts['node']}, "
            f"has {amount_text(facts['resource'], facts['largest'])}",
        )
    for meter, amount in meters_of_request(request).items():
        limit = now.limit if (now := snapshot.limits.get(meter)) else None
        if limit is not None and amount > limit:
            if meter.resource == GPU_HOURS:
                raise QuotaExceeded(
                    quota_limits.no_hours(meter.scope),
                    data={"scope": meter.scope, "resource": meter.resource, "limit": limit},
                )
            if meter.resource == STORAGE:
                raise QuotaExceeded(
                    quota_limits.no_storage(meter.scope),
                    data={"scope": meter.scope, "resource": meter.resource, "limit": limit},
                )
            whose = {
                "org": Message("the organization's"),
                "team": Message("the team's", context="whose limit"),
                "user": Message("your", context="whose limit"),
            }[meter.scope]
            raise QuotaExceeded(
                Message(
                    "{resource} requested, but {whose} limit is {resource2}. Request "
                    "{resource3} less, or ask an administrator for more.",
                    resource=amount_text(meter.resource, amount),
                    whose=whose,
                    resource2=amount_text(meter.resource, limit),
                    resource3=amount_text(meter.resource, amount - limit),
                ),
                data={
                    "scope": meter.scope,
                    "resource": meter.resource,
                    "ask": amount,
                    "limit": limit,
                    "over": amount - limit,
                },
            )


@dataclass(frozen=True)
class Check:
    """One check. `text`: said by a dry run when it passes, or empty.

    `needs`: checks after whose failure this one would say nothing more.
    """

    name: str
    make: Callable[[Submission], object]
    text: Callable[[Submission], str] = lambda submission: ""
    applies: Callable[[Submission], bool] = lambda submission: True
    needs: tuple[str, ...] = ()


def _secrets_text(submission: Submission) -> str:
    spec = submission.spec
    references = sorted({*spec.secrets.values(), *spec.secret_files.values()})
    return Message("Its secrets exist: {references}.", references=", ".join(references))


def _outputs_text(submission: Submission) -> str:
    names = ", ".join(output.repository for output in submission.spec.outputs.values())
    return Message("What it writes is saved to {names}.", names=names)


def _place_text(submission: Submission) -> str:
    place = submission.place
    runs_on = Message("Runs on cluster {name}.", name=place.cluster.name)
    return Message.joined(" ", (runs_on, place.why))


def _size_text(submission: Submission) -> str:
    totals = submission.request.resources.totals
    held = ", ".join(amount_text(r, n) for r, n in totals.items() if r != "jobs")
    return Message("Each task would use {held}.", held=held)


CHECKS = (
    Check(
        "access",
        check_access,
        lambda s: Message("You may submit to team {slug}.", slug=s.team.slug),
    ),
    Check("kind", check_kind),
    Check(
        "rules",
        lambda s: check_rules(s.team, s.spec),
        lambda s: Message("It follows the rules of team {slug}.", slug=s.team.slug),
        applies=lambda s: bool(s.team.job_rules),
        needs=("access",),
    ),
    Check("budget", lambda s: check_budget(s.team), needs=("access", "rules")),
    Check(
        "secrets",
        check_secrets,
        _secrets_text,
        applies=lambda s: bool(s.spec.secrets or s.spec.secret_files),
        needs=("access", "rules", "budget"),
    ),
    Check(
        "outputs",
        check_outputs,
        _outputs_text,
        applies=lambda s: bool(s.spec.outputs),
        needs=("access",),
    ),
    Check("place", lambda s: s.place, _place_text),
    Check(
        "features",
        check_features,
        lambda s: Message("The cluster supports everything in the spec."),
        needs=("place",),
    ),
    Check("quota and size", check_size, _size_text, needs=("place",)),
    Check(
        "allowed pool",
        lambda s: check_pool_rule(s.team, (s.place.pool or s.place.cluster).name),
        lambda s: Message("The team may use it."),
        applies=lambda s: bool(s.team.job_rules),
        needs=("place",),
    ),
    Check(
        "image",
        lambda s: check_image(s.spec, s.place.cluster, s.place.pool),
        applies=lambda s: bool(s.spec.image),
        needs=("place", "features"),
    ),
    Check(
        "inputs",
        check_inputs,
        lambda s: inputs.text_of(s.inputs),
        applies=lambda s: bool(s.spec.inputs),
        needs=("access",),
    ),
    Check(
        "mount paths",
        check_mounts,
        lambda s: Message("The inputs can be mounted at their paths."),
        applies=lambda s: bool(s.spec.inputs),
        needs=("place",),
    ),
    Check(
        "workspaces",
        lambda s: s.folders,
        lambda s: folders.text_of(s.folders),
        applies=lambda s: bool(s.spec.workspaces),
        needs=("access",),
    ),
    Check(
        "workspace mounts",
        check_folders,
        lambda s: Message("The workspaces can be mounted."),
        applies=lambda s: bool(s.spec.workspaces),
        needs=("place", "workspaces"),
    ),
    Check("data", check_needs, lambda s: Message("Nothing it needs is missing."), needs=("place",)),
    Check(
        "options of the scheduler",
        lambda s: s.ignored_options,
        lambda s: s.ignored_options or Message("None is ignored."),
        applies=lambda s: bool(s.spec.native or s.spec.image),
        needs=("place",),
    ),
)
