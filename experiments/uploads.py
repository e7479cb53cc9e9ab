"""Upload files of runs and logged models in parts, which may arrive in any order.

An upload is a folder of `portal.blobs.files`. Its id is signed together with the path, so it is good for
that file only. Parts that nobody completes are deleted by the sweep of files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.core.signing import BadSignature, Signer

from experiments import artifacts
from experiments.artifacts import Owner
from experiments.models import Artifact
from portal.blobs.store import file_store
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor

MOST_PARTS = 10_000


def start_upload(actor: Actor, owner: Owner, path: str) -> str:
    """Begin an upload and return its id. Raises as `artifacts.put` does."""
    artifacts.check_may_put(actor, owner, path)
    return _signer(owner, path).sign(file_store().start_upload(owner.org_id))


def put_part(
    actor: Actor,
    owner: Owner,
    path: str,
    upload_id: str,
    number: int,
    chunks: Iterable[bytes],
    *,
    size: int | None = None,
) -> str:
    """Store a part and return its SHA-256, by which `finish_upload` knows it.

    Raises NotFound for an upload that is not of this path, and as `artifacts.put` does.
    """
    artifacts.check_may_write(actor, owner)
    if not 1 <= number <= MOST_PARTS:
        raise InvalidInput(Message("Parts have numbers from 1 to {most}.", most=MOST_PARTS))
    store, upload = file_store(), _checked(owner, path, upload_id)
    before = store.uploaded_bytes(owner.org_id, upload)
    artifacts.check_space(owner, path, before + (size or 0))
    return store.put_part(owner.org_id, upload, number, chunks, size=size).sha256


def finish_upload(
    actor: Actor, owner: Owner, path: str, upload_id: str, parts: Sequence[tuple[int, str]]
) -> Artifact:
    """Store the file of these parts (number, SHA-256). Raises as `put_part` does."""
    artifacts.check_may_put(actor, owner, path)
    upload = _checked(owner, path, upload_id)
    stored = file_store().finish_upload(owner.org_id, upload, sorted(parts))
    return artifacts.add(owner, path, stored)


def discard_upload(actor: Actor, owner: Owner, path: str, upload_id: str) -> None:
    """Delete the parts of an upload. Raises NotFound."""
    artifacts.check_may_write(actor, owner)
    file_store().discard_upload(owner.org_id, _checked(owner, path, upload_id))


def _checked(owner: Owner, path: str, upload_id: str) -> str:
    try:
        return _signer(owner, path).unsign(upload_id)
    except BadSignature:
        raise NotFound(Message("There is no such upload of this file.")) from None


def _signer(owner: Owner, path: str) -> Signer:
    return Signer(salt=f"experiments.uploads:{owner.id}:{path}")
