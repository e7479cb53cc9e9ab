"""Page of quotas: the usage tree, bulk changes with a preview, and past changes."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from jobs.quotas.history import history
from jobs.quotas.preview import preview
from jobs.quotas.tree import PLAIN, title, tree
from jobs.web.team_rules import shown
from portal.core.errors import InvalidInput, PortalError
from portal.core.formatting import amount_text, typed_text
from portal.web.denials import record_denied_request
from schedulers.spec.grammar import parse_size
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.quotas import requests, set_limits
from workspaces.quotas.limits import STORAGE
from workspaces.quotas.mails import mail_decision
from workspaces.quotas.request_selectors import requests_for
from workspaces.quotas.set_limits import KEEP, LimitChange
from workspaces.web.base import action, page, show_error

FORM_CLASSES, WISHES = 12, 300
FIELDS = ("who", "person", "resource", "limit", "guaranteed")


@page(P.QUOTAS_READ, ("GET", "HEAD", "POST"))
def quotas(request: Any) -> HttpResponse:
    """Show usage and limits, and change limits."""
    if request.method != "POST":
        return _show(request)
    try:
        changes = changes_in(request.POST)
        if request.POST.get("do") == "preview":
            return _show(
                request,
                preview=preview(actor=request.actor, org=request.org, changes=changes),
                given=_submitted_fields(request.POST),
            )
        set_limits.set_quotas(actor=request.actor, org=request.org, changes=changes)
    except PortalError as error:
        record_denied_request(request, error)
        show_error(request, error)
        return redirect(request.get_full_path())
    messages.success(request, _("The limits are set."))
    return redirect(request.get_full_path())


@page(None, ("POST",))
def request_quota(request: Any) -> HttpResponse:
    """Request a higher limit."""
    form = request.POST
    scope, _colon, subject = form.get("who", "").partition(":")
    return action(
        request,
        f"/{request.org.slug}/quotas",
        _("Asked. The answer will stand on this page."),
        lambda: requests.request_limit(
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
    """Approve, decline or withdraw a request."""
    do, word = request.POST.get("do", ""), request.POST.get("word", "")
    done = {
        "approve": _("Approved: the limit is raised."),
        "decline": _("Declined."),
        "withdraw": _("Withdrawn."),
    }.get(do, "")

    def decided() -> None:
        mail_decision(
            requests.decide_request(
                actor=request.actor, org=request.org, request_id=ask, do=do, word=word
            ),
            request.org,
        )

    return action(request, f"/{request.org.slug}/quotas", done, decided)


def _requested_amount(resource: str, text: str) -> float:
    amount = _amount(resource, text)
    if amount is None or amount is KEEP:
        raise InvalidInput.at("amount", _("say how much would be enough"))
    return float(amount)


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 16 else None


def changes_in(form: Any) -> list[LimitChange]:
    """Return each chosen class for each chosen subject; empty fields mean no change.

    Raises InvalidInput.
    """
    person = form.get("person", "").strip()
    subjects = list(dict.fromkeys([*form.getlist("who"), *([f"user:{person}"] if person else [])]))
    lines = zip_longest(
        form.getlist("resource"), form.getlist("limit"), form.getlist("guaranteed"), fillvalue=""
    )
    terms = [
        (resource.strip(), _amount(resource, limit), _amount(resource, guaranteed))
        for resource, limit, guaranteed in lines
        if limit.strip() or guaranteed.strip()
    ]
    if not subjects:
        raise InvalidInput.at("who", _("tick a team, or name a person"))
    if not terms:
        raise InvalidInput.at("limit", _("write a limit or what is guaranteed; none lifts it"))
    return [
        LimitChange(scope, subject, *term)
        for scope, _colon, subject in (who.partition(":") for who in subjects)
        for term in terms
    ]


def _amount(resource: str, text: str) -> Any:
    """Parse a number, a size such as 64Gi for memory and storage, or `none` for no limit.

    A bare number of memory or storage is in bytes.
    """
    text = text.strip()
    if not text:
        return KEEP
    if text.lower() == "none":
        return None
    is_bytes = resource.strip() in ("memory", STORAGE)
    try:
        return float(text)
    except ValueError:
        if not is_bytes:
            raise InvalidInput.at(
                "limit", _("%(text)r is no amount; write 32, or none") % {"text": text[:40]}
            ) from None
    try:
        return parse_size(text)
    except ValueError:
        raise InvalidInput.at(
            "limit",
            _("%(text)r is no amount; write 32, 64Gi for bytes, or none") % {"text": text[:40]},
        ) from None


def _submitted_fields(form: Any) -> list[tuple[str, str]]:
    """Return the submitted fields, to be submitted again."""
    return [(name, value) for name in FIELDS for value in form.getlist(name)]


def _show(request: Any, **more: Any) -> HttpResponse:
    query = {name: request.GET.get(name, "").strip()[:254] for name in ("team", "q", "edit")}
    found = tree(request.actor, request.org, query["team"], query["q"])
    may_write = request.actor.may(P.QUOTAS_WRITE)
    return render(
        request,
        "jobs/quotas.html",
        {
            "page_title": _("Quotas"),
            "tree": found,
            "asked": query,
            "may_write": may_write,
            "heads": [(c, title(c)) for c in found.classes],
            "form": _form(found, query["edit"]) if may_write else None,
            "rules": _rules(query["edit"]) if may_write else None,
            "asks": [
                (row, amount_text(row.resource, row.amount)) for row in requests_for(request.actor)
            ],
            "wish": _request_form(request),
            "history": history(request.actor, request.org) if may_write else [],
        }
        | more,
    )


def _request_form(request: Any) -> dict[str, Any]:
    """Return the request form: possible subjects, and values passed by a pending job's page."""
    actor = request.actor
    teams = actor.teams_where(P.JOBS_SUBMIT)
    own_teams = (
        Team.objects.order_by("slug")
        if teams is None
        else Team.objects.filter(id__in=teams).order_by("slug")
    )
    subjects = [
        (f"user:{actor.email}", _("my own")),
        *((f"team:{t.slug}", t.name) for t in own_teams[:WISHES]),
        ("org:", request.org.name),
    ]
    return {
        "whose": subjects,
        **{name: request.GET.get(name, "")[:254] for name in ("ask", "resource", "amount", "job")},
    }


def _form(found: Any, edit: str) -> dict[str, Any]:
    """Return the classes with their current values if one subject is edited, else empty."""
    of_one = next(
        (
            b
            for b in (found.top, *found.teams, *(p for t in found.teams for p in t.people))
            if b.who == edit
        ),
        None,
    )
    # Rows keep their order whatever is in use.
    classes = [*PLAIN, *(name for name in found.classes if name not in PLAIN)][:FORM_CLASSES]
    return {"one": of_one, "lines": [(name, title(name), *_set(of_one, name)) for name in classes]}


def _rules(edit: str) -> dict[str, Any] | None:
    """Return the rules of the edited team."""
    scope, _colon, slug = edit.partition(":")
    team = Team.objects.filter(slug=slug).first() if scope == "team" else None
    return {"team": team, **shown(team)} if team else None


def _set(of_one: Any, name: str) -> tuple[str, str]:
    bar = of_one and of_one.bars.get(name)
    if not bar:
        return "", ""
    return "none" if bar.limit is None else typed_text(name, bar.limit), typed_text(
        name, bar.guaranteed
    ) if bar.guaranteed else ""
