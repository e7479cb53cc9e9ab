"""What a job's state says of its source and its age (jobs.representations, in English), in the reader's language: "running, Slurm says so, 4 s ago"."""

from __future__ import annotations

import re

from django.utils.translation import gettext, pgettext

from portal.languages.amounts import span
from portal.languages.vocabulary import STATES

_STATE, _TIME = (
    rf"(?P<state>{'|'.join(STATES)})",
    r"(?:(?:(?P<d>\d+)d )?(?P<h>\d+)h(?: (?P<m>\d+)m)?|(?P<min>\d+) min|(?P<s>\d+) s)",
)
_SINCE, _OVER = re.compile(rf"{_STATE}, for {_TIME}"), re.compile(rf"{_STATE}, {_TIME} ago")
_HEARD = re.compile(rf"{_STATE}, (?P<who>[^,]+) says so, {_TIME} ago")
_SILENT = re.compile(rf"unknown, cluster (?P<who>\S+) silent for {_TIME}, last seen {_STATE}")


def told(text: str) -> str | None:
    """None for what is no such text."""
    for shape, said in (
        (_SINCE, pgettext("state", "{state}, for {time}")),
        (_OVER, pgettext("state", "{state}, {time} ago")),
        (_HEARD, pgettext("state", "{state}, {who} says so, {time} ago")),
        (_SILENT, pgettext("state", "unknown, cluster {who} silent for {time}, last seen {state}")),
    ):
        if match := shape.fullmatch(text):
            parts = match.groupdict()
            who = gettext(parts["who"]) if "who" in parts else ""
            return said.format(state=gettext(parts["state"]), who=who, time=span(parts))
    return None
