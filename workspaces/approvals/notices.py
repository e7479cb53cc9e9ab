"""Whom requests, decisions and comments of every kind notify."""

from __future__ import annotations

from collections.abc import Iterable

from portal.core.models import Event
from workspaces.approvals.kinds import COMMENTED, REQUESTED
from workspaces.approvals.selectors import of_event
from workspaces.recipients import Notice, active, operators, people_who_may, quoted


def notices_of(event: Event) -> Iterable[Notice]:
    """A request goes to those who decide, a decision to who asked, a comment to the others."""
    found = of_event(event)
    if found is None:
        return
    kind, what, row = found
    asker, team, text = row.asker, kind.team_id(row), row.word
    is_asked = what == REQUESTED or (what == COMMENTED and event.actor == asker.email)
    if what == COMMENTED:
        text = event.data["after"].get("word") or event.data["after"].get("note", "")
    elif what == REQUESTED:
        if row.state != row.State.OPEN:
            return
        text = kind.reason(row)
    elif row.state not in (row.State.APPROVED, row.State.DECLINED) or row.decided_by == asker.email:
        return
    users = active([asker])
    if is_asked:
        users = operators() if kind.by_operators else people_who_may(kind.decides, row.org_id, team)
        users = [user for user in users if user.id != asker.id]
    yield Notice(
        "approval" if is_asked else "decision",
        row.org_id,
        users,
        kind.notice_title(what, row),
        kind.decide_path(row) if is_asked else kind.path(row),
        quoted(text),
        kind.decides if is_asked and not kind.by_operators else kind.reads,
        team,
    )
