"""Changes of limits, from the audit log."""

from __future__ import annotations

from typing import Any

from jobs.quotas.tree import short, title
from portal.core.messages import Message
from portal.core.models import Event
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.approvals.selectors import names_of
from workspaces.models import Organization, Team

MOST, LINES, LOOKED_AT = 20, 5, 300


def history(actor: Actor, org: Organization, whose: str | None = None) -> list[dict[str, Any]]:
    """Return the latest changes of limits, newest first, each with its lines.

    `whose` narrows them to one subject: "team vision", or "org". For those who may make such
    changes. Raises NotPermitted.
    """
    authorize(actor, Permission.QUOTAS_WRITE)
    rows = Event.objects.filter(subject_id=org.id, org_id=org.id, kind="quota.changed").order_by(
        "-position"
    )[: MOST if whose is None else LOOKED_AT]
    found = ({"at": row.at, "actor": row.actor, **_lines(row.data, whose)} for row in rows)
    shown = [change for change in found if change["lines"]][:MOST]
    lines = [line for change in shown for line in change["lines"]]
    people = {change["actor"] for change in shown} | {line["whose"] for line in lines}
    names = {"team": dict(Team.objects.values_list("slug", "name")), "user": names_of(people)}
    for line in lines:
        line["whose"] = names.get(line["scope"], {}).get(line["whose"], line["whose"])
    return [
        change | {"actor": names["user"].get(change["actor"], change["actor"])} for change in shown
    ]


def _lines(data: dict[str, Any], whose: str | None) -> dict[str, Any]:
    """Return the changed limits in the order of their names, which databases do not keep."""
    before, after = data.get("before", {}), data.get("after", {})
    lines = [
        {**_about(name), "before": _terms(name, before.get(name)), "after": _terms(name, now)}
        for name, now in sorted(after.items())
        if isinstance(now, dict) and (whose is None or name.partition(" of ")[2] == whose)
    ]
    return {"lines": lines[:LINES], "more": max(len(lines) - LINES, 0)}


def _about(name: str) -> dict[str, str]:
    """Split the audit log's name ("gpu of team vision") into resource and subject.

    The subject is empty for the organization.
    """
    resource, _of, subject = name.partition(" of ")
    scope, _space, whose = subject.partition(" ")
    return {"what": title(resource), "scope": scope, "whose": whose}


def _terms(name: str, values: dict[str, Any] | None) -> Message:
    values, resource = values or {}, name.partition(" of ")[0]
    limit, guaranteed = values.get("limit"), values.get("guaranteed") or 0
    most = (
        Message("no limit", context="part of a sentence")
        if limit is None
        else Message(short(resource, limit))
    )
    if not guaranteed:
        return most
    return Message(
        "{limit}, {n} guaranteed", context="text, jobs", limit=most, n=short(resource, guaranteed)
    )
