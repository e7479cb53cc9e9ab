"""Part of the double of Kubernetes: exec into a container over a websocket (v4.channel.k8s.io)."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import struct
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.rig.kubernetes_container import Container

PROTOCOL = "v4.channel.k8s.io"
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
BINARY, CLOSE = 0x82, 0x88


def handshake(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a websocket handshake response."""
    key = base64.b64encode(
        hashlib.sha1(headers["Sec-WebSocket-Key"].encode() + _MAGIC).digest()
    ).decode()
    return {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Accept": key,
        "Sec-WebSocket-Protocol": PROTOCOL,
    }


def frame(kind: int, data: bytes) -> bytes:
    """Return an unmasked frame, as servers send them."""
    size = len(data)
    head = (
        bytes([kind, size])
        if size < 126
        else struct.pack("!BBH", kind, 126, size)
        if size < 1 << 16
        else struct.pack("!BBQ", kind, 127, size)
    )
    return head + data


def run(container: Container, argv: Sequence[str], send: Callable[[bytes], Any]) -> None:
    """Stream both outputs, then the exit status.

    If the client disconnects, the command continues, as in a container runtime.
    """
    process = subprocess.Popen(
        argv,
        cwd=container.folder / "work",
        env=container.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    threads = [
        threading.Thread(target=_pump, args=(channel, stream, send))
        for channel, stream in ((1, process.stdout), (2, process.stderr))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    send(
        frame(BINARY, b"\x03" + json.dumps(_status(process.wait())).encode())
        + frame(CLOSE, struct.pack("!H", 1000))
    )


def _pump(channel: int, stream: Any, send: Callable[[bytes], Any]) -> None:
    while data := os.read(stream.fileno(), 1 << 14):
        try:
            send(frame(BINARY, bytes([channel]) + data))
        except OSError:
            return


def _status(code: int) -> dict[str, Any]:
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    code = code if code > 0 else 128 - code
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit code {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }
