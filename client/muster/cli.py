"""The command `muster`: nouns are loaded when they are named, so that it starts fast."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from muster.errors import InvalidInput, MusterError
from muster.options import Json, Org, Quiet, Team, Url, start
from muster.output import tell_error

# name: (module, application in it, the line in --help). Where the application has a command of that very name, it is the command.
NOUNS = {
    "run": ("run", "app", "Run a command as a job; its log and exit code come here."),
    "job": ("jobs", "app", "Submit, find, follow and steer jobs."),
    "org": ("places", "organizations", "Organizations; creating one is for operators."),
    "team": ("places", "teams", "Teams and who is in them."),
    "member": ("places", "members", "People of the organization."),
    "role": ("roles", "roles", "Roles, built-in and of your own making."),
    "access": ("roles", "access", "Why somebody may or may not."),
    "quota": ("quotas", "quotas", "What is held, the limits, asking for more, and rules of jobs."),
    "token": ("account", "tokens", "Access tokens."),
    "invitation": ("people", "invitations", "Links by which people come in."),
    "people": ("people", "people", "Bring in many people, from a file."),
    "session": ("people", "sessions", "Where you are signed in."),
    "secret": ("secrets", "secrets", "Values that jobs get and nobody reads."),
    "service-account": (
        "service_accounts",
        "accounts",
        "Members that are no people, and their tokens.",
    ),
    "node": ("places", "nodes", "Machines and GPUs."),
    "cluster": ("clusters", "clusters", "Connect schedulers, for operators."),
    "pool": ("clusters", "pools", "Parts of clusters, and who may use them."),
    "audit": ("audit", "audit", "Who did what, and whether the trail is whole."),
    "directory": (
        "directories",
        "directories",
        "Connect directories and sign-in services, and make people follow them.",
    ),
    "application": (
        "applications",
        "applications",
        "Sign people in elsewhere through the portal, for operators.",
    ),
    "login": ("account", "app", "Keep a portal's address and a token."),
    "logout": ("account", "app", "Forget the token kept here."),
    "whoami": ("account", "app", "Who one is, and where."),
    "config": ("account", "app", "Show or keep address, organization and team."),
    "completion": ("completion", "app", "Completion for bash, zsh or fish."),
}
EPILOG = (
    "Exit codes: 0 done, 1 failed, 2 wrong usage or input, 3 not found, 4 not signed in or not permitted, 5 conflict or quota, "
    "6 unavailable. run, job attach, job wait and job exec end as the job does: 128 + signal, 130 canceled, 124 time limit, "
    "75 the platform's fault."
)


class Root(TyperGroup):
    """Knows its commands by the table above."""

    def list_commands(self, context: Any) -> list[str]:
        return list(NOUNS)

    def get_command(self, context: Any, name: str) -> Any:
        if name not in NOUNS:
            return None
        module, application, _ = NOUNS[name]
        import_module("muster.commands.output" if module == "jobs" else f"muster.commands.{module}")
        group = typer.main.get_group(
            getattr(import_module(f"muster.commands.{module}"), application)
        )
        return group.commands.get(name, group)

    def format_commands(self, context: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in NOUNS.items()])


app = typer.Typer(
    cls=Root, no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip


@app.callback()
def options(
    context: typer.Context, json: Json = False, quiet: Quiet = False, org: Org = None, team: Team = None, url: Url = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:  # fmt: skip
    """Run jobs on your organization's GPUs, and follow them."""
    start(context, json=json, quiet=quiet, org=org, team=team, url=url)
    if version:
        from muster import __version__

        typer.echo(f"muster {__version__}")
        raise typer.Exit


def main(argv: Sequence[str] | None = None) -> None:
    """The console script. Exit codes: EPILOG."""
    words = list(sys.argv[1:] if argv is None else argv)
    if "_MUSTER_COMPLETE" in os.environ:
        from typer.completion import completion_init

        completion_init()
    if words == ["--version"]:
        words = ["--version", "config"]  # a group wants a command; the option ends it before
    sys.exit(_ended(words))


def _ended(words: list[str]) -> int:
    wants_json = "--json" in words[: words.index("--") if "--" in words else None]
    try:
        return int(app(words, prog_name="muster", standalone_mode=False) or 0)
    except MusterError as error:
        return tell_error(error, as_json=wants_json)
    except (typer.Abort, KeyboardInterrupt):
        sys.stderr.write("\n")
        return 130
    except Exception as error:
        if not hasattr(error, "exit_code"):
            raise
        return _usage(error, wants_json)


def _usage(error: Any, wants_json: bool) -> int:
    """Click's own refusals of a command line."""
    if wants_json and hasattr(error, "format_message"):
        refused = InvalidInput(error.format_message(), code="usage")
        sys.stderr.write(json.dumps(refused.as_problem(), indent=2) + "\n")
    else:
        error.show()
    return int(error.exit_code)


if __name__ == "__main__":
    main()
