"""Receive and send files: bodies of uploads in pieces, and downloads with byte ranges."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse, UnreadablePostError
from django.utils.http import content_disposition_header

from portal.blobs.store import file_store
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.protocols import BODY

PIECE = 256 << 10
LONGEST_LINE = 1 << 20  # bytes
# Internal locations of nginx, see portal/process/nginx.py: stored files, and those of workspaces.
ACCELERATED, ACCELERATED_FOLDERS = "/_files/", "/_workspaces/"
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z")
# Types that browsers show without running anything; all others are downloads.
SAFE_TYPES = frozenset(
    {
        *(f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp", "avif", "bmp")),
        *("audio/mpeg", "audio/ogg", "audio/x-wav", "audio/flac"),
        *("video/mp4", "video/webm", "video/ogg"),
    }
)
_TEXT = re.compile(r"text/|application/(json|x-?yaml|toml|xml|javascript|x-sh)\Z")


@dataclass(frozen=True)
class Download:
    """A file to send.

    `pieces(start, end)` returns its bytes of a range. `accelerated` is its path below the
    `location` of nginx that sends it, "" if there is none. `url(headers)` is an address that sends
    it with these headers to anybody, "" if none does. `tag` says when a file without `sha256` has
    changed. `is_shown`: browsers show it, sandboxed, if its type is safe.
    """

    name: str
    size: int
    sha256: str
    pieces: Callable[[int, int], Iterator[bytes]]
    accelerated: str = ""
    location: str = ACCELERATED
    tag: str = ""
    is_shown: bool = False
    url: Callable[[dict[str, str]], str] | None = None


def stored_file(
    org_id: UUID, *, name: str, size: int, sha256: str, is_shown: bool = False
) -> Download:
    """Return a file of `portal.blobs.files` to send."""
    store = file_store()
    return Download(
        name=name,
        size=size,
        sha256=sha256,
        pieces=lambda start, end: store.read(org_id, sha256, start, end),
        accelerated=store.accelerated(org_id, sha256),
        is_shown=is_shown,
        url=lambda headers: store.url(org_id, sha256, headers),
    )


def account_body_to(request: HttpRequest, who: Callable[[], str]) -> None:
    """Let somebody send a large body: `who` returns them when it is read, "" for a stranger."""
    if (stream := request.META.get(BODY)) is not None:
        stream.who = who


def announced_size(request: HttpRequest) -> int | None:
    """Return the Content-Length of a request, or None."""
    if (stream := request.META.get(BODY)) is not None:
        return stream.announced  # type: ignore[no-any-return]
    text = request.META.get("CONTENT_LENGTH") or ""
    return int(text) if text.isdecimal() else None


def body_chunks(request: HttpRequest) -> Iterator[bytes]:
    """Return the body of an upload in pieces. Raises InvalidInput if the client leaves."""
    try:
        while data := request.read(PIECE):
            yield data
    except UnreadablePostError as error:
        raise InvalidInput(
            Message("The upload was interrupted. Send the file again."), code="incomplete"
        ) from error


def lines_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Return the lines of a body that are not empty. Raises InvalidInput for one beyond 1 MiB.

    `readline` of servers returns parts of lines, or nothing before all came.
    """
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line for line in lines if line.strip())
        if len(rest) > LONGEST_LINE:
            raise InvalidInput(Message("A line of the body is too long."), code="not_json")
    if rest.strip():
        yield rest


def first_line_of(pieces: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the first line of a body, and the bytes after it. Raises InvalidInput beyond 1 MiB."""
    source, line = iter(pieces), b""
    while b"\n" not in line and (piece := next(source, b"")):
        line += piece
        if len(line) > LONGEST_LINE + PIECE:
            break
    line, _end, rest = line.partition(b"\n")
    if len(line) > LONGEST_LINE:
        raise InvalidInput(Message("A line of the body is too long."), code="not_json")
    return line, chain([rest] if rest else [], source)


def content_type_of(name: str) -> str:
    """Return the type with which a file is sent: text is plain, so that no browser runs it."""
    kind, encoding = mimetypes.guess_type(name, strict=False)
    if kind is None or encoding:
        return "application/octet-stream"
    if _TEXT.match(kind) and not kind.startswith("text/html"):
        return "text/plain; charset=utf-8"
    return kind if kind in SAFE_TYPES else "application/octet-stream"


def attachment(body: str | bytes, kind: str, name: str) -> HttpResponse:
    """Return a response with a small file that was made for it, as a download."""
    return HttpResponse(body, content_type=kind, headers=_download_headers(name))


def streamed_attachment(pieces: Iterator[bytes], kind: str, name: str) -> StreamingHttpResponse:
    """Return a response with a file that is made while it is sent, as a download."""
    return StreamingHttpResponse(pieces, content_type=kind, headers=_download_headers(name))


def _download_headers(name: str) -> dict[str, str]:
    return {
        "Content-Disposition": content_disposition_header(True, name) or "attachment",
        "Cache-Control": "private, no-cache",
        "X-Content-Type-Options": "nosniff",
    }


def send_file(request: HttpRequest, file: Download) -> HttpResponse | StreamingHttpResponse:
    """Return a response with the file, or with the range that the request asks for.

    In server mode nginx sends the bytes, with ranges of its own. An object store does that for
    clients that follow a redirect to its address, which scripts and images of pages cannot.
    """
    kind = content_type_of(file.name)
    is_shown = file.is_shown and kind != "application/octet-stream"
    headers = {
        "Content-Type": kind,
        "Content-Disposition": content_disposition_header(not is_shown, file.name.split("/")[-1])
        or "inline",
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
    if file.accelerated and settings.MUSTER_ACCEL:
        return HttpResponse(
            headers={**headers, "X-Accel-Redirect": file.location + file.accelerated}
        )
    if file.url and not is_shown and request.headers.get("Sec-Fetch-Dest") in (None, "document"):
        names = ("Content-Type", "Content-Disposition")
        if address := file.url({name: headers[name] for name in names}):
            moved = {"Location": address, "Cache-Control": "private, no-store"}
            return HttpResponse(status=302, headers=moved)
    headers["ETag"] = etag = f'"{file.sha256 or file.tag}"'
    if etag in request.headers.get("If-None-Match", ""):
        return HttpResponse(status=304, headers=headers)
    start, end, status = _range(request, file.size, etag)
    if status == 416:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{file.size}"})
    if status == 206:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
    headers["Content-Length"] = str(end - start)
    return StreamingHttpResponse(file.pieces(start, end), status=status, headers=headers)


def _range(request: HttpRequest, size: int, etag: str) -> tuple[int, int, int]:
    """Return start, end and status. Several ranges, and malformed ones, are answered in full."""
    found = _RANGE.match(request.headers.get("Range", "").replace(" ", ""))
    if not found or not any(found.groups()) or request.headers.get("If-Range", etag) != etag:
        return 0, size, 200
    first, last = found.groups()
    if not first:
        start, end = max(size - int(last), 0), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
    if start >= size or (last and first and int(last) < start):
        return (0, size, 416) if start >= size else (0, size, 200)
    return start, end, 206
