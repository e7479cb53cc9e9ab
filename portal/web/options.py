"""The form of options: what it said, and what it shows again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from portal.core.errors import PortalError
from portal.core.options import Option
from portal.web.denials import note_denial

T = TypeVar("T")


def given(
    request: Any, options: Sequence[Option], stored: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What the form said: a switch that is not sent is off, a secret ticked for removal is None. Of what is `stored` already, what
    stands at its default and was never set stays unset."""
    removed, said = set(request.POST.getlist("remove")), {}
    for option in options:
        value = _said(request, option)
        if option.kind == "secret" and value == "" and option.name in removed:
            value = None
        if (
            stored is None
            or option.kind == "secret"
            or option.name in stored
            or value != option.default
        ):
            said[option.name] = value
    return said


def fields(
    request: Any,
    options: Sequence[Option],
    faults: Mapping[str, str],
    stored: Mapping[str, Any] | None = None,
    secrets: Iterable[str] = (),
) -> dict[str, Any]:
    """The fields as a page draws them: `plain` ones, `rare` ones, and whether those are unfolded. `secrets`: names of those set."""
    values, known = stored or {}, {*(stored or {}), *secrets}
    made = [
        option.as_dict()
        | {
            "value": _value(request, option, values),
            "fault": faults.get(option.name, ""),
            "is_set": option.name in known,
            "is_removed": option.name in request.POST.getlist("remove"),
        }
        for option in options
    ]
    rare = [f for f in made if f["is_rare"]]
    return {
        "plain": [f for f in made if not f["is_rare"]],
        "rare": rare,
        "faults": faults,
        "is_unfolded": any(f["is_set"] or f["fault"] for f in rare),
    }


def faults_of(error: PortalError) -> tuple[str, dict[str, str]]:
    """What belongs to no field, and what does, by its name."""
    found = {
        str(fault["field"]).removeprefix("options."): str(fault["message"])
        for fault in error.data.get("errors", ())
    }
    if error.kind == "name_taken":
        found = {"name": error.message}
    return ("" if found else error.message), found


def tried(
    request: Any, probe: Callable[[], Any], store: Callable[[], T]
) -> tuple[T | None, dict[str, Any]]:
    """Test, then store if that was asked: what was stored, or what the page has to say."""
    told: dict[str, Any] = {"error": "", "faults": {}, "probe": None}
    if request.method != "POST":
        return None, told
    try:
        is_forced = bool(request.POST.get("anyway"))
        told["probe"] = None if is_forced else probe()
        if is_forced or (request.POST.get("do") in {"connect", "save"} and told["probe"].is_ok):
            return store(), told
    except PortalError as error:
        note_denial(request, error)
        told["error"], told["faults"] = faults_of(error)
    return None, told


def stored(request: Any, store: Callable[[], T]) -> tuple[T | None, dict[str, Any]]:
    """Store what the form says: what was stored, or what the page has to say. The page's script tests it first, in the background."""
    told: dict[str, Any] = {"error": "", "faults": {}, "probe": None}
    if request.method == "POST" and (
        request.POST.get("anyway") or request.POST.get("do") in {"connect", "save"}
    ):
        try:
            return store(), told
        except PortalError as error:
            note_denial(request, error)
            told["error"], told["faults"] = faults_of(error)
    return None, told


def _said(request: Any, option: Option) -> Any:
    if option.kind == "switch":
        return option.name in request.POST
    return str(request.POST.get(option.name, "")).replace("\r\n", "\n")


def _value(request: Any, option: Option, stored: Mapping[str, Any]) -> Any:
    """What stood in the field, so that a fault costs no typing; a secret is typed again."""
    if option.kind == "secret":
        return ""
    if request.method == "POST":
        return _said(request, option)
    value = stored.get(
        option.name, option.default if option.choices or option.kind == "switch" else ""
    )
    return " ".join(value) if isinstance(value, list) else value
