"""A storm over uploads: processes of the portal and of clients are killed, and collection races.

Invariants, checked by `fsck --deep` and in the database: what a client was told is committed is
there byte for byte, every version is whole, and counts agree.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from tests.rig.environment import ROOT
from tests.rig.mlflow import python_of
from tests.rig.portal import Portal
from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder
from tests.rig.redis import start_redis

# Delete versions beyond two, and contents that no version names: each fifth time at once, else after
# half a minute, so that clients also succeed. Files after `grace` seconds, because a file is written
# before the reference to it is committed.
COLLECTOR = """
import time
from datetime import timedelta
import django
django.setup()
from datasets.models import Repository
from datasets.services import retention
from portal.blobs.files import file_store, references
from portal.core import clock
from portal.core.errors import PortalError
from workspaces.tenancy.scope import platform_scope
rounds = 0
while True:
    retention.ABANDONED = timedelta(seconds=30 if rounds % 5 else 0)
    try:
        with platform_scope("storm"):
            Repository.objects.update(keep_last=2)
            for row in Repository.objects.all():
                retention.apply_rules(row)
            for org in file_store().organizations():
                file_store().sweep(
                    org, references(org), clock.now() - timedelta(seconds={grace})
                )
        rounds += 1
        print(rounds, flush=True)
    except PortalError:
        pass
    time.sleep(2)
