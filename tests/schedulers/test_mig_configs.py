"""What the GPU operator and Slurm are told about MIG."""

from __future__ import annotations

import pytest
import yaml

from schedulers.contract import GpuLayout, Rejected
from schedulers.kubernetes import mig
from schedulers.kubernetes.backend import KubernetesBackend
from schedulers.slurm.gpu_files import gpu_files
from tests.rig.kubernetes_node import NODE

SEVEN = ("1g.10gb",) * 7
MIXED = ("3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb")


def gpus(*layouts):
    return [GpuLayout(index, "h100", layout, "H100-80GB") for index, layout in enumerate(layouts)]


def test_usual_configurations_have_the_operators_names():
    assert mig.config_of(gpus(SEVEN, SEVEN))[0] == "all-1g.10gb"
    assert mig.config_of(gpus(None, None))[0] == "all-disabled"
    assert mig.config_of(gpus(("3g.40gb",) * 2))[0] == "all-3g.40gb"
    assert mig.config_of(gpus(SEVEN[:3]))[0].startswith("muster-")


def test_other_configurations_are_named_by_their_content():
    name, text = mig.config_of(gpus(MIXED, None, MIXED))
    again, _ = mig.config_of(gpus(tuple(reversed(MIXED)), None, MIXED))
    assert name == again != mig.config_of(gpus(MIXED, MIXED, None))[0]
    assert yaml.safe_load(text) == {
        "version": "v1",
        "mig-configs": {
            name: [
                {"devices": [1], "mig-enabled": False},
                {
                    "devices": [0, 2],
                    "mig-enabled": True,
                    "mig-devices": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
                },
            ]
        },
    }


def test_node_is_labeled_once_and_its_state_is_read(double, backend: KubernetesBackend):
    labels = double.store.objects["nodes", "", NODE]["metadata"]["labels"]
    labels |= {mig.CONFIG: "all-disabled", mig.STATE: "success"}
    assert backend.mig_state(NODE) == ("all-disabled", "success")
    backend.set_mig_config(NODE, "all-1g.10gb")
    labels = double.store.objects["nodes", "", NODE]["metadata"]["labels"]
    assert (labels[mig.CONFIG], labels.get(mig.STATE)) == ("all-1g.10gb", None)
    assert backend.mig_state(NODE) == ("all-1g.10gb", ""), "a state of before is not believed"
    labels[mig.STATE] = "success"
    backend.set_mig_config(NODE, "all-1g.10gb")
    assert backend.mig_state(NODE) == ("all-1g.10gb", "success")
    with pytest.raises(Rejected):
        backend.mig_state("other")


def test_installed_configurations_are_read_from_the_config_map(double, backend: KubernetesBackend):
    with pytest.raises(Rejected, match="can't be read"):
        backend.mig_configs()
    place = ("configmaps", "gpu-operator", "default-mig-parted-config")
    double.store.objects[place] = {
        "metadata": {"name": place[2], "namespace": place[1]},
        "data": {"config.yaml": "version: v1\nmig-configs:\n  all-disabled: []\n"},
    }
    assert backend.mig_configs() == {"all-disabled"}
    double.store.objects[place]["data"] = {"config.yaml": "- x"}
    with pytest.raises(Rejected, match="no valid"):
        backend.mig_configs()


def test_slurm_files_count_instances_by_type():
    files = gpu_files({"n1": gpus(MIXED, None), "n2": gpus(None, MIXED), "n3": gpus(SEVEN)})
    assert files["gres.conf"].splitlines() == [f"NodeName=n{n} AutoDetect=nvml" for n in (1, 2, 3)]
    lines = files["slurm.conf"].splitlines()
    assert "NodeName=n1,n2 Gres=gpu:h100:1,gpu:3g.40gb:1,gpu:2g.20gb:1,gpu:1g.10gb:2" in lines
    assert "NodeName=n3 Gres=gpu:1g.10gb:7" in lines
    assert lines[-1].startswith("AccountingStorageTRES=gres/gpu,gres/gpu:1g.10gb")
