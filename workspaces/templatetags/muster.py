"""Template tags and filters to format amounts and times."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from math import isfinite
from typing import Any
from urllib.parse import urlencode

import orjson
from django import template
from django.template import Context
from django.template.defaultfilters import floatformat
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.core import clock
from portal.core.formatting import counted, gpu_text, span_text
from portal.core.help import error_path, topic_path
from portal.core.messages import Message
from portal.core.states import state_of
from portal.core.texts import mark_of
from portal.web.form_errors import form_error_of
from portal.web.markdown import markdown_html
from portal.web.translation import translated
from portal.web.undo import undo_of
from workspaces.access.roles import role_facts
from workspaces.credentials.token_presets import token_presets
from workspaces.subjects import first_day

register = template.Library()
register.filter("translated", translated)
register.filter("undo_of", undo_of)
register.filter("form_error_of", form_error_of)
register.filter("mark", mark_of)
register.filter("error_help", error_path)
# Colour classes by kind and value, with the class of all other values.
_CLASSES = {
    "announcement": ({"trouble": "bad", "warning": "warn"}, ""),
    "check": ({"failed": "failed", "warning": "unknown", "skipped": "queued"}, "succeeded"),
    "message": ({"error": "bad", "warning": "warn"}, "good"),
}
_WIDTH, _HEIGHT = 96, 22  # of a sparkline
_QUOTED = re.compile(r"`([^`\n]+)`")
_STEPS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


@register.simple_block_tag(takes_context=True)
def help_topic(context: Context, content: str) -> str:
    """Keep the page's topic of the guide for what is rendered below (`help_path`)."""
    context["help_topic"] = content.strip()
    return ""


@register.simple_tag(takes_context=True)
def help_path(context: Context, topic: str = "") -> str:
    """Return the address of a topic of the guide, else of the page's, or ""."""
    name = topic or context.get("help_topic", "")
    return topic_path(name) if name else ""


@register.simple_tag
def once() -> SafeString:
    """Render a token that detects resubmission of a form (`workspaces.web.one_time_forms`).

    For forms whose response shows a secret.
    """
    return format_html('<input type="hidden" name="once" value="{}">', secrets.token_urlsafe(16))


@register.simple_tag
def query(**params: Any) -> str:
    """Return the query string of the set parameters: "?team=vision&state=running", or ""."""
    kept = {name: value for name, value in params.items() if value not in ("", None)}
    return "?" + urlencode(kept, safe=",") if kept else ""


@register.simple_tag
def state(of: str, value: Any, css: str = "", why: str = "") -> SafeString:
    """Render a state that an app declares: {% state "node" row.state %}, or {% state "job" row %}.

    A job or an attempt is given whole, as the API returns it: its cluster may not have answered for
    long. `why` is the title, by default the meaning. In Python, because lists show it in each row.
    """
    key = value
    if isinstance(value, Mapping):
        key, why = value["state"], why or value.get("state_text") or ""
    shown = state_of(of, "unknown" if value is not key and value.get("is_stale") else str(key))
    return format_html(
        '<span class="state {} {}" data-state="{}" title="{}"><i></i><span>{}</span></span>',
        shown.mark,
        css,
        key,
        translated(why or shown.meaning),
        translated(shown.word),
    )


