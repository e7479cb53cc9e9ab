"""Test the numbers in explanations of Slurm, which must be consistent with its reasons."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedulers.capacity import ResourceRequest
from schedulers.contract import GpuFacts, NodeFacts
from schedulers.slurm import explanations
from schedulers.slurm.explanations import explained, picture_of, scene_of
from schedulers.slurm.limits import (
    SlurmLimits,
    assoc_lines,
    assoc_rows,
    partition_rows,
    qos_lines,
    qos_rows,
)
from schedulers.slurm.queue import amounts_of, need_of, queue_lines, queue_rows
from schedulers.slurm.rows import rest_row
from schedulers.slurm.usage import parse_usage
from schedulers.states import Wait
from tests.rig.seeds import examples

GIB = 1 << 30
ASSOCS = """
muster|root||||||||
muster|atlas||root||||||
muster|atlas|games|||||||
muster|borealis||root||gres/gpu=3||||2
muster|borealis|games|||||||2
muster|vision||borealis||cpu=20||||
muster|vision|games|||||cpu=16||
elsewhere|borealis||root||gres/gpu=1||||
"""
QOSES = """
normal|||||||||
high||cpu=9,mem=4G|1|||gres/gpu=2||3|
tight|DenyOnLimit,OverPartQOS|||gres/gpu=2||||
"""


def line(
    number,
    state="RUNNING",
    reason="None",
    gpus=0,
    cpus=1,
    nodes=1,
    account="borealis",
    qos="normal",
    user="games",
    priority=1,
    start="1700000000",
    partition="batch",
    key="",
):
    tres = f"cpu={cpus},mem={cpus * 100}M,node={nodes},billing={cpus}" + (
        f",gres/gpu={gpus * nodes}" if gpus else ""
    )
    return (
        "\x1f".join(
            map(
                str,
                (
                    number,
                    state,
                    reason,
                    start if state == "RUNNING" else "N/A",
                    user,
                    account,
                    qos,
                    partition,
                    nodes,
                    tres,
                    f"gres:gpu:{gpus}" if gpus else "N/A",
                    priority,
                    "(null)",
                    f"{key or f'k{number}':<100}",
                ),
            )
        )
        + "\n"
    )


def queue_of(lines):
    return queue_lines("".join(lines).encode())


def nodes(used=(0, 0, 0, 0), gpus=4, **more):
    return [
        NodeFacts(
            f"n{i}",
            8,
            16 * GIB,
            [GpuFacts(g, f"n{i}/{g}", "H100", "h100", 0) for g in range(gpus)],
            partitions=("batch",),
            used_gpus=n,
            used_cpus=n,
            **more,
        )
        for i, n in enumerate(used, 1)
    ]


def explanation_for(*lines, number=9, of=None, limits=None):
    """Return the explanation of one job of the queue."""
    known = (
        SlurmLimits(assoc_lines(ASSOCS, "muster"), qos_lines(QOSES)) if limits is None else limits
    )
    queue = queue_of(lines)
    return explained(
        next(job.row for job in queue if job.row.id == number),
        picture_of(queue, nodes() if of is None else of, known),
    )


def test_account_limit_has_numbers_users_and_smallest_change():
    seen = explanation_for(
        line(1, gpus=1),
        line(2, gpus=1, user="ada"),
        line(9, "PENDING", "AssocGrpGRES", gpus=2),
        line(3, gpus=1, account="atlas"),
    )
    assert seen.wait == Wait.CLUSTER_LIMIT
    assert seen.text == "Account borealis is using 2 of 3 GPUs; this job needs 2 GPUs."
    assert seen.facts["held"] == [{"key": "k1", "amount": 1, "since": 1700000000.0}] and seen.facts[
        "others"
    ] == {"jobs": 1, "amount": 1}
    assert seen.facts["change"] == {"resource": "gpu", "from": 2, "to": 1}


def test_jobs_of_other_portal_users_are_listed():
    queue = queue_of(
        [
            line(1, gpus=2, user="ada"),
            line(2, gpus=1, user="bob"),
            line(9, "PENDING", "AssocGrpGRES", gpus=1),
        ]
    )
    snapshot = picture_of(
        queue,
        nodes(),
        SlurmLimits(assoc_lines(ASSOCS, "muster"), qos_lines(QOSES)),
        {"games", "ada"},
    )
    seen = explained(queue[2].row, snapshot)
    assert [one["key"] for one in seen.facts["held"]] == ["k1"] and seen.facts["others"] == {
        "jobs": 1,
        "amount": 1,
    }


def test_account_limit_counts_child_accounts():
    seen = explanation_for(
        line(1, gpus=3, account="vision"), line(9, "PENDING", "AssocGrpGRES", gpus=1)
    )
    assert seen.text == "Account borealis is using 3 of 3 GPUs; this job needs 1 GPU."
    assert "change" not in seen.facts


def test_parent_account_limit_names_parent():
    seen = explanation_for(
        line(1, gpus=3), line(9, "PENDING", "AssocGrpGRES", gpus=1, account="vision")
    )
    assert seen.facts["whose"] == "Account borealis"


LIMITS = [
    ("AssocMaxJobsLimit", {}, "Account borealis lets one user run 2 jobs at once, and 2 run."),
    ("QOSGrpJobsLimit", {"qos": "high"}, "QOS high lets 1 job run at once, and 2 run."),
    (
        "QOSMaxGRESPerUser",
        {"qos": "high", "gpus": 1},
        "QOS high lets one user use 2 GPUs, of which 2 are in use; this job needs 1 GPU.",
    ),
    (
        "QOSGrpCpuLimit",
        {"qos": "high", "cpus": 8},
        "QOS high is using 2 of 9 cores; this job needs 8 cores.",
    ),
]


def test_limits_of_each_kind_have_a_sentence(subtests):
    for reason, more, text in LIMITS:
        with subtests.test(reason=reason, more=more):
            seen = explanation_for(
                line(1, gpus=1, qos="high"),
                line(2, gpus=1, qos="high"),
                line(9, "PENDING", reason, **more),
            )
            assert (seen.wait, seen.text) == (Wait.CLUSTER_LIMIT, text)


def test_request_above_limit_is_impossible_with_change():
    seen = explanation_for(line(9, "PENDING", "AssocGrpGRES", gpus=4))
    assert (seen.wait, seen.facts["change"]["to"]) == (Wait.IMPOSSIBLE, 3)
    assert (
        seen.text
        == "Account borealis lets all of its jobs together use at most 3 GPUs; this job needs 4 GPUs."
    )


def test_numbers_contradicting_slurm_reason_are_omitted():
    seen = explanation_for(line(1, gpus=1), line(9, "PENDING", "AssocGrpGRES", gpus=1))
    assert (
        seen.text
        == "Account borealis is at its limit of GPUs: all of its jobs together may hold no more."
        and "used" not in seen.facts
    )


def test_explanation_without_accounting_keeps_slurm_reason():
    seen = explanation_for(
        line(1, gpus=3), line(9, "PENDING", "AssocGrpGRES", gpus=1), limits=SlurmLimits()
    )
    assert "is at its limit of GPUs" in seen.text


def test_explanation_distinguishes_fragmented_from_full():
    waiting = line(9, "PENDING", "Resources", gpus=4, account="atlas")
    scattered, full = (
        explanation_for(waiting, of=nodes((2, 2, 3, 3))),
        explanation_for(waiting, of=nodes((4, 4, 4, 2))),
    )
    assert (scattered.wait, full.wait) == (Wait.SCATTERED, Wait.CAPACITY)
    assert scattered.text == (
        "6 GPUs are free in partition batch, but not on one node: the most on one node is 2 GPUs; this "
        "job needs 4 GPUs on one node."
    )
    assert (
        full.text
        == "Partition batch is full: 2 of 16 GPUs free; this job needs 4 GPUs on one node."
    )
    assert (
        scattered.facts["change"] == full.facts["change"] == {"resource": "gpu", "from": 4, "to": 2}
    )


def test_explanation_names_unavailable_nodes():
    drained = nodes((0, 0), is_drained=True) + [replace(node, name="n3") for node in nodes((4,))]
    seen = explanation_for(
        line(
            9,
            "PENDING",
            "ReqNodeNotAvail, UnavailableNodes:n[1-2]",
            gpus=4,
            nodes=2,
            account="atlas",
        ),
        of=drained,
    )
    assert (
        seen.wait == Wait.NODES_DOWN
        and seen.text
        == "2 of 3 nodes of partition batch that could run it are down or drained: n1, n2."
    )


def test_explanation_has_queue_position_and_expected_start():
    first, mine = (
        line(8, "PENDING", "Resources", gpus=4, priority=5),
        line(9, "PENDING", "Priority", gpus=1, account="atlas"),
    )
    seen = explanation_for(
        line(7, "PENDING", "Priority", priority=0),
        first,
        mine.replace("\x1fN/A\x1fgames", "\x1f1700000001\x1fgames", 1),
        of=nodes((4, 4, 4, 3)),
    )
    assert seen.text == "1 job comes first in partition batch. 1 of 4 nodes has room for it now."
    assert seen.facts["expected"] == "2023-11-14T22:15:00+00:00"


def test_large_queue_position_is_rounded():
    first = [line(n, "PENDING", "Priority", priority=9) for n in range(1000, 4456)]
    seen = explanation_for(*first, line(9, "PENDING", "Priority", gpus=1))
    assert (
        seen.text
        == "About 3,500 jobs come first in partition batch. 4 of 4 nodes have room for it now."
    )


def test_job_newer_than_snapshot_keeps_slurm_reason():
    row = queue_of([line(9, "PENDING", "Resources")])[0].row
    assert explained(row, picture_of([], [], SlurmLimits())).text == explained(row, None).text != ""


def test_job_name_with_bars_is_parsed():
    assert queue_of([line(1, key="a|b||")])[0].row.key == "a|b||"
    assert queue_lines(b"slurm_load_jobs error\n1|RUNNING") == []


SPELLINGS = [
    ("gres:gpu:h100:3", 3, ResourceRequest(3, 2000, 2 * GIB, 3, "h100")),
    ("gres/gpu:3", 3, ResourceRequest(3, 2000, 2 * GIB, 3)),
    ("gres:gpu", 3, ResourceRequest(1, 2000, 2 * GIB, 3)),
    ("", 3, ResourceRequest(3, 2000, 2 * GIB, 3)),
    ("gres/gpu:1g.10gb:3", 3, ResourceRequest(3, 2000, 2 * GIB, 3, "mig-1g.10gb")),
    ("gres:gpu:h100:1,gres:gpu:a100:2", 3, ResourceRequest(3, 2000, 2 * GIB, 3)),
]


def test_request_is_parsed_from_all_spellings(subtests):
    for per_node, nodes, need in SPELLINGS:
        with subtests.test(per_node=per_node, nodes=nodes):
            assert need_of("cpu=6,mem=6G,node=3,billing=6,gres/gpu=9", per_node, nodes) == need


def test_amounts_are_in_units_of_quotas():
    assert amounts_of("cpu=6,mem=1.5G,node=2,gres/gpu=9,gres/gpu:H100=9,fs/disk=7") == {
        "cpu": 6000,
        "memory": 3 * GIB // 2,
        "nodes": 2,
        "gpu": 9,
        "gpu.h100": 9,
    }
    assert amounts_of("mem=512") == {"memory": 512 << 20}


def test_slurmrestd_and_commands_agree():
    total = [{"type": "gres", "name": "gpu", "id": 1001, "count": 3}]
    assoc = {
        "account": "borealis",
        "user": None,
        "parent_account": "root",
        "partition": None,
        "max": {
            "jobs": {"per": {"count": None}, "active": 2},
            "tres": {"total": total, "per": {"job": [], "node": []}},
        },
    }
    assert assoc_rows([assoc]) == [
        a for a in assoc_lines(ASSOCS, "muster") if (a.account, a.user) == ("borealis", "")
    ]
    jobs = {
        "per": {"count": {"set": False, "infinite": True}},
        "active": {"number": 2, "set": True, "infinite": False},
    }  # since v0.0.39
    assert assoc_rows([{**assoc, "max": {**assoc["max"], "jobs": jobs}}]) == assoc_rows([assoc])
    per = {
        "user": [{"type": "gres", "name": "gpu", "count": 2}],
        "account": [],
        "job": [],
        "node": [],
    }
    qos = {
        "name": "high",
        "flags": [],
        "limits": {
            "max": {
                "active_jobs": {"count": 1},
                "jobs": {"active_jobs": {"per": {"account": None, "user": 3}}},
                "tres": {
                    "total": [
                        {"type": "cpu", "name": None, "count": 9},
                        {"type": "mem", "name": None, "count": 4096},
                    ],
                    "per": per,
                },
            }
        },
    }
    assert qos_rows([qos])["high"] == qos_lines(QOSES)["high"]
    assert partition_rows(
        [
            {"name": "a", "qos": "x"},
            {"name": "b", "qos": ""},
            {"name": "c", "qos": {"assigned": "y"}},
        ]
    ) == {"a": "x", "c": "y"}
    job = {
        "job_id": 9,
        "job_state": "RUNNING",
        "name": "k9",
        "state_reason": "None",
        "start_time": 1700000000,
        "partition": "batch",
        "account": "borealis",
        "qos": "normal",
        "user_name": "games",
        "tres_req_str": "cpu=1,mem=100M,node=1,billing=1,gres/gpu=2",
        "tres_alloc_str": "",
        "tres_per_node": "gres:gpu:2",
        "node_count": 1,
        "priority": 1,
        "features": "",
    }
    [by_rest], [by_command] = queue_rows([job], [rest_row(job)]), queue_of([line(9, gpus=2)])
    assert (by_rest.need, by_rest.amounts, by_rest.priority) == (
        by_command.need,
        by_command.amounts,
        by_command.priority,
    )


def test_partition_qos_takes_precedence_over_job_qos():
    limits = SlurmLimits(assoc_lines(ASSOCS, "muster"), qos_lines(QOSES), {"batch": "high"})
    seen = explanation_for(
        line(1, gpus=2), line(9, "PENDING", "QOSMaxGRESPerUser", gpus=1), limits=limits
    )
    assert seen.facts["whose"] == "QOS high"


@st.composite
def crowds(draw):
    """Draw running jobs of two accounts on four nodes with four GPUs, and a pending one."""
    used, lines = [0, 0, 0, 0], []
    for number in range(1, draw(st.integers(0, 10)) + 1):
        node, gpus = draw(st.integers(0, 3)), draw(st.integers(1, 4))
        if used[node] + gpus <= 4:
            used[node] += gpus
            lines.append(
                (
                    line(number, gpus=gpus, account=draw(st.sampled_from(["atlas", "borealis"]))),
                    node,
                )
            )
    return (
        used,
        lines,
        draw(st.integers(1, 4)),
        draw(st.integers(1, 3)),
        draw(st.sampled_from(["atlas", "borealis"])),
    )


@settings(max_examples=examples(300), deadline=None)
@given(crowds())
def test_explanation_of_random_cluster_is_correct(crowd):
    used, running, gpus, count, account = crowd
    held = sum(
        int(text.split("gres/gpu=")[1].split("\x1f")[0])
        for text, _ in running
        if "\x1fborealis\x1f" in text
    )
    jobs = sum("\x1fborealis\x1f" in text for text, _ in running)

    def first_check(gpus: int, count: int) -> str:
        """Return the first failing check in Slurm's order: account jobs, account GPUs, nodes."""
        if account == "borealis" and jobs >= 2:
            return "AssocMaxJobsLimit"
        if account == "borealis" and held + gpus * count > 3:
            return "AssocGrpGRES"
        return "" if sum(4 - n >= gpus for n in used) >= count else "Resources"

    reason = first_check(gpus, count)
    if not reason:
        return
    waiting = line(9, "PENDING", reason, gpus=gpus, nodes=count, account=account)
    seen = explanation_for(
        *(text for text, _ in running),
        waiting.replace("9\x1f", "99\x1f", 1),
        number=99,
        of=nodes(used),
    )
    free, is_never = 16 - sum(used), account == "borealis" and gpus * count > 3
    expected = (
        Wait.IMPOSSIBLE
        if is_never and reason == "AssocGrpGRES"
        else Wait.CLUSTER_LIMIT
        if reason != "Resources"
        else Wait.SCATTERED
        if free >= gpus * count
        else Wait.CAPACITY
    )
    assert seen.wait == expected
    change = seen.facts.get("change")
    fewer = [("gpu", g, g / gpus) for g in range(1, gpus) if not first_check(g, count)]
    fewer += [("nodes", n, n / count) for n in range(1, count) if not first_check(gpus, n)]
    best = max((share for _, _, share in fewer), default=None)
    if best is None:
        assert change is None or change["resource"] in ("cpu", "memory")
    else:
        assert change["to"] / change["from"] == pytest.approx(best) and (
            change["resource"],
            change["to"],
        ) in {(k, n) for k, n, _ in fewer}


