"""Find the end of HTTP bodies, so that the next bytes of a connection are judged as a new head."""

from __future__ import annotations

import re
from typing import Protocol

from portal.gateway.heads import BadHead, MessageHead

_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})(?:[ \t]*;[\t -~]*)?")
_TRAILER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*")
_MOST_LINE, _MOST_TRAILERS = 256, 8 << 10


class Framing(Protocol):
    """Of one body. `take` returns how many of the next bytes belong to it."""

    is_complete: bool

    def take(self, data: bytes) -> int:
        """Raises BadHead if the body is not well-formed."""


class Counted:
    """A body with Content-Length; none with 0."""

    def __init__(self, length: int):
        self._left = length
        self.is_complete = not length

    def take(self, data: bytes) -> int:
        used = min(len(data), self._left)
        self._left -= used
        self.is_complete = not self._left
        return used


class UntilClose:
    """A body that ends with the connection."""

    is_complete = False

    def take(self, data: bytes) -> int:
        return len(data)


class Chunked:
    """A body with Transfer-Encoding: chunked, passed on as it is."""

    def __init__(self) -> None:
        self.is_complete = False
        self._left = 0  # bytes of the chunk that are still to come, with its line end
        self._line = b""  # the beginning of a line
        self._is_trailer = False
        self._trailers = 0

    def take(self, data: bytes) -> int:
        at = 0
        while at < len(data) and not self.is_complete:
            if self._left:
                at = self._in_chunk(data, at)
                continue
            end = data.find(b"\n", at)
            part = data[at : end + 1] if end >= 0 else data[at:]
            at += len(part)
            self._line += part
            if len(self._line) > (_MOST_TRAILERS if self._is_trailer else _MOST_LINE):
                raise BadHead("A line of a chunked body is too long.")
            if end >= 0:
                line, self._line = self._line, b""
                self._read(line)
        return at

    def _in_chunk(self, data: bytes, at: int) -> int:
        """Pass the data of a chunk and the CRLF after it, which must be there."""
        used = min(len(data) - at, self._left)
        for place in range(max(0, 2 - self._left), 2):  # of the bytes \r\n that `used` reaches
            offset = at + self._left - 2 + place
            if at <= offset < at + used and data[offset] != b"\r\n"[place]:
                raise BadHead("A chunk is longer than its size.")
        self._left -= used
        return at + used

    def _read(self, line: bytes) -> None:
        if not line.endswith(b"\r\n"):
            raise BadHead("A line of a chunked body ends without CRLF.")
        line = line[:-2]
        if self._is_trailer:
            self._trailers += len(line)
            if (line and not _TRAILER.fullmatch(line)) or self._trailers > _MOST_TRAILERS:
                raise BadHead("The trailer of a chunked body is not well-formed.")
            self.is_complete = not line
            return
        found = _SIZE.fullmatch(line)
        if not found:
            raise BadHead("The size of a chunk is not a number.")
        size = int(found[1], 16)
        self._is_trailer = not size
        self._left = size + 2 if size else 0


def request_framing(head: MessageHead) -> Framing:
    return Chunked() if head.is_chunked else Counted(head.length or 0)


def response_framing(head: MessageHead, method: bytes) -> Framing:
    """Return how the body of a response to `method` ends."""
    if method == b"HEAD" or head.status in (204, 304) or head.status < 200:
        return Counted(0)
    if head.is_chunked:
        return Chunked()
    return UntilClose() if head.length is None else Counted(head.length)
