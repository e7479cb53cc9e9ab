"""Create, change, share, trash and restore repositories."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from datasets.access import check_may_manage
from datasets.models import FormerName, Ref, Repository, RepositoryKind, Share, Visibility
from datasets.names import checked_name
from datasets.services.records import TRASH, check_no_hold, locked, record_change
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput
from portal.core.events import changes
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission as P
from workspaces.models import Team

LONGEST_DESCRIPTION = 500
MOST_KEPT = 100_000
_FIELDS = (
    "name",
    "description",
    "visibility",
    "default_branch",
    "keep_last",
    "keep_days",
    "own_retention",
    "legal_hold",
)


@transaction.atomic
def create_repository(
    *,
    actor: Actor,
    team: Team,
    kind: str,
    name: str,
    description: str = "",
    visibility: str = Visibility.TEAM,
) -> Repository:
    """Create a repository with an empty branch main. Raises Conflict, InvalidInput, NotPermitted."""
    authorize(actor, P.DATASETS_WRITE, team)
    assert actor.user_id is not None
    if kind not in RepositoryKind.values:
        raise InvalidInput.at("kind", Message("must be dataset or checkpoint"))
    row = Repository(
        org_id=team.org_id,
        team=team,
        owner_id=actor.user_id,
        kind=kind,
        name=checked_name(name),
        description=_checked_text("description", description),
        visibility=_checked_visibility(visibility),
    )
    TRASH.save(row)
    Ref.objects.create(
        org_id=row.org_id, repository=row, kind=Ref.Kind.BRANCH, name=row.default_branch
    )
    record_change("created", actor.email, row, after=_facts(row))
    return row


@transaction.atomic
def update_repository(
    *,
    actor: Actor,
    repository: Repository,
    seen_at: datetime | None = None,
    **wanted: Any,
) -> Repository:
    """Change what is given of name, description, visibility, default_branch, keep_last, keep_days,
    own_retention and legal_hold.

    Rules make the retention its own; with `own_retention=False` that of the organization counts.
    `seen_at` is `updated_at` as the client has read it. Only those who may delete datasets of
    others change the legal hold. Raises Conflict if somebody else was faster or the name is taken,
    InvalidInput, NotPermitted.
    """
    check_may_manage(actor, repository)
    row = locked(repository)
    if seen_at is not None and row.updated_at != seen_at:
        raise Conflict(
            Message("Somebody has changed this in the meantime. Reload, and change it again."),
            code="changed",
        )
    before = _facts(row)
    if wanted.get("own_retention") is False:
        wanted |= {"keep_last": 0, "keep_days": 0}
    elif any(wanted.get(field) is not None for field in ("keep_last", "keep_days")):
        wanted["own_retention"] = True
    for field, value in wanted.items():
        if field not in _FIELDS:
            raise InvalidInput.at(field, Message("is not a field of a dataset"))
        if value is not None:
            setattr(row, field, _checked(row, field, value))
    if row.legal_hold != before["legal_hold"]:
        authorize(actor, P.DATASETS_ADMIN, row.team_id)
    after = _facts(row)
    if after != before:
        row.updated_at = clock.now()
        TRASH.save(row)
        if row.name.lower() != before["name"].lower():
            FormerName.objects.update_or_create(
                org_id=row.org_id,
                kind=row.kind,
                name=before["name"].lower(),
                defaults={"repository": row},
            )
        record_change("updated", actor.email, row, **changes(before, after))
    return row


@transaction.atomic
def share_repository(
    *, actor: Actor, repository: Repository, team: Team, can_write: bool = False
) -> Share:
    """Let another team read, or also write. Raises InvalidInput, Conflict, NotPermitted."""
    check_may_manage(actor, repository)
    row = locked(repository)
    if team.id == row.team_id:
        raise InvalidInput.at("team", Message("must be another team than its own"))
    share, _created = Share.objects.update_or_create(
        repository=row, team=team, defaults={"org_id": row.org_id, "can_write": can_write}
    )
    record_change("shared", actor.email, row, after={"with": team.slug, "can_write": can_write})
    return share  # type: ignore[no-any-return]


@transaction.atomic
def unshare_repository(*, actor: Actor, repository: Repository, team: Team) -> None:
    """Stop sharing with a team. Idempotent. Raises Conflict, NotPermitted."""
    check_may_manage(actor, repository)
    row = locked(repository)
    deleted, _rows = Share.objects.filter(repository=row, team=team).delete()
    if deleted:
        record_change("unshared", actor.email, row, before={"with": team.slug})


@transaction.atomic
def delete_repository(*, actor: Actor, repository: Repository) -> Repository:
    """Move a repository to the trash; its name becomes free. Raises Conflict, NotPermitted."""
    check_may_manage(actor, repository)
    row = locked(repository)
    check_no_hold(row)
    return TRASH.put(row, actor.email, {"bytes": row.stored_bytes})


@transaction.atomic
def restore_repository(*, actor: Actor, repository: Repository) -> Repository:
    """Take a repository out of the trash. Idempotent. Raises Conflict if its name was taken."""
    check_may_manage(actor, repository)
    return TRASH.restore(repository, actor.email)


@transaction.atomic
def purge_repository(*, actor: Actor, repository: Repository) -> None:
    """Delete a repository in the trash permanently. Raises Conflict, NotPermitted."""
    check_may_manage(actor, repository)
    row = TRASH.locked(repository, with_trash=True, is_to_be_purged=True)
    TRASH.purge(row, actor.email)


def _checked(row: Repository, field: str, value: Any) -> Any:
    if field == "name":
        return checked_name(value)
    if field == "visibility":
        return _checked_visibility(value)
    if field in {"description", "legal_hold"}:
        return _checked_text(field, value)
    if field == "default_branch":
        if not Ref.objects.filter(repository=row, kind=Ref.Kind.BRANCH, name=value).exists():
            raise InvalidInput.at(field, Message("must be a branch"))
        return value
    if field == "own_retention":
        return bool(value)
    return checked_rule(field, value)


def checked_rule(field: str, value: Any) -> int:
    """Return the number of a rule of retention. Raises InvalidInput."""
    if not isinstance(value, int) or not 0 <= value <= MOST_KEPT:
        raise InvalidInput.at(field, Message("must be a number from 0 to {n}", n=f"{MOST_KEPT:,}"))
    return value


def _checked_visibility(text: str) -> str:
    if text not in Visibility.values:
        raise InvalidInput.at("visibility", Message("must be private, team or organization"))
    return text


def _checked_text(field: str, text: str) -> str:
    text = text.strip()
    if len(text) > LONGEST_DESCRIPTION or "\x00" in text:
        raise InvalidInput.at(
            field, Message("must be at most {n} characters long", n=LONGEST_DESCRIPTION)
        )
    return text


def _facts(row: Repository) -> dict[str, Any]:
    return {field: getattr(row, field) for field in _FIELDS}
