"""Context of the page of one run: facts, params, metrics, lineage, artifacts, reproduction."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from datasets.models import RepositoryKind
from datasets.selectors import visible_repositories
from experiments import artifacts
from experiments.charts import source_of
from experiments.lists import STATES, run_item
from experiments.models import Artifact, LoggedModel, Run, RunStatus
from experiments.models.experiment import DEFAULT
from experiments.reproduction import environment_of, reproduction_of
from experiments.run_keys import OWN_TAGS, in_order, last_values
from experiments.selectors import visible_runs
from experiments.services.experiments import NOTE
from jobs.quotas.pricing import cost_of_jobs
from jobs.saving.origins import resume_url
from jobs.selectors.jobs import visible_jobs
from portal.core.errors import NotFound, PortalError
from portal.core.messages import Message
from portal.web.asset_actions import AssetAction, asset_actions, new_job_url
from portal.web.charts import expected_charts
from portal.web.lineage import lineage_context
from registry.models import ModelVersion
from workspaces.access.permissions import Permission as P

TABS = (
    ("overview", Message("Overview", context="tab")),
    ("charts", Message("Charts", context="tab")),
    ("artifacts", Message("Artifacts", context="tab")),
    ("lineage", Message("Lineage", context="tab")),
    ("reproduce", Message("Reproduce", context="tab")),
)
MOST_CHILDREN, MOST_MODELS = 100, 50
PREVIEW = 256 << 10  # bytes of a file that are read for its preview
MOST_ROWS, MOST_COLUMNS = 200, 60  # of a table
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp")


@dataclass(frozen=True)
class ArtifactPreview:
    """A file as the page shows it: `kind` is text, table, image or none."""

    path: str
    size: int
    sha256: str
    kind: str = ""
    text: str = ""
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    is_cut: bool = False


def run_context(request: Any, row: Run) -> dict[str, Any]:
    """Return the context of experiments/run.html. Raises NotFound for an unknown file."""
    base, actor = f"/{request.org.slug}", request.actor
    values = last_values([row])[row.series_owner]
    item = run_item(row, values)
    tab = request.GET.get("tab", "")
    tab = tab if tab in dict(TABS) else "overview"
    job = (
        visible_jobs(actor).filter(id=row.job_id).select_related("org", "team").first()
        if row.job_id
        else None
    )
    names = in_order(values)
    context = {
        "page_title": row.name,
        "crumbs": [
            (Message("Experiments", context="navigation"), f"{base}/experiments"),
            (row.experiment.title, f"{base}/experiments/{row.experiment.number}"),
        ],
        "run": item,
        "row": row,
        "experiment": row.experiment,
        "job": job,
        "cost": cost_of_jobs([job.id]) if job else "",
        "tab": tab,
        "tabs": TABS,
        "may_write": actor.may(P.EXPERIMENTS_WRITE, row.team_id),
        "note": row.tags.get(NOTE, ""),
        "params": sorted(row.params.items()),
        "metrics": [{"name": name, **values[name]} for name in names],
        "main": [{"name": name, **values[name]} for name in names[:6]],
        "tags": sorted((k, v) for k, v in row.tags.items() if not OWN_TAGS.match(k)),
        "own_tags": sorted((k, v) for k, v in row.tags.items() if OWN_TAGS.match(k) and k != NOTE),
        "environment": environment_of(row),
        "inputs": _datasets(actor, base, row),
        "models": _models(row),
        "versions": _versions(actor, row),
        "parent": _related(visible_runs(actor).filter(id=row.parent_id)) if row.parent_id else [],
        "children": _related(visible_runs(actor).filter(parent=row)),
        "chart_sources": [source_of(row)],
        "chart_names": ",".join(names[:4]),
        "expected_charts": expected_charts(names[:4]),
        "snippet": snippet(request, row),
        "asset_actions": _actions(request, row, job),
    }
    if tab == "artifacts":
        context |= artifact_context(request, row)
    if tab == "lineage":
        context["graph"] = lineage_context(request, "run", row.id)
    if tab == "reproduce":
        context["reproduction"] = reproduction_of(row, job)
    return context


def register_url(row: Run) -> str:
    """Return the form that registers the files of a run as a model, filled in; "" without files."""
    model = next(iter(_models(row)), None)
    files = Artifact.objects.filter(run=row)
    if model is None and not files.exists():
        return ""
    folder = model.name if model else "model"
    if model is None and not files.filter(path__startswith=f"{folder}/").exists():
        folder = ""
    is_default = row.experiment.name == DEFAULT
    fields = {
        "source": "/".join(filter(None, (f"runs:/{row.id.hex}", folder))),
        "name": model.name if model else row.name if is_default else row.experiment.name,
        "team": row.team.slug,
    }
    return f"{reverse('model-new', args=[row.org.slug])}?{urlencode(fields)}"


def _actions(request: Any, row: Run, job: Any) -> list[AssetAction]:
    org, register = request.org.slug, register_url(row)
    return asset_actions(
        request,
        rerun=new_job_url(org, {}, **{"from": job.number, "team": job.team.slug}) if job else "",
        resume=resume_url(job) if job else "",
        register=register,
        command=f"muster runs download {row.id.hex}" if register else "",
        python=snippet(request, row),
    )


def snippet(request: Any, row: Run) -> str:
    """Return Python that reads this run with an MLflow client."""
    url = f"{request.scheme}://{request.get_host()}/mlflow/{request.org.slug}/{row.team.slug}"
    return (
        "import mlflow\n\n"
        f'mlflow.set_tracking_uri("{url}")  # MLFLOW_TRACKING_TOKEN is your access token\n'
        f'run = mlflow.get_run("{row.id.hex}")\n'
        "print(run.data.params, run.data.metrics)"
    )


def _datasets(actor: Any, base: str, row: Run) -> list[dict[str, Any]]:
    """Return the data that the run logged; those that name a dataset of ours have its page."""
    found = [_dataset(one) for one in row.inputs]
    named = {one["name"] for one in found if one["kind"] == "muster"}
    rows = visible_repositories(actor, RepositoryKind.DATASET).filter(name__in=named)
    known = set(rows.values_list("name", flat=True)) if named else set()
    for one in found:
        is_ours = one["kind"] == "muster" and one["name"] in known
        one["page"] = f"{base}/datasets/{one['name']}" if is_ours else ""
    return found


def _dataset(given: dict[str, Any]) -> dict[str, Any]:
    dataset = given.get("dataset") or {}
    tags = given.get("tags") or {}
    if isinstance(tags, list):
        tags = {one.get("key"): one.get("value") for one in tags}
    return {
        "name": dataset.get("name", ""),
        "digest": dataset.get("digest", ""),
        "kind": dataset.get("source_type", ""),
        "source": _source(dataset.get("source", "")),
        "context": tags.get("mlflow.data.context", ""),
    }


def _source(text: Any) -> str:
    """Return the address in the source of a dataset, often JSON, or the program that made it."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return str(text)
    if not isinstance(found, dict):
        return str(text)
    tags = found.get("tags")
    program = tags.get("mlflow.source.name") if isinstance(tags, dict) else ""
    return str(found.get("uri") or found.get("url") or found.get("path") or program or "")


