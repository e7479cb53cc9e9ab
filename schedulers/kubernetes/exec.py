"""Run a command in a container over the websocket of its pod (v4.channel.k8s.io).

Each message is one byte for the channel, followed by data.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from portal.core.messages import Message
from schedulers.contract import Rejected, Unavailable
from schedulers.kubernetes import names
from schedulers.kubernetes.client import Client

PROTOCOL = "v4.channel.k8s.io"
OUT, ERROR_OUT, END = 1, 2, 3
MOST = 16 << 20  # bytes of output
EARLY = 1.0  # seconds that the command may outlive our timeout
# A closed connection does not stop the command, so a watchdog in the container does: it kills the
# whole process group, as in entrypoint.py.
GUARD = r"""
exec 3>&2 2>/dev/null
set -m
"${@:2}" </dev/null 2>&3 3>&- &
child=$!
exec 3>&-
(sleep "$1"; kill -TERM -- "-$child"; sleep 2; kill -KILL -- "-$child") >/dev/null &
guard=$!
wait "$child"
code=$?
kill -KILL -- "-$guard"
exit "$code"
""".strip()


def run(wire: Client, path: str, argv: Sequence[str], timeout: float) -> tuple[int, bytes]:
    """Return exit code and output.

    Raises Rejected if the command exceeds its time or output limit, Unavailable.
    """
    from websockets.exceptions import ConnectionClosed, WebSocketException

    from schedulers.kubernetes.transport import explained

    if any("\0" in word for word in argv):
        raise Rejected(Message("A command must not contain NUL characters."), "argv")
    guarded = ["bash", "-c", GUARD, "bash", f"{timeout + EARLY:g}", *argv]
    query = urlencode(
        [
            ("container", names.CONTAINER),
            ("stdout", "1"),
            ("stderr", "1"),
            *(("command", word) for word in guarded),
        ]
    )
    until = time.monotonic() + timeout
    try:
        with _connect(wire, f"{path}/exec?{query}") as socket:
            return _read(socket, until)
    except TimeoutError as error:
        raise Rejected(
            Message(
                "{x} did not end within {timeout} s and was stopped.",
                x=argv[0],
                timeout=f"{timeout:g}",
            ),
            "argv",
        ) from error
    except ConnectionClosed as error:
        raise Unavailable(
            Message("The connection to the pod was lost before the command ended.")
        ) from error
    except (WebSocketException, OSError) as error:
        raise _refused(error) or explained(error, wire.access.server) from error


def _connect(wire: Client, path: str) -> Any:
    from websockets.sync.client import connect
    from websockets.typing import Subprotocol

    from schedulers.kubernetes.transport import CONNECT, explained

    access = wire.access
    headers = {"Authorization": bearer} if (bearer := access.bearer()) else {}
    try:
        return connect(
            f"ws{access.server.removeprefix('http')}{path}",
            ssl=access.tls(),
            additional_headers=headers,
            max_size=MOST,
            proxy=None,
            subprotocols=[Subprotocol(PROTOCOL)],
            open_timeout=CONNECT,
            close_timeout=1,
            compression=None,
            server_hostname=access.server_name or None,
        )
    except TimeoutError as error:
        raise explained(error, access.server) from error


def _read(socket: Any, until: float) -> tuple[int, bytes]:
    output = bytearray()
    while True:
        data = socket.recv(timeout=max(0.0, until - time.monotonic()))
        channel, text = data[0], data[1:]
        if channel == END:
            return code_of(text), bytes(output)
        if channel in {OUT, ERROR_OUT}:
            output += text
        if len(output) > MOST:
            raise Rejected(
                Message("It wrote more than {x} MiB: redirect its output to a file.", x=MOST >> 20),
                "argv",
            )


def code_of(status: bytes) -> int:
    """Return the exit code from the final Status.

    Raises Rejected for a command that could not be started.
    """
    try:
        message = json.loads(status)
        if message.get("status") == "Success":
            return 0
        return int(
            next(
                cause["message"]
                for cause in message["details"]["causes"]
                if cause.get("reason") == "ExitCode"
            )
        )
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        raise Rejected(
            f"The command could not be started: {status[:300].decode(errors='replace')}", "argv"
        ) from None


def _refused(error: Exception) -> Exception | None:
    """Translate a response that does not open a websocket; None if there was no response."""
    status = getattr(getattr(error, "response", None), "status_code", 0)
    if status in {400, 404, 409}:
        return Rejected(Message("The job is not running."), "argv")
    if status == 403:
        return Unavailable(
            Message(
                "Muster lacks permission to create and get pods/exec. Bind its complete role to "
                "this account."
            )
        )
    return (
        Unavailable(Message("The API server cannot now ({status}).", status=status))
        if status
        else None
    )
