"""Read the options from `#SBATCH` lines; `sbatch.py` interprets them."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from schedulers.spec.errors import SpecReport, nearest

_LETTERS = """
A=account a=array b=begin c=cpus-per-task C=constraint D=chdir d=dependency e=error F=nodefile G=gpus H=hold i=input
J=job-name k=no-kill L=licenses m=distribution M=clusters N=nodes n=ntasks o=output O=overcommit p=partition q=qos
s=oversubscribe S=core-spec t=time w=nodelist x=exclude W=wait
"""
_FLAGS = """
exclusive hold no-requeue overcommit oversubscribe parsable requeue no-kill contiguous spread-job use-min-nodes wait
quiet verbose disable-stdout-job-summary get-user-env reboot
"""
_OTHERS = """
acctg-freq batch bb bbf cluster-constraint comment container container-image container-mounts container-name
container-workdir cores-per-socket cpu-freq cpus-per-gpu deadline delay-boot export export-file extra
extra-node-info gid gpu-bind gpu-freq gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint ignore-pbs
kill-on-invalid-dep mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus network nice
ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode power prefer priority profile propagate
reservation signal sockets-per-node switches test-only thread-spec threads-per-core time-min tmp tres-per-task uid
wait-all-nodes wckey wrap
"""
SHORT: dict[str, str] = {word[0]: word[2:] for word in _LETTERS.split()}
FLAGS = frozenset(_FLAGS.split())
KNOWN = frozenset(SHORT.values()) | FLAGS | frozenset(_OTHERS.split())

_DIRECTIVE = re.compile(r"#SBATCH(?:\s+(.*))?$")


@dataclass(frozen=True)
class Option:
    """One option by its long name; the value is "" for a flag. `line` is 1-based."""

    name: str
    value: str
    line: int


def options(text: str, report: SpecReport) -> dict[str, Option]:
    """Return the options of a script.

    As in Slurm, later options override earlier ones. Unknown options are recorded in the report.
    """
    found: dict[str, Option] = {}
    for line, words in _directives(text, report):
        for option in _options_of(words, line, report):
            found[option.name] = option
    return found


def _directives(text: str, report: SpecReport) -> Iterator[tuple[int, list[str]]]:
    """Yield the `#SBATCH` lines.

    As in Slurm, the first line that is neither empty nor a comment ends the options.
    """
    for line, typed in enumerate(text.split("\n"), start=1):
        if typed.strip() and not typed.startswith("#"):
            return
        match = _DIRECTIVE.match(typed)
        if match is None:
            continue
        try:
            yield line, _words(match[1] or "")
        except ValueError:
            report.add("#SBATCH", "a closing quotation mark is missing", line)


def _words(text: str) -> list[str]:
    """Split words like a shell, up to a comment.

    A # inside a word (nvcr.io#nvidia/pytorch) starts no comment. Raises ValueError.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        # the quotation mark may be inside the comment
        words = shlex.split(re.split(r"\s#", text, maxsplit=1)[0])
    return list(itertools.takewhile(lambda word: not word.startswith("#"), words))


def _options_of(words: list[str], line: int, report: SpecReport) -> Iterator[Option]:
    rest = iter(words)
    for word in rest:
        name, value = _split(word)
        if name not in KNOWN:
            hint = "" if report.is_full else nearest(name or word, sorted(KNOWN))
            report.add(f"#SBATCH {word[:40]}", f"is not an option of sbatch{hint}", line)
            return
        if value is None:
            value = "" if name in FLAGS else next(rest, None)
        if value is None:
            report.add(f"#SBATCH --{name}", "has no value", line)
            continue
        yield Option(name, value, line)


def _split(word: str) -> tuple[str, str | None]:
    """Split `--nodes=2` and `-N2` into ("nodes", "2").

    The value is None if it is the next word or absent.
    """
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        return name, value if equals else None
    if word.startswith("-") and len(word) > 1:
        return SHORT.get(word[1], ""), word[2:].removeprefix("=") or None
    return "", None
