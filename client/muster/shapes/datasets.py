"""Types of the API's answers, as `make shapes` writes them: do not edit."""

from __future__ import annotations

from typing import Annotated, TypedDict

from muster.shapes.portal import Id, PersonShape, Time
from muster.shapes.workspaces import JobUseShape


class ContentShape(TypedDict):
    sha256: str
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


class DefaultRetentionShape(TypedDict):
    keep_last: int
    keep_days: int
    versions: int
    bytes: int
    repositories: list[PlannedRepositoryShape]
    is_cut: Annotated[bool, "Versions of more repositories go as well."]


class DiffShape(TypedDict):
    before: Annotated[str | None, "Commit."]
    after: Annotated[str, "Commit."]
    items: list[FileDifferenceShape]
    next: Annotated[str | None, "`after` of the next page."]


class EntryShape(TypedDict):
    type: Annotated[str, "file or folder"]
    path: str
    bytes: int | None
    sha256: str | None


class FileDifferenceShape(TypedDict):
    path: str
    change: Annotated[str, "added, changed or removed"]
    before: SideShape | None
    after: SideShape | None


class FreedBytesShape(TypedDict):
    bytes: int


class FreedShape(TypedDict):
    versions: list[int]
    bytes: int


class HeadShape(TypedDict):
    version: int
    commit: str


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


class ListedRepositoryShape(RepositoryShape, JobUseShape):
    made_by: Annotated[str | None, "Job that made the head, such as #12 train, if you may see it."]
    made_by_page: str | None


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


class RefShape(TypedDict):
    kind: Annotated[str, "branch or tag"]
    name: str
    version: int | None
    commit: str | None
    message: str
    created_at: Time


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


class ShareShape(TypedDict):
    team: str
    can_write: bool


class SideShape(TypedDict):
    bytes: int
    sha256: str


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


class TreeShape(TypedDict):
    version: int
    commit: str
    path: str
    items: list[EntryShape]
    next: Annotated[str | None, "`after` of the next page."]


class WorkspaceShape(TypedDict):
    id: Id
    name: str
    team: str
    owner: PersonShape
    description: str
    visibility: Annotated[str, "private, team or organization"]
    quota: Annotated[int | None, "Bytes; null: no limit of its own."]
    used_bytes: int
    files: Annotated[int, "When they were last counted."]
    counted_at: Time | None
    created_at: Time
    updated_at: Time
    deleted_at: Time | None


class WorkspaceDetailShape(WorkspaceShape):
    invitations: list[WorkspaceInvitationShape]
    may_write: bool
    may_manage: bool


class WorkspaceEntryShape(TypedDict):
    type: Annotated[str, "file, folder, link or other; links are not followed"]
    name: str
    path: Annotated[str | None, "null: no client can send this name"]
    bytes: int | None
    modified_at: Time


class WorkspaceInvitationShape(TypedDict):
    team: str | None
    person: PersonShape | None
    can_write: bool


class WorkspaceTreeShape(TypedDict):
    path: str
    items: list[WorkspaceEntryShape]
    next: Annotated[str | None, "`after` of the next page."]
