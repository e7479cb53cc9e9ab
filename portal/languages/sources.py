"""What there is to translate: read out of templates, Python and the browser's modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.template.base import Lexer, TokenType
from django.utils.translation import trim_whitespace

from portal.languages.catalogue import Message
from portal.languages.python import texts_of

PACKAGES = ("portal", "workspaces", "schedulers", "clusters", "jobs", "monitoring")
_TRANSLATE = re.compile(
    r"""(?:translate|trans)\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(.*)""", re.DOTALL
)
_CONTEXT = re.compile(r'\bcontext\s+"([^"]*)"')
_BLOCK = re.compile(r"blocktrans(?:late)?\b(.*)", re.DOTALL)
_LITERAL = re.compile(r"""_\(("[^"]*"|'[^']*')\)""")
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_SAY = re.compile(rf"\bsay\(\s*({_STRING})")


def messages(root: Path) -> dict[tuple[str, str], Message]:
    """All of them, each with the files that say it."""
    found: dict[tuple[str, str], Message] = {}
    for path in _files(root):
        name = path.relative_to(root).as_posix()
        for message in _READERS[path.suffix](path.read_text(encoding="utf-8"), name):
            known = found.setdefault(message.key, message)
            known.files.add(name)
            known.plural = known.plural or message.plural
    return found


def _files(root: Path) -> Iterator[Path]:
    yield from sorted(p for p in (root / "templates").rglob("*") if p.suffix in {".html", ".txt"})
    yield from sorted((root / "static" / "js").glob("*.js"))
    for package in PACKAGES:
        yield from sorted(p for p in (root / package).rglob("*.py") if "migrations" not in p.parts)


def of_template(text: str, name: str = "") -> Iterator[Message]:
    """`translate`, `blocktranslate` and `_("…")` in tags."""
    opened: list[str] | None = None
    plural: list[str] | None = None
    tag = ""
    for token in Lexer(text).tokenize():
        if opened is not None:
            into = opened if plural is None else plural
            if token.token_type == TokenType.TEXT:
                into.append(token.contents.replace("%", "%%"))
            elif token.token_type == TokenType.VAR:
                into.append(f"%({token.contents})s")
            elif token.contents.startswith("plural"):
                plural = []
            elif token.contents.startswith("end"):
                yield _block(opened, plural, tag)
                opened = plural = None
        elif token.token_type == TokenType.BLOCK and (match := _BLOCK.match(token.contents)):
            opened, tag = [], match[1]
        elif token.token_type in {TokenType.BLOCK, TokenType.VAR}:
            yield from _tag(token.contents)


def _block(one: list[str], many: list[str] | None, tag: str) -> Message:
    trim = trim_whitespace if re.search(r"\btrimmed\b", tag) else str
    context = _CONTEXT.search(tag)
    return Message(
        trim("".join(one)),
        trim("".join(many)) if many is not None else "",
        context[1] if context else "",
    )


def _tag(contents: str) -> Iterator[Message]:
    if match := _TRANSLATE.match(contents):
        context = _CONTEXT.search(match[2])
        yield Message(
            ast.literal_eval(match[1]).replace("%", "%%"), context=context[1] if context else ""
        )
    for literal in _LITERAL.findall(contents):
        yield Message(ast.literal_eval(literal))


def of_script(text: str, name: str = "") -> Iterator[Message]:
    """`say("…")` of static/js/words.js. Those with computed parts have a context, so that "{n} min" is no shape of a sentence (sentences.py)."""
    for literal in _SAY.findall(text):
        said = ast.literal_eval(literal)
        yield Message(said, context="js" if "{" in said else "")


_READERS = {".html": of_template, ".txt": of_template, ".js": of_script, ".py": texts_of}
