"""Commands for datasets, and the same for checkpoints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option, confirm

from muster.errors import InvalidInput
from muster.options import Commands
from muster.output import Column, Listing, Session, Table
from muster.wording import ago, count, size, size_or_dash

if TYPE_CHECKING:
    from muster.datasets import Repositories
    from muster.folders import Progress
    from muster.shapes.datasets import DatasetImportShape

COMMANDS = {
    "dataset": ("datasets", 40, "Upload, download, version and share datasets."),
    "checkpoint": ("checkpoints", 50, "Upload, download, version and share checkpoints."),
}
Name = Annotated[str, Argument(metavar="NAME")]
Target = Annotated[
    str,
    Argument(metavar="NAME[@REVISION]", help="Branch, tag, number or commit; default the newest."),
]
_STAGES = {"hash": "Reading", "send": "Sending", "fetch": "Downloading"}


def _version(number: int) -> str:
    return f"v{number}"


REPOSITORIES = Listing(
    "ListedRepositoryShape",
    "name",
    (
        Column("~Name", "name"),
        Column("Team", "team"),
        Column("Visibility", "visibility"),
        Column(">Version", "head", lambda head: _version(head["version"]) if head else "–"),
        Column(">Files", "files", count),
        Column(">Size", "bytes", size),
        Column(">Jobs 30d", "jobs", count),
        Column("Last used", "last_used_at", lambda at: ago(at) or "never"),
        Column("Updated", "updated_at", ago),
    ),
)
IMPORTS = Listing(
    "DatasetImportShape",
    "id",
    (
        Column("Id", "id"),
        Column("State", "state"),
        Column("~Source", "source", lambda addresses: addresses[0]),
        Column(">Files", "", lambda row: f"{count(row['files_done'])}/{count(row['files'])}"),
        Column(">Size", "bytes_done", size),
        Column("Started", "created_at", ago),
        Column("~Error", "error"),
    ),
)
VERSIONS = Listing(
    "RepositoryVersionShape",
    "version",
    (
        Column(">Version", "version", _version),
        Column("Commit", "commit", lambda commit: commit[:7]),
        Column("Refs", "", lambda row: " ".join(row["branches"] + row["tags"]) or "–"),
        Column("~Message", "message"),
        Column("Changes", "", lambda r: f"+{r['added']} ~{r['changed']} -{r['removed']}"),
        Column(">Files", "files", count),
        Column(">Size", "bytes", size),
        Column("Made", "created_at", ago),
    ),
)
FILES = Listing(
    "EntryShape",
    "path",
    (
        Column("~Path", "", lambda row: row["path"] + "/" * (row["type"] == "folder")),
        Column(">Size", "bytes", size_or_dash),
        Column("SHA-256", "sha256", lambda digest: digest[:12] if digest else "–"),
    ),
)
DIFFERENCES = Listing(
    "FileDifferenceShape",
    "path",
    (
        Column("Change", "change"),
        Column("~Path", "path"),
        Column(">Before", "before", lambda side: size(side["bytes"]) if side else "–"),
        Column(">After", "after", lambda side: size(side["bytes"]) if side else "–"),
    ),
)


def split(target: str) -> tuple[str, str]:
    """Return name and revision of NAME@REVISION, or NAME and ""."""
    name, _at, revision = target.partition("@")
    return name, revision


def _commands_of(noun: str) -> Commands:
    """Return the commands of `dataset` or `checkpoint`."""
    group = Commands(help=f"Upload, download, version and share {noun}s.")
    for build in (_listing, _changing, _transfers, _imports, _versions, _space, _default):
        build(group, noun)
    return group


def _of(session: Session, noun: str) -> Repositories:
    return session.client.datasets if noun == "dataset" else session.client.checkpoints


def _listing(group: Commands, noun: str) -> None:
    @group.command("list")
    def list_repositories(
        session: Session,
        query: Annotated[
            str, Argument(metavar="[QUERY]", help="Words, and filters such as user:kim.")
        ] = "",
        trash: Annotated[bool, Option("--trash", help="What was deleted.")] = False,
    ) -> None:
        """List what you may read."""
        filters = {"query": query, "team": session.client.team}
        rows = _of(session, noun)
        given = {k: v for k, v in filters.items() if v}
        found = list(rows.trash() if trash else rows.list(**given))
        empty = f"No {noun}s. Upload one: muster {noun} upload FOLDER NAME"
        session.show_list({"items": found}, REPOSITORIES, empty)

    @group.command("info")
    def show_repository(session: Session, name: Name) -> None:
        """Show details, branches, tags and shares."""
        row, refs = _of(session, noun).get(name), _of(session, noun).refs(name)
        shares = ", ".join(
            f"{share['team']} ({'write' if share['can_write'] else 'read'})"
            for share in row["shares"]
        )
        facts = [
            ["Team", row["team"]],
            ["Owner", row["owner"]["email"]],
            ["Visibility", row["visibility"]],
            ["Shared with", shares or "–"],
            ["Files", f"{row['files']:,}"],
            ["Size", size(row["bytes"])],
            ["All versions", f"{row['versions']:,}, {size(row['stored_bytes'])}"],
            *([["Legal hold", row["legal_hold"]]] if row["legal_hold"] else []),
            *(
                [f"{ref['kind'].title()} {ref['name']}", f"v{ref['version']}"]
                for ref in refs
                if ref["version"]
            ),
        ]
        head = f"{row['name']}  {row['description']}".rstrip()
        session.show({**row, "refs": refs}, [head, Table(["", "~"], facts)], [row["name"]])


def _changing(group: Commands, noun: str) -> None:
    @group.command("create")
    def create_repository(
        session: Session,
        name: Name,
        description: Annotated[str, Option("--description", "-m", help="What it is.")] = "",
        visibility: Annotated[
            str, Option("--visibility", help="private, team or organization.")
        ] = "team",
    ) -> None:
        """Create an empty one; upload does so, too."""
        made = _of(session, noun).create(name, description=description, visibility=visibility)
        session.show(made, f"Created {noun} {made['name']} of {made['team']}.", [made["name"]])

    @group.command("share")
    def share_repository(
        session: Session,
        name: Name,
        team: Annotated[str, Argument(metavar="TEAM", help="Another team.")],
        write: Annotated[bool, Option("--write", help="It may also add versions.")] = False,
        remove: Annotated[bool, Option("--remove", help="Stop sharing.")] = False,
    ) -> None:
        """Let another team read, or stop that."""
        if remove:
            _of(session, noun).unshare(name, team)
            session.show({"deleted": team}, f"{name} is no longer shared with {team}.", [team])
            return
        made = _of(session, noun).share(name, team, can_write=write)
        how = "read and write" if made["can_write"] else "read"
        session.show(made, f"{team} may {how} {name}.", [team])

    @group.command("delete")
    def delete_repository(
        session: Session,
        target: Annotated[str, Argument(metavar="NAME[@VERSION]")],
        is_sure: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    ) -> None:
        """Move it to the trash, or delete one version permanently."""
        name, revision = split(target)
        if not revision:
            _of(session, noun).delete(name)
            text = f"Moved {name} to the trash. Restore it: muster {noun} restore {name}"
            session.show({"deleted": name}, text, [name])
            return
        question = f"Delete version {revision} of {name} permanently?"
        if not is_sure and not confirm(question, err=True):
            raise InvalidInput("Nothing was deleted.", code="not_confirmed")
        freed = _of(session, noun).delete_version(name, revision)
        text = f"Deleted version {revision} of {name}; that freed {size(freed['bytes'])}."
        session.show(freed, text, freed["versions"])

    @group.command("restore")
    def restore_repository(session: Session, name: Name) -> None:
        """Take it out of the trash."""
        row = _of(session, noun).restore(name)
        session.show(row, f"Restored {row['name']}.", [row["name"]])


def _transfers(group: Commands, noun: str) -> None:
    @group.command("upload")
    def upload_folder(
        session: Session,
        folder: Annotated[Path, Argument(metavar="FOLDER", exists=True, help="Or a file.")],
        target: Annotated[str, Argument(metavar="NAME[@BRANCH]", help="Created if needed.")],
        message: Annotated[str, Option("--message", "-m", help="What has changed.")] = "",
        delete: Annotated[
            bool, Option("--delete", help="Also remove what is not in the folder.")
        ] = False,
    ) -> None:
        """Make a version of a folder. Only what is new is sent; if it is cut, repeat it."""
        name, branch = split(target)
        with bar(session) as progress:
            made = _of(session, noun).upload(
                folder, name, message, branch=branch, delete=delete, progress=progress
            )
        text = (
            f"{name} is at version {made['version']}: {made['files']:,} files, "
            f"{size(made['bytes'])}; sent {size(made['sent_bytes'])}."
            if made["is_new"]
            else f"{name} has these files already, in version {made['version']}."
        )
        session.show(made, text, [made["version"]])

    @group.command("download")
    def download_files(
        session: Session,
        target: Target,
        folder: Annotated[
            Path | None, Argument(metavar="[FOLDER]", help="Default: a folder NAME.")
        ] = None,
        include: Annotated[
            list[str] | None, Option("--include", metavar="GLOB", help="Such as 'train/*.png'.")
        ] = None,
    ) -> None:
        """Download a version and verify it. Files already there are kept; repeat it if it is cut."""
        name, revision = split(target)
        to = folder or Path(name)
        with bar(session) as progress:
            found = _of(session, noun).download(
                name, revision, to, include=include or (), progress=progress
            )
        paths = [str(path) for path in found]
        text = f"Downloaded {len(paths):,} file{'s' * (len(paths) != 1)} to {to}."
        session.show({"folder": str(to), "files": paths}, text, paths)


def _imports(group: Commands, noun: str) -> None:
    @group.command("import")
    def import_files(
        session: Session,
        words: Annotated[
            list[str],
            Argument(
                metavar="SOURCE NAME[@BRANCH]",
                help="s3://BUCKET/PREFIX, https://… (several), hf://datasets/OWNER/NAME@REVISION or "
                "cluster://CLUSTER/DIRECTORY.",
            ),
        ],
        endpoint: Annotated[str, Option("--endpoint", help="Of S3 or of the Hub.")] = "",
        region: Annotated[str, Option("--region", help="Of S3.")] = "",
        secret: Annotated[
            list[str] | None,
            Option(
                "--secret",
                metavar="FOR=REFERENCE",
                help="Such as token=team/HF. S3: access_key_id and secret_access_key.",
            ),
        ] = None,
        folder: Annotated[str, Option("--folder", help="Where the files go.")] = "",
        message: Annotated[str, Option("--message", "-m", help="What has changed.")] = "",
        detach: Annotated[bool, Option("--detach", "-d", help="Do not wait for its end.")] = False,
    ) -> None:
        """Let the portal fetch files from elsewhere and make a version of them.

        It goes on when this command is interrupted.
        """
        if len(words) < 2:
            raise InvalidInput("Name a source and then a target.", code="no_target")
        name, branch = split(words[-1])
        pairs = [text.partition("=") for text in secret or ()]
        row = _of(session, noun).start_import(
            name,
            words[:-1],
            endpoint=endpoint,
            region=region,
            secrets={purpose: reference for purpose, _is, reference in pairs},
            branch=branch,
            folder=folder,
            message=message,
        )
        _follow(session, noun, name, row, is_detached=detach)

    @group.command("imports")
    def list_imports(
        session: Session,
        name: Name,
        cancel: Annotated[str, Option("--cancel", metavar="ID", help="Cancel one.")] = "",
        resume: Annotated[str, Option("--resume", metavar="ID", help="Continue one.")] = "",
    ) -> None:
        """List the imports; cancel one, or continue one that failed or was canceled."""
        if cancel:
            row = _of(session, noun).cancel_import(name, cancel)
            session.show(row, f"The import is {row['state']}.", [row["id"]])
            return
        if resume:
            row = _of(session, noun).resume_import(name, resume)
            _follow(session, noun, name, row, is_detached=False)
            return
        found = list(_of(session, noun).imports(name))
        session.show_list({"items": found}, IMPORTS, f"{name} has no imports.")


def _follow(
    session: Session, noun: str, name: str, row: DatasetImportShape, *, is_detached: bool
) -> None:
    """Show an import until its end."""
    if is_detached:
        text = f"The portal imports it. Look at it: muster {noun} imports {name}"
        session.show(row, text, [row["id"]])
        return
    with bar(session) as progress:
        row = _of(session, noun).wait_for_import(name, row["id"], progress)
    text = (
        f"{name} is at version {row['version']}: imported {row['files_done']:,} files, "
        f"{size(row['bytes_done'])}."
    )
    session.show(row, text, [row["version"]])


def _versions(group: Commands, noun: str) -> None:
    @group.command("versions")
    def list_versions(session: Session, name: Name) -> None:
        """List the versions, the last one first."""
        found = list(_of(session, noun).versions(name))
        session.show_list({"items": found}, VERSIONS, f"{name} has no versions.")

    @group.command("files")
    def list_files(
        session: Session,
        target: Target,
        path: Annotated[str, Argument(metavar="[PATH]", help="A folder.")] = "",
        recursive: Annotated[
            bool, Option("--recursive", "-r", help="Also files in subfolders.")
        ] = False,
    ) -> None:
        """List files and folders of a version."""
        name, revision = split(target)
        found = list(_of(session, noun).files(name, revision, path, recursive=recursive))
        session.show_list({"items": found}, FILES, "There are no files.")

    @group.command("diff")
    def show_differences(
        session: Session,
        name: Name,
        before: Annotated[str, Argument(metavar="[FROM]", help="Default: the parent of TO.")] = "",
        after: Annotated[str, Argument(metavar="[TO]", help="Default: the newest version.")] = "",
    ) -> None:
        """List the files that two versions do not have in common."""
        found = list(_of(session, noun).diff(name, before, after))
        session.show_list({"items": found}, DIFFERENCES, "There are no differences.")

    @group.command("tag")
    def tag_version(
        session: Session,
        target: Target,
        tag: Annotated[str, Argument(metavar="TAG", help="Such as v1.2.")],
        move: Annotated[bool, Option("--move", help="Move it from another version.")] = False,
        remove: Annotated[bool, Option("--remove", help="Remove the tag.")] = False,
    ) -> None:
        """Name a version, or remove its name."""
        name, revision = split(target)
        if remove:
            _of(session, noun).delete_tag(name, tag)
            session.show({"deleted": tag}, f"Removed the tag {tag} of {name}.", [tag])
            return
        made = _of(session, noun).tag(name, tag, revision, may_move=move)
        session.show(made, f"{name}@{tag} is version {made['version']}.", [tag])


def _space(group: Commands, noun: str) -> None:
    @group.command("space")
    def show_space(
        session: Session,
        name: Name,
        discard: Annotated[
            bool,
            Option("--discard", help="Delete files without a version and uploads that stopped."),
        ] = False,
    ) -> None:
        """Show what the bytes are for, and what nothing refers to."""
        rows = _of(session, noun)
        freed = rows.discard_unused(name)["bytes"] if discard else 0
        found = rows.space(name)
        loose = found["unreferenced"]
        named = ", ".join(f"v{number}" for number in loose[:10]) + (", …" if loose[10:] else "")
        facts = [
            ["Stored", size(found["stored"])],
            ["In versions with a branch or tag", size(found["current"])],
            ["Only in older versions", size(found["old"])],
            [
                "Files that no version names",
                f"{found['unnamed_files']:,}, {size(found['unnamed'])}",
            ],
            ["Uploads not completed", f"{found['uploads']:,}, {size(found['uploads_bytes'])}"],
            ["Versions that nothing refers to", f"{len(loose)} of {found['versions']}: {named}"],
        ]
        done = [f"Deleted {size(freed)} of unused files."] if discard else []
        step = f"Dry run of deleting old versions: muster {noun} retention {name} --keep-last 1"
        hint = [step] if found["old"] else []
        session.show({**found, "freed": freed}, [*done, Table(["", "~"], facts), *hint], [name])

    @group.command("retention")
    def apply_retention(
        session: Session,
        name: Name,
        keep_last: Annotated[
            int | None, Option("--keep-last", min=0, metavar="N", help="Keep the last versions.")
        ] = None,
        keep_days: Annotated[
            int | None, Option("--keep-days", min=0, metavar="N", help="Keep versions for days.")
        ] = None,
        save: Annotated[bool, Option("--save", help="Apply these rules from now on.")] = False,
        default: Annotated[
            bool, Option("--default", help="Follow the rules of the organization from now on.")
        ] = False,
        delete: Annotated[bool, Option("--delete", help="Delete now, once.")] = False,
        is_sure: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    ) -> None:
        """Show which versions rules would delete; a dry run unless --delete or --save.

        Without rules, those that count now. Versions with a tag, heads of branches and versions
        that a job still uses always stay.
        """
        rows = _of(session, noun)
        given = {"keep_last": keep_last, "keep_days": keep_days}
        rules = {key: value for key, value in given.items() if value is not None}
        if default:
            rows.change(name, own_retention=False)
        found = rows.retention(name, **rules)
        what = f"{len(found['versions'])} versions"
        if delete and found["versions"]:
            question = f"Delete {what} of {name} permanently?"
            if not is_sure and not confirm(question, err=True):
                raise InvalidInput("Nothing was deleted.", code="not_confirmed")
            kept = {key: found[key] for key in ("keep_last", "keep_days")}
            found = rows.delete_old(name, **kept)
        if save:
            rows.change(name, **{"keep_last": 0, "keep_days": 0, **rules})
        verb = "Deleted" if delete else "Would delete"
        freed = "which freed" if delete else "and free"
        lines = [f"{verb} {what} {freed} {size(found['bytes'])}."]
        if found["versions"]:
            lines.append(", ".join(f"v{number}" for number in found["versions"][:50]))
        if save:
            lines.append("Saved the rules.")
        session.show(found, lines, found["versions"])

    @group.command("purge")
    def purge_repository(
        session: Session,
        name: Name,
        is_sure: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    ) -> None:
        """Delete one in the trash permanently, with its versions."""
        question = f"Delete {name} with all of its versions permanently?"
        if not is_sure and not confirm(question, err=True):
            raise InvalidInput("Nothing was deleted.", code="not_confirmed")
        _of(session, noun).purge(name)
        session.show({"deleted": name}, f"Deleted {name} permanently.", [name])


def _default(group: Commands, noun: str) -> None:
    @group.command("default-retention")
    def set_default_retention(
        session: Session,
        keep_last: Annotated[
            int | None, Option("--keep-last", min=0, metavar="N", help="Keep the last versions.")
        ] = None,
        keep_days: Annotated[
            int | None, Option("--keep-days", min=0, metavar="N", help="Keep versions for days.")
        ] = None,
        save: Annotated[bool, Option("--save", help="Apply these rules from now on.")] = False,
        is_sure: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    ) -> None:
        """Show what rules for the whole organization would delete; a dry run unless --save.

        Without rules, the saved ones. They count where a repository has none of its own.
        """
        rows = _of(session, noun)
        given = {"keep_last": keep_last, "keep_days": keep_days}
        rules = {key: value for key, value in given.items() if value is not None}
        found = rows.default_retention(**rules)
        if save:
            question = f"Delete {found['versions']:,} versions permanently within a day?"
            if found["versions"] and not is_sure and not confirm(question, err=True):
                raise InvalidInput("Nothing was saved.", code="not_confirmed")
            kept = {key: found[key] for key in ("keep_last", "keep_days")}
            found = rows.set_default_retention(**kept)
        what = f"{found['versions']:,} versions"
        more = " Of others as well." if found["is_cut"] else ""
        text = f"Would delete {what} and free {size(found['bytes'])}.{more}"
        if save:
            text = f"Saved. Deletes {what} within a day, which frees {size(found['bytes'])}.{more}"
        cells = [
            [row["name"], row["team"], f"{row['versions']:,}", size(row["bytes"])]
            for row in found["repositories"]
        ]
        table = [Table(["Name", "Team", ">Versions", ">Frees"], cells)] if cells else []
        session.show(found, [text, *table], [row["name"] for row in found["repositories"]])


@contextmanager
def bar(session: Session) -> Iterator[Progress | None]:
    """Show a progress bar on a terminal."""
    if session.quiet or session.json or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.DownloadColumn(binary_units=True),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True)) as shown:
        tasks: dict[str, Any] = {}

        def update(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = shown.add_task(_STAGES[stage], total=total)
            shown.update(tasks[stage], completed=done, total=total)

        yield update


datasets = _commands_of("dataset")
checkpoints = _commands_of("checkpoint")
