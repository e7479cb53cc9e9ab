"""Do at once what the loops of notifications do in the background."""

from __future__ import annotations

from notifications.models import Cursor
from notifications.services.consuming import NAME, Consumer
from notifications.services.sending import send_mail_due, send_to_channels


def consume() -> int:
    """Handle the events of this test."""
    Cursor.objects.get_or_create(name=NAME, defaults={"position": 0})
    return Consumer().look()


def deliver() -> None:
    """Handle events, and send what is due."""
    consume()
    send_mail_due()
    send_to_channels()
