"""Read times as people write them: `yesterday`, `7d`, `last monday`, `2026-11`, `2026-11-01T12:00`.

Days begin at midnight in the reader's time zone, which the browser and the CLI tell (`zone`).
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.messages import Message

zone: ContextVar[tzinfo] = ContextVar("zone", default=UTC)

_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
_AGE = re.compile(
    r"([0-9]{1,5}) ?(m|min|minutes?|h|hours?|d|days?|w|weeks?)(?: ago)?", re.IGNORECASE
)
_OFFSET = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORT = tuple(day[:3] for day in _DAYS)


class Period(NamedTuple):
    """A span of time; `end` is not in it."""

    begin: datetime
    end: datetime


def zone_named(text: str) -> tzinfo | None:
    """Return the time zone of a name (`Asia/Seoul`) or an offset (`+09:00`)."""
    if found := _OFFSET.fullmatch(text):
        minutes = int(found[2]) * 60 + int(found[3])
        offset = timedelta(minutes=minutes if found[1] == "+" else -minutes)
        return timezone(offset) if minutes < 24 * 60 else None
    try:
        return ZoneInfo(text) if text and len(text) <= 64 else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def instant(name: str, text: str) -> datetime:
    """Return the begin of a period. Raises InvalidInput at `name`."""
    return period(name, text).begin


def period(name: str, text: str) -> Period:
    """Parse a time: a day, week, month or year from its begin to its end; an age until now.

    Raises InvalidInput at `name`.
    """
    try:
        found = _period(re.sub(r"[_ ]+|(?<=last|this)-", " ", text.strip().lower()))
    except (ValueError, OverflowError):
        found = None
    if found is None:
        raise InvalidInput.at(
            name,
            Message(
                "“{text}” is not a time. Write yesterday, 7d, last monday or 2026-01-31.",
                text=text[:40],
            ),
        )
    return found


def _period(text: str) -> Period | None:
    now = clock.now()
    if age := _AGE.fullmatch(text):
        return Period(now - timedelta(seconds=int(age[1]) * _UNITS[age[2][0]]), now)
    today = now.astimezone(zone.get()).replace(hour=0, minute=0, second=0, microsecond=0)
    match text.split():
        case ["now"]:
            return Period(now, now)
        case ["today"]:
            return _days(today, 0)
        case ["yesterday"]:
            return _days(today, -1)
        case [("this" | "last") as which, "week"]:
            back = today.weekday() + (7 if which == "last" else 0)
            return _days(today, -back, 7)
        case [("this" | "last") as which, "month"]:
            return _months(today.year, today.month - (which == "last"), 1)
        case [("this" | "last") as which, "year"]:
            return _months(today.year - (which == "last"), 1, 12)
        case [day] | ["last", day] if day in _DAYS or day in _SHORT:
            weekday = next(i for i, d in enumerate(_DAYS) if d.startswith(day))
            back = (today.weekday() - weekday) % 7
            return _days(today, -(back or (7 if text.startswith("last ") else 0)))
    return _date(text)


def _date(text: str) -> Period | None:
    if found := re.fullmatch(r"([0-9]{4})(?:-([0-9]{2}))?", text):
        if found[2]:
            return _months(int(found[1]), int(found[2]), 1) if 1 <= int(found[2]) <= 12 else None
        return _months(int(found[1]), 1, 12)
    at = datetime.fromisoformat(text.upper())
    if at.tzinfo is None:
        at = at.replace(tzinfo=zone.get())
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return _days(at, 0)
    return Period(at.astimezone(UTC), at.astimezone(UTC))


def _days(midnight: datetime, first: int, number: int = 1) -> Period:
    """Return whole days; they have 23 or 25 hours where clocks change."""
    return Period(*((midnight + timedelta(days=first + n)).astimezone(UTC) for n in (0, number)))


def _months(year: int, month: int, number: int) -> Period:
    ends = (divmod(year * 12 + month - 1 + n, 12) for n in (0, number))
    begin, end = (datetime(y, m + 1, 1, tzinfo=zone.get()).astimezone(UTC) for y, m in ends)
    return Period(begin, end)
