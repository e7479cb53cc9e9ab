"""`muster run -- CMD`: submit, say why it waits, show the log, end with the job's exit code."""

from __future__ import annotations

import shlex
import sys
import time
from contextlib import nullcontext
from typing import Annotated, Any, Protocol

from typer import Argument, Option

from muster.errors import InvalidInput, Json
from muster.following import Follower
from muster.interrupts import Interrupts
from muster.options import Commands
from muster.output import Session
from muster.records import Job
from muster.wording import COLOURS, clean, ending, progress

app = Commands()
SECOND_THOUGHT = 5.0  # seconds after one Ctrl-C in which another cancels
PIECE = 1 << 16  # bytes
Text = str | None


class Bytes(Protocol):
    """Where the bytes of a log go."""

    def write(self, data: bytes, /) -> object: ...

    def flush(self) -> object: ...


@app.command("run", context_settings={"allow_interspersed_args": False})
def run(
    session: Session,
    command: Annotated[
        list[str],
        Argument(metavar="[--] CMD", help="What to run. One word with spaces is a line of shell."),
    ],
    name: Annotated[Text, Option("--name", "-n", metavar="NAME")] = None,
    gpus: Annotated[int, Option("--gpus", "-g", min=0, metavar="N")] = 0,
    gpu_type: Annotated[Text, Option("--gpu-type", metavar="TYPE", help="Such as h100.")] = None,
    cpus: Annotated[
        Text, Option("--cpus", "-c", metavar="N", help="Cores, such as 4 or 0.5.")
    ] = None,
    memory: Annotated[Text, Option("--memory", "-m", metavar="SIZE", help="Such as 64Gi.")] = None,
    image: Annotated[Text, Option("--image", "-i", metavar="IMAGE")] = None,
    env: Annotated[
        list[str] | None,
        Option(
            "--env", "-e", metavar="K=V", help="May be given again; K alone takes it from here."
        ),
    ] = None,
    time_limit: Annotated[
        Text, Option("--time", "-t", metavar="TIME", help="Stopped after, such as 2h.")
    ] = None,
    priority: Annotated[
        Text, Option("--priority", "-p", metavar="WORD", help="low, normal, high or urgent.")
    ] = None,
    array: Annotated[
        Text, Option("--array", metavar="IDS", help="Many tasks: 100, or 0-99%4.")
    ] = None,
    after: Annotated[
        list[str] | None,
        Option("--after", metavar="JOB", help="Must end first: 12, or 12:any. May be given again."),
    ] = None,
    pool: Annotated[Text, Option("--pool", metavar="NAME")] = None,
    label: Annotated[
        list[str] | None, Option("--label", metavar="K=V", help="May be given again.")
    ] = None,
    detach: Annotated[bool, Option("--detach", "-d", help="Submit only; do not stay.")] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Rehearse only: what would be checked and sent.")
    ] = False,
) -> int:
    """Run a command as a job: its log comes here, and its exit code is this command's."""
    spec: dict[str, Any] = {
        "name": name or name_of(command), "run": script_of(command), "image": image,
        "resources": _set({"accelerators": _gpus(gpus, gpu_type), "cpus": cpus, "memory": memory}),
        "policy": _set({"max_runtime": time_limit, "priority": priority, "pool": pool}),
        "envs": dict(_variable(e) for e in env or []), "labels": dict(_pair(e, "--label") for e in label or []),
        "array": array, "after": after,
    }  # fmt: skip
    if dry_run:
        return tell_rehearsal(session, session.client.jobs.rehearse(_set(spec)))
    return after_submit(session, session.client.jobs.submit(_set(spec)), stays=not detach)


def after_submit(session: Session, job: Job, *, stays: bool) -> int:
    """Tell that it is there, and stay with it if asked to."""
    where = f"{session.client.url}{job.page}"
    if stays:
        session.say(f"#{job.number} {clean(job.name)}: {where}")
        return attend(session, job)
    session.show(job.raw, f"#{job.number} {clean(job.name)} is submitted: {where}", [job.number])
    return 0


def attend(session: Session, job: Job) -> int:
    """Stay with a job to its end, and return its exit code. Ctrl-C once leaves it running, twice cancels it."""
    stay = Stay(session, job)
    with Interrupts() as interrupts:
        try:
            stay.to_the_end(interrupts)
        except KeyboardInterrupt:
            return _interrupted(session, stay, interrupts)
    return stay.told_ending()


