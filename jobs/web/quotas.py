"""Pages of quotas: use and limits, changes in place and of many, requests, past changes."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from jobs.quotas.history import history
from jobs.quotas.holders import holders
from jobs.quotas.preview import preview
from jobs.quotas.tree import PLAIN, Bar, Tree, branch, short, title, tree
from jobs.quotas.waiting import waiting_for
from portal.core.errors import InvalidInput
from portal.core.formatting import typed_text
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from portal.web.undo import Undo, offer_undo
from schedulers.spec.grammar import parse_size
from workspaces.access.actors import authorize
from workspaces.access.permissions import Permission as P
from workspaces.approvals.selectors import cards_of, requests_for
from workspaces.models import Quota, QuotaRequest, Team
from workspaces.quotas import set_limits
from workspaces.quotas.limits import GPU_HOURS, STORAGE
from workspaces.quotas.requests import KIND, request_limit
from workspaces.quotas.requests import decide as decide_request
from workspaces.quotas.set_limits import KEEP, Keep, LimitChange
from workspaces.web.base import action, local_path, page

FORM_CLASSES, WISHES = 12, 300
FIELDS = ("who", "empty", "resource", "limit", "guaranteed")


@page(P.QUOTAS_READ, ("GET", "HEAD", "POST"))
def quotas(request: Any) -> HttpResponse:
    """Show usage and limits, and change limits."""
    if request.method != "POST":
        return _show(request)
    back = local_path(request.POST.get("back", ""), request.get_full_path())
    with FormErrors(request):
        authorize(request.actor, P.QUOTAS_WRITE)  # before any answer depends on limits
        given = changes_in(request.POST)
        changes = _new(request.org, given)
        if not changes:
            messages.success(request, _("Nothing has changed."))
            return redirect(back)
        if request.POST.get("do") == "preview":
            return _show(
                request,
                preview=preview(actor=request.actor, org=request.org, changes=changes),
                given=[*_submitted_fields(request.POST), ("seen", _seen(request.org, given))],
            )
        before = [row.limit for _change, row in _rows_of(request.org, changes)]
        rows = set_limits.set_quotas(actor=request.actor, org=request.org, changes=changes)
        _tell(request, changes, before, rows)
    return redirect(back)


@page(P.QUOTAS_READ)
def quota_subject(request: Any, scope: str, subject: str = "") -> HttpResponse:
    """Show the limits of one subject, who uses them, requests and past changes."""
    found, subject_id = branch(request.actor, request.org, scope, subject)
    may_write = request.actor.may(P.QUOTAS_WRITE)
    whose = f"{scope} {found.who.partition(':')[2]}".rstrip()
    return render(
        request,
        "jobs/quota_subject.html",
        {
            "page_title": Message("Limits of {name}", context="page title", name=found.name),
            "crumbs": [(pgettext("navigation", "Quotas"), f"/{request.org.slug}/quotas")],
            "b": found,
            "scope": scope,
            "lines": [(name, title(name), bar) for name, bar in found.bars.items()],
            "holders": holders(request.actor, scope, subject_id),
            "waiting": waiting_for(request.actor, scope, subject_id),
            "asks": _requests(request.actor, scope, subject_id),
            "may_write": may_write,
            "history": history(request.actor, request.org, whose) if may_write else [],
        },
    )


@page(None, ("POST",))
def request_quota(request: Any) -> HttpResponse:
    """Request a higher limit."""
    form = request.POST
    scope, _colon, subject = form.get("who", "").partition(":")
    return action(
        request,
        f"/{request.org.slug}/quotas",
        _("Request sent. You'll see the answer here."),
        lambda: request_limit(
            actor=request.actor,
            org=request.org,
            scope=scope,
            subject=subject,
            resource=form.get("resource", "").strip(),
            amount=_requested_amount(form.get("resource", ""), form.get("amount", "")),
            why=form.get("why", ""),
            job=_number(form.get("job", "")),
        ),
    )


@page(None, ("POST",))
def decide(request: Any, ask: UUID) -> HttpResponse:
    """Approve, deny or withdraw a request, or undo the decision."""
    do = request.POST.get("do", "")
    back = local_path(request.POST.get("back", ""), f"/{request.org.slug}/quotas")
    done = {
        "approve": _("Request approved. The new limit applies now."),
        "decline": _("Request denied."),
        "withdraw": _("Request withdrawn."),
        "reopen": _("Decision undone. The request is open again."),
    }.get(do, "")
    undo = {
        "approve": Undo(request.path, {"do": "reopen", "limit": _limit_of(ask), "back": back}),
        "decline": Undo(request.path, {"do": "reopen", "back": back}),
    }.get(do)

    def decided() -> None:
        terms = {"limit": _restored(ask, request.POST.get("limit", ""))} if do == "reopen" else {}
        decide_request(
            actor=request.actor,
            request_id=ask,
            do=do,
            word=request.POST.get("word", ""),
            **terms,
        )

    return action(request, back, done, decided, undo)


def _restored(ask: UUID, text: str) -> Any:
    row = QuotaRequest.objects.filter(id=ask).first()
    return _amount(row.resource, text) if row else KEEP


def _limit_of(ask: UUID) -> str:
    """Return the limit that a request is about, as one types it."""
    row = QuotaRequest.objects.filter(id=ask).first()
    if row is None:
        return ""
    quota = Quota.objects.filter(
        scope=row.scope, subject_id=row.subject_id, resource=row.resource
    ).first()
    return _typed(row.resource, quota.limit if quota else None)


def _seen(org: Any, changes: list[LimitChange]) -> str:
    """Return the current limits of these changes, in their order, as `changes_in` reads them."""
    return " ".join(_typed(change.resource, row.limit) for change, row in _rows_of(org, changes))


def _typed(resource: str, limit: int | None) -> str:
    return "none" if limit is None else typed_text(resource, limit)


def _rows_of(org: Any, changes: list[LimitChange]) -> list[tuple[LimitChange, Quota]]:
    """Return each change with its current row, an empty one if there is none."""
    found = set_limits.meters_of(org, changes)
    rows = Quota.objects.filter(
        subject_id__in={meter.subject_id for meter in found},
        resource__in={meter.resource for meter in found},
    )
    known = {(row.scope, row.subject_id, row.resource): row for row in rows}
    return [
        (change, known.get((meter.scope, meter.subject_id, meter.resource), Quota()))
        for meter, change in found.items()
    ]


def _new(org: Any, changes: list[LimitChange]) -> list[LimitChange]:
    """Return the changes that change something. Raises InvalidInput, NotFound."""
    return [change for change, row in _rows_of(org, changes) if _differs(change, row)]


def _differs(change: LimitChange, row: Quota) -> bool:
    limit, guaranteed = change.limit, change.guaranteed
    return (
        not isinstance(limit, Keep)
        and set_limits.amount_of(change.resource, limit, "limit") != row.limit
    ) or (
        not isinstance(guaranteed, Keep)
        and (set_limits.amount_of(change.resource, guaranteed, "guaranteed") or 0) != row.guaranteed
    )


def _tell(
    request: Any, changes: list[LimitChange], before: list[int | None], rows: list[Quota]
) -> None:
    """Show what was set; the change of one limit can be undone."""
    if len(changes) > 1 or changes[0].limit is KEEP or changes[0].guaranteed is not KEEP:
        messages.success(request, _("Limits updated."))
        return
    change, row = changes[0], rows[0]
    text = Message(
        "Limit updated: {whose}, {what}: {before} → {after}.",
        whose=change.subject or request.org.name,
        what=title(change.resource),
        before=_shown(row.resource, before[0]),
        after=_shown(row.resource, row.limit),
    )
    fields: dict[str, str | list[str]] = {
        "do": "set",
        "who": f"{change.scope}:{change.subject}",
        "resource": change.resource,
        "limit": _typed(change.resource, before[0]),
        "was": _typed(change.resource, row.limit),
        "back": local_path(request.POST.get("back", ""), request.get_full_path()),
    }
    offer_undo(request, text, Undo(f"/{request.org.slug}/quotas", fields))


def _shown(resource: str, limit: int | None) -> Message:
    return (
        Message("no limit", context="part of a sentence")
        if limit is None
        else Message(short(resource, limit))
    )


def _requested_amount(resource: str, text: str) -> float:
    amount = _amount(resource, text)
    if amount is None or amount is KEEP:
        raise InvalidInput.at("amount", _("is the limit you need: a number, such as 8 or 64Gi"))
    return float(amount)


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 16 else None


def changes_in(form: Any) -> list[LimitChange]:
    """Return each chosen class for each chosen subject; empty fields mean no change, or `empty`.

    `was` are the limits that the form of one subject showed for its classes, and `seen` those that
    the preview showed for all changes. Raises InvalidInput.
    """
    subjects, empty = list(dict.fromkeys(form.getlist("who"))), form.get("empty", "")
    has_guarantees = not any(who.startswith("org:") for who in subjects)
    names = ("resource", "limit", "guaranteed", "was")
    shown = len(subjects) == 1 and "seen" not in form
    lines = zip_longest(*(form.getlist(name) for name in names), fillvalue="")
    terms, faults = [], []
    for resource, limit, guaranteed, was in lines:
        limit = limit.strip() or empty
        if has_guarantees and resource != GPU_HOURS:
            guaranteed = guaranteed.strip() or empty
        if limit or guaranteed.strip():
            try:
                amounts = [_amount(resource, text) for text in (limit, guaranteed, was * shown)]
                terms.append((resource.strip(), *amounts))
            except InvalidInput as error:
                faults.append(error)
    if faults:
        errors = [one for fault in faults for one in fault.data["errors"]]
        raise InvalidInput(faults[0].message, errors=errors)
    if not subjects:
        raise InvalidInput.at("who", _("choose at least one team or person"))
    if not terms:
        raise InvalidInput.at("limit", _("change a limit or a guarantee"))
    changes = [
        LimitChange(scope, subject, *term)
        for scope, _colon, subject in (who.partition(":") for who in subjects)
        for term in terms
    ]
    seen = form.get("seen", "").split()
    if len(seen) != len(changes):
        return changes
    return [
        replace(change, was=_amount(change.resource, text))
        for change, text in zip(changes, seen, strict=True)
    ]


def _amount(resource: str, text: str) -> Any:
    """Parse a number, a size such as 64Gi for memory and storage, or `none` for no limit.

    A bare number of memory or storage is in bytes, and one below a MiB is an oversight.
    """
    text = text.strip()
    if not text:
        return KEEP
    if text.lower() == "none":
        return None
    is_bytes = resource.strip() in ("memory", STORAGE)
    try:
        number = float(text)
        if is_bytes and 0 < number < 1 << 20:
            raise InvalidInput.at(
                "limit",
                _("%(text)s would be %(text)s bytes. Enter a size such as 64Gi, or none.")
                % {"text": text[:40]},
            )
        return number
    except ValueError:
        if not is_bytes:
            raise InvalidInput.at(
                "limit",
                _("%(text)r isn't a number. Enter one such as 32, or none.") % {"text": text[:40]},
            ) from None
    try:
        return parse_size(text)
    except ValueError:
        raise InvalidInput.at(
            "limit",
            _("%(text)r isn't an amount. Enter one such as 32, or 64Gi for bytes, or none.")
            % {"text": text[:40]},
        ) from None


def _submitted_fields(form: Any) -> list[tuple[str, str]]:
    """Return the submitted fields, to be submitted again."""
    return [(name, value) for name in FIELDS for value in form.getlist(name)]


def _show(request: Any, **more: Any) -> HttpResponse:
    query = {name: request.GET.get(name, "").strip()[:254] for name in ("team", "q", "all")}
    found = tree(request.actor, request.org, query["team"], query["q"], is_whole=bool(query["all"]))
    may_write = request.actor.may(P.QUOTAS_WRITE)
    asks = _requests(request.actor)
    return render(
        request,
        "jobs/quotas.html",
        {
            "page_title": pgettext("page title", "Quotas"),
            "tree": found,
            "asked": query,
            "may_write": may_write,
            "heads": [(c, title(c)) for c in found.classes],
            "unlimited": [title(c) for c in found.unlimited],
            "waiting": waiting_for(request.actor),
            "resources": _form_resources(found) if may_write else [],
            "open_asks": [ask for ask in asks if ask["row"].state == QuotaRequest.State.OPEN],
            "decided": [ask for ask in asks if ask["row"].state != QuotaRequest.State.OPEN],
            "wish": _request_form(request, found),
            "history": history(request.actor, request.org) if may_write else [],
        }
        | more,
    )


def _requests(actor: Any, scope: str = "", subject_id: UUID | None = None) -> list[dict[str, Any]]:
    """Return the cards of the requests that the actor may see, of one subject or all."""
    rows = requests_for(actor, KIND)
    if subject_id is not None:
        rows = [row for row in rows if (row.scope, row.subject_id) == (scope, subject_id)]
    return cards_of(actor, ((KIND, row) for row in rows))


def _request_form(request: Any, found: Tree) -> dict[str, Any]:
    """Return the request form: possible subjects, and values passed by a pending job's page."""
    actor = request.actor
    teams = actor.teams_where(P.JOBS_SUBMIT)
    own_teams = (
        Team.objects.order_by("slug")
        if teams is None
        else Team.objects.filter(id__in=teams).order_by("slug")
    )
    subjects = [
        *((f"team:{t.slug}", t.name) for t in own_teams[:WISHES]),
        (f"user:{actor.email}", pgettext("text, jobs", "You")),
        ("org:", request.org.name),
    ]
    given = {name: request.GET.get(name, "")[:254] for name in ("ask", "resource", "amount", "job")}
    branches = [found.top, *found.teams, *([found.you] if found.you else [])]
    limited = {
        name for branch in branches for name, bar in branch.bars.items() if bar.limit is not None
    }
    asked = {given["resource"]} - {""}
    return {
        "whose": subjects,
        "resources": [(c, title(c)) for c in [*found.classes, *asked] if c in limited | asked],
        "now": {
            f"{branch.who}/{name}": {"text": _now_text(bar), "example": _more_than(bar)}
            for branch in branches
            for name, bar in branch.bars.items()
            if bar.limit is not None
        },
        **given,
    }


def _now_text(bar: Bar) -> str:
    """Return the limit and its use, for the form of a request."""
    if bar.left == 0:
        return str(Message("Now {limit}, all in use.", limit=bar.limit_text))
    return str(Message("Now {limit}, {used} in use.", limit=bar.limit_text, used=bar.held_text))


def _more_than(bar: Bar) -> str:
    """Return an example of a higher limit, as one types it."""
    limit = bar.limit or 0
    more = 8 if bar.resource.startswith("gpu") and bar.resource != GPU_HOURS else limit
    return typed_text(bar.resource, limit + more)


def _form_resources(found: Tree) -> list[tuple[str, str]]:
    """Return the resources of the form for many; rows keep their order whatever is in use."""
    names = [*PLAIN, *(name for name in found.classes if name not in PLAIN)][:FORM_CLASSES]
    return [(name, title(name)) for name in names]
