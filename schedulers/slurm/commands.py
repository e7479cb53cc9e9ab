"""Access Slurm through its commands."""

from __future__ import annotations

import pwd
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from portal.core.messages import Message
from schedulers.contract import (
    NodeFacts,
    Rejected,
    ReservationFacts,
    ReservationRequest,
    Unavailable,
)
from schedulers.slurm import nodes, reservations, usage
from schedulers.slurm.errors import failure, is_unknown_job
from schedulers.slurm.limits import ASSOC, QOS, SlurmLimits, assoc_lines, qos_lines
from schedulers.slurm.queue import QUEUE, Queued, queue_lines
from schedulers.slurm.request import Request
from schedulers.slurm.rows import LISTING, SACCT, SQUEUE, STEPS, Row, SqueueParser, sacct_rows
from schedulers.slurm.show import records
from schedulers.slurm.transport import LocalTransport, SshTransport
from schedulers.slurm.usage import LimitUsage, parse_usage

# seconds; sbatch waits for a busy controller, and a lookup by key tells whether it took the job
_PATIENCE = 20
_BY_NAME = 50  # with more keys than this, list all jobs of the user
# Of several matches the first: a comment, which may contain anything, comes later.
_EXIT = re.compile(r"^ +Requeue=\d.* ExitCode=(\d+:\d+)", re.MULTILINE)
_BY = re.compile(r"CANCELLED by (\d+)")
_SRUN_ENDS = re.compile(rb"srun: error: .*Exited with exit code \d+$")
_NO_ACCOUNTING = (
    "accounting storage is disabled",
    "slurm_persist_conn_open",
    "not running slurmdbd",
)


