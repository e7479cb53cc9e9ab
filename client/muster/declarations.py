"""Read what modules declare without importing them, which would take longer than the command."""

from __future__ import annotations

import re
from ast import literal_eval
from pathlib import Path
from typing import Any


def declared(folder: Path, name: str) -> dict[str, tuple[str, Any]]:
    """Return the entries of the dictionaries `name` of all modules in a folder, with the module.

    They are literals at the top level, without dictionaries inside.
    """
    pattern = re.compile(rf"^{name} = (\{{.*?\}})$", re.MULTILINE | re.DOTALL)
    return {
        key: (path.stem, value)
        for path in sorted(folder.glob("*.py"))
        if (found := pattern.search(path.read_text(encoding="utf-8")))
        for key, value in literal_eval(found[1]).items()
    }
