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
SILENT = re.compile(r"(^|/)(management|settings|process|migrations|languages)/|portal/core/postgres|(^|/)api/|/(health|background)\.py")
_SENTENCE = re.compile(r"[A-Z\"“'‘`#{(].*\s.*[.!?…]\Z", re.DOTALL)
_LOGGERS = {"log", "logger", "logging", "warnings"}
TITLES = {"title", "label", "note", "page_title", "headline", "advice", "text", "legend", "summary"}


def texts_of(text: str, name: str) -> Iterator[Message]:
    """In the order they stand."""
    tree = ast.parse(text)
    silent = SILENT.search(name) is not None
    yield from _marked(tree)
    if not silent:
        yield from _sentences(tree, _passed_over(tree))


def _marked(tree: ast.AST) -> Iterator[Message]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            name = _name(node.func)
            words = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if name in ONE and words:
                yield Message(words[0])
            elif name in MANY and len(words) >= 2:
                yield Message(words[0], words[1])
            elif name == "pgettext" and len(words) >= 2:
                yield Message(words[1], context=words[0])


def _sentences(tree: ast.AST, passed: set[int]) -> Iterator[Message]:
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        template = template_of(node)
        if template and _SENTENCE.match(template.strip()) and re.search(r"[a-z]{2}", re.sub(r"\{\w*\}", "", template)):
            yield Message(template)


def _passed_over(tree: ast.AST) -> set[int]:
    """Docstrings, what is logged or warned, what is marked already, and the pieces of f-strings."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            found |= {id(part) for part in node.values if isinstance(part, ast.Constant)}
        elif isinstance(node, ast.Call) and (_is_log(node.func) or _name(node.func) in ONE | MANY | {"SystemExit", "pgettext"}):
            found |= {id(inner) for argument in [*node.args, *(k.value for k in node.keywords)] for inner in ast.walk(argument)}
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
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def _is_log(func: ast.AST) -> bool:
    return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in _LOGGERS
