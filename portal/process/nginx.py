"""nginx, the component of the server stack that accepts all connections.

It limits slow clients and large requests; `deploy/nginx-server.conf` has the rules. The
configuration written here adds what depends on the installation.
"""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path

from portal.process.limits import raise_file_limit
from portal.process.words import Refusal
from portal.settings import env

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
RULES, FILES = DEPLOY / "nginx-server.conf", DEPLOY / "nginx-files.conf"
APPS = DEPLOY / "nginx-apps.conf"
_DIRECT = "set $muster_scheme $scheme;"
# The last address of X-Forwarded-For, which the proxy has written.
_BEHIND_PROXY = """\
set_real_ip_from 0.0.0.0/0;
        set_real_ip_from ::/0;
        real_ip_header X-Forwarded-For;
        set $muster_scheme $http_x_forwarded_proto;"""


def find_nginx() -> str:
    """Return the path of the program. Raises Refusal if nginx is not installed."""
    # On Debian it is in a directory that only root has in PATH.
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin"
    if program := shutil.which("nginx", path=path):
        return program
    raise Refusal(
        "Server mode needs nginx. On Debian and Ubuntu: apt install nginx-light\n"
        "`make run` starts the embedded portal without it."
    )


def write_configuration(folder: Path, sockets: Path, host: str, port: int) -> Path:
    """Write the configuration into `folder`, where nginx also buffers, and return its path.

    `sockets` contains the Unix sockets of the web, uploads, live and gateway processes.
    """
    workspaces = env.text("MUSTER_WORKSPACES", f"{folder.parent}/workspaces")

    (folder / "nginx").mkdir(mode=0o700, parents=True, exist_ok=True)
    listen = f"[{host}]:{port} ipv6only=off" if ":" in host else f"{host}:{port}"
    # By default, root's nginx works as another user, who may not open the sockets.
    user = f"user {pwd.getpwuid(0).pw_name};" if os.geteuid() == 0 else ""
    client = _BEHIND_PROXY if env.flag("MUSTER_BEHIND_PROXY") else _DIRECT
    apps = _apps_server(env.text("MUSTER_APPS_HOST"), listen, client)
    path = folder / "nginx.conf"
    path.write_text(
        f"""\
{user}
pid "{folder}/nginx.pid";
error_log stderr error;
daemon off;
worker_processes 1;
events {{ worker_connections 8192; }}
http {{
    access_log off;
    server_tokens off;
    client_body_temp_path "{folder}/nginx/body";
    proxy_temp_path "{folder}/nginx/proxy";
    fastcgi_temp_path "{folder}/nginx/fastcgi";
    uwsgi_temp_path "{folder}/nginx/uwsgi";
    scgi_temp_path "{folder}/nginx/scgi";
    limit_conn_zone $muster_address zone=muster:1m;
    upstream muster_web {{ server "unix:{sockets}/web.sock"; keepalive 32; }}
    upstream muster_uploads {{ server "unix:{sockets}/uploads.sock"; }}
    upstream muster_live {{ server "unix:{sockets}/live.sock"; }}
    upstream muster_gateway {{ server "unix:{sockets}/gateway.sock"; keepalive 32; }}
    server {{
        listen {listen} backlog=2048;
        {client}
        include "{RULES}";
        set $muster_files "{folder.parent}/blobs/files/";
        set $muster_workspaces "{workspaces.rstrip("/")}/";
        include "{FILES}";
    }}
    {apps}
}}
"""
    )
    return path


def _apps_server(apps_host: str, listen: str, client: str) -> str:
    """Return the `server` block of apps with an origin of their own, if there are any."""
    name = apps_host.removeprefix("*.").partition(":")[0]
    return (
        f"""server {{
        listen {listen};
        server_name *.{name};
        {client}
        include "{APPS}";
    }}"""
        if name
        else ""
    )


def run_nginx(configuration: Path) -> None:
    """Replace this process with nginx."""
    raise_file_limit()
    program = find_nginx()
    os.execv(program, [program, "-e", "stderr", "-c", str(configuration)])  # noqa: S606  argv, no shell
