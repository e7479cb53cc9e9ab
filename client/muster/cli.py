"""The command `muster`. Options for all commands (--json, --quiet, --org, --team, --url) may stand anywhere before `--`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Optional

import typer

from muster.client import MusterError
from muster.commands import account, jobs, places, run
from muster.output import Context, fail

app = typer.Typer(no_args_is_help=True, add_completion=True, rich_markup_mode=None, pretty_exceptions_enable=False,
                  help="Run jobs on your organization's GPUs, and follow them.", context_settings={"help_option_names": ["-h", "--help"]})
for group, commands, text in (("job", jobs.app, "Submit, find, follow and steer jobs."), ("team", places.teams, "Teams and who is in them."),
                              ("member", places.members, "People of the organization."), ("quota", places.quotas, "What is held, and the limits."),
                              ("token", account.tokens, "Access tokens."), ("node", places.nodes, "Machines and GPUs.")):
    app.add_typer(commands, name=group, help=text, no_args_is_help=True)
app.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})(run.run)
app.command("login")(account.login)
app.command("logout")(account.logout)
app.command("whoami")(account.whoami)

_FLAGS = {"--json": "json", "-q": "quiet", "--quiet": "quiet"}
_VALUES = ("--org", "--team", "--url", "--token")


@app.callback()
def options(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Answer in JSON, one document.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Answer with ids only.")] = False,
    org: Annotated[Optional[str], typer.Option(help="Organization; MUSTER_ORG.")] = None,  # noqa: UP045  Typer reads it
    team: Annotated[Optional[str], typer.Option(help="Team; MUSTER_TEAM.")] = None,  # noqa: UP045
    url: Annotated[Optional[str], typer.Option(help="The portal; MUSTER_URL.")] = None,  # noqa: UP045
    token: Annotated[Optional[str], typer.Option(help="Access token; better in MUSTER_TOKEN.")] = None,  # noqa: UP045
) -> None:
    context.obj = Context(url=url, token=token, org=org, team=team, json=json, quiet=quiet)


def main(argv: Sequence[str] | None = None) -> None:
    """The console script. Exit codes: client/README.md."""
    words = hoisted(list(sys.argv[1:] if argv is None else argv))
    context = Context(json="--json" in words[:words.index("--") if "--" in words else None])
    try:
        code = app(words, prog_name="muster", standalone_mode=False)
    except MusterError as error:
        code = fail(context, error)
    except typer.Exit as done:
        code = done.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:
        code = 0
    except Exception as error:
        if not hasattr(error, "exit_code"):
            raise
        error.show()  # type: ignore[attr-defined]  # click's usage errors
        code = error.exit_code
    sys.exit(code or 0)


def hoisted(words: list[str]) -> list[str]:
    """The options of all commands moved to the front, from wherever they stand before `--`. `run` keeps what follows its command."""
    stop = words.index("--") if "--" in words else len(words)
    front, rest, at = [], [], 0
    while at < stop:
        word = words[at]
        if word in _FLAGS:
            front.append(word)
        elif word in _VALUES and at + 1 < stop:
            front += words[at:at + 2]
            at += 1
        elif word.startswith(tuple(f"{name}=" for name in _VALUES)):
            front.append(word)
        else:
            rest.append(word)
        at += 1
    return [*front, *rest, *words[stop:]]


if __name__ == "__main__":
    main()
