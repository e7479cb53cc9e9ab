"""Approval of versions: somebody requests it, and somebody else decides about it.

The request is an `Approval` of the kind `model`; `ModelVersion.approval` is what it has come to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotPermitted
from portal.core.events import EventRecord
from portal.core.messages import Message
from portal.core.models import Event
from registry.models import ModelFile, ModelVersion
from registry.selectors import aliases_of, visible_versions
from registry.services.aliases import PRODUCTION
from registry.services.records import locked_version, record_version
from registry.services.versions import READY, inspect_if_older
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.approvals.kinds import ApprovalKind
from workspaces.approvals.selectors import latest_of
from workspaces.approvals.services import decide_request, submit_request
from workspaces.models import Approval

State = ModelVersion.Approval


@dataclass(frozen=True)
class ApprovalCheck:
    """A condition of approval; `detail` says what is missing and what to do."""

    name: str  # files, pickle or card
    title: Message
    is_ok: bool
    detail: Message


def checks_of(version: ModelVersion) -> list[ApprovalCheck]:
    """Return the conditions of approval for a version."""
    inspection = version.inspection or {}
    has_files = version.status == READY and ModelFile.objects.filter(version=version).exists()
    is_complete = has_files and bool(inspection.get("is_complete"))
    unsafe, unchecked = not_safe(inspection)
    is_acknowledged = bool(version.acknowledged_by)
    has_card = bool(version.model.description.strip() or version.description.strip())
    return [
        ApprovalCheck(
            "files",
            Message("Files are present and inspected"),
            is_complete,
            Message("")
            if is_complete
            else Message("Upload the files again: some are missing or damaged.")
            if has_files
            else Message("The version has no files yet."),
        ),
        ApprovalCheck(
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
        ApprovalCheck(
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


class ModelApprovals(ApprovalKind[Approval]):
    name = "model"
    title = Message("Model approval", context="text, registry")
    decides = Permission.MODELS_APPROVE
    reads = Permission.MODELS_READ
    steps = ("approve", "decline", "withdraw", "revoke")
    longest = 5000
    renamed = {
        "requested": "approval_requested",
        "request_commented": "approval_commented",
        "request_withdrawn": "approval_withdrawn",
        "request_approved": "version_approved",
        "request_declined": "version_rejected",
    }

    def visible(self, actor: Actor) -> QuerySet[Approval]:
        return self.rows().filter(subject_id__in=visible_versions(actor).values("id"))

    def text(self, row: Approval) -> Message:
        name, _, version = row.subject.rpartition(" ")
        return Message(
            "Approval of {name} v{version}", context="text, registry", name=name, version=version
        )

    def related_pages(self, row: Approval) -> list[tuple[Message, str]]:
        return [(Message("Model version", context="link"), self.path(row))]

    def path(self, row: Approval) -> str:
        version = _version_of(row)
        place = f"{quote(version.model.team.slug)}/{quote(version.model.name, safe='')}"
        return f"/{row.org.slug}/models/{place}/versions/{version.version}"

    def authorize(self, actor: Actor, row: Approval, do: str) -> None:
        is_own = row.asker_id == actor.user_id
        own = Permission.MODELS_WRITE if do == "withdraw" and is_own else self.decides
        authorize(actor, own, row.team_id)
        if is_own and row.state == row.State.OPEN and do != "withdraw":
            raise NotPermitted(
                Message("You requested this approval. Somebody else must decide about it."),
                code="own_request",
            )

    def prepare(self, actor: Actor, row: Approval, do: str, terms: Mapping[str, Any]) -> None:
        if do == "approve":
            self.authorize(actor, row, do)
            inspect_if_older(actor, _version_of(row))

    def locked(self, request_id: UUID, terms: Mapping[str, Any]) -> Approval | None:
        """Lock the model and the version first, as all their writers do."""
        if row := self.rows().filter(id=request_id).first():
            locked_version(_version_of(row))
        return super().locked(request_id, terms)

    def apply(self, actor: Actor, row: Approval, do: str, terms: Mapping[str, Any]) -> None:
        version = _version_of(row)
        if do == "approve":
            _check_all(version)
        if do == "revoke" and version.model.requires_approval:
            _check_is_unused(version)
        _set_approval(version, _RESULTS[do])

    def facts(self, row: Approval) -> dict[str, Any]:
        version = _version_of(row)
        named = {"name": version.model.name, "team": version.model.team.slug}
        return {**named, "version": version.version, "request": str(row.id)}

    def terms(self, row: Approval) -> dict[str, Any]:
        version = _version_of(row)
        note = row.why if row.state == row.State.OPEN else row.word
        return {"approval": version.approval, "note": note[:500]}

    def event(
        self, what: str, who: str, row: Approval, before: Mapping[str, Any], **more: Any
    ) -> EventRecord:
        """Return the event, whose subject is the model."""
        found = super().event(what, who, row, before, **more)
        return replace(found, subject_type="model", subject_id=_version_of(row).model_id)

    def events_of(self, row: Approval) -> QuerySet[Event]:
        """Return the events of every request about the version."""
        version = _version_of(row)
        names = [self.event_kind(what) for what in self.renamed]
        rows = Event.objects.filter(org_id=row.org_id, subject_id=version.model_id)
        return rows.filter(kind__in=names, data__version=version.version)

    def row_of(self, event: Event) -> Approval | None:
        return self.rows().filter(id=event.data.get("request")).first()


KIND = ModelApprovals()
_RESULTS = {
    "approve": State.APPROVED,
    "decline": State.REJECTED,
    "revoke": State.REJECTED,
    "withdraw": State.NONE,
}


def request_approval(*, actor: Actor, version: ModelVersion, note: str = "") -> ModelVersion:
    """Ask approvers to decide. Raises Conflict if a check fails or it is requested already."""
    authorize(actor, Permission.MODELS_WRITE, version.model.team_id)
    assert actor.user_id is not None
    inspect_if_older(actor, version)
    with transaction.atomic():
        row = locked_version(version)
        _check_state(row, State.NONE, State.REJECTED)
        _check_all(row)
        before = row.approval
        _set_approval(row, State.REQUESTED)
        request = Approval(
            org_id=row.org_id,
            kind=KIND.name,
            team_id=row.model.team_id,
            asker_id=actor.user_id,
            subject_id=row.id,
            subject=f"{row.model.name} {row.version}",
            why=_checked_note(note),
        )
        submit_request(actor=actor, kind=KIND, row=request, before={"approval": before})
    return row


def decide_version(*, actor: Actor, version: ModelVersion, do: str, note: str = "") -> ModelVersion:
    """Approve, reject or withdraw; reject also revokes an approval.

    Approving and rejecting a request takes somebody else than who made it. From an approval on only
    approvers change the version's description and tags. Where the model requires approval, aliases
    and the stage Production must go before it is revoked. Raises Conflict, NotPermitted.
    """
    permission = Permission.MODELS_WRITE if do == "withdraw" else Permission.MODELS_APPROVE
    authorize(actor, permission, version.model.team_id)
    version.refresh_from_db(fields=["approval"])
    is_revoked = do == "reject" and version.approval == State.APPROVED
    _check_state(version, State.APPROVED if is_revoked else State.REQUESTED)
    step = "revoke" if is_revoked else {"reject": "decline"}.get(do, do)
    request = latest_of(KIND, [version.id])[version.id]
    decide_request(actor=actor, kind=KIND, request_id=request.id, do=step, word=_checked_note(note))
    version.refresh_from_db(fields=["approval", "updated_at"])
    return version


def approval_of(version: ModelVersion, request: Approval | None) -> dict[str, Any]:
    """Return what the API shows of a version's approval."""
    is_decided = request is not None and version.approval in (State.APPROVED, State.REJECTED)
    return {
        "state": version.approval,
        "requested_by": request.asker.email if request else None,
        "requested_at": request.created_at if request else None,
        "by": request.decided_by if request and is_decided else None,
        "at": request.decided_at if request and is_decided else None,
        "note": (request.word if is_decided else request.why) if request else "",
    }


