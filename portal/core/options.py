"""Describe and check the settings of backends and identity providers, declared as dataclasses.

`option` declares a field that users may set. A `Secret` is stored encrypted and never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypedDict, get_type_hints

from portal.core.errors import InvalidInput
from portal.core.messages import Message

# Characters per value; keys and certificates are long.
LONGEST = 20_000
_MUST_REENTER = "has to be entered again: the stored one is for the former address only"
_TRUE, _FALSE = ("true", "1", "on", "yes"), ("false", "0", "off", "no", "")


class Secret(str):
    """A password, key or token in a Config: stored encrypted, never shown."""

    def __repr__(self) -> str:
        return "Secret('••••')"


class WayShape(TypedDict):
    name: str
    title: str
    about: str
    needs: Annotated[list[str], "Options that it cannot do without."]
    one_of: Annotated[list[str], "Options of which it needs one."]
    also: Annotated[list[str], "Options that it may have."]


@dataclass(frozen=True)
class Way:
    """One way to connect, as a Config lists them in `WAYS`.

    `needs` names the options that it cannot do without, of `one_of` it needs one, and `also` are
    those that it may have. An option that no way names belongs to all of them. `sets` are options
    that the way decides, so that no form shows them.
    """

    name: str
    title: str
    about: str
    needs: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    sets: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> frozenset[str]:
        return frozenset((*self.needs, *self.one_of, *self.also))

    def as_dict(self) -> WayShape:
        return {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "needs": list(self.needs),
            "one_of": list(self.one_of),
            "also": list(self.also),
        }


def ways_of(config: type[Any] | None) -> tuple[Way, ...]:
    """Return the ways of a Config, or nothing if there is only one."""
    return getattr(config, "WAYS", ())


def way_named(ways: Sequence[Way], name: str, values: Mapping[str, Any]) -> Way | None:
    """Return the chosen way, else that which stored values fit best, else the first.

    None if there are no ways.
    """

    def fits(way: Way) -> bool:
        return all(values.get(option) for option in way.needs) and all(
            values.get(option) == value for option, value in way.sets.items()
        )

    chosen = next((way for way in ways if way.name == name), None)
    fitting = [way for way in ways if fits(way)] if values else []
    best = max(fitting, key=lambda way: len(way.needs) + len(way.sets), default=None)
    return chosen or best or (ways[0] if ways else None)


class CheckState(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"  # cannot be told before something else is mended


class ConnectionCheckShape(TypedDict):
    label: str
    state: Annotated[str, "ok, warning, failed or skipped"]
    message: str
    field: Annotated[str, "The option that causes it, or empty."]


@dataclass(frozen=True)
class ConnectionCheck:
    """One line of the checklist of a connection test.

    `message` says what was found, or what is wrong and the one thing to do about it, at the option
    `field` that causes it.
    """

    label: str
    state: CheckState = CheckState.OK
    message: str = ""
    field: str = ""

    def as_dict(self) -> ConnectionCheckShape:
        return {
            "label": self.label,
            "state": str(self.state),
            "message": self.message,
            "field": self.field,
        }


def failed(label: str, message: str, field: str = "") -> ConnectionCheck:
    return ConnectionCheck(label, CheckState.FAILED, message, field)


def skipped(*labels: str) -> list[ConnectionCheck]:
    """Return checks that were not made, because of an earlier one that failed."""
    return [ConnectionCheck(label, CheckState.SKIPPED) for label in labels]


def failures(checks: Sequence[ConnectionCheck]) -> list[ConnectionCheck]:
    return [check for check in checks if check.state == CheckState.FAILED]


def option(
    label: str,
    *,
    default: Any = MISSING,
    note: str = "",
    choices: Sequence[str] = (),
    is_rare: bool = False,
    is_long: bool = False,
    is_operators: bool = False,
    sends: Sequence[str] = (),
    step: str = "connection",
) -> Any:
    """Declare a field of a Config and how its form displays it; a `Secret` is a password field.

    `is_rare` fields are collapsed until set; `is_long` fields have several lines; only a platform
    operator sets `is_operators` fields. For an address, `sends` names the secrets that are sent
    there. `step` is the step of the wizard that asks for it.
    """
    return field(
        default=default,
        metadata={
            "label": label,
            "note": note,
            "choices": tuple(choices),
            "is_rare": is_rare,
            "is_long": is_long,
            "is_operators": is_operators,
            "sends": tuple(sends),
            "step": step,
        },
    )


class OptionShape(TypedDict):
    name: str
    label: str
    kind: Annotated[str, "text, secret, whole, number, switch or words"]
    note: str
    choices: list[str]
    default: Any
    is_required: bool
    is_rare: bool
    is_long: bool
    is_operators: bool


@dataclass(frozen=True)
class Option:
    """A field of a Config that users may set.

    `kind` is text, secret, whole, number, switch or words.
    """

    name: str
    label: str
    kind: str
    note: str = ""
    choices: tuple[str, ...] = ()
    default: Any = ""
    is_required: bool = False
    is_rare: bool = False
    is_long: bool = False
    is_operators: bool = False
    sends: tuple[str, ...] = ()
    step: str = "connection"

    def as_dict(self) -> OptionShape:
        return {
            "name": self.name,
            "label": self.label,
            "kind": self.kind,
            "note": self.note,
            "choices": list(self.choices),
            "default": self.default,
            "is_required": self.is_required,
            "is_rare": self.is_rare,
            "is_long": self.is_long,
            "is_operators": self.is_operators,
        }


@dataclass(frozen=True)
class Options:
    """Checked values: `plain` may be shown, `secret` is stored encrypted and never shown."""

    plain: Mapping[str, Any]
    secret: Mapping[str, str]

    def together(self) -> dict[str, Any]:
        return {**self.plain, **{name: Secret(value) for name, value in self.secret.items()}}


def options_in(config: type[Any]) -> list[Option]:
    """Return the options of a Config, in declaration order."""
    return list(_options_in(config))  # type: ignore[arg-type]  # a class is hashable


@cache
def _options_in(config: type[Any]) -> tuple[Option, ...]:
    hints = get_type_hints(config)
    return tuple(
        Option(
            field.name,
            field.metadata["label"],
            _kind(hints[field.name]),
            field.metadata.get("note", ""),
            tuple(field.metadata.get("choices", ())),
            _default_text(field.default),
            field.default is MISSING,
            field.metadata.get("is_rare", False),
            field.metadata.get("is_long", False),
            field.metadata.get("is_operators", False),
            field.metadata.get("sends", ()),
            field.metadata.get("step", "connection"),
        )
        for field in fields(config)
        if "label" in field.metadata
    )


def check(
    options: Sequence[Option],
    given: Mapping[str, Any],
    former: Options | None = None,
    what: str = "backend",
    way: Way | None = None,
    ways: Sequence[Way] = (),
    faults_in: Callable[[Options], Sequence[tuple[str, str]]] = lambda _: (),
) -> Options:
    """Check the given values and merge them into the former ones.

    Values that are not given stay unchanged, and so does a secret given as ""; None removes a
    value. When an address changes, the secrets sent to it must be given again: otherwise whoever
    may change the address could redirect them to themselves. With a `way`, what it needs is required
    and what only other `ways` have is removed. `faults_in` returns (option, message) of values that
    the Config or the backend refuses; it must bear that required ones are missing. Raises InvalidInput
    with all errors at once.
    """
    known = {option.name: option for option in options}
    faults = [(name, f"is no option of this {what}") for name in given if name not in known]
    plain: dict[str, Any] = dict(former.plain) if former else {}
    secret: dict[str, str] = dict(former.secret) if former else {}
    for name, value in given.items():
        if name in known:
            faults += _set_value(
                known[name], value, secret if known[name].kind == "secret" else plain
            )
    faults += [
        (option.name, Message("is required", context="part of a sentence"))
        for option in known.values()
        if option.is_required
        and option.name not in {*plain, *secret, *(name for name, _ in faults)}
    ]
    if way:
        for name in {n for other in ways for n in (*other.options, *other.sets)} - way.options:
            plain.pop(name, None)
            secret.pop(name, None)
        plain.update(way.sets)
        faults += _missing_of(way, known, {*plain, *secret, *(name for name, _ in faults)})
    faults += [
        (name, _MUST_REENTER)
        for option in known.values()
        if former and _adds_host(plain.get(option.name), former.plain.get(option.name))
        for name in option.sends
        if name in secret and name in former.secret and not given.get(name)
    ]
    made = Options(plain, secret)
    wrong = {name for name, _ in faults}
    faults += [one for one in faults_in(made) if one[0] not in wrong]
    if faults:
        raise InvalidInput.of([(f"options.{name[:80]}", message) for name, message in faults])
    return made


def _missing_of(way: Way, known: Mapping[str, Option], given: set[str]) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = [
        (name, Message("is required", context="part of a sentence"))
        for name in way.needs
        if name not in given
    ]
    if way.one_of and not given.intersection(way.one_of):
        labels = [Message(known[name].label) for name in way.one_of]
        faults.append(
            (
                way.one_of[0],
                Message(
                    "enter it, or {other}",
                    context="part of a sentence",
                    other=Message.joined(", ", labels[1:]),
                ),
            )
        )
    return faults


def raise_faults(*faults: tuple[str, str]) -> None:
    """Raise InvalidInput if one of (option, what is wrong with it or nothing) is wrong, with all."""
    if found := [(f"options.{name}", text) for name, text in faults if text]:
        raise InvalidInput.of(found)


def _adds_host(address: Any, former: Any) -> bool:
    """Return whether the address adds a host to the former ones; both are separated by spaces."""
    return bool({*str(address or "").split()} - {*str(former or "").split()})


def _set_value(option: Option, value: Any, into: dict[str, Any]) -> list[tuple[str, str]]:
    """Set one value and return its errors.

    None unsets the value, so that the default applies. So does "", except for secrets, which a form
    cannot show.
    """
    if value in ("", None):
        if value is None or option.kind != "secret":
            into.pop(option.name, None)
        return []
    try:
        into[option.name] = _convert(option, value)
    except ValueError as error:
        return [(option.name, str(error))]
    return []


def _convert(option: Option, value: Any) -> Any:
    """Convert a value to the type of the option. Raises ValueError."""
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    if len(text) > LONGEST or "\x00" in text:
        raise ValueError(f"must be at most {LONGEST:,} characters long, without NUL")
    if option.kind == "words":
        words = value if isinstance(value, list) else text.split()
        if not all(isinstance(word, str) for word in words):
            raise ValueError("must be words")
        return list(words)
    if isinstance(value, (list, dict)):
        raise ValueError("must be one value")
    if option.choices and text not in option.choices:
        raise ValueError(
            Message(
                "must be one of {names}",
                context="part of a sentence",
                names=", ".join(option.choices),
            )
        )
    return _READERS[option.kind](text)


def _switch(text: str) -> bool:
    if text.lower() not in _TRUE + _FALSE:
        raise ValueError("must be true or false")
    return text.lower() in _TRUE


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError("must be a number") from None
    if not abs(number) < 1e15:  # excludes infinity and NaN
        raise ValueError("must be a number")
    return number


def _whole(text: str) -> int:
    number = _number(text)
    if number != int(number):
        raise ValueError(Message("must be a whole number"))
    return int(number)


def _text(text: str) -> str:
    if any(ord(c) < 32 and c not in "\n\r\t" for c in text):
        raise ValueError("must not hold control characters")
    return text.strip()


_READERS: dict[str, Callable[[str], Any]] = {
    "text": _text,
    "secret": str,
    "whole": _whole,
    "number": _number,
    "switch": _switch,
}


def _kind(hint: Any) -> str:
    names = {
        Secret: "secret",
        bool: "switch",
        int: "whole",
        float: "number",
        str: "text",
        Path: "text",
    }
    if hint in names:
        return names[hint]
    parts = [part for part in getattr(hint, "__args__", ()) if part is not type(None)]
    if getattr(hint, "__origin__", None) in (tuple, list):
        return "words"
    return _kind(parts[0]) if parts else "text"


def _default_text(default: Any) -> Any:
    if default is MISSING or default is None or isinstance(default, Secret):
        return ""
    return (
        default
        if isinstance(default, (bool, int, float))
        else " ".join(default)
        if isinstance(default, tuple)
        else str(default)
    )
