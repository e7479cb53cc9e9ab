"""Isolate local jobs from the portal and from jobs of other teams.

See docs/design/security.md. `user`: the portal is root; jobs run as a system user of their team.
`sandbox`: the portal is not root; jobs run in bubblewrap. `none`: neither works here. A level
counts as working only after a process was started with it.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from portal.core.messages import Message
from schedulers.contract import Unavailable

MEMORY = Path("/dev/shm")  # noqa: S108  below it only folders whose owner was checked are used
TREES = "trees"  # in the portal's folder: others may enter it, but not list it (datasets.staging)
# Where jobs run if the portal is root and its own folder is closed to their users.
OPEN = (Path("/var/lib/muster"), Path("/srv/muster"))
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_ETC = (
    "alternatives",
    "ca-certificates",
    "group",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "machine-id",
    "nsswitch.conf",
    "passwd",
    "pki",
    "protocols",
    "resolv.conf",
    "services",
    "ssl",
    "timezone",
)
_NO_MOUNTS = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/muster", "/proc", "/root", "/run"),
    *("/sbin", "/sys", "/usr", "/var/run"),
)
_MOST_ENTRIES = 1000  # of a folder that gets a new entry: each is an argument of bubblewrap
_ROOT_LINKS = ("bin", "sbin", "lib", "lib32", "lib64")
_PROBE_UID = 65533  # any but the portal's; never assigned to a team
_lock = threading.Lock()
_found: dict[tuple[Path, Path | None, str], Isolation] = {}


class IsolationLevel(StrEnum):
    USER = "user"
    SANDBOX = "sandbox"
    NONE = "none"


@dataclass(frozen=True)
class Isolation:
    """The isolation level in force.

    `has_mounts`: bubblewrap gives each job its own view of the file system. `why`: the reason that
    a better level does not work. `is_refused`: no job may run, since it would run as root.
    """

    level: IsolationLevel
    has_mounts: bool = False
    why: str = ""
    is_refused: bool = False

    @property
    def is_shared(self) -> bool:
        """Whether jobs of several organizations may run here."""
        return self.level is not IsolationLevel.NONE

    @property
    def text(self) -> str:
        """Describe the level in one or two sentences for people."""
        match self.level:
            case IsolationLevel.USER:
                return (
                    Message(
                        "Jobs run as a system user of their team, and do not see the portal's "
                        "files."
                    )
                    if self.has_mounts
                    else Message("Jobs run as a system user of their team.")
                )
            case IsolationLevel.SANDBOX:
                return Message(
                    "Jobs run in a sandbox (bubblewrap) with their own files and processes only."
                )
        level = (
            Message("Jobs do not run as root.")
            if self.is_refused
            else Message(
                "Jobs are not isolated from the portal, so only one organization may run jobs here."
            )
        )
        return Message.joined(" ", (level, self.why))


@dataclass(frozen=True)
class JobFileSystem:
    """The file-system view of one job.

    The job may write `own` and read `shown`, and finds the folders of `mounts` (source, path) at
    these paths, read-only unless they are its own. `data` are folders declared by the operator, `home` is the portal's
    folder, `root` that of all jobs.
    """

    root: Path
    home: Path | None
    start: Path
    own: Sequence[Path] = ()
    shown: Sequence[Path] = ()
    data: Sequence[str] = ()
    devices: Sequence[str] = ()
    mounts: Sequence[tuple[str, str]] = ()


def isolation_of(
    root: Path, home: Path | None, wanted: str = "", *, is_fresh: bool = False
) -> Isolation:
    """Return the best level that works for jobs below `root`, tested once per process.

    `wanted` allows a single level: "user", "user-plain" (without bubblewrap), "sandbox" or "none".
    `is_fresh` tests again and leaves the level in force unchanged. Raises Unavailable when the
    machine is too busy or too full to tell.
    """
    if is_fresh:
        return _find(root, home, wanted)
    key = (root, home, wanted)
    with _lock:
        if key not in _found:
            _found[key] = _find(root, home, wanted)
        return _found[key]


def command(
    isolation: Isolation, place: JobFileSystem, uid: int, *, dies_with_parent: bool = False
) -> list[str]:
    """Return the command prefix that isolates a job.

    Run it with the portal's environment, never with the job's.
    """
    drop = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs", "--"]
    if isolation.level is IsolationLevel.NONE:
        return []
    ends = ["--die-with-parent"] if dies_with_parent else []
    if isolation.level is IsolationLevel.SANDBOX:
        return ["bwrap", *ends, *_sandbox(place), "--"]
    return ["bwrap", *ends, *_view(place), "--", *drop] if isolation.has_mounts else drop


def _find(root: Path, home: Path | None, wanted: str) -> Isolation:
    why = ""
    levels = {
        "user": Isolation(IsolationLevel.USER, True),
        "user-plain": Isolation(IsolationLevel.USER),
        "sandbox": Isolation(IsolationLevel.SANDBOX, True),
    }
    usual = ("user", "user-plain") if os.geteuid() == 0 else ("sandbox",)
    for name in (wanted,) if wanted else usual:
        if name in levels and not (fault := _fault(levels[name], root, home)):
            return levels[name]
        why = why or (fault if name in levels else "")
    return Isolation(IsolationLevel.NONE, why=why, is_refused=os.geteuid() == 0 and not wanted)


def _fault(isolation: Isolation, root: Path, home: Path | None) -> str:
    """Return why a process cannot be started at this level; empty if it can."""
    needed = ["setpriv"] if isolation.level is IsolationLevel.USER else []
    for program in [*(["bwrap"] if isolation.has_mounts else []), *needed]:
        if not shutil.which(program):
            return Message(
                "Install {x} on this machine and restart Muster to change that.",
                x="bubblewrap" if program == "bwrap" else "util-linux",
            )
    if (
        isolation.level is IsolationLevel.USER
        and not isolation.has_mounts
        and (closed := _open(root, home))
    ):
        return Message(
            "Other users cannot enter {closed}: install bubblewrap, or set MUSTER_HOME to "
            "another folder.",
            closed=closed,
        )
    probe = ["/bin/sh", "-c", ": > written && ! cat ../private 2> /dev/null"]
    done = run_as_job(isolation, root, home, probe, {"PATH": os.environ.get("PATH", os.defpath)})
    message = " ".join(done.stderr.split())[:200]
    return (
        (
            f"{'bubblewrap' if isolation.has_mounts else 'setpriv'} does not work here: "
            f"{message or done.returncode}"
        )
        if done.returncode
        else ""
    )


def run_as_job(
    isolation: Isolation,
    root: Path,
    home: Path | None,
    argv: Sequence[str],
    env: Mapping[str, str],
) -> subprocess.CompletedProcess[str]:
    """Run a short command as a job would run, in a folder of its own beside a private file.

    Raises Unavailable when the machine is too busy or too full to tell.
    """
    uid = _PROBE_UID if isolation.level is IsolationLevel.USER else os.getuid()
    folder: Path | None = None
    try:
        folder = Path(tempfile.mkdtemp(prefix=".probe-", dir=root))
        prepare(isolation, folder, [folder / "work"], uid)
        (folder / "private").touch(0o600)
        place = JobFileSystem(root, home, folder / "work", own=[folder / "work"])
        return subprocess.run(
            [*command(isolation, place, uid), *argv],
            cwd=folder / "work",
            env={"HOME": str(folder / "work"), **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
            text=True,
            errors="replace",
        )
    # transient: only a definite answer rules out a level
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(
            f"The job isolation of this machine couldn't be determined: {error}"
        ) from error
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def memory_folder() -> Path | None:
    """Return an in-memory folder that only this user can change, or None.

    Other users may only traverse it.
    """
    folder = MEMORY / f"muster-{os.geteuid()}"
    if not os.path.ismount(MEMORY):
        return None
    try:
        folder.mkdir(mode=0o711, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return None
        folder.chmod(0o711)
    except OSError:
        return None
    return folder


def prepare(isolation: Isolation, folder: Path, own: Iterable[Path], uid: int) -> None:
    """Make a job's folder traversable where necessary, and chown what belongs to its user."""
    folder.chmod(
        0o711 if isolation.level is IsolationLevel.USER and not isolation.has_mounts else 0o700
    )
    for path in own:
        if not path.exists():
            path.mkdir(mode=0o700)
        if isolation.level is IsolationLevel.USER:
            os.chown(path, uid, uid)


