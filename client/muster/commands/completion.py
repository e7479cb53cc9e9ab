"""The `muster completion` command."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from typer import Argument

from muster.options import Commands
from muster.output import Session

COMMANDS = {"completion": ("app", 430, "Print a completion script for bash, zsh or fish.")}
app = Commands()


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@app.command("completion")
def completion(
    session: Session, shell: Annotated[Shell, Argument(help="Shell to print the script for.")]
) -> None:
    """Print a shell completion script. Use it as `eval "$(muster completion bash)"`."""
    from typer.completion import get_completion_script

    script = get_completion_script(
        prog_name="muster", complete_var="_MUSTER_COMPLETE", shell=shell.value
    )
    session.show({"shell": shell.value, "script": script}, script)
