"""Panels of statistics of jobs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from billing.amounts import HOUR_MS
from billing.selectors import dashboard
from billing.statistics import SECONDS, SIZES
from billing.web.board import Board, Data, Panel, bars_of
from billing.web.panels import queue, waits
from portal.core.messages import Message
from schedulers.states import Reason

MOST_ROWS = 15


def _histogram(
    rows: Iterable[tuple[Any, Any, float]], *columns: str, decimals: bool = False
) -> Data:
    """Return bars and their CSV; rows are the value in the CSV, the label and the number.

    Empty bars before the first and after the last are only in the CSV.
    """
    kept = list(rows)
    used = [n for n, (_, _, value) in enumerate(kept) if value]
    shown = kept[used[0] : used[-1] + 1] if used else []
    return {
        "bars": bars_of((label, value) for _, label, value in shown),
        "empty": Message("No job ended in this time."),
        "decimals": decimals,
        "table": (columns, ([plain, value] for plain, _, value in kept)),
    }


def sizes(board: Board) -> Data:
    found = board.facts["sizes"]
    rows = ((n, _size_label(n), found.get(str(n), 0)) for n in SIZES)
    return _histogram(rows, "gpus_from", "jobs")


def durations(board: Board) -> Data:
    found = board.facts["durations"]
    rows = ((key, _seconds_label(key), found.get(str(key), 0)) for key in (*SECONDS, "more"))
    return _histogram(rows, "seconds_up_to", "jobs")


def efficiency(board: Board) -> Data:
    """Return GPU-hours by utilization of the jobs' GPUs."""
    found = board.facts["efficiency"]
    rows = (
        (f"{10 * n}-{10 * n + 10}", f"{10 * n}–{10 * n + 10}%", found.get(str(n), 0) / HOUR_MS)
        for n in range(10)
    )
    return _histogram(rows, "utilization_percent", "gpu_hours", decimals=True) | {
        "unmeasured": found.get("-", 0) / HOUR_MS
    }


def reasons(board: Board) -> Data:
    found = sorted(board.facts["reasons"].items(), key=lambda row: -row[1])[:10]
    rows = ((code, _headline(code), n) for code, n in found)
    url = board.jobs_url(state="failed", since=board.since)
    return _histogram(rows, "reason", "jobs") | {
        "empty": Message("No job failed."),
        "more": (url, Message("Failed jobs", context="link")) if url else None,
    }


def waits_by_size(board: Board) -> Data:
    found = [(n, cell) for n in SIZES if (cell := board.facts["waits"].get(str(n)))]
    top = max((cell[1] / cell[0] for _, cell in found), default=0) or 1
    rows = [
        {
            "gpus": n,
            "label": _size_label(n),
            "jobs": cell[0],
            "mean": cell[1] / cell[0],
            "share": cell[1] / cell[0] / top,
            "median": _quantile(cell[2], 0.5),
            "p95": _quantile(cell[2], 0.95),
        }
        for n, cell in found
    ]
    return {
        "rows": [
            row | {name: _seconds_label(row[name]) for name in ("median", "p95")} for row in rows
        ],
        "table": (
            ["gpus_from", "jobs", "mean_seconds", "median_up_to", "p95_up_to"],
            (
                [row["gpus"], row["jobs"], round(row["mean"], 1), row["median"], row["p95"]]
                for row in rows
            ),
        ),
    }


def waits_by_hour(board: Board) -> Data:
    """Return the mean wait in minutes by hour, as columns of a drawing 240 wide and 60 high."""
    cells = [board.facts["hours"].get(str(hour), [0, 0]) for hour in range(24)]
    means = [cell[1] / cell[0] / 60 if cell[0] else 0.0 for cell in cells]
    top = max(means) or 1.0
    return {
        "hours": [
            {
                "label": f"{hour:02d}:00",
                "minutes": round(mean, 1),
                "share": mean / top,
                "x": 10 * hour + 1,
                "y": f"{60 - 60 * mean / top:.1f}",
                "height": f"{60 * mean / top:.1f}",
            }
            for hour, mean in enumerate(means)
        ],
        "top": max(means),
        "table": (
            ["hour_utc", "jobs", "mean_wait_minutes"],
            ([hour, cells[hour][0], round(mean, 2)] for hour, mean in enumerate(means)),
        ),
    }


def people(board: Board) -> Data:
    found = board.facts["users"]
    users = dashboard.people_of(found)
    names = {key: user.display_name for key, user in users.items()}
    urls = {key: board.jobs_url(owner=user.email, since=board.since) for key, user in users.items()}
    return _rates(found, names, urls, "person")


def images(board: Board) -> Data:
    return _rates(board.facts["images"], {}, {}, "image")


def _rates(
    found: dict[str, list[int]], names: dict[str, str], urls: dict[str, str], what: str
) -> Data:
    rows = sorted(found.items(), key=lambda row: -sum(row[1]))
    return {
        "rows": [
            {
                "label": names.get(key, key) or Message("No image", context="field"),
                "jobs": sum(counts),
                "success": counts[0] / sum(counts),
                "url": urls.get(key, ""),
            }
            for key, counts in rows[:MOST_ROWS]
        ],
        "table": (
            [what, "jobs", "failed", "success"],
            ([names.get(key, key), sum(n), n[1], round(n[0] / sum(n), 4)] for key, n in rows),
        ),
    }


PANELS = (
    Panel("queue", Message("Queue", context="panel"), "chart", queue),
    Panel("waits", Message("Longest wait", context="panel"), "chart", waits),
    Panel("sizes", Message("GPUs of a job", context="panel"), "bars", sizes),
    Panel("durations", Message("Duration", context="panel"), "bars", durations),
    Panel(
        "wait-sizes",
        Message("Wait by size", context="panel"),
        "wait_sizes",
        waits_by_size,
        is_flush=True,
    ),
    Panel("efficiency", Message("Efficiency, in GPU-hours"), "bars", efficiency),
    Panel(
        "wait-hours",
        Message("Mean wait by hour of submission (UTC)"),
        "wait_hours",
        waits_by_hour,
    ),
    Panel("reasons", Message("Why jobs failed", context="panel"), "bars", reasons),
    Panel("people", Message("Success by person"), "rates", people, is_flush=True),
    Panel("images", Message("Success by image"), "rates", images, is_flush=True),
)


def summary(board: Board) -> Data:
    """Return the numbers above the panels."""
    facts = board.facts
    decided = facts["ended"] - facts["canceled"]
    cells = list(facts["waits"].values())
    started = sum(cell[0] for cell in cells)
    return {
        "facts": facts,
        "is_empty": not facts["ended"] and len(board.queue["times"]) < 2,
        "success": (decided - facts["failed"]) / decided if decided else None,
        "mean_wait": sum(cell[1] for cell in cells) / started if started else None,
        "ended_url": board.jobs_url(since=board.since),
        "failed_url": board.jobs_url(state="failed", since=board.since),
    }


def _headline(code: str) -> str:
    """Return the reason of a failure in words; "-" if there is none."""
    return code if code == "-" else Reason(code).headline


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
        return Message("No GPU", context="text, billing")
    if following is None:
        return f"{gpus}+"
    return f"{gpus}" if following == gpus else f"{gpus}–{following}"


def _seconds_label(seconds: object) -> str:
    if seconds == "more":
        return Message("over 1 d", context="part of a sentence")
    n = int(str(seconds))
    if n < 60:
        return f"≤ {n} s"
    if n < 3600:
        return f"≤ {n // 60} min"
    return f"≤ {n // 3600} h" if n < 86_400 else "≤ 1 d"
