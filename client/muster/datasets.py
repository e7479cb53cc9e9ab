"""SDK for datasets and checkpoints. Rows are the API's JSON, typed in `muster.shapes`.

A `revision` is a branch, a tag, the number of a version, or 7 or more digits of its commit; "" is
the default branch.
"""

from __future__ import annotations

import builtins
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import InvalidInput, Json, MusterError, NotFound, RateLimited, Unavailable
from muster.folder_cache import FolderCache
from muster.folders import Fetcher, Progress, Sender, files_in, hashed
from muster.following import PATIENCE

if TYPE_CHECKING:
    from muster.client import Client
    from muster.shapes.datasets import (
        DatasetImportShape,
        DefaultRetentionShape,
        EntryShape,
        FileDifferenceShape,
        FreedBytesShape,
        FreedShape,
        PlanShape,
        RefShape,
        RepositoryDetailShape,
        RepositoryShape,
        RepositoryVersionShape,
        ShareShape,
        SpaceShape,
    )

RESOURCES = {
    "datasets": "Datasets",
    "checkpoints": "Checkpoints",
}
_DIGESTS = 10_000  # in one question
_PAGE = 1000  # files
_LONG = 600  # seconds: a commit of a million files


class Repositories:
    """Datasets, or checkpoints: `noun` is which, in the plural."""

    def __init__(self, client: Client, noun: str):
        self._client, self._noun = client, noun

    def list(self, **filters: Any) -> Iterator[RepositoryShape]:
        """Iterate over what you may read, for example of `team="vision"` or with `q="cifar"`."""
        return self._client.items(self._noun, **filters)

    def get(self, name: str) -> RepositoryDetailShape:
        """Return one with its rules and shares."""
        return self._client.get(self._path(name))

    def create(self, name: str, team: str = "", **fields: Any) -> RepositoryDetailShape:
        """Create one. Fields: description, visibility (private, team or organization)."""
        body = {"name": name, "team": team or self._client.team, **fields}
        return self._client.send("POST", self._noun, body)

    def change(self, name: str, **fields: Any) -> RepositoryDetailShape:
        """Change name, description, visibility, default_branch, keep_last, keep_days, legal_hold.

        `own_retention=False` follows the rules of the organization.
        """
        return self._client.send("PATCH", self._path(name), fields)

    def delete(self, name: str) -> None:
        """Move it with its versions to the trash."""
        self._client.send("DELETE", self._path(name))

    def trash(self) -> Iterator[RepositoryShape]:
        """Iterate over the trash, what was deleted last first."""
        return self._client.items(f"{self._noun}-trash")

    def restore(self, name: str) -> RepositoryDetailShape:
        """Take the one of this name out of the trash that was deleted last. Raises NotFound."""
        for row in self.trash():
            if row["name"].lower() == name.lower():
                return self._client.send("POST", f"{self._noun}-trash/{row['id']}")
        raise NotFound(f"There is no {name} in the trash.", code="no_repository")

    def purge(self, name: str) -> None:
        """Delete one in the trash permanently."""
        found = next((row for row in self.trash() if row["name"] == name), None)
        if found is None:
            raise NotFound(f"There is no {name} in the trash.", code="no_repository")
        self._client.send("DELETE", f"{self._noun}-trash/{found['id']}")

    def space(self, name: str) -> SpaceShape:
        """Return what its bytes are for, and the versions to which nothing refers."""
        return self._client.get(f"{self._path(name)}/space")

    def discard_unused(self, name: str) -> FreedBytesShape:
        """Delete files that no version names and uploads that have not moved for an hour."""
        return self._client.send("DELETE", f"{self._path(name)}/space")

    def retention(self, name: str, **rules: int) -> PlanShape:
        """Return what rules (keep_last, keep_days) would delete, by default its own."""
        return self._client.get(f"{self._path(name)}/retention", **rules)

    def delete_old(self, name: str, **rules: int) -> PlanShape:
        """Delete once what these rules do not keep."""
        return self._client.send("POST", f"{self._path(name)}/retention", dict(rules))

    def default_retention(self, **rules: int) -> DefaultRetentionShape:
        """Return what rules for all without rules of their own would delete; default: the saved."""
        return self._client.get(f"{self._noun}-default-retention", **rules)

    def set_default_retention(self, **rules: int) -> DefaultRetentionShape:
        """Set the rules (keep_last, keep_days) for all that have none of their own."""
        return self._client.send("PUT", f"{self._noun}-default-retention", dict(rules))

    def share(self, name: str, team: str, *, can_write: bool = False) -> ShareShape:
        """Let another team read, or also write."""
        path = f"{self._path(name)}/shares/{_safe(team)}"
        return self._client.send("PUT", path, {"can_write": can_write})

    def unshare(self, name: str, team: str) -> None:
        self._client.send("DELETE", f"{self._path(name)}/shares/{_safe(team)}")

    def versions(self, name: str) -> Iterator[RepositoryVersionShape]:
        """Iterate over the versions, the last one first."""
        return self._client.items(f"{self._path(name)}/versions")

    def version(self, name: str, revision: str = "") -> RepositoryVersionShape:
        """Return a version."""
        revision = revision or str(self.get(name)["default_branch"])
        return self._client.get(f"{self._path(name)}/versions/{quote(revision)}")

    def delete_version(self, name: str, revision: str) -> FreedShape:
        """Delete a version permanently that has neither branch nor tag."""
        return self._client.send("DELETE", f"{self._path(name)}/versions/{quote(revision)}")

    def files(
        self, name: str, revision: str = "", path: str = "", *, recursive: bool = True
    ) -> Iterator[EntryShape]:
        """Iterate over the files of a folder, in order of their paths."""
        query = {"revision": revision, "path": path, "recursive": "1" if recursive else ""}
        return self._paged(f"{self._path(name)}/tree", query)

    def diff(self, name: str, before: str = "", after: str = "") -> Iterator[FileDifferenceShape]:
        """Iterate over the files that differ, by default what the newest version changed."""
        return self._paged(f"{self._path(name)}/diff", {"from": before, "to": after})

    def refs(self, name: str) -> builtins.list[RefShape]:
        """Return branches and tags."""
        return builtins.list(self._client.items(f"{self._path(name)}/refs"))

    def tag(self, name: str, tag: str, revision: str = "", *, may_move: bool = False) -> RefShape:
        """Name a version."""
        body = {"revision": revision, "may_move": may_move}
        return self._client.send("PUT", f"{self._path(name)}/tags/{quote(tag)}", body)

    def delete_tag(self, name: str, tag: str) -> None:
        self._client.send("DELETE", f"{self._path(name)}/tags/{quote(tag)}")

    def branch(self, name: str, branch: str, revision: str = "") -> RefShape:
        """Create a branch."""
        body = {"name": branch, "revision": revision}
        return self._client.send("POST", f"{self._path(name)}/branches", body)

    def commit(
        self, name: str, changes: Sequence[Mapping[str, Any]], message: str = "", **fields: Any
    ) -> RepositoryVersionShape:
        """Make a version of changes: {"op": "add", "path": …, "sha256": …}, delete or copy.

        Fields: branch, parent, description. Raises Conflict with the code `moved` if the branch is
        no longer at `parent`.
        """
        lines = [{"message": message, **fields}, *changes]
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        answer = self._client.request(
            "POST",
            self._client.within(f"{self._path(name)}/commits"),
            content=body,
            headers={"Content-Type": "application/x-ndjson"},
            timeout=_LONG,
        )
        made: RepositoryVersionShape = answer.json()
        return made

    def upload(
        self,
        folder: str | os.PathLike[str],
        name: str,
        message: str = "",
        *,
        branch: str = "",
        team: str = "",
        delete: bool = False,
        progress: Progress | None = None,
    ) -> Json:
        """Make a version of a folder: only files that are new or changed are sent.

        Creates what is missing: the dataset, in `team`, and the branch. `delete` removes what is
        not in the folder. The answer is the version, with `sent_files` and `sent_bytes`. Raises
        Conflict with the code `moved` if somebody else was faster; sent files are kept.
        """
        files = files_in(Path(folder))
        if not files and not delete:
            raise InvalidInput(f"{folder}: there are no files to upload", code="no_files")
        head = self._head(name, branch, team)
        old = {row["path"]: row["sha256"] for row in self.files(name, head)} if head else {}
        cache = FolderCache()
        try:
            digests = hashed(files.values(), cache, progress)
            changed = {path: digests[file] for path, file in files.items()}
            changed = {path: digest for path, digest in changed.items() if old.get(path) != digest}
            wanted = {digest: files[path] for path, digest in changed.items()}
            known = self._known(name, builtins.list(wanted))
            new = {digest: file for digest, file in wanted.items() if digest not in known}
            sender = Sender(self._client, self._path(name), cache)
            sender.send(new, progress)
        finally:
            cache.close()
        gone = sorted(old.keys() - files.keys()) if delete else []
        changes = [{"op": "delete", "path": path} for path in gone] + [
            {"op": "add", "path": path, "sha256": digest} for path, digest in changed.items()
        ]
        if changes:
            more = {"branch": branch} if branch else {}
            made = self.commit(name, changes, message, parent=head, **more)
        else:
            made = self.version(name, head)
        return {
            **made,
            "is_new": bool(changes),
            "sent_files": len(new),
            "sent_bytes": sender.sent,
        }

    def download(
        self,
        name: str,
        revision: str = "",
        folder: str | os.PathLike[str] = ".",
        *,
        include: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> builtins.list[Path]:
        """Fetch the files of a version into a folder and verify their SHA-256.

        `include` are patterns such as `train/*.png`. Files that are there with the same content are
        kept; those that were cut are continued.
        """
        commit = self.version(name, revision)["commit"]  # a branch may move meanwhile
        rows = [
            row
            for row in self.files(name, commit)
            if not include or any(fnmatchcase(row["path"], pattern) for pattern in include)
        ]
        cache = FolderCache()
        try:
            path = f"{self._path(name)}/files/{commit}"
            return Fetcher(self._client, path, Path(folder), cache).fetch(rows, progress)
        finally:
            cache.close()

    def start_import(
        self, name: str, source: str | Sequence[str], *, team: str = "", **fields: Any
    ) -> DatasetImportShape:
        """Let the portal fetch files and commit them; creates the dataset if needed.

        `source` is s3://BUCKET/PREFIX, https addresses, hf://datasets/OWNER/NAME@REVISION or
        cluster://CLUSTER/DIRECTORY. Fields: endpoint, region, secrets (references by what they are
        for), branch, folder, message.
        """
        self._get_or_create(name, team)
        sources = [source] if isinstance(source, str) else builtins.list(source)
        return self._client.send(
            "POST", f"{self._path(name)}/imports", {"source": sources, **fields}
        )

    def imports(self, name: str) -> Iterator[DatasetImportShape]:
        """Iterate over the imports, the last one first."""
        return self._client.items(f"{self._path(name)}/imports")

    def get_import(self, name: str, import_id: str) -> DatasetImportShape:
        """Return an import with its progress."""
        return self._client.get(f"{self._path(name)}/imports/{_safe(import_id)}")

    def cancel_import(self, name: str, import_id: str) -> DatasetImportShape:
        """Cancel an import; what was fetched is kept for a day."""
        return self._client.send("POST", f"{self._path(name)}/imports/{_safe(import_id)}/cancel")

    def resume_import(self, name: str, import_id: str) -> DatasetImportShape:
        """Continue a failed or canceled import."""
        return self._client.send("POST", f"{self._path(name)}/imports/{_safe(import_id)}/resume")

    def wait_for_import(
        self, name: str, import_id: str, progress: Progress | None = None, *, every: float = 1.0
    ) -> DatasetImportShape:
        """Wait for the end of an import and return it, tolerating outages of the portal.

        Raises MusterError if it failed.
        """
        answered_at = time.monotonic()
        while True:
            try:
                row, answered_at = self.get_import(name, import_id), time.monotonic()
            except (Unavailable, RateLimited):
                if time.monotonic() - answered_at > PATIENCE:
                    raise
                time.sleep(every)
                continue
            if progress:
                progress("fetch", row["bytes_done"], row["bytes"] or row["bytes_done"])
            if row["state"] == "succeeded":
                return row
            if row["ended_at"]:
                raise MusterError(row["error"] or "The import was canceled.", code="import_ended")
            time.sleep(every)

    def _get_or_create(self, name: str, team: str) -> RepositoryDetailShape:
        try:
            return self.get(name)
        except NotFound as error:
            if error.code != "no_repository":
                raise
            return self.create(name, team)

    def _head(self, name: str, branch: str, team: str) -> str:
        """Return the commit of a branch, "" if it has none; create what is missing."""
        row = self._get_or_create(name, team)
        wanted = branch or row["default_branch"]
        found = [r for r in self.refs(name) if (r["kind"], r["name"]) == ("branch", wanted)]
        made = found[0] if found else self.branch(name, wanted)
        return str(made["commit"] or "")

    def _known(self, name: str, digests: builtins.list[str]) -> set[str]:
        """Return those SHA-256 whose files need not be sent."""
        known: set[str] = set()
        for start in range(0, len(digests), _DIGESTS):
            body = {"sha256": digests[start : start + _DIGESTS]}
            answer = self._client.send("POST", f"{self._path(name)}/contents", body)
            known.update(row["sha256"] for row in answer["items"])
        return known

    def _paged(self, path: str, query: Json) -> Iterator[Any]:
        after = ""
        while True:
            asked = {**query, "after": after, "limit": _PAGE}
            page = self._client.request("GET", self._client.within(path), query=asked).json()
            yield from page["items"]
            after = page["next"] or ""
            if not after:
                return

    def _path(self, name: str) -> str:
        return f"{self._noun}/{_safe(name)}"


def _safe(text: str) -> str:
    return quote(text, safe="")


class Datasets(Repositories):
    """The datasets of the organization."""

    def __init__(self, client: Client):
        super().__init__(client, "datasets")


class Checkpoints(Repositories):
    """The checkpoints of the organization."""

    def __init__(self, client: Client):
        super().__init__(client, "checkpoints")
