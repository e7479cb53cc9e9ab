"""`muster run -- CMD`: submit a job, follow it and exit with its exit code."""

from __future__ import annotations

import shlex
import sys
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from typer import Argument, Option

from muster.changes import changed
from muster.errors import Conflict, InvalidInput
from muster.following import Follower
from muster.interrupts import Interrupts
from muster.options import Commands
from muster.output import Session
from muster.records import Job
from muster.suggestions import suggestion_lines, with_suggestions
from muster.wording import COLOURS, clean, ending, progress

if TYPE_CHECKING:
    from muster.shapes.jobs import RehearsalShape

COMMANDS = {
    "run": ("app", 10, "Run a command as a job, stream its log and return its exit code."),
}
app = Commands()
CANCEL_WINDOW = 5.0  # seconds after the first Ctrl-C in which a second one cancels the job
PIECE = 1 << 16  # bytes
Text = str | None


class BinaryStream(Protocol):
    """A binary output stream."""

    def write(self, data: bytes, /) -> object: ...

    def flush(self) -> object: ...


@app.command("run", context_settings={"allow_interspersed_args": False})
def run(
    session: Session,
    command: Annotated[
        list[str],
        Argument(
            metavar="[--] CMD", help="Command. A single argument with spaces is a shell line."
        ),
    ],
    name: Annotated[
        Text, Option("--name", "-n", metavar="NAME", help="Job name. Default: from the command.")
    ] = None,
    experiment: Annotated[
        Text, Option("--experiment", metavar="NAME", help="Experiment of the job's run.")
    ] = None,
    gpus: Annotated[int, Option("--gpus", "-g", min=0, metavar="N", help="GPUs.")] = 0,
    gpu_type: Annotated[Text, Option("--gpu-type", metavar="TYPE", help="Such as h100.")] = None,
    cpus: Annotated[
        Text, Option("--cpus", "-c", metavar="N", help="CPU cores, such as 4 or 0.5.")
    ] = None,
    memory: Annotated[Text, Option("--memory", "-m", metavar="SIZE", help="Such as 64Gi.")] = None,
    image: Annotated[
        Text, Option("--image", "-i", metavar="IMAGE", help="Container image.")
    ] = None,
    env: Annotated[
        list[str] | None,
        Option(
            "--env",
            "-e",
            metavar="K=V",
            help="Variable; K alone copies it from this shell. Repeatable.",
        ),
    ] = None,
    time_limit: Annotated[
        Text, Option("--time", "-t", metavar="TIME", help="Time limit, such as 2h.")
    ] = None,
    priority: Annotated[
        Text, Option("--priority", "-p", metavar="LEVEL", help="low, normal, high or urgent.")
    ] = None,
    array: Annotated[
        Text, Option("--array", metavar="IDS", help="Array tasks: 100, or 0-99%4.")
    ] = None,
    after: Annotated[
        list[str] | None,
        Option(
            "--after",
            metavar="JOB",
            help="Start after this job succeeds; 12:any for any end. Repeatable.",
        ),
    ] = None,
    pool: Annotated[
        Text, Option("--pool", metavar="NAME", help="Pool or cluster to run in.")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        Option(
            "--input",
            metavar="NAME=DATASET[@REVISION]",
            help="Mount a version read-only, such as data=cifar@v1.2; checkpoint:resnet for a "
            "checkpoint. MUSTER_INPUT_NAME has its path. Repeatable.",
        ),
    ] = None,
    workspaces: Annotated[
        list[str] | None,
        Option(
            "--workspace",
            metavar="NAME=WORKSPACE[:ro]",
            help="Mount a workspace, with :ro read-only, such as code=vision-code. "
            "MUSTER_WORKSPACE_NAME has its path. Repeatable.",
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        Option(
            "--output",
            metavar="NAME=CHECKPOINT",
            help="Save what the job writes to $MUSTER_OUTPUT_NAME as versions of a checkpoint, or of "
            "dataset:NAME. Options follow: ckpt=resnet,every=10m,resume=latest. Repeatable.",
        ),
    ] = None,
    label: Annotated[list[str] | None, Option("--label", metavar="K=V", help="Repeatable.")] = None,
    changes: Annotated[
        list[str] | None,
        Option("--set", metavar="FIELD=VALUE", help="Any field, such as num_nodes=2. Repeatable."),
    ] = None,
    detach: Annotated[bool, Option("--detach", "-d", help="Submit without following.")] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Check the job and show what would be submitted.")
    ] = False,
) -> int:
    """Run a command as a job, stream its log and exit with its exit code."""
    spec: dict[str, Any] = {
        "name": name or name_of(command),
        "experiment": experiment,
        "run": script_of(command),
        "image": image,
        "resources": _set({"accelerators": _gpus(gpus, gpu_type), "cpus": cpus, "memory": memory}),
        "policy": _set({"max_runtime": time_limit, "priority": priority, "pool": pool}),
        "envs": dict(_variable(e) for e in env or []),
        "inputs": dict(_input(e) for e in inputs or []),
        "workspaces": dict(_workspace(e) for e in workspaces or []),
        "labels": dict(_pair(e, "--label") for e in label or []),
        "outputs": dict(output_of(e) for e in output or []),
        "array": array,
        "after": after,
    }
    spec = changed(_set(spec), changes or ())
    if dry_run:
        return show_dry_run(session, session.client.jobs.rehearse(spec))
    try:
        job = session.client.jobs.submit(spec)
    except (InvalidInput, Conflict) as error:
        raise with_suggestions(session, error, {"spec": spec}) from error
    return after_submit(session, job, follow=not detach)


