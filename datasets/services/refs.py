"""Create, move and delete branches and tags."""

from __future__ import annotations

from django.db import transaction

from datasets.access import check_may_write
from datasets.models import Ref, Repository, Version
from datasets.names import checked_message, checked_ref
from datasets.services.records import check_no_hold, locked, record_change
from portal.core.errors import Conflict, NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor

_MISSING = {
    "": Message("There is no branch or tag {name}."),
    Ref.Kind.BRANCH: Message("There is no branch {name}."),
    Ref.Kind.TAG: Message("There is no tag {name}."),
}


@transaction.atomic
def set_tag(
    *,
    actor: Actor,
    repository: Repository,
    name: str,
    version: Version | None,
    message: str = "",
    may_move: bool = False,
    must_be_new: bool = False,
) -> Ref:
    """Name a version, or None: that there are no files yet. Idempotent unless `must_be_new`.

    Raises Conflict if another version or a branch has the name, unless it is a tag that `may_move`;
    InvalidInput, NotPermitted.
    """
    check_may_write(actor, repository)
    row = locked(repository)
    name = checked_ref(name)
    ref = Ref.objects.filter(repository=row, name=name).first()
    before = ref.version_id if ref else None
    wanted = version.id if version else None
    if ref and before == wanted and ref.kind == Ref.Kind.TAG and not must_be_new:
        return ref  # type: ignore[no-any-return]
    if ref and (must_be_new or ref.kind != Ref.Kind.TAG or not may_move):
        raise _taken(name)
    ref = ref or Ref(org_id=row.org_id, repository=row, kind=Ref.Kind.TAG, name=name)
    ref.version, ref.message = version, checked_message(message)
    ref.save()
    record_change(
        "tagged",
        actor.email,
        row,
        tag=name,
        before={"version": _number(before)},
        after={"version": version.number if version else None},
    )
    return ref


@transaction.atomic
def create_branch(
    *, actor: Actor, repository: Repository, name: str, version: Version | None
) -> Ref:
    """Create a branch at a version, or an empty one. Raises Conflict, InvalidInput, NotPermitted."""
    check_may_write(actor, repository)
    row = locked(repository)
    name = checked_ref(name)
    if Ref.objects.filter(repository=row, name=name).exists():
        raise _taken(name)
    ref = Ref.objects.create(
        org_id=row.org_id, repository=row, kind=Ref.Kind.BRANCH, name=name, version=version
    )
    after = {"version": version.number if version else None}
    record_change("branch_created", actor.email, row, branch=name, after=after)
    return ref  # type: ignore[no-any-return]


@transaction.atomic
def delete_ref(*, actor: Actor, repository: Repository, name: str, kind: str = "") -> None:
    """Delete a branch or tag, or only one of a kind; its versions stay until retention deletes them.

    Raises NotFound, Conflict for the default branch or under a legal hold, NotPermitted.
    """
    check_may_write(actor, repository)
    row = locked(repository)
    check_no_hold(row)
    rows = Ref.objects.filter(repository=row, name=name, **({"kind": kind} if kind else {}))
    ref = rows.select_related("version").first()
    if ref is None:
        raise NotFound(_MISSING[kind].format(name=repr(name[:100])), code="no_version")
    if ref.name == row.default_branch:
        raise Conflict(
            Message("{name} is the default branch. Choose another one first.", name=ref.name),
            code="default_branch",
        )
    before = {"version": ref.version.number if ref.version else None}
    event = "branch_deleted" if ref.kind == Ref.Kind.BRANCH else "untagged"
    record_change(event, actor.email, row, name_of_ref=ref.name, before=before)
    ref.delete()


def _number(version_id: object) -> int | None:
    return Version.objects.filter(id=version_id).values_list("number", flat=True).first()


def _taken(name: str) -> Conflict:
    return Conflict.at(
        "name",
        Message("There is a branch or tag {name} already.", name=name),
        code="already_exists",
    )
