"""Read the options of a batch script as sbatch does; `sbatch.py` interprets them.

The rules are those of sbatch's own reader: which lines count, how a line is split into arguments,
and how getopt_long reads the arguments of all lines as one command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

from schedulers.spec.errors import SpecReport, nearest


class Value(IntEnum):
    """Whether an option has a value; an optional one is only read after `=`."""

    NONE = 0
    REQUIRED = 1
    OPTIONAL = 2


_LETTERS = """
A=account a=array b=begin B=extra-node-info c=cpus-per-task C=constraint D=chdir d=dependency e=error F=nodefile G=gpus
h=help H=hold i=input J=job-name k=no-kill L=licenses m=distribution M=clusters N=nodes n=ntasks o=output O=overcommit
p=partition q=qos Q=quiet s=oversubscribe S=core-spec t=time v=verbose V=version w=nodelist x=exclude W=wait
"""
_FLAGS = """
consolidate-segments container-entrypoint container-mount-home container-readonly container-remap-root
container-writable contiguous external help hold ignore-pbs no-container-entrypoint no-container-mount-home
no-container-remap-root no-requeue overcommit oversubscribe parsable quiet reboot spread-job spread-segments stepmgr
test-only usage use-min-nodes verbose version wait
"""
_OPTIONAL = "exclusive get-user-env nice no-kill oom-kill-step propagate requeue resv-ports"
_REQUIRED = """
account acctg-freq array autocomplete batch bb bbf begin chdir cluster cluster-constraint clusters comment constraint
container container-env container-id container-image container-mounts container-name container-save container-workdir
context core-spec cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution error
exclude export export-file extra extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task
gres gres-flags hint input job-name kill-on-invalid-dep licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu
mem-per-gpu mem-update mincpus network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node
ntasks-per-socket ntasks-per-tres open-mode output partition power prefer priority profile qos reservation resources
runtime segment signal sockets-per-node switches tasks-per-node thread-spec threads-per-core time time-min tmp
tres-bind tres-per-task uid wait-all-nodes wckey wrap
"""
SHORT: dict[str, str] = {word[0]: word[2:] for word in _LETTERS.split()}
OPTIONS: dict[str, Value] = {
    **dict.fromkeys(_FLAGS.split(), Value.NONE),
    **dict.fromkeys(_OPTIONAL.split(), Value.OPTIONAL),
    **dict.fromkeys(_REQUIRED.split(), Value.REQUIRED),
}
_ALIASES = {"tasks-per-node": "ntasks-per-node", "cluster": "clusters"}

_DIRECTIVE = re.compile(r"#(?:SBATCH|SLURM)(.*)", re.DOTALL)
_COMPONENT = re.compile(r"(?:hetjob|packjob)(?=\s|$)", re.IGNORECASE)
_OTHER_DIRECTIVE = re.compile(r"#(?:PBS|BSUB)")
_LINES_OF_OTHERS = 100  # sbatch looks for #PBS lines until so many lines are no comments
_UNKNOWN = "is not an option of sbatch"
_SPACES = " \t\n\v\f\r"


@dataclass(frozen=True)
class Option:
    """One option by its long name; the value is "" for a flag. `line` is 1-based.

    `is_cut`: the value ended at a # without a space before it.
    """

    name: str
    value: str
    line: int
    is_cut: bool = False
    earlier: tuple[str, ...] = ()  # values that this one overrides


@dataclass(frozen=True)
class Argument:
    """One word of a directive."""

    text: str
    line: int
    is_cut: bool = False


def options(text: str, report: SpecReport) -> dict[str, Option]:
    """Return the options of a script.

    As in Slurm, later options override earlier ones, and come later in the result. What sbatch
    refuses is recorded in the report.
    """
    found: dict[str, Option] = {}
    for option in _options(list(_arguments(text, report)), report):
        earlier = found.pop(option.name, None)
        if earlier is not None:
            option = replace(option, earlier=(*earlier.earlier, earlier.value)[-9:])
        found[option.name] = option
    if "ignore-pbs" not in found:
        _refuse_other_directives(text, report)
    return found


def _arguments(text: str, report: SpecReport) -> Iterator[Argument]:
    """Yield the arguments of all directives.

    The first line that is neither blank nor a comment, indented or not, ends the options.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        match = _DIRECTIVE.fullmatch(line)
        if match is None:
            if not line.strip(_SPACES) or line.strip(_SPACES).startswith("#"):
                continue
            return
        try:
            yield from split_arguments(match[1], number)
        except ValueError as fault:
            report.add("#SBATCH", str(fault), number)


