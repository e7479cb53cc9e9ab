"""Test middleware that removes template whitespace, so that tests can match markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_KEPT = re.compile(r"(<(pre|textarea|script)\b(?:\"[^\"]*\"|[^>\"])*>)(.*?)(?=</\2>)", re.DOTALL)
_BLOCKS = (
    "a|article|aside|body|button|div|dl|dt|dd|details|dialog|fieldset|footer|form|h[1-6]|head|header|html|input|label|"
    "legend|li|link|main|meta|nav|ol|optgroup|option|p|pre|script|section|select|summary|svg|table|tbody|td|textarea|"
    "tfoot|th|thead|title|tr|ul"
)
_LINES = re.compile(r"\s*\n\s*")
_BLOCK = re.compile(rf"</?(?:{_BLOCKS})\b")
_TAG = re.compile(r"<\w(?:\"[^\"]*\"|[^>\"])*>")
_LOOSE = re.compile(r"\s\s|\s>|[^\S ]")  # few tags have it, so most are left as they are


def _tight(tag: re.Match[str]) -> str:
    text = tag[0]
    if not _LOOSE.search(text):
        return text
    return re.sub(r"\s+(?=>)", "", re.sub(r"\s+", " ", text))


def _between(lines: re.Match[str]) -> str:
    """Return what a browser shows for the end of a line between two words or tags."""
    html, start, end = lines.string, lines.start(), lines.end()
    if _BLOCK.match(html, end):
        return ""
    if html[start - 1 : start] != ">":
        return "" if html.startswith("</", end) else " "
    tag = html.rfind("<", 0, start)
    is_opening = html[tag + 1].isalpha() and not html.startswith("<", end)
    return "" if is_opening or _BLOCK.match(html, tag) else " "


def squeezed(html: str) -> str:
    """Return the page without insignificant whitespace."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[3])
        return f"{found[1]}\x00"

    html = _KEPT.sub(keep, html)
    html = _LINES.sub(_between, _TAG.sub(_tight, html))
    return re.sub("\x00", lambda _: kept.pop(0), html)


class Squeeze:
    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> Any:
        response = self.get_response(request)
        if not response.streaming and response.headers.get("Content-Type", "").startswith(
            "text/html"
        ):
            response.content = squeezed(response.content.decode())
        return response
