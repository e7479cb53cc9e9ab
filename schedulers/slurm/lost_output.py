"""Read what the recorder on the node could not write, and find the offsets of what it wrote. Pure.

To the portal the lost bytes are gaps of the output: an offset counts them, as if they were stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from portal.core.messages import Message

_CAUSES = {
    "ENOSPC": Message("the cluster's disk was full"),
    "EDQUOT": Message("a quota of the cluster's disk was exceeded"),
    "EROFS": Message("the cluster's disk was read-only"),
}


_UNCOUNTED = Message("there is no python3 on its node to count what the disk does not take")


@dataclass(frozen=True)
class LostOutput:
    """A gap before byte `at` of the file; `lines` counts line ends.

    With `is_open` it may still grow.
    """

    at: int
    size: int
    lines: int
    error: str
    is_open: bool = False

    @property
    def cause(self) -> Message:
        return _CAUSES.get(self.error) or Message(
            "the cluster's disk refused the output ({error})", error=self.error
        )

    @property
    def why(self) -> Message:
        if self.is_open or not self.lines:
            return self.cause
        return Message.plural(
            self.lines,
            "{cause}: {lines} line lost",
            "{cause}: {lines} lines lost",
            context="number of things",
            cause=self.cause,
            lines=f"{self.lines:,}",
        )


def parse_lost(text: str) -> tuple[LostOutput, ...] | None:
    """Parse what the recorder writes; None for an incomplete text, which it is writing."""
    *lines, last = text.strip(" \0\n").split("\n")
    if last not in ("open", "closed", "uncounted"):
        return None if lines or last else ()
    found = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if len(words) != 4 or not all(word.isdigit() for word in words[:3]):
            return None
        at, size, count = map(int, words[:3])
        is_open = last == "open" and number == len(lines)
        found.append(LostOutput(at, size, count, words[3], is_open))
    return tuple(found)


def why_uncounted(text: str) -> str:
    """Return why the job's script could not start the recorder, which counts lost output, or ""."""
    return _UNCOUNTED if text.strip(" \0\n").endswith("uncounted") else ""


def position(after: int, lost: Sequence[LostOutput]) -> tuple[int, int, int | None, str]:
    """Return where to read what follows offset `after`.

    The offset in the file, the offset to the portal, the offset in the file of the next gap, and why
    what lies between `after` and the second is lost.
    """
    skipped, why = 0, ""
    for gap in lost:
        start = gap.at + skipped
        if after < start:
            return after - skipped, after, gap.at, why
        skipped += gap.size
        if after < start + gap.size:
            after, why = start + gap.size, gap.why
    return after - skipped, after, None, why


def explain(lost: Sequence[LostOutput]) -> Message | None:
    """Return a sentence about lost output, or None if nothing was lost."""
    if not lost:
        return None
    cause, lines, size = lost[-1].cause, sum(g.lines for g in lost), sum(g.size for g in lost)
    if size <= len(lost):
        return Message("While it ran, {cause}. What it wrote may be incomplete.", cause=cause)
    return Message.plural(
        lines,
        "While it ran, {cause}: {lines} line ({size} bytes) of its output is lost, and files that "
        "it wrote may be incomplete.",
        "While it ran, {cause}: {lines} lines ({size} bytes) of its output are lost, and files that "
        "it wrote may be incomplete.",
        cause=cause,
        lines=f"{lines:,}",
        size=f"{size:,}",
    )
