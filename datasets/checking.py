"""Check that what versions name is stored, as `manage.py fsck` does. Nothing is changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from datasets.models import Block, Content, Repository, Version
from datasets.services.records import locked
from datasets.trees import BlockInfo, TreeEntry, decode
from portal.blobs.files import StoredFile
from portal.blobs.store import file_store, references
from portal.core.errors import NotFound

_BATCH = 1000


class Fault(NamedTuple):
    """Something that a repository needs and that is missing or damaged."""

    kind: str  # block, content, file or quota
    text: str


class Orphans(NamedTuple):
    """What nothing refers to: retention and the sweep of files delete it later."""

    blocks: int = 0
    contents: int = 0
    content_bytes: int = 0
    files: int = 0
    file_bytes: int = 0


class Checked(NamedTuple):
    """What was checked of a repository."""

    faults: list[Fault]
    versions: int
    files: int  # of all versions, equal ones once
    bytes: int
    orphans: Orphans


def check_repository(repository: Repository, *, is_deep: bool = False) -> Checked:
    """Check blocks, contents, files and stored bytes; `is_deep` reads all bytes.

    Faults are looked at again while nobody can write, because versions come and go meanwhile.
    """
    found = _Check(repository, is_deep=is_deep).run()
    if not found.faults:
        return found
    with transaction.atomic():
        return _Check(locked(repository, with_trash=True), is_deep=is_deep).run()


def unreferenced_files(org_id: UUID) -> Orphans:
    """Return the files of an organization that nothing refers to."""
    is_used, count, size = references(org_id), 0, 0
    for batch in _batches(file_store().stored(org_id)):
        used = set(is_used([file.sha256 for file in batch]))
        unused = [file for file in batch if file.sha256 not in used]
        count, size = count + len(unused), size + sum(file.size for file in unused)
    return Orphans(files=count, file_bytes=size)


class _Check:
    def __init__(self, repository: Repository, *, is_deep: bool):
        self._row, self._is_deep = repository, is_deep
        self._faults: list[Fault] = []
        self._used: set[str] = set()

    def run(self) -> Checked:
        versions = Version.objects.filter(repository=self._row).order_by("number")
        seen: set[str] = set()
        count = 0
        for version in versions.iterator(chunk_size=100):
            count += 1
            for listed in version.blocks:
                if listed[0] not in seen:
                    seen.add(listed[0])
                    self._check_block(version, BlockInfo(*listed))
        size = self._check_contents()
        return Checked(self._faults, count, len(self._used), size, self._orphans(seen))

    def _check_block(self, version: Version, info: BlockInfo) -> None:
        where = f"version {version.number}, block {info.digest[:12]} from {info.first!r}"
        rows = Block.objects.filter(repository=self._row, digest=info.digest)
        data = rows.values_list("data", flat=True).first()
        if data is None:
            self._add("block", f"{where}: is missing")
            return
        if hashlib.sha256(bytes(data)).hexdigest() != info.digest:
            self._add("block", f"{where}: has other bytes than its digest says")
            return
        try:
            entries = decode(bytes(data))
        except Exception as error:  # of zstandard or of JSON
            self._add("block", f"{where}: cannot be decoded: {error}")
            return
        facts = (entries[0].path, len(entries), sum(entry.size for entry in entries))
        if facts != (info.first, info.files, info.bytes):
            self._add("block", f"{where}: does not have the files that its version says")
        self._check_entries(version, entries)

    def _check_entries(self, version: Version, entries: list[TreeEntry]) -> None:
        sizes = dict(
            Content.objects.filter(
                repository=self._row, sha256__in={entry.sha256 for entry in entries}
            ).values_list("sha256", "size")
        )
        for entry in entries:
            self._used.add(entry.sha256)
            if sizes.get(entry.sha256) != entry.size:
                found = "is missing" if entry.sha256 not in sizes else "has another size"
                self._add(
                    "content",
                    f"version {version.number}, {entry.path!r}: content {entry.sha256} {found}",
                )

    def _check_contents(self) -> int:
        """Check the file of each content, and return the bytes of those that versions name."""
        store, total, named = file_store(), 0, 0
        for sha256, size in (
            Content.objects.filter(repository=self._row)
            .values_list("sha256", "size")
            .iterator(chunk_size=_BATCH)
        ):
            total += size
            named += size if sha256 in self._used else 0
            stored = store.size(self._row.org_id, sha256)
            if stored is None:
                self._add("file", f"{sha256}: is missing")
            elif stored != size:
                self._add("file", f"{sha256}: has {stored:,} bytes instead of {size:,}")
            elif self._is_deep and not self._is_intact(sha256):
                self._add("file", f"{sha256}: has other bytes than its SHA-256 says")
        stored_bytes = Repository.objects.values_list("stored_bytes", flat=True).get(
            id=self._row.id
        )
        if stored_bytes != total:
            self._add("quota", f"counts {stored_bytes:,} bytes, but has {total:,}")
        return named

    def _is_intact(self, sha256: str) -> bool:
        digest = hashlib.sha256()
        try:
            for piece in file_store().read(self._row.org_id, sha256):
                digest.update(piece)
        except NotFound:
            return False
        return digest.hexdigest() == sha256

    def _orphans(self, listed: set[str]) -> Orphans:
        digests = Block.objects.filter(repository=self._row).values_list("digest", flat=True)
        blocks = sum(digest not in listed for digest in digests.iterator(chunk_size=_BATCH))
        contents = Content.objects.filter(repository=self._row).values_list("sha256", "size")
        sizes = [size for sha256, size in contents.iterator() if sha256 not in self._used]
        return Orphans(blocks=blocks, contents=len(sizes), content_bytes=sum(sizes))

    def _add(self, kind: str, text: str) -> None:
        self._faults.append(Fault(kind, text))


def _batches(files: Iterator[StoredFile]) -> Iterator[list[StoredFile]]:
    batch: list[StoredFile] = []
    for file in files:
        batch.append(file)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
