"""Parse Slurm batch scripts: `#SBATCH` options become a spec, the script becomes `run`.

The script is kept verbatim. An unsupported option that changes the result is an error; one that
only changes where, when or how the job is recorded is a note.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from schedulers.spec.document import MOST_BYTES
from schedulers.spec.errors import FieldError, SpecReport, shown
from schedulers.spec.parsing import Parsed, parse_document, read_spec
from schedulers.spec.sbatch_options import Option, options
from schedulers.spec.slurm import FEATURES, LICENSES, SIGNAL, WORD

_MEMORY = re.compile(r"([0-9]{1,12})([KMGT]?)B?", re.IGNORECASE | re.ASCII)
_CLOCK = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9}))?", re.ASCII)
_GRES = re.compile(
    r"gpu(?:[:/]([A-Za-z][A-Za-z0-9._-]*))?(?:[:=]([0-9]{1,6}))?(?:\(.*\))?", re.ASCII
)
_GPUS = re.compile(r"(?:([A-Za-z][A-Za-z0-9._-]*)(?::([0-9]{1,6}))?|([0-9]{1,6}))", re.ASCII)
_CONDITIONS = {"afterok": "ok", "afterany": "any", "afternotok": "failed"}

_LOG_NOTE = "is ignored: Muster keeps the whole output as the job's log"
_NOTES = {
    **dict.fromkeys(("output", "error", "open-mode"), _LOG_NOTE),
    **dict.fromkeys(("mail-type", "mail-user"), "is ignored: set up notifications in your profile"),
    "wckey": "is ignored: usage is charged to the team you submit the job to",
    "chdir": "is ignored: start the script with `cd` if it expects to run there",
    "export": "is ignored: the job gets Muster's variables and those in `envs`, not those of your shell",
    "container-mounts": "is ignored: list datasets in `inputs`",
    "oversubscribe": "is ignored: the requested resources belong to the job",
}
_PASSED = {
    **dict.fromkeys(("account", "qos", "reservation"), WORD),
    "constraint": FEATURES,
    "licenses": LICENSES,
    "signal": SIGNAL,
}
_PASSED_NOTE = (
    "is passed on if the job runs on Slurm and the operator has not set it; otherwise it is ignored"
)
_EXCLUSIVE_NOTE = (
    "is passed on if the job runs on Slurm and the operator allows exclusive nodes; otherwise it "
    "is ignored"
)
_REFUSED = {
    "wrap": "is not supported in a script: write the command as a line of the script",
    "input": "is not supported: redirect with `<` in the script",
    "begin": "is not supported: submit the job when it may start",
    "hold": "is not supported: hold the job after it is submitted",
    "clusters": "is not supported: choose a pool instead",
}


def parse_text(text: str) -> Parsed:
    """Parse YAML, or a script if the text starts with `#!`. Raises SpecErrors."""
    return (
        parse_sbatch(text) if text.removeprefix("\ufeff").startswith("#!") else parse_document(text)
    )


def parse_sbatch(text: str) -> Parsed:
    """Parse a batch script.

    Raises SpecErrors with the line of each option that Muster cannot honor.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    report = SpecReport()
    if len(text) > MOST_BYTES:
        report.add(
            "", f"is {len(text):,} characters long; a script may have at most {MOST_BYTES:,}"
        )
        report.raise_if_any()
    script = _Script(options(text, report), report)
    script.read_all()
    report.lines = script.lines
    if calls := re.search(r"^\s*(exec\s+)?srun\b", text, re.MULTILINE):
        script.note("run", "calls `srun`, which only exists on Slurm clusters", None)
    if calls or script.data.get("num_nodes", 1) > 1:
        script.data["launcher"] = "srun"
    return Parsed(
        read_spec({**script.data, "run": text}, report), tuple(script.notes), script.lines
    )