@dataclass(frozen=True)
class Commands:
    """Access to Slurm through sbatch, squeue, sacct, scancel and scontrol.

    `user` owns the jobs by default, and `users` are further owners. With `is_root` commands run
    directly as any of them; otherwise through sudo.
    """

    runner: LocalTransport | SshTransport
    user: str
    users: tuple[str, ...] = ()
    is_root: bool = False
    listing: SqueueParser = field(default_factory=SqueueParser, compare=False, repr=False)

    def submit(self, request: Request, script: str) -> int:
        user = (request.user or self.user) if self.is_root else ""
        argv = sbatch(request, user if user != "root" else "")
        out = self.runner.run(self._as(request.user, argv), script.encode(), timeout=_PATIENCE)
        return int(out.decode().strip().partition(";")[0])

    def jobs(self, keys: Sequence[str], *, is_whole: bool = False) -> list[Row]:
        """Return the jobs that slurmctld knows, with one call.

        These include jobs that ended within MinJobAge.
        """
        whose = [f"--user={','.join((self.user, *self.users))}"] if self.user else ["--me"]
        names = [f"--name={','.join(keys)}"] if len(keys) <= _BY_NAME else []
        form = SQUEUE if names else LISTING
        out = self.runner.run(
            ["squeue", "--noheader", "--states=all", *whose, *names, f"--format={form.text}"]
        )
        return SQUEUE.rows(out) if names else self.listing.rows(out)

    def past(self, keys: Sequence[str], days: int = 31) -> list[Row]:
        """Return the jobs from accounting; empty without accounting."""
        rows = []
        for at in range(0, len(keys), _BY_NAME):
            some = keys[at : at + _BY_NAME]
            jobs = self._accounted(some, days, "--allocations", f"--format={SACCT}")
            if jobs:
                rows += sacct_rows(jobs, self._accounted(some, days, f"--format={STEPS}"))
        return rows

    def _accounted(self, keys: Sequence[str], days: int, *options: str) -> str:
        """Return what sacct prints about these jobs; empty without accounting."""
        argv = [
            "sacct",
            "--noheader",
            "--parsable2",
            f"--starttime=now-{days}days",
            f"--name={','.join(keys)}",
            *([f"--user={','.join((self.user, *self.users))}"] if self.user else []),
            *options,
        ]
        code, out, err = self.runner.run_all(argv)
        words = err.decode(errors="replace")
        if code and any(text in words.lower() for text in _NO_ACCOUNTING):
            return ""
        if code:
            raise failure(words)
        return out.decode(errors="replace")

    def queue(self) -> list[Queued]:
        """Return the unfinished jobs of all users, as far as visible."""
        return queue_lines(self.runner.run(["squeue", "--all", "--noheader", f"--Format={QUEUE}"]))

    def limits(self) -> SlurmLimits:
        """Return the limits of accounts and QOS. Raises Unavailable without accounting."""
        cluster = self._config("ClusterName")
        show = ["sacctmgr", "--noheader", "--parsable2", "show"]
        return SlurmLimits(
            assoc_lines(
                "\n".join(
                    self._lines([*show, "associations", f"cluster={cluster}", f"format={ASSOC}"])
                ),
                cluster,
            ),
            qos_lines("\n".join(self._lines([*show, "qos", f"format={QOS}"]))),
            nodes.qos_of_partitions("\n".join(self._lines(["scontrol", "show", "partition"]))),
        )

    def limit_usage(self, jobs: Sequence[Queued], limits: SlurmLimits) -> LimitUsage:
        return parse_usage("\n".join(self._lines(usage.request(jobs, limits))))

    def _lines(self, argv: list[str]) -> list[str]:
        return self.runner.run(argv).decode(errors="replace").splitlines()

    def exit_of(self, number: int) -> str:
        """Return Slurm's "code:signal" of a job that it still knows, else ""."""
        code, out, _ = self.runner.run_all(["scontrol", "show", "job", str(number)])
        found = _EXIT.search(out.decode(errors="replace")) if not code else None
        return found[1] if found else ""

    def canceled_by(self, key: str, number: int) -> str | None:
        """Return the user of "CANCELLED by 1000"; the number if this machine does not know it."""
        options = ["--allocations", f"--jobs={number}", "--format=JobIDRaw,State"]
        if not self._has_accounting():
            return ""
        for line in self._accounted([key], 31, *options).splitlines():
            job, _, state = line.partition("|")
            if job == str(number) and state.startswith("CANCELLED"):
                return self._user(match[1]) if (match := _BY.fullmatch(state)) else ""
        return None

    def _has_accounting(self) -> bool:
        kind = self._config("AccountingStorageType")
        return bool(kind) and not kind.endswith("/none")

    def _user(self, uid: str) -> str:
        code, out, _ = self.runner.run_all(["id", "-nu", uid])
        name = out.decode(errors="replace").strip()
        return name if name and not code else f"UID {uid}"

    def _config(self, name: str) -> str:
        """Return a value of Slurm's configuration, or ""."""
        lines = self._lines(["scontrol", "show", "config"])
        found = (line.partition("=") for line in lines)
        return next((value.strip() for key, _, value in found if key.strip() == name), "")

    def remark(self, number: int, comment: str, whose: str = "") -> None:
        self._change(["scontrol", "update", f"jobid={number}", f"comment={comment}"], whose)

    def set_minutes(self, number: int, minutes: int) -> None:
        self.runner.run(["scontrol", "update", f"jobid={number}", f"timelimit={minutes}"])

    def ask_to_end(self, number: int, whose: str = "") -> None:
        """Send SIGTERM to the batch script, which stops the job."""
        self._change(["scancel", "--batch", "--signal=TERM", str(number)], whose)

    def kill(self, number: int, whose: str = "") -> None:
        self._change(["scancel", "--full", "--signal=KILL", str(number)], whose)

    def cancel(self, number: int, whose: str = "") -> None:
        self._change(["scancel", str(number)], whose)

    def nodes(self) -> list[NodeFacts]:
        out = self.runner.run(["scontrol", "show", "node", "--details"])
        return nodes.from_scontrol(out.decode(errors="replace"), self._running)

    def _running(self) -> list[tuple[str, str]]:
        """Return TRES per node and nodes of all running jobs."""
        states = "--states=running,suspended,completing"
        columns = "--Format=tres-per-node:|,NodeList:|"
        lines = self._lines(["squeue", "--all", "--noheader", states, columns])
        return [(tres, names) for tres, names, *_ in (f"{line}||".split("|") for line in lines)]

    def drain(self, node: str, why: str) -> None:
        self.runner.run(["scontrol", "update", f"nodename={node}", "state=drain", f"reason={why}"])

    def resume(self, node: str) -> None:
        self.runner.run(["scontrol", "update", f"nodename={node}", "state=resume"])

    def way_to_keep(self, kind: str) -> str:
        return ""

    def reserve(self, request: ReservationRequest, users: str, accounts: str) -> None:
        """Create a reservation, or change that with this name."""
        is_known = bool(self.reservations(request.name))
        make = reservations.changed if is_known else reservations.created
        self._reservation(make(request, users, accounts))

    def unreserve(self, name: str) -> None:
        """Delete a reservation; its jobs go on outside, as one in use cannot be deleted."""
        if not self.reservations(name):
            return
        listing = ["squeue", "--all", "--noheader", f"--reservation={name}", "--format=%A"]
        for number in sorted(set(self.runner.run(listing).decode().split())):
            self._change(["scontrol", "update", f"jobid={number}", "ReservationName="], "")
        self._reservation(["scontrol", "delete", f"ReservationName={name}"])

    def reservations(self, prefix: str) -> list[ReservationFacts]:
        out = self.runner.run(["scontrol", "show", "reservation"])
        return reservations.parsed(out.decode(errors="replace"), prefix)

    def partition_accounts(self, partition: str) -> str:
        """Return AllowAccounts of a partition: names, or ALL. Raises Rejected if it is unknown."""
        text = "\n".join(self._lines(["scontrol", "show", "partition", partition]))
        found = records(text, "PartitionName")
        return found[0].get("AllowAccounts", "ALL") if found else "ALL"

    def open_partition(self, partition: str, accounts: str) -> None:
        """Allow only these accounts in a partition."""
        self._reservation(
            ["scontrol", "update", f"PartitionName={partition}", f"AllowAccounts={accounts}"]
        )

    def _reservation(self, argv: list[str]) -> None:
        code, out, err = self.runner.run_all(argv)
        text = (err or out).decode(errors="replace")
        if code and not reservations.is_unknown(text):
            raise reservations.refusal(text)

    def reconfigure(self) -> None:
        self.runner.run(["scontrol", "reconfigure"])

    def version(self) -> str:
        """Return the version of the controller."""
        return self._config("SLURM_VERSION")

    def check_owner(self, user: str) -> None:
        code, _, err = self.runner.run_all(["id", "-u", user])
        if code:
            raise Rejected(
                Message(
                    "There is no user {user} where Slurm's commands run ({said}). Check the name.",
                    user=user,
                    said=err.decode(errors="replace").strip()[:200],
                ),
                "user",
            )

    def check_user(self, user: str) -> None:
        if self.is_root:
            code, _, err = self.runner.run_all(["true"], user=user)
        else:
            code, _, err = self.runner.run_all(self._as(user, ["true"]))
        if code:
            raise Rejected(
                f"Jobs cannot be submitted as {user}: {err.decode(errors='replace').strip()[:300]}",
                "users",
            )

    def beside(
        self, number: int, folder: str, argv: Sequence[str], timeout: float, whose: str = ""
    ) -> tuple[int, bytes]:
        """Run a command in the allocation of a job, with its folder and variables."""
        shell = '. "$1/variables"; cd "$1/work" || exit 125; shift; exec "$@"'
        where = ["--overlap", f"--jobid={number}", "--nodes=1", "--ntasks=1", "--input=none"]
        command = ["srun", "--quiet", *where, "bash", "-c", shell, "sh", folder, *argv]
        user = (whose or self.user) if self.is_root else ""
        code, out, err = self.runner.run_all(
            self._as(whose, command),
            timeout=timeout,
            user=user if user not in ("", "root") else None,
        )
        if code and not out and b"Unable to contact slurm controller" in err:
            raise failure(err.decode(errors="replace"))
        return code, out + b"".join(
            line for line in err.splitlines(True) if not _SRUN_ENDS.match(line)
        )

    def _as(self, user: str, argv: list[str]) -> list[str]:
        """Prefix a command with sudo if it must run as another user.

        Keeps the variables that select the Slurm cluster.
        """
        if self.is_root or user not in self.users:
            return argv
        return [
            "sudo",
            "-n",
            "-u",
            user,
            "--",
            "env",
            *(f"{name}={value}" for name, value in self.runner.env.items()),
            *argv,
        ]

    def _change(self, argv: list[str], whose: str) -> None:
        """Change a job; ended and unknown jobs are ignored."""
        try:
            self.runner.run(self._as(whose, argv))
        except (Rejected, Unavailable) as error:
            if not is_unknown_job(str(error)):
                raise


