"""Serve TensorBoard to those who bring the session's secret; it has none of its own.

    curves.py SECRET_FILE OPTION…

Runs in the Python of TensorBoard, with its options. Every request must bring `Authorization: token
SECRET`, as the gateway sends it: neighbours on the node can connect to the port as well. The data server
of TensorBoard, which would answer everyone at a port of its own, is not used.
"""

from __future__ import annotations

import hmac
import sys
from collections.abc import Callable, Iterable
from typing import Any

from tensorboard import default, main_lib, program  # type: ignore[import-not-found]

App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
REFUSAL = b"Open TensorBoard from the page of its session.\n"


def guarded(app: App, secret: str) -> App:
    """Return the app behind a check of the secret."""
    expected = f"token {secret}".encode()

    def check(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        given = str(environ.get("HTTP_AUTHORIZATION", "")).encode("latin1")
        if hmac.compare_digest(given, expected):
            return app(environ, start)
        start("403 Forbidden", [("Content-Type", "text/plain")])
        return [REFUSAL]

    return check


def run(secret: str, options: list[str]) -> None:
    def server(app: App, flags: Any) -> Any:
        return program.WerkzeugServer(guarded(app, secret), flags)

    main_lib.global_init()
    board = program.TensorBoard(plugins=default.get_plugins(), server_class=server)
    board.configure(["tensorboard", "--load_fast=false", *options])
    sys.exit(board.main())


if __name__ == "__main__":
    with open(sys.argv[1]) as _secret:
        run(_secret.read().strip(), sys.argv[2:])