def _open(root: Path, home: Path | None) -> str:
    """Let job users traverse, but not list or read, the portal's folder.

    Needed without mounts. Returns the parent folder that blocks them.
    """
    if home is not None and home in root.parents:
        for entry in os.scandir(home):
            is_entered = Path(entry.path) in (root, *root.parents) or entry.name == TREES
            if not is_entered and not entry.is_symlink():
                os.chmod(entry.path, entry.stat().st_mode & 0o700)
        for folder in (home, *(one for one in root.parents if home in one.parents)):
            folder.chmod(0o711)
    root.chmod(0o711)
    return str(_closed_above(root) or "")


def open_root() -> Path | None:
    """Return a new folder for jobs that the users of jobs can enter; None if there is no place."""
    for place in OPEN:
        try:
            place.mkdir(mode=0o711, exist_ok=True)
            place.chmod(0o711)  # whatever the umask
            folder = Path(tempfile.mkdtemp(prefix="jobs-", dir=place))
            folder.chmod(0o711)
        except OSError:
            continue
        if not _closed_above(folder):
            return folder
        folder.rmdir()
    return None


def is_closed(path: Path) -> bool:
    """Return whether other users cannot enter some folder above `path`."""
    return _closed_above(path) is not None


def _closed_above(path: Path) -> Path | None:
    """Return the topmost parent that other users cannot enter."""
    return next(
        (one for one in reversed(path.parents) if one.exists() and not one.stat().st_mode & 0o001),
        None,
    )