@pytest.mark.parametrize("reason", ["Resources", "AssocGrpGRES", "Priority"])
def test_equal_jobs_are_explained_once(reason, monkeypatch):
    queue = queue_of(
        [line(1, gpus=3), *(line(n, "PENDING", reason, gpus=4) for n in range(2, 1002))]
    )
    requests = []
    monkeypatch.setattr(
        explanations, "scene_of", lambda *given: requests.append(given) or scene_of(*given)
    )
    snapshot = picture_of(
        queue,
        nodes(used=(4, 4, 4, 1)),
        SlurmLimits(assoc_lines(ASSOCS, "muster"), qos_lines(QOSES)),
    )
    seen = [explained(job.row, snapshot) for job in queue[1:]]
    assert len(requests) == 1
    assert (
        (seen[999].facts.get("before") == 1000)
        if reason == "Priority"
        else (seen[999] == seen[0] and seen[0].facts["ask"] == 4)
    )


@given(
    st.lists(
        st.tuples(st.sampled_from(["batch", "debug", "batch,debug", "big"]), st.integers(1, 3)),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=examples(50), deadline=None)
def test_queue_position_matches_direct_count(jobs):
    queue = queue_of(
        line(n, "PENDING", "Priority", priority=p, partition=names)
        for n, (names, p) in enumerate(jobs, 1)
    )
    snapshot = picture_of(queue, nodes(), SlurmLimits({}, {}))
    for job in queue:
        first = [
            other
            for other in queue
            if set(other.partitions) & set(job.partitions)
            and (-other.priority, other.row.id) < (-job.priority, job.row.id)
        ]
        assert snapshot.before(job) == len(first)


ASSOC_MGR = """
Association Records

ClusterName=muster Account=borealis UserName= Partition= Priority=0 ID=3
    GrpJobs=N(0) GrpJobsAccrue=N(3)
    GrpSubmitJobs=9(3) GrpWall=10(29.96)
    GrpTRES=cpu=N(0),billing=8(7),gres/gpu=N(0)
    GrpTRESMins=cpu=100(29),mem=N(2996),gres/gpu=30(9),gres/gpu:h100=8(9)
    MaxJobs= MaxJobsAccrue= MaxSubmitJobs=5(3) MaxWallPJ=
ClusterName=muster Account=borealis UserName=games(5) Partition= Priority=0 ID=6
    GrpSubmitJobs=N(3) GrpWall=N(29.96)
    GrpTRESMins=cpu=N(29),gres/gpu=20(9)
QOS Records

QOS=normal(1)
    GrpTRESRunMins=cpu=50(41),mem=N(0)
    MaxWallPJ=60
    MinTRESPJ=gres/gpu=2
    Account Limits
      atlas
        GrpTRESRunMins=cpu=1(1)
"""
COUNTED = [
    ("AssocGrpCPUMinutesLimit", "Account borealis has used 29 of 100 core minutes, and this job"),
    ("AssocGrpGRESMinutes", "Account borealis has used 9 of 8 GPU minutes."),
    ("AssocGrpWallLimit", "Account borealis has used 30 of 10 minutes of run time."),
    ("AssocGrpSubmitJobsLimit", "Account borealis has 3 of 9 jobs in the queue."),
    ("AssocMaxSubmitJobLimit", "Account borealis has 3 of 5 jobs in the queue."),
    ("AssocGrpBilling", "Account borealis is using 7 of 8 billing units, and this job"),
    ("QOSGrpCPURunMinutesLimit", "Running jobs of QOS normal may still take 41 of 50 core minutes"),
    ("QOSMaxWallDurationPerJobLimit", "QOS normal allows one job at most 60 minutes of run time."),
    ("QOSMinGRES", "QOS normal requires at least 2 GPUs."),
]


def test_limit_that_slurm_counts_has_limit_and_use(subtests):
    limits = SlurmLimits(assoc_lines(ASSOCS, "muster"), qos_lines(QOSES))
    for reason, text in COUNTED:
        with subtests.test(reason=reason):
            queue = queue_of([line(9, "PENDING", reason)])
            usage = parse_usage(ASSOC_MGR)
            seen = explained(queue[0].row, picture_of(queue, nodes(), limits, (), usage))
            assert seen.text.startswith(text) and seen.native_reason == reason
