"""Client settings, from options, then the environment, then the file of `muster login`."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

NAMES = ("url", "token", "org", "team")


@dataclass(frozen=True)
class Settings:
    """Settings of one portal. An empty string means not set."""

    url: str = ""
    token: str = ""
    org: str = ""
    team: str = ""


def path() -> Path:
    """Return the settings file: MUSTER_CONFIG, or ~/.config/muster/config.toml."""
    given = os.environ.get("MUSTER_CONFIG")
    return (
        Path(given)
        if given
        else Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        / "muster"
        / "config.toml"
    )


def cache_folder() -> Path:
    """Return the folder of what can be made again: MUSTER_CACHE, or ~/.cache/muster."""
    given = os.environ.get("MUSTER_CACHE")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else home / "muster"


def load(**options: str | None) -> Settings:
    """Return the effective settings.

    The stored token, org and team apply only to the stored URL, so that they never leak to
    another portal.
    """
    kept = kept_settings()
    given = {
        name: options.get(name) or os.environ.get(f"MUSTER_{name.upper()}", "") for name in NAMES
    }
    url = tidy_url(given["url"] or kept.url)
    if url != kept.url:
        kept = Settings()
    return Settings(url, *(given[name] or getattr(kept, name) for name in NAMES[1:]))


def kept_settings() -> Settings:
    """Return the stored settings, empty if the file is missing or unreadable."""
    import tomllib

    try:
        found = tomllib.loads(path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Settings()
    words = {name: str(found[name]) for name in NAMES if isinstance(found.get(name), str)}
    return Settings(**{**words, "url": tidy_url(words.get("url", ""))})


def save(settings: Settings) -> Path:
    """Write the settings atomically with mode 0600 and return the file."""
    file = path()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in asdict(settings).items() if value]
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".config-")  # creates it with mode 0600
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write("".join(lines))
    Path(name).replace(file)
    return file


def tidy_url(url: str) -> str:
    """Remove a trailing slash and add a scheme to `localhost:8000`."""
    url = url.strip().rstrip("/")
    return f"http://{url}" if url.startswith(("localhost", "127.0.0.1")) else url
