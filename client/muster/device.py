"""OAuth 2.0 device authorization (RFC 8628): the user approves a code in the browser."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from muster.errors import MusterError, NotAuthenticated

CLIENT = "muster-cli"
GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SLOWER = 5.0  # seconds added to the polling interval on slow_down (RFC 8628, section 3.5)


@dataclass(frozen=True)
class DeviceAuthorization:
    """A pending authorization.

    `link` opens the page with `code` filled in, `seconds` is its lifetime and `every` the polling
    interval in seconds.
    """

    device_code: str
    code: str
    link: str
    seconds: float
    every: float


class Grant:
    """One device sign-in at a portal. Methods raise MusterError."""

    def __init__(self, url: str):
        self._url = url

    def begin(self) -> DeviceAuthorization:
        """Request a code for the user to approve."""
        found = self._post("device/code", {"client_id": CLIENT, "machine": platform.node()[:60]})
        if "device_code" not in found:
            raise MusterError(
                _explanation(found)
                or "This portal does not support signing in with a browser. "
                "Use: muster login --paste",
                code="no_device_grant",
            )
        link = found.get("verification_uri_complete") or found["verification_uri"]
        return DeviceAuthorization(
            found["device_code"],
            found["user_code"],
            link,
            float(found.get("expires_in", 600)),
            float(found.get("interval", 5)),
        )

    def wait(
        self, authorization: DeviceAuthorization, sleep: Callable[[float], None] = time.sleep
    ) -> tuple[str, str]:
        """Wait for approval and return the token and its organization.

        Raises NotAuthenticated if the request is denied or expires.
        """
        ends, every = time.monotonic() + authorization.seconds, authorization.every
        while time.monotonic() < ends:
            sleep(every)
            found = self._post(
                "token",
                {
                    "client_id": CLIENT,
                    "grant_type": GRANT,
                    "device_code": authorization.device_code,
                },
            )
            if "access_token" in found:
                return str(found["access_token"]), str(found.get("org", ""))
            error = found.get("error")
            if error == "slow_down":
                every += SLOWER
            elif error not in ("authorization_pending", "temporarily_unavailable"):
                raise NotAuthenticated(
                    _REASONS.get(str(error))
                    or _explanation(found)
                    or "The sign-in failed. Run muster login again."
                )
        raise NotAuthenticated("The code was not approved in time. Run muster login again.")

    def _post(self, path: str, form: dict[str, str]) -> dict[str, Any]:
        import httpx

        try:
            answer = httpx.post(f"{self._url}/identity/o/api/{path}", data=form, timeout=30)
            found = answer.json()
        except httpx.TransportError:
            if path == "token":
                return {"error": "temporarily_unavailable"}  # the portal may be restarting
            raise MusterError(
                f"Cannot connect to {self._url}. Check the portal's URL.", code="unavailable"
            ) from None
        except ValueError:
            found = {}
        return found if isinstance(found, dict) else {}


def _explanation(found: dict[str, Any]) -> str:
    return str(found.get("error_description") or found.get("detail") or "")


_REASONS = {
    "access_denied": "The sign-in was denied in the browser.",
    "expired_token": "The code was not approved in time. Run muster login again.",
    "invalid_grant": "The code has expired. Run muster login again.",
}
