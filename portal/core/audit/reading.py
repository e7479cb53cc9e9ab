"""Search events by actor, kind, subject, time and address, in keyset pages or as a stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from portal.core import clock
from portal.core.audit.canonical import NO_ORG
from portal.core.audit.models import AuditLink
from portal.core.errors import InvalidInput
from portal.core.models import Event

FILTERS = ("actor", "kind", "subject", "since", "until", "address", "request")
MAX_PAGE, CHUNK = 200, 1000
_AGE_SECONDS = {"m": 60, "h": 3600, "d": 86400}
_KIND = re.compile(r"[a-z_]+(\.[a-z_]*)?")


@dataclass(frozen=True)
class Page:
    """A page of events, newest first. Cursors are positions."""

    items: list[Event]
    next: str | None
    previous: str | None


def events_of(chain: UUID, asked: Mapping[str, str]) -> QuerySet[Event]:
    """Return the events of an organization (zero: of none) that pass all non-empty filters.

    Raises InvalidInput.
    """
    rows = Event.objects.filter(org_id=None if chain == NO_ORG else chain)
    given = {name: asked.get(name, "").strip() for name in FILTERS}
    for name, text in given.items():
        if len(text) > 300 or not text.isprintable():
            raise InvalidInput.at(
                name, "must be at most 300 characters long, without control characters"
            )
    if given["actor"]:
        rows = rows.filter(Q(actor=given["actor"].lower()) | Q(on_behalf_of=given["actor"].lower()))
    if given["kind"]:
        rows = rows.filter(_kinds(given["kind"]))
    if given["subject"]:
        rows = rows.filter(_subject(given["subject"]))
    if given["address"]:
        rows = rows.filter(_address(given["address"]))
    if given["request"]:
        rows = rows.filter(request_id=given["request"])
    if given["since"]:
        rows = rows.filter(at__gte=_instant("since", given["since"]))
    if given["until"]:
        rows = rows.filter(at__lt=_instant("until", given["until"]))
    return rows


def page_of(rows: QuerySet[Event], *, limit: int = 50, cursor: str = "") -> Page:
    """Return at most `limit` events before or after the cursor. Raises InvalidInput."""
    limit = min(max(limit, 1), MAX_PAGE)
    direction, mark = _cursor(cursor)
    down = direction != "p"
    if mark is not None:
        rows = rows.filter(position__lt=mark) if down else rows.filter(position__gt=mark)
    found = list(rows.order_by("-position" if down else "position")[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    if not down:
        found.reverse()
    if not found:
        return Page([], None, None)
    has_next, has_previous = (more, mark is not None) if down else (True, more)
    return Page(
        found,
        f"n{found[-1].position}" if has_next else None,
        f"p{found[0].position}" if has_previous else None,
    )


def all_of(rows: QuerySet[Event]) -> Iterator[dict[str, Any]]:
    """Yield all events as `facts`, oldest first, with a thousand in memory at a time.

    Safe to continue after the request's context has ended.
    """
    after = 0
    while found := list(rows.filter(position__gt=after).order_by("position")[:CHUNK]):
        yield from facts(found)
        after = found[-1].position


def facts(events: list[Event]) -> list[dict[str, Any]]:
    """Serialize events for the API and exports, each with its place in the chain, if sealed."""
    places = {
        link.position: link
        for link in AuditLink.objects.filter(position__in=[event.position for event in events])
    }
    return [_fact(event, places.get(event.position)) for event in events]


def subject_of(event: Event) -> str:
    """Return the display name of the event's subject."""
    name = event.data.get("name") or event.data.get("email") or ""
    number = event.data.get("number")
    return f"#{number}" if event.subject_type == "job" and number else str(name)


def _fact(event: Event, link: AuditLink | None) -> dict[str, Any]:
    return {
        "position": event.position,
        "id": event.id,
        "at": event.at,
        "kind": event.kind,
        "org_id": event.org_id,
        "actor": event.actor,
        "on_behalf_of": event.on_behalf_of,
        "via": event.via,
        "address": event.address,
        "subject_type": event.subject_type,
        "subject_id": event.subject_id,
        "subject": subject_of(event),
        "data": event.data,
        "request_id": event.request_id,
        "seq": link.seq if link else None,
        "hash": bytes(link.hash).hex() if link else None,
    }


def _kinds(text: str) -> Q:
    """Filter by kinds, separated by commas: `member.added`, or `member` for all of them."""
    found = Q()
    for word in (part.strip() for part in text.split(",") if part.strip()):
        if not _KIND.fullmatch(word):
            raise InvalidInput.at(
                "kind",
                f"{word[:40]!r} is no kind; there is, for example, member.added, or member for all "
                "about members",
            )
        begin = word.partition(".")[0] + "."
        found |= (
            Q(kind=word) if not word.endswith(".") and "." in word else Q(kind__startswith=begin)
        )
    return found


def _subject(text: str) -> Q:
    """Filter by id, type (`team`), name, or both (`team:vision`, `job:12`)."""
    try:
        return Q(subject_id=UUID(text))
    except ValueError:
        pass
    kind, colon, name = text.partition(":")
    if not colon:
        return Q(subject_type=text) | Q(data__name=text)
    named = Q(data__name=name) | Q(data__email=name)
    number = name.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < 18:
        named |= Q(data__number=int(number))
    return Q(subject_type=kind) & named


def _address(text: str) -> Q:
    """Filter by an address, or by a prefix that ends in a separator: `10.2.`."""
    return Q(address__startswith=text) if text[-1] in ".:" else Q(address=text.lower())


def _instant(name: str, text: str) -> datetime:
    """Parse `2026-01-31`, `2026-01-31T12:00` or an age (`90m`, `24h`, `7d`). Defaults to UTC."""
    if re.fullmatch(r"[0-9]{1,5}[mhd]", text):
        return clock.now() - timedelta(seconds=int(text[:-1]) * _AGE_SECONDS[text[-1]])
    try:
        at = datetime.fromisoformat(text)
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InvalidInput.at(
            name, f"{text[:40]!r} is no time; write 2026-01-31, 2026-01-31T12:00 or 24h"
        ) from None


def _cursor(text: str) -> tuple[str, int | None]:
    if not text:
        return "", None
    if not re.fullmatch(r"[np][0-9]{1,18}", text):
        raise InvalidInput.at("cursor", "is not one that a page gave you")
    return text[0], int(text[1:])
