"""What a job's state says of its source and its age (jobs.present, in English), in the reader's language: "running, Slurm says so, 4 s ago"."""

from __future__ import annotations

import re

from django.utils.translation import gettext, pgettext

from portal.languages.vocabulary import STATES

_STATE, _TIME = rf"(?P<state>{'|'.join(STATES)})", r"(?:(?:(?P<d>\d+)d )?(?P<h>\d+)h(?: (?P<m>\d+)m)?|(?P<min>\d+) min|(?P<s>\d+) s)"
_SINCE, _OVER = re.compile(rf"{_STATE}, for {_TIME}"), re.compile(rf"{_STATE}, {_TIME} ago")
_HEARD = re.compile(rf"{_STATE}, (?P<who>[^,]+) says so, {_TIME} ago")
_SILENT = re.compile(rf"unknown, cluster (?P<who>\S+) silent for {_TIME}, last seen {_STATE}")


def told(text: str) -> str | None:
    """None for what is no such text."""
    for shape, said in ((_SINCE, pgettext("state", "{state}, for {time}")), (_OVER, pgettext("state", "{state}, {time} ago")),
                        (_HEARD, pgettext("state", "{state}, {who} says so, {time} ago")),
                        (_SILENT, pgettext("state", "unknown, cluster {who} silent for {time}, last seen {state}"))):
        if match := shape.fullmatch(text):
            parts = match.groupdict()
            who = gettext(parts["who"]) if "who" in parts else ""
            return said.format(state=gettext(parts["state"]), who=who, time=_time(parts))
    return None


def _time(parts: dict[str, str | None]) -> str:
    if parts["s"]:
        return pgettext("js", "{n} s").format(n=parts["s"])
    if parts["min"]:
        return pgettext("js", "{n} min").format(n=parts["min"])
    if parts["d"]:
        return pgettext("js", "{d}d {h}h").format(d=parts["d"], h=parts["h"])
    return pgettext("js", "{h}h {m}m").format(h=parts["h"], m=parts["m"])
