"""Represent repositories, versions and files as JSON: one shape for API, pages and CLI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypedDict

from django.db.models import Count, F

from datasets.access import may_manage, may_write
from datasets.imports import sources
from datasets.models import Import, Ref, Repository, Share, Version
from datasets.selectors import rules_of
from datasets.trees import Folder, TreeDifference, TreeEntry
from portal.core.shapes import Id, PersonShape, Time
from workspaces.access.actors import Actor


class HeadShape(TypedDict):
    version: int
    commit: str


class ShareShape(TypedDict):
    team: str
    can_write: bool


class RepositoryShape(TypedDict):
    id: Id
    kind: Annotated[str, "dataset or checkpoint"]
    name: str
    team: str
    owner: PersonShape
    description: str
    visibility: Annotated[str, "private, team or organization"]
    default_branch: str
    head: Annotated[HeadShape | None, "The newest version of the default branch."]
    files: Annotated[int, "Of the head."]
    bytes: Annotated[int, "Of the head."]
    versions: int
    stored_bytes: Annotated[int, "Of all versions; equal files count once."]
    created_at: Time
    updated_at: Time
    deleted_at: Time | None


class RepositoryDetailShape(RepositoryShape):
    keep_last: int
    keep_days: int
    own_retention: Annotated[bool, "False: the rules are those of the organization."]
    legal_hold: Annotated[str, "The reason; empty for none."]
    shares: list[ShareShape]
    may_write: bool
    may_manage: bool


class RepositoryVersionShape(TypedDict):
    id: Id
    version: int
    commit: Annotated[str, "40 hexadecimal digits."]
    parent: Annotated[str | None, "Commit that it was made from."]
    message: str
    description: str
    author: PersonShape
    job_id: Id | None
    files: int
    bytes: int
    added: Annotated[int, "Files, against the parent."]
    changed: int
    removed: int
    branches: list[str]
    tags: list[str]
    created_at: Time


class EntryShape(TypedDict):
    type: Annotated[str, "file or folder"]
    path: str
    bytes: int | None
    sha256: str | None


class TreeShape(TypedDict):
    version: int
    commit: str
    path: str
    items: list[EntryShape]
    next: Annotated[str | None, "`after` of the next page."]


class SideShape(TypedDict):
    bytes: int
    sha256: str


class FileDifferenceShape(TypedDict):
    path: str
    change: Annotated[str, "added, changed or removed"]
    before: SideShape | None
    after: SideShape | None


class DiffShape(TypedDict):
    before: Annotated[str | None, "Commit."]
    after: Annotated[str, "Commit."]
    items: list[FileDifferenceShape]
    next: Annotated[str | None, "`after` of the next page."]


class RefShape(TypedDict):
    kind: Annotated[str, "branch or tag"]
    name: str
    version: int | None
    commit: str | None
    message: str
    created_at: Time


class PlanShape(TypedDict):
    keep_last: int
    keep_days: int
    versions: Annotated[list[int], "Versions that go."]
    bytes: Annotated[int, "What that frees."]


class PlannedRepositoryShape(TypedDict):
    name: str
    team: str
    versions: Annotated[int, "Number of versions that go."]
    bytes: Annotated[int, "What that frees."]


class DefaultRetentionShape(TypedDict):
    keep_last: int
    keep_days: int
    versions: int
    bytes: int
    repositories: list[PlannedRepositoryShape]
    is_cut: Annotated[bool, "Versions of more repositories go as well."]


class FreedShape(TypedDict):
    versions: list[int]
    bytes: int


class ContentShape(TypedDict):
    sha256: str
    bytes: int


class SpaceShape(TypedDict):
    """Bytes, but for the counts."""

    stored: int
    current: Annotated[int, "In versions with a branch or tag."]
    old: Annotated[int, "Only in other versions; retention frees them."]
    unnamed: Annotated[int, "In files that no version names."]
    unnamed_files: int
    uploads: Annotated[int, "Number of files still being received."]
    uploads_bytes: int
    versions: int
    unreferenced: Annotated[list[int], "Versions without a branch, tag, job or model."]


class FreedBytesShape(TypedDict):
    bytes: int


class DatasetImportShape(TypedDict):
    id: Id
    source: Annotated[list[str], "Without queries."]
    kind: Annotated[str, "s3, http, hub or directory"]
    options: dict[str, str]
    secrets: Annotated[dict[str, str], "References."]
    branch: str
    folder: str
    message: str
    state: Annotated[str, "queued, running, succeeded, failed or canceled"]
    error: Annotated[str, "Why it failed, or why it is tried again."]
    files: Annotated[int | None, "In all, once the source was listed."]
    bytes: Annotated[int | None, "In all, if the source tells."]
    files_done: int
    bytes_done: int
    version: int | None
    by: PersonShape
    due_at: Annotated[Time, "Of the next attempt."]
    created_at: Time
    updated_at: Time
    ended_at: Time | None


def repository_rows(repositories: Sequence[Repository]) -> list[RepositoryShape]:
    """Return list items."""
    ids = [row.id for row in repositories]
    heads = Ref.objects.filter(
        repository__in=ids, name=F("repository__default_branch"), version__isnull=False
    ).select_related("version")
    head_of = {ref.repository_id: ref.version for ref in heads.defer("version__blocks")}
    counts = Version.objects.filter(repository__in=ids).values("repository").annotate(n=Count("id"))
    versions = {found["repository"]: found["n"] for found in counts}
    return [_repository(row, head_of.get(row.id), versions.get(row.id, 0)) for row in repositories]


def repository_detail(row: Repository, actor: Actor) -> RepositoryDetailShape:
    """Return a repository with its rules, and the teams it is shared with."""
    rules = rules_of(row)
    return {
        **repository_rows([row])[0],
        "keep_last": rules.keep_last,
        "keep_days": rules.keep_days,
        "own_retention": row.has_own_rules,
        "legal_hold": row.legal_hold,
        "shares": share_rows(row),
        "may_write": may_write(actor, row),
        "may_manage": may_manage(actor, row),
    }


def share_rows(row: Repository) -> list[ShareShape]:
    """Return the teams that a repository is shared with."""
    shares = Share.objects.filter(repository=row).select_related("team").order_by("team__slug")
    return [{"team": share.team.slug, "can_write": share.can_write} for share in shares]


def version_rows(
    repository: Repository, versions: Sequence[Version]
) -> list[RepositoryVersionShape]:
    """Return list items with the branches and tags that point at each version."""
    refs = Ref.objects.filter(repository=repository, version__in=[v.id for v in versions])
    names: dict[Any, dict[str, list[str]]] = {}
    for version_id, kind, name in refs.order_by("name").values_list("version_id", "kind", "name"):
        names.setdefault(version_id, {}).setdefault(kind, []).append(name)
    parents = dict(
        Version.objects.filter(id__in=[v.parent_id for v in versions if v.parent_id]).values_list(
            "id", "commit"
        )
    )
    return [
        {
            "id": str(version.id),
            "version": version.number,
            "commit": version.commit,
            "parent": parents.get(version.parent_id),
            "message": version.message,
            "description": version.description,
            "author": _person(version.author),
            "job_id": str(version.job_id) if version.job_id else None,
            "files": version.files,
            "bytes": version.bytes,
            "added": version.added,
            "changed": version.changed,
            "removed": version.removed,
            "branches": names.get(version.id, {}).get(Ref.Kind.BRANCH, []),
            "tags": names.get(version.id, {}).get(Ref.Kind.TAG, []),
            "created_at": version.created_at,
        }
        for version in versions
    ]


def ref_rows(refs: Iterable[Ref]) -> list[RefShape]:
    """Return branches and tags; the refs have their version."""
    return [
        {
            "kind": ref.kind,
            "name": ref.name,
            "version": ref.version.number if ref.version else None,
            "commit": ref.version.commit if ref.version else None,
            "message": ref.message,
            "created_at": ref.created_at,
        }
        for ref in refs
    ]


def entry_rows(entries: Iterable[TreeEntry | Folder]) -> list[EntryShape]:
    """Return files and folders of a listing."""
    return [
        {"type": "folder", "path": entry.path, "bytes": None, "sha256": None}
        if isinstance(entry, Folder)
        else {"type": "file", "path": entry.path, "bytes": entry.size, "sha256": entry.sha256}
        for entry in entries
    ]


def difference_rows(found: Iterable[TreeDifference]) -> list[FileDifferenceShape]:
    """Return the files that two versions do not have in common."""
    return [
        {
            "path": change.path,
            "change": _kind_of(change),
            "before": _side(change.before),
            "after": _side(change.after),
        }
        for change in found
    ]


def import_row(row: Import) -> DatasetImportShape:
    """Return an import; its owner and version are read with it."""
    return {
        "id": str(row.id),
        "source": sources.shown_address(row.source).splitlines(),
        "kind": sources.kind_of(row.source),
        "options": row.options,
        "secrets": row.secrets,
        "branch": row.branch,
        "folder": row.folder,
        "message": row.message,
        "state": row.state,
        "error": row.error,
        "files": row.files,
        "bytes": row.bytes,
        "files_done": row.files_done,
        "bytes_done": row.bytes_done,
        "version": row.version.number if row.version else None,
        "by": _person(row.owner),
        "due_at": row.due_at,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "ended_at": row.ended_at,
    }


def _kind_of(change: TreeDifference) -> str:
    if change.before is None:
        return "added"
    return "removed" if change.after is None else "changed"


def _side(entry: TreeEntry | None) -> SideShape | None:
    return {"bytes": entry.size, "sha256": entry.sha256} if entry else None


def _repository(row: Repository, head: Version | None, versions: int) -> RepositoryShape:
    return {
        "id": str(row.id),
        "kind": row.kind,
        "name": row.name,
        "team": row.team.slug,
        "owner": _person(row.owner),
        "description": row.description,
        "visibility": row.visibility,
        "default_branch": row.default_branch,
        "head": {"version": head.number, "commit": head.commit} if head else None,
        "files": head.files if head else 0,
        "bytes": head.bytes if head else 0,
        "versions": versions,
        "stored_bytes": row.stored_bytes,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "deleted_at": row.deleted_at,
    }


def _person(user: Any) -> PersonShape:
    return {"email": user.email, "name": user.display_name}
