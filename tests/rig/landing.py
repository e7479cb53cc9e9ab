"""The database and home of an earlier landing, with a running job, for tests of upgrades.

`python -m tests.rig.landing COMMIT` makes them anew, from that commit, for both databases. A dump is
compressed SQL; paths of the home are `@HOME@` there and in the folder of the job.
"""

from __future__ import annotations

import lzma
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import orjson
import psutil

from schedulers.local import supervisor
from tests.rig.environment import ROOT
from tests.rig.portal import Portal
from tests.rig.postgres import binary, create_database, start_postgres
from tests.rig.processes import Folder, wait_until
from tests.rig.redis import start_redis
from tests.rig.tables import CREATE, FILE

FOLDER = Path(__file__).parent / "landings"
KEY = "only the tests of upgrades know this key; it protects nothing at all"
RUNNING = 'until [ -e "$MUSTER_OUTPUT_DIR/go" ]; do echo waiting; sleep 0.2; done; echo went on'
NO_ISOLATION = (
    "import django; django.setup(); from clusters.models import Cluster;"
    "Cluster.objects.create(name='local', backend='local', config={'isolation': 'none'})"
)


@dataclass
class LandedPortal(Portal):
    """A portal that runs the code of a checkout."""

    checkout: Path = ROOT

    def command(self) -> list[str]:
        argv = super().command()
        return [argv[0], str(self.checkout / "manage.py"), *argv[2:]]


def unpack(name: str, home: Path) -> str:
    """Write the folder of the running job into a home; return the SQL of the database."""
    stored = orjson.loads(lzma.decompress((FOLDER / f"{name}.xz").read_bytes()))
    for path, text in stored["files"].items():
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(text.replace("@HOME@", str(home)))
        file.chmod(0o700)
    for folder in (home / "jobs").iterdir():
        for name in ("work", "out"):
            (folder / name).mkdir()
        for name in supervisor.ROOM:
            (folder / f"{name}.new").write_bytes(b" " * supervisor.SPARE_BYTES)
    return str(stored["sql"]).replace("@HOME@", str(home))


def make(commit: str) -> None:
    """Make the dumps of a commit."""
    with TemporaryDirectory(prefix="muster-landing-") as temporary:
        checkout = Path(temporary) / "checkout"
        _git("worktree", "add", "--detach", str(checkout), commit)
        try:
            for kind in ("sqlite", "postgresql"):
                with _servers(kind) as (folder, addresses):
                    portal = LandedPortal(folder, *addresses, checkout=checkout)
                    portal.settings = {"MUSTER_SECRET_KEY": KEY}
                    _keep(f"{commit}-{kind}", portal)
        finally:
            _git("worktree", "remove", "--force", str(checkout))


@contextmanager
def _servers(kind: str) -> Iterator[tuple[Folder, tuple[str, ...]]]:
    folder = Folder()
    try:
        addresses: tuple[str, ...] = ()
        if kind == "postgresql":
            server = start_postgres(folder, durable=False).url
            addresses = (create_database(server, "landing"), start_redis(folder).url)
        yield folder, addresses
    finally:
        folder.close()


def _keep(name: str, portal: LandedPortal) -> None:
    portal.home.mkdir()
    for program in (CREATE, NO_ISOLATION):
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=portal.checkout,
            env=portal.environment,
            check=True,
        )
    portal.start()
    headers = {"Authorization": f"Bearer {portal.token()}"}
    address = f"{portal.url}/api/v1/orgs/home/"
    with httpx.Client(base_url=address, headers=headers, timeout=60) as api:
        wait_until(lambda: api.get("nodes").json()["items"], "the node is known")
        _submit(api, {"name": "ended", "run": "echo done"})
        wait_until(lambda: _state(api, 1) == "succeeded", "the first job ended")
        _submit(api, {"name": "running", "run": RUNNING})
        wait_until(lambda: _state(api, 2) == "running", "the second job runs")
        _submit(api, {"name": "waiting", "run": "echo after", "after": [2]})
    portal.stop()
    for process in psutil.process_iter(["cmdline", "environ"]):
        words = [*(process.info["cmdline"] or []), *(process.info["environ"] or {}).values()]
        if process.pid != os.getpid() and any(str(portal.home / "jobs") in word for word in words):
            process.kill()
    sql, files = _dump(portal), {"home_id": (portal.home / "home_id").read_text()}
    for folder in (portal.home / "jobs").iterdir():
        if not (folder / "end.json").exists():
            for path in ("launch.json", "script"):
                files[f"jobs/{folder.name}/{path}"] = (folder / path).read_text()
            launch = files[f"jobs/{folder.name}/launch.json"]
            room = orjson.loads(launch)["room"]  # in memory, of this user
            shutil.rmtree(room, ignore_errors=True)
            files[f"jobs/{folder.name}/launch.json"] = launch.replace(room, f"{folder}/secrets")
            out = {"MUSTER_OUTPUT_DIR": f"{folder}/out", "MUSTER_JOB_KEY": folder.name}
            secret = {"env": {"PATH": "/usr/bin:/bin", **out}, "files": {}}
            files[f"jobs/{folder.name}/secret.json"] = orjson.dumps(secret).decode()
            files |= dict.fromkeys(
                (f"jobs/{folder.name}/output.log", f"jobs/{folder.name}/supervisor.lock"), ""
            )
    text = orjson.dumps({"sql": sql, "files": files}).decode()
    FOLDER.mkdir(exist_ok=True)
    packed = lzma.compress(text.replace(str(portal.home), "@HOME@").encode(), preset=9)
    (FOLDER / f"{name}.xz").write_bytes(packed)
    print(f"{name}: {len(packed):,} bytes")


def _dump(portal: Portal) -> str:
    if portal.database_url:
        argv = [binary("pg_dump"), "--no-owner", "--no-privileges", portal.database_url]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        return done.stdout
    with closing(sqlite3.connect(portal.home / FILE)) as database:
        return "\n".join(database.iterdump())


def _submit(api: httpx.Client, spec: dict[str, Any]) -> None:
    api.post("jobs", json={"team": "default", "spec": spec}).raise_for_status()


def _state(api: httpx.Client, number: int) -> str:
    return str(api.get(f"jobs/{number}").json()["state"])


def _git(*words: str) -> None:
    subprocess.run(["git", *words], cwd=ROOT, check=True)


if __name__ == "__main__":
    make(sys.argv[1])