@dataclass
class _Script:
    """Moves options one by one into `data`, the mapping form of a spec."""

    options: dict[str, Option]
    report: SpecReport
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    notes: list[FieldError] = field(default_factory=list)

    def read_all(self) -> None:
        self._move("job-name", "name", str)
        self._move("nodes", "num_nodes", self._nodes)
        self._move("partition", "policy.pool", lambda text: text.split(",")[0].lower())
        self._move("time", "policy.max_runtime", _seconds)
        self._move("array", "array", str)
        self._move("dependency", "after", _dependencies)
        self._move("container-image", "image", lambda text: text.replace("#", "/", 1))
        self._move("comment", "labels.comment", str)
        self._retries()
        self._cpus()
        self._gpus()
        self._memory()
        for name, pattern in _PASSED.items():
            self._pass(name, pattern)
        self._exclusive()
        for option in list(self.options.values()):
            self._leave(option)

    def note(self, name: str, message: str, line: int | None) -> None:
        self.notes.append(FieldError(name, message, line))

    def _move(self, name: str, path: str, read: Callable[[str], Any]) -> None:
        option = self.options.pop(name, None)
        if option is None:
            return
        try:
            value = read(option.value)
        except ValueError as fault:
            self.report.add(f"#SBATCH --{name}", f"{shown(option.value)}: {fault}", option.line)
            return
        if value is not None:
            self._set(path, value, option.line)

    def _set(self, path: str, value: Any, line: int) -> None:
        holder: dict[str, Any] = self.data
        *sections, last = path.split(".")
        for section in sections:
            holder = holder.setdefault(section, {})
        holder[last] = value
        self.lines[path] = line

    def _leave(self, option: Option) -> None:
        name = f"#SBATCH --{option.name}"
        if option.name in _REFUSED:
            self.report.add(name, _REFUSED[option.name], option.line)
        else:
            self.note(
                name,
                _NOTES.get(option.name, "is ignored: it has no equivalent in Muster"),
                option.line,
            )

    def _pass(self, name: str, pattern: str) -> None:
        """Pass an option through to Slurm if its form is known to be harmless."""
        option = self.options.get(name)
        text = _without_overlap(option.value) if option else ""
        if option is not None and re.fullmatch(pattern, text, re.ASCII):
            self._set(f"slurm.{name}", text, option.line)
            self.note(f"#SBATCH --{name}", _PASSED_NOTE, self.options.pop(name).line)

    def _exclusive(self) -> None:
        option = self.options.get("exclusive")
        if option is not None and not option.value:
            self._set("slurm.exclusive", True, option.line)
            self.note("#SBATCH --exclusive", _EXCLUSIVE_NOTE, self.options.pop("exclusive").line)

    def _number(self, name: str) -> int | None:
        """Pop an integer option. Returns None if it is absent or invalid (recorded)."""
        option = self.options.pop(name, None)
        if option is None:
            return None
        if not re.fullmatch(r"[0-9]{1,9}", option.value, re.ASCII) or not int(option.value):
            self.report.add(
                f"#SBATCH --{name}",
                f"{shown(option.value)}: must be a whole number from 1",
                option.line,
            )
            return None
        self.lines.setdefault("resources.cpus", option.line)
        return int(option.value)

    def _nodes(self, text: str) -> int:
        low, _, high = text.partition("-")
        if not low.isdecimal() or (high and not high.isdecimal()):
            raise ValueError("must be a number of nodes such as 2")
        if high and high != low:
            self.note("#SBATCH --nodes", f"asked for {text}; the job gets {low}", None)
        return int(low)

    def _retries(self) -> None:
        option = self.options.pop("requeue", None)
        self.options.pop("no-requeue", None)
        if option is not None:
            self._set("policy.retries", 1, option.line)

    def _cpus(self) -> None:
        """Return the cores per node.

        One script starts all tasks of a node, so it gets the cores of all of them.
        """
        nodes = max(1, self.data.get("num_nodes", 1))
        each, per_node, total = (
            self._number(name) for name in ("cpus-per-task", "ntasks-per-node", "ntasks")
        )
        tasks = per_node or math.ceil((total or 1) / nodes)
        if each or per_node or total:
            self._set("resources.cpus", (each or 1) * tasks, self.lines["resources.cpus"])
        if total or per_node:
            self.data.setdefault("slurm", {}).update(
                tasks=total or tasks * nodes, **({"tasks_per_node": per_node} if per_node else {})
            )
        if tasks > 1:
            cores = (each or 1) * tasks
            self.note(
                "#SBATCH --ntasks",
                f"{tasks} tasks per node: the script runs once, on {cores} cores; `srun` in it "
                "starts all of them",
                None,
            )

    def _gpus(self) -> None:
        self._move("gres", "resources.accelerators", _gres)
        self._move("gpus-per-node", "resources.accelerators", lambda text: _gpus(text, 1))
        self._move(
            "gpus",
            "resources.accelerators",
            lambda text: _gpus(text, self.data.get("num_nodes", 1)),
        )
        self._move("gpus-per-task", "resources.accelerators", self._gpus_of_tasks)

    def _gpus_of_tasks(self, text: str) -> str | int:
        """Return the GPUs per node: those of all its tasks."""
        kind, _, count = str(_gpus(text, 1)).rpartition(":")
        slurm = self.data.setdefault("slurm", {})
        slurm["gpus_per_task"] = int(count)
        nodes = max(1, self.data.get("num_nodes", 1))
        return _asked(
            kind,
            int(count)
            * (slurm.get("tasks_per_node") or math.ceil(slurm.get("tasks", nodes) / nodes)),
        )

    def _memory(self) -> None:
        self._move("mem", "resources.memory", _bytes)
        cpus = float(self.data.get("resources", {}).get("cpus", 1))
        self._move("mem-per-cpu", "resources.memory", lambda text: _times(_bytes(text), cpus))
        accelerators = str(self.data.get("resources", {}).get("accelerators", 0))
        gpus = int(accelerators.rpartition(":")[2])
        self._move("mem-per-gpu", "resources.memory", lambda text: _times(_bytes(text), gpus))


