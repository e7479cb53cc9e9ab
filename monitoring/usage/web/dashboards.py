"""Dashboards of usage: of an organization and its teams, and of the installation."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render

from monitoring.usage.amounts import HOUR_MS, money
from monitoring.usage.selectors import dashboard
from monitoring.usage.selectors.access import team_rows
from monitoring.usage.selectors.dashboard import Asked, Bucket, GpuTimes
from monitoring.usage.statistics import SECONDS, SIZES
from monitoring.usage.web.views import crumbs
from portal.core.messages import Message
from portal.web.transfers import attachment
from portal.web.translation import translated
from schedulers.states import Reason
from workspaces.access.permissions import Permission as P
from workspaces.models import Organization
from workspaces.web.base import page

RANGE_LABELS = (
    ("24h", Message("24 h")),
    ("7d", Message("7 d")),
    ("30d", Message("30 d")),
    ("90d", Message("90 d")),
)
PARTS: dict[str, tuple[str, str]] = {
    "used": (Message("Useful"), Message("GPUs that compute")),
    "underused": (
        Message("Allocated, badly scaled"),
        Message("In use, but waiting for data or for other GPUs: compare with fewer GPUs"),
    ),
    "idle": (
        Message("Allocated, idle"),
        Message("Below 10%: end these jobs, or ask their owners"),
    ),
    "unmeasured": (
        Message("Allocated, not measured"),
        Message("No agent reports these GPUs: install it on their nodes"),
    ),
    "reserved": (
        Message("Reserved, not allocated"),
        Message("Promised to a team that runs nothing: return the pool, or request fewer GPUs"),
    ),
    "unusable": (
        Message("Free, unusable"),
        Message("On nodes that are down, drained, or out of CPU or memory, or too scattered"),
    ),
    "free": (Message("Free"), Message("Ready for jobs")),
}
_CURVES = (
    ("capacity", Message("Capacity"), "--text-3", "dashed"),
    ("allocated", Message("Allocated"), "--c1", "area"),
    ("in_use", Message("In use"), "--c5", "line"),
    ("useful", Message("Useful"), "--c3", "line"),
    ("reserved", Message("Reserved, not allocated"), "--c4", "line"),
)


@page()
def usage(request: Any) -> HttpResponse:
    """Show GPU time, waste and its jobs for an organization or a team."""
    asked = dashboard.asked_of(request.actor, request.org, request.GET)
    return _overview(request, asked, f"/{request.org.slug}")


@page(P.CLUSTERS_READ)
def platform_usage(request: Any) -> HttpResponse:
    """Show GPU time and waste of the installation, or of one organization, for operators."""
    asked = dashboard.asked_of(request.actor, None, request.GET)
    return _overview(request, asked, "/platform")


@page()
def usage_jobs(request: Any) -> HttpResponse:
    """Show statistics of the jobs of an organization or a team."""
    asked = dashboard.asked_of(request.actor, request.org, request.GET)
    return _statistics(request, asked, f"/{request.org.slug}")


@page(P.CLUSTERS_READ)
def platform_usage_jobs(request: Any) -> HttpResponse:
    """Show statistics of all jobs, for operators."""
    asked = dashboard.asked_of(request.actor, None, request.GET)
    return _statistics(request, asked, "/platform")


def _overview(request: Any, asked: Asked, base: str) -> HttpResponse:
    times = dashboard.gpu_times(asked)
    if request.GET.get("as") == "csv":
        return _csv(times)
    prices = dashboard.prices_for(asked)
    buckets = dashboard.buckets_of(asked, prices)
    allocated = sum(one.amount for one in buckets if one.name in dashboard.TEAM_PARTS[:4])
    measured = allocated - _amount(buckets, "unmeasured")
    waste = [one for one in buckets if one.is_waste]
    costs = [one.cost for one in waste if one.cost is not None]
    by = "team" if asked.org is not None else "org"
    groupings = [(by, Message("Teams") if by == "team" else Message("Organizations"))]
    if asked.org is None:
        groupings.append(("cluster_id", Message("Clusters")))
    groupings += [("gpu_class", Message("GPU models")), ("pool", Message("Pools"))]
    return render(
        request,
        "usage/overview.html",
        _common(request, asked, base)
        | {
            "page_title": Message("Usage"),
            "tab": "overview",
            "is_empty": not sum(one.amount for one in buckets),
            "allocated_hours": allocated / HOUR_MS,
            "capacity_share": allocated / times.totals["capacity"]
            if times.totals.get("capacity")
            else None,
            "useful": _amount(buckets, "used") / measured if measured else None,
            "idle_share": _amount(buckets, "idle") / measured if measured else None,
            "wasted_hours": sum(one.amount for one in waste) / HOUR_MS,
            "wasted_cost": money(sum(costs, Decimal()), prices.currency) if costs else "",
            "buckets": [_bucket_row(one, prices.currency) for one in buckets if one.amount],
            "chart": {
                "times": times.times,
                "series": [
                    {
                        "label": translated(label),
                        "values": times.curves[name],
                        "color": color,
                        "kind": kind,
                    }
                    for name, label, color, kind in _CURVES
                    if name in times.curves and any(times.curves[name])
                ],
            },
            "groups": [
                (label, key, [_group_row(row) for row in dashboard.groups_of(asked, key, 15)])
                for key, label in groupings
            ],
            "wasters": [
                row | {"cost_text": money(row["cost"], prices.currency) if row["cost"] else ""}
                for row in dashboard.wasters(asked, prices)
            ],
        },
    )


def _amount(buckets: list[Bucket], name: str) -> int:
    return next((one.amount for one in buckets if one.name == name), 0)


def _bucket_row(one: Bucket, currency: str) -> dict[str, Any]:
    label, advice = PARTS[one.name]
    return {
        "name": one.name,
        "label": label,
        "advice": advice,
        "hours": one.hours,
        "share": one.share,
        "x": f"{one.offset * 1000:.2f}",
        "width": f"{one.share * 1000:.2f}",
        "cost": money(one.cost, currency) if one.cost is not None else "",
        "is_waste": one.is_waste,
    }


def _group_row(row: dict[str, Any]) -> dict[str, Any]:
    label = row["label"]
    if label.startswith("gpu."):
        label = label[4:].upper()
    return row | {
        "label": label if label != "–" else Message("No pool"),
        "allocated_hours": row["allocated"] / HOUR_MS,
        "wasted_hours": row["waste"] / HOUR_MS,
    }


def _common(request: Any, asked: Asked, base: str) -> dict[str, Any]:
    is_platform = base == "/platform"
    choices = dashboard.choices_of(asked)
    return {
        "crumbs": [],
        "asked": asked,
        "usage_is_platform": is_platform,
        "ranges": RANGE_LABELS,
        "teams": [] if is_platform else list(team_rows(request.actor)),
        "organizations": list(Organization.objects.order_by("name")[:500]) if is_platform else [],
        "choices": choices,
        "first": asked.days[0],
        "last": asked.days[1],
        "may_bill": not is_platform and request.actor.may(P.BILLING_READ),
    }


def _statistics(request: Any, asked: Asked, base: str) -> HttpResponse:
    facts = dashboard.facts_of(asked)
    emails = dashboard.names_of_users(facts["users"])
    decided = facts["ended"] - facts["canceled"]
    waits = list(facts["waits"].values())
    started = sum(cell[0] for cell in waits)
    queue = dashboard.queue_of(asked)
    return render(
        request,
        "usage/jobs.html",
        _common(request, asked, base)
        | {
            "page_title": Message("Job statistics"),
            "crumbs": crumbs(base[1:]),
            "tab": "jobs",
            "facts": facts,
            "success": (decided - facts["failed"]) / decided if decided else None,
            "mean_wait": sum(cell[1] for cell in waits) / started if started else None,
            "sizes": _bars([(_size_label(n), facts["sizes"].get(str(n), 0)) for n in SIZES]),
            "durations": _bars(
                [
                    (_seconds_label(key), facts["durations"].get(str(key), 0))
                    for key in (*SECONDS, "more")
                ]
            ),
            "waits": [
                {
                    "label": _size_label(n),
                    "jobs": cell[0],
                    "mean": cell[1] / cell[0],
                    "median": _seconds_label(_quantile(cell[2], 0.5)),
                    "p95": _seconds_label(_quantile(cell[2], 0.95)),
                }
                for n in SIZES
                if (cell := facts["waits"].get(str(n)))
            ],
            "hours": _hours(facts["hours"]),
            "ended_url": _jobs_url(asked),
            "failed_url": _jobs_url(asked, state="failed"),
            "users": [
                row | {"url": _jobs_url(asked, owner=str(row["label"]))}
                for row in _rates(facts["users"], emails)
            ],
            "images": _rates(facts["images"], {}),
            "reasons": _bars(
                [
                    (_headline(code), n)
                    for code, n in sorted(facts["reasons"].items(), key=lambda row: -row[1])[:10]
                ]
            ),
            "efficiency": _bars(
                [
                    (f"{10 * n}–{10 * n + 10}%", facts["efficiency"].get(str(n), 0) / HOUR_MS)
                    for n in range(10)
                ]
            ),
            "unmeasured": facts["efficiency"].get("-", 0) / HOUR_MS,
            "has_queue": len(queue["times"]) > 1,
            "queue_chart": {
                "times": queue["times"],
                "series": [
                    {
                        "label": translated(Message("Queued")),
                        "values": queue["queued"],
                        "color": "--c2",
                        "kind": "area",
                    },
                    {
                        "label": translated(Message("Running")),
                        "values": queue["running"],
                        "color": "--c1",
                        "kind": "line",
                    },
                ],
            },
            "wait_chart": {
                "times": queue["times"],
                "series": [
                    {
                        "label": translated(Message("Longest wait (minutes)")),
                        "values": queue["longest"],
                        "color": "--c4",
                        "kind": "line",
                    }
                ],
            },
        },
    )


def _jobs_url(asked: Asked, **more: str) -> str:
    """Return the list of the jobs behind a number, "" for all organizations."""
    if asked.org is None:
        return ""
    query = {"since": asked.days[0].isoformat(), "team": asked.team, **more}
    kept = {name: value for name, value in query.items() if value}
    return f"/{asked.org.slug}/jobs?{urlencode(kept)}"


def _bars(rows: list[tuple[str, float]]) -> list[dict[str, Any]]:
    top = max((value for _, value in rows), default=0) or 1
    return [{"label": label, "value": value, "share": value / top} for label, value in rows]


def _headline(code: str) -> str:
    """Return the reason of a failure in words; "-" if there is none."""
    return code if code == "-" else Reason(code).headline


def _hours(found: dict[str, list[int]]) -> list[dict[str, Any]]:
    """Return the mean wait in minutes by hour, as columns of a drawing 240 wide and 60 high."""
    means = [
        cell[1] / cell[0] / 60 if cell[0] else 0.0
        for hour in range(24)
        for cell in [found.get(str(hour), [0, 0])]
    ]
    top = max(means) or 1.0
    return [
        {
            "label": f"{hour:02d}:00",
            "minutes": round(mean, 1),
            "x": 10 * hour + 1,
            "y": f"{60 - 60 * mean / top:.1f}",
            "height": f"{60 * mean / top:.1f}",
        }
        for hour, mean in enumerate(means)
    ]


def _rates(found: dict[str, list[int]], names: dict[str, str]) -> list[dict[str, Any]]:
    rows = sorted(found.items(), key=lambda row: -sum(row[1]))[:15]
    return [
        {
            "label": names.get(key, key) or Message("No image"),
            "jobs": sum(counts),
            "failed": counts[1],
            "success": counts[0] / sum(counts) if sum(counts) else None,
        }
        for key, counts in rows
    ]


def _quantile(buckets: dict[str, int], share: float) -> str:
    """Return the upper bound of the bucket in which a quantile is."""
    left = share * sum(buckets.values())
    for key in (*(str(n) for n in SECONDS), "more"):
        left -= buckets.get(key, 0)
        if left <= 0:
            return key
    return "more"


def _size_label(gpus: int) -> str:
    following = SIZES[SIZES.index(gpus) + 1] - 1 if gpus != SIZES[-1] else None
    if gpus == 0:
        return Message("No GPU")
    if following is None:
        return f"{gpus}+"
    return f"{gpus}" if following == gpus else f"{gpus}–{following}"


def _seconds_label(seconds: object) -> str:
    if seconds == "more":
        return Message("over 1 d")
    n = int(str(seconds))
    if n < 60:
        return f"≤ {n} s"
    if n < 3600:
        return f"≤ {n // 60} min"
    return f"≤ {n // 3600} h" if n < 86_400 else "≤ 1 d"


def _csv(times: GpuTimes) -> HttpResponse:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["time", *(f"{name}_gpus" for name in times.curves)])
    for at, second in enumerate(times.times):
        values = [curve[at] for curve in times.curves.values()]
        writer.writerow(
            [
                datetime.fromtimestamp(second, UTC).isoformat(),
                *("" if value is None else value for value in values),
            ]
        )
    return attachment(out.getvalue(), "text/csv; charset=utf-8", "usage.csv")
