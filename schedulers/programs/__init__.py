"""Programs that travel with a job and run on its nodes: Python 3.9, standard library only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from schedulers.contract import Launch, PortProtocol
from schedulers.exit_reasons import EndReason
from schedulers.states import Reason

FETCH, SAVE, TUNNEL = "fetch_inputs.py", "save_outputs.py", "tunnel.py"
TERMINAL, GUARD, CURVES = "terminal.py", "guard.py", "curves.py"  # of sessions
TERMINAL_PAGE = "terminal.html"
SHELL, SFTP = "shell.py", "sftp.py"  # of jobs with a port for SSH
SHELL_TOKEN = "MUSTER_SHELL_TOKEN"  # noqa: S105  a secret file
# The shell is no child of the script, whose `wait` would wait for it; it ends with the script.
_SHELL = """\
if [ "${{NODE_RANK:-0}}" = 0 ] && command -v python3 >/dev/null 2>&1; then
    (python3 -I -S "$MUSTER_PROGRAMS/shell.py" {port} "$MUSTER_SHELL_TOKEN_FILE" $$ </dev/null >/dev/null 2>&1 &)
fi
"""
TUNNEL_SETTINGS = "MUSTER_TUNNEL"  # a secret file
FAILED = 76  # its exit code, and that of a job whose inputs cannot be read
_FUTURE = "from __future__ import annotations\n"  # only valid at the beginning of a file
_BROUGHT = re.compile(r"(?m)^from (schedulers\.programs|muster)\.(\w+) import .+\n")
_FOLDERS = {
    "schedulers.programs": Path(__file__).parent,
    "muster": Path(__file__).parents[2] / "client/muster",
}
_FAILURE = re.compile(r"(?m)^muster: ((?:Fetching|Reading|Mounting) .+ failed: .*)$")


@cache
def source_of(name: str) -> bytes:
    """Return the text of a program, which is one file on the node: it brings a module along."""
    program = (Path(__file__).parent / name).read_text()
    brought = _BROUGHT.search(program)
    if brought is None:
        return program.encode()
    for line in (_FUTURE, brought[0]):
        program = program.replace(line, "")
    module = _FOLDERS[brought[1]] / f"{brought[2]}.py"
    return f"{module.read_text()}\n\n{program}".encode()


@cache
def recorder_source() -> str:
    """Return the text of the program that records the output of a job."""
    return (Path(__file__).parent / "record_output.py").read_text()


def fetch_settings(launch: Launch, folder: str, *, by_name: bool = False, **more: Any) -> str:
    """Return what the fetch program reads: where to fetch from, what, and into which folder.

    `by_name`: folders are named like the inputs, otherwise by commit, so that jobs share them.
    Further settings: `limit` (bytes of all versions), `is_of_user` (a folder for each user, with the
    id after its name), `done` (a file that is removed at the end).
    """
    inputs = [
        {
            "path": f"orgs/{one.org}/{one.kind}s/{one.repository}",
            "text": one.text,
            "commit": one.commit,
            "folder": one.name if by_name else one.commit,
            "bytes": one.bytes,
        }
        for one in launch.data.inputs
    ]
    settings = {
        "url": launch.env.get("MUSTER_URL", ""),
        "token": launch.env.get("MUSTER_TOKEN", ""),
        "folder": folder,
        "limit": 0,
        "inputs": inputs,
        **more,
    }
    return json.dumps(settings)


def with_tunnel(launch: Launch) -> Launch:
    """Return the launch with the tunnel among its files, if the job serves something.

    What starts the job runs `$MUSTER_PROGRAMS/tunnel.py $MUSTER_TUNNEL_FILE` on its first node.
    """
    if not (settings := tunnel_settings(launch)):
        return launch
    programs = {**launch.data.programs, TUNNEL: source_of(TUNNEL)}
    files = {**launch.data.secret_files, TUNNEL_SETTINGS: settings}
    return replace(launch, data=replace(launch.data, programs=programs, secret_files=files))


def with_shell(launch: Launch, secret: str, page: Callable[[], bytes]) -> Launch:
    """Return the launch with the shell beside its script, if it has a port for SSH.

    `page` returns that of its terminal for browsers.
    """
    port = next((one for one in launch.network.ports if one.protocol is PortProtocol.SSH), None)
    if port is None:
        return launch
    programs = {one: source_of(one) for one in (SHELL, SFTP, TERMINAL)}
    programs |= {TERMINAL_PAGE: page(), **launch.data.programs}
    files = {**launch.data.secret_files, SHELL_TOKEN: secret}
    head, line, rest = launch.script.partition("\n")
    if not head.startswith("#!"):
        head, line, rest = "", "", launch.script
    return replace(
        launch,
        script=f"{head}{line}{_SHELL.format(port=port.number)}{rest}",
        data=replace(launch.data, secret_files=files, programs=programs),
    )


def tunnel_settings(launch: Launch) -> str:
    """Return what the tunnel reads; empty if the job serves nothing."""
    if not (launch.network.ports and launch.network.gateway_url):
        return ""
    settings = {
        "url": launch.network.gateway_url,
        "token": launch.env.get("MUSTER_TOKEN", ""),
        "ports": [port.number for port in launch.network.ports],
    }
    return json.dumps(settings)


def input_failure(code: int | None, text: str) -> EndReason | None:
    """Return why the inputs of a job were not available, if its output says so."""
    found = _FAILURE.findall(text) if code == FAILED else []
    return EndReason(Reason.INPUT_UNAVAILABLE, found[-1][:500]) if found else None