def split_arguments(text: str, line: int = 0) -> list[Argument]:
    """Split the rest of a line into arguments, like sbatch's get_argument(). Raises ValueError.

    A backslash escapes one character, also between quotation marks. An unescaped # outside of
    quotation marks begins a comment, also inside a word.
    """
    found: list[Argument] = []
    at = 0
    while True:
        while at < len(text) and text[at] in _SPACES:
            at += 1
        if _COMPONENT.match(text, at):
            raise ValueError(
                "hetjob: heterogeneous jobs are not supported: submit each component as a job of "
                "its own"
            )
        if text[at : at + 1] == ":":
            raise ValueError("a word may not begin with `:`")
        word, at = _next_word(text, at)
        is_comment = text[at : at + 1] == "#"
        if word is None:
            if not is_comment and text[at:].strip(_SPACES):
                raise ValueError(
                    "has an empty word, at which sbatch ends the line: write `--option=` instead"
                )
            return found
        found.append(Argument(word, line, is_comment))


def _next_word(text: str, at: int) -> tuple[str | None, int]:
    """Return the word that begins here, or None, and where it ends."""
    word: str | None = None
    quote, is_escaped = "", False
    while at < len(text) and (quote or text[at] not in _SPACES):
        char = text[at]
        if is_escaped:
            is_escaped = False
        elif char == "\\":
            # Slurm 22.05 ends the word here, later versions add the space to it.
            if text[at + 1 : at + 2] == " " and (quote or text[at + 1 :].strip(_SPACES)):
                raise ValueError(
                    "versions of sbatch differ about a backslash before a space: put the value in "
                    "quotation marks"
                )
            is_escaped = True
            at += 1
            continue
        elif quote:
            if char == quote:
                quote = ""
                at += 1
                continue
        elif char in "\"'":
            quote = char
            at += 1
            continue
        elif char == "#":
            break
        word = (word or "") + char
        at += 1
    if quote:
        raise ValueError("a closing quotation mark is missing")
    return word, at


def _options(arguments: list[Argument], report: SpecReport) -> Iterator[Option]:
    """Read the arguments like getopt_long: abbreviations, attached values, clustered letters."""
    rest = iter(arguments)
    bad_line = 0  # nothing is known about the words after an unknown option
    for argument in rest:
        if argument.line == bad_line:
            continue
        try:
            yield from _options_of(argument, rest)
        except ValueError as fault:
            name, message = argument.text.partition("=")[0][:40], str(fault)
            if message == _UNKNOWN and not report.is_full:
                message += nearest(name.lstrip("-"), sorted(OPTIONS))
            report.add(f"#SBATCH {name}", message, argument.line)
            bad_line = argument.line


def _options_of(argument: Argument, rest: Iterator[Argument]) -> Iterator[Option]:
    word = argument.text
    if word.startswith("--") and len(word) > 2:
        typed, equals, value = word[2:].partition("=")
        name = _long_name(typed)
        if equals and OPTIONS[name] is Value.NONE:
            raise ValueError(f"takes no value: write `--{name}`")
        yield _with_value(name, value if equals else None, argument, rest)
        return
    if not word.startswith("-") or word in ("-", "--"):
        raise ValueError(_UNKNOWN)
    letters = word[1:]
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter not in SHORT:
            raise ValueError(f"`-{letter}` is not an option of sbatch")
        name = SHORT[letter]
        if OPTIONS[name] is Value.NONE:
            yield Option(name, "", argument.line)
            continue
        yield _with_value(name, letters or None, argument, rest)
        return


def _with_value(
    name: str, value: str | None, argument: Argument, rest: Iterator[Argument]
) -> Option:
    """Return the option; a required value that is not attached is the next argument."""
    is_cut = argument.is_cut
    if value is None and OPTIONS[name] is Value.REQUIRED:
        following = next(rest, None)
        if following is None:
            raise ValueError("has no value")
        value, is_cut = following.text, following.is_cut
    return Option(_ALIASES.get(name, name), value or "", argument.line, is_cut)


def _long_name(typed: str) -> str:
    """Return the option that this is the name of, or an unambiguous beginning. Raises ValueError."""
    if typed in OPTIONS:
        return typed
    names = sorted(name for name in OPTIONS if name.startswith(typed)) if typed else []
    if len(names) == 1:
        return names[0]
    if names:
        raise ValueError(f"may mean {', '.join(f'--{name}' for name in names[:4])}: write it out")
    raise ValueError(_UNKNOWN)


def _refuse_other_directives(text: str, report: SpecReport) -> None:
    """Refuse options of PBS and LSF, which sbatch translates."""
    others = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if _OTHER_DIRECTIVE.match(line):
            report.add(
                line.split()[0][:5].rstrip(":"),
                "options of PBS and LSF are not supported: write them as #SBATCH lines, or add "
                "`#SBATCH --ignore-pbs`",
                number,
            )
            return
        others += not line.startswith("#")
        if others > _LINES_OF_OTHERS:
            return
