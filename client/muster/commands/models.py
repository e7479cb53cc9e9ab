"""Commands for registered models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, confirm

from muster.errors import InvalidInput
from muster.options import Commands
from muster.output import Session, Table
from muster.wording import ago

COMMANDS = {"model": ("models", 30, "Register, upload, download and approve models.")}
models = Commands(help="Register, upload, download and approve models.")
Name = Annotated[str, Argument(metavar="MODEL", help="TEAM/NAME, or NAME in your team.")]
Target = Annotated[
    str,
    Argument(
        metavar="MODEL[@ALIAS|/VERSION]",
        help="TEAM/NAME@champion, TEAM/NAME/3, or TEAM/NAME for the latest version.",
    ),
]
Description = Annotated[str, Option("--description", "-m", help="What changed in this version.")]
Alias = Annotated[str, Option("--alias", metavar="NAME", help="Point this alias at the version.")]


@models.command("list")
def list_models(
    session: Session,
    query: Annotated[
        str, Argument(metavar="[QUERY]", help="Words, and filters such as user:kim.")
    ] = "",
    approval: Annotated[
        str, Option("--approval", help="With a version that is requested, approved or rejected.")
    ] = "",
) -> None:
    """List the models of your teams."""
    filters = {"query": query, "approval": approval, "team": session.client.team}
    found = list(session.client.models.list(**{k: v for k, v in filters.items() if v}))
    names = [f"{row['team']}/{row['name']}" for row in found]
    rows = (
        [
            name,
            f"v{row['latest']}" if row["latest"] else "–",
            " ".join(f"@{a}=v{v}" for a, v in row["aliases"].items()) or "–",
            row["owner"]["name"],
            ago(row["updated_at"]),
        ]
        for name, row in zip(names, found, strict=True)
    )
    table = Table(
        ["~Model", ">Latest", "Aliases", "Owner", "Updated"],
        rows,
        "No models. Upload one: muster model upload TEAM/NAME PATH",
    )
    session.show({"items": found}, table, names)


@models.command("show")
def show_model(session: Session, name: Name) -> None:
    """Show a model and its versions."""
    model = session.client.models.get(name)
    versions = list(session.client.models.versions(name))
    rows = (
        [
            f"v{row['version']}",
            " ".join(f"@{alias}" for alias in row["aliases"]) or "–",
            row["approval"]["state"] if row["approval"]["state"] != "none" else "–",
            (", ".join(row["formats"]) + _safety(row)).strip(),
            row["files"],
            row["owner"]["name"],
            ago(row["created_at"]),
        ]
        for row in versions
    )
    table = Table(
        [">Version", "Aliases", "Approval", "~Formats", ">Files", "Owner", "Created"],
        rows,
        f"{model['team']}/{model['name']} has no versions.",
    )
    session.show({**model, "items": versions}, table, [str(row["version"]) for row in versions])


@models.command("register")
def register_model(
    session: Session,
    name: Name,
    source: Annotated[str, Argument(metavar="SOURCE", help="Such as runs:/RUN_ID/model.")],
    description: Description = "",
    alias: Alias = "",
) -> None:
    """Register a version from a run. The model is created if needed."""
    made = session.client.models.register(name, source, description=description)
    _show_made(session, name, made, alias)


@models.command("upload")
def upload_model(
    session: Session,
    name: Name,
    path: Annotated[Path, Argument(metavar="PATH", exists=True, help="A file or folder.")],
    description: Description = "",
    alias: Alias = "",
) -> None:
    """Upload a file or folder as a new version. The model is created if needed."""
    made = session.client.models.upload(name, path, description=description)
    _show_made(session, name, made, alias)


@models.command("download")
def download_model(
    session: Session,
    target: Target,
    to: Annotated[Path, Option("--to", metavar="FOLDER", help="Default: a folder NAME.")] = Path(),
) -> None:
    """Download the files of a version and verify them. Files already there are kept."""
    name, which = split(target)
    folder = to if to != Path() else Path(session.client.models.place(name)[1])
    found = session.client.models.download(name, which, folder)
    paths = [str(path) for path in found]
    text = f"Downloaded {len(paths)} file{'s' * (len(paths) != 1)} to {folder}."
    session.show({"folder": str(folder), "files": paths}, text, paths)


@models.command("alias")
def set_alias(
    session: Session,
    name: Name,
    alias: Annotated[str, Argument(metavar="ALIAS", help="Such as champion.")],
    version: Annotated[int | None, Argument(metavar="[VERSION]", min=1)] = None,
    remove: Annotated[bool, Option("--remove", help="Remove the alias.")] = False,
) -> None:
    """Point an alias at a version, or remove it."""
    if remove == (version is not None):
        raise InvalidInput("Give either a VERSION or --remove.")
    if version is None:
        session.client.models.delete_alias(name, alias)
        session.show({"deleted": alias}, f"Removed {alias} from {name}.", [alias])
        return
    made = session.client.models.set_alias(name, alias, version)
    session.show(made, f"{name}@{alias} is version {version}.", [alias])


@models.command("approve")
def approve_model(
    session: Session,
    target: Target,
    request: Annotated[bool, Option("--request", help="Request approval.")] = False,
    reject: Annotated[bool, Option("--reject", help="Reject, or revoke an approval.")] = False,
    withdraw: Annotated[bool, Option("--withdraw", help="Withdraw your request.")] = False,
    acknowledge: Annotated[
        bool, Option("--acknowledge-pickles", help="Accept that loading it runs code.")
    ] = False,
    note: Annotated[str, Option("--note", "-m", help="The reason.")] = "",
) -> None:
    """Request, approve or reject a version.

    Without an option, approves a version for which somebody else has requested approval.
    """
    name, which = split(target)
    chosen = {"request": request, "reject": reject, "withdraw": withdraw}
    steps = [step for step, is_given in chosen.items() if is_given]
    if len(steps) > 1:
        raise InvalidInput("Give only one of --request, --reject and --withdraw.")
    if acknowledge:
        made = session.client.models.approval(name, which, "acknowledge")
    if steps or not acknowledge:
        do = steps[0] if steps else "approve"
        made = session.client.models.approval(name, which, do, note)
    state = made["approval"]["state"]
    text = f"{made['team']}/{made['name']} version {made['version']}: "
    session.show(made, text + ("acknowledged" if state == "none" else state) + ".", [state])


@models.command("promote")
def promote_model(
    session: Session,
    target: Target,
    team: Annotated[str, Argument(metavar="TEAM", help="The team that gets a new version.")],
    new_name: Annotated[str, Option("--name", help="Default: the same name.")] = "",
) -> None:
    """Create a version of another team's model with the same files."""
    name, which = split(target)
    made = session.client.models.promote(name, which, team, new_name)
    where = f"{made['team']}/{made['name']}"
    session.show(made, f"Created version {made['version']} of {where}.", [str(made["version"])])


