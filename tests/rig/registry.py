"""A private container registry on loopback (Debian's docker-registry), with test images."""

from __future__ import annotations

import hashlib
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.rig.processes import Folder, RigFailure, free_port, is_listening, program, wait_until

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
_CONFIG = (
    "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: "
    "{root}}}}}\nhttp:\n  addr: 127.0.0.1:{port}\n{more}"
)


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass(frozen=True)
class Registry:
    """A running registry, over HTTP. Images have no layers, only metadata."""

    port: int
    folder: Folder = field(repr=False)
    name: str = "registry"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def push(
        self,
        path: str,
        tag: str,
        env: Mapping[str, str] | None = None,
        *,
        arch: str = "amd64",
        system: str = "linux",
    ) -> str:
        """Push an image with this environment; return the digest of its manifest."""
        lines = [f"{name}={value}" for name, value in (env or {}).items()]
        config = json.dumps(
            {
                "architecture": arch,
                "os": system,
                "config": {"Env": ["PATH=/bin", *lines]},
                "rootfs": {"type": "layers", "diff_ids": []},
            }
        ).encode()
        described = self.push_blob(path, config) | {
            "mediaType": "application/vnd.oci.image.config.v1+json"
        }
        return self.push_manifest(
            path,
            tag,
            MANIFEST,
            {"schemaVersion": 2, "mediaType": MANIFEST, "config": described, "layers": []},
        )

    def push_index(self, path: str, tag: str, images: Mapping[str, str]) -> str:
        """Push an index of existing images, such as {"amd64": digest}."""
        lines = [
            {
                "mediaType": MANIFEST,
                "digest": digest,
                "size": len(self._get(f"/v2/{path}/manifests/{digest}")),
                "platform": {
                    "os": "unknown" if arch == "unknown" else "linux",
                    "architecture": arch,
                },
            }
            for arch, digest in images.items()
        ]
        return self.push_manifest(
            path, tag, INDEX, {"schemaVersion": 2, "mediaType": INDEX, "manifests": lines}
        )

    def push_blob(self, path: str, data: bytes) -> dict[str, Any]:
        status, headers, _ = self._ask("POST", f"/v2/{path}/blobs/uploads/")
        assert status == 202, status
        place = headers["Location"].partition(f":{self.port}")[2] or headers["Location"]
        joint = "&" if "?" in place else "?"
        status, _, text = self._ask(
            "PUT", f"{place}{joint}digest={digest_of(data)}", data, "application/octet-stream"
        )
        assert status == 201, text
        return {"digest": digest_of(data), "size": len(data)}

    def push_manifest(self, path: str, tag: str, kind: str, document: Mapping[str, Any]) -> str:
        data = json.dumps(document).encode()
        status, _, text = self._ask("PUT", f"/v2/{path}/manifests/{tag}", data, kind)
        assert status == 201, text
        return digest_of(data)

    def _get(self, path: str) -> bytes:
        status, _, data = self._ask("GET", path, accept=MANIFEST)
        assert status == 200, data
        return data

    def _ask(
        self, method: str, path: str, body: bytes = b"", kind: str = "", accept: str = "*/*"
    ) -> tuple[int, Mapping[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(
                method, path, body, {"Accept": accept} | ({"Content-Type": kind} if kind else {})
            )
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()


def start_registry(folder: Folder, *, more: str = "", name: str = "registry") -> Registry:
    """Start one in about 0.1 s; `more` is further configuration (`http` or new sections)."""
    port = free_port()
    (folder.path / f"{name}.yml").write_text(
        _CONFIG.format(root=folder.path / name, port=port, more=more)
    )
    process = folder.start(name, [program("docker-registry"), "serve", f"{folder.path}/{name}.yml"])

    def is_ready() -> bool:
        if process.poll() is not None:
            raise RigFailure(f"the registry ended at its start: {folder.tail(name)}")
        return is_listening(port)

    wait_until(is_ready, "the registry answers")
    return Registry(port, folder, name)
