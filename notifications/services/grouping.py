"""Group notifications for reading: by day, and what says the same of the same thing in one row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo

from notifications.kinds import BY_NAME
from notifications.models import Notification
from portal.core import clock
from portal.core.messages import Message

# What differs between jobs of one sweep: "lr-3", "train_12", "run (4)"
_NUMBER = re.compile(r"[\s_.,=:/#()\[\]-]*\d[\d\s_.e+()\[\]-]*$", re.IGNORECASE)


@dataclass
class Group:
    """Notifications that one row shows, newest first."""

    rows: list[Notification]
    name: str

    @property
    def newest(self) -> Notification:
        return self.rows[0]

    @property
    def unread(self) -> list[Notification]:
        return [row for row in self.rows if not row.read_at]

    @property
    def title(self) -> Message:
        """Return the title of one, or what all of them say."""
        kind = BY_NAME.get(self.newest.kind)
        title = Message(self.newest.title)
        if len(self.rows) == 1:
            return title
        if kind and kind.many and self.name:
            return kind.many.format(n=len(self.rows), name=self.name)
        return Message(
            "{title}, and {n} more",
            context="text, notifications",
            title=title,
            n=len(self.rows) - 1,
        )


@dataclass
class Day:
    """The groups of one day; `label` is "Today", "Yesterday" or its date."""

    label: Message
    groups: list[Group]


def days_of(rows: Sequence[Notification], zone: tzinfo) -> list[Day]:
    """Return notifications, newest first, by the days of the reader's time zone."""
    today = clock.now().astimezone(zone).date()
    days: dict[date, dict[tuple[object, ...], Group]] = {}
    for row in rows:
        groups = days.setdefault(row.at.astimezone(zone).date(), {})
        title, name = Message(row.title), common_name(row)
        key = (row.kind, row.org_id, title.template, name or row.path)
        groups.setdefault(key, Group([], name)).rows.append(row)
    return [Day(_label(day, today), list(groups.values())) for day, groups in days.items()]


def common_name(row: Notification) -> str:
    """Return the name in a title without its number: "sweep" of "#12 sweep-3 failed", or ""."""
    name = Message(row.title).params.get("name", "")
    return _NUMBER.sub("", name) or name


def _label(day: date, today: date) -> Message:
    if day == today:
        return Message("Today", context="text, notifications")
    return (
        Message("Yesterday", context="text, notifications")
        if day == today - timedelta(days=1)
        else Message(day.isoformat())
    )
