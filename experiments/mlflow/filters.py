"""Filters and orders in MLflow's language: `status = 'OK' AND tags.env LIKE 'prod%'`.

For traces, registered models and versions. `experiments.search` has the one for runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db.models import F, Model, Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from experiments.search.expressions import compare
from portal.core.errors import InvalidInput
from portal.core.messages import Message

M = TypeVar("M", bound=Model)
_CONDITION = re.compile(
    r"""\s*(?:(?P<entity>\w+)\.)?(?P<key>[\w.\-/]+|`[^`]+`|"[^"]+")\s*
    (?P<op>!=|>=|<=|=|>|<|(?:NOT\s+)?IN\b|LIKE\b|ILIKE\b|IS\s+NOT\s+NULL\b|IS\s+NULL\b)\s*
    (?P<value>'[^']*'|"[^"]*"|-?\d+(?:\.\d+)?|\((?:[^)'"]|'[^']*'|"[^"]*")*\)|)\s*
    (?:\bAND\b|\Z)""",
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_NUMBER = re.compile(r"['\"]?(-?\d{1,18}(?:\.\d+)?)['\"]?")
_IS_PROMPT = "mlflow.prompt.is_prompt"
_LONGEST, _MOST = 10_000, 20
_COMPARISONS = {"=": "exact", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}


@dataclass(frozen=True)
class Language:
    """What can be filtered and ordered by: attributes that are numbers or texts, and documents.

    `documents` maps `tags` of `tags.<key>` to the JSON field.
    """

    numbers: Mapping[str, Any]
    texts: Mapping[str, Any]
    order: Sequence[str]
    documents: Mapping[str, str] = field(default_factory=lambda: {"tag": "tags", "tags": "tags"})
    entities: frozenset[str] = frozenset({"", "attribute", "attributes", "attr"})

    def column(self, entity: str, key: str) -> Any:
        """Return the expression of an attribute or of a key of a document. Raises InvalidInput."""
        if entity in self.documents:
            return text_of(key, self.documents[entity])
        if entity in self.entities:
            column = self.numbers.get(key) or self.texts.get(key)
            if column is not None:
                return column
        raise InvalidInput(
            Message(
                "Invalid attribute key '{key}' specified. Valid keys are {known}",
                key=f"{entity}.{key}".strip(".")[:200],
                known=", ".join(
                    [*self.numbers, *self.texts, *(f"{name}.<key>" for name in self.documents)]
                ),
            )
        )


def text_of(key: str, document: str) -> Any:
    """Return the text at a key of a JSON field. Without the cast, it is compared as JSON."""
    return Cast(KeyTextTransform(key, document), TextField())


def search(
    rows: QuerySet[M], language: Language, text: str, order_by: Sequence[str]
) -> QuerySet[M]:
    """Return the rows that match, in the order that is asked for. Raises InvalidInput."""
    for n, (entity, key, op, value) in enumerate(_conditions(text)):
        name = f"searched_{n}"
        rows = rows.alias(**{name: language.column(entity, key)})
        is_number = entity in language.entities and key in language.numbers
        condition = (_number_condition if is_number else _text_condition)(name, op, value)
        if key == _IS_PROMPT and op == "!=":  # clients add this to find models that are no prompts
            condition |= Q(**{f"{name}__isnull": True})
        rows = rows.filter(condition)
    order = []
    for clause in order_by:
        name, _, direction = clause.strip().partition(" ")
        entity, _, key = name.rpartition(".")
        if direction.strip().upper() not in {"", "ASC", "DESC"}:
            raise _invalid(clause)
        column = language.column(entity.lower(), key.strip("`"))
        is_down = direction.strip().upper() == "DESC"
        order.append(column.desc(nulls_last=True) if is_down else column.asc(nulls_last=True))
    return rows.order_by(*order, *language.order)


def _conditions(text: str) -> list[tuple[str, str, str, str]]:
    found: list[tuple[str, str, str, str]] = []
    at = 0
    if len(text) > _LONGEST:
        raise _invalid(text)
    while text[at:].strip():
        match = _CONDITION.match(text, at)
        op = " ".join(match["op"].upper().split()) if match else ""
        if match is None or (not match["value"]) != op.startswith("IS") or len(found) == _MOST:
            raise _invalid(text)
        key = match["key"].strip('`"')
        found.append(((match["entity"] or "").lower(), key, op, match["value"]))
        at = match.end()
    return found


def _number_condition(name: str, op: str, value: str) -> Q:
    number = _NUMBER.fullmatch(value)
    if number is None or op not in {*_COMPARISONS, "!="}:
        raise _invalid(f"{op} {value}")
    if op == "!=":
        return ~Q(**{name: float(number[1])})
    return Q(**{f"{name}__{_COMPARISONS[op]}": float(number[1])})


def _text_condition(name: str, op: str, value: str) -> Q:
    if op.startswith("IS"):
        return Q(**{f"{name}__isnull": op == "IS NULL"})
    if op.endswith("IN"):
        values = [a or b for a, b in _QUOTED.findall(value)]
        return Q(**{f"{name}__in": values}) if op == "IN" else ~Q(**{f"{name}__in": values})
    quoted, build = _QUOTED.fullmatch(value), _TEXT_OPERATORS.get(op)
    if quoted is None or build is None:
        raise _invalid(f"{op} {value}")
    return build(name, quoted[1] if quoted[1] is not None else quoted[2])


_TEXT_OPERATORS: dict[str, Callable[[str, str], Q]] = {
    "=": lambda name, text: Q(**{name: text}),
    "!=": lambda name, text: ~Q(**{name: text}) & Q(**{f"{name}__isnull": False}),
    "LIKE": lambda name, text: Q(compare(F(name), "LIKE", text)),
    "ILIKE": lambda name, text: Q(compare(F(name), "ILIKE", text)),
}


def _invalid(text: str) -> InvalidInput:
    return InvalidInput(Message("Invalid clause(s) in filter string: {text}", text=text[:200]))
