"""Write the types of the SDK from the shapes of the API; `--check` reports whether they differ."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

TARGET = "client/muster/shapes.py"
HEAD = '''"""Types of the API's answers, as `make shapes` writes them: do not edit.

Each is named after its part of the OpenAPI schema. `Time` is a text in ISO 8601.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, NotRequired, TypedDict, TypeVar

Id = str
Time = str
T = TypeVar("T")'''
Declaration = tuple[ast.ClassDef, str]


class Command(BaseCommand):
    help = f"Writes {TARGET} from the shapes of all apps."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail if it differs"
        )

    def handle(self, *args: Any, check: bool = False, **options: Any) -> None:
        path, text = Path(settings.ROOT, TARGET), written(declared(Path(settings.ROOT)))
        if not check:
            path.write_text(text)
        elif path.read_text() != text:
            raise CommandError(f"{TARGET} is not what the apps declare. Run: make shapes")


def declared(root: Path) -> dict[str, Declaration]:
    """Return the shapes of our apps by name, with their sources. Raises CommandError."""
    found: dict[str, Declaration] = {}
    ours = {
        Path(app.path).relative_to(root).parts[0]
        for app in apps.get_app_configs()
        if Path(app.path).is_relative_to(root)
    }
    paths = [
        path for name in sorted(ours) if name[0] != "." for path in (root / name).rglob("*.py")
    ]
    for path in sorted(paths):
        source = path.read_text()
        for node in ast.parse(source).body if "Shape(" in source else ():
            if isinstance(node, ast.ClassDef) and node.name.endswith("Shape"):
                if node.name in found:
                    raise CommandError(f"{path}: there is another {node.name}")
                found[node.name] = node, ast.get_source_segment(source, node) or ""
    return found


def written(shapes: dict[str, Declaration]) -> str:
    """Return the module, in which a shape stands behind those that it extends."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in shapes and name not in done:
            node, source = shapes[name]
            for part in (part for base in node.bases for part in ast.walk(base)):
                if isinstance(part, ast.Name):
                    add(part.id)
            done[name] = source

    for name in sorted(shapes):
        add(name)
    return "\n\n\n".join([HEAD, *done.values()]) + "\n"
