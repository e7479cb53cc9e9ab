"""Settings of people: which kinds arrive where, how often, and when not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from notifications.kinds import BY_NAME, KINDS
from notifications.models import Delivery, Preference
from notifications.schedule import DAY, zone_named
from portal.core.errors import InputErrors, InvalidInput
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from workspaces.access.actors import Actor

WAYS = ("in_app", "email")
_FIELDS = ("kinds", "pace", "daily_at", "quiet_from", "quiet_until", "time_zone", "language")
_MINUTES = ("daily_at", "quiet_from", "quiet_until")


def wants(preference: Preference | None, kind: str, way: str) -> bool:
    """Return whether a person wants a kind of notification `in_app` or by `email`."""
    chosen = preference.kinds.get(kind, {}).get(way) if preference else None
    return bool(getattr(BY_NAME[kind], way) if chosen is None else chosen)


def settings_of(user_id: UUID, *, is_operator: bool) -> dict[str, Any]:
    """Return a person's settings, with all kinds that they can get."""
    row = Preference.objects.filter(user_id=user_id).first() or Preference(user_id=user_id)
    return {
        "kinds": {
            kind.name: {way: wants(row, kind.name, way) for way in WAYS}
            for kind in KINDS
            if is_operator or not kind.operators_only
        },
        "pace": str(row.pace),
        "daily_at": clock_text(row.daily_at),
        "quiet_from": clock_text(row.quiet_from),
        "quiet_until": clock_text(row.quiet_until),
        "time_zone": row.time_zone or "UTC",
        "language": row.language or settings.LANGUAGE_CODE,
    }


@transaction.atomic
def change_settings(*, actor: Actor, given: Mapping[str, Any]) -> Preference:
    """Change one's own settings; omitted ones stay. Raises InvalidInput, NotPermitted."""
    actor.check_acts_for_oneself()
    row = _locked(actor.user_id)
    before = {name: getattr(row, name) for name in _FIELDS}
    errors = InputErrors()
    for name in _MINUTES:
        with errors:
            if name in given:
                setattr(row, name, _minute(name, given[name]))
    with errors:
        if "daily_at" in given and not given["daily_at"]:
            raise InvalidInput.at("daily_at", Message("is required", context="error of a field"))
    with errors:
        if (row.quiet_from is None) != (row.quiet_until is None):
            missing = "quiet_from" if row.quiet_from is None else "quiet_until"
            text = Message("is required: quiet hours have a start and an end")
            raise InvalidInput.at(missing, text)
    with errors:
        if "pace" in given:
            row.pace = _one_of("pace", given["pace"], Preference.Pace.values)
    with errors:
        if "time_zone" in given:
            if zone_named(str(given["time_zone"])) is None:
                raise InvalidInput.at("time_zone", Message("must be a name such as Asia/Seoul"))
            row.time_zone, row.is_chosen = given["time_zone"], True
    with errors:
        if "language" in given:
            known = [name for name, _ in settings.LANGUAGES]
            row.language = _one_of("language", given["language"], known)
            row.is_chosen = True
    errors.raise_all()
    row.kinds = _merged(row.kinds, given.get("kinds", {}))
    row.save()
    _record(actor.user_id, actor.email, before, row)
    return row


@transaction.atomic
def turn_off_mail(user_id: UUID, email: str, kinds: list[str]) -> None:
    """Send no more mail of these kinds to a person; what still waits is dropped."""
    row = _locked(user_id)
    before = {name: getattr(row, name) for name in _FIELDS}
    row.kinds = _merged(row.kinds, {kind: {"email": False} for kind in kinds})
    row.save()
    Delivery.objects.filter(
        user_id=user_id, channel=None, state=Delivery.State.WAITING, kind__in=kinds
    ).update(state=Delivery.State.DROPPED)
    if before["kinds"] != row.kinds:
        _record(user_id, email, before, row)


def note_browser(user_id: UUID, *, language: str, time_zone: str) -> None:
    """Remember language and time zone of the browser, until the person has chosen."""
    row = Preference.objects.filter(user_id=user_id).first() or Preference(user_id=user_id)
    zone = time_zone if zone_named(time_zone) else row.time_zone
    if not row.is_chosen and (row.language, row.time_zone) != (language, zone):
        Preference.objects.update_or_create(
            user_id=user_id, defaults={"language": language, "time_zone": zone[:64]}
        )


def clock_text(minute: int | None) -> str | None:
    """Return a minute of the day as HH:MM."""
    return None if minute is None else f"{minute // 60:02}:{minute % 60:02}"


def _locked(user_id: UUID | None) -> Preference:
    assert user_id is not None
    Preference.objects.get_or_create(user_id=user_id)
    return Preference.objects.select_for_update().get(user_id=user_id)


def _minute(name: str, text: Any) -> int | None:
    if text in (None, ""):
        return None
    hours, _, minutes = str(text).partition(":")
    if hours.isdecimal() and minutes.isdecimal() and len(minutes) == 2 and int(minutes) < 60:
        found = int(hours) * 60 + int(minutes)
        if found < DAY:
            return found
    raise InvalidInput.at(name, Message("must be a time such as 22:00"))


def _one_of(name: str, value: Any, allowed: list[str]) -> str:
    if value not in allowed:
        raise InvalidInput.at(
            name,
            Message("must be one of {names}", context="error of a field", names=", ".join(allowed)),
        )
    return str(value)


def _merged(kinds: Mapping[str, Any], given: Any) -> dict[str, dict[str, bool]]:
    """Return the choices that differ from the defaults. Raises InvalidInput."""
    merged = {kind: dict(ways) for kind, ways in kinds.items()}
    if not isinstance(given, Mapping):
        raise InvalidInput.at("kinds", Message("must be an object"))
    for name, ways in given.items():
        if name not in BY_NAME or not isinstance(ways, Mapping):
            raise InvalidInput.at("kinds", Message("there is no kind {name}", name=repr(name)[:60]))
        for way, is_on in ways.items():
            if way not in WAYS or not isinstance(is_on, bool):
                raise InvalidInput.at("kinds", Message("in_app and email are true or false"))
            merged.setdefault(name, {})[way] = is_on
    return {
        name: kept
        for name, ways in merged.items()
        if name in BY_NAME
        and (kept := {w: on for w, on in ways.items() if on != getattr(BY_NAME[name], w)})
    }


def _record(user_id: UUID | None, email: str, before: dict[str, Any], row: Preference) -> None:
    after = {name: getattr(row, name) for name in _FIELDS}
    record(
        EventRecord(
            "notification_settings.changed", None, "user", user_id, email, changes(before, after)
        )
    )
