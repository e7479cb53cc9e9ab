"""Change datasets and checkpoints. Nothing else writes these rows."""

from datasets.services.commits import (
    Add,
    Change,
    Copy,
    Delete,
    commit,
    restore_version,
    squash_history,
)
from datasets.services.contents import (
    add_contents,
    check_small,
    copy_contents,
    cut,
    put_file,
    put_files,
    split_files,
)
from datasets.services.imports import cancel_import, find_import, resume_import, start_import
from datasets.services.refs import create_branch, delete_ref, set_tag
from datasets.services.repositories import (
    create_repository,
    delete_repository,
    purge_repository,
    restore_repository,
    share_repository,
    unshare_repository,
    update_repository,
)
from datasets.services.retention import delete_versions, plan, prune_versions
from datasets.services.retention_defaults import change_default, plan_default
from datasets.services.space import Space, discard_unused, space_of
from datasets.services.uploads import append, discard_upload, find_upload, received, start_upload

__all__ = [
    "Add",
    "Change",
    "Copy",
    "Delete",
    "Space",
    "add_contents",
    "append",
    "cancel_import",
    "change_default",
    "check_small",
    "commit",
    "copy_contents",
    "create_branch",
    "create_repository",
    "cut",
    "delete_ref",
    "delete_repository",
    "delete_versions",
    "discard_unused",
    "discard_upload",
    "find_import",
    "find_upload",
    "plan",
    "plan_default",
    "prune_versions",
    "purge_repository",
    "put_file",
    "put_files",
    "received",
    "restore_repository",
    "restore_version",
    "resume_import",
    "set_tag",
    "share_repository",
    "space_of",
    "split_files",
    "squash_history",
    "start_import",
    "start_upload",
    "unshare_repository",
    "update_repository",
]
