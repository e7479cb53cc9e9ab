"""Show errors in a job file with the line and a caret, as compilers do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from muster.wording import clean


def shown_faults(name: str, text: str, faults: Sequence[Mapping[str, Any]]) -> str:
    """Format each fault as `file:line: field: message`, the source line and a caret."""
    return "\n".join(_shown(name, text.splitlines(), fault) for fault in faults)


def _shown(name: str, lines: list[str], fault: Mapping[str, Any]) -> str:
    at, field = fault.get("line"), str(fault.get("field") or "")
    message = ": ".join(filter(None, [field, clean(fault.get("message", ""))]))
    if not isinstance(at, int) or not 0 < at <= len(lines):
        return f"{name}: {message}"
    line = lines[at - 1].expandtabs(4)
    margin = f"{at:>5} | "
    start, width = _place(line, field, is_key="is not a known key" in message)
    return (
        f"{name}:{at}: {message}\n{margin}{clean_line(line)}\n{' ' * (len(margin) - 2)}| "
        f"{' ' * start}{'^' * width}"
    )


def _place(line: str, field: str, *, is_key: bool) -> tuple[int, int]:
    """Return start and width of the faulty value, the key if `is_key`, else the whole text."""
    key = re.split(r"[.\[]", field.rstrip("]"))[-1]
    found = re.search(rf"(?<![\w-])[\"']?{re.escape(key)}[\"']?\s*[:=]\s*", line) if key else None
    if found:
        value = re.match(r"[^,}\]#]*[^,}\]#\s]", line[found.end() :])
        if value and not is_key:
            return found.end(), len(value[0])
        return found.start(), len(re.split("[:=]", found[0])[0].rstrip())
    text = line.strip()
    return len(line) - len(line.lstrip()), max(len(text), 1)


def clean_line(line: str) -> str:
    """Replace each control character with a dot, keeping columns aligned."""
    return "".join(c if c.isprintable() else "·" for c in line)
