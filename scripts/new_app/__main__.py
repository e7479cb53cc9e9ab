"""Make an app: `python -m scripts.new_app NAMES [NAME]`, such as `sweeps` or `policies policy`.

The app has a model, permissions, events, a list, a page, endpoints, commands and their tests, made
from `scripts/new_app/template`, an app of gadgets. It is entered in three shared files: the settings,
the import contracts and the security policy. Then change what it is about.
"""

from __future__ import annotations

import argparse
import keyword
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = Path(__file__).parent / "template"
# The new app is above those that have workloads and below those that show everything.
BESIDE = '"billing | notifications'
TAKEN = {"g", "i"}  # keys of the keyboard that are no pages


def main(words: list[str]) -> int:
    """Make the app, its migration and the record of it; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.new_app", description=__doc__)
    parser.add_argument("names", help="the package, a plural: sweeps")
    parser.add_argument("name", nargs="?", help="one of them, if it is not the plural without an s")
    given = parser.parse_args(words)
    one = given.name or given.names.removesuffix("s")
    if fault := _fault(given.names, one):
        parser.error(fault)
    made = write_files(given.names, one)
    enter_in_settings(given.names)
    enter_in_contracts(given.names)
    enter_in_policy(_class_name(one))
    for command in (
        ["manage.py", "makemigrations", "-v0", given.names],
        ["-m", "ruff", "format", "-q", given.names],
        ["-m", "tests.rig", "migrations"],
        ["manage.py", "shapes"],
    ):
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    print("\n".join(str(path.relative_to(ROOT)) for path in made))
    print(
        f"\nRun the tests: python -m pytest tests/{given.names} tests/test_role_matrix.py "
        "tests/test_permission_matrix.py tests/test_audit_coverage.py\n"
        "Then say what it is about: the model, the texts, `make messages`, docs/design and CHANGELOG.md."
    )
    return 0


def _fault(names: str, one: str) -> str:
    """Return why the words cannot be names, or ""."""
    for word in (names, one):
        if not re.fullmatch(r"[a-z][a-z0-9]{1,30}", word) or keyword.iskeyword(word):
            return f"{word!r} must be lower-case letters and digits, and no keyword of Python"
    if names == one:
        return f"{names!r} is no plural; give both: NAMES NAME"
    if any((ROOT / folder / names).exists() for folder in (".", "templates", "tests")):
        return f"there is {names!r} already"
    return ""


def write_files(names: str, one: str) -> list[Path]:
    """Write the template with its words replaced; return the new files."""
    words = {
        "GADGETS": names.upper(),
        "Gadgets": names.capitalize(),
        "gadgets": names,
        "Gadget": _class_name(one),
        "gadget": one,
        "KEY": _free_key(names),
    }
    pattern = re.compile("|".join(words))
    made = []
    for source in sorted(TEMPLATE.rglob("*.txt")):
        path = str(source.relative_to(TEMPLATE).with_suffix(""))
        target = ROOT / pattern.sub(lambda found: words[found[0]], path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(pattern.sub(lambda found: words[found[0]], source.read_text()))
        made.append(target)
    python = [str(path) for path in made if path.suffix == ".py"]
    for command in (["check", "--select", "I", "--fix", "-q"], ["format", "-q"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, *python], cwd=ROOT, check=True)
    return made


def _class_name(one: str) -> str:
    return one.capitalize()


def _free_key(names: str) -> str:
    """Return a key that opens no page yet after `g`, if possible the first letter."""
    pages = "".join(path.read_text() for path in ROOT.glob("*/web/navigation.py"))
    taken = TAKEN | set(re.findall(r'"([a-z])"\)', pages))
    return next((key for key in names + "zxvkdabmrst" if key not in taken), "")


def enter_in_settings(names: str) -> None:
    """Install the app after those that it may import."""
    _replace("portal/settings/apps.py", '    "billing",\n', f'    "{names}",\n    "billing",\n')


def enter_in_contracts(names: str) -> None:
    """Add the package to the packages, its layer, and what `schedulers` does not know."""
    path = "pyproject.toml"
    _replace(path, BESIDE, f"{BESIDE} | {names}")
    text = (ROOT / path).read_text()
    lists = re.compile(r'^((?:root_packages|forbidden_modules) = \[.*"billing", )', re.MULTILINE)
    (ROOT / path).write_text(lists.sub(rf'\g<1>"{names}", ', text))


def enter_in_policy(model: str) -> None:
    """Classify the model as data of an organization."""
    path = "docs/security-policy.md"
    text = (ROOT / path).read_text()
    row = re.search(r"^\| An organization's \|.*(?= \|$)", text, re.MULTILINE)
    if row is None:
        raise SystemExit(f"{path} has no row of an organization's data")
    _replace(path, row[0], f"{row[0]}, `{model}`")


def _replace(path: str, old: str, new: str) -> None:
    text = (ROOT / path).read_text()
    if old not in text:
        raise SystemExit(f"{path} has no {old!r}: enter the app there yourself")
    (ROOT / path).write_text(text.replace(old, new, 1))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
