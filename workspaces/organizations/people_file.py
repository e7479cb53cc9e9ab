"""Parse import files as spreadsheets export them.

Fields are separated by commas, semicolons or tabs; a byte order mark is optional.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.core.errors import InvalidInput, PortalError, TooLarge
from workspaces.access.permissions import TeamRole
from workspaces.organizations.names import clean_name
from workspaces.organizations.services import checked_email

LARGEST, MOST = 1 << 20, 500  # bytes, and people: larger imports use a directory
COLUMNS = {
    "email": ("email", "e-mail", "e-mail address", "email address", "mail", "e-mail-adresse"),
    "name": ("name", "full name", "display name", "displayname"),
    "role": ("role", "org role"),
    "team": ("team", "teams"),
    "team_role": ("team_role", "team role"),
}
_TEAM_SEPARATOR = str.maketrans(",;|", "   ")


@dataclass
class PersonRow:
    """A person in the file. `role` "" keeps the current role, or means member for new ones."""

    line: int
    email: str
    name: str = ""
    role: str = ""
    teams: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LineError:
    """An error in a line of the file."""

    line: int
    what: str


def decoded(data: bytes) -> str:
    """Decode UTF-8, UTF-16 with a byte order mark, or Windows-1252.

    Raises TooLarge, InvalidInput.
    """
    if len(data) > LARGEST:
        raise TooLarge(_("The file is larger than 1 MiB."))
    for encoding in (
        ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252")
    ):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InvalidInput.at("file", _("is not a text file: save it as CSV"))


def read_people(text: str) -> tuple[list[PersonRow], list[LineError]]:
    """Return the people in the file, merging their lines, and the faulty lines.

    Raises InvalidInput, TooLarge if the file as a whole is invalid.
    """
    lines = _lines(text)
    names = _header(lines[0][1])
    people: dict[str, PersonRow] = {}
    faults: list[LineError] = []
    for number, cells in lines[1:]:
        try:
            _merge(
                people,
                _person(
                    number,
                    dict(zip(names, (cell.strip() for cell in cells), strict=False)),
                    len(cells) - len(names),
                ),
            )
        except PortalError as error:
            faults.append(LineError(number, error.message))
    if len(people) > MOST:
        raise TooLarge(
            _(
                "The file lists %(n)s people; at most %(most)s are allowed: split it, or connect a "
                "directory."
            )
            % {"n": len(people), "most": MOST}
        )
    return list(people.values()), faults


def _lines(text: str) -> list[tuple[int, list[str]]]:
    """Return the non-empty lines, header first, with their line numbers."""
    text = text.removeprefix("\ufeff")
    if len(text.encode()) > LARGEST:
        raise TooLarge(_("The file is larger than 1 MiB."))
    first, _newline, rest = text.partition("\n")
    first_line = first.strip().strip('"').lower()
    # Tells Excel the separator
    has_separator_line = first_line[:4] == "sep=" and first_line[4:] in (
        ",",
        ";",
        "|",
    )
    delimiter = first_line[4] if has_separator_line else max(",;\t", key=first.count)
    try:
        reader = csv.reader(
            (rest if has_separator_line else text).splitlines(keepends=True),
            delimiter=delimiter,
            strict=True,
        )
        found = [
            (reader.line_num + has_separator_line, cells)
            for cells in reader
            if any(cell.strip() for cell in cells)
        ]
    except csv.Error as error:
        raise InvalidInput.at("file", _("is not valid CSV: %(why)s") % {"why": error}) from None
    if not found:
        raise InvalidInput.at("file", pgettext("error of a field", "is empty"))
    return found


def _header(cells: list[str]) -> list[str]:
    known = {word: name for name, words in COLUMNS.items() for word in words}
    names = [known.get(cell.strip().lower(), "") for cell in cells]
    unknown = [
        cell.strip()[:40]
        for cell, name in zip(cells, names, strict=True)
        if not name and cell.strip()
    ]
    if "email" not in names:
        raise InvalidInput.at(
            "file",
            _(
                "needs a header line with the column email, and optionally name, role, team, "
                "team_role"
            ),
        )
    if unknown or len(set(names) - {""}) != len([name for name in names if name]):
        raise InvalidInput.at(
            "file",
            _("has unknown or duplicate columns: %(names)s. Known are %(known)s.")
            % {"names": ", ".join(unknown) or "–", "known": ", ".join(COLUMNS)},
        )
    return names


def _person(line: int, cells: dict[str, str], extra: int) -> PersonRow:
    if extra > 0:
        raise InvalidInput(_("has more cells than the header line"))
    role = cells.get("role", "").lower()
    default_role = cells.get("team_role", "").lower() or TeamRole.MEMBER
    teams = {}
    for place in cells.get("team", "").translate(_TEAM_SEPARATOR).split():
        slug, _eq, team_role = place.partition("=")
        teams[slug] = team_role or default_role
    name = clean_name(cells["name"]) if cells.get("name") else ""
    return PersonRow(line, checked_email(cells.get("email", "")), name, role, teams)


def _merge(people: dict[str, PersonRow], person: PersonRow) -> None:
    """Merge a line into the people: one line per team, which must not contradict each other."""
    known = people.setdefault(person.email, person)
    if known is person:
        return
    if person.role and known.role not in ("", person.role):
        raise InvalidInput(
            _("%(email)s has the role %(role)s in line %(line)s")
            % {"email": person.email, "role": known.role, "line": known.line}
        )
    for slug, role in person.teams.items():
        if known.teams.setdefault(slug, role) != role:
            raise InvalidInput(
                pgettext("error", "%(email)s is %(role)s of %(team)s in line %(line)s")
                % {
                    "email": person.email,
                    "role": known.teams[slug],
                    "team": slug,
                    "line": known.line,
                }
            )
    known.role, known.name = known.role or person.role, known.name or person.name