@models.command("delete")
def delete_model(
    session: Session,
    target: Target,
    is_sure: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a version, or move a model to the trash.

    A version is deleted permanently.
    """
    name, which = split(target, "")
    if not which:
        session.client.models.delete(name)
        session.show({"deleted": name}, f"Moved {name} to the trash.", [name])
        return
    if not is_sure and not confirm(f"Delete version {which} of {name} permanently?", err=True):
        raise InvalidInput("Nothing was deleted.", code="not_confirmed")
    session.client.models.delete_version(name, which)
    session.show({"deleted": name, "version": which}, f"Deleted version {which} of {name}.", [name])


def split(target: str, default: str = "latest") -> tuple[str, str]:
    """Return name and version of TEAM/NAME@ALIAS, TEAM/NAME/3, NAME/3 or NAME."""
    name, at, alias = target.partition("@")
    if at:
        return name, alias
    parts = target.rsplit("/", 1)
    if len(parts) == 2 and (parts[1].isdigit() or parts[1] == "latest"):
        return parts[0], parts[1]
    return target, default


def _safety(row: dict[str, Any]) -> str:
    if row["unsafe"]:
        return " (can run code)"
    return " (not checked)" if row.get("unchecked") else ""


def _show_made(session: Session, name: str, made: dict[str, object], alias: str) -> None:
    number = int(str(made["version"]))
    if alias:
        session.client.models.set_alias(name, alias, number)
    unsafe = made.get("unsafe")
    text = f"Registered version {number} of {made['team']}/{made['name']}."
    if unsafe:
        text += " Loading it can run code: it has pickles."
    elif made.get("unchecked"):
        text += " Some of its files were not checked: their formats are unknown."
    session.show(made, text, [str(number)])
