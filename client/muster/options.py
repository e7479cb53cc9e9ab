"""The options that every command takes (--json, --quiet, --org, --team, --url), before the command or after it."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from muster.output import Session

Json = Annotated[bool, typer.Option("--json", help="Answer in JSON, one document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Answer with ids only.")]
Org = Annotated[
    str | None, typer.Option("--org", metavar="SLUG", help="Organization (MUSTER_ORG).")
]
Team = Annotated[str | None, typer.Option("--team", metavar="SLUG", help="Team (MUSTER_TEAM).")]
Url = Annotated[str | None, typer.Option("--url", metavar="URL", help="The portal (MUSTER_URL).")]
READER_GONE = 141  # 128 + SIGPIPE, as a shell tells it
_SHARED = {"json": Json, "quiet": Quiet, "org": Org, "team": Team, "url": Url}


class Commands(typer.Typer):
    """Commands whose functions take a Session first, and the arguments of their own after it."""

    def __init__(self, **options: Any):
        super().__init__(
            rich_markup_mode=None, add_completion=False, no_args_is_help=True, **options
        )

    def command(  # type: ignore[override]  # passes on what it is given
        self, name: str | None = None, **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        register = super().command(name, **options)

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            register(_with_shared_options(function))
            return function

        return add


def start(context: typer.Context, **given: Any) -> Session:
    """The session of this call, with what was said so far; what is said later counts."""
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
        except BrokenPipeError:  # here, because Typer would end with 1
            os.dup2(
                os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
            )  # the flush at exit must not complain
            return READER_GONE

    del call.__wrapped__  # type: ignore[attr-defined]  # its signature is the one below
    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    call.__signature__ = inspect.Signature([context, *keyword, *shared])  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in [context, *own, *shared]}
    return call
