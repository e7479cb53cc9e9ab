"""Health of a cluster on its page: nodes, checks and limits, and the circuit breaker."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from clusters.health import selectors
from clusters.health.checks import CHECKS, Action
from clusters.health.presets import PRESETS
from clusters.models import Cluster, NodeHealth
from clusters.services import health as service
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.web.base import action

SHOWN = 50
ACTIONS = (
    (Action.OFF, Message("Off", context="what a rule does")),
    (Action.WARN, Message("Warn", context="what a rule does")),
    (Action.DRAIN, Message("Drain", context="what a rule does")),
    (Action.QUARANTINE, Message("Quarantine", context="what a rule does")),
)
FORMS = {"health", "health-limits", "health-reset"}


def health_tab(row: Cluster) -> dict[str, Any]:
    """Return the context of the tab."""
    unhealthy = (
        NodeHealth.objects.filter(
            node__cluster=row, node__is_gone=False, state__in=selectors.UNHEALTHY
        )
        .select_related("node")
        .order_by("state", "-since")
    )
    # "quarantined" before "draining" and "warning" is not the order of the words
    rank = {str(state): -place for place, state in enumerate(selectors.UNHEALTHY)}
    rows = sorted(unhealthy[: SHOWN * 10], key=lambda one: rank[one.state])
    return {
        "health": selectors.policy_row(row),
        "unhealthy": [selectors.health_row(one) | {"name": one.node.name} for one in rows[:SHOWN]],
        "actions": ACTIONS,
        "presets": [
            {
                "name": preset.name,
                "title": preset.title,
                "about": preset.about,
                "sets": {
                    f"{code}.{name}": value
                    for code, settings in preset.checks().items()
                    for name, value in settings.items()
                },
            }
            for preset in PRESETS
        ],
    }


def act_on_health(request: Any, row: Cluster, what: str) -> HttpResponse:
    """Change the checks or the limits, or reset the breaker."""
    here = f"/platform/clusters/{row.name}?tab=health"
    if what == "health-reset":
        return action(
            request,
            here,
            Message("The rules of {name} act again.", name=row.name),
            lambda: service.reset_breaker(actor=request.actor, cluster=row),
        )
    with FormErrors(request):
        if what == "health-limits":
            changes = _limits(request)
        elif preset := request.POST.get("preset", ""):
            changes = {"preset": preset}
        else:
            changes = {"checks": _checks(request)}
        service.change_health_policy(actor=request.actor, cluster=row, **changes)
        messages.success(request, Message("Health rules of {name} updated.", name=row.name))
    return redirect(here)


def _limits(request: Any) -> dict[str, Any]:
    return {
        "is_acting": request.POST.get("is_acting") == "1",
        **{name: _number(request, name, int) for name in ("most_percent", "most_per_hour")},
    }


def _checks(request: Any) -> dict[str, Any]:
    """Return the settings of the checks that the form has; its fields are "CHECK.SETTING"."""
    found: dict[str, Any] = {}
    for check in CHECKS:
        chosen = request.POST.get(f"{check.code}.action")
        if chosen is None:
            continue
        found[check.code] = {"action": chosen}
        for name in ("threshold", "minutes", "returns"):
            if request.POST.get(field := f"{check.code}.{name}") not in (None, ""):
                kind = float if name == "threshold" else int
                found[check.code][name] = _number(request, field, kind)
    return found


def _number(request: Any, name: str, kind: Any) -> Any:
    try:
        return kind(request.POST.get(name, ""))
    except ValueError:
        raise InvalidInput.at(name, "must be a number") from None
