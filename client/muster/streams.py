"""Standard streams and text files in any encoding, so that no letter of a name stops a command."""

from __future__ import annotations

import codecs
import os
import sys
from pathlib import Path
from typing import TextIO

from muster.errors import InvalidInput


def prepare() -> None:
    """Make standard output and error write any text: what their encoding lacks is escaped."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def abandon_stdout() -> None:
    """Send what is left in standard output nowhere, so that the flush at exit cannot fail."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def is_unicode(stream: TextIO) -> bool:
    """Return whether a stream can write every character."""
    try:
        return codecs.lookup(stream.encoding or "ascii").name.startswith(("utf-8", "utf-16"))
    except (LookupError, AttributeError):
        return False


def read_text(path: str) -> str:
    """Return the UTF-8 text of a file, or of standard input for "-". Raises InvalidInput."""
    try:
        if path == "-" and not hasattr(sys.stdin, "buffer"):
            return sys.stdin.read()
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        why = error.strerror or str(error)
    except UnicodeDecodeError as error:
        why = f"byte {error.start + 1:,} is not UTF-8. Save the file as UTF-8"
    name = "standard input" if path == "-" else path
    raise InvalidInput(f"Cannot read {name}: {why}", code="unreadable")
