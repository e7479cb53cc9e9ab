"""Enforce a team's job rules at submission: defaults, and an error for each violated rule."""

from __future__ import annotations

from portal.core.errors import InputErrors, InvalidInput
from schedulers.spec import JobSpec
from schedulers.spec.grammar import format_duration
from workspaces.models import Team
from workspaces.organizations.team_rules import NO_IMAGE, TeamRules

_ADVICE = "or ask an administrator to change the rule"


def rules_of(team: Team) -> TeamRules:
    """Return the rules stored on the team's row, without a query."""
    return TeamRules.of(team.job_rules)


def with_defaults(team: Team, spec: JobSpec) -> JobSpec:
    """Return the spec with the team's default time limit and pool where it sets none."""
    rules = rules_of(team)
    runtime = spec.policy.max_runtime or rules.runtime
    pool = spec.policy.pool or rules.default_pool
    if (runtime, pool) == (spec.policy.max_runtime, spec.policy.pool):
        return spec
    policy = spec.policy.model_copy(update={"max_runtime": runtime, "pool": pool})
    return spec.model_copy(update={"policy": policy})


def check_rules(team: Team, spec: JobSpec) -> None:
    """Require the spec to follow the team's rules.

    Raises InvalidInput, which names the rule and what to do.
    """
    rules, whose, errors = rules_of(team), f"a rule of team {team.name}", InputErrors()
    with errors:
        if rules.max_runtime and (spec.policy.max_runtime or 0) > rules.max_runtime:
            raise InvalidInput.at(
                "policy.max_runtime",
                f"is {format_duration(spec.policy.max_runtime or 0)}, but {whose} allows at most "
                f"{format_duration(rules.max_runtime)}; lower it, {_ADVICE}",
            )
    gpus = spec.resources.gpus * spec.num_nodes
    with errors:
        if rules.max_gpus is not None and gpus > rules.max_gpus:
            raise InvalidInput.at(
                "resources.accelerators",
                f"requests {gpus} GPUs in total, but {whose} allows at most {rules.max_gpus} per job; "
                f"request fewer, {_ADVICE}",
            )
    with errors:
        if not rules.allows_image(spec.image or ""):
            named = (
                f"{spec.image} is not one of the images that {whose} allows"
                if spec.image
                else f"is required by {whose}"
            )
            globs = ", ".join(glob for glob in rules.images if glob != NO_IMAGE)
            raise InvalidInput.at("image", f"{named}: {globs}. Choose one that matches, {_ADVICE}")
    with errors:
        if spec.policy.pool and not rules.allows_pool(spec.policy.pool):
            raise InvalidInput.at("policy.pool", _pools(spec.policy.pool, rules, whose))
    errors.raise_all()


def check_pool_rule(team: Team, name: str) -> None:
    """Require the chosen pool to be one that the team's rules allow. Raises InvalidInput."""
    rules = rules_of(team)
    if not rules.allows_pool(name):
        raise InvalidInput.at("policy.pool", _pools(name, rules, f"a rule of team {team.name}"))


def _pools(name: str, rules: TeamRules, whose: str) -> str:
    return (
        f"{name} is not one of the pools that {whose} allows: {', '.join(rules.pools)}. Choose "
        f"one of them, {_ADVICE}"
    )
