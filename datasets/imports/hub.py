"""Files of a repository of another Hub: huggingface.co, or what speaks its protocol.

huggingface_hub cannot be used here: it resolves names itself, so its connections are not checked.
Three routes are needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from datasets.imports.http import Fetching
from datasets.imports.source import SourceFile
from portal.core.errors import Unavailable
from portal.core.messages import Message

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class HubSource:
    """The files of a revision; `kind` is datasets or models."""

    def __init__(self, endpoint: str, kind: str, name: str, revision: str, token: str = ""):
        self._endpoint, self._kind, self._name = endpoint.rstrip("/"), kind, name
        self._revision, self._fetching = revision or "main", Fetching(token)
        self._commit = ""

    def files(self) -> Iterator[SourceFile]:
        api = f"{self._endpoint}/api/{self._kind}/{self._name}"
        found = self._json(f"{api}/revision/{quote(self._revision, safe='')}")
        self._commit = str(found.get("sha") or self._revision)
        url = f"{api}/tree/{quote(self._commit, safe='')}?recursive=true&expand=false"
        while url:
            answer = self._fetching.get(url)
            for row in _parsed(answer, list):
                if row.get("type") == "file":
                    yield self._file(row)
            url = answer.links.get("next", {}).get("url", "")
            if url and not url.startswith(f"{self._endpoint}/"):  # the token goes nowhere else
                raise Unavailable(Message("{url} answers what is not a Hub.", url=self._endpoint))

    def _file(self, row: dict[str, Any]) -> SourceFile:
        path, lfs = str(row["path"]), row.get("lfs") or {}
        size, oid = int(lfs.get("size", row["size"])), str(lfs.get("oid") or row.get("oid", ""))
        inside = "" if self._kind == "models" else f"{self._kind}/"
        where = f"{self._endpoint}/{inside}{self._name}/resolve/{self._commit}/{quote(path)}"
        digest = oid.removeprefix("sha256:") if lfs else ""
        return SourceFile(path, where, size, oid, digest if _SHA256.match(digest) else "")

    def read(self, file: SourceFile, start: int) -> Iterator[bytes]:
        return self._fetching.read(file.where, start)

    def close(self) -> None:
        self._fetching.close()

    def _json(self, url: str) -> dict[str, Any]:
        return dict(_parsed(self._fetching.get(url), dict))


def _parsed(answer: Any, kind: type) -> Any:
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, kind):
        raise Unavailable(Message("{url} answers what is not a Hub.", url=answer.url[:200]))
    return found
