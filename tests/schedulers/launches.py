"""Make launches from plain values, whichever part of a launch they belong to."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from schedulers.contract import Launch

PARTS = ("identity", "place", "data", "limits", "network")


def a_launch(script: str = "true", **values: Any) -> Launch:
    return changed(Launch(key="t-1", name="a test", script=script), **values)


def changed(launch: Launch, **values: Any) -> Launch:
    """Return the launch with these values: `gpus=2` is its `limits.gpus`."""
    for part in PARTS:
        names = {field.name for field in fields(getattr(launch, part))} & values.keys()
        if own := {name: values.pop(name) for name in names}:
            launch = replace(launch, **{part: replace(getattr(launch, part), **own)})
    return replace(launch, **values)
