"""The command and SDK as a wheel that the portal itself serves, for `pip install http://…`.

Built in memory from `client/` at the first request. Its bytes depend only on the sources, so that all
processes and hosts of an installation serve one hash.
"""

from __future__ import annotations

import hashlib
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

from django.conf import settings

SOURCES = Path(__file__).resolve().parents[2] / "client"
PATH = "/api/client/"
_MADE = (1980, 1, 1, 0, 0, 0)  # of each file in the archive


@dataclass(frozen=True)
class ClientPackage:
    """A wheel. `dependencies` come from the index that pip uses."""

    name: str
    content: bytes
    sha256: str
    requires_python: str

    @property
    def url(self) -> str:
        return f"{settings.MUSTER_BASE_URL}{PATH}{self.name}"

    @property
    def pip(self) -> str:
        """The command that installs it."""
        return f"pip install {self.url}"

    @property
    def curl(self) -> str:
        """The command that downloads it, compares its checksum, and installs it."""
        check = f"echo '{self.sha256}  {self.name}' | sha256sum -c"
        return f"curl -fsSO {self.url} && {check} && pip install ./{self.name}"


@cache
def client_package() -> ClientPackage:
    """Build the wheel from `client/`."""
    project = tomllib.loads((SOURCES / "pyproject.toml").read_text())["project"]
    distribution = project["name"].replace("-", "_")
    info = f"{distribution}-{project['version']}.dist-info"
    files = {
        path.relative_to(SOURCES).as_posix(): path.read_bytes()
        for path in sorted((SOURCES / "muster").rglob("*"))
        if path.suffix in {".py", ".typed"}
    }
    scripts = "".join(f"{name} = {target}\n" for name, target in project["scripts"].items())
    files |= {
        f"{info}/METADATA": _metadata(project),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: muster\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{scripts}".encode(),
    }
    files[f"{info}/RECORD"] = _record(files, info)
    content = _archive(files)
    return ClientPackage(
        f"{distribution}-{project['version']}-py3-none-any.whl",
        content,
        hashlib.sha256(content).hexdigest(),
        project["requires-python"],
    )


def _metadata(project: dict[str, object]) -> bytes:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {one}" for one in project["dependencies"]),  # type: ignore[attr-defined]
        "Description-Content-Type: text/markdown",
        "",
        (SOURCES / "README.md").read_text(),
    ]
    return "\n".join(lines).encode()


def _record(files: dict[str, bytes], info: str) -> bytes:
    """Return the list of files with their hashes (PEP 376)."""
    lines = [
        f"{name},sha256={urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},"
        f"{len(data)}"
        for name, data in files.items()
    ]
    return "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()


def _archive(files: dict[str, bytes]) -> bytes:
    """Return a zip without compression, whose bytes would depend on the version of zlib."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _MADE)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, data)
    return made.getvalue()
