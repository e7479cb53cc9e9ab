"""Represent models and versions as JSON: one shape for the API, the pages and the CLI."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Q, Sum

from portal.web.markdown import without_front_matter
from registry.models import ModelFile, ModelVersion, RegisteredModel
from registry.services.approval import KIND, approval_of, checks_of
from workspaces.approvals.selectors import latest_of
from workspaces.models import Approval

Item = dict[str, Any]


def model_rows(models: Sequence[RegisteredModel]) -> list[Item]:
    """Return list items of the API."""
    ids = [model.id for model in models]
    numbers = {
        row["model_id"]: row
        for row in ModelVersion.objects.filter(model_id__in=ids, status="READY")
        .values("model_id")
        .annotate(
            versions=Count("id"),
            latest=Max("version"),
            requested=Count("id", filter=Q(approval=ModelVersion.Approval.REQUESTED)),
            approved=Max("version", filter=Q(approval=ModelVersion.Approval.APPROVED)),
        )
    }
    files = ModelFile.objects.filter(version__model_id__in=ids, version__status="READY")
    sizes = dict(files.order_by().values_list("version__model_id").annotate(n=Sum("size")))
    nothing = {"versions": 0, "latest": None, "requested": 0, "approved": None}
    return [
        {
            "id": str(model.id),
            "name": model.name,
            "team": model.team.slug,
            "owner": _person(model.owner),
            "tags": model.tags,
            "aliases": dict(sorted(model.aliases.items())),
            "requires_approval": model.requires_approval,
            "summary": _summary(model.description),
            "versions": (found := numbers.get(model.id, nothing))["versions"],
            "latest": found["latest"],
            "bytes": sizes.get(model.id, 0),
            "requested": found["requested"],
            "approved": found["approved"],
            "created_at": model.created_at,
            "updated_at": model.updated_at,
            "deleted_at": model.deleted_at,
        }
        for model in models
    ]


def model_detail(model: RegisteredModel) -> Item:
    """Return a model with its card."""
    return {**model_rows([model])[0], "description": model.description}


def version_rows(versions: Sequence[ModelVersion]) -> list[Item]:
    """Return list items of the API. The versions have their model."""
    sizes = _sizes(version.id for version in versions)
    requests = latest_of(KIND, [version.id for version in versions])
    return [_version(version, requests.get(version.id), *sizes[version.id]) for version in versions]


def version_detail(version: ModelVersion) -> Item:
    """Return a version with what was found in its files and the conditions of approval."""
    inspection = version.inspection or {}
    promoted = version.promoted_from
    return {
        **version_rows([version])[0],
        "signature": version.signature,
        "inspection": inspection,
        "acknowledged_by": version.acknowledged_by,
        "promoted_from": promoted
        and {
            "team": promoted.model.team.slug,
            "name": promoted.model.name,
            "version": promoted.version,
        },
        "checks": [
            {"name": c.name, "title": c.title, "is_ok": c.is_ok, "detail": c.detail}
            for c in checks_of(version)
        ],
    }


def file_rows(version: ModelVersion, files: Iterable[ModelFile]) -> list[Item]:
    """Return files with what their headers say."""
    facts = (version.inspection or {}).get("files", {})
    return [
        {
            "path": file.path,
            "bytes": file.size,
            "sha256": file.sha256,
            "facts": facts.get(file.path),
        }
        for file in files
    ]


def _version(version: ModelVersion, request: Approval | None, files: int, size: int) -> Item:
    aliases = version.model.aliases.items()
    inspection = version.inspection or {}
    return {
        "id": str(version.id),
        "version": version.version,
        "name": version.model.name,
        "team": version.model.team.slug,
        "owner": _person(version.owner),
        "status": version.status,
        "stage": version.stage,
        "aliases": sorted(alias for alias, number in aliases if number == version.version),
        "description": version.description,
        "tags": version.tags,
        "source": version.source,
        "run_id": version.run_id.hex if version.run_id else None,
        "logged_model_id": f"m-{version.logged_model_id.hex}" if version.logged_model_id else None,
        "metrics": version.metrics,
        "files": files,
        "bytes": size,
        "formats": sorted({f["format"] for f in inspection.get("files", {}).values()}),
        "unsafe": inspection.get("unsafe", []),
        "unchecked": inspection.get("unchecked", []),
        "approval": approval_of(version, request),
        "created_at": version.created_at,
        "updated_at": version.updated_at,
    }


def _sizes(ids: Iterable[UUID]) -> dict[UUID, tuple[int, int]]:
    """Return number of files and bytes by version."""
    found: dict[UUID, tuple[int, int]] = defaultdict(lambda: (0, 0))
    rows = ModelFile.objects.filter(version_id__in=list(ids)).values("version_id")
    for row in rows.annotate(files=Count("id"), size=Sum("size")):
        found[row["version_id"]] = row["files"], int(row["size"] or 0)
    return found


def _person(user: Any) -> Item:
    return {"email": user.email, "name": user.display_name}


def _summary(card: str) -> str:
    """Return the first line of a card that is neither empty nor a heading, cut."""
    lines = (line.strip() for line in without_front_matter(card).splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return first if len(first) <= 160 else f"{first[:159]}…"
