"""The user's notifications, and channels of the user and of teams."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from muster.errors import Json
from muster.organization import _Resource, _safe

RESOURCES = {
    "notifications": "Notifications",
    "notification_channels": "NotificationChannels",
}


class Notifications(_Resource):
    """The user's own notifications, of all organizations that the token may enter."""

    def list(self, *, unread: bool = False, kind: str = "", before: str = "") -> Json:
        """Return a page: `items`, newest first, the cursor `next`, and the number `unread`."""
        query = {"unread": "true" if unread else None, "kind": kind, "before": before}
        asked = {name: value for name, value in query.items() if value}
        found: Json = self._client.request("GET", "me/notifications", query=asked).json()
        return found

    def mark(self, ids: Sequence[str] | None = None, *, is_read: bool = True) -> Json:
        """Mark notifications as read or unread; all without `ids`."""
        body: Json = {"is_read": is_read, **({"ids": [*ids]} if ids is not None else {})}
        done: Json = self._client.request("POST", "me/notifications", body=body).json()
        return done

    def settings(self) -> Json:
        """Return which kinds arrive where, the pace of mail, and the quiet hours."""
        found: Json = self._client.request("GET", "me/notification-settings").json()
        return found

    def change_settings(self, **fields: Any) -> Json:
        """Change kinds, pace, daily_at, quiet_from, quiet_until, time_zone or language."""
        done: Json = self._client.request("PATCH", "me/notification-settings", body=fields).json()
        return done


class NotificationChannels(_Resource):
    """Webhooks, Slack and Microsoft Teams."""

    def list(self) -> builtins.list[Json]:
        return builtins.list(self._client.items("notification-channels"))

    def get(self, channel: str) -> Json:
        """Return a channel with its log of `deliveries`."""
        return self._client.get(f"notification-channels/{_safe(channel)}")

    def create(self, kind: str, url: str, **more: Any) -> Json:
        """Add a channel. `more`: name, team, kinds. `signing_key` of a webhook is shown once."""
        body = {"kind": kind, "url": url, **more}
        return self._client.send("POST", "notification-channels", body)

    def change(self, channel: str, **fields: Any) -> Json:
        """Change name, url, kinds or is_enabled."""
        return self._client.send("PATCH", f"notification-channels/{_safe(channel)}", fields)

    def remove(self, channel: str) -> None:
        self._client.send("DELETE", f"notification-channels/{_safe(channel)}")

    def test(self, channel: str) -> Json:
        """Send a test; its result appears in the log."""
        return self._client.send("POST", f"notification-channels/{_safe(channel)}/test")

    def redeliver(self, channel: str, delivery: str) -> Json:
        """Send a message of the log again, under its own id."""
        path = f"notification-channels/{_safe(channel)}/deliveries/{_safe(delivery)}/redeliver"
        return self._client.send("POST", path)
