"""Generate batch scripts from the grammar and the options of sbatch, and read what sbatch made."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping

NAMES = ("train", "a b", "x#y", "run-1", "r.2")
SIZES = ("500", "512M", "2G", "1500K", "3g", "1T", "64MB", "0", "x", "1.5G")
TIMES = (
    *("5", "90", "0:30", "1:30", "2:3:4", "1-0", "1-12", "1-2:30", "0-0:0:59", "UNLIMITED"),
    *("infinite", "0", "1:", "5-", "-1", "soon", "1:2:3:4", "-5", "1-2:3:4"),
)
ARRAYS = (
    *("7", "0-3", "1,5,9", "0-9:3", "0-9%2", "[1-3]", "[1,3,5-7]%2", "5,1-3", "3,3,3", "0"),
    *("1-5:2,8", "9-1", "1-3:0", "x", "4-4", "1-", "0-20:5%3", "%2", "1,,2", "10-12,11-14"),
)
GPUS = ("1", "2", "4", "h100:2", "h100", "H100:1", "0", "x:1", "a100:2", "h100:1,h100:1")
GRES = (
    *("gpu", "gpu:1", "gpu:4", "gpu:h100", "gpu:h100:2", "gres:gpu:2", "none", "gpu:0", "gpu=2"),
    *("gpu:2080ti", "gpu:h100:3", "GPU:2", "gpu:1,gpu:2", "disk:1", "gpu:2x"),
)
SMALL = ("1", "2", "3", "4", "8", "0", "x")
FEATURES = ("fast", "fast&big", "fast|big", "[fast|big]", "(fast|big)&big", "fast*1&big*1", "fast&")
VALUES: dict[str, tuple[str, ...]] = {
    "job-name": NAMES,
    "nodes": ("1", "2", "3", "4", "1-2", "2-2", "2-1", "0", "x"),
    "ntasks": SMALL,
    "ntasks-per-node": SMALL,
    "cpus-per-task": SMALL,
    "cpus-per-gpu": SMALL,
    "ntasks-per-gpu": ("1", "2"),
    "mincpus": SMALL,
    "gres": GRES,
    "gpus": GPUS,
    "gpus-per-node": GPUS,
    "gpus-per-task": GPUS,
    "mem": SIZES,
    "mem-per-cpu": SIZES,
    "mem-per-gpu": SIZES,
    "time": TIMES,
    "array": ARRAYS,
    "constraint": FEATURES,
    "comment": ("hello", "a b", "it's", 'say "x"', "a\\b"),
    "export": (
        *("ALL", "NONE", "ALL,LR=0.1", "A=1,B=two words", "A='x,y',B=2", "'A=x,y',B=2"),
        *("ALL,E=", "NIL", 'A="q",B'),
    ),
    "signal": ("USR1", "B:USR1@60", "10@5", "R:TERM", "RB:INT@9", "B:SIGTERM", "usr2@1", "@9"),
    "dependency": ("afterok:JOB", "singleton", "afterany:JOB,afternotok:JOB", "after:JOB+5"),
    "requeue": ("",),
    "no-requeue": ("",),
    "exclusive": ("", "user", "exclusive"),
    "oversubscribe": ("",),
    "nice": ("", "100"),
    "output": ("out.%j", "a b"),
    "ignore-pbs": ("",),
    "kill-on-invalid-dep": ("yes",),
    "tme": ("5",),
    "hint": ("nomultithread",),
}
OPTIONAL = ("exclusive", "nice", "requeue", "ignore-pbs", "oversubscribe", "no-requeue")
LETTERS = {
    "job-name": "J",
    "nodes": "N",
    "ntasks": "n",
    "cpus-per-task": "c",
    "gpus": "G",
    "time": "t",
    "array": "a",
    "constraint": "C",
    "output": "o",
    "dependency": "d",
    "oversubscribe": "s",
}
USUAL = (
    *("nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "gres", "gpus", "gpus-per-node"),
    *("mem", "time", "array", "cpus-per-gpu", "mem-per-gpu", "mem-per-cpu", "gpus-per-task"),
)
BETWEEN = ("", "# words", "  # indented", "\t", "#SBATCH", "#SBATCH # --mem=9G", "##SBATCH -n 9")


def script(seed: int) -> str:
    """Return a script: mostly valid options, spelled and laid out in the ways of the grammar."""
    dice = random.Random(seed)
    lines = [dice.choice(("#!/bin/bash", "#!/bin/sh", "#!/usr/bin/env python3"))]
    names = dice.sample(USUAL, dice.randint(0, 4)) + dice.sample(list(VALUES), dice.randint(0, 2))
    words: list[str] = []
    for name in names:
        # the first values are the usual ones
        values = VALUES[name]
        value = values[min(int(dice.expovariate(5 / len(values))), len(values) - 1)]
        words.extend(_spelled(name, value, dice))
    while words:
        count = dice.randint(1, 3)
        head = dice.choice(("#SBATCH ",) * 6 + ("#SBATCH", "#SBATCH\t", "#SLURM ", "#SBATCH  "))
        tail = dice.choice(("",) * 8 + (" # words", " \\", "  ", "\t", " # don't", "#x"))
        lines.append(head + " ".join(words[:count]) + tail)
        words = words[count:]
        if dice.random() < 0.3:
            lines.append(dice.choice(BETWEEN))
        if dice.random() < 0.04:
            lines.append(dice.choice(("true", "  set -e", "export A=1")))
    return "\n".join([*lines, "echo hi", "#SBATCH --nodes=99", ""])


def _spelled(name: str, value: str, dice: random.Random) -> list[str]:
    """Return an option as words of a line: long, abbreviated, short, attached or not."""
    value = _quoted(value, dice)
    way = dice.random()
    if name in OPTIONAL and not value.strip("'\""):
        return [f"-{LETTERS[name]}" if name in LETTERS and way < 0.5 else f"--{name}"]
    if name in LETTERS and way < 0.4:
        return [f"-{LETTERS[name]}{value}"] if way < 0.2 else [f"-{LETTERS[name]}", value]
    long = name[: -dice.randint(1, 3)] if way > 0.93 else name
    return [f"--{long}={value}"] if way < 0.8 or name in OPTIONAL else [f"--{long}", value]


def _quoted(value: str, dice: random.Random) -> str:
    if re.search(r"[\s#'\"\\]", value):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return dice.choice((value,) * 6 + (f"'{value}'", f'"{value}"'))


def records(text: str) -> dict[str, dict[str, str]]:
    """Return the jobs of `scontrol show job` by number: one field a word, as these have no spaces."""
    found = {}
    for record in re.split(r"\n\s*\n", text.strip()):
        fields = dict(re.findall(r"(?:^|\s)([A-Za-z/:]+)=(\S*)", record))
        fields["JobName"] = (re.search(r" JobName=(.*)", record) or [""])[1]
        fields["Comment"] = (re.search(r" Comment=(.*)", record) or ["", ""])[1].rstrip()
        found[fields.get("ArrayJobId", fields["JobId"])] = fields
    return found


def ids(text: str) -> set[int]:
    """Return the ids of `ArrayTaskId=1,3-9:2%4`."""
    found: set[int] = set()
    for word in text.partition("%")[0].split(","):
        first, _, rest = word.partition("-")
        last, _, step = rest.partition(":")
        found.update(range(int(first), int(last or first) + 1, int(step or 1)))
    return found


def minutes(text: str) -> int | None:
    """Return the minutes of `TimeLimit=1-02:03:00`."""
    if text == "UNLIMITED":
        return None
    days, _, clock = text.rpartition("-")
    hours, mins, _ = map(int, clock.split(":"))
    return int(days or 0) * 1440 + hours * 60 + mins


def tres(job: Mapping[str, str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in job["TRES"].split(","))


def sizes(texts: Iterable[str]) -> list[int]:
    """Return sizes such as 100M in MiB."""
    units = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1 << 20}
    return [round(float(text[:-1]) * units[text[-1]]) for text in texts]
