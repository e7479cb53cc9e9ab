"""Run imports in background threads: one holder of a lease works on each.

A process that is killed leaves its lease, which another takes over: at once on the same host, after
LEASE seconds elsewhere. Files that were stored are not fetched again; large ones continue.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from uuid import UUID, uuid5

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from datasets import storage
from datasets.access import check_may_write
from datasets.imports.source import ImportSource, Restarted, SourceFile
from datasets.imports.sources import open_source
from datasets.models import Import, ImportedFile
from datasets.names import checked_path
from datasets.selectors import contents_in
from datasets.services import imports
from datasets.services.commits import MOST_CHANGES, Add, commit
from datasets.services.contents import check_digest
from datasets.services.imports import Stored
from portal.blobs.files import StoredFile
from portal.blobs.store import file_store
from portal.core import clock, leases
from portal.core.errors import (
    InvalidInput,
    NotFound,
    NotPermitted,
    PortalError,
    TooLarge,
    Unavailable,
)
from portal.core.formatting import bytes_text
from portal.core.lease_holder import new_holder
from portal.core.messages import Message
from workspaces.access.actors import Actor, actor_of, authorize
from workspaces.access.permissions import Permission as P
from workspaces.credentials.secrets import SecretReferences, open_secrets
from workspaces.models import Organization
from workspaces.tenancy.scope import org_scope, platform_scope

log = logging.getLogger(__name__)
THREADS = 2  # imports at a time in this process
FETCHERS = 4  # files at a time of an import
LEASE = 60.0  # seconds
LARGE = 64 << 20  # bytes from which on a file is continued where it ended
_SLICE = 64 << 20  # bytes that are made durable together
_EVERY = 1.0  # seconds between reports
_TRIES, _BATCH = 3, 1000
_lock = threading.Lock()
_threads = 0


def start_threads() -> None:
    """Start a thread if there is work and too few run; it ends when there is none."""
    global _threads
    with platform_scope("one process runs the imports of all organizations"):
        if not _due().exists():
            return
    with _lock:
        if _threads >= THREADS:
            return
        _threads += 1
    threading.Thread(target=_work_in_thread, name="import", daemon=True).start()


def _work_in_thread() -> None:
    global _threads
    try:
        while run_next():
            pass
    except Exception:
        log.exception("imports could not be read")  # the next wake-up continues
    finally:
        connection.close()
        with _lock:
            _threads -= 1


def run_next() -> bool:
    """Run an import that is due and that nobody else runs; False if there is none."""
    holder = new_holder()
    with platform_scope("one process runs the imports of all organizations"):
        for pk in list(_due().values_list("id", flat=True)[:100]):
            lease = f"import-{pk}"
            if not leases.take(lease, holder, LEASE):
                continue
            try:
                # Read after the lease was taken: the one before may have ended it
                row = _due().select_related("repository__team__org", "owner").filter(id=pk).first()
                if row is not None and imports.begin(row):
                    with org_scope(row.org_id):
                        _run(row, partial(leases.take, lease, holder, LEASE))
                    return True
            finally:
                leases.release(lease, holder)
    return False


def _due() -> QuerySet[Import]:
    rows = Import.objects.filter(state__in=Import.ACTIVE, due_at__lte=clock.now())
    return rows.order_by("due_at")


def _run(row: Import, renew: Callable[[], bool]) -> None:
    """Run an import to its end or failure, and record it."""
    by = row.owner.email
    try:
        _check_still_may(row)
        with closing(_source(row)) as source:
            files = ImportRun(row, source, renew).fetch_all()
        version = commit(
            actor=_actor(row),  # as it is now, after hours
            repository=row.repository,
            changes=[Add(path, sha256) for path, sha256 in files.items()],
            message=row.message
            or str(Message("Import {source}", context="text, datasets", source=_shown(row))),
            branch=row.branch,
        )
        imports.finish(row, by, version)
    except _Stopped:  # canceled, or somebody else has the lease
        return
    except PortalError as error:
        imports.fail(row, by, error)
    except Exception:
        log.exception("import %s failed", row.id)
        imports.fail(row, by, Unavailable(Message("The import was interrupted by an error.")))


def _actor(row: Import) -> Actor:
    if not row.owner.is_active:
        raise NotPermitted(Message("{who} may not sign in any more.", who=row.owner.email))
    return actor_of(row.owner).enter(Organization.objects.get(id=row.org_id))


def _check_still_may(row: Import) -> None:
    """Raise NotPermitted if its owner might not start the import now."""
    actor = _actor(row)
    check_may_write(actor, row.repository)
    if row.secrets:
        authorize(actor, P.JOBS_SUBMIT, row.repository.team_id)


def _source(row: Import) -> ImportSource:
    team, values = row.repository.team, {}
    if row.secrets:
        use = SecretReferences(
            row.org_id,
            team.id,
            team.slug,
            row.secrets,
            row.repository_id,
            {"import": str(row.id)},
            subject=row.repository.kind,
        )
        [opened] = open_secrets([use])
        if opened.lacks:
            raise InvalidInput(opened.lacks, code="no_secret")
        values = dict(opened.values)
    return open_source(team, row.source, row.options, values)


def _shown(row: Import) -> str:
    first = row.source.splitlines()[0].partition("?")[0]
    return first if len(first) <= 200 else f"{first[:199]}…"


class _Stopped(Exception):
    """The import was canceled or taken over."""


# Files that were stored, each with the upload to discard; None: a worker has ended
_Results = queue.SimpleQueue[tuple[Stored, UUID | None] | None]


class ImportRun:
    """One attempt: list the source, fetch what is missing in several threads, report each second."""

    def __init__(self, row: Import, source: ImportSource, renew: Callable[[], bool]):
        self._row, self._source, self._renew = row, source, renew
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._done = self._bytes = 0

    def fetch_all(self) -> dict[str, str]:
        """Return the SHA-256 of all files by path."""
        files = self._listed()
        found, missing = self._known(files)
        self._done = len(found)
        self._bytes = sum(files[path].size or 0 for path in found)
        results: _Results = queue.SimpleQueue()
        source = iter(missing)
        pool = ThreadPoolExecutor(FETCHERS, thread_name_prefix="import-fetch")
        try:
            workers = [pool.submit(self._work, source, results) for _ in range(FETCHERS)]
            while not all(worker.done() for worker in workers) or not results.empty():
                self._report(results, found)
            for worker in workers:
                worker.result()
            return found
        finally:
            self._stop.set()
            pool.shutdown()

    def _listed(self) -> dict[str, SourceFile]:
        """Return the files of the source by their path in the repository. Raises InvalidInput."""
        files: dict[str, SourceFile] = {}
        folder = f"{self._row.folder}/" if self._row.folder else ""
        for number, file in enumerate(self._source.files()):
            path = checked_path(folder + file.path)
            if path in files:
                raise InvalidInput(Message("Two files have the name {path}.", path=path[:200]))
            files[path] = SourceFile(path, *file[1:])
            if len(files) > MOST_CHANGES:
                raise InvalidInput(
                    Message("An import may have at most {n} files.", n=f"{MOST_CHANGES:,}")
                )
            if number % 10_000 == 0 and not self._renew():
                raise _Stopped
        if not files:
            raise NotFound(Message("The source has no files."), code="no_files")
        sizes = [file.size for file in files.values()]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        if any((size or 0) > settings.MUSTER_FILE_LIMIT for size in sizes):
            raise TooLarge(
                Message(
                    "Files have at most {limit} here.", limit=bytes_text(settings.MUSTER_FILE_LIMIT)
                )
            )
        imports.report_listing(self._row, len(files), total)
        return files

    def _known(self, files: dict[str, SourceFile]) -> tuple[dict[str, str], list[SourceFile]]:
        """Return the SHA-256 of files that need not be fetched, and the others."""
        before = {
            path: (mark, sha256)
            for path, mark, sha256 in ImportedFile.objects.filter(imported=self._row).values_list(
                "path", "mark", "sha256"
            )
        }
        claimed: dict[str, str] = {}
        for path, file in files.items():
            mark, sha256 = before.get(path, ("", ""))
            if file.sha256:
                claimed[path] = file.sha256
            elif mark and mark == file.mark:
                claimed[path] = sha256
        digests = sorted(set(claimed.values()))
        have: set[str] = set()
        for start in range(0, len(digests), _BATCH):
            have.update(contents_in(self._row.repository, digests[start : start + _BATCH]))
        found = {path: sha256 for path, sha256 in claimed.items() if sha256 in have}
        missing = [file for path, file in files.items() if path not in found]
        needed = sum(file.size or 0 for file in missing)
        list(storage.within_limits(self._row.repository, [], needed))
        return found, missing

    def _report(self, results: _Results, found: dict[str, str]) -> None:
        """Record what comes within the next second. Raises _Stopped."""
        until, stored, uploads = time.monotonic() + _EVERY, list[Stored](), list[UUID]()
        while len(stored) < _BATCH and (left := until - time.monotonic()) > 0:
            try:
                one = results.get(timeout=left)
            except queue.Empty:
                break
            if one is None:  # a worker has ended
                break
            file, upload = one
            stored.append(file)
            if upload:
                uploads.append(upload)
        self._done += len(stored)
        found.update({one.path: one.file.sha256 for one in stored})
        goes_on = imports.report_progress(
            self._row, self._done, self._bytes, stored, was_ahead=bool(stored)
        )
        for upload in uploads:
            file_store().discard(self._row.org_id, upload)
        if not (goes_on and self._renew()):
            raise _Stopped

    def _work(self, files: Iterator[SourceFile], results: _Results) -> None:
        """Fetch files until there is none left. Runs in a thread without a database."""
        try:
            while not self._stop.is_set():
                with self._lock:
                    file = next(files, None)
                if file is None:
                    return
                results.put(self._fetch(file))
        except _Stopped:
            return
        except BaseException:
            self._stop.set()
            raise
        finally:
            results.put(None)

    def _fetch(self, file: SourceFile) -> tuple[Stored, UUID | None]:
        for attempt in range(_TRIES):
            tally = _Tally(self)
            try:
                stored, upload = self._store(file, tally)
                check_digest(stored, file.sha256)
                return Stored(file.path, file.mark, stored), upload
            except (Restarted, InvalidInput, Unavailable) as error:
                tally.undo()
                if isinstance(error, PortalError) and error.kind == "disk_full":
                    raise
                if attempt == _TRIES - 1 or self._stop.wait(1 + attempt):
                    raise _explained(error, file) from error
        raise AssertionError("the last attempt returns or raises")

    def _store(self, file: SourceFile, tally: _Tally) -> tuple[StoredFile, UUID | None]:
        """Return what was stored, and the upload to discard once that is recorded."""
        if file.size is not None and file.size >= LARGE and file.mark:
            return self._continue(file, file.size, tally)
        pieces = tally.through(self._source.read(file, 0))
        limit = settings.MUSTER_FILE_LIMIT
        store = file_store()
        return store.put(self._row.org_id, pieces, size=file.size, limit=limit), None

    def _continue(self, file: SourceFile, size: int, tally: _Tally) -> tuple[StoredFile, UUID]:
        """Fetch a large file from where an earlier attempt ended."""
        store, org_id = file_store(), self._row.org_id
        upload = uuid5(self._row.id, f"{file.path}\n{file.mark}")
        try:
            at = store.received(org_id, upload)
        except NotFound:
            store.start(org_id, upload)
            at = 0
        tally.add(at)
        if at < size:
            try:
                pieces = tally.through(self._source.read(file, at))
            except Restarted:
                store.discard(org_id, upload)
                raise
            while at < size:
                now = store.append(org_id, upload, at, _slice(pieces), limit=size)
                if now == at:
                    raise Unavailable(
                        Message("{path} ended after {n} bytes.", path=file.path[:200], n=at)
                    )
                at = now
        return store.finish(org_id, upload), upload

    def count(self, size: int) -> None:
        """Count bytes of any thread. Raises _Stopped if the import must end."""
        with self._lock:
            self._bytes += size
        if self._stop.is_set() and size > 0:
            raise _Stopped


class _Tally:
    """The bytes of one attempt at a file."""

    def __init__(self, run: ImportRun):
        self._run, self._size = run, 0

    def add(self, size: int) -> None:
        self._size += size
        self._run.count(size)

    def through(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.add(len(piece))
            yield piece

    def undo(self) -> None:
        self._run.count(-self._size)


def _slice(pieces: Iterator[bytes]) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        yield piece
        size += len(piece)
        if size >= _SLICE:
            return


def _explained(error: Exception, file: SourceFile) -> PortalError:
    if isinstance(error, Restarted):
        return Unavailable(Message("{path} changes while it is read.", path=file.path[:200]))
    assert isinstance(error, PortalError)
    if error.kind in {"checksum", "incomplete"}:
        return Unavailable(Message.joined(": ", (file.path[:200], error.message)), code=error.kind)
    return error
