"""Addresses in the guide (docs/guide), which the portal serves at `/help/`."""

from __future__ import annotations

HELP = "/help/"


def topic_path(topic: str) -> str:
    """Return the path of a page of the guide, such as "pending" or "gpu-job#watch-it"."""
    page, _, section = topic.partition("#")
    return HELP + ("" if page == "index" else f"{page}/") + (f"#{section}" if section else "")


def error_path(code: str) -> str:
    """Return the path of the section about an error code, which each code has."""
    return topic_path(f"errors#{code}")
