"""Find English phrases that are put into a message as parameters, which no catalogue translates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

_PHRASE = re.compile(r"(^| )[a-z]{2,}( |$)")
_NAMES = re.compile(r"[\w<>.-]+(, [\w<>.-]+)*")  # of options, one or a list
_VALUES = (ast.IfExp, ast.BoolOp, ast.Tuple, ast.List, ast.Dict, ast.BinOp)
Sources = dict[str, list[ast.expr]]


@dataclass(frozen=True)
class Scope:
    """What names stand for, here and in the module, and the functions of the module."""

    here: Sources
    module: Sources
    functions: Mapping[str, ast.FunctionDef]
    seen: frozenset[str] = frozenset()


def pieces(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line of each message and an English phrase that it takes as a parameter."""
    if "Message" not in source:
        return
    tree = ast.parse(source)
    functions = {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    module = _assigned(tree.body)
    calls: dict[str, list[ast.Call]] = {}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            calls.setdefault(_name(call), []).append(call)
    for function in functions.values():
        made = [
            call
            for call in ast.walk(function)
            if isinstance(call, ast.Call) and _name(call) in {"Message", "plural"} and call.keywords
        ]
        if not made:
            continue
        here = _assigned(ast.walk(function))
        for name, value in _given(function, calls.get(function.name, ())):
            here.setdefault(name, []).append(value)
        scope = Scope(here, module, functions)
        for call in made:
            for keyword in call.keywords:
                if keyword.arg == "context":
                    continue
                yield from ((call.lineno, text) for text in _texts(keyword.value, scope))


def _texts(node: ast.AST, scope: Scope) -> Iterator[str]:
    match node:
        case ast.Constant(value=str() as text) if _is_phrase(text):
            yield text
        case ast.JoinedStr():
            text = "".join(p.value if isinstance(p, ast.Constant) else "#" for p in node.values)
            if _is_phrase(text):
                yield text
        case ast.Name(id=name) if name not in scope.seen:
            inner = replace(scope, seen=scope.seen | {name})
            for value in scope.here.get(name) or scope.module.get(name, ()):
                yield from _texts(value, inner)
        case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(value=value, attr="join")):
            yield from _texts(value, scope)
        case ast.Call() if (name := _name(node)) in scope.functions and name not in scope.seen:
            yield from _returned(scope.functions[name], scope)
        case _ if isinstance(node, _VALUES):
            for child in ast.iter_child_nodes(node):
                yield from _texts(child, scope)


def _returned(function: ast.FunctionDef, scope: Scope) -> Iterator[str]:
    here, seen = _assigned(ast.walk(function)), scope.seen | {function.name}
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield from _texts(node.value, replace(scope, here=here, seen=seen))


def _is_phrase(text: str) -> bool:
    return bool(_PHRASE.search(text)) and not _NAMES.fullmatch(text)


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _assigned(nodes: Iterator[ast.AST] | Sequence[ast.stmt]) -> Sources:
    found: Sources = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                pairs = (
                    zip(target.elts, node.value.elts, strict=False)
                    if several
                    else ((target, node.value),)
                )
                for one, value in pairs:
                    if isinstance(one, ast.Name):
                        found.setdefault(one.id, []).append(value)
    return found


def _given(function: ast.FunctionDef, calls: Sequence[ast.Call]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the arguments with which the module calls a function."""
    names = [one.arg for one in function.args.args if one.arg not in {"self", "cls"}]
    for call in calls:
        yield from zip(names, call.args, strict=False)
        yield from ((one.arg, one.value) for one in call.keywords if one.arg)
