"""The interface of sources, and what all of them share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from django.conf import settings

from portal.core import addresses
from portal.core.errors import InvalidInput, NotFound, NotPermitted, PortalError, Unavailable
from portal.core.messages import Message

PIECE = 1 << 20  # bytes


class SourceFile(NamedTuple):
    """A file of a source."""

    path: str  # in the repository, below the folder of the import
    where: str  # what the source calls it
    size: int | None = None  # bytes, if the source tells
    mark: str = ""  # differs once the file has changed; "" if the source does not tell
    sha256: str = ""  # if the source tells


class ImportSource(Protocol):
    """A place with files. Threads may read several at a time.

    All raise PortalError with words for a person; Unavailable where trying again may help.
    """

    def files(self) -> Iterator[SourceFile]: ...

    def read(self, file: SourceFile, start: int) -> Iterator[bytes]:
        """Open a file and return its bytes from an offset on. Raises Restarted at once."""
        ...

    def close(self) -> None: ...


class Restarted(Exception):
    """The source cannot continue a file at an offset, or it has changed."""


def trusted_hosts() -> frozenset[str]:
    """Return the hosts, with port if any, that operators allow at private addresses."""
    return frozenset(name.lower() for name in settings.MUSTER_IMPORT_HOSTS)


def is_trusted(host: str, port: int, default_port: int) -> bool:
    names = {f"{host}:{port}", *([host] if port == default_port else [])}
    return bool(names & trusted_hosts())


def check_host(host: str, port: int, default_port: int) -> None:
    """Raise InvalidInput or Unavailable if a host cannot be reached from here.

    It explains early; each connection is checked again.
    """
    try:
        addresses.resolve_allowed(host, port, is_trusted=is_trusted(host, port, default_port))
    except addresses.AddressNotAllowed:
        raise not_allowed(host) from None
    except (OSError, UnicodeError):
        raise Unavailable(Message("There is no host {host}.", host=host[:80])) from None


def not_allowed(host: str) -> InvalidInput:
    return InvalidInput(
        Message(
            "{host} is not on the open internet. An operator may allow it (MUSTER_IMPORT_HOSTS).",
            host=host[:80],
        ),
        code="host_not_allowed",
    )


def refused(host: str, status: int, what: str, reason: str = "") -> PortalError:
    """Return the error for a status code of a source."""
    about = {"host": host[:80], "status": f"{status} {reason[:80]}".strip(), "what": what[:200]}
    if status in {401, 403}:
        return NotPermitted(
            Message("{host} refused {what} ({status}). Check the credentials.", **about)
        )
    if status in {404, 410}:
        return NotFound(Message("{host} has no {what} ({status}).", **about))
    if status in {408, 425, 429} or status >= 500:
        return Unavailable(Message("{host} could not send {what} ({status}).", **about))
    return InvalidInput(Message("{host} refused {what} ({status}).", context="error", **about))