def after_submit(session: Session, job: Job, *, follow: bool) -> int:
    """Report a submitted job, and follow it to its end if `follow`."""
    where = f"{session.client.url}{job.page}"
    if follow:
        session.echo(f"#{job.number} {clean(job.name)}: {where}")
        return follow_job(session, job)
    session.show(job.raw, f"Submitted #{job.number} {clean(job.name)}: {where}", [job.number])
    return 0


def follow_job(session: Session, job: Job) -> int:
    """Follow a job to its end and return its exit code.

    One Ctrl-C leaves the job running, a second one cancels it.
    """
    follower = JobFollower(session, job)
    with Interrupts() as interrupts:
        try:
            follower.follow_to_end(interrupts)
        except KeyboardInterrupt:
            return _interrupted(session, follower, interrupts)
    return follower.report_end()


class JobFollower:
    """Follow one job; remembers what was shown, so that it can resume after an interrupt."""

    def __init__(self, session: Session, job: Job):
        self.session, self.job, self.last_text = session, job, ""
        self.out: BinaryStream = (
            sys.stderr.buffer if session.json or session.quiet else sys.stdout.buffer
        )
        self.follower = Follower(
            session.client.jobs, str(job.number), attempt=1, follow_retries=True
        )
        self.follower.on_job = self.report

    def follow_to_end(self, interrupts: Interrupts | None = None) -> None:
        if self.job.array_size:
            self.job = self.session.client.jobs.wait(self.job.number, on_poll=self.report)
            return
        show_log(self.session, self.follower, self.out, interrupts)
        self.job = self.session.client.jobs.wait(self.job.number, on_poll=self.report)

    def report(self, job: Job) -> None:
        """Report the state when it changes, with the reason and next step of a pending job."""
        self.job = job
        detail = progress(job.raw) if job.array_size else ""
        if job.pending:
            detail = " ".join(filter(None, [job.pending.text, job.pending.change]))
        text = clean(f"{job.state}: {detail}" if detail else job.state)
        if text != self.last_text and not job.is_final:
            self.session.echo(text, COLOURS.get(job.state, ""))
            self.last_text = text

    def report_end(self) -> int:
        if self.session.json or self.session.quiet:
            self.session.show(self.job.raw, ids=[self.job.number])
        else:
            self.session.echo(ending(self.job.raw), COLOURS.get(self.job.state, ""))
            if self.job.array_size and self.job.state == "failed":
                self.session.echo(
                    f"To see one task's log: muster job logs {self.job.number} --index 0"
                )
            if self.job.state == "failed":
                found = self.session.client.jobs.get(self.job.number, advice=True).raw
                if suggestions := found.get("suggestions"):
                    self.session.echo(suggestion_lines(suggestions))
        return self.job.return_code


def show_log(
    session: Session, follower: Follower, out: BinaryStream, interrupts: Interrupts | None = None
) -> None:
    """Stream the log byte for byte; whether it is complete goes to standard error."""
    while not follower.is_over:
        piece = follower.next()
        if piece.note:
            session.echo(f"[{piece.note}]", "yellow")
        with interrupts.held() if interrupts else nullcontext():
            if piece.data:
                follower.offset = piece.start
                write_bytes(out, piece.data)
            follower.advance(piece)
    if follower.certificate_text:
        session.echo(follower.certificate_text, "bright_black")