@register.simple_tag
def sparkline(values: Sequence[float | None], label: str, top: float = 0) -> SafeString:
    """Draw values, oldest first, as a small curve from 0 to `top`, by default the highest.

    An unknown value is a gap. `label` says what is shown. In Python, as lists show it in each row.
    """
    most = top or max((value for value in values if value is not None), default=0)
    step = (_WIDTH - 2) / max(len(values) - 1, 1)
    shapes = [format_html('<path class="base" d="M1 {}H{}"/>', _HEIGHT - 1, _WIDTH - 1)]
    for known, part in groupby(enumerate(values), lambda one: one[1] is not None):
        if not known or not most:
            continue
        points = [
            (1 + n * step, _HEIGHT - 2 - min(max(value or 0, 0) / most, 1) * (_HEIGHT - 4))
            for n, value in part
        ]
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        if len(points) > 1:
            foot = f"M{points[0][0]:.1f} {_HEIGHT - 1}L{line}L{points[-1][0]:.1f} {_HEIGHT - 1}Z"
            shapes.append(format_html('<path class="area" d="{}"/>', foot))
        end = "" if len(points) > 1 else "h1"
        shapes.append(format_html('<path class="curve" d="M{}{}"/>', line, end))
    return format_html(
        '<svg class="sparkline" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        _WIDTH,
        _HEIGHT,
        label,
        SafeString("".join(shapes)),
    )


@register.simple_tag
def trend(values: Sequence[float], unit: str = "GPU-hours") -> SafeString:
    """Draw the GPU-hours, or the jobs, of each of the last days, and say them in words."""
    if unit == "jobs":
        label = _("Jobs a day in the last %(days)s days: %(most)s at most, %(last)s today")
    else:
        label = _("GPU-hours a day in the last %(days)s days: %(most)s at most, %(last)s today")
    facts = {"days": len(values), "most": hours(max(values)), "last": hours(values[-1])}
    return sparkline(values, label % facts)


@register.simple_tag
def first_day_of_use() -> str:
    """Return the first of the days that `trend` shows: "2026-10-30"."""
    return first_day().isoformat()


@register.filter
def money(cost: str, currency: str) -> str:
    """Format an amount with its currency: "1,234.50 USD"."""
    return f"{Decimal(cost):,} {currency}"


@register.filter
def state_word(key: str, of: str = "job") -> str:
    """Return the word of a state: "Task 3: {{ one.state|state_word }}"."""
    return translated(state_of(of, key).word)


@register.filter
def why(job: Mapping[str, Any]) -> str:
    """Return in one line why a job waits or failed: what its program said of its own error first."""
    if job["pending"]:
        return translated(job["pending"]["text"])
    reason = job["reason"] if job["state"] == "failed" else None
    if not reason:
        return ""
    is_own = reason["code"] == "user_error" and reason["evidence"]
    return translated(reason["evidence" if is_own else "headline"])


@register.filter
def markdown(text: str) -> SafeString:
    """Render Markdown, without HTML and images."""
    return SafeString(markdown_html(text))


@register.filter(is_safe=True)
def trimmed(text: str) -> str:
    """Remove the white space around a slot, which a `<pre>` would show."""
    return text.strip()


@register.filter
def css_class(value: str, kind: str) -> str:
    """Return the class that colours a value of a kind: {{ message.level_tag|css_class:"message" }}."""
    classes, other = _CLASSES[kind]
    return classes.get(value, other)


@register.filter
def purpose(scopes: Sequence[str]) -> str:
    """Return what a token with these scopes is for, in the active language, or ""."""
    found = (p.title for p in token_presets() if sorted(p.scopes) == sorted(scopes))
    return translated(next(found, ""))


@register.filter
def as_json(value: Any) -> str:
    """Return a value as JSON for a data attribute, which the template escapes."""
    return orjson.dumps(value).decode()


@register.filter
def bare(field: Any, is_focused: object = False) -> SafeString:
    """Render an allauth field without its placeholder, which repeats the label."""
    attrs = {"placeholder": False, **({"autofocus": True} if is_focused else {})}
    return SafeString(field.as_widget(attrs=attrs))


@register.filter
def amount(value: Any, unit: str = "") -> str:
    """Format a number with its unit: "12.5 GiB", "4 cores", "3 GPUs"."""
    if value is None:
        return "–"
    if unit == "bytes":
        return size(value)
    if unit == "ratio":
        return percent(value)
    return translated(counted(f"{value:g}", unit))