def sbatch(request: Request, user: str = "") -> list[str]:
    """Return the sbatch command, which reads the batch script from stdin.

    With `singleton`, of two jobs with one key the later waits for the first, so they never run at
    the same time.
    """
    options = {
        "job-name": request.key,
        "comment": request.comment,
        "output": request.output,
        "error": request.output,
        "input": "/dev/null",
        "open-mode": "append",
        "chdir": request.spool,
        "nodes": request.nodes,
        **_tasks(request),
        "mem": f"{request.memory}M" if request.memory else "",
        "gres": request.gres,
        "time": request.minutes or "",
        "account": request.account,
        "qos": request.qos,
        "partition": request.partition,
        "reservation": request.reservation,
        "constraint": request.constraint,
        "exclude": ",".join(request.exclude),
        "licenses": request.licenses,
        "dependency": "singleton",
        "export": "ALL",
        "uid": user,
        "gid": pwd.getpwnam(user).pw_gid if user else "",
    }
    flags = ["--exclusive"] if request.is_exclusive else []
    return [
        "sbatch",
        "--parsable",
        "--no-requeue",
        *flags,
        *(f"--{name}={value}" for name, value in options.items() if value != ""),
    ]


def _tasks(request: Request) -> dict[str, object]:
    """Return the task options: one task per node, unless the script starts its own."""
    tasks = request.tasks
    if tasks is None:
        return {"ntasks-per-node": 1, "cpus-per-task": request.cpus}
    return {
        "ntasks": tasks.count,
        "ntasks-per-node": tasks.per_node or "",
        "cpus-per-task": tasks.cpus,
    }
