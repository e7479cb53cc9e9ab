"""Parse heads of HTTP/1 messages strictly, and rewrite them on their way through the gateway.

Whatever two programs could understand differently is refused: a second Content-Length, one beside
Transfer-Encoding, folded lines, bare line feeds, spaces before a colon. h11 accepts less than half
of the requests per second (docs/design/gateway.md), and would hide the header names as sent.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_HEAD = 64 << 10  # bytes of a head, with its end
MAX_HEADERS = 128
END = b"\r\n\r\n"
TOKEN_PREFIX = b"mst_"  # of access tokens of the portal
# All lines of a head after the first, each with the CRLF before it.
_LINES = re.compile(rb"(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*)*")
_REQUEST = re.compile(rb"([A-Z][A-Z-]{0,31}) (/[!-~\x80-\xff]*) HTTP/1\.([01])")
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: ([^\x00-\x08\x0a-\x1f\x7f]*))?")
_LENGTH = re.compile(rb"[0-9]{1,18}")
# Names of cookies of the portal and of the gateway, which no app sees or sets.
_OUR_COOKIE = re.compile(rb"(__(host|secure)-)?muster_", re.IGNORECASE)
_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer"
    b" upgrade http2-settings".split()
)
# A `Connection` header cannot make the gateway drop these.
_KEPT = frozenset(b"content-length transfer-encoding host cookie authorization".split())
# Written by the gateway alone: what the client says about itself is not evidence.
_FORGED = (
    *(b"x-forwarded-", b"forwarded", b"x-real-ip", b"x-original-", b"x-rewrite-url"),
    b"x-muster-",
)
# Orders to nginx, or about the whole host; never passed on.
_NOT_FROM_APPS = (b"x-accel-", b"x-sendfile", b"strict-transport-security", b"alt-svc")
_OF_AN_ORIGIN = frozenset(
    b"service-worker-allowed clear-site-data access-control-allow-origin referrer-policy".split()
)


class Header(NamedTuple):
    """One header: its name in lower case, its line as sent without the line end, its value."""

    name: bytes
    line: bytes
    value: bytes


class BadHead(Exception):
    """The head cannot be understood in exactly one way. `status` is for the client."""

    def __init__(self, why: str, status: int = 400):
        super().__init__(why)
        self.status = status


@dataclass(slots=True)
class MessageHead:
    """A request (`method`, `target`) or a response (`status`, `reason`)."""

    headers: list[Header]
    is_1_1: bool
    method: bytes = b""
    target: bytes = b""
    status: int = 0
    reason: bytes = b""
    length: int | None = None  # Content-Length
    is_chunked: bool = False

    def get(self, name: bytes) -> bytes:
        """Return the value of the first header of this name (lower case), or b""."""
        for header in self.headers:
            if header.name == name:
                return header.value
        return b""

    @property
    def is_upgrade(self) -> bool:
        """Return whether the client asks for another protocol, such as a websocket."""
        return bool(self.get(b"upgrade")) and b"upgrade" in _tokens(self.get(b"connection"))

    @property
    def is_persistent(self) -> bool:
        """Return whether the sender keeps the connection open after this message."""
        options = _tokens(self.get(b"connection"))
        return b"close" not in options if self.is_1_1 else b"keep-alive" in options

    @property
    def has_body(self) -> bool:
        return self.is_chunked or bool(self.length)

    @property
    def wants_page(self) -> bool:
        """Return whether a browser shows the answer as a page."""
        mode = self.get(b"sec-fetch-mode")
        return (
            self.method in (b"GET", b"HEAD")
            and mode in (b"", b"navigate")
            and b"text/html" in self.get(b"accept")
        )


@dataclass(frozen=True, slots=True)
class PublicLocation:
    """What the gateway says of itself to an app: how the client reached it.

    `prefix` is the path below which the app is found; empty if it has an origin of its own. `access` is
    `read` for those who may only look.
    """

    client: bytes
    scheme: bytes
    prefix: bytes = b""
    access: bytes = b""


def parse_request(data: bytes) -> MessageHead:
    """Parse a head with its END. Raises BadHead."""
    first, headers = _headers(data)
    found = _REQUEST.fullmatch(first)
    if not found:
        raise BadHead("The request line is not `METHOD /path HTTP/1.1`.")
    head = MessageHead(headers, found[3] == b"1", method=found[1], target=found[2])
    _set_framing(head)
    if sum(header.name == b"host" for header in headers) != 1:
        raise BadHead("The request needs exactly one Host.")
    return head


def parse_response(data: bytes) -> MessageHead:
    """Parse a head with its END. Raises BadHead."""
    first, headers = _headers(data)
    found = _STATUS.fullmatch(first)
    if not found:
        raise BadHead("The status line is not `HTTP/1.1 200 OK`.")
    head = MessageHead(headers, found[1] == b"1", status=int(found[2]), reason=found[3] or b"")
    _set_framing(head)
    return head


def _headers(data: bytes) -> tuple[bytes, list[Header]]:
    end = data.index(b"\r\n")
    if not _LINES.fullmatch(data, end, len(data) - len(END)):
        raise BadHead("A header is not `Name: value` on one line.")
    first, *lines = data[: -len(END)].split(b"\r\n")
    if len(lines) > MAX_HEADERS:
        raise BadHead(f"There are more than {MAX_HEADERS} headers.", 431)
    headers = []
    for line in lines:
        name, _, value = line.partition(b":")
        headers.append(Header(name.lower(), line, value.strip(b" \t")))
    return first, headers


def _set_framing(head: MessageHead) -> None:
    """Read how long the body is. Raises BadHead for whatever leaves a doubt."""
    for name, _line, value in head.headers:
        if name == b"content-length":
            if head.length is not None or not _LENGTH.fullmatch(value):
                raise BadHead("Content-Length must be one number.")
            head.length = int(value)
        elif name == b"transfer-encoding":
            if head.is_chunked or value.lower() != b"chunked" or not head.is_1_1:
                raise BadHead("Transfer-Encoding must be `chunked`.", 501)
            head.is_chunked = True
    if head.is_chunked and head.length is not None:
        raise BadHead("Content-Length and Transfer-Encoding exclude each other.")


def request_to_app(
    head: MessageHead, target: bytes, place: PublicLocation, authorization: bytes = b""
) -> bytes:
    """Return the head that the app gets: without our cookies and tokens, with who asked how.

    `authorization` is sent unless the client has one for the app.
    """
    skipped = _named_in_connection(head)
    lines = [b"%b %b HTTP/1.%d" % (head.method, target, head.is_1_1)]
    for header in head.headers:
        name = header.name
        if name in _HOP or name in skipped or name.startswith(_FORGED):
            continue
        if name == b"sec-websocket-extensions":
            continue  # compressed frames could not be counted (`portal.gateway.person`)
        if name == b"cookie":
            if kept := _foreign_cookies(header.value):
                lines.append(b"Cookie: " + kept)
        elif name != b"authorization":
            lines.append(header.line)
        elif token_in(header.value) is None:
            lines.append(header.line)
            authorization = b""
    if authorization:
        lines.append(b"Authorization: " + authorization)
    lines += _about(place)
    if head.is_upgrade:
        lines += [b"Connection: Upgrade", b"Upgrade: " + head.get(b"upgrade")]
    elif not head.is_1_1:
        lines.append(b"Connection: close")
    return b"\r\n".join(lines) + END


def _about(place: PublicLocation) -> list[bytes]:
    """Return the lines that tell an app who asked how."""
    return [
        *(b"X-Forwarded-For: " + place.client, b"X-Forwarded-Proto: " + place.scheme),
        *([b"X-Forwarded-Prefix: " + place.prefix] if place.prefix else ()),
        *([b"X-Muster-Access: " + place.access] if place.access else ()),
    ]


def response_to_client(
    head: MessageHead, place: PublicLocation, extra: Sequence[bytes], *, is_kept: bool
) -> bytes:
    """Return the head that the client gets. `extra` are lines that the gateway adds."""
    skipped = _named_in_connection(head)
    lines = [b"HTTP/1.1 %d %b" % (head.status, head.reason)]
    for header in head.headers:
        name = header.name
        if name in _HOP or name in skipped or name.startswith(_NOT_FROM_APPS):
            continue
        if place.prefix and name in _OF_AN_ORIGIN:
            continue
        if name == b"set-cookie":
            if cookie := _confined(header.value, place.prefix):
                lines.append(b"Set-Cookie: " + cookie)
        elif name == b"location" and place.prefix and _is_path(header.value):
            lines.append(b"Location: " + place.prefix + header.value)
        else:
            lines.append(header.line)
    lines += extra
    if head.status == 101:
        lines += [b"Connection: Upgrade", b"Upgrade: " + head.get(b"upgrade")]
    else:
        lines.append(b"Connection: keep-alive" if is_kept else b"Connection: close")
    return b"\r\n".join(lines) + END


def token_in(authorization: bytes) -> str | None:
    """Return the portal's token in an Authorization header, also as a password; else None."""
    kind, _, value = authorization.partition(b" ")
    value = value.strip()
    if kind.lower() == b"bearer":
        return value.decode("latin1") if value.startswith(TOKEN_PREFIX) else None
    if kind.lower() != b"basic":
        return None
    try:
        password = base64.b64decode(value, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return None
    return password.decode("latin1") if password.startswith(TOKEN_PREFIX) else None


def cookie_in(head: MessageHead, name: bytes) -> str:
    """Return the value of a cookie, or "" also if it is there twice."""
    found = [
        value.strip()
        for header in head.headers
        if header.name == b"cookie"
        for key, _, value in (pair.partition(b"=") for pair in header.value.split(b";"))
        if key.strip() == name
    ]
    return found[0].decode("latin1") if len(found) == 1 else ""


def _tokens(value: bytes) -> Collection[bytes]:
    return [part.strip().lower() for part in value.split(b",")] if value else ()


def _named_in_connection(head: MessageHead) -> frozenset[bytes]:
    return frozenset(_tokens(head.get(b"connection"))) - _KEPT


def _foreign_cookies(value: bytes) -> bytes:
    pairs = (pair.strip() for pair in value.split(b";"))
    return b"; ".join(pair for pair in pairs if pair and not _OUR_COOKIE.match(pair))


def _confined(value: bytes, prefix: bytes) -> bytes:
    """Return a cookie that only its own app gets back, or b"" if it must not be set at all."""
    pair, *attributes = (part.strip() for part in value.split(b";"))
    if _OUR_COOKIE.match(pair):
        return b""
    kept, path = [pair], b""
    for attribute in attributes:
        name, _, given = attribute.partition(b"=")
        match name.strip().lower():
            case b"domain":
                continue
            case b"path" if prefix:
                path = given.strip()
            case _:
                kept.append(attribute)
    if prefix:
        if pair.lower().startswith(b"__host-"):
            return b""  # such a cookie must be for the whole host
        inside = path if _is_path(path) else b"/"
        kept.append(b"Path=" + prefix + inside)
    return b"; ".join(kept)


def _is_path(value: bytes) -> bool:
    return value.startswith(b"/") and not value.startswith((b"//", b"/\\"))
