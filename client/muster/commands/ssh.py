"""`muster ssh`: a shell, commands and files of a session, with OpenSSH."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from muster.errors import InvalidInput
from muster.options import Commands
from muster.output import Session
from muster.ssh import Ssh, carry_stdio

COMMANDS = {
    "ssh": ("app", 25, "Open a shell in a session, or run a command there."),
    "exec": ("app", 25, "Run a command in a job that has a shell, with a terminal."),
}
app = Commands()


@app.command(
    "ssh", context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True}
)
def ssh(
    session: Session,
    which: Annotated[
        str,
        Argument(
            metavar="SESSION", help="Number or name of a session; number of a job; or config."
        ),
    ] = "",
    command: Annotated[
        list[str] | None,
        Argument(metavar="[OPTIONS] [CMD]", help="Options of ssh, such as -L, and a command."),
    ] = None,
    stdio: Annotated[
        bool, Option("--stdio", help="Carry the bytes of SSH, as ProxyCommand of OpenSSH.")
    ] = False,
    renew: Annotated[
        bool, Option("--renew", help="Fetch a certificate, unless there is a fresh one.")
    ] = False,
) -> None:
    """Open a shell in a session, or run a command there, with OpenSSH.

    muster ssh 12, muster ssh 12 nvidia-smi, muster ssh 12 -L 6006:localhost:6006. After `muster ssh
    config`, ssh session-12, scp, sftp, rsync and editors reach sessions as well.
    """
    own = Ssh(session.client)
    if renew:
        own.renew()
    elif stdio:
        asyncio.run(carry_stdio(own.address(which), session.client.settings.token))
    elif which == "config":
        user, file = own.write_config()
        session.show(
            {"config": str(file)}, f"{user} includes {file}. Try: ssh session-12", [str(file)]
        )
    elif not which:
        raise InvalidInput("Which session? For example: muster ssh 12")
    else:
        _become(own.words(which, command or []))


@app.command("exec", context_settings={"allow_interspersed_args": False})
def exec_(
    session: Session,
    which: Annotated[str, Argument(metavar="JOB", help="Number of a job, or a session.")],
    command: Annotated[
        list[str] | None, Argument(metavar="[--] [CMD]", help="By default a shell.")
    ] = None,
    has_input: Annotated[bool, Option("-i", "--stdin", help="Pass standard input on.")] = False,
    terminal: Annotated[bool, Option("-t", "--tty", help="Open a terminal.")] = False,
) -> None:
    """Run a command in a running job that has a port for SSH, such as a session.

    muster exec -it 12 opens a shell; muster exec 12 nvidia-smi. The exit code is that of the
    command. `muster job exec` runs short commands in any job.
    """
    words = list(command or [])
    words = words[1:] if words[:1] == ["--"] else words
    options = ["-tt"] if terminal else [] if has_input or not words else ["-n"]
    text = [shlex.join(words)] if words else []
    _become(Ssh(session.client).words(which, [*options, *text]))


def _become(words: Sequence[str]) -> None:
    try:
        os.execvp(words[0], words)  # noqa: S606  OpenSSH
    except FileNotFoundError as error:
        raise InvalidInput("ssh is not installed here. Install the OpenSSH client.") from error
