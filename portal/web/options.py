"""Read and render forms of options (`portal.core.options`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from portal.core.errors import PortalError
from portal.core.messages import Message
from portal.core.options import CheckState, ConnectionCheck, Option, Way, failed, way_named
from portal.web.denials import record_denied_request

T = TypeVar("T")
STEPS = {
    "connection": Message("Connection", context="text, portal"),
    "people": Message("People and groups"),
    "jobs": Message("Jobs", context="text, portal"),
}
_NAMES = {
    "name": Message("Name", context="text, portal"),
    "slug": Message("Short name", context="text, portal"),
    "domains": Message("Email domains", context="text, portal"),
}
_TEST = ("test", Message("Test", context="text, portal"))


def shown_options(options: Sequence[Option], ways: Sequence[Way]) -> list[Option]:
    """Return the options that a form asks for: not those that a way decides."""
    decided = {name for way in ways for name in way.sets}
    return [option for option in options if option.name not in decided]


def submitted_values(
    request: Any,
    options: Sequence[Option],
    stored: Mapping[str, Any] | None = None,
    ways: Sequence[Way] = (),
) -> dict[str, Any]:
    """Return the submitted values. An unsent switch is off; a secret ticked for removal is None.

    With `store_form`, options that stand at their default and were never set stay unset.
    """
    removed, values = set(request.POST.getlist("remove")), {}
    for option in shown_options(options, ways):
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
    ways: Sequence[Way] = (),
) -> dict[str, Any]:
    """Return the context of a form: its `steps` with their fields, the `ways` and the chosen one.

    `secrets` names the secrets that are set.
    """
    values, known = stored or {}, {*(stored or {}), *secrets}
    chosen = way_named(
        ways,
        request.POST.get("way") or request.GET.get("way", ""),
        {**values, **dict.fromkeys(secrets, True)},
    )
    made = [
        option.as_dict()
        | {
            "step": option.step,
            "value": _value(request, option, values),
            "fault": faults.get(option.name, ""),
            "is_set": option.name in known,
            "is_removed": option.name in request.POST.getlist("remove"),
            **_in_ways(option, ways),
        }
        for option in shown_options(options, ways)
    ]
    return {
        "steps": [_step(name, title, made) for name, title in STEPS.items() if _has(made, name)],
        "ways": ways,
        "way": chosen.name if chosen else "",
        "faults": faults,
    }


def wizard_steps(
    steps: Sequence[Mapping[str, Any]], *more: tuple[str, str]
) -> list[dict[str, Any]]:
    """Return name and title of each step of a wizard: of its options, the test, and `more`."""
    named = [(str(step["name"]), step["title"]) for step in steps]
    return [{"name": name, "title": title} for name, title in (*named, _TEST, *more)]


def faults_of(error: PortalError) -> tuple[str, dict[str, str]]:
    """Split an error into its general message and the messages by field."""
    found = {
        str(fault["field"]).removeprefix("options."): fault["message"]
        for fault in error.data.get("errors", ())
    }
    return ("" if found else error.message), found


def checks_of(
    options: Sequence[Option], faults: Mapping[str, str], found: Iterable[ConnectionCheck] = ()
) -> list[ConnectionCheck]:
    """Return the checklist of a test; if options are refused, they are all that it has."""
    labels = _NAMES | {option.name: option.label for option in options}
    names = [*labels, *(name for name in faults if name not in labels)]
    refused = [failed(labels.get(n, ""), faults[n], n) for n in names if n in faults]
    return refused or list(found)


def faults_in(checks: Iterable[ConnectionCheck]) -> dict[str, str]:
    """Return the messages of a checklist by the field that causes them."""
    return {
        check.field: check.message
        for check in checks
        if check.field and check.state == CheckState.FAILED
    }


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
    else:
        messages["faults"] = faults_in(messages["probe"].checks)
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


def _in_ways(option: Option, ways: Sequence[Way]) -> dict[str, str]:
    """Return the ways that have and that need an option, separated by spaces; "" stands for all."""
    having = [way.name for way in ways if option.name in way.options]
    needing = [way.name for way in ways if option.name in way.needs]
    return {"ways": " ".join(having), "needed_by": " ".join(needing)}


def _has(made: Sequence[Mapping[str, Any]], step: str) -> bool:
    return step == "connection" or any(field["step"] == step for field in made)


def _step(name: str, title: str, made: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    inside = [field for field in made if field["step"] == name]
    rare = [field for field in inside if field["is_rare"]]
    return {
        "name": name,
        "title": title,
        "plain": [field for field in inside if not field["is_rare"]],
        "rare": rare,
        "is_unfolded": len(rare) == len(inside)
        or any(field["is_set"] or field["fault"] for field in rare),
    }


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
