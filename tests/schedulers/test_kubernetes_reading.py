"""Test the parsing of timestamped logs, scheduler messages, nodes and ends of pods."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedulers.kubernetes import logs, names, nodes, pending_reasons, states
from schedulers.kubernetes.access import BadAccess, from_kubeconfig
from schedulers.states import Reason, State, Wait
from tests.cases import read_case

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
JOB = {
    "metadata": {"name": "j", "namespace": "n", "uid": "u"},
    "spec": {"completions": 1, "parallelism": 1},
    "status": {},
}


class Kubelet:
    """Keeps lines like a kubelet, and returns them with timestamps from a given second on."""

    def __init__(self) -> None:
        self.lines: list[tuple[datetime, bytes]] = []

    def write(self, data: bytes, at: float) -> None:
        self.lines += [
            (NOW + timedelta(seconds=at), line + b"\n") for line in data.split(b"\n")[:-1]
        ]
        if rest := data.rpartition(b"\n")[2]:
            self.lines.append((NOW + timedelta(seconds=at), rest))

    def answer(self, place: logs.LogPosition, cut: int) -> list[bytes]:
        since = datetime.fromisoformat(place.since) if place.since else NOW
        data = b"".join(
            f"{at.strftime('%Y-%m-%dT%H:%M:%S.%f')}000Z ".encode() + line
            for at, line in self.lines
            if at >= since
        )
        return [data[i : i + cut] for i in range(0, len(data), cut)]


@given(
    writes=st.lists(
        st.tuples(st.binary(max_size=60).map(lambda b: b + b"\n"), st.integers(1, 1500)),
        max_size=12,
    ),
    limit=st.integers(1, 90),
    cut=st.integers(1, 70),
)
def test_log_read_in_pieces_while_growing_is_byte_exact(writes, limit, cut):
    kubelet, places, got, at = Kubelet(), logs.LogPositions(), b"", 0.0
    for data, pause in [*writes, (b"", 0)]:
        kubelet.write(data, at := at + pause / 1000)
        while True:
            place = places.before("pod", len(got))
            read, place, _ = logs.take(kubelet.answer(place, cut), place, len(got), limit)
            places.keep("pod", place)
            got += read
            if not read:
                break
    assert got == b"".join(data for data, _ in writes)


@given(
    lines=st.lists(
        st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"") + b"\n"), min_size=1, max_size=9
    ),
    after=st.integers(0, 99),
)
def test_log_from_any_offset_without_cache_is_identical(lines, after):
    kubelet = Kubelet()
    for number, line in enumerate(lines):
        kubelet.write(line, number * 0.7)
    assert (
        logs.take(kubelet.answer(logs.LogPosition(), 64), logs.LogPosition(), after, 1 << 20)[0]
        == b"".join(lines)[after:]
    )


def test_rotated_log_continues_after_last_line():
    kubelet, places = Kubelet(), logs.LogPositions()
    for number in range(10):
        kubelet.write(f"line {number}\n".encode(), number * 0.2)
    first, place, _ = logs.take(
        kubelet.answer(logs.LogPosition(), 64), logs.LogPosition(), 0, 1 << 20
    )
    places.keep("pod", place)
    for number in range(10, 13):
        kubelet.write(f"line {number}\n".encode(), number * 0.2)
    del kubelet.lines[:8]
    place = places.before("pod", len(first))
    rest = b"line 10\nline 11\nline 12\n"
    assert logs.take(kubelet.answer(place, 64), place, len(first), 1 << 20)[::2] == (rest, False)
    del kubelet.lines[:4]
    late = logs.take(kubelet.answer(place, 64), place, len(first), 1 << 20)
    assert late[::2] == (b"line 12\n", True), "lines may be missing, and that is said"


@pytest.mark.parametrize("cut", [1, 64])
def test_log_that_was_rotated_before_its_first_read_says_so(cut):
    """Also after a restart, which forgets positions: what is left then counts as new."""
    kubelet = Kubelet()
    for number, line in enumerate((logs.MARK, b"line 1\n", b"line 2\n", b"line 3\n")):
        kubelet.write(line, number * 0.7)
    take = partial(logs.take, limit=1 << 20, is_marked=True)
    unknown = logs.LogPosition()
    whole, place, may_lack = take(kubelet.answer(unknown, cut), unknown, 0)
    assert (whole, may_lack) == (b"line 1\nline 2\nline 3\n", False)
    assert take(kubelet.answer(place, cut), place, len(whole))[::2] == (b"", False)
    assert logs.last_bytes(kubelet.answer(unknown, cut), 9) == b"2\nline 3\n"
    del kubelet.lines[:2]
    rest, place, may_lack = take(kubelet.answer(unknown, cut), unknown, 100)
    assert (rest, may_lack) == (b"line 2\nline 3\n", True)
    kubelet.write(b"line 4\n", 3)
    assert take(kubelet.answer(place, cut), place, 114)[::2] == (b"line 4\n", False)
    for after, has_run in ((0, False), (0, True), (5, False)):
        assert take([], unknown, after, has_run=has_run)[2] == (after > 0 or has_run)


def test_disk_pressure_is_known_until_its_last_change(subtests):
    ago = "2026-11-01T10:00:00Z"
    for status, at in (("True", NOW), ("False", states.time_of(ago))):
        condition = {"type": "DiskPressure", "status": status, "lastTransitionTime": ago}
        node = {"metadata": {"name": "n"}, "status": {"conditions": [condition]}}
        with subtests.test(status=status):
            assert nodes.disk_pressure([node], NOW) == {"n": at}


MESSAGES = [
    (
        (
            "0/12 nodes are available: 8 Insufficient nvidia.com/gpu, 4 node(s) had untolerated "
            "taint {dedicated: infra}. preemption: none."
        ),
        Wait.CAPACITY,
        "0 of 12 nodes fit: 8 lack free nvidia.com/gpu, 4 are tainted dedicated: infra.",
    ),
    (
        (
            "0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient memory. no new claims to "
            "deallocate, preemption: x"
        ),
        Wait.CAPACITY,
        "0 of 3 nodes fit: 1 have too little cpu free, 2 have too little memory free.",
    ),
    (
        "0/1 nodes are available: 1 node(s) were unschedulable.",
        Wait.NODES_DOWN,
        "0 of 1 nodes fit: 1 are cordoned.",
    ),
    (
        "0/2 nodes are available: 2 node(s) had untolerated taint(s). ",
        Wait.NODES_DOWN,
        "0 of 2 nodes fit: 2 have a taint that it does not tolerate.",
    ),
    (
        "0/2 nodes are available: 2 node(s) exceed max volume count.",
        Wait.CLUSTER_HELD,
        "0 of 2 nodes fit: 2 exceed max volume count.",
    ),
    (
        "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector.",
        Wait.IMPOSSIBLE,
        "0 of 5 nodes fit: 5 have no GPU of that type or not the labels asked for.",
    ),
    (
        '0/2 nodes are available: persistentvolumeclaim "data" not found. not found',
        Wait.CLUSTER_HELD,  # observed with 1.36
        "The claim data, a shared volume of this cluster, does not exist in the team's namespace.",
    ),
    (
        (
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: "
            "0/2 nodes are available."
        ),
        Wait.CLUSTER_HELD,
        "A volume of its pods is not bound yet.",
    ),
    (
        "0/2 nodes are available: something without a number.",
        Wait.CLUSTER_HELD,
        "The scheduler says: something without a number.",
    ),
    ("no nodes available to schedule pods", Wait.EVALUATING, "no nodes available to schedule pods"),
]


def test_scheduler_message_yields_words_and_numbers(subtests):
    for message, wait, text in MESSAGES:
        with subtests.test(message=message, wait=wait):
            explanation = pending_reasons.of_scheduler("Unschedulable", message)
            assert (explanation.wait, explanation.text) == (wait, text)


def test_quota_message_yields_numbers():
    explanation = pending_reasons.of_refusal(
        'pods "x" is forbidden: exceeded quota: q, requested: g=2, used: '
        "requests.nvidia.com/gpu=7, limited: 8"
    )
    assert (
        explanation.wait == Wait.CLUSTER_LIMIT
        and "used: requests.nvidia.com/gpu=7" in explanation.text
    )


@given(st.text())
def test_any_scheduler_message_is_parsed_without_error(message):
    assert pending_reasons.of_scheduler("Unschedulable", f"0/3 nodes are available: {message}").text


def pod(phase: str, state: dict | None = None, **status):
    container = [{"name": "main", "state": state}] if state else []
    return {
        "metadata": {"name": "p", "namespace": "n", "uid": "p"},
        "spec": {"nodeName": "n1", "containers": [{"resources": {"limits": {"memory": "64Mi"}}}]},
        "status": {"phase": phase, "containerStatuses": container, **status},
    }


def disruption(reason: str) -> list[dict]:
    return [{"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "said so"}]


def evicted(message: str) -> dict:
    conditions = disruption("TerminationByKubelet")
    return pod("Failed", ended(137), reason="Evicted", message=message, conditions=conditions)


def deleted(one: dict, at: str = "2026-05-01T11:59:01Z") -> dict:
    meta = {**one["metadata"], "deletionTimestamp": at, "deletionGracePeriodSeconds": 0}
    return {**one, "metadata": meta}


LIMITED = {"annotations": {"muster/time-limit": "60"}}


def limited(one: dict) -> dict:
    return {**one, "metadata": {**one["metadata"], **LIMITED}}


def ended(code: int, why: str = "Error", **more) -> dict:
    return {
        "terminated": {
            "exitCode": code,
            "reason": why,
            "startedAt": "2026-05-01T11:00:00Z",
            "finishedAt": "2026-05-01T11:59:00Z",
            **more,
        }
    }


ENDS = [
    (pod("Succeeded", ended(0, "Completed")), Reason.COMPLETED),
    (pod("Failed", ended(7)), Reason.USER_ERROR),
    (pod("Failed", ended(137, "OOMKilled")), Reason.OUT_OF_MEMORY),
    (pod("Failed", ended(139)), Reason.KILLED_BY_SIGNAL),
    (limited(pod("Failed", ended(143, message="time"))), Reason.TIME_LIMIT),
    (limited(pod("Failed", ended(143), reason="DeadlineExceeded")), Reason.TIME_LIMIT),
    (pod("Failed", ended(7, message="time")), Reason.USER_ERROR),
    (
        pod("Failed", None, reason="Evicted", message="The node was low on resource: memory."),
        Reason.INTERRUPTED,
    ),
    (evicted("The node was low on resource: ephemeral-storage. Threshold q"), Reason.DISK_FULL),
    (evicted("Pod was rejected: The node had condition: [DiskPressure]. "), Reason.DISK_FULL),
    (evicted("Pod ephemeral local storage usage exceeds the total limit x"), Reason.USER_ERROR),
    (pod("Failed", ended(0), conditions=disruption("EvictionByEvictionAPI")), Reason.INTERRUPTED),
    # deleted by somebody, then confirmed by the kubelet a second after the end
    (deleted(pod("Succeeded", ended(0, "Completed"))), Reason.INTERRUPTED),
    (deleted(pod("Failed", ended(143))), Reason.INTERRUPTED),
    (deleted(pod("Failed", ended(137, "OOMKilled"))), Reason.OUT_OF_MEMORY),
    (deleted(pod("Succeeded", ended(0)), "2026-05-01T11:59:40Z"), Reason.COMPLETED),
    (pod("Failed", ended(143), conditions=disruption("PreemptionByScheduler")), Reason.PREEMPTED),
    (
        pod("Failed", ended(143), conditions=disruption("DeletionByTaintManager")),
        Reason.INTERRUPTED,
    ),
    (pod("Failed", None, conditions=disruption("DeletionByPodGC")), Reason.NODE_FAILED),
    (pod("Failed", None, reason="NodeLost"), Reason.NODE_FAILED),
    (
        pod(
            "Failed",
            ended(128, "StartError", message='x: exec: "bash": executable file not found in $PATH'),
        ),
        Reason.COMMAND_NOT_FOUND,
    ),
    (
        pod(
            "Failed",
            ended(137, "ContainerStatusUnknown", message="The container could not be located"),
        ),
        Reason.NODE_FAILED,
    ),
    (
        limited(
            pod(
                "Failed",
                ended(137, "ContainerStatusUnknown", startedAt=None, finishedAt=None),
                reason="DeadlineExceeded",
            )
        ),
        Reason.TIME_LIMIT,
    ),
    (
        pod("Failed", None, reason="SomethingNew", message="in a later version"),
        Reason.PLATFORM_ERROR,
    ),
    (
        pod("Pending", {"waiting": {"reason": "InvalidImageName", "message": "no"}}),
        Reason.IMAGE_UNAVAILABLE,
    ),
]


def test_pod_ends_map_to_reasons(subtests):
    for one, reason in ENDS:
        with subtests.test(one=one, reason=reason):
            seen = states.observe("k", JOB, [one], lambda _: "", states.StartTimeouts(), NOW)
            assert seen.reason == reason and seen.state == reason.final_state


def test_exit_code_is_that_of_the_script_where_it_ended_by_itself(subtests):
    """The entrypoint ends with 143 for a script that ended with 0 when the kubelet stopped it."""
    clean = pod("Failed", ended(143, message="stopped 0"))
    evicted = pod(
        "Failed", ended(143, message="stopped 0"), conditions=disruption("PreemptionByScheduler")
    )
    asked = {**JOB, "metadata": {**JOB["metadata"], "annotations": {names.CANCELED: "asked"}}}
    for job, one, reason, code, signal in (
        (JOB, deleted(clean), Reason.INTERRUPTED, None, None),
        (JOB, deleted(pod("Failed", ended(143, message="stopped"))), Reason.INTERRUPTED, 143, 15),
        (JOB, evicted, Reason.PREEMPTED, None, None),
        (asked, clean, Reason.CANCELED, 0, None),
    ):
        with subtests.test(one=one, reason=reason):
            seen = states.observe("k", job, [one], lambda _: "", states.StartTimeouts(), NOW)
            assert (seen.reason, seen.exit_code, seen.signal) == (reason, code, signal)
            assert ("its script ended with exit code 0" in seen.evidence) == (code is None)


def test_end_of_job_without_its_pods_is_told_by_its_condition(subtests):
    for message, reason in (
        ("Container main for pod n/p failed with exit code 143 matching x", Reason.INTERRUPTED),
        ("Container main for pod n/p failed with exit code 1 matching x", Reason.USER_ERROR),
        ("Pod n/p has condition DisruptionTarget matching x", Reason.INTERRUPTED),
    ):
        over = {"type": "Failed", "status": "True", "reason": "PodFailurePolicy"}
        job = {**JOB, "status": {"conditions": [{**over, "message": message}]}}
        with subtests.test(message=message):
            seen = states.observe("k", job, [], lambda _: "", states.StartTimeouts(), NOW)
            assert seen.reason == reason


def test_job_condition_waits_for_end_of_pod():
    over = {
        "type": "Failed",
        "status": "True",
        "reason": "PodFailurePolicy",
        "message": "x",
        "lastTransitionTime": "2026-05-01T11:59:50Z",
    }
    job, one = (
        {**JOB, "status": {"conditions": [over]}},
        pod("Running", {"running": {"startedAt": "2026-05-01T11:00:00Z"}}),
    )
    seen = [
        states.observe(
            "k", job, [one], lambda _: "", states.StartTimeouts(), NOW + timedelta(minutes=m)
        )
        for m in (0, 5)
    ]
    assert [one.state for one in seen] == [State.RUNNING, State.FAILED]


NO_KERNEL = "CUDA error: no kernel image is available for execution on the device"
DIGESTS = [
    ("docker.io/library/x@sha256:" + "ab" * 32, "sha256:" + "ab" * 32),
    ("docker-pullable://x@sha256:12", "sha256:12"),
    ("sha256:" + "ab" * 32, ""),
    ("", ""),
    (None, ""),
    (7, ""),
]


def test_end_has_digest_of_image(subtests):
    for result, digest in DIGESTS:
        with subtests.test(told=result, digest=digest):
            one = pod("Failed", ended(1, message=NO_KERNEL))
            one["status"]["containerStatuses"][0]["imageID"] = result
            seen = states.observe("k", JOB, [one], lambda _: NO_KERNEL, states.StartTimeouts(), NOW)
            assert (seen.reason, seen.image_digest) == (Reason.NO_KERNEL_IMAGE, digest)


def test_image_pull_failure_waits_then_fails():
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastTransitionTime": "2026-05-01T11:59:30Z",
    }
    one = pod(
        "Pending",
        {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}},
        conditions=[scheduled],
    )
    early = states.observe("k", JOB, [one], lambda _: "", states.StartTimeouts(image=60), NOW)
    late = states.observe(
        "k", JOB, [one], lambda _: "", states.StartTimeouts(image=60), NOW + timedelta(seconds=40)
    )
    assert (early.state, early.waiting.wait) == (
        State.STARTING,
        Wait.IMAGE,
    ) and late.reason == Reason.IMAGE_UNAVAILABLE


def test_pod_of_unreachable_node_is_lost_after_timeout():
    one = pod(
        "Running",
        {"running": {"startedAt": "2026-05-01T11:00:00Z"}},
        conditions=disruption("DeletionByTaintManager"),
    )
    one["metadata"]["deletionTimestamp"] = "2026-05-01T11:59:30Z"
    assert (
        states.observe("k", JOB, [one], lambda _: "", states.StartTimeouts(), NOW).state
        == State.RUNNING
    )
    assert (
        states.observe(
            "k", JOB, [one], lambda _: "", states.StartTimeouts(), NOW + timedelta(minutes=1)
        ).reason
        == Reason.NODE_FAILED
    )


QUANTITIES = [
    ("500m", 0.5),
    ("24632892Ki", 24632892 * 1024),
    ("2", 2),
    ("1e3", 1000),
    ("1.5Gi", 1.5 * 2**30),
    ("3k", 3000),
]


def test_quantity_is_parsed(subtests):
    for text, number in QUANTITIES:
        with subtests.test(text=text, number=number):
            assert nodes.quantity(text) == pytest.approx(number)


def test_inventory_has_mig_slices_taints_and_usage():
    node = {
        "metadata": {"name": "n1", "labels": {nodes.PRODUCT: "NVIDIA-H100-80GB-HBM3"}},
        "spec": {"taints": [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}]},
        "status": {
            "allocatable": {
                "cpu": "8",
                "memory": "1Gi",
                "nvidia.com/gpu": "1",
                "nvidia.com/mig-1g.10gb": "2",
            }
        },
    }
    used = {
        "spec": {
            "nodeName": "n1",
            "containers": [
                {"resources": {"requests": {"cpu": "1500m", "nvidia.com/mig-1g.10gb": "1"}}}
            ],
        },
        "status": {},
    }
    (seen,) = nodes.inventory([node], [used], "nvidia.com/gpu")
    assert [gpu.type for gpu in seen.gpus] == ["h100", "mig-1g.10gb", "mig-1g.10gb"] and (
        seen.used_cpus,
        seen.used_gpus,
    ) == (1.5, 1)
    assert (seen.arch, seen.driver, seen.cuda, seen.gpus[0].compute) == ("", "", "", "")
    assert seen.is_drained and "dedicated=infra:NoSchedule" in seen.note
    (tolerated,) = nodes.inventory(
        [node], [], "nvidia.com/gpu", [{"key": "dedicated", "operator": "Exists"}]
    )
    assert not tolerated.is_drained


def test_node_with_single_mig_strategy_has_slices_and_no_whole_gpu():
    node = json.loads(read_case("kubernetes-node-mig-single.json"))
    (seen,) = nodes.inventory([node], [], "nvidia.com/gpu")
    assert [gpu.type for gpu in seen.gpus] == ["mig-1g.5gb"] * 56
    assert (seen.gpus[0].model, seen.gpus[0].memory) == ("NVIDIA A100 SXM4 40GB", 4864 << 20)


CONTAINER = {"name": "main", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
SIDECAR = {"restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}}
INIT = {"resources": {"requests": {"cpu": "2", "nvidia.com/gpu": "1"}}}
RESIZED = {"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}
# by the scheduler's rule, https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/
PODS = [
    ({"initContainers": [SIDECAR]}, {}, {"cpu": 1.5}),
    ({"initContainers": [INIT, SIDECAR]}, {}, {"cpu": 2, "nvidia.com/gpu": 1}),
    ({"initContainers": [SIDECAR, INIT]}, {}, {"cpu": 2.5, "nvidia.com/gpu": 1}),
    ({"overhead": {"cpu": "250m", "memory": "1Gi"}}, {}, {"cpu": 1.25, "memory": 2 << 30}),
    ({"resources": {"requests": {"cpu": "8"}}, "overhead": {"cpu": "1"}}, {}, {"cpu": 9}),
    ({}, RESIZED, {"cpu": 3}),
]


def test_requests_of_a_pod_count_like_the_scheduler(subtests):
    for spec, status, amounts in PODS:
        with subtests.test(spec=spec):
            one = {"spec": {"nodeName": "n1", "containers": [CONTAINER], **spec}, "status": status}
            found = nodes.requests(one["spec"], status)
            assert found == {"cpu": 1, "memory": 1 << 30, **amounts}
            (node,) = nodes.inventory([{"metadata": {"name": "n1"}}], [one], "nvidia.com/gpu")
            assert node.used_cpus == found["cpu"]


@pytest.mark.parametrize(
    "labels",
    [
        {
            "nvidia.com/cuda.driver.major": "535",
            "nvidia.com/cuda.driver.minor": "104",
            "nvidia.com/cuda.driver.rev": "05",
            "nvidia.com/cuda.runtime.major": "12",
            "nvidia.com/cuda.runtime.minor": "2",
        },
        {
            "nvidia.com/cuda.driver-version.full": "535.104.05",
            "nvidia.com/cuda.runtime-version.full": "12.2",
            "nvidia.com/cuda.driver.major": "535",
        },
    ],
)
def test_inventory_reads_gpu_feature_discovery_labels(labels):
    labels = {**labels, "nvidia.com/gpu.compute.major": "9", "nvidia.com/gpu.compute.minor": "0"}
    node = {
        "metadata": {"name": "n1", "labels": labels},
        "status": {"nodeInfo": {"architecture": "arm64"}, "allocatable": {"nvidia.com/gpu": "1"}},
    }
    (seen,) = nodes.inventory([node], [], "nvidia.com/gpu")
    assert (seen.arch, seen.driver, seen.cuda, seen.gpus[0].compute) == (
        "arm64",
        "535.104.05",
        "12.2",
        "9.0",
    )


TRAPS = [
    "exec: {command: rm}",
    "auth-provider: {name: gcp}",
    "client-key: /etc/shadow",
    "tokenFile: /etc/passwd",
    "password: x",
]


def test_kubeconfig_with_commands_or_files_is_refused(subtests):
    for trap in TRAPS:
        with subtests.test(trap=trap):
            text = (
                "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: "
                "u}}]\nclusters: [{name: c, cluster: {server: 'https://x'}}]\n"
                f"users: [{{name: u, user: {{{trap}}}}}]"
            )
            with pytest.raises(BadAccess):
                from_kubeconfig(text)
