"""Files at HTTP(S) addresses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

import requests

from datasets.imports.source import Restarted, SourceFile, not_allowed, refused, trusted_hosts
from portal.core.errors import InvalidInput, Unavailable
from portal.core.messages import Message
from portal.core.outbound import (
    AddressRefused,
    EncryptionRequired,
    OutboundPolicy,
    RequestRefused,
    Session,
)

LARGEST_LISTING = 64 << 20  # bytes


class Fetching:
    """Requests to one place, with its token. Errors become words for a person."""

    def __init__(self, token: str = ""):
        trusted = trusted_hosts()
        self.session = Session(
            OutboundPolicy(
                is_plain=not token,
                trusted=trusted,
                plain=trusted,
                seconds=60,
                limit=LARGEST_LISTING,
                redirects=5,
                connections=8,
            )
        )
        if token:
            self.session.headers["Authorization"] = f"Bearer {token}"

    def get(self, url: str) -> requests.Response:
        """Return a whole answer."""
        with _explained(url):
            answer = self.session.get(url)
        self._check(answer, url)
        return answer

    def head(self, url: str) -> requests.Response:
        with _explained(url):
            return self.session.head(url, allow_redirects=True)

    def read(self, url: str, start: int, mark: str = "") -> Iterator[bytes]:
        """Open a file; see `ImportSource.read`."""
        pieces = self._read(url, start, mark)
        first = next(pieces, b"")

        def rest() -> Iterator[bytes]:
            yield first
            yield from pieces

        return rest()

    def _read(self, url: str, start: int, mark: str) -> Iterator[bytes]:
        headers = {"Range": f"bytes={start}-"} if start else {}
        if start and mark.startswith('"'):
            headers["If-Range"] = mark
        with _explained(url), self.session.streamed(url, headers) as answer:
            if start and answer.status_code in {200, 412, 416}:
                raise Restarted
            self._check(answer, url)
            found = answer.headers.get("Content-Range", "")
            if start and not found.startswith(f"bytes {start}-"):
                raise Restarted
            yield from self.session.pieces(answer)

    def _check(self, answer: requests.Response, url: str) -> None:
        if answer.status_code >= 400:
            at = urlsplit(url)
            raise refused(at.netloc, answer.status_code, at.path, answer.reason or "")

    def close(self) -> None:
        self.session.close()


class HttpSource:
    """Files, an address each."""

    def __init__(self, urls: list[str], token: str = ""):
        self._urls, self._fetching = urls, Fetching(token)

    def files(self) -> Iterator[SourceFile]:
        for url in self._urls:
            answer = self._fetching.head(url)
            is_known = answer.status_code == 200
            size = answer.headers.get("Content-Length", "") if is_known else ""
            mark = answer.headers.get("ETag", "") if is_known else ""
            name = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
            if not name:
                raise InvalidInput(Message("{url} names no file.", url=url[:200]))
            yield SourceFile(name, url, int(size) if size.isdecimal() else None, mark[:200])

    def read(self, file: SourceFile, start: int) -> Iterator[bytes]:
        return self._fetching.read(file.where, start, file.mark)

    def close(self) -> None:
        self._fetching.close()


@contextmanager
def _explained(url: str) -> Iterator[None]:
    host = urlsplit(url).netloc
    try:
        yield
    except AddressRefused as error:
        raise not_allowed(error.host or host) from error
    except EncryptionRequired as error:
        raise InvalidInput(
            Message("A token is sent by https only, and {host} was named with http.", host=host)
        ) from error
    except requests.RequestException as error:
        # The text of other errors has the address, also of a redirect, with its signature
        why = str(error)[:200] if isinstance(error, RequestRefused) else type(error).__name__
        raise Unavailable(
            Message("{host} could not be read: {why}", host=host[:80], why=why)
        ) from error
