"""Dashboards of usage: of an organization and its teams, and of the installation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from billing.selectors import dashboard
from billing.selectors.access import team_rows
from billing.web import job_panels, panels
from billing.web.board import Board, Data, Panel
from billing.web.views import crumbs
from portal.core.messages import Message
from workspaces.access.permissions import Permission as P
from workspaces.models import Organization
from workspaces.web.base import page

METHODS = ("GET", "HEAD", "POST")  # POST keeps how a person has arranged the panels
RANGE_LABELS = (
    ("24h", Message("24 h", context="time range")),
    ("7d", Message("7 d", context="time range")),
    ("30d", Message("30 d", context="time range")),
    ("90d", Message("90 d", context="time range")),
)


@page(None, METHODS)
def usage(request: Any) -> HttpResponse:
    """Show GPU time, waste and its jobs for an organization or a team."""
    return _overview(request, f"/{request.org.slug}")


@page(P.CLUSTERS_READ, METHODS)
def platform_usage(request: Any) -> HttpResponse:
    """Show GPU time, power and waste of the installation, or of one organization, for operators."""
    return _overview(request, "/platform")


@page(None, METHODS)
def usage_jobs(request: Any) -> HttpResponse:
    """Show statistics of the jobs of an organization or a team."""
    return _statistics(request, f"/{request.org.slug}")


@page(P.CLUSTERS_READ, METHODS)
def platform_usage_jobs(request: Any) -> HttpResponse:
    """Show statistics of all jobs, for operators."""
    return _statistics(request, "/platform")


def _overview(request: Any, base: str) -> HttpResponse:
    return _answer(
        request,
        base,
        panels.PANELS,
        panels.summary,
        {
            "template": "billing/overview.html",
            "page_title": Message("Usage", context="page title"),
            "tab": "overview",
        },
    )


def _statistics(request: Any, base: str) -> HttpResponse:
    return _answer(
        request,
        base,
        job_panels.PANELS,
        job_panels.summary,
        {
            "template": "billing/jobs.html",
            "page_title": Message("Job statistics", context="page title"),
            "crumbs": crumbs(base[1:]),
            "tab": "jobs",
        },
    )


def _answer(
    request: Any,
    base: str,
    known: Sequence[Panel],
    summary: Callable[[Board], Data],
    more: Data,
) -> HttpResponse:
    """Show a page of panels, send the CSV of one, or keep their order."""
    is_platform = base == "/platform"
    name = f"{'platform-' if is_platform else ''}{more['tab']}"
    org = None if is_platform else request.org
    asked = dashboard.asked_of(request.actor, org, request.GET)
    board = Board(request, name, base, asked, known)
    if request.method == "POST":
        return board.save()
    if request.GET.get("as") == "csv":
        return board.csv()
    context = {
        "crumbs": [],
        "board": board,
        "asked": asked,
        "usage_is_platform": is_platform,
        "ranges": [
            (key, label, board.url(range=key, first="", last="")) for key, label in RANGE_LABELS
        ],
        "teams": [] if is_platform else list(team_rows(request.actor)),
        "organizations": list(Organization.objects.order_by("name")[:500]) if is_platform else [],
        "choices": dashboard.choices_of(asked),
        "first": asked.days[0],
        "last": asked.days[1],
        "may_bill": not is_platform and request.actor.may(P.BILLING_READ),
    }
    return render(request, more["template"], context | summary(board) | more)
