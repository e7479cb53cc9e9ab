"""Define the Slurm-specific options of a job; other schedulers ignore them and say so."""

from __future__ import annotations

from dataclasses import dataclass

from schedulers.spec.field_types import Switch, Text, Whole
from schedulers.spec.sections import Section, asked

WORD = r"[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,99}"
FEATURES = rf"{WORD}([&|]{WORD}){{0,19}}"
SIGNAL = r"(B:)?(SIG)?([A-Z][A-Z0-9+]{1,9}|[1-9][0-9]?)(@[0-9]{1,5})?"
LICENSES = rf"{WORD}(@{WORD})?(,{WORD}(@{WORD})?){{0,19}}"


def _word(title: str) -> Text:
    return Text(title, most=100, pattern=WORD, hint="one word of letters, digits and _ . : + -")


@dataclass(frozen=True)
class Slurm:
    """Options of sbatch without an equivalent in the rest of the spec.

    They never override settings of the cluster's operator.
    """

    account: str = asked(_word("account"), "", "The account to charge", examples=("vision",))
    qos: str = asked(_word("QOS"), "", "The quality of service", examples=("long",))
    reservation: str = asked(
        _word("reservation"), "", "The reservation to run in", examples=("course-7",)
    )
    constraint: str = asked(
        Text("features", most=500, pattern=FEATURES, hint="features of nodes, joined by & or |"),
        "",
        "Features that the nodes must have",
        examples=("nvlink", "a100|h100"),
    )
    licenses: str = asked(
        Text(
            "licenses",
            most=500,
            pattern=LICENSES,
            hint="names of licenses such as matlab:2, separated by commas",
        ),
        "",
        "Licenses to reserve while the job runs",
        examples=("matlab:2",),
    )
    signal: str = asked(
        Text(
            "signal",
            most=40,
            pattern=SIGNAL,
            hint="a signal and the seconds before the end, such as B:USR1@120",
        ),
        "",
        "A signal to send this many seconds before the time limit; with B: only to the script, not to its steps",
        examples=("B:USR1@120",),
    )
    tasks: int = asked(
        Whole(0, 1_000_000),
        0,
        "Number of tasks that a plain `srun` in the script starts",
        examples=(8,),
    )
    tasks_per_node: int = asked(Whole(0, 4096), 0, "Tasks on each node", examples=(4,))
    gpus_per_task: int = asked(Whole(0, 128), 0, "GPUs for each task", examples=(1,))
    exclusive: bool = asked(
        Switch(),
        False,
        "Exclusive nodes, if the operator allows it",
        examples=(True,),
    )


SLURM = Section(Slurm)
