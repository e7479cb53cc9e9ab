"""Changes that somebody can take with one click where a job is refused, waits or has failed.

A suggestion is made where the reason is known. It changes fields of the spec, opens a page, or acts. One
that changes the spec is offered only if the dry run accepts it, and for a job that waits only if it would
start at once. Pages, the API and the command line show the same (`docs/design/jobs.md`, "Suggestions").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from shlex import quote
from typing import Any
from urllib.parse import urlencode

from django.db.models import Max

from clusters.models import Device
from jobs.dispatch.job_status import is_met
from jobs.models import Attempt, Dependency, Job
from jobs.scheduling import quota_limits
from jobs.scheduling.advice import SuggestionShape
from jobs.scheduling.pending_explanation import PendingExplanation
from jobs.scheduling.placement import gpu_offers, names_for, open_nodes
from jobs.services.change import may_change
from jobs.services.dry_run import DryRun, check_draft
from jobs.services.team_rules import rules_of
from jobs.specs.stored import request_of, spec_of
from portal.core.formatting import amount_text, bytes_text, gpu_text, typed_text
from portal.core.messages import Message
from schedulers.capacity import AmountChange, Candidates, smallest_change
from schedulers.spec import JobSpec, Resume, SpecErrors, parse_mapping, with_overrides
from schedulers.spec.grammar import format_duration, format_size
from schedulers.states import Reason, Responsibility, State, Wait
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team

MOST, MOST_TRIES = 3, 6  # offered, and tried by a dry run
RECENT = 30  # jobs whose images are considered
RETRIES = 2
GIB = 1 << 30
QUOTAS = frozenset({Wait.QUOTA_USER, Wait.QUOTA_TEAM, Wait.QUOTA_ORG})
_FIELDS = {"cpu": "resources.cpus", "memory": "resources.memory", "nodes": "num_nodes"}


@dataclass(frozen=True)
class Suggestion:
    """One suggestion. `group`: only the first accepted one of a group is offered.

    `page` and `action`: instead of changes.
    """

    label: str
    text: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""
    page: str = ""
    action: str = ""
    command: str = ""

    def of_draft(self) -> SuggestionShape:
        return self._as_dict(self.page, self.command)

    def of_job(self, job: Job) -> SuggestionShape:
        """Return it for a job, which the page for a new job runs again with the changes."""
        if not self.changes:
            return self._as_dict(self.page, self.command)
        sets = [f"{path}={'' if v is None else v}" for path, v in self.changes.items()]
        query = urlencode([("from", job.number), *(("set", one) for one in sets)])
        options = " ".join(f"--set {quote(one)}" for one in sets)
        return self._as_dict(
            f"/{job.org.slug}/jobs/new?{query}", f"muster job rerun {job.number} {options}"
        )

    def _as_dict(self, page: str, command: str) -> SuggestionShape:
        return {
            "label": self.label,
            "text": self.text,
            "changes": dict(self.changes),
            "page": page,
            "action": self.action,
            "command": command,
        }


def draft_suggestions(
    actor: Actor, team: Team, spec: JobSpec, result: DryRun
) -> list[SuggestionShape]:
    """Return what would help a draft that is refused or would wait; `result` is its dry run."""
    if (result.is_ok and (result.starts_now or spec.after)) or _is_failed(result, "access"):
        return []
    tries = _of_draft(team, spec, result)
    found = _accepted(actor, team, spec, tries, now=_could_start(result))
    more = _more_quota(actor, team, result)
    return [one.of_draft() for one in [*found, *more]]


def suggestions_of(
    actor: Actor, job: Job, pending: PendingExplanation | None, attempt: Attempt | None = None
) -> list[SuggestionShape]:
    """Return what helps a job that is pending, or of which an attempt has failed.

    `attempt`: the one that is shown; by default the first current one that failed.
    """
    made: list[Suggestion] = []
    may_submit = bool(actor.user_id) and actor.may(Permission.JOBS_SUBMIT, job.team_id)
    spec = _again(job)
    if pending:
        wait, facts = Wait(pending.code), pending.numbers
        if wait == Wait.EVALUATING:  # about to start
            return []
        if may_submit and wait not in (Wait.HELD, Wait.DEPENDENCY, Wait.BACKOFF):
            made += _while_waiting(actor, job, spec, facts)
        made += _acts(actor, job, wait, facts)
        return [one.of_job(job) for one in made or _nodes(actor, job)]
    if not State(job.state).is_final:
        return []
    attempt = attempt or _failed_attempt(job)
    if attempt is None or not attempt.reason:
        return []
    if may_submit and attempt.state == State.FAILED:
        tries = _after_failure(job, spec, attempt)
        made += _accepted(actor, job.team, spec, tries, now=False)
    if attempt.reason == Reason.DEPENDENCY_FAILED:
        made += _unmet(actor, job)
    return [one.of_job(job) for one in made]


def _failed_attempt(job: Job) -> Attempt | None:
    rows = job.attempts.filter(is_current=True, state__gt=State.SUCCEEDED)
    return rows.order_by("state", "index").first()


def with_changes(spec: JobSpec, changes: Mapping[str, Any]) -> JobSpec | None:
    """Return the spec with the changes; None if they do not fit."""
    try:
        return parse_mapping(with_overrides(spec.to_mapping(), changes))
    except SpecErrors:
        return None


def _again(job: Job) -> JobSpec:
    """Return the spec as a rerun has it: without the jobs that it waited for."""
    return spec_of(job).model_copy(update={"after": ()})


def _accepted(
    actor: Actor, team: Team, spec: JobSpec, tries: Iterator[Suggestion], *, now: bool
) -> list[Suggestion]:
    """Return the first that a dry run accepts, and with which the job starts `now`."""
    found: list[Suggestion] = []
    for n, one in enumerate(tries):
        if n == MOST_TRIES or len(found) == MOST:
            break
        if one.group and any(other.group == one.group for other in found):
            continue
        changed = with_changes(spec, one.changes)
        if changed is None or changed == spec:
            continue
        result = check_draft(actor=actor, team=team, spec=changed)
        if result.starts_now or (not now and _could_start(result)):
            found.append(one)
    return found


def _could_start(result: DryRun) -> bool:
    """Return whether a job is accepted and nodes are large enough for it."""
    return result.is_ok and result.wait != Wait.IMPOSSIBLE


# -- what a refused or waiting spec could do instead


def _of_draft(team: Team, spec: JobSpec, result: DryRun) -> Iterator[Suggestion]:
    if _could_start(result):
        yield from _to_start_now(team, spec, result.change)
        return
    if _is_failed(result, "rules"):
        yield from _within_rules(team, spec)
    yield from _within_limit(spec, result)
    if _is_failed(result, "image"):
        yield from _other_images(team, spec)
    if result.is_ok or _is_failed(result, "place", "quota and size", "features", "allowed pool"):
        yield from _that_fit(team, spec)
        yield from _other_pools(team, spec)
    if _is_failed(result, "image"):
        yield from _other_pools(team, spec)


def _is_failed(result: DryRun, *names: str) -> bool:
    return any(check.name in names and check.is_ok is False for check in result.checks)


def _to_start_now(team: Team, spec: JobSpec, change: AmountChange | None) -> Iterator[Suggestion]:
    """Yield other GPU types and pools with room, and the smallest reduction."""
    yield from _other_types(team, spec, is_free=True)
    gpus = spec.resources.gpus * spec.num_nodes
    for each in (spec.resources.gpus // 2, spec.resources.gpus // 4):
        if each and gpus % each == 0:
            yield from _split(spec, gpus, each)
    yield from _other_pools(team, spec)
    if change:
        yield from _reduced(spec, change)


def _other_types(team: Team, spec: JobSpec, *, is_free: bool) -> Iterator[Suggestion]:
    gpus, nodes = spec.resources.gpus, spec.num_nodes
    if not gpus or not spec.resources.gpu_type:
        return
    for one in sorted(gpu_offers(team), key=lambda offer: -offer["free"]):
        enough = (
            one["most_per_node"] >= gpus and one["free" if is_free else "total"] >= gpus * nodes
        )
        if one["type"] == spec.resources.gpu_type.lower() or one["note"] or not enough:
            continue
        name = gpu_text(one["type"])
        if spec.resources.gpu_type.startswith("mig-") != one["type"].startswith("mig-"):
            continue
        yield Suggestion(
            Message("Use {type} ({n} free)", context="text, jobs", type=name, n=one["free"]),
            changes={"resources.accelerators": f"{one['type']}:{gpus}"},
            group="type",
        )


def _other_pools(team: Team, spec: JobSpec) -> Iterator[Suggestion]:
    """Yield the other pools of the team if the spec names one that does not do."""
    if not spec.policy.pool:
        return
    yield Suggestion(
        Message("Let Muster choose the pool"), changes={"policy.pool": None}, group="pool"
    )
    for name in names_for([team]):
        if name != spec.policy.pool:
            yield Suggestion(
                Message("Use {pool}", context="text, jobs", pool=name),
                changes={"policy.pool": name},
                group="pool",
            )


def _that_fit(team: Team, spec: JobSpec) -> Iterator[Suggestion]:
    """Yield how the job fits on the nodes that the team may use: split, another type, less."""
    machines = open_nodes(team, spec.policy.pool) or open_nodes(team)
    nodes, need = Candidates([m.capacity for m in machines]), request_of(spec)
    gpus, kind = need.in_all("gpu"), need.resource("gpu")
    most = nodes.most(kind, lambda node: node.total)
    if gpus:
        yield from _split(spec, gpus, most)
    if need.nodes > 1 and gpus <= most:
        yield Suggestion(
            Message("Use 1 node × {n}", context="text, jobs", n=gpus),
            changes={"num_nodes": 1, "resources.accelerators": _gpus(spec, gpus)},
            group="split",
        )
    yield from _other_types(team, spec, is_free=False)
    if change := smallest_change(need, nodes.could_run):
        yield from _reduced(spec, change)


def _split(spec: JobSpec, gpus: int, most: int) -> Iterator[Suggestion]:
    """Yield the same number of GPUs on more nodes, with as many as possible on each."""
    for each in range(min(most, gpus - 1), 0, -1):
        if gpus % each == 0 and (gpus // each, each) != (spec.num_nodes, spec.resources.gpus):
            yield Suggestion(
                Message(
                    "Use {nodes} nodes × {n}", context="text, jobs", nodes=gpus // each, n=each
                ),
                changes={"num_nodes": gpus // each, "resources.accelerators": _gpus(spec, each)},
                group="split",
            )
            return


def _gpus(spec: JobSpec, count: int) -> str | int:
    kind = (spec.resources.gpu_type or "").lower()
    return f"{kind}:{count}" if kind else count


def _reduced(spec: JobSpec, change: AmountChange) -> Iterator[Suggestion]:
    """Yield a smaller amount of one resource, which is per node."""
    amount = change.after
    if change.kind == "gpu":
        value: Any = _gpus(spec, amount)
    elif change.kind == "memory":
        amount = amount // GIB * GIB if amount >= GIB else amount
        value = format_size(amount)
    else:
        value = amount / 1000 if change.kind == "cpu" else amount
    path = _FIELDS.get(change.kind, "resources.accelerators")
    text = Message("Instead of {amount}.", amount=amount_text(change.kind, change.before))
    yield Suggestion(
        Message("Use {amount}", context="text, jobs", amount=amount_text(change.kind, amount)),
        text,
        {path: value},
        "less",
    )


def _within_rules(team: Team, spec: JobSpec) -> Iterator[Suggestion]:
    """Yield what the team's job rules allow."""
    rules, changes = rules_of(team), dict[str, Any]()
    labels: list[str] = []
    if rules.max_runtime and (spec.policy.max_runtime or 0) > rules.max_runtime:
        text = format_duration(rules.max_runtime)
        changes["policy.max_runtime"] = text
        labels.append(Message("a limit of {time}", context="part of a sentence", time=text))
    gpus = spec.resources.gpus * spec.num_nodes
    if rules.max_gpus is not None and gpus > rules.max_gpus:
        changes["resources.accelerators"] = _gpus(spec, rules.max_gpus // spec.num_nodes)
        labels.append(amount_text("gpu", rules.max_gpus // spec.num_nodes))
    if changes:
        yield Suggestion(
            Message("Use {what}", context="text, jobs", what=Message.joined(", ", labels)),
            Message("As the rules of team {team} allow.", team=team.name),
            changes,
            "rules",
        )
    for name in rules.pools if spec.policy.pool and not rules.allows_pool(spec.policy.pool) else ():
        yield Suggestion(
            Message("Use {pool}", context="text, jobs", pool=name),
            changes={"policy.pool": name},
            group="pool",
        )
    if not rules.allows_image(spec.image or ""):
        yield from _other_images(team, spec)


def _within_limit(spec: JobSpec, result: DryRun) -> Iterator[Suggestion]:
    """Yield as much as the quota that the request exceeds allows."""
    for check in result.checks:
        facts = check.facts
        if check.is_ok is not False or "limit" not in facts or "over" not in facts:
            continue
        kind, each = str(facts["resource"]).partition(".")[0], facts["limit"] // spec.num_nodes
        if kind in ("gpu", "cpu", "memory") and each > 0:
            yield from _reduced(spec, AmountChange(kind, facts["ask"] // spec.num_nodes, each))


def _other_images(team: Team, spec: JobSpec) -> Iterator[Suggestion]:
    """Yield images with which jobs of the team succeeded, first of the same repository."""
    rows = Job.objects.filter(team=team, state=State.SUCCEEDED, spec__image__isnull=False)
    images = rows.order_by("-number").values_list("spec__image", flat=True)[:RECENT]
    wanted = _repository(spec.image or "")
    known = dict.fromkeys(image for image in images if image != spec.image)
    for image in sorted(known, key=lambda image: _repository(image) != wanted):
        yield Suggestion(
            Message("Use {image}", context="text, jobs", image=image),
            Message("A job of team {team} succeeded with it.", team=team.name),
            {"image": image},
            "image",
        )


def _repository(image: str) -> str:
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _more_quota(actor: Actor, team: Team, result: DryRun) -> Iterator[Suggestion]:
    """Yield the request for a higher limit if a quota is in the way."""
    facts = next((c.facts for c in result.checks if "over" in c.facts), result.facts)
    if "scope" in facts and "limit" in facts and "ask" in facts:
        enough = facts.get("enough") or facts.get("used", 0) + facts["ask"]
        yield _request_more(team, actor.email, facts, enough)


def _request_more(
    team: Team, email: str, facts: Mapping[str, Any], enough: int, job: int | None = None
) -> Suggestion:
    scope, resource = facts["scope"], str(facts["resource"])
    who = {"org": "org:", "team": f"team:{team.slug}", "user": f"user:{email}"}[scope]
    amount = typed_text(resource, enough)
    query = {"ask": who, "resource": resource, "amount": amount}
    whom = {"org": "", "team": f" --team {team.slug}", "user": " --user -"}[scope]
    about = f" --job {job}" if job else ""
    return Suggestion(
        Message("Request more", context="text, jobs"),
        Message(
            "Up to {amount} for {whose}.",
            amount=amount_text(resource, enough),
            whose=quota_limits.whose(facts, is_first=False),
        ),
        page=f"/{team.org.slug}/quotas?{urlencode({**query, **({'job': job} if job else {})})}",
        command=f"muster quota request {resource} {amount}{whom}{about}",
    )


# -- jobs that wait


def _while_waiting(
    actor: Actor, job: Job, spec: JobSpec, facts: Mapping[str, Any]
) -> list[Suggestion]:
    """Return changes with which a rerun would start at once, or the planner's smallest one."""
    change = facts.get("change")
    known = AmountChange(change["resource"], change["from"], change["to"]) if change else None
    result = check_draft(actor=actor, team=job.team, spec=spec)
    tries = _of_draft(job.team, spec, result)
    found = _accepted(actor, job.team, spec, tries, now=_could_start(result))
    if known and not any(one.group == "less" for one in found):
        # The scheduler knows better than our view of its nodes what would start.
        less = _reduced(spec, _per_node(spec, known))
        found += _accepted(actor, job.team, spec, less, now=False)
    return found[:MOST]


def _per_node(spec: JobSpec, change: AmountChange) -> AmountChange:
    """Return a change of a total as one of each node; the ratio is the same."""
    before = request_of(spec).of(change.kind)
    if before == change.before:
        return change
    after = max(1, before * change.after // change.before)
    return AmountChange(change.kind, before, after)


def _acts(actor: Actor, job: Job, wait: Wait, facts: Mapping[str, Any]) -> Iterator[Suggestion]:
    """Yield what else helps a job that waits: an action, or a page."""
    page = f"/{job.org.slug}/jobs/{job.number}"
    if wait == Wait.HELD and may_change(actor, job):
        yield Suggestion(
            Message("Release", context="text, jobs, let a held job start"),
            action="release",
            page=f"{page}/release",
            command=f"muster job release {job.number}",
        )
    elif wait in QUOTAS and "limit" in facts:
        enough = facts.get("enough") or facts["used"] + facts["ask"]
        yield _request_more(job.team, job.owner.email, facts, enough, job.number)
    elif wait == Wait.DEPENDENCY and facts.get("jobs"):
        yield _open(job, facts["jobs"][0])
    elif wait == Wait.BACKOFF:
        before = job.attempts.filter(is_current=False).order_by("-finished_at").first()
        if before:
            yield Suggestion(
                Message("Open the failed attempt"),
                page=f"{page}?index={before.index}&attempt={before.ordinal}&tab=logs",
                command=f"muster job logs {job.number}",
            )


def _nodes(actor: Actor, job: Job) -> Iterator[Suggestion]:
    """Yield where one sees what the job waits for, if nothing else helps."""
    if actor.may(Permission.NODES_READ):
        page = f"/{job.org.slug}/nodes"
        yield Suggestion(
            Message("View nodes", context="text, jobs"), page=page, command="muster node list"
        )


def _open(job: Job, number: int) -> Suggestion:
    return Suggestion(
        Message("Open #{n}", context="text, jobs", n=number),
        page=f"/{job.org.slug}/jobs/{number}",
        command=f"muster job info {number}",
    )


# -- jobs that failed


def _after_failure(job: Job, spec: JobSpec, attempt: Attempt) -> Iterator[Suggestion]:
    reason = Reason(attempt.reason)
    match reason:
        case Reason.OUT_OF_MEMORY if spec.resources.memory:
            yield from _more_memory(job, spec)
        case Reason.GPU_OUT_OF_MEMORY:
            yield from _larger_gpus(job, spec)
        case Reason.TIME_LIMIT if spec.policy.max_runtime:
            yield from _resumed(spec, job)
            yield from _longer(job, spec)
        case Reason.IMAGE_UNAVAILABLE:
            yield from _other_images(job.team, spec)
        case Reason.NO_KERNEL_IMAGE:
            yield from _other_types(job.team, spec, is_free=False)
        case Reason.REJECTED:
            yield from _that_fit(job.team, spec)
    if reason.fault is Responsibility.PLATFORM:
        yield from _resumed(spec, job)
        if reason.is_retryable and spec.policy.retries < RETRIES:
            yield Suggestion(
                Message("Rerun with {n} retries", n=RETRIES),
                Message("The platform failed; a retry avoids the node."),
                {"policy.retries": RETRIES},
                "again",
            )


def _more_memory(job: Job, spec: JobSpec) -> Iterator[Suggestion]:
    """Yield twice the memory, or as much as the largest node has."""
    asked = spec.resources.memory
    most = Candidates([m.capacity for m in open_nodes(job.team, spec.policy.pool)]).most(
        "memory", lambda node: node.total
    )
    step = GIB if asked >= GIB else 1 << 20
    for amount in (-(-2 * asked // step) * step, most // step * step):
        if amount > asked:
            yield Suggestion(
                Message("Rerun with {amount}", context="text, jobs", amount=bytes_text(amount)),
                Message("Instead of {amount}.", amount=bytes_text(asked)),
                {"resources.memory": format_size(amount)},
                "memory",
            )


def _larger_gpus(job: Job, spec: JobSpec) -> Iterator[Suggestion]:
    """Yield GPU types with more memory than the job's."""
    rows = Device.objects.filter(is_lost=False).values("type").annotate(memory=Max("memory"))
    sizes = {row["type"]: row["memory"] for row in rows.order_by("memory")}
    kind = (spec.resources.gpu_type or "").lower()
    offered = {one["type"] for one in gpu_offers(job.team)}
    for name, memory in sizes.items():
        if name in offered and memory > sizes.get(kind, 0) and kind in sizes:
            yield Suggestion(
                Message("Rerun on {type}", context="text, jobs", type=gpu_text(name)),
                Message("Each has {amount} of memory.", amount=bytes_text(memory)),
                {"resources.accelerators": f"{name}:{spec.resources.gpus}"},
                "type",
            )


def _longer(job: Job, spec: JobSpec) -> Iterator[Suggestion]:
    """Yield twice the time, or as much as the team's rules allow."""
    now, most = spec.policy.max_runtime or 0, rules_of(job.team).max_runtime
    for seconds in (2 * now, most or 0):
        if seconds > now:
            yield Suggestion(
                Message("Rerun with a limit of {time}", time=format_duration(seconds)),
                Message("Instead of {time}.", time=format_duration(now)),
                {"policy.max_runtime": format_duration(seconds)},
                "time",
            )


def _resumed(spec: JobSpec, job: Job) -> Iterator[Suggestion]:
    """Yield the latest saved version of an output as the start of a rerun."""
    for name, output in spec.outputs.items():
        saved = job.outputs.filter(name=name, version__isnull=False)
        if output.resume != Resume.LATEST and saved.exists():
            yield Suggestion(
                Message("Resume from {name}", context="text, jobs", name=output.repository),
                Message("It continues from the last version that the job saved."),
                {f"outputs.{name}.resume": "latest"},
                "resume",
            )


def _unmet(actor: Actor, job: Job) -> Iterator[Suggestion]:
    """Yield the job that ended otherwise than this one needed it."""
    for row in Dependency.objects.filter(job=job).select_related("needs"):
        state = State(row.needs.state)
        if (
            state.is_final
            and not is_met(row.condition, state)
            and actor.may(Permission.JOBS_READ, row.needs.team_id)
        ):
            yield _open(job, row.needs.number)
            return
