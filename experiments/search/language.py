"""Parser of MLflow's filter language. Pure functions.

`metrics.loss < 0.1 and params."model/size" = 'large' and tags.team LIKE 'v%'`. MLflow uses sqlparse,
which groups tokens of any SQL and then needs as much code to find out what they mean; its errors
have no position.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from portal.core.errors import InvalidInput
from portal.core.messages import Message

METRIC, PARAM, TAG, ATTRIBUTE, DATASET = "metric", "param", "tag", "attribute", "dataset"
METADATA = "metadata"
SPAN, FEEDBACK, EXPECTATION = "span", "feedback", "expectation"
LONGEST = 20_000  # characters
MOST = 100  # conditions
_KINDS = {
    **dict.fromkeys(("metric", "metrics"), METRIC),
    **dict.fromkeys(("param", "params", "parameter", "parameters"), PARAM),
    **dict.fromkeys(("tag", "tags"), TAG),
    **dict.fromkeys(("attribute", "attributes", "attr", "run", "trace"), ATTRIBUTE),
    **dict.fromkeys(("dataset", "datasets"), DATASET),
    **dict.fromkeys(("metadata", "request_metadata", "trace_metadata"), METADATA),
    **dict.fromkeys(("span", "spans"), SPAN),
    FEEDBACK: FEEDBACK,
    EXPECTATION: EXPECTATION,
}
_NAMES = {
    METRIC: "metrics",
    PARAM: "params",
    TAG: "tags",
    DATASET: "datasets",
    METADATA: "metadata",
    SPAN: "span",
    FEEDBACK: "feedback",
    EXPECTATION: "expectation",
}
NUMERIC = ("=", "!=", "<", "<=", ">", ">=")
TEXT = ("=", "!=", "LIKE", "ILIKE")
PATTERNS = ("LIKE", "ILIKE")
LISTS = ("IN", "NOT IN")
NULLS = ("IS NULL", "IS NOT NULL")
Value = str | float | int | tuple[str, ...] | None
_TOKENS = re.compile(
    r"""
    (?P<space>\s+)
    | (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<quoted>`[^`]*`)
    | (?P<number>(?<![\w`"'])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w./:]))
    | (?P<operator><=|>=|!=|<>|==|=|<|>)
    | (?P<word>[^\W\d][\w]*)
    | (?P<sign>[(),.])
    """,
    re.VERBOSE,
)
# What follows "metrics." without quotes
_KEY = re.compile(r"[\w./:-]+")


@dataclass(frozen=True)
class Fields:
    """Searchable fields: kinds, the attributes that are texts and numbers, and other names."""

    kinds: tuple[str, ...]
    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    aliases: tuple[tuple[str, str], ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        return (*self.texts, *self.numbers)


RUNS = Fields(
    (METRIC, PARAM, TAG, ATTRIBUTE, DATASET),
    ("run_id", "run_name", "status", "user_id", "artifact_uri"),
    ("start_time", "end_time"),
    (
        *((name, "start_time") for name in ("created", "Created")),
        *((name, "run_name") for name in ("run name", "Run name", "Run Name")),
    ),
)
EXPERIMENTS = Fields(
    (TAG, ATTRIBUTE), ("name", "experiment_id"), ("creation_time", "last_update_time")
)
LOGGED_MODELS = Fields(
    (METRIC, PARAM, TAG, ATTRIBUTE),
    ("name", "model_id", "model_type", "status", "source_run_id"),
    ("creation_timestamp", "last_updated_timestamp"),
    (("creation_time", "creation_timestamp"), ("last_updated_time", "last_updated_timestamp")),
)
TRACES = Fields(
    (TAG, METADATA, SPAN, FEEDBACK, EXPECTATION, ATTRIBUTE),
    ("trace_id", "state", "client_request_id", "name", "run_id", "prompt", "text"),
    ("timestamp_ms", "execution_time_ms", "end_time_ms", "experiment_id"),
    (
        ("request_id", "trace_id"),
        ("status", "state"),
        *((name, f"{name}_ms") for name in ("timestamp", "execution_time", "end_time")),
    ),
)
REGISTERED_MODELS = Fields(
    (TAG, ATTRIBUTE),
    ("name",),
    ("creation_timestamp", "last_updated_timestamp"),
    (("last_updated_time", "last_updated_timestamp"),),
)
MODEL_VERSIONS = Fields(
    (TAG, ATTRIBUTE),
    ("name", "source_path", "run_id", "current_stage", "status"),
    ("version_number", "creation_timestamp", "last_updated_timestamp"),
    (("source", "source_path"),),
)
_DATASET_KEYS = ("name", "digest", "context")
SPAN_ATTRIBUTES = "attributes."  # of a span, in front of the key
_SPAN_KEYS = ("name", "type", "status", "content")


@dataclass(frozen=True)
class SearchCondition:
    """One comparison; `value` is a text, a number, a tuple for IN, or None for IS NULL."""

    kind: str
    key: str
    comparator: str
    value: Value


@dataclass(frozen=True)
class Sorting:
    """One key of an order."""

    kind: str
    key: str
    is_descending: bool


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind == "word" else self.text


def parse_filter(text: str, fields: Fields = RUNS) -> list[SearchCondition]:
    """Return the conditions of a filter, all of which must hold. Raises InvalidInput."""
    return _Parser(text, fields, "filter").conditions()


def parse_order(texts: Sequence[str], fields: Fields = RUNS) -> list[Sorting]:
    """Return the keys of `order_by`, such as `metrics.loss ASC`. Raises InvalidInput."""
    found: list[Sorting] = []
    for text in texts:
        one = _Parser(text, fields, "order_by").sorting()
        if any((one.kind, one.key) == (other.kind, other.key) for other in found):
            raise InvalidInput.at(
                "order_by", Message("has {key} twice", context="error of a field", key=one.key)
            )
        found.append(one)
    return found


class _Parser:
    """A recursive descent over the tokens; `field` is the name of the parameter in errors."""

    def __init__(self, text: str, fields: Fields, field: str):
        self.text, self.fields, self.field = text, fields, field
        if len(text) > LONGEST or "\x00" in text:
            raise InvalidInput.at(
                field, Message("must be at most {most} characters long, without NUL", most=LONGEST)
            )
        self.place = 0
        self.next = self._read()

    def conditions(self) -> list[SearchCondition]:
        found: list[SearchCondition] = []
        while self.next.kind != "end":
            if found:
                self._expect_and()
            found.append(self._condition())
            if len(found) > MOST:
                self._fail(Message("more than {most} conditions", most=MOST))
        return found

    def sorting(self) -> Sorting:
        kind, key = self._identifier()
        if kind in (DATASET, SPAN, FEEDBACK, EXPECTATION) or key in ("text", "prompt"):
            self._fail(Message("{name} can’t be sorted by", name=key))
        is_descending = False
        if self.next.upper in ("ASC", "DESC"):
            is_descending = self._take().upper == "DESC"
        if self.next.kind != "end":
            self._fail(Message("ASC, DESC or the end is expected"))
        return Sorting(kind, key, is_descending)

    def _condition(self) -> SearchCondition:
        kind, key = self._identifier()
        allowed = self._comparators(kind, key)
        comparator = self._comparator(allowed)
        value: Value = None
        if comparator in LISTS:
            value = self._list()
        elif comparator not in NULLS:
            is_number = kind == METRIC or (kind == ATTRIBUTE and key in self.fields.numbers)
            if kind in (FEEDBACK, EXPECTATION) and self.next.kind in ("number", "word"):
                is_number = comparator not in TEXT
                value = self._number(kind, key) if is_number else self._take().text
            else:
                value = self._number(kind, key) if is_number else self._text_value()
        return SearchCondition(kind, key, comparator, value)

    def _identifier(self) -> tuple[str, str]:
        """Read `metrics.loss`, a key in quotes, or an attribute without a prefix."""
        start = self.next
        if start.kind not in ("word", "quoted", "text"):
            self._fail(
                Message(
                    "a name is expected, such as {names}",
                    names=", ".join(self._examples()),
                )
            )
        name = _unquoted(self._take_word())
        if self.next.text != "." or self.next.kind != "sign":
            return ATTRIBUTE, self._attribute(name, start)
        kind = _KINDS.get(name)
        if kind is None or kind not in self.fields.kinds:
            self._fail(
                Message(
                    "{name} is unknown; use {names}",
                    context="error",
                    name=name[:40],
                    names=self._kinds(),
                ),
                start,
            )
        where, key = self.place, self._key()
        if kind == ATTRIBUTE:
            return kind, self._attribute(key, _Token("word", key, where))
        known = {DATASET: _DATASET_KEYS, SPAN: (*_SPAN_KEYS, f"{SPAN_ATTRIBUTES}KEY")}.get(kind)
        if known and key not in known and not (kind == SPAN and key.startswith(SPAN_ATTRIBUTES)):
            self._fail(
                Message(
                    "{name} is unknown; use {names}",
                    context="error",
                    name=key[:40],
                    names=", ".join(f"{_NAMES[kind]}.{one}" for one in known),
                ),
                start,
            )
        return kind, key

    def _take_word(self) -> str:
        return self._take().text

    def _key(self) -> str:
        """Read the key behind the dot, which is the next token."""
        if self.place < len(self.text) and self.text[self.place] in "`\"'":
            self.next = self._read()
            if self.next.kind not in ("quoted", "text"):
                self._fail(Message("the quote has no end"))
            key = _unquoted(self._take().text)
        else:
            found = _KEY.match(self.text, self.place)
            key = found[0] if found else ""
            self.place += len(key)
            if key == SPAN_ATTRIBUTES:  # the key of the attribute is in quotes
                return key + self._key()
            if key:
                self.next = self._read()
        if not key:
            at = _Token("bad", "", self.place)
            self._fail(Message("a key is expected; put it in double quotes if it has spaces"), at)
        return key

    def _attribute(self, name: str, start: _Token) -> str:
        known = dict(self.fields.aliases).get(name, name)
        if known not in self.fields.attributes:
            self._fail(
                Message(
                    "{name} is unknown; use {kinds}, or one of {names}",
                    name=name[:40],
                    kinds=self._kinds(),
                    names=", ".join(self.fields.attributes),
                ),
                start,
            )
        return known

    def _comparators(self, kind: str, key: str) -> tuple[str, ...]:
        if kind == METRIC or (kind == ATTRIBUTE and key in self.fields.numbers):
            return NUMERIC
        if kind in (PARAM, TAG, METADATA):
            return (*TEXT, *NULLS)
        if kind in (FEEDBACK, EXPECTATION):
            return (*TEXT, *NUMERIC[2:], *NULLS)
        if (kind == SPAN and key == "content") or (kind == ATTRIBUTE and key == "text"):
            return PATTERNS
        if kind == ATTRIBUTE and key == "prompt":
            return ("=",)
        if key == "experiment_id":
            return ("=", "!=", *LISTS)
        return (*TEXT, *LISTS)

    def _comparator(self, allowed: tuple[str, ...]) -> str:
        start = self.next
        found = self._take().upper if start.kind in ("operator", "word") else ""
        if found == "<>":
            found = "!="
        if found == "NOT" and self.next.upper == "IN":
            self._take()
            found = "NOT IN"
        elif found == "IS":
            is_not = self.next.upper == "NOT"
            if is_not:
                self._take()
            if self.next.upper == "NULL":
                self._take()
                found = "IS NOT NULL" if is_not else "IS NULL"
        if found not in allowed:
            self._fail(Message("one of {names} is expected", names=" ".join(allowed)), start)
        return found

    def _text_value(self) -> str:
        if self.next.kind != "text":
            self._fail(Message("a text in quotes is expected, such as 'adam'"))
        return _unquoted(self._take().text)

    def _number(self, kind: str, key: str) -> float | int:
        if self.next.kind != "number":
            self._fail(Message("a number without quotes is expected"))
        text = self._take().text
        if kind == ATTRIBUTE and re.fullmatch(r"[+-]?\d{1,18}", text):
            return int(text)
        return float(text)

    def _list(self) -> tuple[str, ...]:
        found: list[str] = []
        self._sign("(")
        while not found or self.next.text == ",":
            if found:
                self._take()
            found.append(self._text_value())
        self._sign(")")
        return tuple(found)

    def _sign(self, sign: str) -> None:
        if self.next.kind != "sign" or self.next.text != sign:
            self._fail(Message("a list is expected, such as ('a', 'b')"))
        self._take()

    def _expect_and(self) -> None:
        if self.next.upper == "OR":
            self._fail(Message("OR is not part of the language; use AND, or IN for several values"))
        if self.next.upper != "AND":
            self._fail(Message("AND or the end is expected"))
        self._take()
        if self.next.kind == "end":
            self._fail(Message("a condition is expected after AND"))

    def _take(self) -> _Token:
        taken = self.next
        if taken.kind == "end":
            self._fail(Message("the text ends too early"))
        # A key without quotes is read by `_key`: it may have dots, slashes and dashes
        self.next = self._read()
        return taken

    def _read(self) -> _Token:
        while True:
            if self.place >= len(self.text):
                return _Token("end", "", len(self.text))
            found = _TOKENS.match(self.text, self.place)
            if found is None:
                at = _Token("bad", self.text[self.place], self.place)
                if at.text in "'\"`":
                    self._fail(Message("the quote has no end"), at)
                self._fail(
                    Message(
                        "{character} is not expected", context="error", character=repr(at.text)
                    ),
                    at,
                )
            start, self.place = self.place, found.end()
            if found.lastgroup != "space":
                return _Token(str(found.lastgroup), found[0], start)

    def _kinds(self) -> str:
        return ", ".join(f"{_NAMES[kind]}.KEY" for kind in self.fields.kinds if kind in _NAMES)

    def _examples(self) -> list[str]:
        kinds = [f"{_NAMES[kind]}.KEY" for kind in self.fields.kinds if kind in _NAMES]
        return [*kinds, *self.fields.attributes]

    def _fail(self, what: Message, token: _Token | None = None) -> NoReturn:
        at = (token or self.next).start
        raise InvalidInput.at(
            self.field,
            Message(
                "at character {place} ({rest}): {what}",
                context="error of a field",
                place=at + 1,
                rest=repr(self.text[at : at + 20])
                if at < len(self.text)
                else Message("the end", context="error of a field"),
                what=what,
            ),
        )


def _unquoted(text: str) -> str:
    """Return a name or text without its quotes; a doubled quote in it stands for one."""
    quote = text[:1]
    if quote not in ("'", '"', "`"):
        return text
    inner = text[1:-1]
    return inner if quote == "`" else inner.replace(quote * 2, quote)
