"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from tests.matrix import EVERYBODY, Row

HOOK = {"kind": "webhook", "url": "https://hooks.example.org/in"}
ROWS = {
    ("api-notifications", "GET"): Row(EVERYBODY, None),
    ("api-notifications", "POST"): Row(EVERYBODY, None),
    ("api-notification-settings", "GET"): Row(EVERYBODY, None),
    ("api-notification-settings", "PATCH"): Row(EVERYBODY, None, {"pace": "daily"}),
    ("api-notification-channels", "GET"): Row(EVERYBODY, None),
    ("api-notification-channels", "POST"): Row(EVERYBODY, None, HOOK),
    ("api-notification-channel", "GET"): Row(frozenset({"ada"}), None),  # her own
    ("api-notification-channel", "PATCH"): Row(frozenset({"ada"}), None, {"name": "new"}),
    ("api-notification-channel", "DELETE"): Row(frozenset({"ada"}), None),
    ("api-notification-channel-test", "POST"): Row(frozenset({"ada"}), None),
    ("api-notification-channel-redeliver", "POST"): Row(frozenset({"ada"}), None),
}
FORMS = {
    "notification-settings": (EVERYBODY, {"pace": "hourly", "daily_at": "09:00"}),
    "notification-channels": (EVERYBODY, HOOK),
    "notification-channel": (frozenset({"ada"}), {"do": "disable"}),
}
SILENT = {
    ("api-notifications", "POST"): "marks a person's own messages as read",
}
SILENT_FORMS = {
    "notifications": "marks a person's own messages as read",
}