def _version_of(row: Approval) -> ModelVersion:
    rows = ModelVersion.objects.select_related("model__team")
    return rows.get(id=row.subject_id)  # type: ignore[no-any-return]


def _set_approval(version: ModelVersion, state: str) -> None:
    version.approval, version.updated_at = state, clock.now()
    version.save(update_fields=["approval", "updated_at"])


def _checked_note(note: str) -> str:
    if len(note) > KIND.longest or "\x00" in note:
        raise InvalidInput.at(
            "note", Message("must be at most {n} characters long", n=f"{KIND.longest:,}")
        )
    return note


def _check_is_unused(version: ModelVersion) -> None:
    if aliases_of(version) or version.stage == PRODUCTION:
        raise Conflict(
            Message(
                "Version {version} is in use: move its aliases and its stage to another version "
                "first.",
                version=version.version,
            ),
            code="has_alias",
        )


def _check_state(row: ModelVersion, *allowed: str) -> None:
    if row.approval not in allowed:
        number = row.version
        texts = {
            State.NONE: Message("Nobody has requested approval of version {n}.", n=number),
            State.REQUESTED: Message("Approval of version {n} is already requested.", n=number),
            State.APPROVED: Message("Version {n} is approved already.", n=number),
            State.REJECTED: Message("Version {n} was rejected. Request approval again.", n=number),
        }
        raise Conflict(texts[State(row.approval)], code="approval_state")


def _check_all(row: ModelVersion) -> None:
    failed = [check for check in checks_of(row) if not check.is_ok]
    if failed:
        raise Conflict(
            failed[0].detail,
            code="checks_failed",
            data={"checks": [check.name for check in failed]},
        )
