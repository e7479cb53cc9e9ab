"""Test the numbers in explanations of Kubernetes and Kueue."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schedulers.capacity import Candidates
from schedulers.kubernetes import kueue, names, pending_reasons
from schedulers.kubernetes.explanations import explained, snapshot_of
from schedulers.states import Wait
from tests.rig.seeds import examples

GPU, GIB = "nvidia.com/gpu", 1 << 30
SHORT = (
    "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available."
)


def node(number: int, gpus: int = 4, product: str = "NVIDIA-H100-80GB-HBM3", **spec):
    return {
        "metadata": {"name": f"n{number}", "labels": {"nvidia.com/gpu.product": product}},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": "32", "memory": "128Gi", GPU: str(gpus)},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(
    gpus: int,
    on: int | None = None,
    key: str = "",
    namespace: str = "muster-atlas-vision",
    cpu: str = "1",
    **spec,
):
    labels = names.labels("muster", key) if key else {}
    placed = {"nodeName": f"n{on}"} if on else {}
    return {
        "metadata": {
            "namespace": namespace,
            "name": f"p{on}",
            "labels": labels,
            "annotations": {names.KEY: key} if key else {},
        },
        "spec": {
            **placed,
            **spec,
            "containers": [
                {"resources": {"requests": {"cpu": cpu, **({GPU: str(gpus)} if gpus else {})}}}
            ],
        },
        "status": {"phase": "Running" if on else "Pending", "startTime": "2026-01-02T03:04:05Z"},
    }


def job(pending: dict, count: int = 1):
    return {
        "metadata": {"namespace": "muster-atlas-vision"},
        "spec": {"completions": count, "template": {"spec": pending["spec"]}},
    }


def explanation_for(
    pending: dict,
    running: list[dict],
    nodes: list[dict] | None = None,
    count: int = 1,
    said: str = SHORT,
):
    snapshot = snapshot_of(
        [node(i) for i in (1, 2, 3, 4)] if nodes is None else nodes, running, GPU, (), "muster"
    )
    return explained(
        pending_reasons.of_scheduler("Unschedulable", said),
        job(pending, count),
        [pending] * count,
        snapshot,
    )


def test_explanation_distinguishes_fragmented_from_full():
    running = [
        pod(3, on=1, key="a"),
        pod(3, on=2, key="a"),
        pod(3, on=3),
        pod(2, on=4, namespace="other"),
    ]
    scattered = explanation_for(pod(4), running)
    assert scattered.wait == Wait.SCATTERED
    assert scattered.text == (
        "5 GPUs are free in the cluster, but not on one node: the most on one node is 2 GPUs; this "
        "job needs 4 GPUs on one node."
    )
    assert scattered.facts["held"] == [{"key": "a", "amount": 6, "since": 1767323045.0}]
    assert scattered.facts["others"] == {"jobs": 2, "amount": 5} and scattered.facts["change"] == {
        "resource": "gpu",
        "from": 4,
        "to": 2,
    }
    assert scattered.facts["lacking"] == {"Insufficient nvidia.com/gpu": 4}
    full = explanation_for(pod(4), [*running, pod(2, on=4)])
    assert (full.wait, full.text) == (
        Wait.CAPACITY,
        "The cluster is full: 3 of 16 GPUs free; this job needs 4 GPUs on one node.",
    )


def test_explanation_ignores_other_gpu_types():
    wanted = {"key": "nvidia.com/gpu.product", "operator": "In", "values": ["NVIDIA-A100"]}
    rules = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [wanted]}]
            }
        }
    }
    seen = explanation_for(
        pod(2, affinity=rules), [pod(3, on=2)], [node(1), node(2, product="NVIDIA-A100")]
    )
    assert (seen.wait, seen.facts["free"], seen.facts["total"]) == (Wait.CAPACITY, 1, 4)


def test_request_larger_than_any_node_is_impossible():
    seen = explanation_for(pod(8), [])
    assert (seen.wait, seen.text) == (
        Wait.IMPOSSIBLE,
        "No node of the cluster is large enough: the largest has 4 GPUs, it asks 8 GPUs.",
    )
    assert seen.facts["change"]["to"] == 4


def test_explanation_names_cordoned_nodes():
    message = (
        "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable."
    )
    seen = explanation_for(pod(4), [], [node(1, unschedulable=True), node(2, gpus=2)], said=message)
    assert (seen.wait, seen.text) == (
        Wait.NODES_DOWN,
        "1 of 1 nodes of the cluster that could run it is down or drained: n1.",
    )


def test_tainted_nodes_are_down_unless_none_has_the_labels_asked_for():
    said = (
        "0/2 nodes are available: 1 node(s) had untolerated taint(s), "
        "1 node(s) didn't match Pod's node affinity/selector."
    )
    found = [node(1, taints=[{"key": "a", "effect": "NoSchedule"}]), node(2, product="A100")]
    assert explanation_for(pod(4), [], found, said=said).wait == Wait.NODES_DOWN
    never = explanation_for(pod(4, nodeSelector={"zone": "x"}), [], found, said=said)
    assert (never.wait, never.text) == (
        Wait.IMPOSSIBLE,
        "No node has the GPU type and the labels asked for.",
    )


def test_message_contradicted_by_numbers_stands_alone():
    assert explanation_for(pod(4), []).text == "0 of 4 nodes fit: 4 lack free nvidia.com/gpu."
    affinity = "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector."
    assert (
        explanation_for(pod(4), [pod(4, on=i) for i in (1, 2, 3, 4)], said=affinity).wait
        == Wait.IMPOSSIBLE
    )


def test_explanation_covers_unscheduled_pods_only():
    ours = pod(4, on=1, key="mine")
    snapshot = snapshot_of([node(1), node(2)], [ours, pod(1, on=2)], GPU, (), "muster")
    seen = explained(
        pending_reasons.of_scheduler("Unschedulable", SHORT),
        job(pod(4), 2),
        [ours, pod(4)],
        snapshot,
    )
    assert seen.wait == Wait.CAPACITY and seen.facts["on_nodes"] == 1


def test_equal_jobs_are_judged_once(monkeypatch):
    snapshot, judged = snapshot_of([node(1)], [pod(3, on=1)], GPU, (), "muster"), []
    change = Candidates.smallest_change
    monkeypatch.setattr(
        Candidates,
        "smallest_change",
        lambda field, need: judged.append(need) or change(field, need),
    )
    waiting = pending_reasons.of_scheduler("Unschedulable", SHORT)
    explanation = [
        explained(waiting, job(pod(gpus)), [pod(gpus)], snapshot).facts["ask"]
        for gpus in (2, 2, 3, 2, 3)
    ]
    assert (explanation, len(judged)) == ([2, 2, 3, 2, 3], 2)


def refused(text: str, pending: dict, running: list[dict], count: int = 1):
    message = f'pods "x" is forbidden: exceeded quota: gpus, {text}'
    snapshot = snapshot_of([node(i) for i in (1, 2, 3, 4)], running, GPU, (), "muster")
    return explained(pending_reasons.of_refusal(message), job(pending, count), [], snapshot)


def test_quota_explanation_has_numbers_users_and_change():
    seen = refused(
        f"requested: requests.{GPU}=2, used: requests.{GPU}=7, limited: requests.{GPU}=8",
        pod(2),
        [pod(4, on=1, key="a"), pod(3, on=2), pod(4, on=3, namespace="other")],
    )
    assert seen.wait == Wait.CLUSTER_LIMIT
    assert (
        seen.text
        == "Quota gpus of namespace muster-atlas-vision is using 7 of 8 GPUs; this job needs 2 GPUs."
    )
    assert [one["key"] for one in seen.facts["held"]] == ["a"] and seen.facts["others"] == {
        "jobs": 1,
        "amount": 3,
    }
    assert seen.facts["change"] == {"resource": "gpu", "from": 2, "to": 1}


def test_quota_counts_all_pods_of_a_job():
    seen = refused(
        "requested: pods=1,requests.cpu=2, used: pods=8,requests.cpu=1500m, limited: "
        "pods=10,requests.cpu=4",
        pod(0, cpu="2"),
        [],
        2,
    )
    assert (seen.facts["resource"], seen.facts["ask"], seen.facts["limit"]) == ("cpu", 4000, 4000)
    seen = refused("requested: pods=1, used: pods=9, limited: pods=10", pod(0), [], 2)
    assert (
        seen.text
        == "Quota gpus of namespace muster-atlas-vision is using 9 of 10 pods; this job needs 2 pods."
    )
    assert seen.facts["change"] == {"resource": "nodes", "from": 2, "to": 1}


def test_request_above_quota_is_impossible():
    seen = refused(
        f"requested: requests.{GPU}=4, used: requests.{GPU}=0, limited: requests.{GPU}=3",
        pod(4),
        [],
    )
    assert (seen.wait, seen.facts["change"]["to"]) == (Wait.IMPOSSIBLE, 3)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=8),
    st.integers(1, 5),
    st.integers(1, 3),
)
def test_explanation_of_random_cluster_is_correct(running, gpus, count):
    free = dict.fromkeys((1, 2, 3, 4), 4)
    pods = []
    for on, requests in running:
        if free[on] >= requests:
            free[on] -= requests
            pods.append(pod(requests, on=on))
    places = lambda asks: sum(left // asks for left in free.values())  # noqa: E731  several pods may share a node
    if places(gpus) >= count:
        return
    seen = explanation_for(pod(gpus), pods, count=count)
    expected = (
        Wait.IMPOSSIBLE
        if gpus > 4
        else Wait.SCATTERED
        if sum(free.values()) >= gpus * count
        else Wait.CAPACITY
    )
    assert seen.wait == expected
    fewer = [
        (requests / gpus, "gpu", requests)
        for requests in range(1, gpus)
        if places(requests) >= count
    ]
    fewer += [(n / count, "nodes", n) for n in range(1, count) if places(gpus) >= n]
    change = seen.facts.get("change")
    assert bool(change) == bool(fewer)
    if change:
        assert change["to"] / change["from"] == max(share for share, *_ in fewer) and (
            change["resource"],
            change["to"],
        ) in {f[1:] for f in fewer}


def workload(message: str = "", gpus: int = 4, count: int = 1, **status):
    conditions = (
        [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": message}]
        if message
        else []
    )
    return {
        "spec": {
            "podSets": [{"name": "main", "count": count, "template": {"spec": pod(gpus)["spec"]}}]
        },
        "status": {"conditions": conditions, **status},
    }


QUEUE = {
    "metadata": {"name": "big"},
    "spec": {
        "resourceGroups": [
            {"flavors": [{"name": "default", "resources": [{"name": GPU, "nominalQuota": "8"}]}]}
        ]
    },
    "status": {
        "flavorsReservation": [{"name": "default", "resources": [{"name": GPU, "total": "6"}]}]
    },
}
MORE = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
    "flavor default, 2 more needed"
)


def test_kueue_message_yields_numbers_and_smallest_change():
    seen = kueue.waiting(workload(MORE))
    assert seen is not None and (seen.wait, seen.facts["change"]) == (
        Wait.CLUSTER_LIMIT,
        {"resource": "gpu", "from": 4, "to": 2},
    )
    assert seen.text == (
        "Kueue's quota of GPUs in flavor default is used up; this job needs 4 GPUs, and 2 GPUs "
        "more are needed."
    )
    known = kueue.waiting(workload(MORE), QUEUE)
    assert known is not None and known.text.startswith(
        "Kueue's flavor default has 6 of 8 GPUs in use; this job needs 4 GPUs"
    )


def test_kueue_stale_queue_numbers_are_omitted():
    idle = {
        **QUEUE,
        "status": {
            "flavorsReservation": [{"name": "default", "resources": [{"name": GPU, "total": "0"}]}]
        },
    }
    seen = kueue.waiting(workload(MORE), idle)
    assert seen is not None and "used" not in seen.facts
    assert seen.text == (
        "Kueue's quota of GPUs in flavor default is used up; this job needs 4 GPUs, and 2 GPUs "
        "more are needed."
    )


UNITS = [
    ("cpu", "1", "1 core more is needed"),
    ("cpu", "2", "2 cores more are needed"),
    (GPU, "1", "1 GPU more is"),
]


def test_kueue_one_more_needed_uses_singular_in_every_unit(subtests):
    for resource, more, words in UNITS:
        with subtests.test(resource=resource, more=more):
            seen = kueue.waiting(
                workload(
                    f"{LACKS}insufficient unused quota for {resource} in flavor default, {more} "
                    "more needed"
                )
            )
            assert seen is not None and words in seen.text


def admitted(name: str, gpus: int, queue: str = "big", flavor: str = "default", **more):
    """Return a Workload that has reserved quota."""
    usage = {
        "name": "main",
        "flavors": {GPU: flavor, "cpu": flavor},
        "resourceUsage": {GPU: str(gpus), "cpu": "500m"},
    }
    conditions = [
        {"type": "QuotaReserved", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"},
        *more.get("conditions", ()),
    ]
    return {
        "metadata": {
            "name": f"job-{name}",
            "ownerReferences": [{"name": name, "uid": f"uid-{name}"}],
        },
        "status": {
            "admission": {"clusterQueue": queue, "podSetAssignments": [usage]},
            "conditions": conditions,
        },
    }


def test_kueue_explanation_lists_users_of_same_flavor_only():
    over = {"type": "Finished", "status": "True"}
    given = kueue.reserved(
        [
            admitted("a", 4),
            admitted("b", 2),
            admitted("c", 1, queue="small"),
            admitted("d", 1, flavor="spot"),
            admitted("e", 8, conditions=[over]),
            workload(MORE),
        ]
    )
    assert given[0].amounts == {("default", "gpu"): 4, ("default", "cpu"): 500} and len(given) == 4
    ours = [replace(one, key="k-a") if one.uid == "uid-a" else one for one in given]
    waiting = kueue.waiting(workload(MORE), QUEUE)
    seen = explained(
        waiting,
        job(pod(4)),
        [],
        replace(snapshot_of([node(1)], [], GPU, (), "muster"), reserved=ours),
    )
    assert seen.facts["held"] == [
        {"key": "k-a", "amount": 4, "since": 1767323045.0}
    ] and seen.facts["others"] == {"jobs": 1, "amount": 2}
    assert seen.text == waiting.text and seen.facts["change"] == {
        "resource": "gpu",
        "from": 4,
        "to": 2,
    }


def test_kueue_change_without_free_node_is_omitted():
    waiting = kueue.waiting(workload(MORE), QUEUE)
    full = snapshot_of([node(1)], [pod(3, on=1)], GPU, (), "muster")
    assert explained(waiting, job(pod(4)), [], full).facts["change"] is None


def test_kueue_missing_amount_is_divided_among_pods():
    seen = kueue.waiting(workload(MORE.replace("2 more", "3 more"), gpus=4, count=2))
    assert seen is not None and (seen.facts["ask"], seen.facts["change"]["to"]) == (8, 2)


LACKS = "couldn't assign flavors to pod set main: "
NEVER = f"{LACKS}insufficient quota for {GPU} in flavor default, "


SENTENCES = [
    (
        f"{NEVER}request > maximum capacity (4 > 3)",
        Wait.IMPOSSIBLE,
        "gives 3 GPUs at most; this job needs 4",
    ),
    (
        (
            f"{NEVER}previously considered podsets requests (0) + current podset request (4) > "
            "maximum capacity (2)"
        ),
        Wait.IMPOSSIBLE,
        "gives 2 GPUs at most",
    ),
    (
        f"{LACKS}insufficient unused quota for memory in flavor default, 4396Mi more needed",
        Wait.CLUSTER_LIMIT,
        "4.3 GiB more",
    ),
    (
        f"{MORE}, insufficient unused quota for {GPU} in flavor large, 1 more needed",
        Wait.CLUSTER_LIMIT,
        "in flavor large is used up",
    ),
    (
        f"{LACKS}borrowing limit for {GPU} in flavor default exceeded",
        Wait.CLUSTER_LIMIT,
        "borrow no more GPUs",
    ),
    (f"{LACKS}resource memory unavailable in ClusterQueue", Wait.IMPOSSIBLE, "no memory at all"),
    ("LocalQueue vision doesn't exist", Wait.CLUSTER_HELD, "no queue vision"),
    ("ClusterQueue big is inactive", Wait.CLUSTER_HELD, "queue big is stopped"),
    (
        f"{LACKS}untolerated taint {{a b NoSchedule <nil>}} in flavor spot",
        Wait.IMPOSSIBLE,
        "flavor spot are tainted",
    ),
    ("ClusterQueue big not found", Wait.CLUSTER_HELD, "queue big does not exist"),
    ("LocalQueue vision is inactive", Wait.CLUSTER_HELD, "queue vision is stopped"),
    ("LocalQueue vision is stopped", Wait.CLUSTER_HELD, "queue vision is stopped"),
    (
        "workload namespace doesn't match ClusterQueue selector",
        Wait.CLUSTER_HELD,
        "does not accept jobs from this team's namespace",
    ),
    (f"{MORE}. Pending the preemption of 2 workload(s)", Wait.CAPACITY, "is stopping 2 other jobs"),
    (
        (
            "Workload has overlapping preemption targets with another workload, but will fit after "
            "these preemptions complete"
        ),
        Wait.CAPACITY,
        "is stopping other jobs",
    ),
    (
        "Bypassed scheduling evaluation because an equivalent workload recently failed",
        Wait.CLUSTER_LIMIT,
        "with the same request",
    ),
    (
        "Workload is pending evaluation in the scheduling queue",
        Wait.EVALUATING,
        "has not evaluated the job yet",
    ),
    ("something new", Wait.CLUSTER_LIMIT, "Kueue says: something new"),
]


def test_kueue_messages_all_have_a_sentence(subtests):
    for message, wait, words in SENTENCES:
        with subtests.test(message=message, wait=wait):
            seen = kueue.waiting(workload(message))
            assert seen is not None and seen.wait == wait and words in seen.text


@pytest.mark.parametrize(
    "said", ["", "Bypassed scheduling evaluation because an equivalent workload recently failed"]
)
def test_kueue_equal_workloads_share_explanation(said):
    first, later = workload(MORE), workload(said)
    smaller = workload(MORE.replace("2 more", "1 more"), gpus=3)
    seen = kueue.waiting(later, QUEUE, [later, smaller, first])
    assert (
        seen is not None
        and seen.text == kueue.waiting(first, QUEUE).text
        and seen.facts["more"] == 2
    )
    assert kueue.waiting(later, QUEUE, [later, smaller]).wait in {
        Wait.EVALUATING,
        Wait.CLUSTER_LIMIT,
    }
    stopping = workload(f"{MORE}. Pending the preemption of 1 workload(s)")
    assert "stopping" not in kueue.waiting(later, QUEUE, [stopping]).text


def test_kueue_reserved_workload_waits_for_admission_check():
    reserved = {"type": "QuotaReserved", "status": "True"}
    checks = [{"name": "capacity", "state": "Pending"}]
    assert (
        kueue.waiting(workload(conditions=[reserved, {"type": "Admitted", "status": "True"}]))
        is None
    )
    seen = kueue.waiting(workload(conditions=[reserved], admissionChecks=checks))
    assert seen is not None and "waits for capacity" in seen.text
    assert kueue.waiting(workload()).wait == Wait.EVALUATING
    assert kueue.waiting({"spec": {"active": False}}).wait == Wait.CLUSTER_HELD


@given(st.text())
def test_kueue_any_message_is_parsed_without_error(message):
    assert kueue.of_message(message, workload()).text
    assert kueue.of_message(f"insufficient unused quota for {message}", workload()).text


pairs = st.tuples(
    st.sampled_from(["cpu", "requests.memory", "pods", f"requests.{GPU}", "x"]),
    st.from_regex(r"[0-9a-zKM.=-]{0,5}", fullmatch=True),
)
amounts = st.lists(pairs, min_size=1, max_size=3).map(
    lambda found: ",".join(f"{name}={value}" for name, value in found)
)


@given(amounts, amounts)
@example("pods=9e999", "pods=9e999")
def test_any_quota_message_is_parsed_without_error(used, limited):
    message = f"exceeded quota: q, requested: pods=1, used: {used}, limited: {limited}"
    assert explained(
        pending_reasons.of_refusal(message), job(pod(1)), [], snapshot_of([], [], GPU, (), "muster")
    ).text
