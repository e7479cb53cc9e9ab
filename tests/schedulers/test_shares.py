"""Shares of GPUs: recognized, requested and counted without counting GPUs twice."""

from __future__ import annotations

import uuid

import pytest

from schedulers.capacity import ResourceRequest, capacity_of, fits
from schedulers.contract import NodeFacts, Rejected
from schedulers.kubernetes import nodes as kubernetes_nodes
from schedulers.kubernetes.backend import KubernetesBackend
from schedulers.shares import about_share
from schedulers.slurm import nodes as slurm_nodes
from schedulers.slurm.backend import SlurmBackend
from schedulers.slurm.request import SlurmSettings, build_request
from tests.rig.keeper import Folder
from tests.rig.kubernetes_node import NODE
from tests.rig.slurm import start_slurm
from tests.schedulers.conftest import Stage, cleaned_up
from tests.schedulers.launches import a_launch

RESOURCE = "nvidia.com/gpu"


def kinds(facts: NodeFacts) -> list[tuple[str, int]]:
    return [(gpu.type, gpu.shares) for gpu in facts.gpus]


def slurm_node(gres: str, used: str) -> NodeFacts:
    [node] = slurm_nodes.from_scontrol(
        f"NodeName=n1 CPUTot=8 RealMemory=16000 State=MIXED Gres={gres} GresUsed={used}"
    )
    return node


def kubernetes_node(allocatable: dict[str, str], labels: dict[str, str], used: dict[str, str]):
    product = {kubernetes_nodes.PRODUCT: "NVIDIA-H100-80GB-HBM3"}
    node = {
        "metadata": {"name": "n1", "labels": product | labels},
        "status": {"allocatable": {"cpu": "8", "memory": "8Gi", **allocatable}},
    }
    pod = {"spec": {"nodeName": "n1", "containers": [{"resources": {"requests": used}}]}}
    [facts] = kubernetes_nodes.inventory([node], [pod | {"status": {}}], RESOURCE)
    return facts


def test_slurm_shards_and_mps_are_classes_beside_the_gpus():
    node = slurm_node(
        "gpu:h100:4(S:0-1),shard:h100:16(S:0-1),mps:400",
        "gpu:h100:1(IDX:0),shard:h100:6(4/4,2/4),mps:0",
    )
    assert kinds(node) == [("h100", 0)] * 4 + [("h100.shared", 16), ("mps", 400)]
    assert (node.used_gpus, node.used_shares) == (1, 6)
    assert slurm_node("gpu:2,shard:8", "shard:0 AllocTRES=cpu=1,gres/shard=3").used_shares == 3
    untyped = slurm_node("gpu:h100:2,shard:8", "gpu:h100:0,shard:3")
    assert kinds(untyped)[2:] == [("shared", 8)] and untyped.used_shares == 3


def test_shares_that_slurm_does_not_count_are_those_of_its_running_jobs():
    """As Slurm 22.05 reports: two GPUs have shares in use, of five jobs on two nodes."""
    line = "NodeName={} CPUTot=8 RealMemory=1 State=MIXED Gres=gpu:h100:2,shard:h100:8 GresUsed={}"
    gpus = "gpu:h100:0(IDX:N/A)"
    text = "\n".join(
        [
            line.format("n1", f"{gpus},shard:h100:2(IDX:0-1)"),
            line.format("n2", f"{gpus},shard:h100:1(IDX:0)"),
            line.format("n3", f"{gpus},shard:h100:0(IDX:N/A)"),
        ]
    )
    jobs = [("gres:shard:3", "n1"), ("gres:shard:h100:2", "n[1-2]"), ("gres:gpu:1", "n3")]
    jobs += [("gres/shard", "n1"), ("N/A", "n1")]
    found = slurm_nodes.from_scontrol(text, lambda: jobs)
    assert [node.used_shares for node in found] == [6, 2, 0]
    tracked = text.replace("shard:h100:1(IDX:0)", "shard:h100:1(IDX:0) AllocTRES=gres/shard=2")
    assert [n.used_shares for n in slurm_nodes.from_scontrol(tracked, lambda: 1 / 0)] == [2, 2, 0]
    row = {"name": "n1", "gres": "gpu:h100:2,shard:h100:8", "state": "mixed"}
    row |= {"gres_used": f"{gpus},shard:h100:2(IDX:0-1)"}
    [node] = slurm_nodes.from_rest([row], lambda: jobs)
    assert node.used_shares == 6


