"""Parse what `scontrol show` prints about nodes, partitions and reservations. Pure.

Fields are read one by one. What a person wrote (a reason, a comment) may contain anything, also line
breaks and NAME=VALUE, and comes after all other fields: from there on it is text.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

log = logging.getLogger(__name__)

_TEXT = re.compile(r"\s(?:Reason|Comment|Extra)=")
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w:/]*)=(\S*)")
_OS = re.compile(r"\sOS=[^\n]*?(?=\sRealMemory=\d|\n|$)")  # contains spaces
_REASON = re.compile(r"\sReason=([^\n]*(?:\n {7,}[^\n]*)*)")  # of several lines
_STAMP = re.compile(r"\s\[[^\]\s]*@[^\]\s]*\](?=\s|$)")  # who wrote it, and when


def records(text: str, kind: str) -> list[dict[str, str]]:
    """Return the fields of each record of `scontrol show`, with or without --oneliner.

    `kind` is the name of the first field. Of several records with one name, the first counts.
    """
    found: dict[str, dict[str, str]] = {}
    for record in _split(text, kind):
        fields = _fields(record)
        if fields[kind] in found:
            log.warning("Slurm shows %s %r twice; the first is used.", kind, fields[kind][:80])
        found.setdefault(fields[kind], fields)
    return list(found.values())


def _split(text: str, kind: str) -> Iterator[str]:
    start = f"{kind}="
    head = next((line for line in text.splitlines() if line.startswith(start)), "")
    is_one_line = re.search(r" (?:State|Nodes)=", head)  # never in the first line of several
    parts = text.splitlines() if is_one_line else re.split(rf"\n\s*\n(?={start})", text)
    return (part for part in parts if part.startswith(start))


def _fields(record: str) -> dict[str, str]:
    start = _TEXT.search(record)
    plain, prose = (record[: start.start()], record[start.start() :]) if start else (record, "")
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(_OS.sub("", plain)):
        fields.setdefault(name, value)
    if reason := _REASON.match(prose):
        fields["Reason"] = _said(reason[1])
    return fields


def _said(text: str) -> str:
    """Return a reason without the stamp at the end of its first line, or of the only one."""
    first, *more = text.split("\n")
    stamps = list(_STAMP.finditer(first))
    if stamps:
        first = first[: stamps[-1].start()]
    return " ".join(" ".join([first, *more]).split())
