"""Test workspaces in pods: parts of a volume that the portal and all pods share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from portal.blobs.folders import SharedTree
from schedulers import capabilities_of
from schedulers.contract import Capability, FolderMount, Rejected
from schedulers.kubernetes import pod
from schedulers.kubernetes.backend import KubernetesBackend
from schedulers.states import State
from tests.rig import kubernetes_schema
from tests.schedulers.kubernetes_stage import launch, state_of
from tests.schedulers.launches import changed
from tests.schedulers.test_kubernetes_pod import INPUTS, LAUNCH, SITE

CODE = FolderMount("code", "/portal/org/0a1b", "/code", tree="org/0a1b", text="vision-code")
VOICES = FolderMount("voices", "/portal/org/2c3d", read_only=True, tree="org/2c3d", text="voices")


def test_pod_mounts_its_own_folders_of_the_volume_only():
    site = replace(SITE, folders_claim="muster-workspaces")
    made = pod.build(changed(LAUNCH, folders=[CODE, VOICES]), site)
    spec = made.job["spec"]["template"]["spec"]
    claim = {"claimName": "muster-workspaces"}
    assert {"name": "workspaces", "persistentVolumeClaim": claim} in spec["volumes"]
    mounts = [m for m in spec["containers"][0]["volumeMounts"] if m["name"] == "workspaces"]
    assert [(m["mountPath"], m["subPath"], m["readOnly"]) for m in mounts] == [
        ("/muster/workspaces/code", "org/0a1b", False),
        ("/code", "org/0a1b", False),
        ("/muster/workspaces/voices", "org/2c3d", True),
    ]
    assert spec["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"
    kubernetes_schema.check(made.job)


def test_workspace_without_volume_or_at_taken_path_is_rejected():
    with pytest.raises(Rejected, match="Workspaces in the settings of the cluster"):
        pod.build(changed(LAUNCH, folders=[VOICES]), SITE)
    site = replace(SITE, shared=[("team", "/shared")], folders_claim="w")
    for path in ("/shared/x", "/muster/given", "/dev/shm", "/data/deep"):
        with pytest.raises(Rejected, match="has other files") as refused:
            pod.build(changed(LAUNCH, inputs=INPUTS, folders=[replace(CODE, path=path)]), site)
        assert refused.value.field == "workspaces.code.path"
    with pytest.raises(Rejected) as refused:
        KubernetesBackend.configured({"workspaces_claim": "../x"})
    assert refused.value.field == "workspaces_claim"
    options = {"workspaces_claim": "w"}
    assert Capability.WORKSPACES in capabilities_of("kubernetes", lambda: options)
    assert Capability.WORKSPACES not in capabilities_of("kubernetes", dict)


def test_pods_and_portal_share_files(double, tmp_path, wait_for):
    tree = SharedTree(tmp_path / "org", "0a1b")
    tree.create()
    aside = tree.start()
    aside.append(0, [b"the code\n"], limit=99)
    tree.place(aside, "train.py")
    double.store.claims.add("w")
    double.store.volumes["w"] = str(tmp_path)
    backend = KubernetesBackend.configured(
        {
            "server": double.url,
            "token": double.token,
            "image": "local/bash:1",
            "workspaces_claim": "w",
        }
    )
    script = 'cd "$MUSTER_WORKSPACE_CODE" && cat train.py && echo result > metrics'
    key = backend.submit(launch(script, folders=[replace(CODE, path="")])).key
    wait_for(lambda: state_of(backend, key) == State.SUCCEEDED, 40)
    assert backend.read_log(key, 0).data == b"the code\n"
    assert b"".join(tree.read("metrics", 0, 99)) == b"result\n"
