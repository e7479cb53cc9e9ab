"""Real MLflow clients and MLflow's own server, in environments of their own (see the Makefile)."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx

from tests.rig.environment import ROOT
from tests.rig.postgres import create_database
from tests.rig.processes import Folder, RigFailure, free_port, is_listening, wait_until

PROGRAMS = ROOT / "tests" / "experiments" / "mlflow" / "programs"


def python_of(name: str) -> Path:
    """Return the interpreter of an environment, such as `mlflow3`. Raises RigFailure."""
    found = ROOT / f".venv-{name}" / "bin" / "python"
    if not found.exists():
        raise RigFailure(f"{found} is missing: make .venv-{name}/.stamp")
    return found


@dataclass(frozen=True)
class MlflowClient:
    """An MLflow client whose programs run against one tracking server."""

    environment: str
    uri: str
    folder: Path
    token: str = ""

    def run(self, program: str, *arguments: str, seconds: float = 240) -> Any:
        """Run a program of `programs/` and return what it prints last, as JSON.

        Raises RigFailure with its output.
        """
        return json.loads(self.output(program, *arguments, seconds=seconds).splitlines()[-1])

    def output(
        self, program: str, *arguments: str, folder: Path = PROGRAMS, seconds: float = 240
    ) -> str:
        """Run a program and return what it prints. Raises RigFailure with its output."""
        done = subprocess.run(
            [python_of(self.environment), folder / program, *arguments],
            cwd=self.folder,
            env=self.variables(),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        if done.returncode:
            raise RigFailure(f"{program} failed:\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
        return done.stdout

    def variables(self) -> dict[str, str]:
        """Return the environment variables of a program."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("MLFLOW_", "MUSTER_"))}
        return kept | {
            "MLFLOW_TRACKING_URI": self.uri,
            "MLFLOW_TRACKING_TOKEN": self.token,
            "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # a fault fails at once
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false",
            "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
            "GIT_PYTHON_REFRESH": "quiet",
            "HOME": str(self.folder),
        }


MLFLOW_USER, MLFLOW_PASSWORD = "admin", "a long password for tests"
_USERS = """
[mlflow]
default_permission = READ
database_uri = {url}
admin_username = {user}
admin_password = {password}
authorization_function = mlflow.server.auth:authenticate_request_basic_auth
auth_cache_ttl_seconds = 60
"""


def start_mlflow_server(folder: Folder, postgres_url: str = "", *, workers: int = 1) -> str:
    """Start MLflow's own server and return its address.

    It is on SQLite and open to everyone; with `postgres_url`, on new databases of that server, with
    users (MLFLOW_USER) whose passwords it caches.
    """
    port, home = free_port(), folder.path / "mlflow"
    home.mkdir(exist_ok=True)
    store, users, environment = f"sqlite:///{home}/mlflow.db", (), {}
    if postgres_url:
        store, accounts = (
            create_database(postgres_url, name).replace("postgres:", "postgresql+psycopg2:", 1)
            for name in ("mlflow", "mlflow_users")
        )
        config = home / "users.ini"
        config.write_text(_USERS.format(url=accounts, user=MLFLOW_USER, password=MLFLOW_PASSWORD))
        users = ("--app-name", "basic-auth")
        environment = {
            "MLFLOW_AUTH_CONFIG_PATH": str(config),
            "MLFLOW_FLASK_SERVER_SECRET_KEY": token_hex(),
        }
    process = folder.start(
        "mlflow-server",
        [
            *(str(python_of("mlflow3")), "-m", "mlflow", "server", "--workers", str(workers)),
            *("--backend-store-uri", store, *users),
            *("--artifacts-destination", str(home / "artifacts"), "--port", str(port)),
        ],
        env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", **environment},
    )
    url = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        if process.poll() is not None:
            raise RigFailure(f"MLflow's server ended:\n{folder.tail('mlflow-server', 6000)}")
        try:
            return is_listening(port) and httpx.get(f"{url}/health", timeout=2).is_success
        except httpx.HTTPError:
            return False

    wait_until(answers, f"MLflow's server answers (its log is in {folder.path})", 180)
    return url
