"""Decide which options of sbatch a job may choose: settings of the operator take precedence.

Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Rejected

_HERE = ("account", "qos", "reservation")  # a single value: the operator's or the job's
_ALSO = ("constraint", "licenses")  # the job's in addition to the operator's
_ASKED_FOR = ("exclusive",)  # uses more than quotas count: only if the operator allows it
KNOWN = frozenset((*_HERE, *_ALSO, *_ASKED_FOR))
NOBODY = "none"
_WHOSE = "is left out: jobs of this cluster may not choose it."
_FIXED = "is left out: the operator of this cluster has set it."


@dataclass(frozen=True)
class ChosenOptions:
    """The accepted options of a job, and one sentence for each ignored one."""

    values: Mapping[str, Any] = field(default_factory=dict)
    ignored_options: tuple[str, ...] = ()


def choose(
    native: Mapping[str, Any],
    fixed: Mapping[str, str],
    may_choose: Iterable[str],
    kept: Collection[str] = (),
) -> ChosenOptions:
    """Select the options of a job.

    `may_choose` is empty (everything not fixed by the operator), `none`, or names that may be
    chosen even if fixed, unless they are in `kept`.
    """
    named, values, left_out = frozenset(may_choose), {}, []
    for name, value in native.items():
        is_open = name not in KNOWN or (name in named if named else name not in _ASKED_FOR)
        is_fixed = name in _HERE and bool(fixed.get(name)) and (name not in named or name in kept)
        if is_open and not is_fixed:
            values[name] = value
        elif not is_fixed or value != fixed[name]:
            left_out.append(f"`slurm.{name}` {_FIXED if is_fixed else _WHOSE}")
    return ChosenOptions(values, tuple(left_out))


def checked(may_choose: Iterable[str]) -> frozenset[str]:
    """Raise Rejected for a word that is not an option."""
    words = frozenset(word.strip(",").lower() for word in may_choose)
    if unknown := sorted(words - KNOWN - {NOBODY}):
        raise Rejected(
            Message(
                "Jobs may choose {KNOWN}, or {NOBODY} of them; not {x}.",
                KNOWN=", ".join(sorted(KNOWN)),
                NOBODY=NOBODY,
                x=repr(unknown[0][:40]),
            ),
            "may_choose",
        )
    return words


def combined(always: str, own: str) -> str:
    """Combine the node features of the operator and the job.

    Raises Rejected if Slurm could read the two as alternatives.
    """
    if always and "|" in own:
        raise Rejected(
            Message(
                "`slurm.constraint` may have no | here: the pool or cluster asks for features of "
                "its own."
            ),
            "slurm.constraint",
        )
    return "&".join(part for part in (always, own) if part)
