"""Approval of versions: somebody requests it, and an approver decides about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotPermitted
from portal.core.messages import Message
from registry.models import ModelFile, ModelVersion
from registry.selectors import aliases_of
from registry.services.aliases import PRODUCTION
from registry.services.records import locked_version, record_version
from registry.services.versions import READY, inspect_if_older
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission

Approval = ModelVersion.Approval
LONGEST_NOTE = 5000


@dataclass(frozen=True)
class Check:
    """A condition of approval; `detail` says what is missing and what to do."""

    name: str  # files, pickle or card
    title: Message
    is_ok: bool
    detail: Message


def checks_of(version: ModelVersion) -> list[Check]:
    """Return the conditions of approval for a version."""
    inspection = version.inspection or {}
    has_files = version.status == READY and ModelFile.objects.filter(version=version).exists()
    is_complete = has_files and bool(inspection.get("is_complete"))
    unsafe, unchecked = not_safe(inspection)
    is_acknowledged = bool(version.acknowledged_by)
    has_card = bool(version.model.description.strip() or version.description.strip())
    return [
        Check(
            "files",
            Message("Files are present and inspected"),
            is_complete,
            Message("")
            if is_complete
            else Message("Upload the files again: some are missing or damaged.")
            if has_files
            else Message("The version has no files yet."),
        ),
        Check(
            "pickle",
            Message("No file that is unsafe or not checked, or it is acknowledged"),
            is_acknowledged or not (unsafe or unchecked),
            Message("Acknowledged by {who}.", who=version.acknowledged_by)
            if is_acknowledged and (unsafe or unchecked)
            else Message(
                "{path} can run code when it is loaded. Save it as safetensors, or acknowledge it.",
                path=unsafe[0],
            )
            if unsafe
            else Message(
                "{path} was not checked: its format is unknown, so that loading it may run code. "
                "Save it as safetensors, or acknowledge it.",
                path=unchecked[0],
            )
            if unchecked
            else Message(""),
        ),
        Check(
            "card",
            Message("The model card is not empty"),
            has_card,
            Message("")
            if has_card
            else Message("Describe data, evaluation and limits in the model card."),
        ),
    ]


def not_safe(inspection: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the files that can run code, and those that were not checked."""
    return list(inspection.get("unsafe") or ()), list(inspection.get("unchecked") or ())


@transaction.atomic
def acknowledge_pickles(*, actor: Actor, version: ModelVersion) -> ModelVersion:
    """Accept that loading the version's files may run code. Idempotent. Raises NotPermitted."""
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    row = locked_version(version)
    unsafe = [path for paths in not_safe(row.inspection or {}) for path in paths]
    if unsafe and not row.acknowledged_by:
        row.acknowledged_by, row.updated_at = actor.email, clock.now()
        row.save(update_fields=["acknowledged_by", "updated_at"])
        record_version("pickle_acknowledged", actor, row, after={"files": unsafe[:20]})
    return row


def request_approval(*, actor: Actor, version: ModelVersion, note: str = "") -> ModelVersion:
    """Ask approvers to decide. Raises Conflict if a check fails or it is requested already."""
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    inspect_if_older(actor, version)
    with transaction.atomic():
        row = locked_version(version)
        _check_state(row, Approval.NONE, Approval.REJECTED)
        _check_all(row)
        row.requested_by_id, row.requested_at = actor.user_id, clock.now()
        _decide(actor, row, Approval.REQUESTED, note, "approval_requested")
    return row


@transaction.atomic
def withdraw_request(*, actor: Actor, version: ModelVersion) -> ModelVersion:
    """Withdraw a request: whoever requested it, or an approver. Raises Conflict, NotPermitted."""
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    row = locked_version(version)
    _check_state(row, Approval.REQUESTED)
    if row.requested_by_id != actor.user_id:
        authorize(actor, Permission.MODELS_APPROVE, row.model.team_id)
    _decide(actor, row, Approval.NONE, "", "approval_withdrawn")
    return row


def approve_version(*, actor: Actor, version: ModelVersion, note: str = "") -> ModelVersion:
    """Approve a version that somebody else has requested it for.

    From then on only approvers change its description and tags. Raises Conflict, NotPermitted.
    """
    authorize(actor, Permission.MODELS_APPROVE, version.model.team_id)
    inspect_if_older(actor, version)
    with transaction.atomic():
        row = locked_version(version)
        _check_state(row, Approval.REQUESTED)
        _check_is_somebody_else(actor, row)
        _check_all(row)
        _decide(actor, row, Approval.APPROVED, note, "version_approved")
    return row


@transaction.atomic
def reject_version(*, actor: Actor, version: ModelVersion, note: str = "") -> ModelVersion:
    """Reject a requested version, or revoke an approval. Raises Conflict, NotPermitted.

    Where the model requires approval, its aliases and the stage Production must go first.
    """
    authorize(actor, Permission.MODELS_APPROVE, version.model.team_id)
    row = locked_version(version)
    _check_state(row, Approval.REQUESTED, Approval.APPROVED)
    if row.approval == Approval.REQUESTED:
        _check_is_somebody_else(actor, row)
    is_in_use = bool(aliases_of(row)) or row.stage == PRODUCTION
    if row.approval == Approval.APPROVED and row.model.requires_approval and is_in_use:
        raise Conflict(
            Message(
                "Version {version} is in use: move its aliases and its stage to another version "
                "first.",
                version=row.version,
            ),
            code="has_alias",
        )
    _decide(actor, row, Approval.REJECTED, note, "version_rejected")
    return row


def _decide(actor: Actor, row: ModelVersion, state: str, note: str, kind: str) -> None:
    if len(note) > LONGEST_NOTE or "\x00" in note:
        raise InvalidInput.at(
            "note", Message("must be at most {n} characters long", n=f"{LONGEST_NOTE:,}")
        )
    before = row.approval
    row.approval, row.approval_note = state, note.strip()
    is_decided = state in {Approval.APPROVED, Approval.REJECTED}
    row.approval_by = actor.email if is_decided else ""
    row.approval_at = clock.now() if is_decided else None
    row.updated_at = clock.now()
    row.save(
        update_fields=[
            "approval",
            "approval_note",
            "approval_by",
            "approval_at",
            "requested_by",
            "requested_at",
            "updated_at",
        ]
    )
    record_version(
        kind,
        actor,
        row,
        before={"approval": before},
        after={"approval": state, "note": row.approval_note[:500]},
    )


def _check_state(row: ModelVersion, *allowed: str) -> None:
    if row.approval not in allowed:
        number = row.version
        texts = {
            Approval.NONE: Message("Nobody has requested approval of version {n}.", n=number),
            Approval.REQUESTED: Message("Approval of version {n} is already requested.", n=number),
            Approval.APPROVED: Message("Version {n} is approved already.", n=number),
            Approval.REJECTED: Message(
                "Version {n} was rejected. Request approval again.", n=number
            ),
        }
        raise Conflict(texts[Approval(row.approval)], code="approval_state")


def _check_is_somebody_else(actor: Actor, row: ModelVersion) -> None:
    if row.requested_by_id == actor.user_id:
        raise NotPermitted(
            Message("You requested this approval. Somebody else must decide about it."),
            code="own_request",
        )


def _check_all(row: ModelVersion) -> None:
    failed = [check for check in checks_of(row) if not check.is_ok]
    if failed:
        raise Conflict(
            failed[0].detail,
            code="checks_failed",
            data={"checks": [check.name for check in failed]},
        )
