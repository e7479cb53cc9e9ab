"""Form of a team's job rules, shown on the team's page."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from portal.core.errors import InputErrors, InvalidInput
from portal.core.messages import Message
from schedulers.spec.grammar import format_duration, parse_duration
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.organizations import team_rule_services
from workspaces.organizations.team_rules import TeamRules
from workspaces.web.base import action, page
from workspaces.web.views import team_named


@page(P.QUOTAS_WRITE, ("GET", "HEAD", "POST"))
def set_rules(request: Any, team: str) -> HttpResponse:
    """Set all rules of a team; an empty field removes the rule. Who reloads is shown the team."""
    row = team_named(team)
    back = f"/{request.org.slug}/teams/{row.slug}#rules"
    if request.method != "POST":
        return redirect(back)
    return action(
        request,
        back,
        _("Rules saved. They apply to jobs submitted from now on."),
        lambda: team_rule_services.set_team_rules(
            actor=request.actor, team=row, **_read(request.POST)
        ),
    )


def shown(team: Team) -> dict[str, str]:
    """Return the rules as form values."""
    rules = TeamRules.of(team.job_rules)
    return {
        "max_runtime": format_duration(rules.max_runtime) if rules.max_runtime else "",
        "default_runtime": format_duration(rules.default_runtime) if rules.default_runtime else "",
        "max_gpus": "" if rules.max_gpus is None else str(rules.max_gpus),
        "images": ", ".join(rules.images),
        "pools": ", ".join(rules.pools),
        "default_pool": rules.default_pool,
    }


_TITLES = {
    "max_runtime": Message("Maximum run time"),
    "default_runtime": Message("Default run time"),
    "max_gpus": Message("Maximum GPUs per job"),
    "images": Message("Allowed images", context="name of a value"),
    "pools": Message("Allowed pools", context="name of a value"),
    "default_pool": Message("Default pool", context="name of a value"),
}


def rule_lines(team: Team) -> list[tuple[Message, str]]:
    """Return the rules that the team has, with their titles."""
    return [(_TITLES[name], value) for name, value in shown(team).items() if value]


def _read(form: Any) -> dict[str, Any]:
    text = {name: form.get(name, "").strip() for name in TeamRules.__dataclass_fields__}
    found: dict[str, Any] = {
        "images": _names(text["images"]),
        "pools": _names(text["pools"]),
        "default_pool": text["default_pool"],
    }
    errors = InputErrors()
    for name, read in (
        ("max_runtime", _seconds),
        ("default_runtime", _seconds),
        ("max_gpus", _whole),
    ):
        with errors:
            found[name] = read(name, text[name])
    errors.raise_all()
    return found


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(text.replace(",", " ").split()))


def _whole(name: str, text: str) -> int | None:
    if text and not (text.isdecimal() and len(text) < 9):
        raise InvalidInput.at(name, _("must be a whole number"))
    return int(text) if text else None


def _seconds(name: str, text: str) -> int | None:
    try:
        return parse_duration(text) if text else None
    except ValueError as error:
        raise InvalidInput.at(name, str(error)) from error
