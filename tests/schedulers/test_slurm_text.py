"""Test that what a person wrote in Slurm is never read as a field."""

from __future__ import annotations

from schedulers.contract import NodeFacts
from schedulers.slurm import nodes, reservations
from schedulers.slurm.pending_reasons import waiting
from schedulers.slurm.rows import Row
from schedulers.states import State, Wait
from tests.cases import read_case
from tests.schedulers.conftest import COMMANDS

HOSTILE = "State=DOWN Gres=gpu:a100:9 NodeName=x | \n   Partitions=evil CPUTot=1\n\nEndTime=5 [a@b]"


def node_of(text: str) -> NodeFacts:
    [node] = nodes.from_scontrol(text)
    return node


def test_untyped_gpus_in_use_are_counted():
    node = node_of(read_case("slurm-node-untyped-gpus.txt").decode())
    assert (node.used_gpus, [gpu.type for gpu in node.gpus]) == (3, ["gpu"] * 4)


def test_reason_with_a_state_does_not_change_the_state():
    node = node_of(read_case("slurm-node-reason-state.txt").decode())
    assert node.is_drained and node.is_ready
    assert node.note == "drain idle: set State=RESUME after the RMA"


GRES = [
    ("gpu:h100:3(IDX:0-2),gpu:(null):1(IDX:3)", 4),
    ("gpu:2080ti:2(IDX:0,2)", 2),
    ("gpu:1g.5gb:7(IDX:0-6)", 7),
    ("gpu:2(IDX:0,3)", 2),
    ("gpu:(null):0(IDX:N/A)", 0),
    ("(null)", 0),
]


def test_gpus_in_use_of_every_notation_are_counted(subtests):
    for gres, number in GRES:
        with subtests.test(gres=gres):
            assert (
                node_of(f"NodeName=n1 Gres=gpu:8 GresUsed={gres} State=MIXED").used_gpus == number
            )
            assert nodes.from_rest([{"name": "n1", "gres_used": gres}])[0].used_gpus == number


STATES = [
    ("ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP", True),
    ("IDLE+CLOUD+POWERING_UP", True),
    ("IDLE#", True),
    ("IDLE+NOT_RESPONDING", False),
    ("DOWN+CLOUD+POWERING_UP", False),
    ("IDLE+CLOUD+POWERED_DOWN", True),
]


def test_node_that_powers_up_is_starting_not_down(subtests):
    for state, is_ready in STATES:
        with subtests.test(state=state):
            node = node_of(f"NodeName=n1 CPUTot=8 Gres=gpu:1 State={state}")
            assert node.is_ready == is_ready
            assert ("powering_up" in node.note) == ("POWERING_UP" in state or "#" in state)


REASONS = {
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions": (
        Wait.NODES_DOWN
    ),
    "(ReqNodeNotAvail, UnavailableNodes:n4)": Wait.NODES_DOWN,
    "ReqNodeNotAvail, May be reserved for other job": Wait.RESERVED,
    "job requeued in held state": Wait.CLUSTER_HELD,
}


def test_reason_is_recognized_with_spaces_and_underscores(subtests):
    for reason, wait in REASONS.items():
        for text in (reason, reason.replace(" ", "_")):
            with subtests.test(reason=text):
                assert waiting(Row(7, "PENDING", "t-1", text)).wait == wait


def test_reservation_ends_when_slurm_says_not_when_its_comment_says():
    text = (
        "ReservationName=muster-a StartTime=100 EndTime=200 Duration=1\n   Nodes=n[1-2] State=ACTIVE\n"
        "   Comment=EndTime=5 Nodes=n9\n\nReservationName=muster-b EndTime=7\n   Nodes=n3 State=INACTIVE"
    )
    for form in (text, text.replace("\n   ", " ").replace("\n\n", "\n")):
        found = reservations.parsed(form, "muster-")
        assert [(one.name, one.nodes, one.ends_at.timestamp()) for one in found] == [
            ("muster-a", ("n1", "n2"), 200),
            ("muster-b", ("n3",), 7),
        ]


@COMMANDS
def test_hostile_texts_in_a_real_slurm_change_nothing(stage, slurm):
    """Read nodes, jobs and ends by commands, with hostile texts everywhere, as without them."""

    def facts():
        return [
            (n.name, n.gpus, n.used_gpus, n.partitions, n.cpus) for n in stage.backend.inventory()
        ]

    key = stage.submit("sleep 60; echo done", gpus=1).key
    stage.wait_for(lambda: stage.look(key).state == State.RUNNING, 20)
    number = int(stage.backend.find(key).native_id)
    before = facts()
    others = []
    try:
        for name in slurm.nodes:
            slurm.run(
                "scontrol", "update", f"nodename={name}", f"comment={HOSTILE}", f"extra={HOSTILE}"
            )
        slurm.run("scontrol", "update", "nodename=n4", "state=drain", f"reason={HOSTILE}")
        line = (
            f"{number}\x1fCOMPLETED\x1f\x1f1\x1f2\x1fn1\x1fbatch\x1fa\x1fb\x1f{slurm.user}\x1f{key}"
        )
        for name in (f"x\n{line}", f"\n{HOSTILE}\n{number}|COMPLETED", "ü" * 80, f"{line:<400}\n"):
            options = [
                "--parsable",
                "--output=/dev/null",
                f"--job-name={name}",
                f"--comment={line}",
            ]
            others.append(slurm.run("sbatch", *options, "--wrap=sleep 60", user=slurm.user).strip())
        slurm.run("scontrol", "update", f"jobid={number}", f"comment={HOSTILE}\n{line}\n")
        assert facts() == before
        drained = [node.name for node in stage.backend.inventory() if node.is_drained]
        assert drained == ["n4"] and all(node.is_ready for node in stage.backend.inventory())
        client = stage.backend._client  # both ways to ask for the queue
        for rows in (client.jobs([key]), client.jobs([key] * 60)):
            [row] = [row for row in rows if row.key == key]
            assert (row.id, row.state, row.user) == (number, "RUNNING", slurm.user)
        assert {str(one.row.id) for one in client.queue()} >= {str(number), *others}
        assert client.exit_of(number) == "0:0"
    finally:
        slurm.run("scancel", *others)
        slurm.run("scontrol", "update", "nodename=n4", "state=resume")
        for name in slurm.nodes:
            slurm.run("scontrol", "update", f"nodename={name}", "comment=", "extra=")
