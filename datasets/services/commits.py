"""Make a version from the changes to another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

import orjson
from django.db import transaction

from datasets.access import check_may_write
from datasets.models import Block, Content, Ref, Repository, Version
from datasets.names import checked_message, checked_path
from datasets.selectors import find_version, tree_of
from datasets.services.records import check_no_hold, locked, record_change
from datasets.trees import BlockInfo, PathConflict, Tree, TreeEntry, changed_tree, differences
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor

_BATCH = 5000  # contents in a query
MOST_CHANGES = 2_000_000


@dataclass(frozen=True)
class Add:
    """A file at a path, whose bytes the repository has; it replaces the one there."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Delete:
    """Delete a file, or a folder with everything in it."""

    path: str
    is_folder: bool = False


@dataclass(frozen=True)
class Copy:
    """Copy a file, or a folder with everything in it, from a version of the same repository."""

    source: str
    path: str
    revision: str = ""  # by default the version that the commit is made from


Change = Add | Delete | Copy


@transaction.atomic
def commit(
    *,
    actor: Actor,
    repository: Repository,
    changes: Iterable[Change],
    message: str,
    description: str = "",
    branch: str = "",
    parent: str | None = None,
    job_id: UUID | None = None,
) -> Version:
    """Make a version on a branch, by default the default branch.

    `parent` is the id of the version that the changes were made to, "" for none: if the branch has
    moved since, Conflict with the code `moved` is raised and nothing has to be sent again. Without
    changes to the files, the head of the branch is returned.

    Raises InvalidInput, NotFound, NotPermitted.
    """
    check_may_write(actor, repository)
    assert actor.user_id is not None
    row = locked(repository)
    ref = _branch(row, branch or row.default_branch)
    head: Version | None = ref.version
    _check_head(ref, parent)
    before = tree_of(head)
    wanted = _wanted(row, before, changes)
    try:
        blocks, data = changed_tree(before, wanted)
    except PathConflict as conflict:
        raise Conflict(
            Message("{path} would be a file and a folder.", path=conflict.path),
            code="path_conflict",
        ) from conflict
    if head is not None and [list(block) for block in blocks] == head.blocks:
        return head
    version = Version(
        org_id=row.org_id,
        repository=row,
        number=row.next_number,
        parent=head,
        author_id=actor.user_id,
        message=checked_message(message) or str(Message("Change files", context="text, datasets")),
        description=description[:10_000].replace("\x00", ""),
        job_id=job_id,
        blocks=[list(block) for block in blocks],
        files=sum(block.files for block in blocks),
        bytes=sum(block.bytes for block in blocks),
        **_counts(before, wanted),
    )
    version.commit = _commit_id(version, head, blocks)
    _store(row, data)
    _finish(row, ref, version)
    after = {"version": version.number, "commit": version.commit, "branch": ref.name}
    record_change(
        "version_created",
        actor.email,
        row,
        after={**after, "files": version.files, "bytes": version.bytes},
    )
    return version


def restore_version(
    *, actor: Actor, repository: Repository, version: Version, branch: str = "", message: str = ""
) -> Version:
    """Make a version whose files are those of an older one.

    Raises Conflict with the code `moved` if somebody commits meanwhile, NotPermitted.
    """
    check_may_write(actor, repository)
    head = _branch(repository, branch or repository.default_branch).version
    changes: list[Change] = [
        Add(one.path, one.after.sha256) if one.after else Delete(one.path)
        for one in differences(tree_of(head), tree_of(version))
    ]
    return commit(
        actor=actor,
        repository=repository,
        changes=changes,
        message=message
        or str(Message("Restore version {n}", context="text, datasets", n=version.number)),
        branch=branch,
        parent=head.commit if head else "",
    )


@transaction.atomic
def squash_history(
    *, actor: Actor, repository: Repository, branch: str = "", message: str = ""
) -> Version | None:
    """Replace the history of a branch by one version of the same files; None if it has none.

    The versions before stay until retention deletes them. Raises Conflict under a legal hold,
    InvalidInput, NotFound, NotPermitted.
    """
    check_may_write(actor, repository)
    assert actor.user_id is not None
    row = locked(repository)
    check_no_hold(row)
    ref = _branch(row, branch or row.default_branch)
    head: Version | None = ref.version
    if head is None:
        return None
    version = Version(
        org_id=row.org_id,
        repository=row,
        number=row.next_number,
        author_id=actor.user_id,
        message=checked_message(message) or str(Message("Squash the history")),
        blocks=head.blocks,
        files=head.files,
        bytes=head.bytes,
        added=head.files,
    )
    version.commit = _commit_id(version, None, [BlockInfo(*block) for block in head.blocks])
    _finish(row, ref, version)
    number = {"version": head.number}
    after = {"version": version.number, "commit": version.commit, "branch": ref.name}
    record_change("history_squashed", actor.email, row, before=number, after=after)
    return version


def _finish(row: Repository, ref: Ref, version: Version) -> None:
    """Save a version as the head of a branch."""
    version.save()
    Ref.objects.filter(id=ref.id).update(version=version)
    row.next_number += 1
    row.updated_at = clock.now()
    row.save(update_fields=["next_number", "updated_at"])


