"""Workload kinds: how a portal treats batch jobs, and each other kind that an app runs as jobs.

An app declares the kinds that it runs as WORKLOAD_KINDS in `providers.py`. A spec of another kind is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portal.core.declarations import declared
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from schedulers.spec import Preempt

if TYPE_CHECKING:
    from jobs.kinds.origins import Origin
    from jobs.models import Job
    from schedulers.contract import Launch
    from schedulers.spec import JobSpec
    from workspaces.access.actors import Actor


@dataclass(frozen=True)
class PortShare:
    """How a port is shared with a person who may not run commands in the job.

    `is_read_only`: the gateway passes only requests that read, also by POST at the paths in `posts`.
    """

    is_read_only: bool
    posts: tuple[str, ...] = ()


def _unchanged(spec: JobSpec) -> JobSpec:
    return spec


def _as_built(launch: Launch, job: Job) -> Launch:
    return launch


def _no_authorization(job: Job) -> str:
    return ""


def _not_shared(job: Job, port: str, actor: Actor) -> PortShare | None:
    return None


def _own_number(job: Job) -> int:
    return job.number


_ENDED = Message("Job #{number} has ended: {state}.")


@dataclass(frozen=True)
class WorkloadKind:
    """How jobs of one kind differ. The defaults are those of batch jobs.

    `name` is `kind` in a spec and in filters, `title` the kind for people. `list_path` is the page
    below `/ORG/` that lists them; the page of a job is below it, by its number.
    `with_defaults` fills in a spec before it is checked; `allows_…` refuse fields of it.
    `origin` is the kind of origin without which jobs of this kind are refused, because its app submits
    them. `with_programs` adds what its app needs to the launch of a job, and `authorization` is the
    header that the gateway sends to its ports, for those whom it lets in. `share` tells how a port is
    shared with somebody, beside those who may run commands in the job. `address_number` is the number
    in the addresses of its ports; each number of a job leads to the last job of its origin
    (`jobs.ports.access`), so that one which its app starts again keeps its address.
    `has_run`: each job is a run of an experiment; else only one that logs something.
    `has_idle_rules`: rules of pools for idle GPUs apply; if it `is_interactive`, also without GPUs, by the
    clock of `jobs.utilization.interactive`. `ledger_class`: of its use, as in
    `billing.models.LedgerKind`. `end_notices`: the events that end a job and that its owner hears
    of, with the titles of the notifications. `ended` says so at the address of a port.
    """

    name: str
    title: Message
    list_path: str = "jobs"
    with_defaults: Callable[[JobSpec], JobSpec] = _unchanged
    origin: str = ""
    with_programs: Callable[[Launch, Job], Launch] = _as_built
    authorization: Callable[[Job], str] = _no_authorization
    share: Callable[[Job, str, Actor], PortShare | None] = _not_shared
    address_number: Callable[[Job], int] = _own_number
    allows_retries: bool = True
    allows_array: bool = True
    allows_time_limit: bool = True
    allows_preemption: bool = True
    has_run: bool = True
    has_idle_rules: bool = True
    is_interactive: bool = False
    ledger_class: str = "job"
    end_notices: Mapping[str, Message] = field(default_factory=dict)
    ended: Message = _ENDED


BATCH = WorkloadKind(
    "batch",
    Message("Batch job", context="text, jobs"),
    end_notices={
        "job.failed": Message("#{number} {name} failed", context="text, jobs"),
        "job.canceled": Message("#{number} {name} was canceled", context="text, jobs"),
        "job.succeeded": Message("#{number} {name} succeeded", context="text, jobs"),
    },
)


def kinds() -> Sequence[WorkloadKind]:
    return declared("providers", "WORKLOAD_KINDS")


def _named() -> dict[str, WorkloadKind]:
    return {kind.name: kind for kind in kinds()}


def find_kind(name: str) -> WorkloadKind:
    """Return the kind of a spec. Raises InvalidInput if no app runs it."""
    if (kind := _named().get(name)) is None:
        known = ", ".join(_named())
        text = Message(
            "This portal does not run the kind {name} yet. It runs: {known}.",
            name=name,
            known=known,
        )
        raise InvalidInput.at("kind", text)
    return kind


def kind_named(name: str) -> WorkloadKind:
    """Return the kind of an accepted job; that of batch jobs if its app is no longer installed."""
    return _named().get(name, BATCH)


def kind_of(job: Job) -> WorkloadKind:
    return kind_named(job.kind)


def page_of(job: Job) -> str:
    """Return the address of the page of a job, whose organization is loaded."""
    return page_at(job.org.slug, job.kind, job.number)


def page_at(org: str, kind: str, number: int) -> str:
    return f"/{org}/{kind_named(kind).list_path}/{number}"


def faults_of_kind(
    kind: WorkloadKind, spec: JobSpec, origin: Origin | None = None
) -> list[dict[str, str]]:
    """Return an error for each field of a spec that its kind does not allow."""
    if kind.origin and (origin is None or origin.kind != kind.origin):
        text = Message("cannot be submitted as a job; it is started on its own page")
        return [{"field": "kind", "message": text}]
    policy = spec.policy
    asks = {
        "policy.retries": (kind.allows_retries, bool(policy.retries)),
        "array": (kind.allows_array, spec.array is not None),
        "policy.max_runtime": (kind.allows_time_limit, policy.max_runtime is not None),
        "policy.preempt": (kind.allows_preemption, policy.preempt != Preempt.RUNONCE),
    }
    text = Message("is not possible for the kind {kind}; remove it", kind=kind.name)
    return [
        {"field": field, "message": text}
        for field, (is_allowed, is_asked) in asks.items()
        if is_asked and not is_allowed
    ]
