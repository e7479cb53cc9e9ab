"""Search events by kind, subject and address."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from portal.core.audit.canonical import NO_ORG
from portal.core.audit.models import AuditLink
from portal.core.errors import InvalidInput
from portal.core.event_texts import event_text, subject_of
from portal.core.models import Event

CHUNK = 1000
_KIND = re.compile(r"[a-z_]+(\.[a-z_]*)?")


def events_of(chain: UUID) -> QuerySet[Event]:
    """Return the events of an organization (zero: of none)."""
    return Event.objects.filter(org_id=None if chain == NO_ORG else chain)


def all_of(rows: QuerySet[Event]) -> Iterator[dict[str, Any]]:
    """Yield all events as `facts`, oldest first, with a thousand in memory at a time.

    Safe to continue after the request's context has ended.
    """
    after = 0
    while found := list(rows.filter(position__gt=after).order_by("position")[:CHUNK]):
        yield from facts(found)
        after = found[-1].position


def facts(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Serialize events for the API and exports, each with its place in the chain, if sealed."""
    places = {
        link.position: link
        for link in AuditLink.objects.filter(position__in=[event.position for event in events])
    }
    return [_fact(event, places.get(event.position)) for event in events]


def _fact(event: Event, link: AuditLink | None) -> dict[str, Any]:
    return {
        "position": event.position,
        "id": event.id,
        "at": event.at,
        "kind": event.kind,
        "text": event_text(event),
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


# Filters of the audit log: the condition for a text; they raise InvalidInput.
CONDITIONS: Mapping[str, Callable[[str], Q]] = {
    "kind": _kinds,
    "subject": _subject,
    "address": _address,
    "request": lambda text: Q(request_id=text),
}