def test_gpus_in_use_and_shares_in_use_take_from_each_other():
    node = capacity_of(
        slurm_node("gpu:h100:4,shard:h100:16", "gpu:h100:1(IDX:0),shard:h100:6(0/4,4/4,2/4)")
    )
    assert node.total["gpu"] == 4, "shares add no GPUs"
    assert (node.free["gpu"], node.free["gpu.h100"]) == (1, 1)
    assert node.free["gpu.h100.shared"] == 16 - 6 - 4
    one = ResourceRequest(gpu=1, gpu_type="h100.shared")
    assert fits(one, node) == 1 and one.totals == {"gpu.h100.shared": 1, "jobs": 1}
    assert ResourceRequest.of_totals(one.totals) == one
    assert not fits(ResourceRequest(gpu=7, gpu_type="h100.shared"), node)
    assert not fits(ResourceRequest(gpu=2), node)


@pytest.mark.parametrize(
    ("allocatable", "labels", "expected"),
    [
        ({f"{RESOURCE}.shared": "16", RESOURCE: "0"}, {}, [("h100.shared", 16)]),
        (
            {RESOURCE: "16"},
            {kubernetes_nodes.PRODUCT: "NVIDIA-H100-80GB-HBM3-SHARED"},
            [("h100.shared", 16)],
        ),
        (
            {f"{RESOURCE}.shared": "16"},
            {"nvidia.com/gpu.sharing-strategy": "mps"},
            [("h100.mps", 16)],
        ),
        ({"nvidia.com/mig-1g.10gb.shared": "14"}, {}, [("mig-1g.10gb.shared", 14)]),
        (
            {"nvidia.com/mig-1g.10gb": "14"},
            {"nvidia.com/mig-1g.10gb.replicas": "2"},
            [("mig-1g.10gb.shared", 14)],
        ),
        ({RESOURCE: "2"}, {}, [("h100", 0)] * 2),
    ],
)
def test_kubernetes_shares_are_classes(allocatable, labels, expected):
    name = next(name for name, n in allocatable.items() if n != "0")
    node = kubernetes_node(allocatable, labels, {name: "2"})
    assert kinds(node) == expected
    is_share = bool(expected[0][1])
    assert (node.used_gpus, node.used_shares) == ((0, 2) if is_share else (2, 0))
    free = capacity_of(node).free
    assert free[f"gpu.{expected[0][0]}"] == (expected[0][1] - 2 if is_share else 0)


def test_slurm_job_asks_for_shards_and_mps():
    def gres(kind: str) -> str:
        launch = a_launch(gpus=3, gpu_type=kind)
        return build_request(launch, SlurmSettings("/spool")).gres

    assert gres("h100.shared") == "shard:h100:3"
    assert gres("shared") == "shard:3"
    assert gres("h100.mps") == "mps:h100:3"
    assert gres("mig-1g.10gb") == "gpu:1g.10gb:3"


@pytest.mark.parametrize("is_renamed", [True, False])
def test_pod_asks_for_the_shared_resource(double, backend: KubernetesBackend, is_renamed):
    node = double.store.objects["nodes", "", NODE]
    has, labels = node["status"]["allocatable"], node["metadata"]["labels"]
    product = labels[kubernetes_nodes.PRODUCT]
    if is_renamed:
        has.pop(RESOURCE)
        has[f"{RESOURCE}.shared"] = "16"
    else:
        labels[kubernetes_nodes.PRODUCT] = product = f"{product}-SHARED"
    launch = a_launch(gpus=2, gpu_type="h100.shared", org="a", team="b")
    text = backend.render(launch)
    assert (f"{RESOURCE}.shared: '2'" in text) is is_renamed
    assert product in text and RESOURCE in text
    with pytest.raises(Rejected, match=r"h100\.shared"):
        backend.render(a_launch(key="t-2", gpus=1, gpu_type="h100"))


def test_share_says_what_it_does_not_isolate():
    assert "memory" in about_share("h100.shared") and "fault" in about_share("h100.mps")
    assert about_share("h100") == about_share("mig-1g.10gb") == ""


@pytest.mark.integration
def test_job_runs_on_shards_of_a_real_slurm(wait_for):
    folder = Folder()
    try:
        slurm = start_slurm(
            folder, nodes=1, gpus=2, accounting=False, rest=False, shards=8, name="shards"
        )
        place = slurm.work / uuid.uuid4().hex
        (place / "spool").mkdir(parents=True)
        for path in (place, place / "spool"):
            path.chmod(0o1777)
        options = {"spool": str(place / "spool"), "user": slurm.user, "conf": str(slurm.conf)}
        stage = Stage(SlurmBackend, options, place, wait_for)
        assert kinds(stage.backend.inventory()[0]) == [("h100", 0)] * 2 + [("h100.shared", 8)]
        key = stage.submit(
            "echo $CUDA_VISIBLE_DEVICES, $SLURM_SHARDS_ON_NODE shards; sleep 600",
            gpus=3,
            gpu_type="h100.shared",
        ).key
        stage.logged(key, b"\n", 20)
        assert stage.log(key).strip() in (b"0, 3 shards", b"1, 3 shards"), "all on one GPU"
        assert stage.backend.inventory()[0].used_shares == 3
        for _ in cleaned_up(stage):
            pass
    finally:
        folder.close()
