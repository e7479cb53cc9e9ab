"""Find what a model is registered from: files and facts of runs, logged models and checkpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from math import isfinite
from uuid import UUID

from datasets.models import Version
from datasets.selectors import find_repository, find_version, tree_of
from experiments import artifacts, selectors
from experiments.models import Artifact, LoggedModel, Run
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from registry.sources import SourceFile, SourceOrigin, VersionSource
from workspaces.access.actors import Actor

_RUN = re.compile(
    r"(?:runs:/|mlflow-artifacts:/+\d+/)(?P<run>[0-9a-f]{32})(?:/artifacts(?=/|\Z))?(?:/(?P<path>.*))?"
)
_MODEL = re.compile(
    r"(?:models:/|mlflow-artifacts:/+\d+/models/)m-(?P<model>[0-9a-f]{32})"
    r"(?:/artifacts(?=/|\Z))?(?:/(?P<path>.*))?"
)
_CHECKPOINT = re.compile(
    r"checkpoints:/(?P<name>[^/@]+)(?:@(?P<revision>[^/]+))?(?:/(?P<path>.*))?"
)
_MOST_FILES = 5001  # more than a model may have; a checkpoint can have millions


class RunSources:
    """The runs and logged models of MLflow's URIs, and `checkpoints:/NAME@REVISION[/FOLDER]`."""

    def find(
        self, actor: Actor, uri: str, run_id: UUID | None, logged_model_id: UUID | None
    ) -> VersionSource:
        """Return the files below a source URI. Raises NotFound, InvalidInput."""
        if found := _MODEL.fullmatch(uri):
            model = selectors.find_logged_model(actor, found["model"])
            return self._of_model(model, found["path"] or "")
        if found := _RUN.fullmatch(uri):
            run = selectors.find_run(actor, found["run"])
            return self._of_run(actor, run, found["path"] or "")
        if found := _CHECKPOINT.fullmatch(uri):
            repository = find_repository(actor, "checkpoint", found["name"])
            version = find_version(repository, found["revision"] or "")
            return self._of_checkpoint(actor, version, (found["path"] or "").strip("/"))
        raise InvalidInput.at(
            "source",
            Message(
                "{uri} is not in this portal. Name files that are, such as runs:/<run id>/model, "
                "models:/m-<id>, models:/<name>/<version> or checkpoints:/<name>@<version>; log or "
                "upload others first",
                uri=uri[:200],
            ),
        )

    def origins(
        self, actor: Actor, org: str, run_id: UUID | None, logged_model_id: UUID | None
    ) -> Sequence[SourceOrigin]:
        """Return the pages of a version's run and logged model that the actor may see."""
        try:
            run = selectors.find_run(actor, run_id.hex) if run_id else None
            if run is None and logged_model_id:
                run = selectors.find_logged_model(actor, logged_model_id.hex).run
        except NotFound:
            return ()
        return () if run is None else (SourceOrigin(run.name, f"/{org}/runs/{run.id.hex}"),)

    def _of_run(self, actor: Actor, run: Run, path: str) -> VersionSource:
        files = _files(Artifact.objects.filter(run=run), path)
        if not files:  # MLflow 3 keeps the files of the models that a run logs apart from it
            for model in selectors.visible_logged_models(actor).filter(run=run, name=path):
                return self._of_model(model, "")
        last = selectors.last_metrics([run])[run.id]
        metrics = {name: p.value for name, p in last.items() if isfinite(p.value)}
        return VersionSource(files, run.id, metrics=metrics)

    def _of_model(self, model: LoggedModel, path: str) -> VersionSource:
        metrics = {
            each["key"]: float(each["value"])
            for each in model.metrics
            if isfinite(float(each["value"]))
        }
        files = _files(Artifact.objects.filter(logged_model=model), path)
        return VersionSource(files, model.run_id, model.id, metrics=metrics)

    def _of_checkpoint(self, actor: Actor, version: Version, path: str) -> VersionSource:
        job_id = version.job_id
        run = selectors.visible_runs(actor).filter(id=job_id).first() if job_id else None
        start = len(path) + 1 if path else 0
        files = [
            SourceFile(entry.path[start:], entry.sha256, entry.size)
            for entry in islice(tree_of(version).below(path), _MOST_FILES)
        ]
        last = selectors.last_metrics([run])[run.id] if run else {}
        metrics = {name: p.value for name, p in last.items() if isfinite(p.value)}
        return VersionSource(files, run.id if run else None, None, version.id, metrics)


def _files(rows: Iterable[Artifact], path: str) -> list[SourceFile]:
    """Return the files below a folder, with their paths in it."""
    start = f"{artifacts.clean_path(path.strip('/'))}/" if path.strip("/") else ""
    return [
        SourceFile(row.path.removeprefix(start), row.sha256, row.size)
        for row in rows
        if row.path.startswith(start)
    ]
