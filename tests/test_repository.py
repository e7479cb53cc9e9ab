"""Requirements are locked, imports have no cycle, and no test is skipped."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

from tests.rig.environment import ROOT

# Where functions import our own code, and why (docs/design/layout.md)
LATE_IMPORTS = {
    "of `ready`: models cannot be imported before": (
        *("demo/apps.py", "portal/core/apps.py", "workspaces/apps.py", "portal/series/__init__.py"),
    ),
    "of a start: after `django.setup()`, or only in the process that needs it": (
        *("manage.py", "portal/asgi.py", "portal/management/commands/serve.py"),
        *(f"portal/process/{name}.py" for name in ("command", "embedded", "parts", "stack")),
        "monitoring/live/__init__.py",
    ),
    "of an optional library, or one that most processes never need": (
        *(f"schedulers/kubernetes/{name}.py" for name in ("client", "exec", "forward")),
        *("portal/blobs/store.py", "workspaces/identity/adapter.py"),
        *(f"workspaces/identity/ldap/{name}.py" for name in ("password_check", "provider_type")),
        *(f"workspaces/identity/saml/{name}.py" for name in ("provider_type", "views")),
    ),
    "of the agent's package, whose folder is found at run time": (
        *("monitoring/agent_package.py", "monitoring/background.py"),
    ),
    "for a fast start or little memory of a command (measured)": (
        *("client/muster/jobs.py", "client/muster/output.py", "agent/muster_agent/cli.py"),
    ),
}
PACKAGES = (
    *("portal", "workspaces", "schedulers", "clusters", "datasets", "registry", "jobs"),
    *("experiments", "billing", "notifications", "monitoring", "demo", "client", "agent"),
)

INDEX = re.compile(r"--(extra-)?index-url|--find-links|--trusted-host")


def sources(*packages: str) -> Iterator[Path]:
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts and not {".venv", "node_modules", "build"} & set(
                path.parts
            ):
                yield path


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_module_imports_itself_through_others():
    """Imports in functions count, too."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    graph = grimp.build_graph(
        *settings["root_packages"], exclude_type_checking_imports=True, cache_dir=None
    )
    imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert len(imported) > 1_000
    TopologicalSorter(imported).prepare()  # raises CycleError, which names the modules


OWN = {*PACKAGES, "muster", "muster_agent"}
INDENTED = re.compile(rf"^\s+(?:from|import)\s+(?:{'|'.join(OWN)})\b", re.MULTILINE)


def late_imports(path: Path) -> Iterator[ast.stmt]:
    """Find the imports of our own code in functions of a module."""
    text = path.read_text()
    if not INDENTED.search(text):  # parsing all modules would take seconds
        return
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    name = getattr(node, "module", None) or node.names[0].name
                    if name.split(".")[0] in OWN:
                        yield node


def test_functions_import_our_code_only_where_it_must_be_late():
    found = {
        shown(path) for path in [*sources(*PACKAGES), ROOT / "manage.py"] if any(late_imports(path))
    }
    assert sorted(found) == sorted(path for paths in LATE_IMPORTS.values() for path in paths)


def test_architecture_names_files_that_exist():
    text = (ROOT / "docs/design/ARCHITECTURE.md").read_text()
    named = re.findall(r"`(\w+/[\w./-]+)`", text)
    assert len(named) > 40
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_lock_files_have_hashes_and_no_index_url():
    for lock in (ROOT / "requirements").glob("*.lock"):
        text = lock.read_text()
        assert not INDEX.search(text), lock.name
        pins = re.findall(r"^[a-z0-9][\w.\[\],-]*==\S+.*$", text, re.MULTILINE | re.IGNORECASE)
        assert pins, lock.name
        assert all(pin.rstrip().endswith("\\") for pin in pins), lock.name


def test_no_test_is_skipped():
    mark = re.compile(r"pytest\.(mark\.)?(skip|xfail|importorskip)|@unittest\.skip")
    others = [path for path in sources("tests") if path.name != Path(__file__).name]
    assert [shown(path) for path in others if mark.search(path.read_text())] == []


PATCHES = {"setattr", "delattr", "patch", "object"}
# Of the standard library, as attributes of modules that import them.
WITHIN = {
    *("asyncio", "datetime", "http", "os", "random", "select", "shutil", "signal", "smtplib"),
    *("socket", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib"),
}


def patched_modules(source: str) -> Iterator[tuple[int, str]]:
    """Find patches of a standard-library module for all threads of the process.

    `time.sleep = …`, `monkeypatch.setattr(time, "sleep", …)`, `….setattr(transport.time, …)`,
    `mock.patch("subprocess.run")` and the like; tests.stand_in has the way without.
    """
    tree = ast.parse(source)
    names = dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {(one.asname or one.name).split(".")[0]: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Call) and node.args:
            called = node.func
            word = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if word in PATCHES:
                targets = [node.args[0]]
        elif isinstance(node, ast.Assign):
            targets = [one.value for one in node.targets if isinstance(one, ast.Attribute)]
        for target in targets:
            if _is_standard(target, names):
                yield node.lineno, ast.unparse(node)[:100]


def _is_standard(target: ast.expr, names: dict[str, str]) -> bool:
    """Return whether an expression is (in) a module of the standard library."""
    if isinstance(target, ast.Constant):
        first, *inner = str(target.value).split(".")
        return first in sys.stdlib_module_names or not WITHIN.isdisjoint(inner[:-1])
    if isinstance(target, ast.Attribute) and target.attr in WITHIN:
        return True
    while isinstance(target, ast.Attribute):
        target = target.value
    name = names.get(target.id, "") if isinstance(target, ast.Name) else ""
    return name.split(".")[0] in sys.stdlib_module_names


def test_no_test_patches_standard_library_for_whole_process():
    found = [
        f"{shown(path)}:{line}: {text}"
        for path in sources("tests")
        for line, text in patched_modules(path.read_text())
        if path.name != "leftovers.py"  # notes where threads start, and changes nothing else
    ]
    assert found == []


def test_patches_of_standard_library_are_found():
    found = patched_modules(
        "import time, subprocess as s\nfrom muster import transport\nfrom unittest import mock\n"
        "m.setattr(time, 'sleep', f)\n"
        "m.setattr(transport.time, 'sleep', f)\n"
        "m.setattr('time.sleep', f)\n"
        "m.setattr('muster.transport.time.sleep', f)\n"
        "mock.patch('subprocess.run')\n"
        "mock.patch.object(s, 'run')\n"
        "time.time = f\n"
        "m.setattr(transport, 'time', f)\n"
        "m.setattr('muster.transport.time', f)\n"
    )
    assert sorted(line for line, _ in found) == [4, 5, 6, 7, 8, 9, 10]
