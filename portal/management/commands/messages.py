"""Update the translation catalogues from the sources; `--check` reports what is missing or wrong."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import makemessages

_IGNORED = [
    "agent",
    "bench",
    "client",
    "docs",
    "examples",
    "node_modules",
    "scripts",
    "tests",
    "var",
    "vendor",
]
_PLACEHOLDERS = re.compile(r"%\(\w+\)[sdr]|\{\w+\}")
_SAY = re.compile(r'\bsay\(\s*("(?:[^"\\\n]|\\.)*")')
_TAGS = re.compile(r"</?[a-z][^>]*>")
_FOREIGN = {"ja": re.compile(r"[가-힣]"), "ko": re.compile(r"[ぁ-ヿ]")}
_VOCABULARY = "portal/web/vocabulary.py"  # states in live events, which static/js translates, too


class Command(makemessages.Command):
    """Extract with xgettext as Django does, then merge, check and compile with Babel."""

    help = "Writes locale/*/LC_MESSAGES/*.po and .mo, and static/js/words/*.js, from the sources."
    xgettext_options = [
        *makemessages.Command.xgettext_options,
        "--keyword=Message",
        "--keyword=plural:2,3",
    ]

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check",
            action="store_true",
            help="write nothing; fail where something is missing or wrong",
        )

    def handle(self, *args: Any, check: bool = False, **options: Any) -> None:
        self.is_check, self.faults, self.sizes = check, list[str](), dict[Path, int]()
        languages = [language for language, _ in settings.LANGUAGES if language != "en"]
        os.chdir(settings.ROOT)  # the root that Django searches
        super().handle(
            locale=languages,
            exclude=[],
            domain="django",
            verbosity=0,
            all=False,
            extensions=[],
            symlinks=False,
            ignore_patterns=_IGNORED,
            use_default_ignore_patterns=True,
            no_wrap=False,
            no_location=False,
            add_location="file",
            no_obsolete=True,
            keep_pot=False,
        )
        for language in languages:
            self._update("djangojs", language, _of_scripts())
        if check and self.faults:
            raise CommandError(
                "\n".join([*self.faults, f"{len(self.faults)} faults (docs/design/languages.md)"])
            )
        self.stdout.write("\n".join([*self.faults, f"{sum(self.sizes.values())} messages"]))

    def write_po_file(self, potfile: str, locale: str) -> None:
        """Merge with Babel instead of msgmerge."""
        self._update("django", locale, _read(Path(potfile)))

    def _update(self, domain: str, locale: str, sources: Catalog) -> None:
        """Update the catalogue of a language from the extracted messages, and compile it."""
        path = Path(settings.ROOT, "locale", locale, "LC_MESSAGES", f"{domain}.po")
        if path in self.sizes:  # Django finds the folder in several ways
            return
        catalog = _read(path, locale)
        created = catalog.creation_date
        catalog.update(sources, no_fuzzy_matching=True)
        catalog.obsolete.clear()
        catalog.creation_date = created  # or every run would change the file
        self.sizes[path] = len(catalog)
        self.faults += (f"{locale}: {fault}" for fault in faults_of(catalog))
        self._write(path, _po(catalog))
        if domain == "django":
            self._write(path.with_suffix(".mo"), _mo(catalog))
        else:
            words = Path(settings.ROOT, "static", "js", "words", f"{locale}.js")
            self._write(words, _script(catalog, _read(path.with_name("django.po"), locale)))

    def _write(self, path: Path, content: bytes) -> None:
        if self.is_check:
            if not path.exists() or path.read_bytes() != content:
                name = path.relative_to(settings.ROOT)
                self.faults.append(f"{name} does not agree with the sources (make messages)")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _of_scripts() -> Catalog:
    """Return the messages of static/js; xgettext and Babel miss those in template literals."""
    catalog = Catalog()
    for path in sorted(Path("static", "js").rglob("*.js")):
        for literal in _SAY.findall(path.read_text(encoding="utf-8")):
            catalog.add(json.loads(literal), locations=[(path.as_posix(), 0)])
    return catalog


def faults_of(catalog: Catalog) -> Iterator[str]:
    """Return what is missing or wrong, one line for each."""
    for entry in catalog:
        if entry.id:
            where = min((name for name, _line in entry.locations), default="?")
            for fault in _faults_of(entry, str(catalog.locale)):
                yield f"{fault}: {entry.id!r} of {where}"


def _faults_of(entry: Entry, language: str) -> Iterator[str]:
    sources = [entry.id] if isinstance(entry.id, str) else list(entry.id)
    texts = list(entry.string) if isinstance(entry.string, tuple | list) else [entry.string or ""]
    if not all(text.strip() for text in texts):
        yield "not translated"
        return
    if entry.fuzzy:
        yield "fuzzy: look at it and take the mark away"
    for text in texts:
        if set(_PLACEHOLDERS.findall(sources[-1])) != set(_PLACEHOLDERS.findall(text)):
            yield f"other placeholders than the English: {text!r}"
        if Counter(_TAGS.findall(sources[-1])) != Counter(_TAGS.findall(text)):
            yield f"other tags than the English: {text!r}"
        if language in _FOREIGN and _FOREIGN[language].search(text):
            yield f"in another language: {text!r}"


def _read(path: Path, locale: str | None = None) -> Catalog:
    if not path.exists():
        return Catalog(locale)
    # xgettext leaves a placeholder that Babel cannot read.
    text = path.read_bytes().replace(
        b"nplurals=INTEGER; plural=EXPRESSION", b"nplurals=2; plural=n != 1"
    )
    return read_po(BytesIO(text), locale)


def _po(catalog: Catalog) -> bytes:
    file = BytesIO()
    write_po(file, catalog, width=0, sort_output=True, include_lineno=False)
    return file.getvalue()


def _mo(catalog: Catalog) -> bytes:
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def _script(catalog: Catalog, others: Catalog) -> bytes:
    """Return the texts of static/js by their English, for words.js."""
    entries = [*catalog, *(e for e in others if _VOCABULARY in dict(e.locations))]
    texts = {entry.id: entry.string for entry in entries if entry.id}
    dumped = json.dumps(texts, ensure_ascii=False, indent=1, sort_keys=True)
    return f"globalThis.words = {dumped};\n".encode()
