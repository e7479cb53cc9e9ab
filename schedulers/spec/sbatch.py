"""Parse Slurm batch scripts: `#SBATCH` options become a spec, the script becomes `run`.

The script is kept verbatim. An unsupported option that changes the result is an error; one that
only changes where, when or how the job is recorded is a note.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from schedulers.spec.document import MOST_BYTES
from schedulers.spec.errors import FieldError, SpecErrors, SpecReport, shown
from schedulers.spec.parsing import Parsed, parse_document, read_spec
from schedulers.spec.parts import MOST_TASKS
from schedulers.spec.sbatch_allocation import (
    Allocated,
    Allocation,
    AllocationFault,
    GpuAmount,
    allocate,
)
from schedulers.spec.sbatch_options import Option, options
from schedulers.spec.slurm import FEATURES, LICENSES, SIGNAL, WORD

_MEMORY = re.compile(r"([0-9]{1,12})([KMGT]?)B?", re.IGNORECASE | re.ASCII)
_CLOCK = re.compile(r"([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9}))?", re.ASCII)
_DAYS = re.compile(r"([0-9]{1,6})-(?:([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9}))?)?", re.ASCII)
_GPU_TYPE = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_GRES = re.compile(
    rf"gpu(?::((?=[A-Za-z]){_GPU_TYPE}|{_GPU_TYPE}(?=:)))?(?::([0-9]{{1,6}}))?(?:\(.*\))?",
    re.ASCII,
)
_GPUS = re.compile(rf"(?:(?=[A-Za-z])({_GPU_TYPE})|(?:({_GPU_TYPE}):)?([0-9]{{1,6}}))", re.ASCII)
_MIG = re.compile(r"[0-9]+g\.[0-9]+gb", re.IGNORECASE | re.ASCII)
_ARRAY_WORD = re.compile(r"\[?([0-9]{1,7})\]?(?:-([0-9]{1,7})\]?(?::([0-9]{1,7})\]?)?)?", re.ASCII)
_SIGNAL = re.compile(
    r"([RB]{0,2}):?((?:SIG)?[A-Z][A-Z0-9+]{1,9}|[1-9][0-9]?)(@[0-9]{1,5})?", re.ASCII
)
_CONDITIONS = {"afterok": "ok", "afterany": "any", "afternotok": "failed"}
_PLAIN_BASH = re.compile(r"#!\s*(\S*/env\s+)?(\S*/)?bash\s*$")

_LOG_NOTE = "is ignored: Muster keeps the whole output as the job's log"
_ORDER_NOTE = "is ignored: it only changes when the job starts; use `priority` of `policy`"
_PLACE_NOTE = "is ignored: it only changes which of equal nodes the job waits for"
_CALL_NOTE = "is ignored: it only changes what the sbatch command prints or waits for"
# options that do not change what the job computes, or with how much
_NOTES = {
    **dict.fromkeys(("output", "error", "open-mode"), _LOG_NOTE),
    **dict.fromkeys(("mail-type", "mail-user"), "is ignored: set up notifications in your profile"),
    "wckey": "is ignored: usage is charged to the team you submit the job to",
    "container-mounts": "is ignored: list datasets in `inputs`",
    "oversubscribe": "is ignored: the requested resources belong to the job",
    **dict.fromkeys(("nice", "priority"), _ORDER_NOTE),
    **dict.fromkeys(
        ("contiguous", "switches", "prefer", "use-min-nodes", "delay-boot", "wait-all-nodes"),
        _PLACE_NOTE,
    ),
    **dict.fromkeys(("parsable", "quiet", "verbose", "wait"), _CALL_NOTE),
    **dict.fromkeys(
        ("acctg-freq", "profile", "power", "stepmgr"),
        "is ignored: it only changes what Slurm records about the job",
    ),
    "ignore-pbs": "",
}
_PASSED = {
    **dict.fromkeys(("account", "qos", "reservation"), (WORD, "one word")),
    "constraint": (FEATURES, "features of nodes such as a100, 'a|b' or '[rack1*2&rack2*4]'"),
    "licenses": (LICENSES, "licenses such as matlab:2, separated by commas"),
}
_PASSED_NOTE = (
    "is passed on if the job runs on Slurm and the operator has not set it; otherwise it is ignored"
)
_SLURM_NOTE = "is passed on to Slurm; other clusters refuse the job"
_EXCLUSIVE_NOTE = (
    "is passed on if the job runs on Slurm and the operator allows exclusive nodes; otherwise it "
    "is ignored"
)
_ALLOCATION = "write the GPUs, cores and memory of each node with --gpus-per-node, -c and --mem"
_STEPS = "give it to `srun` in the script"
_PLACE = "name a pool with --partition, or features of nodes with --constraint"
_LIMITS = "call `ulimit` in the script"
# the one thing to do instead; every option that is not read, passed on or noted is refused
_INSTEAD = {
    "wrap": "write the command as a line of the script",
    "input": "redirect with `<` in the script",
    "begin": "submit the job when it may start",
    "hold": "hold the job after it is submitted",
    "clusters": "choose a pool instead",
    "cluster-constraint": "choose a pool instead",
    "test-only": "use the dry run of Muster",
    "export-file": "list the variables in --export or `envs`",
    "get-user-env": "begin the script with `#!/bin/bash -l`",
    "propagate": _LIMITS,
    "container": "name an image with --container-image",
    "time-min": "write the time the job needs with --time",
    "deadline": "write the time the job needs with --time",
    "no-kill": "use `retries` of `policy`",
    "tmp": "name a pool whose nodes have the disk with --partition",
    **dict.fromkeys(("nodelist", "exclude", "nodefile", "batch"), _PLACE),
    **dict.fromkeys(
        (
            "gpus-per-socket",
            "cores-per-socket",
            "sockets-per-node",
            "threads-per-core",
            "extra-node-info",
            "ntasks-per-core",
            "ntasks-per-socket",
            "hint",
            "overcommit",
            "core-spec",
            "thread-spec",
            "spread-job",
            "mem-update",
            "gres-flags",
        ),
        _ALLOCATION,
    ),
    **dict.fromkeys(
        ("distribution", "cpu-freq", "gpu-freq", "gpu-bind", "mem-bind", "tres-bind", "network"),
        _STEPS,
    ),
}


def parse_text(text: str) -> Parsed:
    """Parse YAML, or a script if the text starts with `#!`. Raises SpecErrors."""
    if text.removeprefix("\ufeff").startswith("#!"):
        return parse_sbatch(text)
    try:
        return parse_document(text)
    except SpecErrors:
        late = re.search(r"^(?:#!|#SBATCH)", text, re.MULTILINE)
        if late is None:
            raise
        line = text.count("\n", 0, late.start()) + 1
        raise SpecErrors(
            [
                FieldError(
                    "",
                    "a batch script begins with `#!`, such as #!/bin/bash: make it the first line",
                    line,
                )
            ]
        ) from None


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
    script = _Script(options(text, report), report, text.partition("\n")[0])
    script.read_all()
    report.lines = script.lines
    if calls := re.search(r"^\s*(exec\s+)?srun\b", text, re.MULTILINE):
        script.note("run", "calls `srun`, which only exists on Slurm clusters", None)
    if calls or script.data.get("num_nodes", 1) > 1:
        script.data["launcher"] = "srun"
    try:
        spec = read_spec({**script.data, "run": text}, report)
    except SpecErrors as errors:
        raise SpecErrors(map(script.named, errors.errors)) from None
    return Parsed(spec, tuple(script.notes), script.lines)


@dataclass
class _Script:
    """Moves options one by one into `data`, the mapping form of a spec."""

    options: dict[str, Option]
    report: SpecReport
    first_line: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # of options, by the field they set
    notes: list[FieldError] = field(default_factory=list)

    def read_all(self) -> None:
        self._move("job-name", "name", str)
        self._move("partition", "policy.pool", _pool)
        self._move("time", "policy.max_runtime", _seconds)
        self._move("array", "array", _array)
        self._move("dependency", "after", _dependencies)
        self._image()
        self._move("comment", "labels.comment", lambda text: text or None)
        self._move("export", "envs", self._variables)
        self._move("chdir", "setup", self._chdir)
        self._retries()
        self._allocation()
        for name, (pattern, hint) in _PASSED.items():
            self._pass(name, pattern, hint)
        self._pass("signal", SIGNAL, "a signal such as B:USR1@120", _signal)
        self._exclusive()
        for option in list(self.options.values()):
            self._leave(option)

    def note(self, name: str, message: str, line: int | None) -> None:
        self.notes.append(FieldError(name, message, line))

    def named(self, error: FieldError) -> FieldError:
        """Return the error of a field as one of the option that set it."""
        path = error.field
        while path and path not in self.names:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        if not path:
            return error
        rest = error.field[len(path) :]
        return FieldError(f"#SBATCH --{self.names[path]}{rest}", error.message, error.line)

    def _refuse(self, option: Option, message: str) -> None:
        self.report.add(f"#SBATCH --{option.name}", message, option.line)

    def _read(self, name: str, read: Callable[[str], Any]) -> Any:
        """Pop an option and return its value. Returns None if absent or invalid (recorded)."""
        option = self.options.pop(name, None)
        if option is None:
            return None
        value = None
        for text in (*option.earlier, option.value):
            try:
                value = read(text)
            except ValueError as fault:
                self._refuse(option, f"{shown(text)}: {fault}")
                return None
        return value

    def _move(self, name: str, path: str, read: Callable[[str], Any]) -> None:
        option = self.options.get(name)
        value = self._read(name, read)
        if option is not None and value is not None:
            self._set(path, value, option)

    def _set(self, path: str, value: Any, option: Option) -> None:
        holder: dict[str, Any] = self.data
        *sections, last = path.split(".")
        for section in sections:
            holder = holder.setdefault(section, {})
        holder[last] = value
        self.lines[path] = option.line
        self.names[path] = option.name

    def _leave(self, option: Option) -> None:
        if option.name not in _NOTES:
            instead = _INSTEAD.get(option.name, "remove it")
            self._refuse(option, f"is not supported: {instead}")
        elif message := _NOTES[option.name]:
            self.note(f"#SBATCH --{option.name}", message, option.line)

    def _pass(self, name: str, pattern: str, hint: str, read: Callable[[str], str] = str) -> None:
        """Pass an option through to Slurm if its form is known to be harmless."""
        option = self.options.pop(name, None)
        if option is None:
            return
        text = read(option.value)
        if not re.fullmatch(pattern, text, re.ASCII):
            self._refuse(option, f"{shown(option.value)}: must be {hint}")
            return
        self._set(f"slurm.{name}", text, option)
        note = _SLURM_NOTE if name in ("constraint", "licenses", "signal") else _PASSED_NOTE
        self.note(f"#SBATCH --{name}", note, option.line)

    def _exclusive(self) -> None:
        order = [name for name in self.options if name in ("exclusive", "oversubscribe")]
        option = self.options.pop("exclusive", None)
        if option is None or order[-1] == "oversubscribe":
            return
        if option.value.lower() not in ("", "exclusive", "allocation"):
            self._refuse(option, f"{shown(option.value)}: must have no value")
            return
        self._set("slurm.exclusive", True, option)
        self.note("#SBATCH --exclusive", _EXCLUSIVE_NOTE, option.line)

    def _image(self) -> None:
        option = self.options.get("container-image")
        if option is not None and option.is_cut:
            self._refuse(option, "sbatch ends the value at #: put it in quotation marks")
        self._move("container-image", "image", lambda text: text.replace("#", "/", 1))

    def _variables(self, text: str) -> dict[str, str] | None:
        """Read NAME=VALUE items. A value with a comma is in quotation marks, as in sbatch."""
        found = {}
        for item in _items(text):
            name, equals, value = item.partition("=")
            if equals:
                found[name] = value
            elif item.upper() not in ("ALL", "NONE", "NIL"):
                raise ValueError(
                    f"{item} would be taken from your shell, which Muster does not see: write "
                    f"{item}=VALUE"
                )
        line = self.lines.get("envs")
        self.note(
            "#SBATCH --export",
            "the job gets Muster's variables and those in `envs`, not those of your shell",
            line,
        )
        return found or None

    def _chdir(self, text: str) -> str:
        if not text or not text.isprintable():
            raise ValueError("must be a folder")
        if not _PLAIN_BASH.match(self.first_line):
            raise ValueError("is not supported here: begin the script with `cd`")
        return f"cd -- {shlex.quote(text)}"

    def _retries(self) -> None:
        order = [name for name in self.options if name in ("requeue", "no-requeue")]
        found = [self.options.pop(name) for name in order]
        if not found or found[-1].name == "no-requeue":
            return
        if found[-1].value:
            self._refuse(found[-1], f"{shown(found[-1].value)}: must have no value")
        self._set("policy.retries", 1, found[-1])

    # What is allocated

    def _number(self, name: str) -> int | None:
        return cast("int | None", self._read(name, _count))

    def _allocation(self) -> None:
        """Convert nodes, tasks, cores, GPUs and memory to resources of each node.

        One script starts all tasks of a node, so it gets the cores and GPUs of all of them.
        """
        asked = dict(self.options)
        request = Allocation(
            nodes=self._read("nodes", _nodes),
            tasks=self._number("ntasks"),
            tasks_per_node=self._number("ntasks-per-node"),
            tasks_per_gpu=self._number("ntasks-per-gpu") or self._number("ntasks-per-tres"),
            cpus_per_task=self._number("cpus-per-task"),
            cpus_per_gpu=self._number("cpus-per-gpu"),
            min_cpus=self._number("mincpus") or 1,
            gres=self._read("gres", _gres),
            gpus=self._read("gpus", _gpus),
            gpus_per_node=self._read("gpus-per-node", _gpus),
            gpus_per_task=self._read("gpus-per-task", _gpus),
            memory=self._read("mem", _mebibytes),
            memory_per_cpu=self._read("mem-per-cpu", _mebibytes),
            memory_per_gpu=self._read("mem-per-gpu", _mebibytes),
            **(self._read("tres-per-task", _tres) or {}),
        )
        if self.report.errors:
            return
        try:
            found = allocate(request)
        except AllocationFault as fault:
            names = (*fault.options, "ntasks-per-tres", *asked)
            option = next(asked[name] for name in names if name in asked)
            self._refuse(option, str(fault))
            return
        self._store(found, asked)

    def _store(self, found: Allocated, asked: dict[str, Option]) -> None:
        def source(*names: str) -> Option:
            return next((asked[name] for name in names if name in asked), Option("", "", 0))

        tasks = source("ntasks", "ntasks-per-node", "ntasks-per-gpu", "gpus-per-task")
        if found.nodes > 1 or "nodes" in asked:
            self._set("num_nodes", found.nodes, source("nodes", "ntasks-per-node", "gpus"))
        if found.cpus > 1 or set(asked) & _OF_CORES:
            self._set(
                "resources.cpus",
                found.cpus,
                source(
                    "cpus-per-task",
                    "cpus-per-gpu",
                    "mincpus",
                    "tres-per-task",
                    "ntasks",
                    "ntasks-per-node",
                ),
            )
        if found.gpus:
            kind = f"{found.gpu_type}:" if found.gpu_type else ""
            self._set(
                "resources.accelerators",
                f"{kind}{found.gpus}" if kind else found.gpus,
                source("gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"),
            )
        if found.memory:
            self._set(
                "resources.memory", f"{found.memory}Mi", source("mem", "mem-per-cpu", "mem-per-gpu")
            )
        if tasks.name or found.tasks > found.nodes:
            self._set("slurm.tasks", found.tasks, tasks)
            # Slurm may place tasks unevenly, but each node has the GPUs of an even share.
            if "ntasks-per-node" in asked or (found.gpus_per_task and found.nodes > 1):
                self._set("slurm.tasks_per_node", found.tasks_per_node, tasks)
        if found.gpus_per_task:
            self._set("slurm.gpus_per_task", found.gpus_per_task, tasks)
        if found.tasks_per_node > 1:
            self.note(
                "#SBATCH --ntasks",
                f"{found.tasks_per_node} tasks per node: the script runs once, on {found.cpus} "
                "cores; `srun` in it starts all of them",
                None,
            )


_OF_CORES = {"ntasks", "ntasks-per-node", "cpus-per-task"}


def _items(text: str) -> list[str]:
    """Split at commas outside of quotation marks, like sbatch; marks around an item are dropped."""
    found = [""]
    quotes = {"'": False, '"': False}
    for char in text:
        if char in quotes:
            quotes[char] = not quotes[char]
        if char == "," and not any(quotes.values()):
            found.append("")
        else:
            found[-1] += char
    if any(quotes.values()):
        raise ValueError("a closing quotation mark is missing")
    return [
        item[1:-1] if len(item) > 1 and item[0] in quotes and item[0] == item[-1] else item
        for item in found
        if item
    ]


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not int(text):
        raise ValueError("must be a whole number from 1")
    return int(text)


def _pool(text: str) -> str:
    if "," in text:
        raise ValueError("a job runs in one pool: name one")
    return text.lower()


def _nodes(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,7})([kKmM]?)(?:-([0-9]{1,7})([kKmM]?))?", text, re.ASCII)
    if not match or not int(match[1]):
        raise ValueError("must be a number of nodes from 1, such as 2")
    units = {"": 1, "k": 1024, "m": 1 << 20}
    low = int(match[1]) * units[match[2].lower()]
    if match[3] and int(match[3]) * units[match[4].lower()] != low:
        raise ValueError("a job has a fixed number of nodes: write one number, such as 2")
    return low


def _array(text: str) -> str:
    """Read the ids of the tasks: in sbatch a bare number is one id, and order does not matter."""
    words, percent, limit = text.partition("%")
    if percent and not re.fullmatch(r"[1-9][0-9]{0,6}", limit, re.ASCII):
        raise ValueError("must end in the number of tasks at a time, such as %4")
    ids: set[int] = set()
    for word in filter(None, words.split(",")):
        match = _ARRAY_WORD.fullmatch(word)
        if match is None or match[3] == "0":
            raise ValueError("must be ids such as 7, 0-9, 1,5,9 or 1-99:2")
        first = int(match[1])
        last = int(match[2] or first)
        if last < first:
            raise ValueError("ids must be in ascending order")
        if (last - first) // int(match[3] or 1) >= MOST_TASKS:
            raise ValueError(f"must name at most {MOST_TASKS:,} ids")
        ids.update(range(first, last + 1, int(match[3] or 1)))
    if not ids:
        raise ValueError("must be ids such as 7, 0-9, 1,5,9 or 1-99:2")
    return f"{_ranges(sorted(ids))}{percent}{limit}" if ids != {0} else f"0-0{percent}{limit}"


def _ranges(ids: list[int]) -> str:
    """Format ids as ranges; a single id as ID-ID, because a bare number is a count in YAML."""
    step = ids[1] - ids[0] if len(ids) > 1 else 1
    if len(ids) > 2 and ids == list(range(ids[0], ids[-1] + 1, step)):
        return f"{ids[0]}-{ids[-1]}{f':{step}' if step > 1 else ''}"
    runs: list[list[int]] = []
    for number in ids:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(
        f"{first}-{last}" if last > first or len(runs) == 1 else f"{first}" for first, last in runs
    )


def _signal(text: str) -> str:
    """Return a signal in the form of the spec.

    Flag R, which concerns moving reservations, is dropped; B means only to the script.
    """
    match = _SIGNAL.fullmatch(text.upper())
    if match is None or int((match[3] or "@0")[1:]) > 65535:
        return ""
    return f"{'B:' if 'B' in match[1] else ''}{match[2]}{match[3] or ''}"


def _mebibytes(text: str) -> int:
    """Parse a memory size; a bare number is in MiB, and KiB are rounded up."""
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise ValueError("must be a size such as 4000, 16G or 512M")
    size = int(match[1])
    if not size:
        raise ValueError(
            "0 (all memory of the node) is not supported: write the memory the job needs"
        )
    unit = (match[2] or "M").upper()
    return -(-size // 1024) if unit == "K" else size << {"M": 0, "G": 10, "T": 20}[unit]


def _seconds(text: str) -> int | None:
    """Parse a time limit in seconds, which Slurm rounds up to a minute.

    Formats: minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]].
    """
    if text.upper() in ("UNLIMITED", "INFINITE", "-1"):
        return None
    if match := _DAYS.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    elif match := _CLOCK.fullmatch(text):
        days, hours, minutes, seconds = 0, *(int(part or 0) for part in match.groups())
        if match[3] is None:
            hours, minutes, seconds = 0, hours, minutes
    else:
        raise ValueError("must be a time such as 90, 90:00, 24:00:00 or 1-12:00:00")
    total = days * 86400 + hours * 3600 + minutes * 60 + seconds
    return -(-total // 60) * 60 or None


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


def _gres(text: str) -> GpuAmount | None:
    if text.lower() == "none":
        return None
    match = _GRES.fullmatch(text.removeprefix("gres:"))
    if match is None:
        raise ValueError(
            "must be GPUs of one type, such as gpu:2 or gpu:h100:2; other generic resources are "
            "not supported"
        )
    return _gpus_of(match[1], match[2])


def _gpus(text: str) -> GpuAmount:
    match = _GPUS.fullmatch(text)
    if match is None:
        raise ValueError("must be a number of GPUs such as 2 or h100:2, of one type")
    return _gpus_of(match[1] or match[2], match[3])


def _gpus_of(gpu_type: str | None, count: str | None) -> GpuAmount:
    """Return the GPUs; slices are named mig-1g.5gb, as in the inventory."""
    if gpu_type and gpu_type.lower() in ("gpu", "gpus", "any"):
        raise ValueError("must be a number of GPUs such as 2 or h100:2, of one type")
    word = gpu_type or ""
    return GpuAmount(int(count or 1), f"mig-{word}" if _MIG.match(word) else word)


def _tres(text: str) -> dict[str, Any]:
    """Read cpu:4,gres/gpu:h100:1 (or with `=`)."""
    found: dict[str, Any] = {}
    for word in text.split(","):
        name, _, count = word.replace("=", ":").partition(":")
        if name == "cpu" and re.fullmatch("[1-9][0-9]{0,8}", count, re.ASCII):
            found["tres_cpus"] = int(count)
        elif name in ("gres/gpu", "gres"):
            found["tres_gpus"] = _gres(word.replace("=", ":").replace("gres/", "gres:", 1))
        else:
            raise ValueError("must be cores and GPUs, such as cpu:4,gres/gpu:1")
    return found