def _branch(row: Repository, name: str) -> Ref:
    ref = (
        Ref.objects.select_related("version")
        .filter(repository=row, kind=Ref.Kind.BRANCH, name=name)
        .first()
    )
    if ref is None:
        raise NotFound(
            Message("{name} has no branch {branch}.", name=row.name, branch=repr(name[:100])),
            code="no_version",
        )
    return ref  # type: ignore[no-any-return]


def _check_head(ref: Ref, parent: str | None) -> None:
    if parent is None:
        return
    head = ref.version.commit if ref.version else ""
    if parent != head and not (len(parent) >= 7 and head.startswith(parent)):
        raise Conflict(
            Message(
                "Somebody has committed to {branch} in the meantime: it is at {head} now. Look at "
                "the changes and commit again; no file has to be sent again.",
                branch=ref.name,
                head=head[:7],
            ),
            code="moved",
        )


def _wanted(
    row: Repository, before: Tree, changes: Iterable[Change]
) -> dict[str, TreeEntry | None]:
    """Return the new file of each path, None where it is deleted. Later changes win."""
    wanted: dict[str, TreeEntry | None] = {}
    added: dict[str, str] = {}  # path -> SHA-256
    spelled: dict[str, str] = {}  # paths of added files that came in another form than NFC
    for change in changes:
        if len(wanted) + len(added) > MOST_CHANGES:
            raise InvalidInput.at(
                "changes",
                Message("must be at most {n}", context="error of a field", n=f"{MOST_CHANGES:,}"),
            )
        path = checked_path(change.path)
        if isinstance(change, Add):
            if path in added and spelled.get(path, path) != change.path:
                raise Conflict(
                    Message(
                        "Two files are named {path}; only their Unicode normalization differs. "
                        "Rename one of them.",
                        path=path[:200],
                    ),
                    code="path_conflict",
                )
            if change.path != path:
                spelled[path] = change.path
            wanted.pop(path, None)
            added[path] = change.sha256
        elif isinstance(change, Delete):
            added.pop(path, None)
            wanted.update(dict.fromkeys(_deleted(before, path, change.is_folder, added)))
        else:
            for entry in _copied(row, before, change, path):
                added.pop(entry.path, None)
                wanted[entry.path] = entry
    sizes = _sizes(row, set(added.values()))
    wanted.update({path: TreeEntry(path, sha, sizes[sha]) for path, sha in added.items()})
    return wanted


def _deleted(before: Tree, path: str, is_folder: bool, added: dict[str, str]) -> list[str]:
    if not is_folder and before.find(path):
        return [path]
    inside = [entry.path for entry in before.below(path)]
    for name in [name for name in added if name.startswith(f"{path}/")]:
        del added[name]
    if not inside and not is_folder:
        raise NotFound(
            Message("There is no file {path} to delete.", path=repr(path[:200])), code="no_file"
        )
    return inside


def _copied(row: Repository, before: Tree, change: Copy, path: str) -> list[TreeEntry]:
    source = checked_path(change.source)
    tree = tree_of(find_version(row, change.revision)) if change.revision else before
    if found := tree.find(source):
        return [TreeEntry(path, found.sha256, found.size)]
    inside = [
        TreeEntry(path + entry.path[len(source) :], entry.sha256, entry.size)
        for entry in tree.below(source)
    ]
    if not inside:
        raise NotFound(
            Message("There is no file {path} to copy.", path=repr(source[:200])), code="no_file"
        )
    return inside


def _sizes(row: Repository, digests: set[str]) -> Mapping[str, int]:
    """Return the sizes of contents and mark them as used. Raises InvalidInput for missing ones."""
    sizes: dict[str, int] = {}
    ordered = sorted(digests)
    for start in range(0, len(ordered), _BATCH):
        batch = ordered[start : start + _BATCH]
        rows = Content.objects.filter(repository=row, sha256__in=batch)
        sizes.update(rows.values_list("sha256", "size"))
        rows.filter(is_used=False).update(is_used=True)
    if missing := digests - sizes.keys():
        error = InvalidInput(
            Message(
                "Files were not uploaded to {name} before this commit: {digest} is missing.",
                name=row.name,
                digest=min(missing)[:80],
            ),
            code="not_uploaded",
        )
        error.data["missing"] = sorted(missing)[:1000]
        raise error
    return sizes


def _counts(before: Tree, wanted: Mapping[str, TreeEntry | None]) -> dict[str, int]:
    counts = {"added": 0, "changed": 0, "removed": 0}
    known = {}
    if before.blocks:
        known = {path: before.find(path) for path in sorted(wanted)}
    for path, entry in wanted.items():
        old = known.get(path)
        if entry is None:
            counts["removed"] += old is not None
        elif old is None:
            counts["added"] += 1
        else:
            counts["changed"] += old[1:] != entry[1:]
    return counts


def _commit_id(version: Version, head: Version | None, blocks: list[BlockInfo]) -> str:
    parts = [
        str(version.repository_id),
        head.commit if head else "",
        str(version.author_id),
        version.message,
        version.created_at.isoformat(),
        *(block.digest for block in blocks),
    ]
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:40]


def _store(row: Repository, data: Mapping[str, bytes]) -> None:
    known = set(
        Block.objects.filter(repository=row, digest__in=data).values_list("digest", flat=True)
    )
    Block.objects.bulk_create(
        [
            Block(org_id=row.org_id, repository=row, digest=digest, data=blob)
            for digest, blob in data.items()
            if digest not in known
        ],
        batch_size=200,
    )