@register.filter
def hours(value: float | None) -> str:
    """Format hours, with a tenth below ten: "0.6", "1,234"; "–" if they are unknown."""
    return "–" if value is None else floatformat(value, "1g" if 0 < value < 9.95 else "0g")


@register.filter
def percent(ratio: float | None) -> str:
    """Format a ratio from 0 to 1: "87%", or "–" if it is unknown."""
    return "–" if ratio is None else f"{ratio * 100:.0f}%"


@register.filter
def quantity(value: float | None, unit: str = "") -> str:
    """Format a measured value as charts do: "16 GiB", "50 k/s", "9,999", "1.19 kW", "3e-4"."""
    if value is None:
        return "–"
    if unit.startswith("bytes"):
        return f"{size(value)}{unit.removeprefix('bytes')}"
    if unit == "ratio":
        return percent(value)
    amount, prefix = float(f"{value:.3g}") if unit == "W" else float(value), ""
    if abs(amount) >= (1_000 if unit == "W" else 10_000):
        scale, prefix = next(
            (s, p) for s, p in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")) if abs(amount) >= s
        )
        amount /= scale
    digits = f"{amount:.3g}" if prefix or unit == "W" else f"{amount:.4g}"
    if "e" in digits or 0 < abs(amount) < 1e-3:
        digits = f"{amount:.2e}"
        mantissa, _e, exponent = digits.partition("e")
        digits = f"{float(mantissa):g}e{int(exponent)}"
    elif abs(amount) >= 1000:
        digits = f"{amount:,.0f}"
    gap = " " if prefix or (unit and not unit.startswith("/")) else ""
    return f"{digits}{gap}{prefix}{unit}"


@register.filter
def size(value: Any) -> str:
    """Format bytes in binary units."""
    for name, step in _STEPS:
        if abs(value) >= step:
            return f"{value / step:.1f}".removesuffix(".0") + f" {name}"
    return f"{value:g} B"


@register.filter
def code(text: Any) -> SafeString:
    """Escape a text and render what is between backticks as code."""
    parts = _QUOTED.split(str(text))
    return format_html_join(
        "",
        "{}",
        ((format_html("<code>{}</code>", p) if n % 2 else p,) for n, p in enumerate(parts)),
    )


@register.filter
def metric(value: Any) -> str:
    """Format the value of a curve: "0.4213", "1,705", "3e-4"."""
    if value is None or not isfinite(value):
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if value and abs(value) < 1e-3:
        number, _e, power = f"{value:.3e}".partition("e")
        return f"{float(number):g}e{int(power)}"
    return f"{value:.4g}"


@register.filter
def allocation(resources: dict[str, Any]) -> str:
    """Format the resources of a job: "4 CPU, 8 GiB, 2 H100"."""
    parts = [f"{floatformat(resources['cpus'], '-1')} CPU"]
    if resources.get("memory"):
        parts.append(size(resources["memory"]))
    if resources.get("gpus"):
        parts.append(f"{resources['gpus']} {gpu_text(resources.get('gpu_type') or 'gpu')}")
    return ", ".join(parts)


@register.filter
def node_counts(nodes: dict[str, int]) -> str:
    """Format the number of nodes in each state: "14 ready, 1 drained, 1 down"."""
    counts = [
        (nodes["drained"], pgettext("state of a node", "drained")),
        (nodes["down"], pgettext("state of a node", "down")),
    ]
    ready = f"{floatformat(nodes['ready'], '0g')} {pgettext('state of a node', 'ready')}"
    return ", ".join([ready, *(f"{n} {word}" for n, word in counts if n)])


@register.filter
def lines(values: Any) -> str:
    """Join values, ending each with a newline."""
    return "".join(f"{value}\n" for value in values)


@register.filter
def cells(gpus: Any) -> SafeString:
    """Render a node's GPUs as squares, those in use filled.

    One filter instead of a template, as a page shows hundreds.
    """
    return format_html_join(
        "",
        '<i class="{}" title="{}: {}"></i>',
        (("is-held" if g["is_held"] else "", g["index"], g["model"]) for g in gpus),
    )


