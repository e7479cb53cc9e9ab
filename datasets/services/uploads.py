"""Receive a file in pieces: start it, append pieces, and it is stored when all bytes came."""

from __future__ import annotations

import re
from collections.abc import Iterable
from uuid import UUID

from django.conf import settings

from datasets.access import check_may_write
from datasets.models import Repository, Upload
from datasets.services.contents import add_contents, check_digest
from portal.blobs.store import file_store
from portal.core import clock
from portal.core.errors import InvalidInput, NotFound, TooLarge
from portal.core.formatting import bytes_text
from portal.core.messages import Message
from workspaces.access.actors import Actor

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


def start_upload(
    *, actor: Actor, repository: Repository, size: int, path: str = "", sha256: str = ""
) -> Upload:
    """Start a file of `size` bytes. `path` is for people; a commit says where it goes.

    `sha256` is what the whole file must have. Raises InvalidInput, TooLarge, NotPermitted.
    """
    check_may_write(actor, repository)
    assert actor.user_id is not None
    if size < 0:
        raise InvalidInput.at("size", Message("must be a number of bytes"))
    if size > settings.MUSTER_FILE_LIMIT:
        raise TooLarge(
            Message(
                "Files have at most {limit} here.", limit=bytes_text(settings.MUSTER_FILE_LIMIT)
            )
        )
    row = Upload(
        org_id=repository.org_id,
        repository=repository,
        owner_id=actor.user_id,
        path=path[:1000].replace("\x00", ""),
        size=size,
        announced=_checked_digest(sha256),
    )
    file_store().start(row.org_id, row.id, size)
    row.save()
    return append(actor=actor, upload=row, offset=0, chunks=[]) if size == 0 else row


def find_upload(actor: Actor, repository: Repository, upload_id: UUID) -> Upload:
    """Return an upload of the actor. Raises NotFound."""
    row = Upload.objects.filter(repository=repository, owner_id=actor.user_id, id=upload_id).first()
    if row is None:
        raise NotFound(
            Message("There is no such upload, or it was abandoned. Send the file again."),
            code="no_upload",
        )
    row.repository = repository
    return row


def received(upload: Upload) -> int:
    """Return the number of bytes that came."""
    if upload.sha256:
        return upload.size
    return file_store().received(upload.org_id, upload.id)


def append(
    *,
    actor: Actor,
    upload: Upload,
    offset: int,
    chunks: Iterable[bytes],
) -> Upload:
    """Append bytes at an offset, and store the file once all came. What came is kept on errors.

    Raises Conflict if the offset is not where the last piece ended, InvalidInput if too much came,
    or if the file is not the announced one, which discards it; QuotaExceeded, NotPermitted.
    """
    check_may_write(actor, upload.repository)
    if upload.sha256 and offset == upload.size:
        return upload
    store = file_store()
    now_at = store.append(upload.org_id, upload.id, offset, chunks, limit=upload.size)
    Upload.objects.filter(id=upload.id).update(updated_at=clock.now())
    if now_at < upload.size:
        return upload
    stored = store.finish(upload.org_id, upload.id)
    try:
        check_digest(stored, upload.announced)
    except InvalidInput:
        discard_upload(actor=actor, upload=upload)
        raise
    add_contents(upload.repository, [stored])
    upload.sha256 = stored.sha256
    upload.save(update_fields=["sha256"])
    store.discard(upload.org_id, upload.id)
    return upload


def discard_upload(*, actor: Actor, upload: Upload) -> None:
    """Delete an upload. What it stored is deleted later, unless a version names it."""
    check_may_write(actor, upload.repository)
    file_store().discard(upload.org_id, upload.id)
    upload.delete()


def _checked_digest(text: str) -> str:
    if text and not _SHA256.match(text):
        raise InvalidInput.at("sha256", Message("must be 64 hexadecimal digits"))
    return text
