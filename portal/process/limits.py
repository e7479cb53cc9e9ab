"""The limit on open files: each connection takes one."""

from __future__ import annotations

import resource

_MAX_FILES = 16384


def raise_file_limit() -> None:
    """Raise the soft limit on open files, because each connection takes one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
