"""Pages for operators: sources of GPU measurements beside the node agents."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from clusters.models import Cluster
from clusters.services.connections import find_cluster
from monitoring.models import TelemetrySource
from monitoring.sources import services as service
from monitoring.sources.reading import Reading
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.web.base import action, page

HERE = "/platform/telemetry"


@page(P.CLUSTERS_READ, ("GET", "HEAD", "POST"))
def sources(request: Any) -> HttpResponse:
    """List sources; test and add one."""
    tested: Reading | None = None
    if request.method == "POST":
        with FormErrors(request):
            cluster = find_cluster(request.POST.get("cluster", ""))
            given = {"kind": request.POST.get("kind", ""), **_settings(request)}
            if request.POST.get("do") == "test":
                tested = service.probe_settings(actor=request.actor, cluster=cluster, **given)
            else:
                made = service.add_source(
                    actor=request.actor,
                    cluster=cluster,
                    name=request.POST.get("name", "").strip(),
                    **given,
                )
                messages.success(
                    request, Message("{name} was added. It is read now.", name=made.name)
                )
                return redirect(f"{HERE}/{made.name}")
    rows = list(service.sources(request.actor))
    return render(
        request,
        "monitoring/sources.html",
        {
            "page_title": Message("Telemetry", context="page title"),
            "rows": rows,
            "clusters": list(Cluster.objects.order_by("name")),
            "may_write": request.actor.may(P.CLUSTERS_WRITE),
            "tested": tested.as_dict() if tested else None,
            "typed": request.POST or {"kind": "dcgm", "interval": "30"},
        },
    )


@page(P.CLUSTERS_READ, ("GET", "HEAD", "POST"))
def source(request: Any, source: str) -> HttpResponse:
    """Show one source; test, change, enable, back-fill or remove it."""
    row = service.find_source(source)
    here = f"{HERE}/{row.name}"
    tested: Reading | None = None
    if request.method == "POST":
        do = request.POST.get("do", "")
        if do == "remove":
            return action(
                request,
                HERE,
                Message("{name} was removed. Its measurements are kept.", name=row.name),
                lambda: service.remove_source(actor=request.actor, source=row),
                refused=here,
            )
        with FormErrors(request):
            if do == "test":
                tested = service.probe_source(actor=request.actor, source=row)
            else:
                messages.success(request, _change(request, row, do))
                return redirect(here)
    return render(
        request,
        "monitoring/source.html",
        {
            "page_title": row.name,
            "crumbs": [(Message("Telemetry", context="navigation"), HERE)],
            "row": row,
            "may_write": request.actor.may(P.CLUSTERS_WRITE),
            "tested": tested.as_dict() if tested else None,
            "typed": {"urls": row.urls, "matchers": row.matchers, "interval": row.interval},
            "fill_until": row.fill_until and datetime.fromtimestamp(row.fill_until / 1000, UTC),
            "first_day": (clock.now() - service.LONGEST_HISTORY + timedelta(days=1)).date(),
            "last_day": row.created_at.date(),
        },
    )


def _change(request: Any, row: TelemetrySource, do: str) -> str:
    """Apply a form and return what to say. Raises PortalError."""
    actor, form = request.actor, request.POST
    if do in ("enable", "disable"):
        service.change_source(actor=actor, source=row, is_enabled=do == "enable")
        if do == "enable":
            return Message("{name} is read again.", name=row.name)
        return Message("{name} is no longer read.", name=row.name)
    if do == "history":
        try:
            day = date.fromisoformat(form.get("since", ""))
        except ValueError as error:
            raise InvalidInput.at(
                "since", Message("must be a date", context="error of a field")
            ) from error
        since = datetime(day.year, day.month, day.day, tzinfo=UTC)
        service.fill_history(actor=actor, source=row, since=since)
        return Message("The history is read now, one day after the other, the latest first.")
    given = _settings(request)
    if not given["token"] and "remove_token" not in form:
        del given["token"]
    service.change_source(actor=actor, source=row, **given)
    return Message("{name} was updated.", name=row.name)


def _settings(request: Any) -> dict[str, Any]:
    form = request.POST
    text = form.get("interval", "").strip() or "30"
    return {
        "urls": form.get("urls", ""),
        "matchers": form.get("matchers", ""),
        "interval": int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1,
        "token": form.get("token", "").strip(),
    }
