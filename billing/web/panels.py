"""Panels of GPU time: of an organization and its teams, and of the installation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from billing.amounts import HOUR_MS, JOULES, money
from billing.selectors import dashboard
from billing.selectors.dashboard import Bucket, GpuTimes
from billing.web.board import Board, Data, Panel
from clusters.health.selectors import unhealthy_by_cluster
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from portal.web.charts import COLOURS, Chart, Curve, chart_of

MOST_ROWS = 15
PARTS: dict[str, tuple[str, str]] = {
    "used": (Message("Useful", context="part of a chart"), Message("GPUs that compute")),
    "underused": (
        Message("Waiting", context="part of a chart, GPUs in use that wait"),
        Message("In use, but waiting for data or for each other: try fewer GPUs"),
    ),
    "idle": (
        Message("Idle", context="part of a chart"),
        Message("Below 10%: end these jobs, or ask their owners"),
    ),
    "unmeasured": (
        Message("Not measured", context="part of a chart"),
        Message("No agent reports these GPUs: install it on their nodes"),
    ),
    "reserved": (
        Message("Reserved, not allocated"),
        Message("Promised to a team that runs nothing: return the pool, or request fewer GPUs"),
    ),
    "unusable": (
        Message("Free, unusable", context="part of a chart"),
        Message("On nodes that are down, drained, or out of CPU or memory, or too scattered"),
    ),
    "free": (
        Message("Free", context="part of a chart, not in use"),
        Message("Ready for jobs", context="part of a chart"),
    ),
}
# Parts of the allocated GPUs, and what they are compared with; colours as in usage.css
_CURVES = (
    ("useful", PARTS["used"][0], "--c3", "area"),
    ("underused", PARTS["underused"][0], "--c5", "area"),
    ("idle", PARTS["idle"][0], "--c2", "area"),
    ("unmeasured", PARTS["unmeasured"][0], "--c8", "area"),
    ("reserved", PARTS["reserved"][0], "--c4", "line"),
    ("capacity", Message("Capacity", context="curve of a chart"), "--text-3", "limit"),
)


def clock_text(second: int) -> str:
    """Return a Unix time as ISO 8601, for files."""
    return datetime.fromtimestamp(second, UTC).isoformat()


def gpu_chart(found: GpuTimes) -> Chart:
    """Return what allocated GPUs did, stacked, below their number."""
    shown = [
        Curve(label, found.curves[name], colour, kind)
        for name, label, colour, kind in _CURVES
        if any(found.curves.get(name, ()))
    ]
    return chart_of(found.times, *shown, unit="GPUs", is_stacked=True)


def queue_chart(found: Mapping[str, list[Any]]) -> Chart:
    """Return how many jobs waited and ran."""
    return chart_of(
        found["times"],
        Curve(Message("Queued", context="curve of a chart"), found["queued"], "--c2", "area"),
        Curve(Message("Running", context="curve of a chart"), found["running"], "--c1"),
        unit="jobs",
        step=3600,
    )


def times(board: Board) -> Data:
    curves, moments = board.times.curves, board.times.times
    more = (
        ("/platform/capacity", Message("Capacity", context="text, billing"))
        if board.is_platform
        else (board.jobs_url(state="running"), Message("Running jobs", context="text, billing"))
    )
    return {
        "chart": gpu_chart(board.times),
        "more": more,
        "table": (
            ["time", *(f"{name}_gpus" for name in curves)],
            (
                [clock_text(second), *(curve[at] for curve in curves.values())]
                for at, second in enumerate(moments)
            ),
        ),
    }


def shares(board: Board) -> Data:
    others = Message("Others", context="text, billing")
    moments, curves = board.times.times, board.shares
    return {
        "chart": chart_of(
            moments,
            *(
                Curve(name or others, values, COLOURS[at] if name else "--text-3", "area")
                for at, (name, values) in enumerate(curves)
            ),
            unit="GPUs",
            is_stacked=True,
        ),
        "is_empty": not curves,
        "table": (
            ["time", *(name or "others" for name, _ in curves)],
            (
                [clock_text(second), *(values[at] for _, values in curves)]
                for at, second in enumerate(moments)
            ),
        ),
    }


def parts(board: Board) -> Data:
    rows = [_bucket_row(one, board.prices.currency) for one in board.buckets if one.amount]
    return {
        "buckets": rows,
        "table": (
            ["part", "gpu_hours", "share", f"cost_{board.prices.currency}"],
            (
                [one["name"], f"{one['hours']:.3f}", f"{one['share']:.4f}", one["amount"]]
                for one in rows
            ),
        ),
    }


def _bucket_row(one: Bucket, currency: str) -> Data:
    label, advice = PARTS[one.name]
    return {
        "name": one.name,
        "label": label,
        "advice": advice,
        "hours": one.hours,
        "share": one.share,
        "x": f"{one.offset * 1000:.2f}",
        "width": f"{one.share * 1000:.2f}",
        "amount": "" if one.cost is None else f"{one.cost:.2f}",
        "cost": money(one.cost, currency) if one.cost is not None else "",
        "is_waste": one.is_waste,
    }


def wasters(board: Board) -> Data:
    found = dashboard.wasters(board.asked, board.prices)
    columns = ("number", "name", "org", "team", "owner", "gpus", "gpu_class", "use")
    hours = ("idle_hours", "underused_hours", "wasted_hours")
    return {
        "rows": [
            row | {"cost_text": money(row["cost"], board.prices.currency) if row["cost"] else ""}
            for row in found
        ],
        "is_platform": board.is_platform,
        "table": (
            (*columns, *hours),
            ([row[name] for name in (*columns, *hours)] for row in found),
        ),
    }


def power(board: Board) -> Data:
    found, totals = board.times, board.times.totals
    now, at = dashboard.power_now(board.asked)
    return {
        "chart": chart_of(
            found.times,
            Curve(
                Message("Power", context="curve of a chart, electricity"),
                found.power,
                "--c2",
                "area",
            ),
            unit="W",
        ),
        "is_known": bool(totals["metered"]),
        "now": now,
        "at": at,
        "energy": totals["energy"] / JOULES,
        "share": totals["metered"] / totals["capacity"] if totals["capacity"] else None,
        "more": ("/platform/telemetry", Message("Telemetry", context="link")),
        "table": (
            ["time", "watts"],
            ([clock_text(t), w] for t, w in zip(found.times, found.power, strict=True)),
        ),
    }


def health(board: Board) -> Data:
    values = board.times.curves["unhealthy"]
    rows = [
        row
        for row in unhealthy_by_cluster()
        if not board.asked.cluster or row["cluster"] == board.asked.cluster
    ]
    return {
        "chart": chart_of(
            board.times.times,
            Curve(Message("GPUs on unhealthy nodes"), values, "--c6", "area"),
            unit="GPUs",
        ),
        "rows": rows,
        "gpus": sum(row["gpus"] for row in rows),
        "nodes": sum(row["nodes"] for row in rows),
        "table": (
            ["time", "unhealthy_gpus"],
            ([clock_text(t), n] for t, n in zip(board.times.times, values, strict=True)),
        ),
    }


def queue(board: Board) -> Data:
    found = board.queue
    more = (
        ("/platform/queue", Message("Queue", context="text, billing"))
        if board.is_platform
        else (board.jobs_url(state="queued"), Message("Pending jobs", context="text, billing"))
    )
    return {
        "chart": queue_chart(found),
        "more": more,
        "is_narrowed": board.is_narrowed,
        "is_empty": len(found["times"]) < 2,
        "table": (
            ["time", "queued", "running", "longest_wait_minutes"],
            (
                [clock_text(row[0]), *row[1:]]
                for row in zip(*(found[name] for name in _QUEUE), strict=True)
            ),
        ),
    }


_QUEUE = ("times", "queued", "running", "longest")


def waits(board: Board) -> Data:
    found = board.queue
    seconds = [None if n is None else 60 * n for n in found["longest"]]
    return queue(board) | {
        "chart": chart_of(
            found["times"],
            Curve(Message("Longest wait", context="curve of a chart"), seconds, "--c4", "area"),
            unit="s",
            step=3600,
        ),
    }


def failures(board: Board) -> Data:
    found = dashboard.outcomes_of(board.asked)
    ended = [
        sum(row) for row in zip(found["succeeded"], found["failed"], found["canceled"], strict=True)
    ]
    shown = (
        ("failed", Message("Failed", context="text, billing"), "--failed"),
        ("canceled", Message("Canceled", context="text, billing"), "--text-3"),
        ("succeeded", Message("Succeeded", context="text, billing"), "--c3"),
    )
    return {
        "chart": chart_of(
            found["times"],
            *(
                Curve(label, found[name], colour, "bars", note=f"{sum(found[name]):,}")
                for name, label, colour in shown
            ),
            unit="jobs",
            is_stacked=True,
            is_daily=True,
        ),
        "ended": sum(ended),
        "failed": sum(found["failed"]),
        "failed_url": board.jobs_url(state="failed", since=board.since),
        "is_narrowed": board.is_narrowed,
        "more": (board.url(f"{board.base}/usage/jobs"), Message("Why jobs failed", context="link")),
        "table": (
            ["day", "succeeded", "failed", "canceled"],
            ([clock_text(row[0])[:10], *row[1:]] for row in zip(*found.values(), strict=True)),
        ),
    }


def _groups(by: str) -> Any:
    def build(board: Board) -> Data:
        found = dashboard.groups_of(board.asked, by, MOST_ROWS)
        top = max((row["allocated"] for row in found), default=0) or 1
        return {
            "rows": [
                row
                | {
                    "label": _label(row["label"]),
                    "share": row["allocated"] / top,
                    "allocated_hours": row["allocated"] / HOUR_MS,
                    "wasted_hours": row["waste"] / HOUR_MS,
                    "url": _narrowed(board, by, row),
                }
                for row in found
            ],
            "table": (
                ["name", "allocated_hours", "useful_share", "wasted_hours"],
                (
                    [
                        row["label"],
                        f"{row['allocated'] / HOUR_MS:.3f}",
                        row["use"],
                        f"{row['waste'] / HOUR_MS:.3f}",
                    ]
                    for row in found
                ),
            ),
        }

    return build


def _label(label: str) -> str:
    if label.startswith("gpu."):
        return gpu_text(label[4:])
    return label if label != "–" else Message("No pool", context="text, billing")


def _narrowed(board: Board, by: str, row: Data) -> str:
    """Return the address of this view, narrowed to a row."""
    if by == "team" and board.is_platform:
        return board.url(f"/{board.asked.org.slug}/usage", org="", team=row["slug"])  # type: ignore[union-attr]
    name = {"gpu_class": "class", "cluster_id": "cluster"}.get(by, by)
    value = row["gpu_class"] if by == "gpu_class" else row["slug"]
    return board.url(**{name: value}) if value else ""


PANELS = (
    Panel("gpu-times", Message("GPUs over time", context="panel"), "chart", times, is_wide=True),
    Panel(
        "shares",
        Message("GPUs by team", context="panel"),
        "chart",
        shares,
        is_wide=True,
        is_for=lambda board: not (board.is_fleet or board.asked.team),
    ),
    Panel(
        "org-shares",
        Message("GPUs by organization"),
        "chart",
        shares,
        is_wide=True,
        is_for=lambda board: board.is_fleet,
    ),
    Panel("parts", Message("Where the GPU time went"), "parts", parts, is_wide=True, is_flush=True),
    Panel(
        "power",
        Message("Power", context="panel, electricity"),
        "power",
        power,
        is_for=lambda board: board.is_fleet,
    ),
    Panel(
        "health",
        Message("Unhealthy GPUs", context="panel"),
        "health",
        health,
        is_for=lambda board: board.is_fleet,
    ),
    Panel("queue", Message("Queue", context="panel"), "chart", queue),
    Panel("failures", Message("Failures", context="panel"), "failures", failures),
    Panel(
        "wasters",
        Message("Most wasteful jobs"),
        "wasters",
        wasters,
        is_wide=True,
        is_flush=True,
        has_png=False,
    ),
    Panel(
        "orgs",
        Message("Organizations", context="panel"),
        "groups",
        _groups("org"),
        is_flush=True,
        is_for=lambda board: board.is_fleet,
    ),
    Panel(
        "teams",
        Message("Teams", context="panel"),
        "groups",
        _groups("team"),
        is_flush=True,
        is_for=lambda board: not board.is_fleet,
    ),
    Panel(
        "clusters",
        Message("Clusters", context="panel"),
        "groups",
        _groups("cluster_id"),
        is_flush=True,
        is_for=lambda board: board.is_fleet,
    ),
    Panel(
        "models",
        Message("GPU models", context="panel"),
        "groups",
        _groups("gpu_class"),
        is_flush=True,
    ),
    Panel("pools", Message("Pools", context="panel"), "groups", _groups("pool"), is_flush=True),
)


def summary(board: Board) -> Data:
    """Return the numbers above the panels."""
    buckets, totals = board.buckets, board.times.totals
    amounts = {one.name: one.amount for one in buckets}
    allocated = sum(amounts.get(name, 0) for name in dashboard.TEAM_PARTS[:4])
    measured = allocated - amounts.get("unmeasured", 0)
    waste = [one for one in buckets if one.is_waste]
    costs = [one.cost for one in waste if one.cost is not None]
    return {
        "is_empty": not sum(amounts.values()),
        "allocated_hours": allocated / HOUR_MS,
        "capacity_share": allocated / totals["capacity"] if totals.get("capacity") else None,
        "useful": amounts.get("used", 0) / measured if measured else None,
        "idle_share": amounts.get("idle", 0) / measured if measured else None,
        "wasted_hours": sum(one.amount for one in waste) / HOUR_MS,
        "wasted_cost": money(sum(costs, Decimal()), board.prices.currency) if costs else "",
    }
