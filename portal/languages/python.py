"""What Python says to people: texts marked by gettext's names, and sentences wherever they stand.

A sentence is a literal that begins like one, has several words and ends like one. Its parts that are computed (an f-string's) become
placeholders: f"{row.name} is changed." is the message "{name} is changed.", which `portal.languages.sentences` finds again by what it says.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from portal.languages.catalogue import Message

ONE = {"_", "gettext", "gettext_lazy", "gettext_noop"}
MANY = {"ngettext", "ngettext_lazy"}
# programs speak English
SILENT = re.compile(
    r"(^|/)(management|settings|process|migrations|languages|demo)/|portal/core/postgres|(^|/)(api|scim)/|/(health|background)\.py|(^|/)lists\.py"
)
_SENTENCE = re.compile(r"[A-Z\"“'‘`#{(].*\s.*[.!?…]\Z", re.DOTALL)
_LOGGERS = {"log", "logger", "logging", "warnings"}
_TITLES = {"page_title", "title"}  # keys of what a page's view gives it
_TABLES = {"TABS", "QUICK"}  # (…, "Name", …), and one for each line


def texts_of(text: str, name: str) -> Iterator[Message]:
    """In the order they stand."""
    tree = ast.parse(text)
    silent = SILENT.search(name) is not None
    yield from _marked(tree)
    if not silent:
        yield from _sentences(tree, _passed_over(tree))
        yield from _titles(tree)


def _marked(tree: ast.AST) -> Iterator[Message]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            name = _name(node.func)
            words = [
                a.value
                for a in node.args
                if isinstance(a, ast.Constant) and isinstance(a.value, str)
            ]
            if name in ONE and words:
                yield Message(words[0])
            elif name in MANY and len(words) >= 2:
                yield Message(words[0], words[1])
            elif name in {"pgettext", "pgettext_lazy"} and len(words) >= 2:
                yield Message(words[1], context=words[0])


def _sentences(tree: ast.AST, passed: set[int]) -> Iterator[Message]:
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        template = template_of(node)
        if (
            template
            and _SENTENCE.match(template.strip())
            and re.search(r"[a-z]{2}", re.sub(r"\{\w*\}", "", template))
        ):
            yield Message(template)


def _titles(tree: ast.AST) -> Iterator[Message]:
    """Names of pages, tabs and fields: short, so that only where they stand tells them from other words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in _TITLES:
                    yield from _named(value)
                elif isinstance(key, ast.Constant) and key.value == "crumbs":
                    yield from (
                        m
                        for inner in ast.walk(value)
                        if isinstance(inner, ast.Tuple)
                        for m in _named(inner.elts[0])
                    )
        elif isinstance(node, ast.Call) and _name(node.func) == "option" and node.args:
            yield from _named(node.args[0])
            yield from (m for k in node.keywords if k.arg == "note" for m in _noted(k.value))
        elif isinstance(node, ast.Call) and _name(node.func) == "Kind" and len(node.args) > 1:
            yield from _named(node.args[1])
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in _TABLES
        ):
            yield from (
                m
                for line in getattr(node.value, "elts", [])
                for cell in line.elts
                for m in _named(cell)
            )


def _named(node: ast.AST) -> Iterator[Message]:
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.match(r"[A-Z][^=]*[a-z]|[0-9]+ [a-z]", node.value)
    ):
        yield Message(node.value)


def _noted(node: ast.AST) -> Iterator[Message]:
    """What is said beside a field, however it begins; an example alone is no text."""
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"[A-Za-z]{2}[,.:;]? \S+ ?[a-z]|\A[A-Z]\S+\.\Z", node.value)
    ):
        yield Message(node.value)


def _passed_over(tree: ast.AST) -> set[int]:
    """Docstrings, what is logged or warned, what is marked already, and the pieces of f-strings."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            found |= {id(part) for part in node.values if isinstance(part, ast.Constant)}
        elif isinstance(node, ast.Call) and (
            _is_log(node.func)
            or _name(node.func) in ONE | MANY | {"SystemExit", "pgettext", "pgettext_lazy"}
        ):
            found |= {
                id(inner)
                for argument in [*node.args, *(k.value for k in node.keywords)]
                for inner in ast.walk(argument)
            }
    return found


def template_of(node: ast.AST) -> str:
    """A literal's text, with its computed parts as placeholders; empty for what is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts, used = [], dict[str, int]()
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value).replace("{", "{{").replace("}", "}}"))
        elif isinstance(part, ast.FormattedValue):
            name = _placeholder(part.value)
            used[name] = used.get(name, 0) + 1
            parts.append("{" + (name if used[name] == 1 else f"{name}{used[name]}") + "}")
    return "".join(parts)


def _placeholder(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str() as name)) if name.isidentifier():
            return name
        case ast.Call(args=[first, *_]):
            return _placeholder(first)
        case ast.Call(func=func):
            return _name(func) or "x"
    return "x"


def _name(func: ast.AST) -> str:
    return (
        func.id
        if isinstance(func, ast.Name)
        else func.attr
        if isinstance(func, ast.Attribute)
        else ""
    )


def _is_log(func: ast.AST) -> bool:
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id in _LOGGERS
    )