def _models(row: Run) -> list[LoggedModel]:
    """Return the logged models of the run, the newest first, without those of other teams."""
    rows = LoggedModel.objects.filter(run=row, experiment__team_id=row.team_id, deleted_at=None)
    found = rows.order_by("-created_at")
    return list(found[:MOST_MODELS])


def _versions(actor: Any, row: Run) -> list[dict[str, Any]]:
    """Return the registered versions that were made from this run, which the viewer may see."""
    teams = actor.teams_where(P.MODELS_READ)
    found = ModelVersion.objects.filter(run_id=row.id, model__deleted_at=None)
    found = found if teams is None else found.filter(model__team_id__in=teams)
    rows = found.order_by("model__name", "-version").values_list(
        "model__name", "version", "model__team__slug"
    )
    return [
        {
            "name": f"{team}/{name}",
            "version": version,
            "url": reverse("model-version", args=[row.org.slug, team, name, version]),
        }
        for name, version, team in rows[:MOST_MODELS]
    ]


def _related(rows: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "page": f"/{org}/runs/{pk.hex}",
            "state": STATES[RunStatus(status)],
        }
        for pk, name, status, org in rows.order_by("-started_ms").values_list(
            "id", "name", "status", "org__slug"
        )[:MOST_CHILDREN]
    ]


