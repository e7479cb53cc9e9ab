"""What all pages of a repository share: its header, the chosen revision, and addresses."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from datasets import access, selectors
from datasets.models import Ref, Repository, RepositoryKind, Version, Visibility
from datasets.origins import origins_of
from datasets.trees import Tree
from portal.core.messages import Message
from portal.web.asset_actions import AssetAction, asset_actions, new_job_url
from workspaces.access.permissions import Permission as P
from workspaces.models import Team

PLURALS = {
    RepositoryKind.DATASET: Message("Datasets", context="navigation"),
    RepositoryKind.CHECKPOINT: Message("Checkpoints", context="navigation"),
}
VISIBILITIES = {
    Visibility.PRIVATE: Message("Private", context="visibility"),
    Visibility.TEAM: Message("Team", context="visibility"),
    Visibility.ORGANIZATION: Message("Organization", context="visibility"),
}
MOST_REFS = 200


class RepositoryPage:
    """A repository and the revision that the page shows: `version` is None while it is empty."""

    def __init__(self, request: Any, kind: str, name: str):
        self.request = request
        self.row: Repository = selectors.find_repository(request.actor, kind, name)
        self.at: str = request.GET.get("at", "")
        self.version: Version | None = selectors.version_or_none(self.row, self.at)

    @property
    def revision(self) -> str:
        return self.at or self.row.default_branch

    @property
    def tree(self) -> Tree:
        return selectors.tree_of(self.version)

    @property
    def branch(self) -> str:
        """Return the branch that is shown, "" for a tag or version, which cannot be changed."""
        rows = Ref.objects.filter(
            repository=self.row, kind=Ref.Kind.BRANCH, name=self.revision
        ).values_list("name", flat=True)
        return rows.first() or ""

    def url(
        self, name: str = "repository", query: Mapping[str, str] | None = None, **more: Any
    ) -> str:
        """Return the path of a page of the repository, at the same revision."""
        kwargs = {
            "org": self.request.org.slug,
            "kind": self.row.kind,
            "repository": self.row.name,
            **more,
        }
        asked = {"at": self.at, **(query or {})}
        text = urlencode({key: value for key, value in asked.items() if value})
        return reverse(name, kwargs=kwargs) + (f"?{text}" if text else "")

    def context(
        self, tab: str, *, title: Any = None, crumbs: tuple[Any, ...] = ()
    ) -> dict[str, Any]:
        """Return the context of the header and the tabs."""
        row, actor = self.row, self.request.actor
        refs = selectors.refs_of(row)[:MOST_REFS]
        listed = reverse(f"{row.kind}s", args=[self.request.org.slug])
        above: list[Any] = [(PLURALS[RepositoryKind(row.kind)], listed)]
        if title is not None:
            above.append((row.name, reverse("repository", kwargs=self._kwargs())))
        return {
            "page_title": title if title is not None else row.name,
            "crumbs": [*above, *crumbs],
            "repository": row,
            "plural": f"{row.kind}s",
            "visibility": VISIBILITIES[Visibility(row.visibility)],
            "place": self,
            "version": self.version,
            "at": self.at,
            "revision": self.revision,
            "branch": self.branch,
            "tab": tab,
            "branches": [ref for ref in refs if ref.kind == Ref.Kind.BRANCH],
            "tags": [ref for ref in refs if ref.kind == Ref.Kind.TAG],
            "number_of_versions": selectors.versions_of(row).count(),
            "may_write": access.may_write(actor, row)
            and not actor.refuses_to_act(P.DATASETS_WRITE),
            "may_manage": access.may_manage(actor, row),
            "asset_actions": self._actions(),
            "api": f"/api/v1/orgs/{self.request.org.slug}/{row.kind}s/{row.name}",
        }

    def _actions(self) -> list[AssetAction]:
        """Return what can be done with the shown version; only a link while there is none."""
        row, org, version = self.row, self.request.org.slug, self.version
        if version is None:
            return asset_actions(self.request)
        at = f"{row.name}@{self.at or version.number}"
        is_dataset = row.kind == RepositoryKind.DATASET
        # The command shows where the job finds the files
        data = {"inputs.data": at, "run": 'ls "$MUSTER_INPUT_DATA"\n'}
        checkpoint = {"inputs.ckpt": {"checkpoint": at}, "run": 'ls "$MUSTER_INPUT_CKPT"\n'}
        source = {"source": f"checkpoints:/{at}", "name": row.name, "team": row.team.slug}
        new_model = reverse("model-new", args=[org])
        return asset_actions(
            self.request,
            use=new_job_url(org, data if is_dataset else checkpoint),
            resume="" if is_dataset else self._resume(version),
            register="" if is_dataset else f"{new_model}?{urlencode(source)}",
            command=self.usage()["command"],
            at=urlencode({"at": self.at or version.number}),
        )

    def _resume(self, version: Version) -> str:
        """Return the page that runs the job again that made the newest version, from it."""
        newest = selectors.version_or_none(self.row, "")
        if version.job_id is None or newest is None or newest.id != version.id:
            return ""
        found = origins_of(self.request.actor, [version.job_id]).get(version.job_id)
        return found.resume if found else ""

    def _kwargs(self) -> dict[str, str]:
        return {
            "org": self.request.org.slug,
            "kind": self.row.kind,
            "repository": self.row.name,
        }

    def usage(self, path: str = "") -> dict[str, str]:
        """Return commands that use the files: in a job, ours, and that of the Hub's client."""
        name = self.row.name + (f"@{self.at}" if self.at else "")
        include = f" --include {shlex.quote(f'{path}/*')}" if path else ""
        endpoint = self.request.build_absolute_uri("/hf")
        hub = f"{self.request.org.slug}/{self.row.name}"
        kind = " --repo-type dataset" if self.row.kind == RepositoryKind.DATASET else ""
        at = f" --revision {shlex.quote(self.at)}" if self.at else ""
        of_kind = "" if self.row.kind == RepositoryKind.DATASET else "checkpoint:"
        return {
            "job": f"muster run --input {shlex.quote(f'data={of_kind}{name}')}"
            " -- 'ls $MUSTER_INPUT_DATA'",
            "command": f"muster {self.row.kind} download {shlex.quote(name)} ./data{include}",
            "hub": f"HF_ENDPOINT={endpoint} hf download {hub}{kind}{at}{include}",
        }


def teams_to_write(actor: Any) -> list[Team]:
    """Return the teams for which the actor may create repositories."""
    teams = actor.teams_where(P.DATASETS_WRITE)
    rows = Team.objects.order_by("slug")
    return list(rows if teams is None else rows.filter(id__in=teams))
