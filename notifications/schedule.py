"""When a message is due: at once, with the next digest, or after the quiet hours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from notifications.models import Preference
from portal.core import clock

DAY = 24 * 60


def due_at(preference: Preference | None, *, is_mail: bool) -> datetime:
    """Return when a message to that person is due. Only mail is collected into digests."""
    now = clock.now()
    if preference is None:
        return now
    if is_mail and preference.pace == Preference.Pace.DAILY:
        return next_time(now, preference.daily_at, zone_of(preference))
    at = _next_hour(now) if is_mail and preference.pace == Preference.Pace.HOURLY else now
    return after_quiet_hours(preference, at)


def after_quiet_hours(preference: Preference, at: datetime) -> datetime:
    """Return the time itself, or the end of the quiet hours in which it is."""
    begin, end = preference.quiet_from, preference.quiet_until
    if begin is None or end is None or begin == end:
        return at
    local = at.astimezone(zone_of(preference))
    minute = local.hour * 60 + local.minute
    is_quiet = begin <= minute < end if begin < end else minute >= begin or minute < end
    return next_time(at, end, zone_of(preference)) if is_quiet else at


def next_time(after: datetime, minute: int, zone: ZoneInfo) -> datetime:
    """Return the next time, after `after`, at which it is that minute of the day in the zone."""
    local = after.astimezone(zone)
    for days in range(3):  # an hour that a change of the clock skips is found the day after
        day = local.date() + timedelta(days=days)
        at = datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=zone)
        if at.astimezone(UTC) > after:
            return at.astimezone(UTC)
    return after + timedelta(days=1)


def zone_of(preference: Preference | None) -> ZoneInfo:
    """Return the person's time zone; UTC if it is not known."""
    return zone_named(preference.time_zone if preference else "") or ZoneInfo("UTC")


def zone_named(name: str) -> ZoneInfo | None:
    """Return a time zone by its IANA name, or None."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _next_hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
