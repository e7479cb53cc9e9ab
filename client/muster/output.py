"""Output of commands: for people, as JSON, or ids only.

Results go to standard output; progress and errors go to standard error, so that a pipe receives
only the result.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TextIO

from muster.errors import MusterError, NotAuthenticated
from muster.streams import is_unicode
from muster.wording import COLOURS, ago, clean, count, text

if TYPE_CHECKING:
    from muster.client import Client

LEAST_WIDE = 8  # minimum width of a flexible column on a terminal
_CODES = {"blue": 34, "green": 32, "red": 31, "yellow": 33, "bright_black": 90}


@dataclass(frozen=True)
class Table:
    """Rows of text.

    A column named ">…" is right-aligned. A column named "~…" is flexible: on a narrow terminal it
    is cut, or wrapped with `wraps`. States are coloured.
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[object]]
    empty: str = ""  # shown to people instead of an empty table
    wraps: bool = False


@dataclass(frozen=True)
class Column:
    """A column of a list: its heading as in `Table`, the field that it shows, and in which format.

    Without a `key`, the format gets the whole row.
    """

    heading: str
    key: str
    format: Callable[[Any], object] = text

    def cell(self, row: Mapping[str, Any]) -> object:
        return self.format(row[self.key] if self.key else row)


@dataclass(frozen=True)
class Listing:
    """How rows of a shape, named as in `muster.shapes`, are listed.

    `id` is the field that --quiet prints, or a function of the row.
    """

    shape: str
    id: str | Callable[[Any], object]
    columns: tuple[Column, ...]

    def table(self, rows: Iterable[Mapping[str, Any]], empty: str = "") -> Table:
        cells = ([column.cell(row) for column in self.columns] for row in rows)
        return Table([column.heading for column in self.columns], cells, empty)


def _cost(row: Mapping[str, Any]) -> str:
    return f"{row['cost']} {row['currency']}" if row["cost"] is not None else "–"


USE = (  # of lists of subjects: teams, people, service accounts
    Column(">GPUs", "gpus_used", count),
    Column(">GPU-h 30d", "gpu_hours", lambda hours: "–" if hours is None else f"{hours:,.1f}"),
    Column(">Cost 30d", "", _cost),
    Column(">Last job", "last_job_at", ago),
)


@dataclass
class Session:
    """One invocation of `muster`: its shared options and output."""

    url: str | None = None
    token: str | None = None
    org: str | None = None
    team: str | None = None
    json: bool = False
    quiet: bool = False
    is_shown: bool = field(default=False, repr=False)

    @cached_property
    def client(self) -> Client:
        from muster.client import Client

        return Client(self.url, self.token, self.org, self.team)

    def show(
        self, data: Any, human: str | Table | Sequence[str | Table] = "", ids: Iterable[object] = ()
    ) -> None:
        """Print the result: `data` as JSON, `ids` one per line, or `human`."""
        if self.json:
            is_ascii = not is_unicode(sys.stdout)
            sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=is_ascii) + "\n")
        elif self.quiet:
            sys.stdout.write("".join(f"{clean(item)}\n" for item in ids))
        else:
            for part in [human] if isinstance(human, str | Table) else human:
                sys.stdout.write(drawn(part, sys.stdout))
        sys.stdout.flush()

    def show_list(self, page: Mapping[str, Any], listing: Listing, empty: str) -> None:
        """Print the rows of a page: as JSON, their ids, or a table; `empty` if there are none."""
        rows = page["items"]
        named = listing.id if callable(listing.id) else itemgetter(listing.id)
        self.show(page, listing.table(rows, empty), [named(row) for row in rows])

    def echo(self, text: str, colour: str = "") -> None:
        """Print progress for people; silent with --quiet and --json."""
        if not (self.quiet or self.json):
            sys.stderr.write(painted(text, colour, sys.stderr) + "\n")
            sys.stderr.flush()


def drawn(part: str | Table, out: TextIO) -> str:
    """Render text or a table, ending with a newline. Tables are cut only on a terminal."""
    if isinstance(part, str):
        return part if part.endswith("\n") or not part else f"{part}\n"
    rows = [[clean(cell) for cell in row] for row in part.rows]
    if not rows and part.empty:
        return f"{part.empty}\n"
    return _rich_table(part, rows) if out.isatty() else _plain_table(part.columns, rows)


def painted(text: str, colour: str, out: TextIO) -> str:
    """Colour text if `out` is a terminal that supports it."""
    has_colour = (
        colour
        and out.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if has_colour else text


def print_error(error: MusterError, *, as_json: bool) -> int:
    """Print an error to standard error and return its exit code."""
    if as_json:
        is_ascii = not is_unicode(sys.stderr)
        sys.stderr.write(json.dumps(error.as_problem(), indent=2, ensure_ascii=is_ascii) + "\n")
        return error.exit_code
    lines = [f"Error: {error.message}"]
    if any(str(fault.get("message", "")) not in error.message for fault in error.errors):
        lines += [f"  {fault_text(fault)}" for fault in error.errors]
    if isinstance(error, NotAuthenticated) and error.status:
        lines.append("The token is invalid, expired or revoked. Sign in again: muster login")
    if error.help:
        lines.append(f"Help: {clean(error.help)}")
    if error.status >= 500 and error.request_id:
        lines.append(f"Request ID: {error.request_id}")
    sys.stderr.write("\n".join(lines) + "\n")
    return error.exit_code


def fault_text(fault: dict[str, Any]) -> str:
    """Format a field error, such as "line 4: resources.memory: must be …"."""
    where = [f"line {fault['line']}" if fault.get("line") else "", fault.get("field") or ""]
    return ": ".join([*filter(None, where), clean(fault.get("message", ""))])


def _title(name: str) -> str:
    return name[1:] if name.startswith((">", "~")) else name


def _plain_table(columns: Sequence[str], rows: list[list[str]]) -> str:
    names = [_title(name) for name in columns]
    widths = [max(len(line[at]) for line in [names, *rows]) for at in range(len(columns))]
    return "".join(
        "  ".join(
            cell.rjust(width) if name.startswith(">") else cell.ljust(width)
            for cell, width, name in zip(line, widths, columns, strict=True)
        ).rstrip()
        + "\n"
        for line in [names, *rows]
    )


def _rich_table(table: Table, rows: list[list[str]]) -> str:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console, made = Console(), RichTable(box=None, pad_edge=False, header_style="bold")
    for name, width in zip(table.columns, _widths(table.columns, rows, console.width), strict=True):
        folds = table.wraps and name.startswith("~")
        made.add_column(
            _title(name),
            justify="right" if name.startswith(">") else "left",
            width=width,
            no_wrap=not folds,
            overflow="ellipsis",
        )
    for row in rows:
        made.add_row(*[Text(cell, style=COLOURS.get(cell, "")) for cell in row])
    with console.capture() as capture:
        console.print(made)
    return capture.get()


def _widths(columns: Sequence[str], rows: list[list[str]], available: int) -> list[int]:
    """Return column widths for `available` characters; flexible columns share the remaining space."""
    from rich.cells import cell_len

    widths = [
        max(cell_len(line[at]) for line in [[*map(_title, columns)], *rows])
        for at in range(len(columns))
    ]
    giving = [at for at, name in enumerate(columns) if name.startswith("~")]
    left = (
        available
        - 2 * (len(columns) - 1)
        - sum(width for at, width in enumerate(widths) if at not in giving)
    )
    for at in giving:
        widths[at] = min(widths[at], max(left // len(giving), LEAST_WIDE))
    return widths
