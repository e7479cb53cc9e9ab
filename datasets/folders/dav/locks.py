"""Store WebDAV locks in the database, because several processes answer a client."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from wsgidav.lock_man.lock_manager import generate_lock_token, normalize_lock_root, validate_lock

from datasets.models import FolderLock, SharedFolder
from portal.core import clock

LONGEST = timedelta(hours=1)  # clients refresh what they still need
folder_of_request: ContextVar[SharedFolder] = ContextVar("folder_of_request")
# Live locks by path, for a request that only reads: PROPFIND asks for those of each resource.
locks_of_request: ContextVar[Mapping[str, Sequence[FolderLock]] | None] = ContextVar(
    "locks_of_request", default=None
)


def live_locks(folder: SharedFolder) -> dict[str, list[FolderLock]]:
    """Return the locks of a workspace by path, in one query."""
    found = defaultdict[str, list[FolderLock]](list)
    rows = FolderLock.objects.filter(folder=folder, expires_at__gt=clock.now())
    for row in rows.order_by("id"):
        found[row.path].append(row)
    return dict(found)


class LockRows:
    """WsgiDAV's interface of a store of locks, on rows of the current workspace.

    The times in `data` are Unix seconds, as the library compares them.
    """

    def open(self) -> None:
        """Do nothing: the database is open."""

    def close(self) -> None:
        """Do nothing."""

    def get(self, token: str) -> dict[str, Any] | None:
        """Return a lock by its token, None if there is none or it has expired."""
        row = self._live().filter(token=token).first()
        return row.data if row else None

    def create(self, path: str, lock: dict[str, Any]) -> dict[str, Any]:
        """Add a lock for a path, and return it with its token and end."""
        folder = folder_of_request.get()
        lock["root"] = path = normalize_lock_root(path)
        self._extend(lock, float(lock.get("timeout") or -1))
        validate_lock(lock)
        lock["token"] = generate_lock_token()
        lock["owner"] = _text(lock["owner"])
        row = FolderLock(org_id=folder.org_id, folder=folder, token=lock["token"], path=path)
        self._save(row, lock)
        return lock

    def refresh(self, token: str, *, timeout: float) -> dict[str, Any]:
        """Extend a lock that exists."""
        row = self._live().get(token=token)
        self._extend(row.data, timeout)
        self._save(row, row.data)
        return row.data  # type: ignore[no-any-return]

    def delete(self, token: str) -> bool:
        """Delete a lock; return whether it was there."""
        return bool(self._rows().filter(token=token).delete()[0])

    def get_lock_list(
        self, path: str, *, include_root: bool, include_children: bool, token_only: bool
    ) -> list[Any]:
        """Return the locks, or their tokens, of a path and, if asked, of what is below it."""
        path = normalize_lock_root(path)
        known = locks_of_request.get()
        if known is not None and not include_children:
            found = known.get(path, ()) if include_root else ()
            return [row.token if token_only else row.data for row in found]
        wanted = Q(path=path) if include_root else Q(pk=None)
        if include_children:
            wanted |= Q(path__startswith=f"{path}/")
        rows = self._live().filter(wanted).order_by("id")
        return [row.token if token_only else row.data for row in rows]

    def _rows(self) -> QuerySet[FolderLock]:
        return FolderLock.objects.filter(folder=folder_of_request.get())

    def _live(self) -> QuerySet[FolderLock]:
        return self._rows().filter(expires_at__gt=clock.now())

    @staticmethod
    def _extend(lock: dict[str, Any], timeout: float) -> None:
        most = LONGEST.total_seconds()
        lock["timeout"] = timeout if 0 < timeout < most else most
        lock["expire"] = clock.now().timestamp() + lock["timeout"]

    @staticmethod
    def _save(row: FolderLock, lock: dict[str, Any]) -> None:
        row.data = lock
        row.expires_at = clock.now() + timedelta(seconds=lock["timeout"])
        row.save()


def _text(owner: str | bytes) -> str:
    return owner.decode(errors="replace") if isinstance(owner, bytes) else owner
