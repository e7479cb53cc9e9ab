"""The row of actions that each asset, run and job has; `<c-asset-actions>` draws it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest

from portal.core.messages import Message


class AssetAction(NamedTuple):
    """One action: a link, a command to copy, or a text that the button copies."""

    label: str
    icon: str
    href: str = ""
    command: str = ""
    text: str = ""


def asset_actions(
    request: HttpRequest,
    *,
    use: str = "",
    rerun: str = "",
    resume: str = "",
    register: str = "",
    download: str = "",
    log: str = "",
    command: str = "",
    python: str = "",
    at: str = "",
) -> list[AssetAction]:
    """Return the actions that make sense, in their order; each is the address of a page.

    `command` downloads what has no single file, and `python` reads the thing. `at` is the query of
    the link, such as "at=3".
    """
    links = (
        AssetAction(Message("Use in a job", context="text, portal"), "play", use),
        AssetAction(Message("Edit and rerun", context="text, portal"), "edit", rerun),
        AssetAction(Message("Resume from this"), "checkpoints", resume),
        AssetAction(Message("Register", context="text, portal"), "models", register),
        AssetAction(
            Message("Download", context="text, portal"),
            "download",
            download,
            "" if download else command,
        ),
        AssetAction(Message("Download log", context="text, portal"), "download", log),
        AssetAction(Message("Use in Python", context="text, portal"), "code", command=python),
    )
    link = request.build_absolute_uri(request.path + (f"?{at}" if at else ""))
    return [
        *(one for one in links if one.href or one.command),
        AssetAction(Message("Copy link", context="text, portal"), "copy", text=link),
    ]


def new_job_url(org: str, fields: Mapping[str, Any], **query: Any) -> str:
    """Return the page for a new job with these fields of its spec; `from=12` runs a job again."""
    sets = [
        ("set", f"{path}={value if isinstance(value, str) else json.dumps(value)}")
        for path, value in fields.items()
    ]
    return f"/{org}/jobs/new?{urlencode([*query.items(), *sets])}"