def _readable() -> list[Path]:
    """Return the parts of the portal's installation that a job may read."""
    return [Path(sys.prefix), Path(sys.base_prefix), EXAMPLES]


def _view(place: JobFileSystem) -> list[str]:
    """Return the bubblewrap options for root.

    The job sees the whole machine except for the portal's folder and other processes. A parent
    folder that other users cannot enter is replaced by an empty one that contains only what the job
    may access.
    """
    shown = [*_readable(), *place.shown]
    closed = [above for path in (*shown, *place.own) if (above := _closed_above(path))]
    wanted = {*closed, place.root, *([place.home] if place.home else [])}
    covers = sorted(one for one in wanted if not any(other in one.parents for other in wanted))
    options = [
        "--unshare-pid",
        "--unshare-ipc",
        *_machine([path for _source, path in place.mounts]),
        "--proc",
        "/proc",
        "--perms",
        "1777",
        "--tmpfs",
        str(MEMORY),
    ]
    for cover in covers:
        options += ["--tmpfs", str(cover)]
    covers.append(MEMORY)  # private, so that one job cannot fill it for all
    made = set(covers)
    for path, kind in [
        *((one, "--ro-bind-try") for one in shown),
        *((one, "--bind") for one in place.own),
    ]:
        if any(cover in path.parents for cover in covers):
            for above in reversed(path.parents):
                if above not in made and any(cover in above.parents for cover in covers):
                    options += ["--dir", str(above)]
                    made.add(above)
            options += [kind, str(path), str(path)]
    return [*options, *_mounts(place), "--chdir", str(place.start)]


def mount_fault(path: str) -> str:
    """Return why nothing can be mounted at a path of this machine; empty if it can."""
    if any(Path(path).is_relative_to(kept) for kept in _NO_MOUNTS):
        return Message("{path} belongs to the system.", path=path)
    if Path(path).is_dir() and not Path(path).is_symlink():
        return ""
    above = _deepest(path)
    if not above.is_dir() or os.path.lexists(path):
        return Message("{path} is not a folder on this machine.", path=path)
    if len(os.listdir(above)) > _MOST_ENTRIES:
        return Message("{folder} has too many entries on this machine.", folder=above)
    return ""


def _deepest(path: str) -> Path:
    """Return the deepest folder above a path that exists."""
    return next(one for one in Path(path).parents if os.path.lexists(one))


def _machine(mounts: Sequence[str]) -> list[str]:
    """Return the options that show the whole machine, with places to mount at.

    A folder that gets a new entry becomes a temporary one with the same entries, as bubblewrap
    would make the new one on the machine otherwise.
    """
    changed = sorted({_deepest(path) for path in mounts if not os.path.isdir(path)})
    options = [] if Path("/") in changed else ["--dev-bind", "/", "/"]
    for folder in changed:
        if folder != Path("/"):
            options += ["--perms", f"{folder.stat().st_mode & 0o1777:o}", "--tmpfs", str(folder)]
        for name in sorted(os.listdir(folder)):
            entry = str(folder / name)
            if os.path.islink(entry):
                options += ["--symlink", os.readlink(entry), entry]
            else:
                options += ["--dev-bind-try", entry, entry]
    return options


def _mounts(place: JobFileSystem) -> list[str]:
    options = []
    for source, path in place.mounts:
        for above in list(reversed(Path(path).parents))[1:]:
            options += ["--dir", str(above)]  # bubblewrap would close those that it makes itself
        options += ["--bind" if Path(source) in place.own else "--ro-bind", source, path]
    return options


def _sandbox(place: JobFileSystem) -> list[str]:
    """Return the bubblewrap options for a portal without root: only the machine's programs."""
    options = [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/usr",
        "/usr",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",  # noqa: S108  its own
        "--ro-bind-try",
        "/sys",
        "/sys",
    ]
    for name in _ROOT_LINKS:
        if os.path.islink(f"/{name}"):
            options += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        else:
            options += ["--ro-bind-try", f"/{name}", f"/{name}"]
    for name in _ETC:
        options += ["--ro-bind-try", os.path.realpath(f"/etc/{name}"), f"/etc/{name}"]
    for device in place.devices:
        options += ["--dev-bind-try", device, device]
    for path in (*_readable(), *place.shown):
        options += ["--ro-bind-try", str(path), str(path)]
    for data in place.data:
        options += ["--bind-try", data, data]
    for path in place.own:
        options += ["--bind", str(path), str(path)]
    return [*options, *_mounts(place), "--chdir", str(place.start)]
