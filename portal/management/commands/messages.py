"""Update the translation catalogues from the sources; `--check` reports what is missing or wrong."""

from __future__ import annotations

import ast
import copy
import json
import os
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
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
_PLACEHOLDERS = re.compile(r"%\(\w+\)[sdrg]|\{\w+\}")
_LITERAL = r'"(?:[^"\\\n]|\\.)*"'
_SAY = re.compile(rf"\bsay\(\s*({_LITERAL})(?:,\s*\{{\s*context:\s*({_LITERAL}))?")
_TAGS = re.compile(r"</?[a-z][^>]*>")
_CODE = re.compile(rf"`[^`]*`|<code>.*?</code>|{_TAGS.pattern}|{_PLACEHOLDERS.pattern}|\w+://\S*")
_ENGLISH = re.compile(r"(?<![\w@$%#.:/=*-])[A-Za-z][a-z]+(?:-[a-z]+)*(?![\w@:/=(]|[.-]\w)")
_FOREIGN = {"ja": re.compile(r"[가-힣]"), "ko": re.compile(r"[ぁ-ヿ]")}
_VOCABULARY = "portal/web/vocabulary.py"  # states in live events, which static/js translates, too


class Command(makemessages.Command):
    """Extract as Django does, with xgettext, and `Message(…)`; merge, check and compile with Babel."""

    help = "Writes locale/*/LC_MESSAGES/*.po and .mo, and static/js/words/*.js, from the sources."

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
        scripts = _of_scripts()
        self.faults += without_context(scripts)
        for language in languages:
            self._update("djangojs", language, scripts)
        if check and self.faults:
            raise CommandError(
                "\n".join([*self.faults, f"{len(self.faults)} faults (docs/design/languages.md)"])
            )
        self.stdout.write("\n".join([*self.faults, f"{sum(self.sizes.values())} messages"]))

    def process_files(self, file_list: list[makemessages.TranslatableFile]) -> None:
        """Remember the modules: xgettext finds no context that is a keyword argument."""
        self.modules = [Path(file.path) for file in file_list if file.path.endswith(".py")]
        super().process_files(file_list)

    def write_po_file(self, potfile: str, locale: str) -> None:
        """Merge with Babel instead of msgmerge."""
        sources = _read(Path(potfile))
        for path in self.modules:
            for texts, context in messages_of(path.read_text(encoding="utf-8")):
                sources.add(texts, locations=[(path.as_posix(), 0)], context=context)
        if not self.sizes:
            self.faults += without_context(sources)
        self._update("django", locale, sources)

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
        for literal, context in _SAY.findall(path.read_text(encoding="utf-8")):
            where = [(path.as_posix(), 0)]
            catalog.add(json.loads(literal), locations=where, context=json.loads(context or "null"))
    return catalog


def messages_of(source: str) -> Iterator[tuple[str | tuple[str, str], str | None]]:
    """Yield the text, or singular and plural, and the context of each message of a module."""
    if "Message" not in source:
        return
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call):
            name = getattr(call.func, "id", getattr(call.func, "attr", ""))
            texts = {"Message": call.args[:1], "plural": call.args[1:3]}.get(name, [])
            keywords = {word.arg: word.value for word in call.keywords}
            found = [literal for one in texts if (literal := _literal(one))]
            context = _literal(keywords["context"]) if "context" in keywords else None
            if len(found) == 2:
                yield (found[0], found[1]), context
            elif found:
                yield found[0], context


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def is_short(text: str) -> bool:
    """Return whether a text is too short to say what it is: two words, or at most 15 characters."""
    bare = _PLACEHOLDERS.sub("", text).strip()
    words = re.findall(r"[^\W\d_]+", bare)
    is_sentence = len(words) > 1 and bare[-1] in ".?!"
    return bool(words) and not is_sentence and (len(words) <= 2 or len(bare) <= 15)


def without_context(sources: Catalog) -> Iterator[str]:
    """Return the short texts of the sources that do not say what they are."""
    for entry in sources:
        text = entry.id if isinstance(entry.id, str) else entry.id[0]
        if text and not entry.context and is_short(text):
            where = ", ".join(sorted({name for name, _line in entry.locations}))
            yield f"a short text without context, such as “state of a node”: {text!r} of {where}"


def faults_of(catalog: Catalog) -> Iterator[str]:
    """Return what is missing or wrong, one line for each."""
    for entry in catalog:
        if entry.id:
            where = min((name for name, _line in entry.locations), default="?")
            for fault in _faults_of(entry, str(catalog.locale)):
                context = f" ({entry.context})" if entry.context else ""
                yield f"{fault}: {entry.id!r}{context} of {where}"


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
        if entry.context != "synonyms":  # what people type to find a page: also other words
            yield from _word_faults(sources[-1], text, language)


@cache
def _glossary() -> dict[str, Any]:
    return tomllib.loads(Path(settings.ROOT, "locale", "glossary.toml").read_text("utf-8"))


def _word_faults(english: str, text: str, language: str) -> Iterator[str]:
    """Yield what locale/glossary.toml does not allow."""
    said, bare = _CODE.sub(" ", english), _CODE.sub(" ", text)
    for pattern in _glossary()["style"]["forbidden"].get(language, ()):
        if re.search(pattern, text):
            yield f"{pattern} is not our style (locale/glossary.toml): {text!r}"
    for term in _glossary()["terms"]:
        name, word = term["english"], term.get(language, "")
        for pattern in term.get("forbidden", {}).get(language, ()):
            if re.search(pattern, bare):
                yield f"{name} is {word} (locale/glossary.toml): {text!r}"
        is_said = term.get("is_required") and re.search(rf"\b{name}s?\b", said, re.IGNORECASE)
        if is_said and not re.search(word, text):
            yield f"without {word} for {name} (locale/glossary.toml): {text!r}"
    if language in _FOREIGN and text != english:
        left = set(_ENGLISH.findall(bare)) - set(_glossary()["english"]["names"])
        if left:
            yield f"English words {sorted(left)} (or add them to locale/glossary.toml): {text!r}"


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
    file, whole = BytesIO(), copy.deepcopy(catalog)
    for entry in _without_their_context(catalog):
        whole.add(entry.id, entry.string)
    write_mo(file, whole)
    return file.getvalue()


def _without_their_context(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the commonest translation of each text that is in the catalogue only with a context.

    Texts that were stored as plain text have none.
    """
    found = defaultdict[Any, list[Entry]](list)
    for entry in entries:
        found[entry.id].append(entry)
    for several in found.values():
        if all(entry.context for entry in several):
            counts = Counter(str(entry.string) for entry in several)
            yield max(several, key=lambda entry: counts[str(entry.string)])


def _script(catalog: Catalog, others: Catalog) -> bytes:
    """Return the texts of static/js by their context and English, for words.js."""
    entries = [*catalog, *(e for e in others if _VOCABULARY in dict(e.locations))]
    entries = [entry for entry in entries if entry.id]
    texts = {entry.id: entry.string for entry in _without_their_context(entries)}
    texts |= {
        f"{entry.context}\x04{entry.id}" if entry.context else entry.id: entry.string
        for entry in entries
    }
    dumped = json.dumps(texts, ensure_ascii=False, indent=1, sort_keys=True)
    return f"globalThis.words = {dumped};\n".encode()