@register.filter
def ago(value: Any) -> SafeString:
    """Render a relative time that updates in the page, with the absolute time on hover."""
    return _time(value, "ago")


@register.filter
def since(value: Any) -> SafeString:
    """Render the duration since a time, updating in the page."""
    return _time(value, "span")


@register.simple_tag
def expected_start(start: Any) -> SafeString:
    """Render when a job is expected to start; the page writes the time in the viewer's zone."""
    text, at = translated(start["text"]), start["at"]
    if at is None:
        return format_html("<span>{}</span>", text)
    return format_html('<time data-rel="clock" datetime="{}">{}</time>', at.isoformat(), text)


@register.simple_tag
def expected_in(start: Any) -> SafeString:
    """Render when a job is expected to start for a cell of a table: "in 2h 04m"."""
    text, at = translated(start["text"]), start["at"]
    if at is None:
        return format_html(
            '<span class="faint" title="{}">{}</span>',
            text,
            pgettext("part of a sentence", "unknown"),
        )
    if start["sureness"] == "now":
        return format_html("<span>{}</span>", pgettext("part of a sentence", "now"))
    shown = _time(at, "ago")
    if start["sureness"] == "not_before":
        shown = format_html(
            '{} <span class="faint">{}</span>', shown, pgettext("part of a sentence", "or later")
        )
    return format_html('<span title="{}">{}</span>', text, shown)


@register.filter
def until(value: Any) -> str:
    """Format the duration until a time: "2h 04m"."""
    return span(max((_instant(value) - clock.now()).total_seconds(), 0))


@register.filter
def between(start: Any, end: Any) -> str:
    """Format a duration: "2h 04m"."""
    if not start or not end:
        return ""
    return span((_instant(end) - _instant(start)).total_seconds())


@register.filter
def span(seconds: Any) -> str:
    """Format seconds: "4 s", "12 min", "2h 04m", "3d 02h"."""
    if isinstance(seconds, float) and 0.05 <= seconds < 10:
        return translated(Message("{n} s", context="text, workspaces", n=f"{seconds:.1f}"))
    return translated(span_text(seconds or 0))


@register.filter
def role(slug: str, kind: str) -> str:
    """Return the display name of a built-in organization ("org") or team role, else the slug."""
    return translated(role_facts(kind, slug, {}).title)


@register.filter
def get(mapping: dict[str, Any], key: str) -> Any:
    """Look up a key that is not an identifier."""
    return mapping.get(key) or {"value": None}


@register.filter
def gpu_name(kind: str) -> str:
    """Format a class of GPUs: "H100", "MIG 1g.10gb"."""
    return gpu_text(kind)


@register.filter
def class_name(resource: str) -> str:
    """Return the label of a meter: "CPU", "H100", "Memory"."""
    kind, _dot, model = resource.partition(".")
    if model:
        return gpu_text(model)
    return {
        "cpu": "CPU",
        "gpu": "GPU",
        "memory": pgettext("text, workspaces, RAM", "Memory"),
        "jobs": pgettext("text, workspaces", "Jobs"),
        "gpu-hours": pgettext("text, workspaces", "GPU h"),
        "storage": pgettext("text, workspaces", "Logs"),
    }.get(kind, kind)


@register.simple_tag
def fill_class(quota: dict[str, Any]) -> str:
    """Return the colour class of a meter by its usage."""
    share = quota["used"] / quota["limit"] if quota["limit"] else 1
    return "is-full" if share >= 1 else "is-high" if share >= 0.8 else ""


def _time(value: Any, kind: str) -> SafeString:
    if not value:
        return SafeString("")
    at = _instant(value)
    return format_html(
        '<time data-rel="{}" datetime="{}">{}</time>',
        kind,
        at.isoformat(),
        at.strftime("%Y-%m-%d %H:%M UTC"),
    )


def _instant(value: Any) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)
