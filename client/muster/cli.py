"""The `muster` command. Subcommand modules are imported on demand to keep startup fast."""

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
from muster.options import READER_GONE, Json, Org, Quiet, Team, Url, start
from muster.output import print_error
from muster.streams import abandon_stdout, prepare

# name: (module, its Typer application, help line). If the application has a command of the same
# name, that command is used instead of the group.
GROUPS = {
    "run": ("run", "app", "Run a command as a job, stream its log and return its exit code."),
    "job": ("jobs", "app", "Submit, list, follow and control jobs."),
    "port-forward": ("port_forward", "app", "Forward a local port to a port of a running job."),
    "model": ("models", "models", "Register, upload, download and approve models."),
    "dataset": ("datasets", "datasets", "Upload, download, version and share datasets."),
    "checkpoint": ("datasets", "checkpoints", "Upload, download, version and share checkpoints."),
    "lineage": ("lineage", "app", "Show what something was made from, and what came of it."),
    "storage": ("storage", "app", "Show what takes the space, and what nothing refers to."),
    "workspace": ("workspaces", "app", "Share folders of files without versions."),
    "usage": ("usage", "app", "Show GPU time, what was wasted, and by which jobs."),
    "cost": ("usage", "cost", "Show what was used costs; budgets; prices (operators)."),
    "statement": ("usage", "statements", "Show, download and issue monthly statements."),
    "idle": ("idle", "app", "List running jobs with idle GPUs."),
    "experiment": ("experiments", "app", "Manage experiments; import from an MLflow server."),
    "runs": ("runs", "app", "Search, compare and reproduce runs; log to them; copy files."),
    "tensorboard": ("tensorboard", "app", "Send TensorBoard curves of a job to its run."),
    "org": ("organizations", "organizations", "List organizations; operators can create them."),
    "team": ("organizations", "teams", "Manage teams and their members."),
    "member": ("organizations", "members", "Manage members of the organization."),
    "role": ("roles", "roles", "List built-in roles and manage custom roles."),
    "access": ("roles", "access", "Explain why a person has or lacks a permission."),
    "quota": ("quotas", "quotas", "Show usage and limits, request more, set job rules."),
    "token": ("account", "tokens", "Manage access tokens."),
    "invitation": ("people", "invitations", "Manage invitation links."),
    "people": ("people", "people", "Import people from a CSV file."),
    "session": ("people", "sessions", "List and end browser sessions."),
    "secret": ("secrets", "secrets", "Manage secrets for jobs. Values are write-only."),
    "service-account": (
        "service_accounts",
        "accounts",
        "Manage service accounts and their tokens.",
    ),
    "gpu": ("gpus", "gpus", "Show GPU capacity, list GPUs, and see what a GPU does."),
    "mig": ("mig", "app", "Plan and apply the partitioning of GPUs (operators)."),
    "node": ("organizations", "nodes", "List nodes and GPUs; drain and resume nodes."),
    "cluster": ("clusters", "clusters", "Connect and manage clusters (operators)."),
    "telemetry": (
        "telemetry",
        "telemetry",
        "Read GPU measurements from dcgm-exporters and Prometheus (operators).",
    ),
    "pool": ("clusters", "pools", "Manage pools and which teams may use them."),
    "notifications": ("notifications", "notifications", "List your notifications; settings."),
    "notification-channel": (
        "notifications",
        "channels",
        "Manage Slack, Teams and webhooks for notifications.",
    ),
    "audit": ("audit", "audit", "Search, export and verify the audit trail."),
    "directory": (
        "directories",
        "directories",
        "Connect and sync directories and identity providers.",
    ),
    "application": (
        "applications",
        "applications",
        "Manage applications that sign in through the portal (operators).",
    ),
    "login": ("account", "app", "Sign in and store the portal's URL and a token."),
    "logout": ("account", "app", "Remove the stored token."),
    "whoami": ("account", "app", "Show the current user and organizations."),
    "config": ("account", "app", "Show or change the stored URL, organization and team."),
    "completion": ("completion", "app", "Print a completion script for bash, zsh or fish."),
}
EPILOG = (
    "Exit codes: 0 success, 1 failure, 2 invalid usage or input, 3 not found, 4 not signed in or "
    "not permitted, 5 conflict or quota exceeded, 6 unavailable. run, job attach, job wait and job "
    "exec return the job's exit code: 128 + signal, 130 canceled, 124 time limit, 75 platform "
    "failure."
)


class CommandGroup(TyperGroup):
    """Resolve subcommands from `GROUPS`."""

    def list_commands(self, context: Any) -> list[str]:
        return list(GROUPS)

    def get_command(self, context: Any, name: str) -> Any:
        if name not in GROUPS:
            return None
        module, application, _ = GROUPS[name]
        import_module("muster.commands.output" if module == "jobs" else f"muster.commands.{module}")
        group = typer.main.get_group(
            getattr(import_module(f"muster.commands.{module}"), application)
        )
        return group.commands.get(name, group)

    def format_commands(self, context: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in GROUPS.items()])


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
        from muster import __version__

        typer.echo(f"muster {__version__}")
        raise typer.Exit


def main(argv: Sequence[str] | None = None) -> None:
    """Run the console script and exit with a code listed in `EPILOG`."""
    prepare()
    words = list(sys.argv[1:] if argv is None else argv)
    if "_MUSTER_COMPLETE" in os.environ:
        from typer.completion import completion_init

        completion_init()
    if words == ["--version"]:
        words = ["--version", "config"]  # a group needs a command; the option exits before it runs
    code = _run(words)
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


def _run(words: list[str]) -> int:
    wants_json = "--json" in words[: words.index("--") if "--" in words else None]
    try:
        return int(app(words, prog_name="muster", standalone_mode=False) or 0)
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
