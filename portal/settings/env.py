"""Read environment variables, and the secret key that an embedded installation generates."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool = False) -> bool:
    return text(name, "1" if default else "0").lower() in {"1", "true", "yes", "on"}


def items(name: str) -> list[str]:
    return [part.strip() for part in text(name).split(",") if part.strip()]


def home() -> Path:
    """Return MUSTER_HOME, which holds all state of embedded mode; creates it if needed."""
    path = Path(text("MUSTER_HOME", str(ROOT / "var"))).expanduser().resolve()
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def secret_key() -> str:
    """Return MUSTER_SECRET_KEY, or a generated key, stored in MUSTER_HOME with mode 0600."""
    given = text("MUSTER_SECRET_KEY")
    if given:
        return given
    path = home() / "secret_key"
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(fd, "w") as file:
        file.write(secrets.token_urlsafe(50))
    return path.read_text().strip()
