"""Change the files of a shared folder: upload, make folders, move, copy and delete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.conf import settings
from django.db import transaction

from datasets.folders import usage
from datasets.folders.access import check_may_write
from datasets.folders.selectors import tree_of
from datasets.folders.services import locked, record_change
from datasets.models import FolderUpload, SharedFolder
from datasets.services.contents import check_small, cut
from portal.blobs.files import sync_all
from portal.blobs.folders import Aside, FolderEntry, check_not_around, checked_names
from portal.core import clock
from portal.core.disk import full_disk
from portal.core.errors import InvalidInput, NotFound, PortalError, TooLarge
from portal.core.formatting import bytes_text
from portal.core.messages import Message
from workspaces.access.actors import Actor


def put_file(
    *,
    actor: Actor,
    folder: SharedFolder,
    path: str,
    chunks: Iterable[bytes],
    size: int | None = None,
    replaces: bool = True,
) -> FolderEntry:
    """Store a file; it appears at once when all bytes came. `size` is what was announced.

    Raises InvalidInput if something else came, Conflict, QuotaExceeded, TooLarge, NotPermitted,
    and Unavailable if the disk is full; then the folder is as before.
    """
    check_may_write(actor, folder)
    _check_file(path, size or 0)
    aside = tree_of(folder).start()
    try:
        came = aside.append(
            0, usage.within_limits(folder, chunks, size), limit=settings.MUSTER_FILE_LIMIT
        )
        if size is not None and came != size:
            raise InvalidInput(
                Message("{n} of {size} bytes arrived. Send the file again.", n=came, size=size),
                code="incomplete",
            )
        return place(actor=actor, folder=folder, aside=aside, path=path, replaces=replaces)
    finally:
        aside.discard()


def put_files(
    *,
    actor: Actor,
    folder: SharedFolder,
    files: Sequence[tuple[str, int]],
    chunks: Iterable[bytes],
) -> None:
    """Store small files, named by path and size, whose bytes follow one another.

    They replace what is there. Raises as `put_file` does, and TooLarge beyond what `check_small` says;
    then the folder is as before. If one cannot be at its path, those before it stay.
    """
    check_may_write(actor, folder)
    sizes = [size for _path, size in files]
    total = check_small(sizes)
    for path, size in files:
        _check_file(path, size)
    if len({checked_names(path) for path, _size in files}) < len(files):
        raise InvalidInput.at("files", Message("must have different paths"))
    tree, asides = tree_of(folder), list[Aside]()
    try:
        for data in cut(sizes, usage.within_limits(folder, chunks, total)):
            asides.append(tree.start())
            asides[-1].write(data)
        sync_all([aside.path for aside in asides])
        refused = _place_many(actor, folder, files, asides)
    except OSError as error:
        raise full_disk(error) or error from error
    finally:
        for aside in asides:
            aside.discard()
    if refused is not None:
        raise refused


@transaction.atomic
def _place_many(
    actor: Actor, folder: SharedFolder, files: Sequence[tuple[str, int]], asides: Sequence[Aside]
) -> PortalError | None:
    """Move files into the folder until one cannot be placed; return why. Raises QuotaExceeded."""
    row, tree = locked(folder), tree_of(folder)
    check_may_write(actor, row)  # as it is now, after a long upload
    replaced = [old.size if (old := tree.find(path)) else 0 for path, _size in files]
    usage.hold(row, sum(size for _path, size in files), sum(replaced))
    for number, (path, _size) in enumerate(files):
        try:
            tree.place(asides[number], path)
        except PortalError as error:
            left = sum(size for _path, size in files[number:])
            usage.hold(row, sum(replaced[number:]), left)  # undo what was held for them
            return error
    return None


@transaction.atomic
def place(
    *, actor: Actor, folder: SharedFolder, aside: Aside, path: str, replaces: bool = True
) -> FolderEntry:
    """Move a file that was written aside into the folder. Raises QuotaExceeded, Conflict."""
    row, tree = locked(folder), tree_of(folder)
    check_may_write(actor, row)  # as it is now, after a long upload
    old = tree.find(path)
    usage.hold(row, aside.size, old.size if old else 0)
    tree.place(aside, path, replaces=replaces)
    return tree.entry(path)


def make_folder(*, actor: Actor, folder: SharedFolder, path: str) -> FolderEntry:
    """Make a folder and those above it. Idempotent. Raises Conflict if a file is there."""
    check_may_write(actor, folder)
    tree = tree_of(locked_row(folder))
    tree.make_folder(path)
    return tree.entry(path)


@transaction.atomic
def move(
    *, actor: Actor, folder: SharedFolder, source: str, target: str, replaces: bool = False
) -> FolderEntry:
    """Move or rename a file or folder. Raises NotFound, Conflict if something is at the target."""
    row, tree = locked(folder), tree_of(folder)
    check_may_write(actor, row)
    usage.release(row, tree.move(source, target, replaces=replaces))
    record_change("moved", actor.email, row, before={"path": source}, after={"path": target})
    return tree.entry(target)


def copy(
    *,
    actor: Actor,
    folder: SharedFolder,
    source: str,
    target: str,
    is_deep: bool = True,
    replaces: bool = False,
) -> None:
    """Copy a file or folder to where nothing is, or with `replaces` instead of what is there.

    Links are left out. Raises as `put_file` does.
    """
    check_may_write(actor, folder)
    tree = tree_of(locked_row(folder))
    if checked_names(target)[: len(checked_names(source))] == checked_names(source):
        raise InvalidInput.at("to", Message("must not be inside of what is copied"))
    check_not_around(source, target)
    first = tree.entry(source)
    if replaces and tree.find(target) is not None:
        delete(actor=actor, folder=folder, paths=[target])
    entries = [first, *(tree.walk(source) if first.is_folder and is_deep else ())]
    for entry in entries:
        path = target + entry.path[len(first.path) :]
        if entry.is_folder:
            tree.make_folder(path)
        elif entry.kind == "file" and entry.is_nameable:
            put_file(
                actor=actor,
                folder=folder,
                path=path,
                chunks=tree.read(entry.path, 0, entry.size),
            )


@transaction.atomic
def delete(*, actor: Actor, folder: SharedFolder, paths: Iterable[str]) -> int:
    """Delete files, and folders with all in them, at once; return the bytes. Raises NotFound."""
    row, tree, chosen = locked(folder), tree_of(folder), list(paths)
    check_may_write(actor, row)
    for path in chosen:  # all are there, before any is deleted
        tree.entry(path)
    freed = sum(tree.delete(path) for path in chosen)
    usage.release(row, freed)
    before = {"paths": chosen[:20], "bytes": freed}
    record_change("files_deleted", actor.email, row, before=before)
    return freed


def start_upload(*, actor: Actor, folder: SharedFolder, path: str, size: int) -> FolderUpload:
    """Start a file that comes in pieces. Raises InvalidInput, TooLarge, QuotaExceeded."""
    check_may_write(actor, folder)
    assert actor.user_id is not None
    _check_file(path, size)
    usage.check_space(folder, size, 0)
    row = FolderUpload(
        org_id=folder.org_id, folder=folder, owner_id=actor.user_id, path=path, size=size
    )
    row.save()
    tree_of(folder).start(row.id.hex)
    return append(actor=actor, upload=row, offset=0, chunks=[]) if size == 0 else row


def find_upload(actor: Actor, folder: SharedFolder, upload_id: UUID) -> FolderUpload:
    """Return an upload of the actor. Raises NotFound."""
    row = FolderUpload.objects.filter(folder=folder, owner_id=actor.user_id, id=upload_id).first()
    if row is None:
        raise NotFound(
            Message("There is no such upload, or it was abandoned. Send the file again."),
            code="no_upload",
        )
    row.folder = folder
    return row


def received(upload: FolderUpload) -> int:
    """Return the number of bytes that came."""
    return upload.size if upload.is_complete else _aside(upload).size


def append(
    *, actor: Actor, upload: FolderUpload, offset: int, chunks: Iterable[bytes]
) -> FolderUpload:
    """Append bytes at an offset; with the last ones the file appears. What came is kept on errors.

    Raises Conflict if the offset is not where the last piece ended, TooLarge if too much came,
    QuotaExceeded, NotPermitted.
    """
    check_may_write(actor, upload.folder)
    if upload.is_complete and offset == upload.size:
        return upload
    aside = _aside(upload)
    size = aside.append(offset, chunks, limit=upload.size)
    FolderUpload.objects.filter(id=upload.id).update(updated_at=clock.now())
    if size == upload.size:
        with transaction.atomic():
            place(actor=actor, folder=upload.folder, aside=aside, path=upload.path)
            upload.is_complete = True
            upload.save(update_fields=["is_complete"])
    return upload


def discard_upload(*, actor: Actor, upload: FolderUpload) -> None:
    """Abandon an upload. Raises NotPermitted."""
    check_may_write(actor, upload.folder)
    _aside(upload).discard()
    upload.delete()


def locked_row(folder: SharedFolder) -> SharedFolder:
    """Return the row as it is now. Raises NotFound, and Conflict for one in the trash."""
    with transaction.atomic():
        return locked(folder)


def _aside(upload: FolderUpload) -> Aside:
    return tree_of(upload.folder).aside(upload.id.hex)


def _check_file(path: str, size: int) -> None:
    if not checked_names(path):
        raise InvalidInput.at("path", Message("must name a file"))
    if size < 0:
        raise InvalidInput.at("size", Message("must be a number of bytes"))
    if size > settings.MUSTER_FILE_LIMIT:
        raise TooLarge(
            Message(
                "Files have at most {limit} here.", limit=bytes_text(settings.MUSTER_FILE_LIMIT)
            )
        )
