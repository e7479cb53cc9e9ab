"""One request to MLflow's API: who calls, for which team, and the parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, nan
from typing import Any

import orjson
from django.http import HttpRequest

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.api.base import team_in
from workspaces.models import Organization, Team

_NUMBERS = {"NaN": nan, "Infinity": inf, "-Infinity": -inf}
_INT64 = 2**63
_FLAGS = {None: False, "": False, **dict.fromkeys((True, "true", "True"), True)}
_FLAGS |= dict.fromkeys((False, "false", "False"), False)
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")  # an even number of backslashes before it is text


@dataclass(frozen=True)
class Call:
    """A request. `data` is the JSON body, or the query of a GET request without one."""

    request: HttpRequest
    data: Mapping[str, Any]
    team_slug: str = ""

    @property
    def actor(self) -> Actor:
        return self.request.actor  # type: ignore[attr-defined,no-any-return]

    @property
    def org(self) -> Organization:
        return self.request.org  # type: ignore[attr-defined,no-any-return]

    @cached_property
    def team(self) -> Team:
        """Return the team of the URL or of X-MLFLOW-WORKSPACE, else as in the REST API.

        Raises InvalidInput and NotFound.
        """
        return team_in(self.request, self.team_slug)

    def text(self, name: str, default: str = "") -> str:
        """Return a text, or the default. Raises InvalidInput."""
        value = self.data.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)  # ids
            raise invalid(name, value)
        return value

    def required(self, name: str) -> str:
        """Return a text. Raises InvalidInput if it is missing or empty."""
        return self.text(name) or _missing(name)

    def run_id(self) -> str:
        """Return `run_id`, or `run_uuid` as old clients call it. Raises InvalidInput."""
        return self.text("run_id") or self.text("run_uuid") or _missing("run_id")

    def integer(self, name: str, default: int | None = None) -> int | None:
        """Return a whole number, or the default. Raises InvalidInput."""
        value = self.data.get(name)
        return default if value is None or value == "" else integer(name, value)

    def limit(self, name: str, default: int, most: int) -> int:
        """Return the number of results that are asked for. Raises InvalidInput."""
        found = self.integer(name, default)
        assert found is not None
        if found < 1:
            raise InvalidInput(
                Message(
                    "Invalid value {value} for parameter '{name}' supplied. It must be a positive "
                    "integer",
                    value=found,
                    name=name,
                )
            )
        if found > most:
            raise InvalidInput(
                Message(
                    "Invalid value {value} for parameter '{name}' supplied. It must be at most "
                    "{most}",
                    value=found,
                    name=name,
                    most=most,
                )
            )
        return found

    def flag(self, name: str) -> bool:
        """Return whether a flag is set, in JSON or in the query. Raises InvalidInput."""
        value = self.data.get(name)
        if not isinstance(value, str | bool | None) or value not in _FLAGS:
            raise invalid(name, value)
        return _FLAGS[value]

    def refuse(self, name: str, reason: Message) -> None:
        """Raise InvalidInput if a parameter is set that this server cannot honour."""
        if self.data.get(name) not in (None, "", [], {}):
            raise InvalidInput.at(
                name, Message("can’t be set: {reason}", context="error of a field", reason=reason)
            )

    def texts(self, name: str) -> list[str]:
        """Return a list of texts. Raises InvalidInput."""
        found = self.data.get(name)
        if found is None:
            return []
        values = [found] if isinstance(found, str | int) else found
        if not isinstance(values, list) or not all(isinstance(v, str | int) for v in values):
            raise invalid(name, found)
        return [str(v) for v in values]

    def objects(self, name: str) -> list[Mapping[str, Any]]:
        """Return a list of JSON objects. Raises InvalidInput."""
        return objects(name, self.data.get(name))

    def pairs(self, name: str) -> dict[str, str]:
        """Return a list of {key, value} as a mapping; the last of a key counts."""
        return pairs(name, self.data.get(name))


def data_of(request: HttpRequest) -> Mapping[str, Any]:
    """Return the parameters of a request. Raises InvalidInput for malformed JSON."""
    if request.method == "GET" and request.GET:
        return {
            name: values[0] if len(values) == 1 else values for name, values in request.GET.lists()
        }
    raw = request.body
    if not raw.strip():
        return {}
    found = parsed(raw)
    if isinstance(found, str):  # old clients encode it twice
        found = parsed(found.encode())
    if not isinstance(found, dict):
        raise InvalidInput(Message("The request is not a JSON object."))
    return found


def parsed(raw: bytes) -> Any:
    """Parse JSON. Raises InvalidInput if it is malformed or has NUL, which PostgreSQL cannot store."""
    if b"\\u0000" in raw and _NUL.search(raw):
        raise InvalidInput(Message("The request contains a NUL character."))
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(
            Message("The request is not valid JSON: {error}", error=str(error))
        ) from error


def text_in(data: Mapping[str, Any], name: str) -> str:
    """Return a text of a JSON object, or "". Raises InvalidInput."""
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise invalid(name, value)
    return value or ""


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects(name: str, found: Any) -> list[Mapping[str, Any]]:
    """Return a list of JSON objects. Raises InvalidInput."""
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise invalid(name, found)
    return found


def pairs(name: str, found: Any) -> dict[str, str]:
    """Return a list of {key, value} as a mapping; the last of a key counts."""
    if isinstance(found, dict):
        return {key: _text(f"{name}.{key}", value) for key, value in found.items()}
    return {
        key: _text(f"{name}[{n}].value", each.get("value"))
        for n, each in enumerate(objects(name, found))
        for key in [each.get("key") or _missing(f"{name}[{n}].key")]
        if isinstance(key, str) or invalid_key(name, key)
    }


def invalid_key(name: str, key: Any) -> bool:
    raise invalid(f"{name}.key", key)


def integer(name: str, value: Any) -> int:
    """Return a whole number of 64 bits, also from a text. Raises InvalidInput."""
    try:
        found = int(value) if not isinstance(value, float) or value.is_integer() else None
    except (TypeError, ValueError):
        found = None
    if found is None or isinstance(value, bool) or not -_INT64 <= found < _INT64:
        raise invalid(name, value)
    return found


def number(name: str, value: Any) -> float:
    """Return a number, also from a text such as "NaN" or "-Infinity". Raises InvalidInput."""
    if isinstance(value, str) and value in _NUMBERS:
        return _NUMBERS[value]
    try:
        if not isinstance(value, bool):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise invalid(name, value)


def invalid(name: str, value: Any) -> InvalidInput:
    """Return the error for an invalid parameter."""
    shown = orjson.dumps(value, default=str).decode()[:200]
    return InvalidInput(
        Message(
            "Invalid value {value} for parameter '{name}' supplied. See the API docs for more "
            "information about request parameters.",
            value=shown,
            name=name,
        )
    )


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise invalid(name, value)
    return value


def _missing(name: str) -> Any:
    raise InvalidInput(
        Message(
            "Missing value for required parameter '{name}'. See the API docs for more information "
            "about request parameters.",
            name=name,
        )
    )


def keys(found: Sequence[Mapping[str, Any]], name: str) -> None:
    """Raise InvalidInput unless each object has a key."""
    for n, each in enumerate(found):
        if not each.get("key"):
            _missing(f"{name}[{n}].key")


missing = _missing
