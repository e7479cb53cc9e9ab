"""What a team's jobs may be, and what they are where they do not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

NO_IMAGE = "none"  # among `images`: a job without an image is allowed too


@dataclass(frozen=True)
class TeamRules:
    """Seconds, GPUs of one task on all of its nodes, globs of images, names of pools (or of clusters without pools). None and empty: anything."""

    max_runtime: int | None = None
    default_runtime: int | None = None
    max_gpus: int | None = None
    images: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    default_pool: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> TeamRules:
        """What the row holds; names that this version does not know are passed over."""
        known = {name: stored[name] for name in cls.__dataclass_fields__ if name in stored}
        return cls(
            **known | {name: tuple(known[name]) for name in ("images", "pools") if name in known}
        )

    def stored(self) -> dict[str, Any]:
        """What says something, as the row holds it."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value not in (None, (), "")
        }

    def allows_image(self, image: str) -> bool:
        """Whether some glob matches."""
        return not self.images or any(
            fnmatchcase(image, glob) if image else glob == NO_IMAGE for glob in self.images
        )

    def allows_pool(self, name: str) -> bool:
        """Whether it is one of them."""
        return not self.pools or name in self.pools

    @property
    def runtime(self) -> int | None:
        """Of a job that names none."""
        return self.default_runtime or self.max_runtime
