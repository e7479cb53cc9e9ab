"""SDK for registered models. Rows are the API's JSON.

A model is named `TEAM/NAME`, or `NAME` in the client's team. `which` is the number of a version, an
alias, or `latest`.
"""

from __future__ import annotations

import builtins
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import Conflict, InvalidInput, Json, NotFound

if TYPE_CHECKING:
    from muster.client import Client

RESOURCES = {"models": "Models"}
Progress = Callable[[str, int, int], None]  # path, bytes done, bytes in all


class Models:
    """Registered models, their versions and files."""

    def __init__(self, client: Client):
        self._client = client

    def list(self, **filters: Any) -> Iterator[Json]:
        """Iterate over the models, for example of `team="vision"` or with `approval="requested"`."""
        return self._client.items("models", **filters)

    def get(self, name: str) -> Json:
        """Return a model with its card."""
        return self._client.get(self._path(name))

    def create(self, name: str, **fields: Any) -> Json:
        """Create a model. Fields: description, tags, requires_approval."""
        team, alone = self.place(name)
        return self._client.send("POST", "models", {"team": team, "name": alone, **fields})

    def change(self, name: str, **fields: Any) -> Json:
        """Change name, description (the model card), tags or requires_approval."""
        return self._client.send("PATCH", self._path(name), fields)

    def delete(self, name: str) -> None:
        """Move a model with its versions to the trash."""
        self._client.send("DELETE", self._path(name))

    def versions(self, name: str) -> Iterator[Json]:
        """Iterate over the versions, the last one first."""
        return self._client.items(f"{self._path(name)}/versions")

    def version(self, name: str, which: str = "latest") -> Json:
        """Return a version with its signature and what was found in its files."""
        return self._client.get(self._version(name, which))

    def register(self, name: str, source: str, **fields: Any) -> Json:
        """Register a version from a run, such as `runs:/RUN_ID/model`; create the model if needed.

        Fields: description, tags.
        """
        self._ensure(name)
        body = {"source": source, **fields}
        return self._client.send("POST", f"{self._path(name)}/versions", body)

    def upload(
        self,
        name: str,
        path: str | os.PathLike[str],
        *,
        progress: Progress | None = None,
        **fields: Any,
    ) -> Json:
        """Upload a file or folder as a new version; create the model if needed.

        Fields: description, tags. If it fails, what was sent is discarded.
        """
        files = files_in(Path(path))
        self._ensure(name)
        made = self._client.send("POST", f"{self._path(name)}/versions", fields)
        base = self._version(name, str(made["version"]))
        try:
            for inside, file in files.items():
                self._put(f"{base}/files/{quote(inside)}", file)
                if progress:
                    size = file.stat().st_size
                    progress(inside, size, size)
            return self._client.send("POST", f"{base}/finish")
        except BaseException:
            self._client.send("DELETE", base)
            raise

    def download(
        self,
        name: str,
        which: str = "latest",
        to: str | os.PathLike[str] = ".",
        *,
        progress: Progress | None = None,
    ) -> builtins.list[Path]:
        """Download the files of a version into a folder and verify their SHA-256.

        Files that are there already, with the same content, are kept. Raises Conflict if a file
        does not have its SHA-256.
        """
        base, root = self._version(name, which), Path(to)
        # Files never change, but an alias may move between two requests
        base = self._version(name, str(self._client.get(base)["version"]))
        found = []
        for file in self._client.items(f"{base}/files"):
            target = root / inside_of(file["path"])
            if not (target.is_file() and sha256_of(target) == file["sha256"]):
                self._fetch(f"{base}/files/{quote(file['path'])}", target, file, progress)
            found.append(target)
        return found

    def set_alias(self, name: str, alias: str, version: int, if_version: int | None = None) -> Json:
        """Point an alias at a version; with `if_version`, only if it points there now."""
        body = {"version": version, "if_version": if_version}
        return self._client.send("PUT", f"{self._path(name)}/aliases/{_safe(alias)}", body)

    def delete_alias(self, name: str, alias: str) -> None:
        self._client.send("DELETE", f"{self._path(name)}/aliases/{_safe(alias)}")

    def approval(self, name: str, which: str, do: str, note: str = "") -> Json:
        """Decide about a version: `do` is acknowledge, request, withdraw, approve or reject."""
        body = {"do": do, "note": note}
        return self._client.send("POST", f"{self._version(name, which)}/approval", body)

    def promote(self, name: str, which: str, team: str, new_name: str = "") -> Json:
        """Create a version of another team's model with the same files."""
        body = {"team": team, "name": new_name}
        return self._client.send("POST", f"{self._version(name, which)}/promote", body)

    def delete_version(self, name: str, which: str) -> None:
        """Delete a version permanently."""
        self._client.send("DELETE", self._version(name, which))

    def place(self, name: str) -> tuple[str, str]:
        """Return team and name of `TEAM/NAME`, or of `NAME`. Raises InvalidInput."""
        team, slash, alone = name.partition("/")
        if not slash:
            team, alone = self._client.team, name
        if not team:
            team = self._only_team(name)
        return team, alone

    def _only_team(self, name: str) -> str:
        mine = next((o for o in self._client.me()["orgs"] if o["slug"] == self._client.org), None)
        teams = [team["slug"] for team in (mine or {"teams": []})["teams"]]
        if len(teams) != 1:
            raise InvalidInput(f"No team was given. Use TEAM/{name} or --team.", code="no_team")
        return str(teams[0])

    def _path(self, name: str) -> str:
        team, alone = self.place(name)
        return f"models/{_safe(team)}/{_safe(alone)}"

    def _version(self, name: str, which: str) -> str:
        return f"{self._path(name)}/versions/{_safe(which)}"

    def _ensure(self, name: str) -> None:
        try:
            self.get(name)
        except NotFound:
            self.create(name)

    def _put(self, path: str, file: Path) -> None:
        self._client.upload(self._client.within(path), file)

    def _fetch(
        self, path: str, target: Path, file: Mapping[str, Any], progress: Progress | None
    ) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(f".{target.name}.part")
        digest, done = hashlib.sha256(), 0
        try:
            with open(aside, "wb") as out:
                for data in self._client.stream(self._client.within(path), {}):
                    digest.update(data)
                    out.write(data)
                    done += len(data)
                    if progress:
                        progress(file["path"], done, file["bytes"])
            if digest.hexdigest() != file["sha256"]:
                raise Conflict(f"{file['path']} was damaged on the way. Download it again.")
            os.replace(aside, target)
        finally:
            aside.unlink(missing_ok=True)


def files_in(path: Path) -> dict[str, Path]:
    """Return the files to upload by their path in the model. Raises InvalidInput.

    Hidden files and folders, such as .git, are left out.
    """
    if path.is_file():
        return {path.name: path}
    inside = {
        file.relative_to(path).as_posix(): file
        for file in sorted(path.rglob("*"))
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts)
    }
    if not inside:
        raise InvalidInput(f"{path}: there are no files to upload", code="no_files")
    return inside


def inside_of(path: str) -> Path:
    """Return a path that stays below its folder. Raises InvalidInput."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\\" in path:
        raise InvalidInput(f"The portal sent a path that leaves the folder: {path!r}")
    return Path(*parts)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _safe(text: str) -> str:
    return quote(text, safe="")
