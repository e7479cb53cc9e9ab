"""The files of a shared folder as WsgiDAV's resources, on the same functions as the REST API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from wsgidav.dav_error import DAVError
from wsgidav.dav_provider import DAVCollection, DAVNonCollection, DAVProvider

from datasets.folders import entries, usage
from datasets.folders.selectors import tree_of
from datasets.models import SharedFolder
from portal.blobs.folders import FolderEntry, SharedTree
from portal.core.errors import InvalidInput, NotFound, PortalError, QuotaExceeded
from portal.web.transfers import body_chunks, content_type_of
from workspaces.access.actors import Actor

PLACE = "muster.place"  # key of the WSGI environment
SIZE = "muster.size"  # likewise: the bytes that the request announces, or None
_SHOWN = {"file", "folder"}


@dataclass(frozen=True)
class RequestedFolder:
    """The shared folder of a request, at the path `prefix` of the provider."""

    actor: Actor
    folder: SharedFolder
    prefix: str

    @property
    def tree(self) -> SharedTree:
        return tree_of(self.folder)

    def inside(self, path: str) -> str | None:
        """Return the path in the folder; None if it leads elsewhere."""
        path = path.rstrip("/")
        if path == self.prefix:
            return ""
        return path[len(self.prefix) + 1 :] if path.startswith(f"{self.prefix}/") else None

    def changing(self, path: str) -> dict[str, Any]:
        """Return the arguments of a service that changes a path. Raises DAVError elsewhere."""
        found = self.inside(path)
        if found is None:
            raise DAVError(502, "Another workspace cannot be the destination.")
        return {"actor": self.actor, "folder": self.folder, "path": found}


@contextmanager
def errors_of_dav() -> Iterator[None]:
    """Express errors of the portal by the codes that clients of WebDAV know."""
    try:
        yield
    except PortalError as error:
        is_full = isinstance(error, QuotaExceeded) or error.kind == "disk_full"
        raise DAVError(507 if is_full else error.http, str(error.message)) from error


class _Resource:
    """What files and folders have in common."""

    environ: dict[str, Any]
    path: str
    provider: DAVProvider
    place: RequestedFolder
    entry: FolderEntry

    def get_last_modified(self) -> float:
        return self.entry.modified_at.timestamp()

    def get_etag(self) -> str | None:
        return self.entry.tag if self.entry.kind == "file" else None

    def support_etag(self) -> bool:
        return self.entry.kind == "file"

    def handle_delete(self) -> bool:
        self._check_locks()
        with errors_of_dav():
            found = self.place.changing(self.path)
            path = found.pop("path")
            entries.delete(**found, paths=[path])
        self.remove_all_locks(recursive=True)  # type: ignore[attr-defined]
        return True

    def _check_locks(self) -> None:
        """Raise DAVError 423 if another holds a lock here or below: WsgiDAV checks the parent only."""
        self.provider.lock_manager.check_write_permission(
            url=self.get_ref_url(),  # type: ignore[attr-defined]
            depth="infinity",
            token_list=self.environ["wsgidav.ifLockTokenList"],
            principal=self.environ["wsgidav.user_name"],
        )

    def handle_move(self, dest_path: str) -> bool:
        with errors_of_dav():
            found = self.place.changing(dest_path)
            target = found.pop("path")
            entries.move(**found, source=self.entry.path, target=target, replaces=True)
        self.remove_all_locks(recursive=True)  # type: ignore[attr-defined]
        return True

    def handle_copy(self, dest_path: str, *, depth_infinity: bool) -> bool:
        with errors_of_dav():
            found = self.place.changing(dest_path)
            target = found.pop("path")
            entries.copy(
                **found,
                source=self.entry.path,
                target=target,
                is_deep=depth_infinity,
                replaces=True,
            )
        return True


class FileResource(_Resource, DAVNonCollection):  # type: ignore[misc]
    """A file; one that is about to be written has no entry yet."""

    def __init__(self, path: str, environ: dict[str, Any], entry: FolderEntry | None):
        super().__init__(path, environ)
        self.place = environ[PLACE]
        if entry is not None:
            self.entry = entry

    def get_content_length(self) -> int:
        return self.entry.size

    def get_content_type(self) -> str:
        return content_type_of(self.name)

    def get_content(self) -> BinaryIO:
        with errors_of_dav():
            return self.place.tree.open(self.entry.path)

    def support_ranges(self) -> bool:
        return True

    def begin_write(self, *, content_type: str | None = None) -> _Body:
        return _Body(self)

    def store(self, chunks: Iterable[bytes], size: int | None) -> None:
        """Store the bytes at the path of this resource."""
        with errors_of_dav():
            found = self.place.changing(self.path)
            self.entry = entries.put_file(**found, chunks=chunks, size=size)


class _Body:
    """What WsgiDAV writes the body of a PUT to."""

    def __init__(self, resource: FileResource):
        self.resource = resource

    def writelines(self, _chunks: Iterable[bytes]) -> None:
        """Store the body, read as every upload is."""
        environ = self.resource.environ
        self.resource.store(body_chunks(environ["wsgi.input"]), environ[SIZE])

    def close(self) -> None:
        """Do nothing: the file is stored."""


class FolderResource(_Resource, DAVCollection):  # type: ignore[misc]
    def __init__(self, path: str, environ: dict[str, Any], entry: FolderEntry):
        super().__init__(path, environ)
        self.place, self.entry = environ[PLACE], entry

    def get_member_list(self) -> list[Any]:
        with errors_of_dav():
            found = self.place.tree.listing(self.entry.path)
        base = self.path.rstrip("/")
        return [
            resource_of(f"{base}/{entry.name}", self.environ, entry)
            for entry in found
            if entry.is_nameable and entry.kind in _SHOWN
        ]

    def get_member_names(self) -> list[str]:
        return [one.name for one in self.get_member_list()]

    def create_empty_resource(self, name: str) -> FileResource:
        """Return a file to write; LOCK of a new name makes an empty file (RFC 4918, 7.3)."""
        made = FileResource(f"{self.path.rstrip('/')}/{name}", self.environ, None)
        if self.environ["REQUEST_METHOD"] == "LOCK":
            made.store([], 0)
        return made

    def create_collection(self, name: str) -> FolderResource:
        path = f"{self.path.rstrip('/')}/{name}"
        with errors_of_dav():
            entry = entries.make_folder(**self.place.changing(path))
        return FolderResource(path, self.environ, entry)

    def get_used_bytes(self) -> int:
        return self.place.folder.used_bytes

    def get_available_bytes(self) -> int | None:
        return usage.free_bytes(self.place.folder)


class FolderProvider(DAVProvider):  # type: ignore[misc]
    """Finds resources of the workspace in the environment, and of no other."""

    def get_resource_inst(self, path: str, environ: dict[str, Any]) -> Any:
        place: RequestedFolder = environ[PLACE]
        inside = place.inside(path)
        if inside is None:
            return None
        try:
            entry = place.tree.entry(inside)
        except (NotFound, InvalidInput):
            return None
        return resource_of(path, environ, entry) if entry.kind in _SHOWN else None


def resource_of(path: str, environ: dict[str, Any], entry: FolderEntry) -> Any:
    """Return the resource of a file or folder."""
    kind = FolderResource if entry.is_folder else FileResource
    return kind(path, environ, entry)
