"""Define the Slurm-specific options of a job; other schedulers ignore them and say so."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from schedulers.spec.field_types import switch, text, whole
from schedulers.spec.sections import Section

WORD = r"[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,99}"
_FEATURE = rf"[(\[]{{0,3}}{WORD}(\*[1-9][0-9]{{0,4}})?[)\]]{{0,3}}(\*[1-9][0-9]{{0,4}})?"
FEATURES = rf"{_FEATURE}([&|]{_FEATURE}){{0,19}}"
SIGNAL = r"(B:)?(SIG)?([A-Z][A-Z0-9+]{1,9}|[1-9][0-9]?)(@[0-9]{1,5})?"
LICENSES = rf"{WORD}(@{WORD})?(,{WORD}(@{WORD})?){{0,19}}"


_Word = Annotated[
    str, text(most=100, pattern=WORD, hint="one word of letters, digits and _ . : + -")
]


class Slurm(Section):
    """Options of sbatch without an equivalent in the rest of the spec.

    They never override settings of the cluster's operator.
    """

    account: _Word = Field(default="", description="The account to charge", examples=["vision"])
    qos: _Word = Field(default="", description="The quality of service", examples=["long"])
    reservation: _Word = Field(
        default="", description="The reservation to run in", examples=["course-7"]
    )
    constraint: Annotated[
        str,
        text(
            most=500,
            pattern=FEATURES,
            hint="features of nodes, joined by & or |, in brackets if needed",
        ),
    ] = Field(
        default="",
        description="Features that the nodes must have",
        examples=["nvlink", "a100|h100"],
    )
    licenses: Annotated[
        str,
        text(
            most=500,
            pattern=LICENSES,
            hint="names of licenses such as matlab:2, separated by commas",
        ),
    ] = Field(
        default="", description="Licenses to reserve while the job runs", examples=["matlab:2"]
    )
    signal: Annotated[
        str,
        text(
            most=40,
            pattern=SIGNAL,
            hint="a signal and the seconds before the end, such as B:USR1@120",
        ),
    ] = Field(
        default="",
        description="A signal to send this many seconds before the time limit; with B: only to the "
        "script, not to its steps",
        examples=["B:USR1@120"],
    )
    tasks: Annotated[int, whole(0, 1_000_000)] = Field(
        default=0,
        description="Number of tasks that a plain `srun` in the script starts",
        examples=[8],
    )
    tasks_per_node: Annotated[int, whole(0, 4096)] = Field(
        default=0, description="Tasks on each node", examples=[4]
    )
    gpus_per_task: Annotated[int, whole(0, 128)] = Field(
        default=0, description="GPUs for each task", examples=[1]
    )
    exclusive: Annotated[bool, switch()] = Field(
        default=False, description="Exclusive nodes, if the operator allows it", examples=[True]
    )