def _without_overlap(text: str) -> str:
    """Drop flag R of a signal, which concerns moving reservations; B names the target."""
    return re.sub(r"^(?:R:|RB:|BR:)", lambda flags: "B:" if "B" in flags[0] else "", text)


def _bytes(text: str) -> str | None:
    """Parse a memory size.

    A bare number is in MiB; 0 means all memory of the node, which Muster expresses as no limit.
    """
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise ValueError("must be a size such as 4000, 16G or 512M")
    return f"{match[1]}{(match[2] or 'M').upper()}i" if int(match[1]) else None


def _times(size: str | None, count: float) -> str | None:
    if size is None:
        return None
    return f"{math.ceil(int(size[:-2]) * count)}{size[-2:]}"


def _seconds(text: str) -> int | None:
    """Parse a time limit in seconds.

    Formats: minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]].
    """
    if text.upper() in ("UNLIMITED", "INFINITE"):
        return None
    match = _CLOCK.fullmatch(text)
    if match is None:
        raise ValueError("must be a time such as 90, 90:00, 24:00:00 or 1-12:00:00")
    days, first, second, third = match[1], *(int(part or 0) for part in match.groups()[1:])
    if days is not None:
        return int(days) * 86400 + first * 3600 + second * 60 + third
    if match[4] is not None:
        return first * 3600 + second * 60 + third
    return (first * 60 + second) or None


def _dependencies(text: str) -> list[str]:
    if "?" in text:
        raise ValueError("`?` (any one of them) is not supported: all must be fulfilled")
    found: list[str] = []
    for clause in text.split(","):
        kind, *jobs = clause.split(":")
        if kind not in _CONDITIONS or not jobs:
            raise ValueError(
                "must be afterok, afterany or afternotok with job numbers, such as afterok:12; "
                f"not {shown(kind)}"
            )
        found += [f"#{job}:{_CONDITIONS[kind]}" for job in jobs]
    return found


def _gres(text: str) -> str | int:
    match = _GRES.fullmatch(text.removeprefix("gres:").removeprefix("gres/"))
    if match is None:
        raise ValueError(
            "must be GPUs such as gpu:2 or gpu:h100:2; other generic resources are not supported"
        )
    return _asked(match[1], int(match[2] or 1))


def _gpus(text: str, nodes: int) -> str | int:
    match = _GPUS.fullmatch(text)
    if match is None:
        raise ValueError("must be a number of GPUs such as 2 or h100:2, of one type")
    count = int(match[3] or match[2] or 1)
    if count % max(1, nodes):
        raise ValueError(f"cannot be divided evenly among {nodes} nodes; use --gpus-per-node")
    return _asked(match[1], count // max(1, nodes))


def _asked(gpu_type: str | None, count: int) -> str | int:
    return f"{gpu_type}:{count}" if gpu_type else count
