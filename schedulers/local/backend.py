"""Run jobs as processes on this machine, optionally in containers.

Each job has a small supervisor that outlives the portal. A job is a folder `<root>/<key>/` (its
files are listed in supervisor.py). All state is recovered from the folders, so the portal, this
object and the supervisors may be killed at any moment.
"""

from __future__ import annotations

import glob
import json
import os
import re
import secrets
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from portal.core.messages import Message
from schedulers.contract import (
    Capability,
    DiskSpace,
    Endpoint,
    Handle,
    InputFiles,
    Launch,
    LogChunk,
    NodeFacts,
    Observation,
    OutputFolder,
    OutputRetention,
    Poll,
    Probe,
    Rejected,
    Unavailable,
    option,
)
from schedulers.exit_reasons import EndReason, ProcessEnd, classify
from schedulers.local import files, ports, processes, supervisor
from schedulers.local.interpreters import missing_names
from schedulers.local.isolation import (
    EXAMPLES,
    Isolation,
    IsolationLevel,
    JobFileSystem,
    command,
    is_closed,
    isolation_of,
    memory_folder,
    mount_fault,
    open_root,
    prepare,
)
from schedulers.local.machine import machine
from schedulers.programs import TUNNEL, with_tunnel
from schedulers.spec.names import data_variable
from schedulers.states import Reason, State

TAIL = 64 << 10
MOST_OUTPUT = 1 << 20  # output limit in bytes of a command started by `exec`
YOUNG = 2.0  # seconds for the supervisor of a new job to start
_PASSED_ON = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "SHELL",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
)
_IN_CONTAINER = "/muster/secrets"
# environment of the portal's own programs (podman, bwrap)
_HOST = (
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
)
# Only the job's own user sets these variables: LD_PRELOAD and the like would let a job run code as
# the user of the program that inherits them.
_ENTER = 'umask 022; . "$0/.env" && exec "$@"'
# Of a container that serves something: it ends with its first process.
_SERVE = """
umask 022
. "$0/.env" || exit
if command -v python3 >/dev/null; then
    python3 -I -S "$MUSTER_PROGRAMS/tunnel.py" "$MUSTER_TUNNEL_FILE" </dev/null >/dev/null 2>&1 &
fi
exec "$@"
""".strip()
_MAYBE_LOST = "the disk was full while the job ran: how much of its output is missing is not known"
_EXEC = "MUSTER_EXEC"  # marks the processes started by one `exec`
_NOT_FOUND = re.compile(rb"exec: .*not found\s*\Z")
_NVIDIA = (
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/nvidia-uvm-tools",
    "/dev/nvidia-modeset",
    "/dev/nvidia-caps",
)
_SYSTEM = ("/dev", "/etc", "/proc", "/root", "/sys")
_SECRET = ("TOKEN", "SECRET", "PASSWORD", "KEY")


@dataclass(frozen=True)
class Config:
    """Options of the local backend.

    `root`: folder of the jobs. `reserve_cpus`, `reserve_memory` (bytes): kept for the machine
    itself. `podman`: the container command with its global options; empty disables images.
    `run_options`: further ones of `podman run`. `paths` applies if the portal is not root; if it is,
    jobs see what their user may read.
    """

    root: Path
    reserve_cpus: float = 0
    reserve_memory: int = 0
    podman: tuple[str, ...] = ("podman",)
    run_options: tuple[str, ...] = ()
    home: Path | None = None  # the portal's own folder, hidden from jobs
    # require this isolation level (see isolation.py); empty: the best that works
    isolation: str = ""
    paths: tuple[str, ...] = option(
        Message("Data folders", context="setting"),
        default=(),
        is_rare=True,
        note=Message(
            "Folders of this machine that jobs in the sandbox may use, with the portal's own "
            "rights."
        ),
    )
    ports: str = option(
        Message("Ports of containers"),
        default="address",
        choices=("address", "tunnel"),
        is_rare=True,
        note=Message(
            "How the portal reaches them. address: on this machine. tunnel: through connections "
            "that containers open to the portal; images need python3."
        ),
    )


