"""Replace names of a standard-library module for one module that imports it.

`monkeypatch.setattr(time, "sleep", …)` would change it for every thread of the process;
`monkeypatch.setattr(transport, "time", StandIn(time, sleep=…))` changes it for `transport` only.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


class StandIn:
    """A module in which some names are replaced."""

    def __init__(self, module: ModuleType | StandIn, **replaced: Any) -> None:
        self._module = module
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)
