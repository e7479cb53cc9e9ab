"""Test the objects built from a launch: user input only appears as data."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedulers.contract import InputFiles, Rejected
from schedulers.kubernetes import names, pod
from schedulers.kubernetes.backend import KubernetesBackend
from schedulers.kubernetes.entrypoint import START
from schedulers.kubernetes.pod import KubernetesSettings
from tests.rig import kubernetes_schema
from tests.rig.kubernetes_node import NODE
from tests.rig.seeds import examples
from tests.schedulers.kubernetes_stage import launch
from tests.schedulers.launches import a_launch, changed

SITE = KubernetesSettings(image="local/bash:1")
LAUNCH = a_launch(
    key="muster-0123", name="a job", org="atlas", team="vision", user="ada@atlas.example"
)
MARK = "evil"
YAML = f"x\n      hostPath:\n        path: /{MARK}"

# Each value is rejected, or changes nothing but the data of the Secret.
ESCAPES = {
    "script with YAML": {"script": f"true\n---\n{YAML}"},
    "script that closes a string": {"script": f"'\"; {MARK} #"},
    "script with $(VAR)": {"script": f"echo $({MARK})"},
    "script with NUL": {"script": f"a\0{MARK}"},
    "script with half a character": {"script": f"\ud800{MARK}"},
    "value with $(VAR)": {"env": {"A": f"$({MARK})"}},
    "value with $$(VAR)": {"env": {"A": f"$$({MARK})"}},
    "value with YAML": {"env": {"A": YAML}},
    "value with JSON": {"env": {"A": f'"}}],"hostNetwork":true,"{MARK}":[{{"a":"'}},
    "value with NUL": {"env": {"A": f"\0{MARK}"}},
    "value that loads a library": {"env": {"LD_PRELOAD": f"/{MARK}.so"}},
    "value that bash reads first": {"env": {"BASH_ENV": f"/{MARK}"}},
    "value that exports a function": {"env": {"BASH_FUNC_kill%%": f"() {{ {MARK}; }}"}},
    "value that names another API server": {"env": {"KUBERNETES_SERVICE_HOST": MARK}},
    "value of our own names": {"env": {"MUSTER_JOB_KEY": MARK, "MUSTER_OUTPUT_DIR": MARK}},
    "variable with =": {"env": {f"A={MARK}": "1"}},
    "variable with a newline": {"env": {f"A\n{MARK}": "1"}},
    "variable with a slash": {"env": {f"../{MARK}": "1"}},
    "variable that is empty": {"env": {"": MARK}},
    "variable longer than a name": {"env": {MARK * 100: "1"}},
    "image with an option": {"image": f"--privileged {MARK}"},
    "image with a newline": {"image": f"busybox\nprivileged: true {MARK}"},
    "image of a file": {"image": f"file:///etc/{MARK} x"},
    "image with a tab": {"image": f"busybox\t{MARK}"},
    "image with $(VAR)": {"image": f"$({MARK})"},
    "image of 10,000 letters": {"image": MARK * 2500},
    "GPU type of another resource": {"gpus": 1, "gpu_type": f"mig-1g/../{MARK}"},
    "GPU type with a newline": {"gpus": 1, "gpu_type": f"mig-\n{MARK}"},
    "GPU type that is a quantity": {"gpus": 1, "gpu_type": f"MIG-{MARK}: 8"},
    "key that is a path": {"key": f"../{MARK}"},
    "key with a newline": {"key": f"a\n{MARK}"},
    "key that is a selector": {"key": f"a,{MARK}=b"},
    "key that is empty": {"key": ""},
    "nodes below one": {"num_nodes": 0},
    "nodes without number": {"num_nodes": -5},
    "cores that are no number": {"cpus": math.nan},
    "cores without end": {"cpus": math.inf},
    "memory below nothing": {"memory": -1},
    "shared memory below nothing": {"shm_size": -1},
    "GPUs below nothing": {"gpus": -8},
    "time without end": {"time_limit": math.inf},
    "time before now": {"time_limit": -1.0},
    "grace that is no number": {"grace": math.nan},
    "name with YAML": {"name": YAML},
    "user with YAML": {"user": YAML},
}


def _without_data(made: pod.Objects) -> str:
    """Return everything that the API server interprets as more than bytes."""
    return json.dumps([made.job, *({**thing, "data": None} for thing in made.owned)])


def test_escape_attempt_is_rejected_or_inert(subtests):
    for name, change in ESCAPES.items():
        with subtests.test(name):
            try:
                made = pod.build(changed(LAUNCH, **change), SITE)
            except Rejected:
                continue
            assert MARK not in _without_data(made)
            # The validated name of a variable appears in the Job; its value never does.
            plain = dict.fromkeys(change.get("env", ()), "plain")
            assert (
                made.job
                == pod.build(
                    changed(LAUNCH, key=change.get("key", LAUNCH.key), env=plain), SITE
                ).job
            )


OPENING = [
    {"user_id": 0},
    {"user_id": -1},
    {"shared": ["claim:/proc"]},
    {"shared": ["claim:/a/../etc"]},
    {"shared": ["claim:/"]},
    {"shared": ["claim:/muster/given"]},
    {"shared": ["claim"]},
    {"tolerations": ["a=b:Never"]},
    {"tolerations": [":NoSchedule"]},
    {"node_selector": ["no-value"]},
    {"namespace_prefix": "Kube"},
    {"namespace_prefix": "a/b"},
    {"namespace_prefix": "x" * 30},
]


def test_unsafe_option_is_rejected(subtests):
    for options in OPENING:
        with subtests.test(options=options):
            with pytest.raises(Rejected) as error:
                KubernetesBackend.configured(options)
            assert error.value.field in options


def test_pod_meets_restricted_pod_security_standard():
    spec = pod.build(
        changed(LAUNCH, gpus=2, shm_size=1 << 30, time_limit=60, num_nodes=2), SITE
    ).job["spec"]["template"]["spec"]
    container = spec["containers"][0]
    assert spec["automountServiceAccountToken"] is False and "serviceAccountName" not in spec
    assert not any(spec[where] for where in ("hostNetwork", "hostPID", "hostIPC"))
    assert spec["securityContext"]["runAsNonRoot"] and spec["securityContext"][
        "seccompProfile"
    ] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "privileged": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {next(k for k in volume if k != "name") for volume in spec["volumes"]} == {
        "secret",
        "emptyDir",
    }
    assert container["command"] == ["bash", "/muster/given/start"] and "args" not in container
    # Kubernetes would expand this
    assert all("value" not in variable for variable in container["env"])


def test_objects_match_published_api():
    made = pod.build(
        changed(LAUNCH, gpus=1, gpu_type="h100", shm_size=1, time_limit=1, num_nodes=3),
        replace(
            SITE,
            selector={"a": "b"},
            tolerations=({"key": "a", "operator": "Exists"},),
            pull_secrets=("p",),
            priority_class="high",
            shared=(("claim", "/data"),),
        ),
        ["NVIDIA-H100-80GB-HBM3"],
    )
    for thing in (made.job, *made.owned):
        kubernetes_schema.check(thing)
    assert [thing["kind"] for thing in made.owned] == ["Secret", "Service"]


@given(script=st.text(), value=st.text(), name=st.text(), user=st.text())
def test_user_text_is_stored_in_secret_only_and_unchanged(script, value, name, user):
    launch = changed(LAUNCH, script=script, env={"VALUE": value}, name=name, user=user)
    if any("\0" in text or not _is_text(text) for text in (script, value)):
        with pytest.raises(Rejected) as error:
            pod.build(launch, SITE)
        assert error.value.field in {"run", "env"}
        return
    made = pod.build(launch, SITE)
    (files,) = (thing["data"] for thing in made.owned)
    keys = {
        one["name"]: one["valueFrom"]["secretKeyRef"]["key"]
        for one in made.job["spec"]["template"]["spec"]["containers"][0]["env"]
    }
    assert base64.b64decode(files[keys["VALUE"]]).decode() == value
    assert (
        base64.b64decode(files["script"]).decode() == script
        and base64.b64decode(files["start"]).decode() == START
    )
    assert made.job == pod.build(changed(LAUNCH, env={"VALUE": "x"}), SITE).job


@given(
    org=st.text(max_size=60),
    team=st.text(max_size=60),
    other=st.tuples(st.text(max_size=60), st.text(max_size=60)),
)
@settings(max_examples=examples(300))
def test_namespace_name_is_valid_and_unique_per_team(org, team, other):
    name = names.namespace_name("muster", org, team)
    assert (
        len(name) <= 63
        and name.startswith("muster-")
        and name == name.lower()
        and name.replace("-", "").isalnum()
        and not name.endswith("-")
    )
    assert (names.namespace_name("muster", *other) == name) == ((org, team) == other)


def test_namespace_name_of_hyphenated_slugs_is_unique():
    assert names.namespace_name("muster", "atlas", "vision") == "muster-atlas-vision"
    assert names.namespace_name("muster", "a-b", "c") != names.namespace_name("muster", "a", "b-c")


def test_script_too_large_for_secret_is_rejected_with_size():
    with pytest.raises(Rejected, match="1 MiB") as error:
        pod.build(changed(LAUNCH, script="x" * (1 << 20)), SITE)
    assert error.value.field == "run"


def test_mig_slice_uses_own_resource_and_gpu_uses_product():
    slices = pod.build(changed(LAUNCH, gpus=1, gpu_type="mig-1g.10gb"), SITE).job["spec"][
        "template"
    ]["spec"]
    assert slices["containers"][0]["resources"]["limits"]["nvidia.com/mig-1g.10gb"] == "1"
    whole = pod.build(
        changed(LAUNCH, gpus=4, gpu_type="h100"), SITE, ["NVIDIA-H100-80GB-HBM3"]
    ).job["spec"]["template"]["spec"]
    assert whole["containers"][0]["resources"]["limits"][
        "nvidia.com/gpu"
    ] == "4" and "NVIDIA-H100-80GB-HBM3" in json.dumps(whole["affinity"])


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


INPUTS = [
    InputFiles("data", "o", "dataset", "cifar", 3, "c" * 40, tree="trees/o/c-k", path="/data"),
    InputFiles("base", "o", "checkpoint", "resnet", 1, "d" * 40, tree="trees/o/d-k"),
]


def test_inputs_are_fetched_by_init_container_with_rights_of_main():
    launch = changed(LAUNCH, inputs=INPUTS, gpus=1, env={"MUSTER_TOKEN": MARK})
    made = pod.build(launch, replace(SITE, fetch_image="local/python:3"))
    spec = made.job["spec"]["template"]["spec"]
    [fetch], [main] = spec["initContainers"], spec["containers"]
    assert fetch["image"] == "local/python:3" and "env" not in fetch
    assert fetch["securityContext"] == main["securityContext"]
    assert fetch["resources"]["limits"].keys() <= {"cpu", "memory"}
    assert {"name": "inputs", "emptyDir": {}} in spec["volumes"]
    mounts = [m for m in main["volumeMounts"] if m["name"] == "inputs"]
    assert all(m["readOnly"] for m in mounts)
    assert [(m["mountPath"], m["subPath"]) for m in mounts] == [
        ("/muster/inputs/data", "data"),
        ("/data", "data"),
        ("/muster/inputs/base", "base"),
    ]
    assert MARK not in json.dumps(made.job)
    kubernetes_schema.check(made.job)
    again = pod.build(replace(launch, image="own:1"), KubernetesSettings())
    [fetch] = again.job["spec"]["template"]["spec"]["initContainers"]
    assert fetch["image"] == "own:1"


def test_inputs_on_volume_are_mounted_read_only_without_init_container():
    made = pod.build(changed(LAUNCH, inputs=INPUTS), replace(SITE, data="muster-data"))
    spec = made.job["spec"]["template"]["spec"]
    assert "initContainers" not in spec
    claim = {"claimName": "muster-data", "readOnly": True}
    assert {"name": "inputs", "persistentVolumeClaim": claim} in spec["volumes"]
    mounts = [m for m in spec["containers"][0]["volumeMounts"] if m["name"] == "inputs"]
    assert [(m["mountPath"], m["subPath"], m["readOnly"]) for m in mounts][:2] == [
        ("/muster/inputs/data", "trees/o/c-k", True),
        ("/data", "trees/o/c-k", True),
    ]


def test_input_at_path_of_other_volume_is_rejected():
    site = replace(SITE, shared=[("team", "/shared")])
    for path in ("/shared/x", "/shared", "/muster/given", "/dev/shm"):
        launch = changed(LAUNCH, inputs=[replace(INPUTS[0], path=path)])
        with pytest.raises(Rejected, match="has other files"):
            pod.build(launch, site)


def test_slices_of_single_mig_strategy_are_chosen_by_product(double, backend):
    slices, label = "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "nvidia.com/gpu.product"
    node = json.loads(json.dumps(double.store.objects["nodes", "", NODE]))
    node["metadata"] |= {"name": "double-2", "labels": {label: slices}}
    double.store.objects["nodes", "", "double-2"] = node
    for kind, rule in (
        ("mig-1g.10gb", {"key": label, "operator": "In", "values": [slices]}),
        ("h100", {"key": label, "operator": "In", "values": ["NVIDIA-H100-80GB-HBM3"]}),
        ("", {"key": label, "operator": "NotIn", "values": [slices]}),
    ):
        spec = backend._built(launch(gpus=1, gpu_type=kind)).job["spec"]["template"]["spec"]
        affinity = spec["affinity"]["nodeAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]
        assert affinity["nodeSelectorTerms"] == [{"matchExpressions": [rule]}]
        assert spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"


def test_failed_nodes_are_excluded_beside_the_wanted_products():
    launch = changed(LAUNCH, gpus=1, exclude_nodes=("n1", "n2"))
    spec = pod.build(launch, SITE, ["H100"]).job["spec"]["template"]["spec"]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    [term] = spec["affinity"]["nodeAffinity"][required]["nodeSelectorTerms"]
    assert [field["values"] for field in term["matchFields"]] == [["n1"], ["n2"]]
    assert term["matchExpressions"][0]["values"] == ["H100"]