# --- Artifacts ---


def artifact_context(request: Any, row: Run) -> dict[str, Any]:
    """Return the tree around the path in the URL, and a preview if it is a file."""
    path = request.GET.get("path", "")
    try:
        levels, preview = _levels(row, path), preview_of(row, path)
    except PortalError as error:
        levels, preview = _levels(row, ""), None
        return {"levels": levels, "preview": None, "path": path, "artifact_error": error.message}
    return {
        "levels": levels,
        "preview": preview,
        "path": path,
        "files_api": f"/api/v1/orgs/{request.org.slug}/runs/{row.id.hex}/artifacts",
        "total": sum(file.size for file in artifacts.files_of(row).values()),
    }


def _levels(row: Run, path: str) -> list[dict[str, Any]]:
    """Return the tree as rows in order: the folders that lead to the path are open.

    Each open folder is listed once.
    """
    open_folders = {""}
    names = path.split("/")
    open_folders |= {"/".join(names[: n + 1]) for n in range(len(names))} if path else set()

    def below(folder: str, depth: int) -> list[dict[str, Any]]:
        found = []
        for entry in artifacts.listing(row, folder, with_models=True):
            is_open = entry.is_folder and entry.path in open_folders
            found.append(
                {
                    "path": entry.path,
                    "name": entry.path.rpartition("/")[2],
                    "is_folder": entry.is_folder,
                    "is_open": is_open,
                    "is_current": entry.path == path,
                    "size": entry.size,
                    "files": entry.files,
                    "depth": depth,
                    "target": folder if is_open else entry.path,
                }
            )
            if is_open:
                found += below(entry.path, depth + 1)
        return found

    return below("", 0)


def preview_of(row: Run, path: str) -> ArtifactPreview | None:
    """Return a file as a page shows it; None for a folder. Raises NotFound."""
    if not path:
        return None
    try:
        found = artifacts.find(row, path, with_models=True)
    except NotFound:
        if artifacts.is_folder(row, path, with_models=True):
            return None
        raise
    lower = path.lower()
    if lower.endswith(_IMAGES):
        return ArtifactPreview(path, found.size, found.sha256, "image")
    if found.size == 0:
        return ArtifactPreview(path, 0, found.sha256, "text")
    data = b"".join(artifacts.opened(found, 0, min(found.size, PREVIEW)))
    is_cut = found.size > PREVIEW
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if b"\x00" in data or not (is_cut and error.start >= len(data) - 4):
            return ArtifactPreview(path, found.size, found.sha256)
        text = data[: error.start].decode()
    if "\x00" in text:
        return ArtifactPreview(path, found.size, found.sha256)
    if lower.endswith((".csv", ".tsv")):
        return _table(found, text, "\t" if lower.endswith(".tsv") else ",", is_cut=is_cut)
    if lower.endswith(".json") and not is_cut:
        text = _pretty(text)
    return ArtifactPreview(path, found.size, found.sha256, "text", text=text, is_cut=is_cut)


def _table(found: Any, text: str, delimiter: str, *, is_cut: bool) -> ArtifactPreview:
    lines = text.rpartition("\n")[0] if is_cut else text
    try:
        rows = list(islice(csv.reader(StringIO(lines), delimiter=delimiter), MOST_ROWS + 2))
    except csv.Error:
        return ArtifactPreview(
            found.path, found.size, found.sha256, "text", text=text, is_cut=is_cut
        )
    if not rows:
        return ArtifactPreview(found.path, found.size, found.sha256, "text")
    is_wide = any(len(row) > MOST_COLUMNS for row in rows)
    rows = [row[:MOST_COLUMNS] for row in rows]
    return ArtifactPreview(
        found.path,
        found.size,
        found.sha256,
        "table",
        head=rows[0],
        rows=rows[1 : MOST_ROWS + 1],
        is_cut=is_cut or is_wide or len(rows) > MOST_ROWS + 1,
    )


def _pretty(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):  # also nested too deeply
        return text
