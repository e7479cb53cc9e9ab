"""Tell what a person does at an app from what an open tab does by itself.

A tab asks again and again, answers pings and opens its websockets again. A person opens pages, sends
forms and types. So what counts is a navigation that a person began, a request that changes something,
and a message to the app over a websocket, but not the first ones, with which a page takes up the
connection again, nor control frames, nor the 13 bytes with which VS Code says that it is there.
"""

from __future__ import annotations

from portal.gateway.heads import MessageHead

GREETING = 5.0  # seconds after its opening in which messages of a websocket are those of the page
_READS = (b"GET", b"HEAD", b"OPTIONS")
_CONTROL = 0x8  # opcodes from here on: close, ping, pong
_VSCODE_HEAD = (
    13  # bytes: a message of its protocol without content, type 3 (ack) or 9 (keep-alive)
)
_VSCODE_QUIET = (3, 9)


def is_by_person(head: MessageHead) -> bool:
    """Return whether a request comes from a person rather than from a timer of a page."""
    return head.method not in _READS or head.get(b"sec-fetch-user") == b"?1"


class Frames:
    """Reads the frames that a client sends over a websocket, but not their content."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._rest = 0  # bytes of the present frame that are still to come

    def feed(self, data: bytes) -> bool:
        """Return whether a message of a person begins in these bytes."""
        found, at = False, 0
        while at < len(data):
            if self._rest:
                used = min(self._rest, len(data) - at)
                self._rest -= used
                at += used
                continue
            self._head.append(data[at])
            at += 1
            if (frame := _frame(self._head)) is not None:
                size, first = frame
                is_message = size > 0 and self._head[0] & 0x0F < _CONTROL
                found |= is_message and first not in _VSCODE_QUIET
                self._rest = size if first is None else size - 1
                self._head.clear()
        return found


def _frame(head: bytearray) -> tuple[int, int | None] | None:
    """Return the size of a frame, and its first byte if it may be one of VS Code's; None: read on."""
    if len(head) < 2:
        return None
    short, is_masked = head[1] & 0x7F, bool(head[1] & 0x80)
    more = {126: 2, 127: 8}.get(short, 0)
    whole = 2 + more + (4 if is_masked else 0)
    may_be_quiet = short == _VSCODE_HEAD and is_masked
    if len(head) < whole + may_be_quiet:
        return None
    size = int.from_bytes(head[2 : 2 + more], "big") if more else short
    return size, head[whole] ^ head[2] if may_be_quiet else None
