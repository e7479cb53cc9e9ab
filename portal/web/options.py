"""Read and render forms of options (`portal.core.options`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from portal.core.errors import PortalError
from portal.core.options import Option
from portal.web.denials import record_denied_request

T = TypeVar("T")


def submitted_values(
    request: Any, options: Sequence[Option], stored: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the submitted values. An unsent switch is off; a secret ticked for removal is None.

    With `store_form`, options that stand at their default and were never set stay unset.
    """
    removed, values = set(request.POST.getlist("remove")), {}
    for option in options:
        value = _submitted(request, option)
        if option.kind == "secret" and value == "" and option.name in removed:
            value = None
        if (
            stored is None
            or option.kind == "secret"
            or option.name in stored
            or value != option.default
        ):
            values[option.name] = value
    return values


def fields(
    request: Any,
    options: Sequence[Option],
    faults: Mapping[str, str],
    stored: Mapping[str, Any] | None = None,
    secrets: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the fields for the template: `plain` and `rare` ones, and whether `rare` is unfolded.

    `secrets` names the secrets that are set.
    """
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
    """Split an error into its general message and the messages by field."""
    found = {
        str(fault["field"]).removeprefix("options."): str(fault["message"])
        for fault in error.data.get("errors", ())
    }
    return ("" if found else error.message), found


def test_and_store(
    request: Any, probe: Callable[[], Any], store: Callable[[], T]
) -> tuple[T | None, dict[str, Any]]:
    """Test and then store if requested; return the stored object or the messages for the page."""
    messages: dict[str, Any] = {"error": "", "faults": {}, "probe": None}
    if request.method != "POST":
        return None, messages
    try:
        is_forced = bool(request.POST.get("anyway"))
        messages["probe"] = None if is_forced else probe()
        if is_forced or (request.POST.get("do") in {"connect", "save"} and messages["probe"].is_ok):
            return store(), messages
    except PortalError as error:
        record_denied_request(request, error)
        messages["error"], messages["faults"] = faults_of(error)
    return None, messages


def store_form(request: Any, store: Callable[[], T]) -> tuple[T | None, dict[str, Any]]:
    """Store the form; return the stored object or the messages for the page.

    The script of the page has tested it before, in the background.
    """
    messages: dict[str, Any] = {"error": "", "faults": {}, "probe": None}
    if request.method == "POST" and (
        request.POST.get("anyway") or request.POST.get("do") in {"connect", "save"}
    ):
        try:
            return store(), messages
        except PortalError as error:
            record_denied_request(request, error)
            messages["error"], messages["faults"] = faults_of(error)
    return None, messages


def _submitted(request: Any, option: Option) -> Any:
    if option.kind == "switch":
        return option.name in request.POST
    return str(request.POST.get(option.name, "")).replace("\r\n", "\n")


def _value(request: Any, option: Option, stored: Mapping[str, Any]) -> Any:
    """Return the value to show, so that an error loses no input; secrets must be entered again."""
    if option.kind == "secret":
        return ""
    if request.method == "POST":
        return _submitted(request, option)
    value = stored.get(
        option.name, option.default if option.choices or option.kind == "switch" else ""
    )
    return " ".join(value) if isinstance(value, list) else value