"""
HUB = """
import sys
from huggingface_hub import HfApi
from pathlib import Path
info = HfApi().upload_folder(
    repo_id="home/" + sys.argv[1], repo_type="dataset", folder_path=sys.argv[2]
)
print(info.oid)
"""
WEB = ("web", "worker")


@dataclass
class Outcome:
    """Result of a storm. `faults` is empty if nothing was lost."""

    kills: Counter[str] = field(default_factory=Counter)
    commits: Counter[str] = field(default_factory=Counter)
    collections: int = 0
    faults: list[str] = field(default_factory=list)
    checked: str = ""

    def text(self) -> str:
        return (
            f"kills {dict(self.kills)}, commits {dict(self.commits)}, {self.collections} "
            f"collections, faults {self.faults}\n{self.checked}"
        )


class DatasetStorm:
    """Clients upload in threads while the main thread kills parts of the portal and clients."""

    def __init__(
        self,
        folder: Folder,
        work: Path,
        *,
        seed: int,
        seconds: float,
        grace: float,
        database_url: str = "",
    ):
        self._folder, self._work, self._seconds, self._grace = folder, work, seconds, grace
        self._random = random.Random(seed)
        self.outcome = Outcome()
        redis = start_redis(folder, name=f"redis-{seed}")
        if not database_url:
            database_url = start_postgres(folder, durable=True, name=f"postgres-{seed}").url
        self._portal = Portal(
            folder,
            database_url,
            redis.url,
            name=f"portal-{seed}",
            settings={"MUSTER_API_RATE": "1000000"},
            is_furnished="MUSTER_TEST_TABLES" in os.environ,
        )
        self._clients: dict[str, subprocess.Popen[bytes]] = {}
        self._stop = threading.Event()
        self._told: dict[str, dict[str, bytes]] = {}  # commit → files that it must have

    def run(self) -> Outcome:
        self._portal.start(300)
        self._token = self._portal.token()
        try:
            collector = self._start_collector()
            threads = [
                threading.Thread(target=self._upload, args=(name, work, seed))
                for seed, (name, work) in enumerate(self._kinds().items())
            ]
            for thread in threads:
                thread.start()
            self._kill_parts()
            self._stop.set()
            for thread in threads:
                thread.join(300)
                if thread.is_alive():
                    self.outcome.faults.append("a client hangs")
            collector.kill()
            collector.wait()
            lines = self._folder.tail("collector", 200).split()
            self.outcome.collections = int(lines[-1]) if lines and lines[-1].isdigit() else 0
            self._check()
        finally:
            self._portal.stop()
        return self.outcome

    def _kinds(self) -> dict[str, Callable[[str, Path], str]]:
        return {
            "cli": self._by_cli,
            "xet": lambda name, folder: self._by_hub(name, folder, {}),
            "lfs": lambda name, folder: self._by_hub(name, folder, {"HF_HUB_DISABLE_XET": "1"}),
        }

    def _start_collector(self) -> subprocess.Popen[bytes]:
        code = COLLECTOR.format(grace=self._grace)
        env = self._portal.environment | {"PYTHONPATH": str(ROOT)}
        return self._folder.start("collector", [sys.executable, "-c", code], env=env)

    def _upload(self, kind: str, upload: Callable[[str, Path], str], seed: int) -> None:
        """Commit version after version; the client itself is killed now and then.

        The last one is after the kills: everything has recovered by itself.
        """
        chance, files = random.Random(seed), dict[str, bytes]()
        folder = self._work / kind
        folder.mkdir()
        is_last = False
        while not is_last:
            is_last = self._stop.is_set()
            for _ in range(3):
                path = f"{chance.randrange(12)}.bin"
                files[path] = chance.randbytes(chance.choice([100, 30_000, 3_000_000, 20_000_000]))
                (folder / path).write_bytes(files[path])
            expected = dict(files)
            for _ in range(20):  # it repeats until it is told that it succeeded
                commit = upload(kind, folder)
                if commit:
                    self._told[commit] = expected
                    self.outcome.commits[kind] += 1
                    break
                if self._stop.is_set() and not is_last:
                    break
                time.sleep(0.3)

    def _by_cli(self, name: str, folder: Path) -> str:
        words = ["-m", "muster", "dataset", "upload", str(folder), name, "--json"]
        env = {
            "PYTHONPATH": str(ROOT / "client"),
            "MUSTER_URL": self._portal.url,
            "MUSTER_TOKEN": self._token,
            "MUSTER_CACHE": str(self._work / "cache"),
            "MUSTER_CONFIG": str(self._work / "none"),
        }
        out = self._client(name, [sys.executable, *words], env)
        return str(json.loads(out)["commit"]) if out else ""

    def _by_hub(self, name: str, folder: Path, more: dict[str, str]) -> str:
        env = {
            "HF_ENDPOINT": f"{self._portal.url}/hf",
            "HF_TOKEN": self._token,
            "HF_HOME": str(self._work / f"hf-{name}"),
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
        } | more
        with suppress(httpx.HTTPError):
            httpx.post(
                f"{self._portal.url}/api/v1/orgs/home/datasets",
                json={"name": name, "team": "default"},
                headers={"Authorization": f"Bearer {self._token}"},
                timeout=30,
            )
        out = self._client(name, [str(python_of("hf")), "-c", HUB, name, str(folder)], env)
        return out.split()[-1] if out else ""

    def _client(self, name: str, argv: list[str], env: dict[str, str]) -> str:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "MUSTER_"))}
        process = subprocess.Popen(
            argv, env=kept | env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self._work
        )
        self._clients[name] = process
        try:
            out, _err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return ""
        return out.decode() if process.returncode == 0 else ""

    def _kill_parts(self) -> None:
        ends = time.monotonic() + self._seconds
        while time.monotonic() < ends:
            time.sleep(self._random.uniform(1.0, 4.0))
            victim = self._random.choice((*WEB, "client"))
            if victim == "client":
                running = [p for p in self._clients.values() if p.poll() is None]
                if not running:
                    continue
                self._random.choice(running).kill()
            else:
                with suppress(OSError, ValueError, psutil.Error):
                    part = psutil.Process(self._portal.part(victim))
                    for process in (*part.children(recursive=True), part):
                        process.send_signal(signal.SIGKILL)
            self.outcome.kills[victim] += 1

    def _check(self) -> None:
        """Verify everything at the end, when nobody writes."""
        faults = self.outcome.faults
        environment = self._portal.environment
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "fsck", "--deep"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        )
        self.outcome.checked = done.stdout
        if done.returncode:
            faults.append(f"fsck: {done.stdout[-3000:]} {done.stderr[-3000:]}")
        faults += self._wrong_files() + self._wrong_quotas()

    def _wrong_files(self) -> list[str]:
        """Return the files of versions that are not what their clients were told."""
        from muster import Client
        from muster.errors import NotFound

        wrong = []
        with Client(self._portal.url, self._token) as client:
            for name in self._kinds():
                with suppress(NotFound):
                    for version in client.datasets.versions(name):
                        expected = self._told.get(version["commit"])
                        if expected is None:
                            continue
                        found = {
                            row["path"]: row["sha256"]
                            for row in client.datasets.files(name, version["commit"])
                        }
                        digests = {p: hashlib.sha256(d).hexdigest() for p, d in expected.items()}
                        if found != digests:
                            wrong.append(f"{name} version {version['version']} has other files")
        return wrong

    def _wrong_quotas(self) -> list[str]:
        """Return the storage quotas that do not equal the rows."""
        code = (
            "import django; django.setup()\n"
            "from django.db.models import Sum\n"
            "from datasets.models import Content, Repository\n"
            "from workspaces.models import Quota\n"
            "from workspaces.tenancy.scope import platform_scope\n"
            "with platform_scope('storm'):\n"
            "    held = Content.objects.aggregate(n=Sum('size'))['n'] or 0\n"
            "    kept = Repository.objects.aggregate(n=Sum('stored_bytes'))['n'] or 0\n"
            "    used = list(Quota.objects.filter(resource='storage').values_list('scope', 'used'))\n"
            "    print([f'{s}: {u} of {held}' for s, u in [*used, ('rows', kept)] if u != held])\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=self._portal.environment,
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        found = done.stdout.strip().splitlines()[-1]
        return [] if found == "[]" else [f"quotas: {found}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300)
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT / "client"))
    folder = Folder()
    try:
        with tempfile.TemporaryDirectory(prefix="muster-storm-") as work:
            storm = DatasetStorm(
                folder, Path(work), seed=given.seed, seconds=given.seconds, grace=60
            )
            outcome = storm.run()
    finally:
        folder.close()
    print(outcome.text())
    return int(bool(outcome.faults))


if __name__ == "__main__":
    sys.exit(main())
