"""Files below a directory of a cluster that this machine sees.

Operators allow roots for each cluster (MUSTER_IMPORT_ROOTS). Nothing outside of a root is read:
each folder and file is opened below the one before, and links are not followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from django.conf import settings

from datasets.imports.source import PIECE, Restarted, SourceFile
from portal.core.errors import InvalidInput, NotFound, NotPermitted, PortalError, Unavailable
from portal.core.messages import Message
from workspaces.models import Team

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def roots_for(team: Team) -> list[tuple[str, str]]:
    """Return the (cluster, directory) from which a team may import."""
    found = []
    for text in settings.MUSTER_IMPORT_ROOTS:
        cluster, _colon, path = text.partition(":")
        path = path.replace("{org}", team.org.slug).replace("{team}", team.slug)
        found.append((cluster, path.rstrip("/") or "/"))
    return found


class DirectorySource:
    """The files below a directory of a cluster, or one file."""

    def __init__(self, team: Team, cluster: str, path: str):
        wanted = PurePosixPath(path)
        roots = [PurePosixPath(root) for name, root in roots_for(team) if name == cluster]
        root = next((root for root in roots if wanted.is_relative_to(root)), None)
        if root is None or ".." in wanted.parts:
            raise InvalidInput.at(
                "source",
                Message(
                    "must be below a directory that an operator has allowed for this cluster "
                    "(MUSTER_IMPORT_ROOTS). A job there can upload it by the CLI instead."
                ),
            )
        self._root, self._inside = Path(root), wanted.relative_to(root).parts

    def files(self) -> Iterator[SourceFile]:
        with _explained(), self._opened(self._inside[:-1]) as above:
            name = self._inside[-1] if self._inside else "."
            found = os.stat(name, dir_fd=above, follow_symlinks=False)
            if stat.S_ISREG(found.st_mode):
                yield _file(name, name, found)
                return
        with _explained(), self._opened(self._inside) as top:
            for at, _folders, names, folder in os.fwalk(".", onerror=_raise, dir_fd=top):
                for name in sorted(names):
                    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode):
                        path = str(PurePosixPath(at, name))
                        yield _file(_utf8(path), path, found)

    def read(self, file: SourceFile, start: int) -> Iterator[bytes]:
        parts = PurePosixPath(file.where).parts
        with _explained():
            inside = self._inside[:-1] if self._is_single(file) else self._inside
            with self._opened((*inside, *parts[:-1])) as folder:
                handle = os.open(parts[-1], _FILE, dir_fd=folder)
            opened = os.fdopen(handle, "rb")
        if _mark(os.fstat(handle)) != file.mark:
            opened.close()
            raise Restarted
        opened.seek(start)

        def pieces() -> Iterator[bytes]:
            with _explained(), opened:
                while data := opened.read(PIECE):
                    yield data

        return pieces()

    def _is_single(self, file: SourceFile) -> bool:
        if not self._inside or file.where != self._inside[-1]:
            return False
        with self._opened(self._inside[:-1]) as above:
            found = os.stat(self._inside[-1], dir_fd=above, follow_symlinks=False)
        return stat.S_ISREG(found.st_mode)

    def close(self) -> None:
        """Do nothing: files are closed when they were read."""

    @contextmanager
    def _opened(self, parts: tuple[str, ...]) -> Iterator[int]:
        """Open a folder below the root."""
        handle = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts:
                inner = os.open(part, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            with suppress(OSError):
                os.close(handle)


def _file(path: str, where: str, found: os.stat_result) -> SourceFile:
    return SourceFile(path, where, found.st_size, _mark(found))


def _raise(error: OSError) -> None:
    """Refuse a folder that cannot be read, which `fwalk` would leave out."""
    raise error


def _mark(found: os.stat_result) -> str:
    return f"{found.st_ino}-{found.st_size}-{found.st_mtime_ns}"


def _utf8(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            Message("The name {name} is not UTF-8.", name=ascii(path)[:200])
        ) from None
    return path


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except PortalError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(
            Message("There is no directory {path}.", path=repr(error.filename)[:200])
        ) from error
    except PermissionError as error:
        raise NotPermitted(
            Message("The portal may not read {path}.", path=repr(error.filename)[:200])
        ) from error
    except OSError as error:
        raise Unavailable(
            Message(
                "The directory could not be read: {why}", why=error.strerror or type(error).__name__
            )
        ) from error
