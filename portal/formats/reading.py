"""Read bytes of untrusted files within limits."""

from __future__ import annotations

import struct
from typing import IO, Any

MAX_STEPS = 2_000_000  # values read from one header
LARGEST_READ = 16 << 20  # bytes in memory at once
_SKIP_PIECE = 1 << 20


class Damaged(ValueError):
    """The file is damaged, or its header is too large to be read; the text says which."""


class Window:
    """A file of `size` bytes that refuses to read beyond its end, too much or too often.

    `budget` limits the bytes that are passed, for compressed files whose seeks decompress.
    """

    def __init__(
        self,
        file: IO[bytes],
        size: int,
        *,
        budget: int | None = None,
        is_seekable: bool = True,
    ):
        self._file, self.size, self.position = file, size, 0
        self._budget, self._steps, self._is_seekable = budget, MAX_STEPS, is_seekable

    @property
    def left(self) -> int:
        return self.size - self.position

    def step(self) -> None:
        """Count one value. Raises Damaged beyond the limit."""
        self._steps -= 1
        if self._steps < 0:
            raise Damaged("The header has too many values to be read.")

    def read(self, number: int) -> bytes:
        """Return exactly that many bytes. Raises Damaged."""
        self.step()
        self._pass(number)
        if number > LARGEST_READ:
            raise Damaged("The header is too large to be read.")
        data = self._file.read(number)
        if len(data) != number:
            raise Damaged("The file ends too early.")
        return data

    def skip(self, number: int) -> None:
        """Pass bytes without keeping them. Raises Damaged."""
        self.step()
        self._pass(number)
        if self._is_seekable:
            self._file.seek(number, 1)
            return
        while number > 0:
            data = self._file.read(min(number, _SKIP_PIECE))
            if not data:
                raise Damaged("The file ends too early.")
            number -= len(data)

    def line(self, longest: int) -> bytes:
        """Return the bytes up to a newline, which is passed as well. Raises Damaged."""
        self.step()
        data = self._file.readline(longest + 1)
        if not data.endswith(b"\n"):
            raise Damaged("The file ends too early, or has a line that is too long.")
        self._pass(len(data))
        return data[:-1]

    def unpack(self, form: str) -> Any:
        """Return one number of a `struct` format. Raises Damaged."""
        return struct.unpack(form, self.read(struct.calcsize(form)))[0]

    def _pass(self, number: int) -> None:
        if number < 0 or number > self.left:
            raise Damaged("The file ends too early.")
        if self._budget is not None:
            self._budget -= number
            if self._budget < 0:
                raise Damaged("The file is too large to be read.")
        self.position += number


def text_of(data: bytes, longest: int = 500) -> str:
    """Return bytes as printable text, cut."""
    text = data[: longest * 4].decode("utf-8", errors="replace")[:longest]
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
