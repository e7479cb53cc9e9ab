"""Where the portal is and who one is: options, then environment, then the file that `muster login` writes."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """Empty text: not set."""

    url: str = ""
    token: str = ""
    org: str = ""
    team: str = ""


def path() -> Path:
    """~/.config/muster/config.toml, or where MUSTER_CONFIG says."""
    given = os.environ.get("MUSTER_CONFIG")
    return Path(given) if given else Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "muster" / "config.toml"


def load(**options: str | None) -> Settings:
    """What holds now."""
    kept = _kept()
    found = {name: options.get(name) or os.environ.get(f"MUSTER_{name.upper()}", "") or kept.get(name, "")
             for name in ("url", "token", "org", "team")}
    return Settings(**{**found, "url": found["url"].rstrip("/")})


def save(settings: Settings) -> Path:
    """Readable by its owner only."""
    file = path()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in vars(settings).items() if value]
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as out:
        out.write("".join(lines))
    file.chmod(0o600)
    return file


def _kept() -> dict[str, str]:
    try:
        return {name: str(value) for name, value in tomllib.loads(path().read_text()).items()}
    except (OSError, tomllib.TOMLDecodeError):
        return {}
