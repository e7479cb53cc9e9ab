"""Signing in by the browser (RFC 8628): the portal gives a code, a person agrees to it there, and a token comes back."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from muster.errors import MusterError, NotAuthenticated

CLIENT = "muster-cli"
GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SLOWER = 5.0  # seconds more between two questions, when the portal asks for it (RFC 8628, 3.5)


@dataclass(frozen=True)
class Asked:
    """`link` leads to the page with `code` on it; `seconds` until it ends; `every` so many seconds one may ask."""

    device_code: str
    code: str
    link: str
    seconds: float
    every: float


class Grant:
    """One sign-in at a portal. Raises MusterError."""

    def __init__(self, url: str):
        self._url = url

    def begin(self) -> Asked:
        """A code for a person to look at."""
        found = self._post("device/code", {"client_id": CLIENT, "machine": platform.node()[:60]})
        if "device_code" not in found:
            raise MusterError(
                _words(found)
                or "This portal does not sign in by browser. Use: muster login --paste",
                code="no_device_grant",
            )
        link = found.get("verification_uri_complete") or found["verification_uri"]
        return Asked(
            found["device_code"],
            found["user_code"],
            link,
            float(found.get("expires_in", 600)),
            float(found.get("interval", 5)),
        )

    def wait(self, asked: Asked, sleep: Callable[[float], None] = time.sleep) -> tuple[str, str]:
        """The token, and the organization it is for; once somebody has agreed. Raises NotAuthenticated when they did not."""
        ends, every = time.monotonic() + asked.seconds, asked.every
        while time.monotonic() < ends:
            sleep(every)
            found = self._post(
                "token",
                {"client_id": CLIENT, "grant_type": GRANT, "device_code": asked.device_code},
            )
            if "access_token" in found:
                return str(found["access_token"]), str(found.get("org", ""))
            error = found.get("error")
            if error == "slow_down":
                every += SLOWER
            elif error not in ("authorization_pending", "temporarily_unavailable"):
                raise NotAuthenticated(
                    _REASONS.get(str(error))
                    or _words(found)
                    or "The portal did not agree. Run muster login again."
                )
        raise NotAuthenticated("Nobody agreed in time. Run muster login again.")

    def _post(self, path: str, form: dict[str, str]) -> dict[str, Any]:
        import httpx

        try:
            answer = httpx.post(f"{self._url}/identity/o/api/{path}", data=form, timeout=30)
            found = answer.json()
        except httpx.TransportError:
            if path == "token":
                return {
                    "error": "temporarily_unavailable"
                }  # while one waits, a portal may be started again
            raise MusterError(
                f"{self._url} does not answer. Is it the portal's address?", code="unavailable"
            ) from None
        except ValueError:
            found = {}
        return found if isinstance(found, dict) else {}


def _words(found: dict[str, Any]) -> str:
    return str(found.get("error_description") or found.get("detail") or "")


_REASONS = {
    "access_denied": "It was refused in the browser.",
    "expired_token": "Nobody agreed in time. Run muster login again.",
    "invalid_grant": "The code has ended. Run muster login again.",
}
