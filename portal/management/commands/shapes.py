"""Write the types of the SDK from the shapes of the API; `--check` reports whether they differ."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

TARGET = "client/muster/shapes"
TYPES = ("Annotated", "Any", "Generic", "Literal", "NotRequired", "TypedDict", "TypeVar")
HEAD = '''"""Types of the API's answers, as `make shapes` writes them: do not edit."""

from __future__ import annotations
'''
# What is not a shape in `portal.core.shapes`, as JSON has it
ALIASES = {"Id": "Id = str", "T": 'T = TypeVar("T")', "Time": "Time = str  # ISO 8601"}


class Declaration(NamedTuple):
    app: str
    node: ast.ClassDef
    source: str

    @property
    def names(self) -> list[str]:
        """Return the names that the shape and those that it extends consist of."""
        return [node.id for node in ast.walk(self.node) if isinstance(node, ast.Name)]


class Command(BaseCommand):
    help = f"Writes {TARGET}/*.py from the shapes of all apps."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail if one differs"
        )

    def handle(self, *args: Any, check: bool = False, **options: Any) -> None:
        folder = Path(settings.ROOT, TARGET)
        wanted = written(declared(Path(settings.ROOT)))
        known = {path: path.read_text() for path in folder.glob("[a-z]*.py")}
        if check and known != {folder / name: text for name, text in wanted.items()}:
            raise CommandError(f"{TARGET} is not what the apps declare. Run: make shapes")
        for path in () if check else known:
            path.unlink()
        for name, text in () if check else wanted.items():
            (folder / name).write_text(text)


def declared(root: Path) -> dict[str, Declaration]:
    """Return the shapes of our apps by name. Raises CommandError."""
    folders = [Path(app.path) for app in apps.get_app_configs()]
    ours = {one.relative_to(root).parts[0] for one in folders if one.is_relative_to(root)}
    found: dict[str, Declaration] = {}
    for app in sorted(name for name in ours if not name.startswith(".")):
        for path in sorted((root / app).rglob("*.py")):
            source = path.read_text()
            for node in ast.parse(source).body if "Shape(" in source else ():
                if isinstance(node, ast.ClassDef) and node.name.endswith("Shape"):
                    if node.name in found:
                        raise CommandError(f"{path}: there is another {node.name}")
                    text = ast.get_source_segment(source, node) or ""
                    found[node.name] = Declaration(app, node, text)
    return found


def written(shapes: dict[str, Declaration]) -> dict[str, str]:
    """Return the modules by file name, one for each app; a shape stands behind what it extends."""
    order: dict[str, None] = {}

    def add(name: str) -> None:
        if name in shapes and name not in order:
            for base in shapes[name].node.bases:
                for part in ast.walk(base):
                    if isinstance(part, ast.Name):
                        add(part.id)
            order[name] = None

    for name in sorted(shapes):
        add(name)
    modules: dict[str, list[Declaration]] = defaultdict(list)
    for name in order:
        modules[shapes[name].app].append(shapes[name])
    return {f"{app}.py": _module(app, some, shapes) for app, some in sorted(modules.items())}


def _module(app: str, some: list[Declaration], shapes: dict[str, Declaration]) -> str:
    used = {name for shape in some for name in shape.names}
    homes = {name: shapes[name].app for name in used & shapes.keys()}
    homes |= dict.fromkeys(used & ALIASES.keys(), "portal")
    own = list(ALIASES.values()) if app == "portal" else []
    types = sorted({*used.intersection(TYPES), *(["TypeVar"] if own else [])}, key=str.lower)
    lines = [f"from typing import {', '.join(types)}"]
    for number, home in enumerate(sorted({*homes.values()} - {app})):
        names = ", ".join(sorted(name for name, where in homes.items() if where == home))
        lines += [*([] if number else [""]), f"from muster.shapes.{home} import {names}"]
    head = "\n".join([HEAD, *lines, *(["", *own] if own else [])])
    return "\n\n\n".join([head, *(shape.source for shape in some)]) + "\n"
