"""Limits and defaults for a team's jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

NO_IMAGE = "none"  # in `images`: jobs without an image are allowed


@dataclass(frozen=True)
class TeamRules:
    """Job rules: seconds, GPUs per task, image globs, pool names (or clusters without pools).

    None and empty mean no limit. GPUs are summed over all nodes of a task.
    """

    max_runtime: int | None = None
    default_runtime: int | None = None
    max_gpus: int | None = None
    images: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    default_pool: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> TeamRules:
        """Read stored rules, ignoring names that this version does not know."""
        known = {name: stored[name] for name in cls.__dataclass_fields__ if name in stored}
        return cls(
            **known | {name: tuple(known[name]) for name in ("images", "pools") if name in known}
        )

    def stored(self) -> dict[str, Any]:
        """Return the rules that are set, as stored."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value not in (None, (), "")
        }

    def allows_image(self, image: str) -> bool:
        """Return whether a glob matches the image."""
        return not self.images or any(
            fnmatchcase(image, glob) if image else glob == NO_IMAGE for glob in self.images
        )

    def allows_pool(self, name: str) -> bool:
        """Return whether the pool is allowed."""
        return not self.pools or name in self.pools

    @property
    def runtime(self) -> int | None:
        """Return the time limit of jobs that set none, in seconds."""
        return self.default_runtime or self.max_runtime
