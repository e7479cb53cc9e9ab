"""What a person chooses for a session, and the job spec that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from portal.core.errors import InvalidInput, PortalError
from portal.core.messages import Message
from schedulers.spec import JobSpec, SpecErrors, parse_mapping
from sessions.templates import (
    DATA,
    GUARDED_COMMAND,
    HOME,
    PORT,
    SOCKET,
    SSH_PORT,
    WORKSPACE,
    SessionTemplate,
    template_named,
)

KIND = "session"
GRACE = 10  # seconds between SIGTERM and SIGKILL: apps save what they have at once
CHECKPOINT = "checkpoint:"
NO_WORKSPACE = "none"
_NO_PORTS = Message("The clusters that the team may use cannot open web apps.")
# Fields of the spec, and the choices from which they come
_CHOICES = {
    "resources.accelerators": "gpus",
    "resources.cpus": "cpus",
    "resources.memory": "memory",
    "inputs": "data",
    "workspaces": "workspace",
    "policy.max_runtime": "time_limit",
    "policy.pool": "pool",
    "ports[0].port": "port",
    "run": "command",
}


@dataclass(frozen=True)
class SessionChoices:
    """The fields of the form. What is empty has the template's default.

    `gpus` is as in a spec: "h100:1", "mig-1g.10gb:1". `data` is a dataset or `checkpoint:NAME`, each
    with `@REVISION` if wanted. Without `workspace`, the home folder is mounted; "none" is neither.
    `command` and `port` are for templates that ask for them.
    """

    template: str
    name: str = ""
    gpus: str = ""
    cpus: str = ""
    memory: str = ""
    image: str = ""
    data: str = ""
    workspace: str = ""
    time_limit: str = ""
    pool: str = ""
    command: str = ""
    port: str = ""

    def as_dict(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


def choices_of(given: Mapping[str, Any]) -> SessionChoices:
    """Return the choices in a form or a body; what else it has is left out."""
    names = SessionChoices.__dataclass_fields__
    return SessionChoices(
        **{
            "template": "",
            **{
                name: str(given[name]).strip()
                for name in names
                if given.get(name) not in (None, "")
            },
        }
    )


def spec_of_choices(choices: SessionChoices, home: str = "") -> JobSpec:
    """Return the spec of the session's job; `home` is the workspace to mount as HOME, if any.

    Raises InvalidInput at the choices that are wrong.
    """
    try:
        template = template_named(choices.template)
    except PortalError as error:
        raise InvalidInput.at("template", error.message) from error
    if template.has_command and not choices.command:
        raise InvalidInput.at("command", Message("is needed: the command that starts the web app"))
    try:
        return parse_mapping(_mapping(template, choices, home))
    except SpecErrors as error:
        raise at_choices(
            InvalidInput.of([(one.field, one.message) for one in error.errors])
        ) from error


def _mapping(template: SessionTemplate, choices: SessionChoices, home: str) -> dict[str, Any]:
    name = choices.data.removeprefix(CHECKPOINT)
    is_checkpoint = choices.data.startswith(CHECKPOINT)
    command = choices.command if template.has_command else ""
    if is_on_socket(command):
        command = GUARDED_COMMAND % command
    port: dict[str, Any] = {"name": PORT}
    if template.has_command and choices.port:
        port["port"] = choices.port
    return {
        "kind": KIND,
        "name": choices.name or str(template.title),
        **({"image": choices.image} if choices.image else {}),
        "resources": {
            **({"accelerators": choices.gpus} if choices.gpus else {}),
            "cpus": choices.cpus or template.cpus,
            "memory": choices.memory or template.memory,
        },
        "run": template.run + command,
        **({"inputs": {DATA: {"checkpoint": name} if is_checkpoint else name}} if name else {}),
        **_workspaces(choices.workspace, home),
        "ports": [port, {"name": SSH_PORT, "protocol": "ssh"}],
        "policy": {
            "max_runtime": choices.time_limit or template.time_limit,
            "grace": GRACE,
            **({"pool": choices.pool} if choices.pool else {}),
        },
    }


def is_on_socket(command: str) -> bool:
    """Return whether a command of the person listens on the socket that is guarded."""
    return SOCKET in command


def _workspaces(chosen: str, home: str) -> dict[str, Any]:
    if chosen == NO_WORKSPACE or not (chosen or home):
        return {}
    return {"workspaces": {WORKSPACE: chosen} if chosen else {HOME: home}}


def at_choices(error: PortalError) -> PortalError:
    """Return the error with the names of choices instead of those of fields of the spec."""
    errors = [
        {"field": "", "message": _NO_PORTS}
        if one["field"] == "ports"  # no choice can be wrong about it
        else {**one, "field": choice_of(one["field"])}
        for one in error.data.get("errors", ())
    ]
    if not errors:
        return error
    message = error.message
    if len(errors) == 1:
        said = [errors[0]["field"], errors[0]["message"]]
        message = Message.joined(": ", [part for part in said if part])
    found = type(error)(message, code=error.kind)
    found.data = {**error.data, "errors": errors}
    return found


def choice_of(field: str) -> str:
    """Return the choice from which a field of the spec comes; the field itself if there is none."""
    for known, choice in _CHOICES.items():
        if field == known or field.startswith((f"{known}.", f"{known}[")):
            return choice
    return field
