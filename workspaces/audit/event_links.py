"""Events as pages show them: sentences with links to people, teams and what they are about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from portal.core.event_texts import event_text, mark_of, subjects
from portal.core.messages import Message
from portal.core.models import Event
from portal.core.states import Mark
from portal.web.translation import translated
from workspaces.models import Membership, Organization, Team, User

_OPERATOR = Message("An operator", context="text, workspaces")
_OF_TEAMS = ("team", "whose", "with")  # parameters that may be the slug of a team
_PARAMETER = re.compile(r"\{(\w+)\}")
Link = tuple[str, str]  # text and address


class EventLine(NamedTuple):
    """An event in a history."""

    at: datetime
    mark: Mark
    sentence: SafeString
    kind: str
    position: int


def event_lines(
    events: Sequence[Event],
    org: Organization | None,
    *,
    names_actors: bool = True,
    has_links: bool = True,
) -> list[EventLine]:
    """Return events as lines; `org` is that of the page, None on Platform pages.

    Run in the scope of the page. Who may not know operators by name gets "An operator", and who may not
    open the pages of a cluster gets no links.
    """
    texts = [event_text(event, None if names_actors else _OPERATOR) for event in events]
    links = _Links(org, zip(events, texts, strict=True), has_links)
    return [
        EventLine(
            event.at,
            mark_of(event.kind, event.data),
            links.sentence(event, text),
            event.kind,
            event.position,
        )
        for event, text in zip(events, texts, strict=True)
    ]


class _Links:
    """The pages of people, teams and subjects that some events name. A few statements for all."""

    def __init__(
        self, org: Organization | None, events: Iterable[tuple[Event, Message]], has_links: bool
    ):
        self._has_links = has_links
        ids: dict[str, set[UUID]] = defaultdict(set)
        emails: set[str] = set()
        slugs: set[str] = set()
        for event, text in events:
            if event.subject_id:
                ids[event.subject_type].add(event.subject_id)
            emails.update(word for word in _words(text) if "@" in word)
            slugs.update(text.params[name] for name in _OF_TEAMS if name in text.params)
        self._people = _people(org, emails) if emails else {}
        self._teams = _teams(org, slugs) if org and slugs else {}
        self._subjects = {
            type_: dict(found.find(wanted))
            for type_, wanted in ids.items()
            if (found := subjects().get(type_)) and found.find and (org or type_ != "user")
        }

    def sentence(self, event: Event, text: Message) -> SafeString:
        """Return the sentence in the reader's language, as HTML."""
        about = self._subjects.get(event.subject_type, {}).get(event.subject_id or UUID(int=0))
        return self._html(text, {"subject": about} if about else {})

    def _html(self, text: Message, known: Mapping[str, Link | None]) -> SafeString:
        template = translated(Message(text.template))
        return format_html_join(
            "",
            "{}",
            (
                (self._value(part, text.params.get(part, ""), known) if n % 2 else part,)
                for n, part in enumerate(_PARAMETER.split(template))
            ),
        )

    def _value(self, name: str, value: str, known: Mapping[str, Link | None]) -> SafeString | str:
        if isinstance(value, Message) and value.params:
            return self._html(value, {})
        link = known.get(name) or self._people.get(value)
        if link is None and name in _OF_TEAMS:
            link = self._teams.get(value)
        if link is None:
            return translated(value) if isinstance(value, Message) else value
        if not self._has_links:
            return link[0]
        title = value if "@" in value else ""
        return format_html('<a href="{}" title="{}">{}</a>', link[1], title, link[0])


def _words(text: Message) -> Iterable[str]:
    for value in text.params.values():
        if isinstance(value, Message) and value.params:
            yield from _words(value)
        else:
            yield value


def _people(org: Organization | None, emails: Iterable[str]) -> Mapping[str, Link]:
    if org is None:
        users = User.objects.filter(email__in=emails)
        return {row.email: (row.display_name, f"/platform/people/{row.id}") for row in users}
    rows = Membership.objects.filter(org=org, user__email__in=emails).select_related("user")
    return {
        row.user.email: (row.user.display_name, f"/{org.slug}/people/{row.user.email}")
        for row in rows
    }


def _teams(org: Organization, slugs: Iterable[str]) -> Mapping[str, Link]:
    rows = Team.objects.filter(org=org, slug__in=slugs)
    return {row.slug: (row.name, f"/{org.slug}/teams/{row.slug}") for row in rows}


def fact_lines(facts: Sequence[Mapping[str, Any]], org: Organization | None) -> list[EventLine]:
    """Return the lines of events as `portal.core.audit.reading.facts` returns them."""
    fields = ("at", "kind", "actor", "on_behalf_of", "subject_type", "subject_id", "data")
    return event_lines(
        [Event(position=f["position"], **{name: f[name] for name in fields}) for f in facts], org
    )
