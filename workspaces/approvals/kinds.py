"""Kinds of requests that somebody else decides: one class for each, declared by its app."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet

from portal.core.declarations import declared
from portal.core.errors import InvalidInput, NotPermitted
from portal.core.events import EventRecord
from portal.core.messages import Message
from portal.core.models import Event
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Approval, ApprovalRequest, ApprovalState

R = TypeVar("R", bound=ApprovalRequest)
OPEN, APPROVED, DECLINED = ApprovalState.OPEN, ApprovalState.APPROVED, ApprovalState.DECLINED


@dataclass(frozen=True)
class Step:
    """A step from one of some states to another; `what` names it in events and histories."""

    before: frozenset[str]
    after: ApprovalState
    what: str
    text: Message
    is_of_asker: bool = False


STEPS: Mapping[str, Step] = {
    "approve": Step(frozenset({OPEN}), APPROVED, "request_approved", Message("Approved", context="history")),
    "decline": Step(frozenset({OPEN}), DECLINED, "request_declined", Message("Declined", context="history")),
    "withdraw": Step(
        frozenset({OPEN}),
        ApprovalState.WITHDRAWN,
        "request_withdrawn",
        Message("Withdrawn", context="history"),
        is_of_asker=True,
    ),
    "revoke": Step(frozenset({APPROVED}), DECLINED, "request_declined", Message("Revoked", context="history")),
    "return": Step(
        frozenset({APPROVED}), ApprovalState.ENDED, "returned", Message("Returned", context="history"), is_of_asker=True
    ),
    "reopen": Step(
        frozenset({APPROVED, DECLINED}), OPEN, "request_reopened", Message("Reopened", context="history")
    ),
}  # fmt: skip
COMMENTED, REQUESTED, EXPIRED = "request_commented", "requested", "expired"


class ApprovalKind(Generic[R]):
    """What one kind adds to the workflow.

    `decides` is needed to decide, in the team if the request has one; `by_operators`: only operators
    are notified. `reads` is needed to see a request. `steps` are the possible steps of STEPS.
    """

    name: ClassVar[str]  # in addresses and of the events
    title: ClassVar[Message]
    model: ClassVar[type[ApprovalRequest]] = Approval
    decides: ClassVar[Permission]
    reads: ClassVar[Permission] = Permission.TEAMS_READ
    by_operators: ClassVar[bool] = False
    page_decides: ClassVar[bool] = False  # approving needs terms, which its page asks for
    steps: ClassVar[tuple[str, ...]] = ("approve", "decline", "withdraw")
    related: ClassVar[tuple[str, ...]] = ("asker", "org", "team")
    longest: ClassVar[int] = 500  # characters of a message
    expires: ClassVar[str] = "expires_at"  # the column with the time at which a request ends
    renamed: ClassVar[Mapping[str, str]] = {}  # names of steps in events, if they differ

    def rows(self) -> QuerySet[R]:
        """Return the requests of this kind."""
        rows: QuerySet[Any] = self.model.objects.select_related(*self.related)
        return rows.filter(kind=self.name) if self.model is Approval else rows

    def visible(self, actor: Actor) -> QuerySet[R]:
        """Return the requests that the actor made or decides."""
        teams = actor.teams_where(self.decides)
        mine = Q(asker_id=actor.user_id)
        return self.rows() if teams is None else self.rows().filter(mine | Q(team__in=teams))

    def text(self, row: Any) -> Message:
        """Return what is asked, such as "8 × H100 for Vision"."""
        return Message("{title}: {subject}", title=self.title, subject=row.subject)

    def path(self, row: Any) -> str:
        """Return the address of the page that shows the request."""
        return self.page_path(row)

    def page_path(self, row: Any) -> str:
        """Return the address of the page with the request and its history."""
        return f"/{row.org.slug}/approvals/{self.name}/{row.id}"

    def waits_for(self, row: Any) -> Message:
        """Return who must decide an open request."""
        if self.by_operators:
            return Message("Waiting for an operator", context="state")
        if team := row.team if self.team_id(row) else None:
            return Message("Waiting for a team admin of {team}", context="state", team=team.name)
        return Message("Waiting for an admin", context="state")

    def related_pages(self, row: Any) -> list[tuple[Message, str]]:
        """Return what helps to decide, as titles and addresses."""
        return []

    def decide_path(self, row: Any) -> str:
        """Return the address of the page on which the request is decided."""
        return self.path(row)

    def action(self, row: Any) -> str:
        """Return where the forms of its card go, if the kind has a page for them."""
        return ""

    def reason(self, row: Any) -> str:
        return str(row.why)

    def team_id(self, row: Any) -> UUID | None:
        return row.team_id  # type: ignore[no-any-return]

    def authorize(self, actor: Actor, row: Any, do: str) -> None:
        """Raise NotPermitted unless the actor may take this step."""
        is_own = STEPS[do].is_of_asker and row.asker_id == actor.user_id
        authorize(actor, self.reads if is_own else self.decides, self.team_id(row))

    def may(self, actor: Actor, row: Any, do: str) -> bool:
        """Return whether to offer this step."""
        try:
            self.authorize(actor, row, do)
        except NotPermitted:
            return False
        return row.state in STEPS[do].before

    def prepare(self, actor: Actor, row: Any, do: str, terms: Mapping[str, Any]) -> None:
        """Do what a step needs before its transaction, such as asking a cluster."""

    def locked(self, request_id: UUID, terms: Mapping[str, Any]) -> R | None:
        """Lock and return a request, after whatever must be locked before it."""
        return self.rows().select_for_update(of=("self",)).filter(id=request_id).first()

    def apply(self, actor: Actor, row: Any, do: str, terms: Mapping[str, Any]) -> None:
        """Apply a step in its transaction, idempotently. Raises Conflict if it cannot be."""

    def end(self, row: Any) -> None:
        """Take back what was approved, in the transaction that has ended or expired the request."""

    def facts(self, row: Any) -> dict[str, Any]:
        """Return what events say of a request."""
        return {"name": str(self.text(row)), "why": self.reason(row)}

    def terms(self, row: Any) -> dict[str, Any]:
        """Return what the events of a request say of its state besides that."""
        return {}

    def event(
        self, what: str, who: str, row: Any, before: Mapping[str, Any], **more: Any
    ) -> EventRecord:
        """Return the event of a step."""
        after = {"state": str(row.state), **self.terms(row), **more}
        data = {
            **self.facts(row),
            "before": dict(before),
            "after": {name: value for name, value in after.items() if value},
        }
        kind, subject = self.event_kind(what), f"{self.name}_request"
        return EventRecord(kind, row.org_id, subject, row.id, who, data)

    def event_kind(self, what: str) -> str:
        return f"{self.name}.{self.renamed.get(what, what)}"

    def what_of(self, event: Event) -> str:
        """Return which step an event records; the inverse of `event_kind`."""
        name = event.kind.removeprefix(f"{self.name}.")
        return next((what for what, other in self.renamed.items() if other == name), name)

    def row_of(self, event: Event) -> R | None:
        """Return the request of an event."""
        return self.rows().filter(id=event.subject_id).first()

    def events_of(self, row: Any) -> QuerySet[Event]:
        """Return the events of a request."""
        return Event.objects.filter(org_id=row.org_id, subject_id=row.id)

    def event_text(self, what: str, event: Event, first: Event, row: Any) -> Message | None:
        """Return the line of the history for an event, None for the usual one; `first` asked."""
        return None

    def notice_title(self, what: str, row: Any) -> Message:
        """Return the title of the notification of a request, a decision or a comment."""
        facts = {"what": self.text(row), "who": row.asker.display_name}
        match what:
            case "requested":
                return Message("{who} asks for {what}", context="title of a notification", **facts)
            case "request_approved":
                return Message("Approved: {what}", context="title of a notification", **facts)
            case "request_declined":
                return Message("Declined: {what}", context="title of a notification", **facts)
        return Message("Comment: {what}", context="title of a notification", **facts)


def kinds() -> tuple[ApprovalKind[Any], ...]:
    """Return the kinds that apps declare in `providers.py`."""
    return declared("providers", "APPROVAL_KINDS")


def kind_named(name: str) -> ApprovalKind[Any]:
    """Return a kind. Raises InvalidInput."""
    found = {kind.name: kind for kind in kinds()}
    if name not in found:
        raise InvalidInput.at(
            "kind", Message("must be {names}", context="error of a field", names=", ".join(found))
        )
    return found[name]
