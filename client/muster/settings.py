"""Where the portal is and who one is: options, then the environment, then the file that `muster login` writes."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

NAMES = ("url", "token", "org", "team")


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
    return (
        Path(given)
        if given
        else Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        / "muster"
        / "config.toml"
    )


def load(**options: str | None) -> Settings:
    """What holds now. The kept token, org and team belong to the kept portal: another address never gets to see them."""
    kept = kept_settings()
    given = {
        name: options.get(name) or os.environ.get(f"MUSTER_{name.upper()}", "") for name in NAMES
    }
    url = tidy_url(given["url"] or kept.url)
    if url != kept.url:
        kept = Settings()
    return Settings(url, *(given[name] or getattr(kept, name) for name in NAMES[1:]))


def kept_settings() -> Settings:
    """What the file says; nothing where there is none, or none that can be read."""
    import tomllib

    try:
        found = tomllib.loads(path().read_text())
    except (OSError, ValueError):
        return Settings()
    words = {name: str(found[name]) for name in NAMES if isinstance(found.get(name), str)}
    return Settings(**{**words, "url": tidy_url(words.get("url", ""))})


def save(settings: Settings) -> Path:
    """Readable by its owner only, never half written."""
    file = path()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in asdict(settings).items() if value]
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".config-")  # made with mode 0600
    with os.fdopen(handle, "w") as out:
        out.write("".join(lines))
    Path(name).replace(file)
    return file


def tidy_url(url: str) -> str:
    """Without a slash at the end; `localhost:8000` gets its scheme."""
    url = url.strip().rstrip("/")
    return f"http://{url}" if url.startswith(("localhost", "127.0.0.1")) else url
