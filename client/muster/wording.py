"""Format times, sizes and states for people, and sanitize text for the terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from muster.errors import InvalidInput

if TYPE_CHECKING:
    from muster.shapes.jobs import ComparedShape, JobShape, ResourcesShape
    from muster.shapes.portal import PersonShape

COLOURS = {
    "running": "blue",
    "succeeded": "green",
    "failed": "red",
    "canceled": "bright_black",
    "queued": "bright_black",
    "stopping": "yellow",
    "starting": "yellow",
    "submitted": "yellow",
    "dispatching": "yellow",
}
_TIMES = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_SIZES = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def clean(text: object) -> str:
    """Return one line without control characters, so that names cannot control the terminal."""
    return "".join(c if c.isprintable() else " " for c in str(text)).strip()


def ago(at: str | None) -> str:
    """Format the time since an ISO timestamp, such as "4 min ago"."""
    return f"{span(at)} ago" if at else ""


def ahead(at: str | None) -> str:
    """Format the time until an ISO timestamp, such as "in 4 min"."""
    return f"in {span(datetime.now(UTC).isoformat(), at)}" if at else ""


def span(start: str | None, end: str | None = None) -> str:
    """Format the time between two ISO timestamps, such as "2h 04m"; `end` defaults to now."""
    if not start:
        return ""
    stop = datetime.fromisoformat(end) if end else datetime.now(UTC)
    return duration((stop - datetime.fromisoformat(start)).total_seconds())


def duration(seconds: float) -> str:
    """Format seconds as "12 s", "4 min", "2h 04m" or "3d 02h"."""
    whole = max(int(seconds), 0)
    if whole < 90:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    return (
        f"{whole // 3600}h {whole // 60 % 60:02d}m"
        if whole < 172800
        else f"{whole // 86400}d {whole // 3600 % 24:02d}h"
    )


def seconds(text: str) -> int:
    """Parse "2d", "1d12h", "90m" or plain seconds. Raises InvalidInput."""
    if text.isdecimal() and len(text) < 12:
        return int(text)
    found = re.fullmatch(
        r"(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?",
        text.strip().lower(),
        re.ASCII,
    )
    if not text.strip() or not found:
        raise InvalidInput(
            f"Invalid duration {text}. Use seconds, or a form such as 90m, 12h or 1d12h."
        )
    return sum(
        int(number) * unit for number, unit in zip(found.groups("0"), _TIMES.values(), strict=True)
    )


def timespan(whole: int) -> str:
    """Format seconds as `seconds` parses them, such as "1d12h"."""
    text = ""
    for name, unit in _TIMES.items():
        count, whole = divmod(whole, unit)
        text += f"{count}{name}" if count else ""
    return text or "0s"


def size(number: float) -> str:
    """Format bytes in binary units, such as "1.5 GiB"."""
    for name, unit in _SIZES:
        if abs(number) >= unit:
            return f"{number / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{number:g} B"


def text(value: object) -> str:
    """Format a value that may be missing."""
    return "" if value is None else str(value)


def count(value: int | None) -> str:
    """Format a count, such as "12,000"."""
    return "–" if value is None else f"{value:,}"


def size_or_dash(number: float | None) -> str:
    """Format bytes that may be missing."""
    return "–" if number is None else size(number)


def job_number(value: int) -> str:
    return f"#{value}"


def person(who: PersonShape) -> str:
    """Return the name, else the e-mail address."""
    return who["name"] or who["email"]


def amount(value: float | None, unit: str) -> str:
    """Format a number with its unit; bytes in binary units, ratios in percent."""
    if value is None:
        return "–"
    if unit in ("bytes", "bytes/s"):
        return size(value) + unit.removeprefix("bytes")
    return f"{value:.1%}" if unit == "ratio" else f"{value:g} {unit}".strip()


def held(asked: ResourcesShape) -> str:
    """Format resources, such as "2 CPU, 16 GiB, 8 H100"."""
    parts = [f"{asked['cpus']:g} CPU"]
    if asked["memory"]:
        parts.append(size(asked["memory"]))
    if asked["gpus"]:
        parts.append(f"{asked['gpus']} {(asked['gpu_type'] or 'GPU').upper()}")
    return ", ".join(parts)


def why(row: JobShape) -> str:
    """Return why a job is pending or failed, else an empty string."""
    if row["pending"]:
        return row["pending"]["text"]
    reason = row["reason"]
    is_failed = reason and row["state"] == "failed"
    return reason["evidence"] or reason["headline"] if reason and is_failed else ""


def advice(row: JobShape) -> str:
    """Return the advice for a pending or failed job."""
    if pending := row["pending"]:
        parts = [(pending["change"] or {}).get("text"), pending.get("advice")]
        if any(parts):
            return " ".join(filter(None, parts))
    return row["reason"]["advice"] if row["reason"] else ""


def holders(row: JobShape) -> str:
    """Return who uses the resources that a pending job needs."""
    return "; ".join(one["text"] for one in row["pending"]["holders"]) if row["pending"] else ""


def progress(row: JobShape) -> str:
    """Format the task states of an array, such as "4 running, 96 queued"."""
    states = row["array"].get("states", {}) if row["array"] else {}
    return ", ".join(f"{count:,} {state}" for state, count in states.items())


def ending(row: JobShape) -> str:
    """Describe how a job ended, with evidence and advice if it failed."""
    head = f"#{row['number']} {clean(row['name'])}: {row['state']}"
    if row["state"] == "succeeded":
        return (
            f"{head} after {span(row['started_at'], row['finished_at'])}"
            if row["started_at"]
            else head
        )
    reason = row["reason"]
    if not reason:
        return clean(head)
    headline = reason["headline"].rstrip(".")
    head += f": {headline}" if headline.lower() != row["state"] and headline else ""
    lines = [head, reason["evidence"], reason["advice"]]
    return "\n".join(clean(line) for line in lines if line)


def brief(row: JobShape) -> str:
    """Format number, name and state of a job."""
    return f"#{row['number']} {clean(row['name'])}: {row['state']}"


def number(value: Any) -> str:
    """Format a metric value."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def number_text(value: float) -> str:
    """Return the word for NaN and infinities, which JSON has not."""
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def best_value(run: ComparedShape, metric: str, best: Mapping[str, str]) -> str:
    """Return the best value of a metric, with an asterisk for the first run that has it."""
    found = run["metrics"].get(metric)
    if found is None:
        return ""
    return f"{found['best']:.4g}{'*' if best.get(metric) == run['id'] else ''}"
