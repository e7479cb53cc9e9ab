"""Templates of sessions: which web app a session runs, and how it is started.

A script finds its port in MUSTER_PORT_APP and the session's secret in the file MUSTER_APP_TOKEN_FILE.
It starts in the workspace of the session, if it has one. A command of the person that listens on the
Unix socket MUSTER_APP_SOCKET is guarded: neighbours on the node have no secret.
HOME is the home folder, if that is mounted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from portal.core.errors import NotFound
from portal.core.messages import Message

PORT = "app"  # the name of the port of every session
SSH_PORT = "ssh"
HOME, WORKSPACE = "home", "work"  # names of workspaces in its spec
DATA = "data"  # the name of the input
NOT_FOUND = 127  # exit code of a shell that does not find a program


@dataclass(frozen=True)
class SessionTemplate:
    """A kind of web app.

    `program` is what the node or the image must have, `package` where pip finds it, and `images` are
    examples that have it. The app is ready once `ready` answers below 400. `has_secret`: the app asks
    for the session's secret, which the gateway sends. `has_command`: the person names command and port.
    `can_be_read`: it can be shared to look at only, as requests of other methods than GET and input over
    websockets do not pass then; `posts` are paths at which it reads by POST.
    """

    name: str
    title: Message
    about: Message
    run: str
    program: str = ""
    package: str = ""
    images: tuple[str, ...] = ()
    ready: str = "/"
    has_secret: bool = False
    has_command: bool = False
    can_be_read: bool = False
    posts: tuple[str, ...] = ()
    cpus: float = 1
    memory: str = "2Gi"
    time_limit: str = "8h"
    version: int = 1

    @property
    def product(self) -> Message | str:
        """What has to be installed; "" if nearly every machine has it."""
        if self.program == "python3":
            return ""
        return self.title if self.package else self.program


# The user of jobs may have a home that it cannot write, where apps keep their settings, and no shell.
# What `pip install --user` has installed in the home of the node is found as before.
_PLACE = f"""\
[ -w "${{HOME:-}}" ] || export HOME="$PWD"
case "${{SHELL:-}}" in *nologin|*false|*sync|"") export SHELL="$BASH" ;; esac
cd "${{MUSTER_WORKSPACE_{HOME.upper()}:-${{MUSTER_WORKSPACE_{WORKSPACE.upper()}:-$PWD}}}}" || exit
if [ -n "$MUSTER_WORKSPACE_{HOME.upper()}" ]; then
  [ ! -d "$HOME/.local/lib" ] || export PYTHONUSERBASE="${{PYTHONUSERBASE:-$HOME/.local}}"
  export HOME="$MUSTER_WORKSPACE_{HOME.upper()}"
fi
"""
_JUPYTER = """\
command -v jupyter-lab >/dev/null || { echo "muster: jupyter-lab is not installed here" >&2; exit 127; }
JUPYTER_TOKEN=$(cat "$MUSTER_APP_TOKEN_FILE") || exit
JUPYTER_RUNTIME_DIR=$(mktemp -d) || exit
mkdir "$JUPYTER_RUNTIME_DIR/labconfig" || exit
echo '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}' \\
  > "$JUPYTER_RUNTIME_DIR/labconfig/default_setting_overrides.json"
JUPYTER_CONFIG_PATH="$JUPYTER_RUNTIME_DIR${JUPYTER_CONFIG_PATH:+:$JUPYTER_CONFIG_PATH}"
export JUPYTER_TOKEN JUPYTER_RUNTIME_DIR JUPYTER_CONFIG_PATH
as_root=(); [ "$(id -u)" -ne 0 ] || as_root=(--allow-root)
exec jupyter-lab --no-browser "${as_root[@]}" --ServerApp.ip=127.0.0.1 \\
  --ServerApp.port="$MUSTER_PORT_APP" --ServerApp.port_retries=0 --ServerApp.root_dir="$PWD" \\
  --ServerApp.allow_remote_access=True --LabApp.news_url=
"""
_CODE_SERVER = """\
command -v code-server >/dev/null || { echo "muster: code-server is not installed here" >&2; exit 127; }
command -v python3 >/dev/null || { echo "muster: python3 is not installed here" >&2; exit 127; }
own=$(mktemp -d) || exit
code-server --socket "$own/socket" --socket-mode 0600 --auth none --disable-telemetry \\
  --disable-update-check --disable-workspace-trust --disable-getting-started-override "$PWD" &
