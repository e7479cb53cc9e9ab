"""A running Slurm of the rig: start and kill daemons by name, run commands."""

from __future__ import annotations

import grp
import pwd
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.rig.keeper import VARIABLE, start_keeper
from tests.rig.mariadb import start_mariadb
from tests.rig.munge import start_munge
from tests.rig.processes import Folder, RigFailure, is_listening, program, wait_until
from tests.rig.slurm_conf import CLUSTER, Plan

# Exists on every Debian with a fixed uid; owns no processes or files that a job could damage.
USER = "games"
# Likewise, for tests with several users; only in the second account.
SECOND_USER = "news"
REST_USER = "daemon"  # slurmrestd refuses root and SlurmUser
ACCOUNTS = ("atlas", "borealis")
_ACCOUNTING = [
    f"add cluster {CLUSTER}",
    "add qos high Priority=1000 Preempt=normal PreemptMode=requeue",
    (
        f"add account {','.join(ACCOUNTS)} Cluster={CLUSTER} QOS=normal,high DefaultQOS=normal "
        "Description=rig Organization=rig"
    ),
    f"add user {USER} Account={','.join(ACCOUNTS)} DefaultAccount={ACCOUNTS[0]}",
    f"add user {SECOND_USER} Account={ACCOUNTS[1]} DefaultAccount={ACCOUNTS[1]}",
    "modify user root set QOS=normal,high DefaultQOS=normal",
]
_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


