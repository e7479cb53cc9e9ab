"""Read the XML of a WebDAV request, after bounding what it may cost.

WsgiDAV answers each name of a PROPFIND for each member of the folder, so both count.
"""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from django.http import HttpRequest

from portal.core.errors import InvalidInput, TooLarge
from portal.core.messages import Message

MOST_BYTES = 64 << 10
MOST_NAMES, MOST_DEPTH = 200, 8  # of elements
MOST_ANSWERS = 100_000  # names times members: 0.7 s of CPU
_USUAL = 12  # names that a request without a body asks for, or one for all names
_ALL = {"allprop", "name", "propname"}


class _Refused(Exception):
    """The XML has more than is read; the first argument says what."""


def read_xml(request: HttpRequest) -> bytes:
    """Return the body of a request that is no file. Raises InvalidInput, TooLarge."""
    is_long = int(request.META.get("CONTENT_LENGTH") or 0) > MOST_BYTES
    data = b"" if is_long else request.read(MOST_BYTES + 1)
    if is_long or len(data) > MOST_BYTES:
        raise TooLarge(
            Message("The body has more than {n} bytes of XML.", n=f"{MOST_BYTES:,}"),
        )
    _count(data)
    return data


def check_answer(data: bytes, members: int) -> None:
    """Raise TooLarge if a PROPFIND asks for too many properties of too many members."""
    names = _count(data) or _USUAL
    if names * members > MOST_ANSWERS:
        raise TooLarge(
            Message(
                "The folder has {members} entries and the request asks for {names} properties of "
                "each. Ask for fewer properties, or open a folder below.",
                members=f"{members:,}",
                names=names,
            )
        )


def _count(data: bytes) -> int:
    """Return the number of elements, one for all names as the usual ones.

    Raises InvalidInput for bad or excessive XML.
    """
    if not data.strip():
        return 0
    count = depth = 0

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal count, depth
        count, depth = count + 1 + len(attributes), depth + 1
        if depth == 2 and name.rpartition(":")[2] in _ALL:
            count += _USUAL
        if count > MOST_NAMES:
            raise _Refused(Message("The XML has more than {n} names.", n=MOST_NAMES))
        if depth > MOST_DEPTH:
            raise _Refused(Message("The XML is nested more than {n} levels deep.", n=MOST_DEPTH))

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*_: Any) -> None:
        raise _Refused(
            Message("The XML has a document type declaration (DOCTYPE), which is not allowed.")
        )

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except _Refused as error:
        raise InvalidInput(error.args[0]) from None
    except expat.ExpatError as error:
        raise InvalidInput(
            Message("The body is not valid XML: {error}", error=str(error))
        ) from None
    return count
