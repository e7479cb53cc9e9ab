"""SDK for interactive sessions. Rows are the API's JSON, typed in `muster.shapes`."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from muster.client import Client
    from muster.shapes.sessions import (
        InteractiveSessionDetailShape,
        InteractiveSessionShape,
        SessionStartShape,
        SessionTemplateShape,
    )

RESOURCES = {"sessions": "Sessions"}
ENDED = frozenset({"stopped", "failed"})


class Sessions:
    """Web apps that run on a cluster, such as JupyterLab. One is named by its number or name."""

    def __init__(self, client: Client):
        self._client = client

    def list(
        self, *, most: int | None = None, **filters: Any
    ) -> builtins.list[InteractiveSessionShape]:
        """Return sessions, newest first. Filters: state, owner, team, template, q."""
        return builtins.list(self._client.items("sessions", most, **filters))

    def start(
        self, template: str, *, team: str | None = None, **choices: Any
    ) -> InteractiveSessionShape:
        """Start a session. Choices: name, gpus, cpus, memory, image, data, workspace, time_limit,
        pool; of the template app command and port.
        """
        return self._client.send("POST", "sessions", self._body(template, team, choices))

    def check(self, template: str, *, team: str | None = None, **choices: Any) -> SessionStartShape:
        """Return what a start would answer."""
        body = self._body(template, team, choices)
        return self._client.send("POST", "sessions?dry_run=true", body)

    def get(self, which: str | int) -> InteractiveSessionDetailShape:
        """Return a session, with what happens now or why it failed."""
        return self._client.get(_path(which))

    def stop(self, which: str | int) -> InteractiveSessionShape:
        """Stop a session."""
        return self._client.send("POST", f"{_path(which)}/stop", {})

    def resume(self, which: str | int) -> InteractiveSessionShape:
        """Start a session that has ended once more, with the same choices."""
        return self._client.send("POST", f"{_path(which)}/resume", {})

    def restart(self, which: str | int) -> InteractiveSessionShape:
        """Stop a session, if it has not ended, and start it again with the same choices."""
        return self._client.send("POST", f"{_path(which)}/restart", {})

    def share(
        self, which: str | int, who: str, *, access: str = "write"
    ) -> InteractiveSessionShape:
        """Let a person (an e-mail address) or "team" open a session. `access="read"`: to look only."""
        return self._client.send("POST", f"{_path(which)}/share", {"who": who, "access": access})

    def unshare(self, which: str | int, who: str) -> InteractiveSessionShape:
        """End a share; open connections are closed."""
        return self._client.send("POST", f"{_path(which)}/unshare", {"who": who})

    def extend(self, which: str | int, by: str) -> InteractiveSessionShape:
        """Give a session more time, such as "2h"."""
        return self._client.send("POST", f"{_path(which)}/extend", {"by": by})

    def keep(self, which: str | int, hours: float = 2) -> InteractiveSessionShape:
        """Keep a session from the idle rule of its pool for some hours."""
        return self._client.send("POST", f"{_path(which)}/keep", {"hours": hours})

    def token(self, which: str | int) -> str:
        """Return the token that the app of a session asks for at a forwarded port."""
        return str(self._client.send("POST", f"{_path(which)}/token", {})["token"])

    def templates(self) -> builtins.list[SessionTemplateShape]:
        return builtins.list(self._client.get("session-templates")["items"])

    def wait(
        self,
        which: str | int,
        *,
        timeout: float | None = None,
        on_poll: Callable[[InteractiveSessionDetailShape], None] | None = None,
    ) -> InteractiveSessionDetailShape:
        """Wait until the app is ready or the session has ended, and return it.

        `on_poll` is called after each poll. Raises TimeoutError after `timeout` seconds.
        """
        started = time.monotonic()
        while True:
            row = self.get(which)
            if on_poll:
                on_poll(row)
            if row["state"] == "ready" or row["state"] in ENDED:
                return row
            if timeout is not None and time.monotonic() - started > timeout:
                raise TimeoutError(f"Session {which} is {row['state']} after {timeout:g} s.")
            time.sleep(1)

    def _body(self, template: str, team: str | None, choices: dict[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in choices.items() if value not in (None, "")}
        return {"template": template, "team": team or self._client.team or "", **given}


def _path(which: str | int) -> str:
    return f"sessions/{quote(str(which), safe='')}"