def write_bytes(out: BinaryStream, data: bytes) -> None:
    """Write and flush in pieces, so that a closed pipe is noticed early."""
    for at in range(0, len(data), PIECE):
        out.write(data[at : at + PIECE])
        out.flush()


def _interrupted(session: Session, follower: JobFollower, interrupts: Interrupts) -> int:
    number = follower.job.number
    try:
        session.echo(
            f"\nJob #{number} is still running. Follow it: muster job logs -f {number}. "
            "Press Ctrl-C again to cancel it.",
            "yellow",
        )
        time.sleep(CANCEL_WINDOW)
        return 130
    except KeyboardInterrupt:
        pass
    try:
        session.echo(f"Canceling #{number}. Press Ctrl-C again to exit at once.", "yellow")
        session.client.jobs.cancel(number, "Ctrl-C in muster run")
        follower.follow_to_end(interrupts)
        return follower.report_end()
    except KeyboardInterrupt:
        return 130


def script_of(command: list[str]) -> str:
    """Quote arguments into a shell line; a single argument with spaces is already one."""
    if len(command) == 1 and any(c.isspace() for c in command[0]):
        return command[0]
    return shlex.join(command)


def name_of(command: list[str]) -> str:
    """Derive a job name: the script, else the program. `python -u src/train.py` is train.py."""
    words = " ".join(command).split() if len(command) == 1 else command
    plain = [
        word.rsplit("/", 1)[-1] for word in words if not word.startswith("-") and "=" not in word
    ]
    script = next(
        (word for word in plain if word.endswith((".py", ".sh", ".r", ".R", ".jl"))),
        plain[0] if plain else "job",
    )
    kept = "".join(c for c in script if c.isalnum() or c in "._-")[:60].strip("._-")
    return kept or "job"


def show_dry_run(session: Session, result: RehearsalShape) -> int:
    """Show the checks and the launch script of a dry run; return 1 if it would be refused."""
    marks = {True: "yes", False: "no ", None: "?  "}
    lines = [
        f"{marks[check['ok']]}  {check['name']}: {clean(check['text'])}"
        for check in result["checks"]
    ]
    suggestions = result.get("suggestions")
    if start := result.get("expected_start"):
        lines += ["", f"Expected start: {clean(start['text'])}"]
    if suggestions:
        lines += ["", suggestion_lines(suggestions)]
    launch = ["", result["launch"]] if result.get("launch") else []
    session.show(result, "\n".join([*lines, *launch]))
    return 0 if result["ok"] else 1


def _gpus(count: int, kind: str | None) -> str | None:
    if kind:
        return f"{kind}:{count or 1}"
    return str(count) if count else None


def _variable(text: str) -> tuple[str, str]:
    import os

    if "=" not in text and text in os.environ:
        return text, os.environ[text]
    return _pair(text, "--env")


def _input(text: str) -> tuple[str, Any]:
    name, version = _pair(text, "--input")
    kind, colon, rest = version.partition(":")
    return (name, {kind: rest}) if colon and kind in ("dataset", "checkpoint") else (name, version)


def _workspace(text: str) -> tuple[str, Any]:
    name, workspace = _pair(text, "--workspace")
    workspace, colon, mode = workspace.partition(":")
    if colon and mode not in ("ro", "rw"):
        raise InvalidInput(f"--workspace {text}: must be NAME=WORKSPACE or NAME=WORKSPACE:ro.")
    return name, {"workspace": workspace, "read_only": True} if mode == "ro" else workspace


def _pair(text: str, option: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name:
        raise InvalidInput(f"{option} {text}: must be NAME=VALUE.")
    return name, value


def output_of(text: str) -> tuple[str, dict[str, str]]:
    """Parse `ckpt=resnet,every=10m`: a name, a repository, and fields of the output.

    Raises InvalidInput.
    """
    name, place = _pair(text, "--output")
    repository, *options = place.split(",")
    kind, colon, of_kind = repository.partition(":")
    if colon and kind not in ("checkpoint", "dataset"):
        raise InvalidInput(f"--output {text}: must be NAME=CHECKPOINT or NAME=dataset:DATASET.")
    fields = dict(_pair(option, "--output") for option in options)
    return name, {kind if colon else "checkpoint": of_kind if colon else repository, **fields}


def _set(mapping: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if value not in (None, {}, [])}
