"""Commands for workspaces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option, confirm

from muster.commands.datasets import bar
from muster.errors import InvalidInput
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago, size

COMMANDS = {"workspace": ("app", 80, "Share folders of files without versions.")}
app = Commands(help="Share folders of files without versions.")
Name = Annotated[str, Argument(metavar="NAME")]
Place = Annotated[
    str, Argument(metavar="NAME[:PATH]", help="A workspace, or a file or folder in it.")
]
_GIB = 1 << 30


def split(place: str) -> tuple[str, str]:
    """Return name and path of NAME:PATH, or NAME and ""."""
    name, _colon, path = place.partition(":")
    return name, path.strip("/")


@app.command("create")
def create_workspace(
    session: Session,
    name: Name,
    description: Annotated[str, Option("--description", "-m", help="What it is for.")] = "",
    visibility: Annotated[
        str, Option("--visibility", help="private, team or organization.")
    ] = "team",
    quota: Annotated[float, Option("--quota", metavar="GIB", help="At most, in GiB.")] = 0,
) -> None:
    """Create an empty one."""
    made = session.client.workspaces.create(
        name,
        description=description,
        visibility=visibility,
        quota=int(quota * _GIB) or None,
    )
    session.show(made, f"Created workspace {made['name']} of {made['team']}.", [made["name"]])


@app.command("ls")
def list_files(
    session: Session,
    place: Annotated[str, Argument(metavar="[NAME[:PATH]]", help="Default: all workspaces.")] = "",
) -> None:
    """List the workspaces, or a folder in one."""
    if place:
        _list_folder(session, *split(place))
        return
    filters = {"team": session.client.team} if session.client.team else {}
    found = list(session.client.workspaces.list(**filters))
    cells = (
        [
            row["name"],
            row["team"],
            row["visibility"],
            size(row["used_bytes"]),
            size(row["quota"]) if row["quota"] else "–",
        ]
        for row in found
    )
    table = Table(
        ["~Name", "Team", "Visibility", ">Used", ">Quota"],
        cells,
        "No workspaces. Create one: muster workspace create NAME",
    )
    session.show({"items": found}, table, [row["name"] for row in found])


def _list_folder(session: Session, name: str, path: str) -> None:
    found = list(session.client.workspaces.files(name, path))
    cells = (
        [
            row["name"] + ("/" if row["type"] == "folder" else ""),
            "" if row["bytes"] is None else size(row["bytes"]),
            ago(row["modified_at"]),
        ]
        for row in found
    )
    table = Table(["~Name", ">Size", "Modified"], cells, "This folder is empty.")
    session.show({"items": found}, table, [row["path"] or row["name"] for row in found])


@app.command("info")
def show_workspace(session: Session, name: Name) -> None:
    """Show who uses it, and its quota."""
    row = session.client.workspaces.get(name)
    shares = [
        f"{one['team'] or one['person']['email']} ({'write' if one['can_write'] else 'read'})"
        for one in row["invitations"]
    ]
    facts = [
        ["Team", row["team"]],
        ["Owner", row["owner"]["email"]],
        ["Visibility", row["visibility"]],
        ["Shared with", ", ".join(shares) or "–"],
        ["Used", size(row["used_bytes"])],
        ["Quota", size(row["quota"]) if row["quota"] else "–"],
    ]
    head = f"{row['name']}  {row['description']}".rstrip()
    session.show(row, [head, Table(["", "~"], facts)], [row["name"]])


@app.command("upload")
def upload_files(
    session: Session,
    source: Annotated[Path, Argument(metavar="FOLDER", exists=True, help="Or a file.")],
    place: Place,
) -> None:
    """Send a file, or what is in a folder, and replace what is there. If it is cut, repeat it."""
    name, path = split(place)
    with bar(session) as progress:
        made = session.client.workspaces.upload(source, name, path, progress=progress)
    text = f"Sent {made['sent_files']:,} files, {size(made['sent_bytes'])}."
    session.show(made, text, [made["sent_files"]])


@app.command("download")
def download_files(
    session: Session,
    place: Place,
    folder: Annotated[Path, Argument(metavar="[FOLDER]", help="Default: here.")] = Path(),
) -> None:
    """Fetch a file, or a folder with all in it."""
    name, path = split(place)
    with bar(session) as progress:
        found = session.client.workspaces.download(name, path, folder, progress=progress)
    names = [str(one) for one in found]
    session.show({"files": names}, f"Fetched {len(found):,} files into {folder}.", names)


@app.command("share")
def share_workspace(
    session: Session,
    name: Name,
    whom: Annotated[str, Argument(metavar="WHOM", help="A team, or the e-mail of a person.")],
    write: Annotated[bool, Option("--write", help="They may also change files.")] = False,
    remove: Annotated[bool, Option("--remove", help="Stop sharing.")] = False,
) -> None:
    """Let a team or a person read, or stop that."""
    if remove:
        session.client.workspaces.unshare(name, whom)
        session.show({"deleted": whom}, f"{name} is no longer shared with {whom}.", [whom])
        return
    made = session.client.workspaces.share(name, whom, can_write=write)
    how = "read and write" if made["can_write"] else "read"
    session.show(made, f"{whom} may {how} {name}.", [whom])


@app.command("rm")
def remove(
    session: Session,
    place: Place,
    is_sure: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a file or folder permanently; a whole workspace goes to the trash."""
    name, path = split(place)
    if not path:
        session.client.workspaces.delete(name)
        text = f"Moved {name} to the trash. Restore it: muster workspace restore {name}"
        session.show({"deleted": name}, text, [name])
        return
    if not is_sure and not confirm(f"Delete {path} of {name} permanently?", err=True):
        raise InvalidInput("Nothing was deleted.", code="not_confirmed")
    session.client.workspaces.remove(name, path)
    session.show({"deleted": path}, f"Deleted {path}.", [path])


@app.command("restore")
def restore_workspace(session: Session, name: Name) -> None:
    """Take it out of the trash."""
    row = session.client.workspaces.restore(name)
    session.show(row, f"Restored {row['name']}.", [row["name"]])
