"""SDK for workspaces: folders that people and jobs share. Rows are the API's JSON."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import InvalidInput, Json, NotFound
from muster.folder_cache import FolderCache
from muster.folders import PIECE, Counter, Progress, Sender, each, files_in
from muster.models import inside_of

if TYPE_CHECKING:
    from muster.client import Client

RESOURCES = {"workspaces": "Workspaces"}
_PAGE = 1000  # entries of a folder


class Workspaces:
    """The workspaces of an organization."""

    def __init__(self, client: Client):
        self._client = client

    def list(self, **filters: Any) -> Iterator[Json]:
        """Iterate over what you may read, for example of `team="vision"` or with `q="code"`."""
        return self._client.items("workspaces", **filters)

    def get(self, name: str) -> Json:
        """Return one with its invitations."""
        return self._client.get(_path(name))

    def create(self, name: str, team: str = "", **fields: Any) -> Json:
        """Create one. Fields: description, visibility, quota (bytes)."""
        body = {"name": name, "team": team or self._client.team, **fields}
        return self._client.send("POST", "workspaces", body)

    def change(self, name: str, **fields: Any) -> Json:
        """Change name, description, visibility or quota."""
        return self._client.send("PATCH", _path(name), fields)

    def delete(self, name: str) -> None:
        """Move it with its files to the trash."""
        self._client.send("DELETE", _path(name))

    def restore(self, name: str) -> Json:
        """Take the one of this name out of the trash that was deleted last. Raises NotFound."""
        for row in self._client.items("workspaces-trash"):
            if row["name"].lower() == name.lower():
                return self._client.send("POST", f"workspaces-trash/{row['id']}")
        raise NotFound(f"There is no {name} in the trash.", code="no_workspace")

    def share(self, name: str, whom: str, *, can_write: bool = False) -> Json:
        """Let another team, or the person with an e-mail address, read or also write."""
        return self._client.send("PUT", _invitation(name, whom), {"can_write": can_write})

    def unshare(self, name: str, whom: str) -> None:
        """Stop sharing with a team or a person."""
        self._client.send("DELETE", _invitation(name, whom))

    def files(self, name: str, path: str = "", *, recursive: bool = False) -> Iterator[Json]:
        """Iterate over a folder, by name; with `recursive` over all below it."""
        after: str | None = ""
        while after is not None:
            query = {"path": path, "after": after, "limit": _PAGE}
            where = self._client.within(f"{_path(name)}/tree")
            page = self._client.request("GET", where, query=query).json()
            for row in page["items"]:
                yield row
                if recursive and row["type"] == "folder" and row["path"] is not None:
                    yield from self.files(name, row["path"], recursive=True)
            after = page["next"]

    def make_folder(self, name: str, path: str) -> Json:
        """Make a folder and those above it."""
        return self._client.send("PUT", f"{_path(name)}/folders/{quote(path)}")

    def move(self, name: str, source: str, target: str, *, replaces: bool = False) -> Json:
        """Move or rename a file or folder."""
        body = {"source": source, "target": target, "replaces": replaces}
        return self._client.send("POST", f"{_path(name)}/moves", body)

    def remove(self, name: str, path: str) -> None:
        """Delete a file, or a folder with all in it."""
        self._client.send("DELETE", f"{_path(name)}/files/{quote(path)}")

    def upload(
        self,
        source: str | os.PathLike[str],
        name: str,
        path: str = "",
        *,
        progress: Progress | None = None,
    ) -> Json:
        """Send a file, or the files of a folder, into the folder `path`, and replace what is there.

        Large files continue where an earlier attempt ended. Returns `sent_files` and `sent_bytes`.
        """
        files = files_in(Path(source))
        if not files:
            raise InvalidInput(f"{source}: there are no files to upload", code="no_files")
        below = f"{path.strip('/')}/" if path.strip("/") else ""
        cache = FolderCache()
        try:
            sender = _FolderSender(self._client, _path(name), cache)
            sender.send({f"{below}{inside}": file for inside, file in files.items()}, progress)
        finally:
            cache.close()
        return {"sent_files": len(files), "sent_bytes": sender.sent}

    def download(
        self,
        name: str,
        path: str = "",
        folder: str | os.PathLike[str] = ".",
        *,
        progress: Progress | None = None,
    ) -> builtins.list[Path]:
        """Fetch a file, or a folder with all in it, into a folder. Links are left out."""
        above = path.strip("/").rpartition("/")[0]
        rows = [row for row in self._below(name, path.strip("/")) if row["type"] == "file"]
        counter = Counter("fetch", sum(row["bytes"] for row in rows), progress)
        root = Path(folder)
        targets = [root / inside_of(row["path"].removeprefix(above).lstrip("/")) for row in rows]

        def fetch(item: tuple[Json, Path]) -> None:
            row, target = item
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{target.name}.part")
            with open(part, "wb") as out:
                where = self._client.within(f"{_path(name)}/files/{quote(row['path'])}")
                for data in self._client.stream(where, {}):
                    out.write(data)
                    counter.add(len(data))
            os.replace(part, target)

        each(fetch, zip(rows, targets, strict=True))
        return targets

    def _below(self, name: str, path: str) -> Iterator[Json]:
        above = path.rpartition("/")[0]
        if not path:
            yield from self.files(name, recursive=True)
            return
        found = next((row for row in self.files(name, above) if row["path"] == path), None)
        if found is None:
            raise NotFound(f"There is no {path} in {name}.", code="no_file")
        yield from self.files(name, path, recursive=True) if found["type"] == "folder" else [found]


class _FolderSender(Sender):
    """Sends files by their paths in a workspace."""

    def _named(self, digest: str, file: Path, data: bytes) -> Json:
        return {"path": digest, "bytes": len(data)}

    def _send(self, digest: str, file: Path, counter: Counter) -> None:
        size = file.stat().st_size
        if size >= PIECE:
            self._send_pieces(digest, file, size, counter)
            return
        self._client.upload(f"{self._path}/files/{quote(digest)}", file)
        self._count(size)
        counter.add(size)

    def _metadata(self, digest: str, file: Path) -> dict[str, str]:
        return {"filename": digest}

    def _key_of(self, digest: str, file: Path) -> str:
        found = file.stat()
        return f"{self._key} {digest} {found.st_size} {found.st_mtime_ns}"


def _path(name: str) -> str:
    return f"workspaces/{quote(name, safe='')}"


def _invitation(name: str, whom: str) -> str:
    kind = "people" if "@" in whom else "teams"
    return f"{_path(name)}/{kind}/{quote(whom, safe='@')}"
