"""The `muster` command. Subcommand modules are imported on demand to keep startup fast."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from muster import __version__
from muster.declarations import declared
from muster.errors import InvalidInput, MusterError
from muster.options import READER_GONE, Json, Org, Quiet, Team, Url, start
from muster.output import print_error
from muster.streams import abandon_stdout, prepare

EPILOG = (
    "Exit codes: 0 success, 1 failure, 2 invalid usage or input, 3 not found, 4 not signed in or "
    "not permitted, 5 conflict or quota exceeded, 6 unavailable. run, job attach, job wait and job "
    "exec return the job's exit code: 128 + signal, 130 canceled, 124 time limit, 75 platform "
    "failure."
)


@cache
def groups() -> dict[str, tuple[str, Any]]:
    """Return the commands by name, each with its module and what that declares."""
    found = declared(Path(__file__).parent / "commands", "COMMANDS")
    return dict(sorted(found.items(), key=lambda one: one[1][1][1]))


class CommandGroup(TyperGroup):
    """Resolve subcommands from COMMANDS of the modules of `muster.commands`.

    They are {name: (Typer application, order in the help, help line)}. If the application has a
    command of the same name, that command is used instead of the group.
    """

    def list_commands(self, context: Any) -> list[str]:
        return list(groups())

    def get_command(self, context: Any, name: str) -> Any:
        if name not in groups():
            return None
        module, (application, *_) = groups()[name]
        import_module("muster.commands.output" if module == "jobs" else f"muster.commands.{module}")
        group = typer.main.get_group(
            getattr(import_module(f"muster.commands.{module}"), application)
        )
        return group.commands.get(name, group)

    def format_commands(self, context: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, (_, _, text)) in groups().items()])


app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def options(
    context: typer.Context,
    json: Json = False,
    quiet: Quiet = False,
    org: Org = None,
    team: Team = None,
    url: Url = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Run and manage jobs on your organization's clusters."""
    start(context, json=json, quiet=quiet, org=org, team=team, url=url)
    if version:
        typer.echo(f"muster {__version__}")
        raise typer.Exit


def main(argv: Sequence[str] | None = None) -> None:
    """Run the console script and exit with a code listed in `EPILOG`."""
    prepare()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if "_MUSTER_COMPLETE" in os.environ:
        from typer.completion import completion_init

        completion_init()
    if arguments == ["--version"]:
        # a group needs a command; the option exits before it runs
        arguments = ["--version", "config"]
    code = _run(arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _output_failed(error)
    sys.exit(code)


def _output_failed(error: OSError) -> int:
    """Say that the result could not be written, and return an exit code."""
    abandon_stdout()
    if isinstance(error, BrokenPipeError):
        return READER_GONE
    sys.stderr.write(f"Error: {error.strerror or error}. The output is incomplete.\n")
    return 1


def _run(arguments: list[str]) -> int:
    wants_json = "--json" in arguments[: arguments.index("--") if "--" in arguments else None]
    try:
        return int(app(arguments, prog_name="muster", standalone_mode=False) or 0)
    except MusterError as error:
        return print_error(error, as_json=wants_json)
    except (typer.Abort, KeyboardInterrupt):
        sys.stderr.write("\n")
        return 130
    except OSError as error:
        if error.filename is None:
            return _output_failed(error)
        return print_error(
            MusterError(f"{error.filename}: {error.strerror}", code="file"), as_json=wants_json
        )
    except Exception as error:
        if not hasattr(error, "exit_code"):
            raise
        return _print_usage_error(error, wants_json)


def _print_usage_error(error: Any, wants_json: bool) -> int:
    """Print a usage error raised by Click and return its exit code."""
    if wants_json and hasattr(error, "format_message"):
        problem = InvalidInput(error.format_message(), code="usage")
        sys.stderr.write(json.dumps(problem.as_problem(), indent=2) + "\n")
    else:
        error.show()
    return int(error.exit_code)


if __name__ == "__main__":
    main()