@dataclass
class Slurm:
    """A running Slurm: `run` runs commands, `rest_url` and `token()` give access to REST."""

    folder: Folder
    plan: Plan
    user: str = USER
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.plan.home

    @property
    def conf(self) -> Path:
        return self.home / "slurm.conf"

    @property
    def jwt_key(self) -> Path:
        """Return the key that signs tokens (HS256, claims `exp`, `iat`, `sun`)."""
        return self.home / "jwt.key"

    @property
    def work(self) -> Path:
        """Return the world-writable working folder of commands and jobs."""
        return self.home / "work"

    @property
    def group(self) -> str:
        return grp.getgrgid(pwd.getpwnam(self.user).pw_gid).gr_name

    @property
    def nodes(self) -> list[str]:
        return self.plan.names

    @property
    def partitions(self) -> list[str]:
        """Return the default partition of all nodes, and that of the first node."""
        return ["batch", "debug"]

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.conf), "PATH": _PATH}

    @property
    def marked(self) -> dict[str, str]:
        """Return the environment of its daemons, by which the keeper identifies them."""
        return {**self.environment, VARIABLE: str(self.home)}

    @property
    def rest_url(self) -> str:
        return f"http://127.0.0.1:{self.plan.ports.slurmrestd}"

    def run(self, *argv: str, user: str | None = None, input: bytes | None = None) -> str:  # noqa: A002  (subprocess's name)
        """Run a command as root or `user`; return its output. Raises RigFailure."""
        done = subprocess.run(
            argv,
            cwd=self.work,
            env={**self.environment, "HOME": str(self.work), "USER": user or "root"},
            user=user,
            group=_group(user),
            extra_groups=[] if user else None,
            input=input if input is not None else b"",
            capture_output=True,
            check=False,
        )
        if done.returncode:
            words = (done.stderr or done.stdout).decode(errors="replace").strip()
            raise RigFailure(f"{argv[0]} ended with {done.returncode}: {words}")
        return done.stdout.decode(errors="replace")

    def token(self, user: str = "root", lifespan: int = 3600) -> str:
        """Return a JWT for slurmrestd; `lifespan` in seconds."""
        printed = self.run("scontrol", "token", f"username={user}", f"lifespan={lifespan}")
        return printed.strip().removeprefix("SLURM_JWT=")

    def save(self) -> None:
        """Wait until slurmctld has saved its current state.

        It saves at most every 5 s, and only after a change.
        """
        state, held = (
            self.home / "state" / "job_state",
            self.run("sbatch", "--parsable", "--hold", "--wrap=true", user=self.user).strip(),
        )
        began = time.time() + 0.2  # a save in progress may miss it

        def is_saved() -> bool:
            self.run("scontrol", "update", f"jobid={held}", f"comment={time.time()}")
            return state.exists() and state.stat().st_mtime > began

        wait_until(is_saved, "slurmctld saved its state", every=0.3)
        self.run("scancel", held)

    def kill_controller(self) -> None:
        """Kill slurmctld with SIGKILL: state not saved in the last 5 s is lost."""
        self._kill("slurmctld")

    def start_controller(self) -> None:
        self._start("slurmctld", ["slurmctld", "-D", "-i"], user=self.plan.slurm_user)
        self._wait("slurmctld", lambda: is_listening(self.plan.ports.slurmctld))

    def stop_rest(self) -> None:
        self._kill("slurmrestd")

    def start_rest(self) -> None:
        plugins = "openapi/v0.0.38" + (",openapi/dbv0.0.38" if self.plan.accounting else "")
        argv = ["slurmrestd", "-a", "rest_auth/jwt", "-s", plugins]
        address = f"127.0.0.1:{self.plan.ports.slurmrestd}"
        self._start("slurmrestd", [*argv, address], user=REST_USER, more={"SLURM_JWT": "daemon"})
        self._wait("slurmrestd", self._rest_answers)

    def start_keys(self) -> None:
        """Start munged, and the keeper that ends everything."""
        start_keeper(self.folder, str(self.home), f"{self.home.name}-keeper")
        start_munge(self.folder, self.home / "munge", env=self.marked)

    def start_accounting(self) -> None:
        """Start MariaDB and slurmdbd, with two accounts, the user in both, and a preempting QOS."""
        start_mariadb(self.folder, self.home / "mariadb", self.plan.ports.mariadb, env=self.marked)
        self._start("slurmdbd", ["slurmdbd", "-D"], user=self.plan.slurm_user)
        self._wait("slurmdbd", lambda: is_listening(self.plan.ports.slurmdbd))
        for line in _ACCOUNTING:
            self.run("sacctmgr", "-i", *line.split())

    def start_node(self, name: str) -> None:
        """Start one slurmd. Its jobs outlive it, as on real nodes."""
        self._start(f"slurmd-{name}", ["slurmd", "-D", "-N", name], user=None)

    def kill_node(self, name: str) -> None:
        self._kill(f"slurmd-{name}")

    def pid(self, name: str) -> int:
        """Return the pid of `slurmctld`, `slurmdbd`, `slurmrestd` or `slurmd-<node>`."""
        return self._running[name].pid

    def wait_idle(self, seconds: float = 60) -> None:
        """Wait until sinfo shows all nodes idle or, in a cloud, the partition."""
        self._wait("slurmctld", lambda: self._idle() == len(self.nodes), seconds)

    def _idle(self) -> int:
        try:
            states = self.run("sinfo", "-h", "-N", "-p", "batch", "-o", "%t").split()
        except RigFailure:  # slurmctld listens before it answers
            return 0
        return sum(state in {"idle", "idle~"} for state in states)

    def _rest_answers(self) -> bool:
        try:
            # Any response will do: an empty token is refused.
            return is_listening(self.plan.ports.slurmrestd) and bool(
                httpx.get(f"{self.rest_url}/openapi/v3", timeout=2).status_code
            )
        except httpx.HTTPError:
            return False

    def _start(
        self, name: str, argv: list[str], *, user: str | None, more: Mapping[str, str] | None = None
    ) -> None:
        command = [program(argv[0], "/usr/sbin"), *argv[1:]]
        user = None if user == "root" else user
        env = {**self.marked, **(more or {})}
        self._running[name] = self.folder.start(
            name, command, user=user, stop_by=signal.SIGKILL, env=env
        )

    def _kill(self, name: str) -> None:
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def _wait(self, name: str, condition: Callable[[], object], seconds: float = 60) -> None:
        process = self._running[name]

        def is_true() -> bool:
            if process.poll() is not None:
                raise RigFailure(f"{name} ended with {process.returncode}")
            return bool(condition())

        try:
            wait_until(is_true, f"{name} is ready", seconds, every=0.05)
        except RigFailure as failure:
            raise RigFailure(f"{failure}\n{self.folder.tail(name, 4000)}") from failure


def _group(user: str | None) -> int | None:
    return pwd.getpwnam(user).pw_gid if user else None
