"""Read repositories, versions, refs and files."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from datasets.access import visible
from datasets.models import (
    Block,
    Content,
    FormerName,
    Import,
    Ref,
    Repository,
    RetentionDefault,
    Version,
)
from datasets.names import checked_path
from datasets.trees import BlockInfo, Tree, TreeEntry, sort_key
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor

_COMMIT = re.compile(r"[0-9a-f]{7,40}\Z")
_NUMBER = re.compile(r"v?([1-9][0-9]{0,5})\Z")


def visible_repositories(
    actor: Actor, kind: str = "", *, is_deleted: bool = False
) -> QuerySet[Repository]:
    """Return the repositories that the actor may read, or those in the trash."""
    rows = Repository.objects.filter(deleted_at__isnull=not is_deleted)
    if kind:
        rows = rows.filter(kind=kind)
    return visible(actor, rows).select_related("team", "owner")


def find_repository(actor: Actor, kind: str, name: str, *, is_deleted: bool = False) -> Repository:
    """Return a repository by name. Raises NotFound, also for those the actor may not see.

    Of several in the trash, the one deleted last.
    """
    rows = visible_repositories(actor, kind, is_deleted=is_deleted).filter(name__iexact=name)
    row = rows.order_by("-deleted_at").first() if name.isprintable() else None
    if row is None:
        text = (
            Message("There is no checkpoint {name}.", name=repr(name[:100]))
            if kind == "checkpoint"
            else Message("There is no dataset {name}.", name=repr(name[:100]))
        )
        raise NotFound(text, code="no_repository")
    return row


def renamed_repository(actor: Actor, kind: str, name: str) -> Repository | None:
    """Return the repository that had a name, if the actor may read it."""
    if not name.isprintable():
        return None
    former = FormerName.objects.filter(kind=kind, name=name.lower())
    rows = visible_repositories(actor, kind)
    return rows.filter(id__in=former.values("repository_id")).first()


def versions_of(repository: Repository) -> QuerySet[Version]:
    """Return the versions of a repository, the last one first, without their trees."""
    rows = Version.objects.filter(repository=repository).defer("blocks")
    return rows.select_related("author").order_by("-number")


def find_version(repository: Repository, revision: str = "") -> Version:
    """Return a version by branch, tag, number (3 or v3), or 7 or more digits of its id.

    By default the head of the default branch. Raises NotFound, with the code `empty` for a branch
    without versions.
    """
    revision = revision or repository.default_branch
    ref = (
        Ref.objects.filter(repository=repository, name=revision.removeprefix("refs/heads/"))
        .select_related("version__author")
        .first()
    )
    if ref is not None:
        if ref.version is None:
            raise NotFound(Message("{name} has no files yet.", name=repository.name), code="empty")
        found: Version | None = ref.version
    else:
        rows = Version.objects.filter(repository=repository).select_related("author")
        if number := _NUMBER.match(revision):
            found = rows.filter(number=int(number[1])).first()
        elif _COMMIT.match(revision):
            matches = list(rows.filter(commit__startswith=revision)[:2])
            found = matches[0] if len(matches) == 1 else None
        else:
            found = None
    if found is None:
        raise NotFound(
            Message(
                "{name} has no version {revision}.",
                name=repository.name,
                revision=repr(revision[:100]),
            ),
            code="no_version",
        )
    found.repository = repository
    return found


def version_or_none(repository: Repository, revision: str = "") -> Version | None:
    """Return a version as `find_version` does, None for a branch without any. Raises NotFound."""
    try:
        return find_version(repository, revision)
    except NotFound as error:
        if error.kind != "empty":
            raise
        return None


def tree_of(version: Version | None) -> Tree:
    """Return the tree of a version; an empty one for None."""
    if version is None:
        return Tree([], lambda digests: {})
    repository_id = version.repository_id

    def read(digests: Sequence[str]) -> dict[str, bytes]:
        rows = Block.objects.filter(repository_id=repository_id, digest__in=digests)
        return {digest: bytes(data) for digest, data in rows.values_list("digest", "data")}

    return Tree([BlockInfo(*block) for block in version.blocks], read)


def find_file(version: Version, path: str) -> TreeEntry:
    """Return a file of a version. Raises NotFound, InvalidInput."""
    found = tree_of(version).find(checked_path(path))
    if found is None:
        raise _no_file(path)
    return found


def find_files(version: Version, paths: Sequence[str]) -> list[TreeEntry]:
    """Return files of a version in this order. Raises NotFound, InvalidInput."""
    wanted = [checked_path(path) for path in paths]
    tree, found = tree_of(version), {}
    for path in sorted(set(wanted), key=sort_key):  # reads each block once
        if (entry := tree.find(path)) is None:
            raise _no_file(path)
        found[path] = entry
    return [found[path] for path in wanted]


def _no_file(path: str) -> NotFound:
    return NotFound(
        Message("There is no file {path} in this version.", path=repr(path[:200])), code="no_file"
    )


def refs_of(repository: Repository, kind: str = "") -> list[Ref]:
    """Return branches and tags by name, or those of one kind."""
    rows = Ref.objects.filter(repository=repository).select_related("version")
    return list((rows.filter(kind=kind) if kind else rows).order_by("name"))


def imports_of(repository: Repository) -> QuerySet[Import]:
    """Return the imports of a repository, the last one first."""
    rows = Import.objects.filter(repository=repository)
    return rows.select_related("owner", "version").order_by("-id")


def contents_in(repository: Repository, digests: Collection[str]) -> dict[str, int]:
    """Return the sizes of those SHA-256 that the repository has."""
    rows = Content.objects.filter(repository=repository, sha256__in=digests)
    return dict(rows.values_list("sha256", "size"))


def referenced(org_id: UUID, names: Collection[str]) -> set[str]:
    """Return those SHA-256 that repositories have. For the sweep of files."""
    rows = Content.objects.filter(org_id=org_id, sha256__in=names)
    return set(rows.values_list("sha256", flat=True))


class Rules(NamedTuple):
    """What is kept: the last versions, and those of the last days. 0 is no rule."""

    keep_last: int
    keep_days: int


def rules_of(repository: Repository) -> Rules:
    """Return the rules that count: its own, or those of the organization."""
    if repository.has_own_rules:
        return Rules(repository.keep_last, repository.keep_days)
    return default_rules(repository.org_id, repository.kind)


def default_rules(org_id: UUID, kind: str) -> Rules:
    """Return the rules of an organization for repositories that have none of their own."""
    row = RetentionDefault.objects.filter(org_id=org_id, kind=kind).first()
    return Rules(row.keep_last, row.keep_days) if row else Rules(0, 0)
