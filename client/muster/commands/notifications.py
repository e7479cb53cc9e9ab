"""`muster notifications` and `muster notification-channel`."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from muster.errors import InvalidInput, Json
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

COMMANDS = {
    "notifications": ("notifications", 340, "List your notifications; settings."),
    "notification-channel": (
        "channels",
        350,
        "Manage Slack, Teams and webhooks for notifications.",
    ),
}
notifications = Commands(help="List your notifications, mark them as read, change the settings.")
channels = Commands(help="Manage Slack, Microsoft Teams and webhooks that get notifications.")
Id = Annotated[str, Argument(metavar="ID", help="Channel id from `list`.")]
Kinds = Annotated[
    str | None,
    Option("--kinds", metavar="KINDS", help="Comma-separated kinds, such as job_failed,budget."),
]


@notifications.command("list")
def list_notifications(
    session: Session,
    unread: Annotated[bool, Option("--unread", help="Only unread ones.")] = False,
    kind: Annotated[str, Option("--kind", metavar="KIND", help="Such as job_failed.")] = "",
) -> None:
    """List your latest notifications, newest first."""
    found = session.client.notifications.list(unread=unread, kind=kind)
    rows = (
        ["" if row["read_at"] else "●", row["title"], row["organization"] or "-", ago(row["at"])]
        for row in found["items"]
    )
    table = Table(["", "~Notification", "Organization", ">When"], rows, "No notifications.")
    session.show(found, table, [row["id"] for row in found["items"]])


@notifications.command("read")
def mark_read(
    session: Session,
    ids: Annotated[list[str] | None, Argument(metavar="[ID]...", help="Default: all.")] = None,
) -> None:
    """Mark notifications as read."""
    done = session.client.notifications.mark(ids or None)
    session.show(done, f"Marked {done['changed']} as read; {done['unread']} unread.", [])


@notifications.command("settings")
def show_settings(
    session: Session,
    on: Annotated[
        list[str] | None, Option("--on", metavar="KIND.WAY", help="Such as job_succeeded.email.")
    ] = None,
    off: Annotated[
        list[str] | None, Option("--off", metavar="KIND.WAY", help="Such as job_failed.in_app.")
    ] = None,
    pace: Annotated[str, Option("--pace", metavar="PACE", help="now, hourly or daily.")] = "",
    daily_at: Annotated[str, Option("--daily-at", metavar="HH:MM")] = "",
    quiet: Annotated[
        str, Option("--quiet-hours", metavar="HH:MM-HH:MM", help="`off` for none.")
    ] = "",
    zone: Annotated[str, Option("--time-zone", metavar="ZONE", help="Such as Asia/Seoul.")] = "",
    language: Annotated[str, Option("--language", metavar="CODE", help="en, ko or ja.")] = "",
) -> None:
    """Show your settings, after changing what is given."""
    changes: Json = {
        "pace": pace,
        "daily_at": daily_at,
        "time_zone": zone,
        "language": language,
        "kinds": _ways(on or [], True) | {},
    }
    for kind, ways in _ways(off or [], False).items():
        changes["kinds"].setdefault(kind, {}).update(ways)
    changes = {name: value for name, value in changes.items() if value}
    if quiet:
        begin, _, end = ("", "", "") if quiet == "off" else quiet.partition("-")
        changes |= {"quiet_from": begin or None, "quiet_until": end or None}
    resource = session.client.notifications
    found = resource.change_settings(**changes) if changes else resource.settings()
    rows = (
        [name, "yes" if ways["in_app"] else "-", "yes" if ways["email"] else "-"]
        for name, ways in found["kinds"].items()
    )
    quiet_text = (
        f"{found['quiet_from']}-{found['quiet_until']} {found['time_zone']}"
        if found["quiet_from"]
        else "none"
    )
    mail = found["pace"] + (f" at {found['daily_at']}" if found["pace"] == "daily" else "")
    table = Table(["Kind", "In Muster", "Email"], rows, "")
    session.show(found, [table, f"Mail: {mail}. Quiet hours: {quiet_text}."], [])


@channels.command("list")
def list_channels(session: Session) -> None:
    """List your channels, and those of teams that you lead."""
    rows = session.client.notification_channels.list()
    cells = (
        [
            row["id"],
            row["kind"],
            row["name"],
            row["team"] or "you",
            "disabled"
            if not row["is_enabled"]
            else "failing"
            if row["failing_since"]
            else "enabled",
            ago(row["delivered_at"]) or "never",
        ]
        for row in rows
    )
    table = Table(
        ["Id", "Kind", "~Name", "For", "State", ">Delivered"],
        cells,
        "No channels. Add one: muster notification-channel add slack URL",
    )
    session.show({"items": rows, "next": None}, table, [row["id"] for row in rows])


@channels.command("add")
def add_channel(
    session: Session,
    kind: Annotated[str, Argument(metavar="KIND", help="webhook, slack or teams.")],
    url: Annotated[str, Argument(metavar="URL", help="https://…")],
    name: Annotated[str, Option("--name", metavar="NAME")] = "",
    team: Annotated[
        str, Option("--for-team", metavar="TEAM", help="A channel of that team, not of yourself.")
    ] = "",
    kinds: Kinds = None,
) -> None:
    """Add a channel. The signing key of a webhook is printed once."""
    more: Json = {"name": name, "team": team, "kinds": _listed(kinds)}
    made = session.client.notification_channels.create(
        kind, url, **{name: value for name, value in more.items() if value}
    )
    key = made.get("signing_key")
    text = f"Added {made['name']} ({made['id']})."
    session.show(made, f"{text}\nSigning key, shown once: {key}" if key else text, [made["id"]])


@channels.command("change")
def change_channel(
    session: Session,
    channel: Id,
    name: Annotated[str, Option("--name", metavar="NAME")] = "",
    url: Annotated[str, Option("--address", metavar="URL")] = "",
    kinds: Kinds = None,
    enable: Annotated[bool | None, Option("--enable/--disable")] = None,
) -> None:
    """Change, enable or disable a channel."""
    given: Json = {"name": name, "url": url, "kinds": _listed(kinds)}
    fields = {name: value for name, value in given.items() if value}
    if enable is not None:
        fields["is_enabled"] = enable
    done = session.client.notification_channels.change(channel, **fields)
    session.show(done, f"Changed {done['name']}.", [done["id"]])


@channels.command("delete")
def delete_channel(session: Session, channel: Id) -> None:
    """Delete a channel with its log."""
    session.client.notification_channels.remove(channel)
    session.show({"deleted": channel}, "Deleted the channel.", [channel])


@channels.command("test")
def test_channel(session: Session, channel: Id) -> None:
    """Send a test; `log` shows its result."""
    sent = session.client.notification_channels.test(channel)
    session.show(sent, f"Sent. Its result: muster notification-channel log {channel}", [sent["id"]])


@channels.command("log")
def show_log(session: Session, channel: Id) -> None:
    """Show what was sent to a channel, newest first."""
    found = session.client.notification_channels.get(channel)
    rows = (
        [
            row["id"],
            row["title"],
            row["state"],
            str(row["tries"]),
            row["trouble"] or "",
            ago(row["created_at"]),
        ]
        for row in found["deliveries"]
    )
    columns = ["Id", "~Message", "State", ">Tries", "~Trouble", ">When"]
    ids = [row["id"] for row in found["deliveries"]]
    session.show(found, Table(columns, rows, "Nothing was sent yet."), ids)


@channels.command("redeliver")
def redeliver(
    session: Session,
    channel: Id,
    delivery: Annotated[str, Argument(metavar="DELIVERY", help="Id from `log`.")],
) -> None:
    """Send a message of the log again."""
    sent = session.client.notification_channels.redeliver(channel, delivery)
    session.show(sent, "The message is sent again.", [sent["id"]])


def _listed(kinds: str | None) -> list[str]:
    return [kind.strip() for kind in (kinds or "").split(",") if kind.strip()]


def _ways(names: list[str], is_on: bool) -> dict[str, dict[str, bool]]:
    """Parse KIND.WAY. Raises InvalidInput."""
    found: dict[str, dict[str, bool]] = {}
    for word in names:
        kind, dot, way = word.partition(".")
        if not dot or way not in {"in_app", "email"}:
            raise InvalidInput(f"{word!r} must be KIND.in_app or KIND.email")
        found.setdefault(kind, {})[way] = is_on
    return found