class LocalBackend:
    """The backend of the portal's own machine; see Backend for the contract."""

    name: ClassVar[str] = "local"
    title: ClassVar[str] = "this machine"
    about: ClassVar[str] = Message(
        "Run jobs on the server of this portal. Good for a workstation and for trying Muster."
    )
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {
            Capability.PLACES,
            Capability.IMAGES,
            Capability.EXEC,
            Capability.ENDPOINTS,
            Capability.INPUTS,
            Capability.USERS,
            Capability.WORKSPACES,
            Capability.DISK,
            Capability.TIME_LIMIT,
        }
    )

    sees_data: ClassVar[bool] = True

    def __init__(self, config: Config):
        self.config = config
        config.root.mkdir(mode=0o700, parents=True, exist_ok=True)

    @classmethod
    def configured(cls, options: Mapping[str, Any]) -> LocalBackend:
        """Create a backend from the stored options of a cluster; `home` is the portal's folder."""
        return cls(
            Config(
                root=Path(options.get("root") or Path(options["home"]) / "jobs"),
                reserve_cpus=options.get("reserve_cpus", 0),
                reserve_memory=options.get("reserve_memory", 0),
                podman=tuple(options.get("podman", ("podman",))),
                run_options=tuple(options.get("run_options", ())),
                home=Path(options["home"]) if options.get("home") else None,
                isolation=options.get("isolation", ""),
                paths=tuple(options.get("paths", ())),
                ports=options.get("ports") or "address",
            )
        )

    @classmethod
    def check_options(cls, options: Mapping[str, Any], home: Path) -> None:
        """Raise Rejected if `home` is below a folder that is visible to jobs."""
        home = Path(os.path.realpath(home))
        for word in options.get("paths", ()):
            if not os.path.isabs(word):
                raise Rejected(Message("{word} is not an absolute path.", word=word), "paths")
            try:
                path = Path(os.path.realpath(word))
            except OSError as error:
                raise Rejected(
                    Message(
                        "{word} cannot be opened: {strerror}.", word=word, strerror=error.strerror
                    ),
                    "paths",
                ) from error
            if path.is_relative_to(home) or home.is_relative_to(path):
                raise Rejected(
                    Message(
                        "{word} cannot be a data folder: the portal's own files are there.",
                        word=word,
                    ),
                    "paths",
                )
            if any(path.is_relative_to(one) for one in _SYSTEM):
                raise Rejected(
                    Message("{word} cannot be a data folder: it belongs to the system.", word=word),
                    "paths",
                )

    def check_inputs(self, launch: Launch) -> None:
        if launch.image:
            return
        home, is_plain = self.config.home, self._is_plain()
        for one in launch.data.inputs:
            if home and is_plain and is_closed(home):
                raise Rejected(
                    Message(
                        "Jobs cannot read inputs here: the users they run as may not enter {home}. "
                        "Install bubblewrap on this machine and restart Muster.",
                        home=home,
                    ),
                    f"inputs.{one.name}",
                )
            if one.path and not self.isolation.has_mounts:
                raise Rejected(
                    Message(
                        "Nothing can be mounted at {path} here, as jobs run without a container "
                        "and bubblewrap is not installed. Leave `path` out and read ${variable}.",
                        path=one.path,
                        variable=data_variable("MUSTER_INPUT", one.name),
                    ),
                    f"inputs.{one.name}.path",
                )
            if fault := one.path and mount_fault(one.path):
                raise Rejected(fault, f"inputs.{one.name}.path")

    # Without mounts, `check_folders` refuses what is to be read-only.
    has_private_mounts: ClassVar[bool] = True

    def check_folders(self, launch: Launch) -> None:
        apart = self.isolation
        for one in () if launch.image else launch.data.folders:
            field = f"workspaces.{one.name}"
            if apart.level is IsolationLevel.USER and not apart.has_mounts:
                raise Rejected(
                    Message(
                        "Workspaces can't be mounted here, as jobs run without a container and "
                        "bubblewrap is not installed."
                    ),
                    field,
                )
            if not apart.has_mounts and (one.path or one.read_only):
                raise Rejected(
                    Message(
                        "Without bubblewrap, a workspace is only found by ${variable}, and can be "
                        "written to. Leave `path` and `read_only` out.",
                        variable=data_variable("MUSTER_WORKSPACE", one.name),
                    ),
                    field,
                )
            if fault := one.path and mount_fault(one.path):
                raise Rejected(fault, f"{field}.path")

    @property
    def isolation(self) -> Isolation:
        return isolation_of(self.config.root, self.config.home, self.config.isolation)

    def new_options(self) -> dict[str, Any]:
        """Return options that let jobs run here which otherwise could not; usually none.

        Root's jobs need a folder outside of a home that their users cannot enter. Once there are
        jobs in the home, it stays.
        """
        is_usual = self.config.home is not None and self.config.root == self.config.home / "jobs"
        if not (self.isolation.is_refused and is_usual) or any(
            not name.startswith(".") for name in os.listdir(self.config.root)
        ):
            return {}
        folder = open_root()
        if folder is None:
            return {}
        if isolation_of(folder, self.config.home, is_fresh=True).is_refused:
            folder.rmdir()
            return {}
        return {"root": str(folder)}

    def probe(self) -> Probe:
        try:
            node = self.inventory()[0]
        except Unavailable as error:
            return Probe(False, str(error))
        apart = isolation_of(
            self.config.root, self.config.home, self.config.isolation, is_fresh=True
        )
        disk = self.disk_space()
        return Probe(
            True,
            Message.joined(
                " ",
                (
                    Message(
                        "This machine, {name}: {cpus} cores, {gpus} GPUs.",
                        name=node.name,
                        cpus=f"{node.cpus:g}",
                        gpus=len(node.gpus),
                    ),
                    apart.text,
                    node.note,
                    disk.text,
                ),
            ),
            warnings=(disk.warning,) if disk.warning else (),
        )

    def disk_space(self) -> DiskSpace:
        disk = os.statvfs(self.config.root)
        used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
        return DiskSpace(used, disk.f_bavail * disk.f_frsize)

    def inventory(self) -> Sequence[NodeFacts]:
        node = machine(self.config.reserve_cpus, self.config.reserve_memory)
        return [
            node
            if self.isolation.is_shared
            else replace(node, note=Message.joined(" ", (self.isolation.text, node.note)))
        ]

    def render(self, launch: Launch) -> str:
        env = "\n".join(
            f"{name}={'••••' if any(s in name for s in _SECRET) else value}"
            for name, value in sorted(launch.env.items())
        )
        limits = (
            f"# cpus {launch.limits.cpus:g}, memory {launch.limits.memory or 'unlimited'}, GPUs {launch.limits.gpus}, "
            f"time {launch.limits.time_limit or 'unlimited'}"
        )
        return f"{limits}\n# {' '.join(self._argv(launch))}\n\n{env}\n\n{launch.script}"

    def submit(self, launch: Launch) -> Handle:
        folder = self._folder(launch.key)
        if not folder.exists():
            if self.isolation.level is IsolationLevel.USER and not launch.identity.uid:
                raise Unavailable(Message("The job's team has no system user on this machine."))
            if self.isolation.is_refused:
                raise Unavailable(self.isolation.text)
            self._prepare(folder, launch)
        self._start_supervisor(folder)
        return self._await_pid(folder, launch.key)

    def output_of(self, key: str) -> OutputFolder:
        path = str(self._folder(key) / "out")
        return OutputFolder(path, OutputRetention.WEEK, local_path=path)

    def find(self, key: str) -> Handle | None:
        folder = self._folder(key)
        return Handle(key, _pid_of(folder)) if folder.exists() else None

    def poll(self, keys: Iterable[str]) -> Poll:
        seen, missing = [], []
        for key in keys:
            folder = self._folder(key)
            if not folder.exists():
                missing.append(key)
            elif observation := self._observe(folder, key):
                seen.append(observation)
        return Poll(seen, missing)

    def cancel(self, key: str, grace: float = 30) -> None:
        folder = self._folder(key)
        if (
            folder.exists()
            and not (folder / "end.json").exists()
            and not (folder / "cancel").exists()
        ):
            try:
                _write(folder / "cancel", str(grace))
            except OSError as error:
                raise Unavailable(
                    f"The cancellation of the job couldn't be recorded: {error.strerror or error}"
                ) from error
            self._start_supervisor(folder)

    def set_time_limit(self, key: str, seconds: int, grace: float) -> None:
        folder = self._folder(key)
        if not folder.exists() or (folder / "end.json").exists():
            raise Rejected(Message("The job is not running."))
        launch = json.loads((folder / "launch.json").read_text())
        try:
            _write(folder / "launch.json", json.dumps({**launch, "time_limit": seconds}))
        except OSError as error:
            raise Unavailable(
                f"The time limit couldn't be recorded: {error.strerror or error}"
            ) from error

    def read_log(self, key: str, after: int, limit: int = 1 << 20) -> LogChunk:
        """Return output; after a full disk an unknown part is missing, which counts as one byte."""
        folder, size = self._folder(key), 0
        try:
            with open(folder / "output.log", "rb") as file:
                data = os.pread(file.fileno(), limit, after)
                size = os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            data = b""
        except OSError as error:
            raise Unavailable(f"The log cannot be read: {error.strerror}") from error
        now = int(time.time() * 1000)
        if not data and after == size and _met_full_disk(folder):
            return LogChunk(after + 1, b"", now, _MAYBE_LOST)
        return LogChunk(after, data, now)

    def exec(self, key: str, argv: Sequence[str], timeout: float = 30) -> tuple[int, bytes]:
        """Run a command as the job's user in an equivalent sandbox, or inside its container."""
        folder = self._folder(key)
        launch = json.loads((folder / "launch.json").read_text())
        if "host" not in launch:
            raise Rejected(
                Message(
                    "The job was started by an earlier version of Muster, which doesn't support "
                    "running commands in it."
                ),
                "argv",
            )
        self._await_secrets(folder)
        mark = secrets.token_hex(16)
        inside, host = launch["beside"], {**launch["host"], _EXEC: mark}
        if launch["container"]:
            inside = [*launch["container"], "exec", f"--env={_EXEC}={mark}", key]
            host = launch["host"]
        command = [
            *inside,
            "/bin/sh",
            "-c",
            _ENTER,
            _IN_CONTAINER if launch["container"] else launch["room"],
            *argv,
        ]
        try:
            code, output = _run(command, folder / "work", host, timeout, mark)
        except subprocess.TimeoutExpired as error:
            raise Rejected(
                Message(
                    "{x} did not end within {timeout} s and was stopped.",
                    x=argv[0],
                    timeout=f"{timeout:g}",
                ),
                "argv",
            ) from error
        except OSError as error:
            raise Rejected(
                f"{argv[0]}: {(error.strerror or str(error)).lower()}", "argv"
            ) from error
        if code == 127 and _NOT_FOUND.search(output):
            raise Rejected(f"{argv[0]}: no such file or directory", "argv")
        return code if code >= 0 else 128 - code, output

    def endpoint(self, key: str, port: int) -> Endpoint:
        """Return the loopback address, if a process of the job listens there."""
        folder = self._folder(key)
        words = _words(folder)
        if len(words) < 3 or (folder / "end.json").exists():
            raise Rejected(Message("The job is not running."))
        launch = json.loads((folder / "launch.json").read_text())
        if (folder / "programs" / TUNNEL).exists():
            return Endpoint()
        if launch["container"] and (published := self._published(launch, port)):
            return published
        pid = int(words[0])
        host = ports.listens(port, [pid, *processes.tree_of(pid)]) or ports.listens(
            port, processes.leftovers(key)
        )
        if not host:
            raise Rejected(Message("Nothing in the job listens on port {port}.", port=port))
        return Endpoint(host, port)

    def _published(self, launch: Mapping[str, Any], port: int) -> Endpoint | None:
        """Return where podman publishes a port of a container; None on the machine's network.

        Raises Unavailable.
        """
        try:
            done = subprocess.run(
                [*launch["container"], "port", launch["key"], f"{port}/tcp"],
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"podman does not answer: {error}") from error
        host, _, number = done.stdout.partition("\n")[0].rpartition(":")
        return Endpoint(host, int(number)) if number.isdigit() else None

    def forget(self, key: str) -> None:
        folder = self._folder(key)
        if (folder / "end.json").exists():
            _remove_container(json.loads((folder / "launch.json").read_text())["container"], key)
            _remove(folder)
        self._remove_unfinished(key)

    def _remove_unfinished(self, key: str) -> None:
        """Remove an incomplete folder, with its secrets, left by a portal that was killed."""
        for aside in self.config.root.glob(f".{key}.*"):
            # otherwise it is still being built
            if not Path("/proc", aside.name.split(".")[2]).exists():
                _remove(aside)

    def _folder(self, key: str) -> Path:
        if not key.replace("-", "").isalnum() or len(key) > 100:
            raise Rejected(Message("This is not a valid job key."))
        return self.config.root / key

    def _prepare(self, folder: Path, launch: Launch) -> None:
        """Create the folder of a job.

        It is built under another name and renamed, so that existing folders are complete.
        """
        if launch.image and self.config.ports == "tunnel":
            launch = with_tunnel(launch)
        argv = self._argv(launch)
        aside = folder.parent / f".{launch.key}.{os.getpid()}.{time.monotonic_ns()}"
        if not launch.is_new:  # lists the folders of all jobs
            self._remove_unfinished(launch.key)
        try:
            aside.mkdir(mode=0o700)
            (aside / "script").write_text(launch.script)
            (aside / "script").chmod(0o700)
            (aside / "output.log").touch(0o600)
            _write_programs(aside / "programs", launch.data.programs)
            _write_interpreters(aside / "bin", self._missing_names(launch))
            if self._sees_no_clone(launch) and "MUSTER_EXAMPLES" in launch.script:
                _copy_examples(aside / "examples")
            prepare(
                self.isolation,
                aside,
                [aside / name for name in ("work", "out", "script", "output.log")]
                + [aside / "out" / name for name in launch.data.output_paths],
                launch.identity.uid,
            )
            (aside / "supervisor.lock").touch(0o600)
            for name in supervisor.ROOM:
                (aside / f"{name}.new").write_bytes(b" " * supervisor.SPARE_BYTES)
            _write(aside / "secret.json", json.dumps(self._secrets(folder, launch)))
            _write(aside / "launch.json", json.dumps(self._record(folder, launch, argv)))
            os.rename(aside, folder)
        except OSError as error:
            shutil.rmtree(aside, ignore_errors=True)
            # a concurrent call with this key won: keep its folder
            if not folder.exists():
                raise Unavailable(
                    f"The job's folder cannot be written: {error.strerror or error}"
                ) from error

    def _record(self, folder: Path, launch: Launch, argv: list[str]) -> dict[str, Any]:
        """Write what the supervisor and `exec` need; contains no secrets."""
        secret_folder, apart = self._secret_folder(launch), self.isolation
        has_user = apart.level is IsolationLevel.USER
        place = JobFileSystem(
            self.config.root,
            self.config.home,
            folder / "work",
            [
                folder / "work",
                folder / "out",
                *(Path(one.folder) for one in launch.data.folders if not one.read_only),
            ],
            [
                folder / "script",
                Path(secret_folder),
                *([folder / "bin"] if self._missing_names(launch) else []),
                *self._programs(launch),
                *(Path(self._tree(one)) for one in launch.data.inputs),
                *(Path(one.folder) for one in launch.data.folders if one.read_only),
            ],
            self.config.paths,
            _gpu_devices() if launch.limits.gpus else (),
            [
                *((self._tree(one), one.path) for one in launch.data.inputs if one.path),
                *((one.folder, one.path) for one in launch.data.folders if one.path),
            ],
        )
        enter = ["/bin/sh", "-c", _ENTER, secret_folder]
        return {
            "key": launch.key,
            "argv": argv
            if launch.image
            else [*command(apart, place, launch.identity.uid), *enter, *argv],
            "beside": command(apart, place, launch.identity.uid, dies_with_parent=True),
            "host": self._host(launch.key),
            "room": secret_folder,
            "files": list(launch.data.secret_files),
            "uid": launch.identity.uid if has_user else 0,
            "memory": launch.limits.memory,
            "time_limit": launch.limits.time_limit,
            "grace": launch.limits.grace,
            "gpus": list(launch.place.placement.gpu_uuids) if launch.place.placement else [],
            "affinity": [],
            "container": list(self.config.podman) if launch.image else [],
        }

    def _secrets(self, folder: Path, launch: Launch) -> dict[str, Any]:
        """Return the job's variables and secret files.

        They stay in memory from the start of the job and are deleted at its end.
        """
        secret_folder = _IN_CONTAINER if launch.image else self._secret_folder(launch)
        files = {f"{name}_FILE": f"{secret_folder}/{name}" for name in launch.data.secret_files}
        for one in launch.data.inputs:
            place = f"/muster/inputs/{one.name}" if launch.image else self._tree(one)
            files[data_variable("MUSTER_INPUT", one.name)] = place
        for mount in launch.data.folders:
            place = f"/muster/workspaces/{mount.name}" if launch.image else mount.folder
            files[data_variable("MUSTER_WORKSPACE", mount.name)] = place
        if launch.data.programs:
            files["MUSTER_PROGRAMS"] = (
                "/muster/programs" if launch.image else str(folder / "programs")
            )
        if launch.image:
            env = {
                "MUSTER_OUTPUT_DIR": "/muster/out",
                "SLURM_SUBMIT_DIR": "/muster/work",
                **self._user_env(launch, "/muster/work"),
                **launch.env,
                **files,
            }
        else:
            own = _own_env() | self._user_env(launch, str(folder / "work"))
            if self._missing_names(launch):
                own["PATH"] = f"{folder / 'bin'}:{own['PATH']}"
            env = {
                **own,
                **launch.env,
                "MUSTER_OUTPUT_DIR": str(folder / "out"),
                "SLURM_SUBMIT_DIR": str(folder / "work"),
                "PYTHONUNBUFFERED": "1",
                **files,
                **(
                    {"MUSTER_EXAMPLES": str(folder / "examples")}
                    if self._sees_no_clone(launch)
                    else {}
                ),
            }
        return {
            "env": {**env, "MUSTER_JOB_KEY": launch.key},
            "files": dict(launch.data.secret_files),
        }

    def _user_env(self, launch: Launch, work: str) -> dict[str, str]:
        """Return a writable home and a user name for a job with its own user."""
        if self.isolation.level is IsolationLevel.NONE or (
            launch.image and self.isolation.level is not IsolationLevel.USER
        ):
            return {}
        if self.isolation.level is IsolationLevel.SANDBOX:
            return {"HOME": work}
        name = f"muster-{launch.identity.uid}"
        return {"HOME": work, "USER": name, "LOGNAME": name}

    def _missing_names(self, launch: Launch) -> Mapping[str, str]:
        if launch.image:
            return {}
        home, env = self.config.home, _own_env()
        env.pop("HOME", None)
        return missing_names(self.isolation, self.config.root, home, env)

    def _host(self, key: str) -> dict[str, str]:
        return {
            **{name: os.environ[name] for name in _HOST if name in os.environ},
            "MUSTER_JOB_KEY": key,
        }

    def _tree(self, one: InputFiles) -> str:
        """Return the folder of an input, on this machine."""
        return str((self.config.home or self.config.root) / one.tree)

    def _sees_no_clone(self, launch: Launch) -> bool:
        """Return whether the user of a job can't enter the clone, so that it gets a copy of parts."""
        return self._is_plain() and not launch.image and is_closed(EXAMPLES)

    def _is_plain(self) -> bool:
        """Return whether jobs have a user of their own, but the machine's file system."""
        return self.isolation.level is IsolationLevel.USER and not self.isolation.has_mounts

    def _programs(self, launch: Launch) -> list[Path]:
        return [self._folder(launch.key) / "programs"] if launch.data.programs else []

    def _secret_folder(self, launch: Launch) -> str:
        """Return the folder of the secret files, in memory if the machine supports it."""
        return str((memory_folder() or self._folder(launch.key)) / f"secrets-{launch.key}")

    def _argv(self, launch: Launch) -> list[str]:
        script = str(self._folder(launch.key) / "script")
        if not launch.image:
            return (
                [script]
                if launch.script.startswith("#!")
                else [shutil.which("bash") or "/bin/sh", script]
            )
        if not self.config.podman or not shutil.which(self.config.podman[0]):
            raise Rejected(
                Message(
                    "This machine has no podman, so it cannot run images. Remove `image`, or "
                    "install podman."
                ),
                "image",
            )
        return [
            *self.config.podman,
            "run",
            *self._container_options(launch),
            launch.image,
            "/bin/sh",
            "-c",
            _SERVE if TUNNEL in launch.data.programs else _ENTER,
            _IN_CONTAINER,
            "/bin/sh",
            "/muster/script",
        ]

    def _container_options(self, launch: Launch) -> list[str]:
        folder = self._folder(launch.key)
        options = [
            *self.config.run_options,
            "--name",
            launch.key,
            f"--volume={folder}/script:/muster/script:ro",
            f"--volume={folder}/out:/muster/out",
            f"--volume={folder}/work:/muster/work",
            "--workdir=/muster/work",
            f"--volume={self._secret_folder(launch)}:{_IN_CONTAINER}:ro",
            f"--cpus={launch.limits.cpus:g}",
            "--env=MUSTER_JOB_KEY",
        ]
        # podman chooses the ports of the machine, as other jobs may listen on the same
        if self.config.ports == "address":
            options += [f"--publish=127.0.0.1::{port.number}" for port in launch.network.ports]
        options += [f"--volume={one}:/muster/programs:ro" for one in self._programs(launch)]
        for one in launch.data.inputs:
            for path in filter(None, (f"/muster/inputs/{one.name}", one.path)):
                options.append(f"--volume={self._tree(one)}:{path}:ro")
        for name, path in launch.data.output_paths.items():
            options.append(f"--volume={folder}/out/{name}:{path}")
        for mount in launch.data.folders:
            for path in filter(None, (f"/muster/workspaces/{mount.name}", mount.path)):
                how = "ro" if mount.read_only else "rw"
                options.append(f"--volume={mount.folder}:{path}:{how}")
        if self.isolation.level is IsolationLevel.USER:
            options += [
                f"--user={launch.identity.uid}:{launch.identity.uid}",
                "--security-opt=no-new-privileges",
            ]
        if launch.limits.memory:
            options.append(f"--memory={launch.limits.memory}")
        if launch.limits.shm_size:
            options.append(f"--shm-size={launch.limits.shm_size}")
        if launch.place.placement:
            options += [
                f"--device=nvidia.com/gpu={uuid}" for uuid in launch.place.placement.gpu_uuids
            ]
        return options

    def _start_supervisor(self, folder: Path) -> None:
        """Start a detached supervisor.

        If one is already running it holds the folder's lock, and the new one exits.
        """
        try:
            subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    "-c",
                    supervisor.BOOT,
                    supervisor.__file__,
                    str(folder),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.environ.get("PATH", "")},
                close_fds=True,
            ).wait(10)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"No process can be started on this machine: {error}") from error

    def _await_pid(self, folder: Path, key: str) -> Handle:
        """Wait for the process ID, which the supervisor writes within milliseconds.

        Distinguishes a busy machine from a failure.
        """
        for _ in range(500):
            if (pid := _pid_of(folder)) or (folder / "end.json").exists():
                return Handle(key, pid)
            time.sleep(0.01)
        raise Unavailable(Message("The job's supervisor did not start within 5 s."))

    def _await_secrets(self, folder: Path) -> None:
        """Wait for the variables of a job that is just starting."""
        for _ in range(200):
            if not (folder / "secret.json").exists():
                return
            time.sleep(0.01)
        raise Rejected(Message("The job is still starting. Try again in a moment."), "argv")

    def _observe(self, folder: Path, key: str) -> Observation | None:
        if (folder / "end.json").exists():
            return self._ended(folder, key)
        words = _words(folder)
        if len(words) < 3:
            self._restart_supervisor(folder)
            return Observation(key, State.STARTING, "starting")
        if not supervisor_alive(folder):
            # the supervisor was killed: a new one adopts the job, or records its end
            self._start_supervisor(folder)
        is_stopping = (folder / "cancel").exists()
        return Observation(
            key,
            State.STOPPING if is_stopping else State.RUNNING,
            "running",
            native_id=words[0],
            started_at=_time(float(words[2])),
            node=os.uname().nodename,
        )

    def _restart_supervisor(self, folder: Path) -> None:
        """Start a supervisor unless one is just starting: each costs an interpreter."""
        if abs(
            time.time() - (folder / "launch.json").stat().st_mtime
        ) > YOUNG and not supervisor_alive(folder):
            self._start_supervisor(folder)

    def _ended(self, folder: Path, key: str) -> Observation:
        end = json.loads((folder / "end.json").read_text())
        launch = json.loads((folder / "launch.json").read_text())
        if end["exit_code"] is None and not end["asked"] and not end["over_memory"]:
            return self._vanished(folder, key, end)
        verdict = self._image_trouble(launch, end, folder) or classify(
            ProcessEnd(
                exit_code=end["exit_code"],
                signal=end["signal"],
                tail=_tail(folder),
                asked=end["asked"],
                peak=end["peak"],
                limit=launch["memory"],
                is_over_memory=end["over_memory"],
                time_limit=launch["time_limit"],
            )
        )
        left = (
            Message(" {left} processes that it left behind were ended.", left=end["left"])
            if end["left"]
            else ""
        )
        left += (
            Message(
                " The disk was full while it ran: what it wrote then may be missing, in its "
                "output and its files."
            )
            if end.get("disk_full")
            else ""
        )
        if end.get("disk_full") and verdict.reason == Reason.USER_ERROR:
            verdict = replace(verdict, reason=Reason.DISK_FULL)
        return Observation(
            key,
            verdict.reason.final_state,
            f"exit {end['exit_code']}",
            reason=verdict.reason,
            exit_code=end["exit_code"],
            signal=_signal(end),
            evidence=Message.joined("", (verdict.evidence, left)),
            started_at=_time(end["started"]),
            finished_at=_time(end["finished"]),
            node=os.uname().nodename,
            peak_memory=end["peak"] or None,
            native_id=_pid_of(folder),
            image_digest=self._image_digest(launch)
            if verdict.reason == Reason.NO_KERNEL_IMAGE
            else "",
        )

    def _vanished(self, folder: Path, key: str, end: Mapping[str, Any]) -> Observation:
        """Observe a job whose shell left no exit code.

        The shell was killed together with the job, or the machine restarted.
        """
        words = _words(folder)
        rebooted = bool(words) and _boot_time() > float(words[2])
        reason = Reason.NODE_FAILED if rebooted else Reason.KILLED_BY_SIGNAL
        evidence = (
            Message("The machine was restarted while the job was running.")
            if rebooted
            else Message(
                "All its processes were killed by SIGKILL from outside: by a person, or by the "
                "kernel when memory ran out."
            )
        )
        return Observation(
            key,
            reason.final_state,
            "vanished",
            reason=reason,
            signal=None if rebooted else 9,
            evidence=evidence,
            started_at=_time(end["started"]),
            finished_at=_time(end["finished"]),
            node=os.uname().nodename,
        )

    def _image_trouble(
        self, launch: Mapping[str, Any], end: Mapping[str, Any], folder: Path
    ) -> Any:
        if not launch["container"] or end["asked"]:
            return None
        if end["exit_code"] == 125:
            lines = [line for line in _tail(folder).splitlines() if line.strip()]
            return EndReason(
                Reason.IMAGE_UNAVAILABLE,
                lines[-1][:500] if lines else "podman could not start the image.",
            )
        if end["exit_code"] == 137 and self._was_oom(launch):
            return EndReason(
                Reason.OUT_OF_MEMORY,
                Message(
                    "The kernel stopped the container at its limit of {x} MiB.",
                    x=launch["memory"] >> 20,
                ),
            )
        return None

    def _was_oom(self, launch: Mapping[str, Any]) -> bool:
        return self._inspected(launch, "{{.State.OOMKilled}}") == "true"

    def _image_digest(self, launch: Mapping[str, Any]) -> str:
        digest = self._inspected(launch, "{{.ImageDigest}}") if launch["container"] else ""
        return digest if digest.startswith("sha256:") else ""

    def _inspected(self, launch: Mapping[str, Any], what: str) -> str:
        done = subprocess.run(
            [*launch["container"], "inspect", "--format", what, launch["key"]],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
        return done.stdout.strip()


def _own_env() -> dict[str, str]:
    """Return the portal's variables that jobs get, with its Python after the machine's own."""
    own = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    path = (os.environ.get("PATH", os.defpath), os.path.join(sys.prefix, "bin"))
    return own | {"PATH": ":".join(path)}


def _remove_container(podman: Sequence[str], key: str) -> None:
    """Remove the layer and the record that podman keeps of an ended container."""
    if podman and shutil.which(podman[0]):
        try:
            subprocess.run(
                [*podman, "rm", "--force", "--ignore", key],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=20,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise Unavailable(
                "podman couldn't remove the job's container. Muster will try again."
            ) from error


def supervisor_alive(folder: Path) -> bool:
    """Return whether a supervisor holds the folder's lock."""
    import fcntl

    try:
        with open(folder / "supervisor.lock", "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _gpu_devices() -> list[str]:
    return [*sorted(glob.glob("/dev/nvidia[0-9]*")), *_NVIDIA]


def _words(folder: Path) -> list[str]:
    try:
        return (folder / "pid").read_text().split()
    except FileNotFoundError:
        return []


def _run(
    command: Sequence[str], folder: Path, env: Mapping[str, str], timeout: float, mark: str
) -> tuple[int, bytes]:
    """Run a command; returns its exit code and at most MOST_OUTPUT bytes of output.

    A command that writes more or takes longer is killed with all its processes. Raises OSError,
    subprocess.TimeoutExpired.
    """
    deadline, output, is_over = time.monotonic() + timeout, bytearray(), False
    with subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        try:
            while len(output) < MOST_OUTPUT:
                if not select.select(
                    [process.stdout], [], [], max(0.0, deadline - time.monotonic())
                )[0]:
                    raise subprocess.TimeoutExpired(command, timeout)
                if not (data := os.read(process.stdout.fileno(), 1 << 16)):
                    process.wait(max(0.0, deadline - time.monotonic()))
                    is_over = True
                    return process.returncode, bytes(output)
                output += data
        finally:
            if not is_over:
                process.kill()
                _end_marked(mark)
    return process.returncode, bytes(
        output[:MOST_OUTPUT]
    ) + b"\n(The rest of the output was left out, and the command ended.)\n"


def _end_marked(mark: str) -> None:
    """Kill all processes with this mark, including those forked meanwhile."""
    for _ in range(20):
        if not (found := processes.leftovers(mark, _EXEC)):
            return
        for pid in found:
            processes.kill(pid, signal.SIGKILL)


def _remove(folder: Path) -> None:
    """Remove a folder of any depth: Python's rmtree is limited by its recursion."""
    subprocess.run(
        ["rm", "-rf", "--", str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )


def _pid_of(folder: Path) -> str:
    return next(iter(_words(folder)), "")


def _met_full_disk(folder: Path) -> bool:
    """Return whether a job has ended and the disk was full while it ran."""
    try:
        return bool(json.loads((folder / "end.json").read_text()).get("disk_full"))
    except FileNotFoundError:
        return False


def _tail(folder: Path) -> str:
    with open(folder / "output.log", "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - TAIL, 0))
        return file.read().decode(errors="replace")


def _signal(end: Mapping[str, Any]) -> int | None:
    code = end["exit_code"]
    return end["signal"] or (code - 128 if code and 128 < code < 193 else None)


def _boot_time() -> float:
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _write(path: Path, text: str) -> None:
    files.write(str(path), text)


def _copy_examples(folder: Path) -> None:
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _write_interpreters(folder: Path, scripts: Mapping[str, str]) -> None:
    """Write the names of Python that a job would not find otherwise."""
    if scripts:
        folder.mkdir()
        folder.chmod(0o755)
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}")
        (folder / name).chmod(0o755)


def _write_programs(folder: Path, programs: Mapping[str, bytes]) -> None:
    """Write the programs that travel with the job; they stay the portal's."""
    if programs:
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
    for name, content in programs.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o644)
