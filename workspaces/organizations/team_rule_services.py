"""Set the job rules of a team. Jobs accepted before are unaffected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction

from portal.core.declarations import declared
from portal.core.errors import InputErrors, InvalidInput
from portal.core.events import EventRecord, record
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Team
from workspaces.organizations.team_rules import TeamRules

MOST, LONGEST, YEARS = 50, 255, 10 * 366 * 86400


@transaction.atomic
def set_team_rules(*, actor: Actor, team: Team, **changes: Any) -> TeamRules:
    """Set the given rules, keeping the others. Raises InvalidInput, NotPermitted."""
    authorize(actor, Permission.QUOTAS_WRITE, team)
    row = Team.objects.select_for_update().get(id=team.id)
    before = TeamRules.of(row.job_rules)
    named: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()
    }
    after = replace(before, **named)
    errors = InputErrors()
    _check(after, errors)
    _check_pools(actor, before, after, errors)
    errors.raise_all()
    row.job_rules = team.job_rules = after.stored()
    row.save(update_fields=["job_rules"])
    record(
        EventRecord(
            "team.rules_changed",
            row.org_id,
            "team",
            row.id,
            actor.email,
            {"name": row.slug, "before": before.stored(), "after": after.stored()},
        )
    )
    return after


def _check_pools(actor: Actor, before: TeamRules, after: TeamRules, errors: InputErrors) -> None:
    """Check added pool names, which apps above know. Existing ones may be of deleted pools."""
    places: Sequence[Callable[[Actor], Collection[str]]] = declared("providers", "POOL_NAMES")
    for field, names in (
        ("pools", {*after.pools} - {*before.pools}),
        ("default_pool", {after.default_pool} - {before.default_pool, ""}),
    ):
        with errors:
            if names and places and (bad := sorted(names - {n for p in places for n in p(actor)})):
                raise InvalidInput.at(field, f"there is no pool {bad[0][:LONGEST]!r} here")


def _check(rules: TeamRules, errors: InputErrors) -> None:
    for name, most in (("max_runtime", YEARS), ("default_runtime", YEARS), ("max_gpus", 100_000)):
        value, least = getattr(rules, name), 0 if name == "max_gpus" else 1
        with errors:
            if value is not None and not least <= value <= most:
                raise InvalidInput.at(
                    name, f"must be at most {most:,}, and at least {least}; null for no limit"
                )
    for name in ("images", "pools"):
        values = getattr(rules, name)
        with errors:
            if len(values) > MOST or any(
                not v or len(v) > LONGEST or not v.isprintable() or v != v.strip() for v in values
            ):
                raise InvalidInput.at(
                    name, f"must be at most {MOST} names of at most {LONGEST} printable characters"
                )
    with errors:
        if rules.max_runtime and (rules.default_runtime or 0) > rules.max_runtime:
            raise InvalidInput.at("default_runtime", "is above max_runtime, so no job could use it")
    with errors:
        if rules.default_pool and not rules.allows_pool(rules.default_pool):
            raise InvalidInput.at("default_pool", "is not among the allowed pools")