class Stay:
    """What was shown of a job so far, so that an interrupted stay goes on where it was."""

    def __init__(self, session: Session, job: Job):
        self.session, self.job, self.said = session, job, ""
        self.out: Bytes = sys.stderr.buffer if session.json or session.quiet else sys.stdout.buffer
        self.follower = Follower(session.client.jobs, str(job.number), attempt=1, goes_on=True)
        self.follower.on_job = self.tell

    def to_the_end(self, interrupts: Interrupts | None = None) -> None:
        if self.job.array_size:
            self.job = self.session.client.jobs.wait(self.job.number, on_look=self.tell)
            return
        show_log(self.session, self.follower, self.out, interrupts)
        self.job = self.session.client.jobs.wait(self.job.number, on_look=self.tell)

    def tell(self, job: Job) -> None:
        """The state, when something about it is new: for a waiting job why, and what would start it."""
        self.job = job
        detail = progress(job.raw) if job.array_size else ""
        if job.pending:
            detail = " ".join(filter(None, [job.pending.text, job.pending.change]))
        text = clean(f"{job.state}: {detail}" if detail else job.state)
        if text != self.said and not job.is_final:
            self.session.say(text, COLOURS.get(job.state, ""))
            self.said = text

    def told_ending(self) -> int:
        if self.session.json or self.session.quiet:
            self.session.show(self.job.raw, ids=[self.job.number])
        else:
            self.session.say(ending(self.job.raw), COLOURS.get(self.job.state, ""))
            if self.job.array_size and self.job.state == "failed":
                self.session.say(
                    f"The log of one task: muster job logs {self.job.number} --index 0"
                )
        return self.job.return_code


def show_log(
    session: Session, follower: Follower, out: Bytes, interrupts: Interrupts | None = None
) -> None:
    """Write the log, byte for byte, as it comes; its certificate goes to standard error."""
    while not follower.is_over:
        piece = follower.next()
        if piece.note:
            session.say(f"[{piece.note}]", "yellow")
        with interrupts.held() if interrupts else nullcontext():
            if piece.data:
                follower.offset = piece.start
                write_bytes(out, piece.data)
            follower.took(piece)
    if follower.certificate_text:
        session.say(f"[log: {follower.certificate_text}]", "bright_black")


def write_bytes(out: Bytes, data: bytes) -> None:
    """In pieces, each flushed: a reader that went away is noticed with the next one."""
    for at in range(0, len(data), PIECE):
        out.write(data[at : at + PIECE])
        out.flush()


def _interrupted(session: Session, stay: Stay, interrupts: Interrupts) -> int:
    number = stay.job.number
    try:
        session.say(
            f"\nstill running as #{number}: muster job logs -f {number}; press Ctrl-C again to cancel it",
            "yellow",
        )
        time.sleep(SECOND_THOUGHT)
        return 130
    except KeyboardInterrupt:
        pass
    try:
        session.say(f"canceling #{number}; Ctrl-C once more leaves at once", "yellow")
        session.client.jobs.cancel(number, "Ctrl-C in muster run")
        stay.to_the_end(interrupts)
        return stay.told_ending()
    except KeyboardInterrupt:
        return 130


def script_of(command: list[str]) -> str:
    """Words become a line in which each is one word again; a single word with spaces is a line already, as tmux takes it."""
    if len(command) == 1 and any(c.isspace() for c in command[0]):
        return command[0]
    return shlex.join(command)


def name_of(command: list[str]) -> str:
    """The script that is run, else the program: `python -u src/train.py --lr 1` is train.py."""
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


def tell_rehearsal(session: Session, told: Json) -> int:
    """The answers of a rehearsal, and the text that would be sent. 1 where it would be refused."""
    marks = {True: "yes", False: "no ", None: "?  "}
    lines = [
        f"{marks[check['ok']]}  {check['name']}: {clean(check['text'])}" for check in told["checks"]
    ]
    session.show(told, "\n".join([*lines, *(["", told["launch"]] if told.get("launch") else [])]))
    return 0 if told["ok"] else 1


def _gpus(count: int, kind: str | None) -> str | None:
    if kind:
        return f"{kind}:{count or 1}"
    return str(count) if count else None


def _variable(text: str) -> tuple[str, str]:
    import os

    if "=" not in text and text in os.environ:
        return text, os.environ[text]
    return _pair(text, "--env")


def _pair(text: str, option: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name:
        raise InvalidInput(f"{option} {text}: write NAME=VALUE")
    return name, value


def _set(mapping: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if value not in (None, {}, [])}