exec python3 -I "$MUSTER_PROGRAMS/guard.py" "$MUSTER_PORT_APP" "$MUSTER_APP_TOKEN_FILE" "$own/socket"
"""
_TERMINAL = """\
command -v python3 >/dev/null || { echo "muster: python3 is not installed here" >&2; exit 127; }
exec python3 -I "$MUSTER_PROGRAMS/terminal.py" "$MUSTER_PORT_APP" "$MUSTER_APP_TOKEN_FILE"
"""
# Its own Python is named in the first line of the command, or in the second if the path is long.
_TENSORBOARD = f"""\
own=$(command -v tensorboard) || {{ echo "muster: tensorboard is not installed here" >&2; exit 127; }}
python=$(sed -n '1s/^#! *\\(.*python[^ ]*\\).*/\\1/p; 2s/^.*exec. "*\\([^" ]*\\).*/\\1/p' "$own" | head -n 1)
exec ${{python:-python3}} "$MUSTER_PROGRAMS/curves.py" "$MUSTER_APP_TOKEN_FILE" \\
  --logdir "${{MUSTER_INPUT_{DATA.upper()}:-$PWD}}" --host 127.0.0.1 --port "$MUSTER_PORT_APP" \\
  --reload_interval 5
"""

SOCKET = "MUSTER_APP_SOCKET"
GUARDED_COMMAND = f"""\
command -v python3 >/dev/null || {{ echo "muster: python3 is not installed here" >&2; exit 127; }}
own=$(mktemp -d) || exit
export {SOCKET}="$own/socket"
{{
%s
}} &
exec python3 -I "$MUSTER_PROGRAMS/guard.py" "$MUSTER_PORT_APP" "$MUSTER_APP_TOKEN_FILE" "${SOCKET}"
"""

JUPYTER = SessionTemplate(
    "jupyter",
    Message("JupyterLab", context="text, sessions"),
    Message("Notebooks, a file browser and terminals."),
    _PLACE + _JUPYTER,
    "jupyter-lab",
    "jupyterlab",
    ("quay.io/jupyter/minimal-notebook:latest", "quay.io/jupyter/pytorch-notebook:latest"),
    ready="/api/status",
    has_secret=True,
    memory="4Gi",
    version=2,
)
VSCODE = SessionTemplate(
    "vscode",
    Message("VS Code", context="text, sessions"),
    Message("An editor with terminal, debugger and extensions (code-server)."),
    _PLACE + _CODE_SERVER,
    "code-server",
    ready="/healthz",
    has_secret=True,
    memory="4Gi",
    version=2,
)
TERMINAL = SessionTemplate(
    "terminal",
    Message("Terminal", context="program"),
    Message("A shell on the node. It needs nothing but python3."),
    _PLACE + _TERMINAL,
    "python3",
    images=("docker.io/library/python:3.12",),
    ready="/status",
    has_secret=True,
    can_be_read=True,
)
TENSORBOARD = SessionTemplate(
    "tensorboard",
    Message("TensorBoard", context="text, sessions"),
    Message("Curves from event files in data or a workspace."),
    _PLACE + _TENSORBOARD,
    "tensorboard",
    "tensorboard",
    ("docker.io/tensorflow/tensorflow:latest",),
    ready="/data/environment",
    has_secret=True,
    version=2,
    can_be_read=True,
    posts=(
        "/data/plugin/scalars/scalars_multirun",
        "/data/plugin/timeseries/timeSeries",
        *(
            f"/data/plugin/hparams/{name}"
            for name in ("experiment", "session_groups", "metric_evals")
        ),
    ),
)
APP = SessionTemplate(
    "app",
    Message("Web app", context="text, sessions"),
    Message("Any program that serves HTTP on a port, such as Gradio or Streamlit."),
    _PLACE,
    has_command=True,
)
_BUILT_IN: Mapping[str, SessionTemplate] = {
    one.name: one for one in (JUPYTER, VSCODE, TERMINAL, TENSORBOARD, APP)
}


def find_template(name: str) -> SessionTemplate | None:
    return _BUILT_IN.get(name)


def title_of(name: str) -> str:
    """Return the title of a template; its name if it is gone."""
    found = find_template(name)
    return found.title if found else name


def templates() -> list[SessionTemplate]:
    return [*_BUILT_IN.values()]


def template_named(name: str) -> SessionTemplate:
    """Return a template. Raises NotFound."""
    if (found := find_template(name)) is None:
        known = ", ".join(_BUILT_IN)
        raise NotFound(
            Message("There is no template {name}. There are {known}.", name=name[:40], known=known)
        )
    return found
