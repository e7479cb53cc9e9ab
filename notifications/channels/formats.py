"""Bodies of requests to channels, one function per kind of channel.

Slack: incoming webhooks take {"text", "blocks"} with `&`, `<` and `>` escaped. Microsoft Teams:
workflows take a message with an Adaptive Card 1.4 as its attachment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import pgettext


@dataclass(frozen=True)
class Content:
    """What a channel is told, in its language; `url` and `settings_url` are absolute."""

    id: str
    kind: str
    kind_title: str
    at: datetime
    organization: str
    team: str
    title: str
    body: str
    url: str
    settings_url: str
    is_test: bool


def webhook(content: Content) -> dict[str, Any]:
    """Return the body for a program."""
    return {
        "id": content.id,
        "kind": content.kind,
        "at": content.at.isoformat(),
        "organization": content.organization or None,
        "team": content.team or None,
        "title": content.title,
        "body": content.body,
        "url": content.url,
        "settings_url": content.settings_url,
        "is_test": content.is_test,
    }


def slack(content: Content) -> dict[str, Any]:
    """Return the body for an incoming webhook of Slack."""
    title, body = _escaped(content.title), _escaped(content.body)
    place = _escaped(" · ".join(filter(None, (content.organization, content.team))))
    settings = _escaped(pgettext("link", "Notification settings"))
    footer = f"{place or 'Muster'} · <{content.settings_url}|{settings}>"
    blocks: list[dict[str, Any]] = [
        _section(f"*<{content.url}|{title}>*" + (f"\n{body}" if body else "")),
        {"type": "context", "elements": [{"type": "mrkdwn", "text": footer}]},
    ]
    return {"text": title, "blocks": blocks}


def teams(content: Content) -> dict[str, Any]:
    """Return the body for a workflow of Microsoft Teams."""
    place = " · ".join(filter(None, (content.kind_title, content.organization, content.team)))
    texts = [
        _plain(content.title, weight="Bolder"),
        *([_plain(content.body)] if content.body else []),
        _plain(place, isSubtle=True, size="Small"),
    ]
    actions = [
        {
            "type": "Action.OpenUrl",
            "title": pgettext("heading, to open", "Open"),
            "url": content.url,
        },
        {
            "type": "Action.OpenUrl",
            "title": pgettext("heading", "Notification settings"),
            "url": content.settings_url,
        },
    ]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": texts,
        "actions": actions,
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return {"type": "message", "attachments": [attachment]}


FORMATS: Mapping[str, Callable[[Content], dict[str, Any]]] = {
    "webhook": webhook,
    "slack": slack,
    "teams": teams,
}


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[:3000]}}


def _plain(text: str, **style: Any) -> dict[str, Any]:
    """Return a text of a card as it is: a TextBlock would read links and formats in it."""
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **style}]}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
