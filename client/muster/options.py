"""Options shared by every command: --json, --quiet, --org, --team and --url.

They are accepted before or after the command.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from muster.output import Session
from muster.streams import abandon_stdout

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print ids only.")]
Org = Annotated[
    str | None, typer.Option("--org", metavar="SLUG", help="Organization [env: MUSTER_ORG].")
]
Team = Annotated[
    str | None, typer.Option("--team", metavar="SLUG", help="Team [env: MUSTER_TEAM].")
]
Url = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="URL of the portal [env: MUSTER_URL].")
]
READER_GONE = 141  # 128 + SIGPIPE, the shell's convention
_SHARED = {"json": Json, "quiet": Quiet, "org": Org, "team": Team, "url": Url}


class Commands(typer.Typer):
    """A group whose command functions take a `Session`, followed by their own arguments."""

    def __init__(self, **options: Any):
        super().__init__(
            rich_markup_mode=None, add_completion=False, no_args_is_help=True, **options
        )

    def command(  # type: ignore[override]  # forwards all options
        self, name: str | None = None, **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        register = super().command(name, **options)

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            register(_with_shared_options(function))
            return function

        return add


def start(context: typer.Context, **given: Any) -> Session:
    """Return the session of this invocation, updated with options that were given."""
    session = context.obj = context.find_object(Session) or Session()
    for name, value in given.items():
        if value:
            setattr(session, name, value)
    return session


def _with_shared_options(function: Callable[..., Any]) -> Callable[..., Any]:
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    shared = [
        inspect.Parameter(
            f"shared_{name}",
            inspect.Parameter.KEYWORD_ONLY,
            default=False if kind in (Json, Quiet) else None,
            annotation=kind,
        )
        for name, kind in _SHARED.items()
    ]
    context = inspect.Parameter(
        "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )

    @functools.wraps(function)
    def call(context: typer.Context, **given: Any) -> Any:
        session = start(context, **{name: given.pop(f"shared_{name}") for name in _SHARED})
        try:
            return function(session, **given)
        except BrokenPipeError:  # Typer would exit with 1
            abandon_stdout()
            return READER_GONE

    del call.__wrapped__  # type: ignore[attr-defined]  # the signature is set below
    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    call.__signature__ = inspect.Signature([context, *keyword, *shared])  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in [context, *own, *shared]}
    return call
