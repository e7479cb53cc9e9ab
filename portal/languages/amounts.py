"""Amounts and spans as `portal.core.formatting` and the filter `amount` write them in English, in the reader's language: "4 cores", "49 min"."""

from __future__ import annotations

import re

from django.utils.translation import pgettext

_COUNTED = re.compile(
    r"(?P<n>[\d.,]+) (?P<unit>core|GPU-hour|GPU|node|pod|running job|job)s?(?: \((?P<model>[^()]+)\))?"
)
_SPAN = re.compile(
    r"(?:(?:(?P<d>\d+)d )?(?P<h>\d+)h(?: (?P<m>\d+)m)?|(?P<min>\d+) min|(?P<s>\d+) s)"
)


def told(text: str) -> str | None:
    """None for what is no such text."""
    if counted := _COUNTED.fullmatch(text):
        said = _unit(counted["unit"]).format(n=counted["n"])
        return f"{said} ({counted['model']})" if counted["model"] else said
    return span(found.groupdict()) if (found := _SPAN.fullmatch(text)) else None


def _unit(unit: str) -> str:
    match unit:
        case "core":
            return pgettext("amount", "{n} cores")
        case "GPU":
            return pgettext("amount", "{n} GPUs")
        case "GPU-hour":
            return pgettext("amount", "{n} GPU-hours")
        case "pod":
            return pgettext("amount", "{n} pods")
        case "node":
            return pgettext("amount", "{n} nodes")
        case "job":
            return pgettext("amount", "{n} jobs")
    return pgettext("amount", "{n} running jobs")


def span(parts: dict[str, str | None]) -> str:
    """From the groups of a pattern: `s`, or `min`, or `h` with `m` or `d`."""
    if parts["s"]:
        return pgettext("js", "{n} s").format(n=parts["s"])
    if parts["min"]:
        return pgettext("js", "{n} min").format(n=parts["min"])
    if parts["d"]:
        return pgettext("js", "{d}d {h}h").format(d=parts["d"], h=parts["h"])
    return pgettext("js", "{h}h {m}m").format(h=parts["h"], m=parts["m"])
