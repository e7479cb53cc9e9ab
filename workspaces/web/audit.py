"""Pages: audit log of an organization, and of the installation for operators.

Filters are in the URL.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from portal.core.audit.canonical import NO_ORG
from portal.core.audit.diff import details_of, diff_of
from portal.core.audit.models import AuditCheck
from portal.core.audit.state import chain_state
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.api.audit import exported
from workspaces.audit import services
from workspaces.audit.event_links import EventLine, fact_lines
from workspaces.lists import audit_log
from workspaces.models import Organization
from workspaces.web.base import action, page

READ_WRITE = ("GET", "HEAD", "POST")


@page(P.AUDIT_READ, READ_WRITE)
def trail(request: Any) -> HttpResponse:
    """Show the organization's audit log."""
    return _page(request, request.org.id, f"/{request.org.slug}/audit")


@page(P.AUDIT_PLATFORM, READ_WRITE)
def installation(request: Any) -> HttpResponse:
    """Show the installation's events, and the state of every chain."""
    return _page(request, NO_ORG, "/platform/audit", chains=_chains)


@page(P.AUDIT_READ)
def export(request: Any) -> HttpResponse:
    """Export the organization's events with the filters of the page."""
    return _file(request, request.org.id)


@page(P.AUDIT_PLATFORM)
def export_installation(request: Any) -> HttpResponse:
    """Export the installation's events."""
    return _file(request, NO_ORG)


def _page(request: Any, chain: UUID, here: str, chains: Any = None) -> HttpResponse:
    if request.method == "POST" and (answer := _handle_action(request, chain, here)):
        return answer
    log = audit_log(chain)
    with services.scope_of(chain):
        if other := log.answered(request):
            return other
        shown = log.shown(request.actor, _asked(request.GET, chain))
        lines = fact_lines(shown.rows, None if chain == NO_ORG else request.org)
        shown.rows = [_row(*pair) for pair in zip(shown.rows, lines, strict=True)]
        state = chain_state(chain)
    return render(
        request,
        "workspaces/audit.html",
        {
            "page_title": Message("Audit", context="page title"),
            "list": shown,
            "state": state,
            "here": here,
            "chains": chains() if chains else None,
            "is_installation": chain == NO_ORG,
            "may_see_installation": request.actor.may(P.AUDIT_PLATFORM),
            "settings": services.settings_of(chain),
            "made": getattr(request, "made_forward", None),
            "may_change": _may_change(request, chain),
        },
    )


def _asked(query: Any, chain: UUID) -> Any:
    """Return the query; without a question, an organization's begins with what people did.

    The installation has few events, most of which no person caused: it begins with all.
    """
    asked = query.copy()
    if "by" not in asked:
        if chain == NO_ORG:
            asked["by"] = "all"
            return asked
        questions = {"q", "actor", "kind", "subject", "address", "request"}
        asked["by"] = "all" if questions & {name for name in asked if asked[name]} else "people"
    return asked


def _handle_action(request: Any, chain: UUID, here: str) -> HttpResponse | None:
    """Handle a submitted form; None renders the page in this response.

    A new secret is shown only in that response.
    """
    who: dict[str, Any] = {"actor": request.actor, "chain": chain}
    match request.POST.get("do", "verify"):
        case "keep":
            days = request.POST.get("keep_days", "").strip()
            done = (
                Message("Events are kept for {days} days.", days=days)
                if days
                else Message("Events are kept for ever.")
            )
            return action(
                request,
                here,
                done,
                lambda: services.set_retention(**who, days=_parse_int(days) if days else None),
            )
        case "forward":
            return _forward(request, who, here)
        case "retry":
            return action(
                request,
                here,
                Message("It is tried again now."),
                lambda: services.retry_forward(**who, forward_id=_id(request)),
            )
        case "stop":
            return action(
                request,
                here,
                Message("Forwarding stopped."),
                lambda: services.remove_forward(**who, forward_id=_id(request)),
            )
    return action(
        request,
        here,
        Message("The chain is being verified. Reload in a moment to see what was found."),
        lambda: services.request_verification(**who),
    )


def _forward(request: Any, who: dict[str, Any], here: str) -> HttpResponse | None:
    with FormErrors(request):
        made = services.add_forward(
            **who,
            target=request.POST.get("target", ""),
            from_start=bool(request.POST.get("from_start")),
        )
        messages.success(
            request,
            Message(
                "Events go to {target} from now on.", target=services.redacted(made.row.target)
            ),
        )
        request.made_forward = made if made.secret else None
        return None if made.secret else redirect(here)
    return redirect(here)


def _may_change(request: Any, chain: UUID) -> bool:
    return bool(request.actor.may(P.AUDIT_PLATFORM if chain == NO_ORG else P.ORG_ADMIN))


def _parse_int(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise InvalidInput.at("keep_days", "must be a whole number of days; empty keeps everything")
    return int(text)


def _id(request: Any) -> UUID:
    try:
        return UUID(request.POST.get("forward", ""))
    except ValueError:
        raise NotFound(Message("Events are not forwarded there.")) from None


def _row(fact: dict[str, Any], line: EventLine) -> dict[str, Any]:
    return fact | {
        "line": line,
        "diff": diff_of(fact["data"]),
        "details": details_of(fact["data"]),
    }


def _chains() -> list[dict[str, Any]]:
    """Return the last verification of each chain, faulty ones first."""
    names = dict(Organization.objects.values_list("id", "slug"))
    rows = AuditCheck.objects.exclude(at=None).order_by("-fault_count", "-at")[:200]
    return [
        {
            "name": names.get(row.chain, "installation" if row.chain == NO_ORG else "(removed)"),
            "at": row.at,
            "events": row.events,
            "seconds": row.seconds,
            "fault_count": row.fault_count,
        }
        for row in rows
    ]


def _file(request: Any, chain: UUID) -> HttpResponse:
    kind = request.GET.get("format", "") or "jsonl"
    return exported(request.actor, chain, request.GET, kind)  # type: ignore[return-value]
