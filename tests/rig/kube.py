"""Kubernetes for tests: a real cluster (MUSTER_TEST_KUBECONFIG), else kubernetes_double.py.

The nodes of a real cluster must see this machine's /tmp, because jobs and tests share files.
MUSTER_TEST_K8S_IMAGE needs bash and python3 (and PyTorch for the example on two nodes).
MUSTER_TEST_K8S_PORTAL is the address of this machine at which pods reach it, to send metrics.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import uuid
from functools import cache
from pathlib import Path
from typing import Any

from schedulers.kubernetes import names, namespace
from schedulers.kubernetes.access import from_kubeconfig
from schedulers.kubernetes.client import Client

CLAIM = "muster-test"
SHARED = "shared Kubernetes double"  # names the threads of the double that a process shares


def is_real() -> bool:
    """Return whether the tests use a real cluster."""
    return bool(os.environ.get("MUSTER_TEST_KUBECONFIG"))


def portal_address() -> str:
    """Return the address on which a portal must listen for jobs of the cluster."""
    return os.environ.get("MUSTER_TEST_K8S_PORTAL", "127.0.0.1") if is_real() else "127.0.0.1"


def options_of() -> dict[str, Any]:
    """Return the options of a backend, with a namespace prefix per test process."""
    return _real() if is_real() else _double()


def folder_of(own: Path) -> Path:
    """Return a folder that jobs see under the same path."""
    if not is_real():
        return own
    path = Path(_shared()) / uuid.uuid4().hex[:8]
    path.mkdir()
    path.chmod(0o777)
    return path


def claim_of(folder: Path) -> str:
    """Return the option that mounts the rig's volume at the folder of `folder_of`."""
    return f"{CLAIM}:{Path(_shared()) if is_real() else folder}"


@cache
def _double() -> dict[str, Any]:
    from tests.rig.kubernetes_double import Double

    double = Double(SHARED)
    double.store.claims.add(CLAIM)
    atexit.register(double.close)
    return {"server": double.url, "token": double.token, "image": "local/bash:1"}


@cache
def _real() -> dict[str, Any]:
    text = Path(os.environ["MUSTER_TEST_KUBECONFIG"]).read_text()
    prefix, folder = f"mt{uuid.uuid4().hex[:8]}", _shared()
    wire, meta = Client(from_kubeconfig(text)), {"name": f"{prefix}-share"}
    wire.post("/api/v1/namespaces", namespace.namespace(f"{prefix}-jobs", prefix, "", ""))
    wire.post(
        "/api/v1/persistentvolumes",
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": meta,
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteMany"],
                "hostPath": {"path": folder},
                "storageClassName": "",
                "claimRef": {"name": CLAIM, "namespace": f"{prefix}-jobs"},
            },
        },
    )
    wire.post(
        f"/api/v1/namespaces/{prefix}-jobs/persistentvolumeclaims",
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": CLAIM},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "storageClassName": "",
                "volumeName": meta["name"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )
    atexit.register(_remove, wire, prefix)
    return {
        "kubeconfig": text,
        "namespace_prefix": prefix,
        "shared": [f"{CLAIM}:{folder}"],
        "pull_policy": "IfNotPresent",
        "image": os.environ.get("MUSTER_TEST_K8S_IMAGE", "docker.io/library/python:3.12"),
    }


def _remove(wire: Client, prefix: str) -> None:
    """Delete the namespaces, including those that a portal created for teams."""
    for space in wire.get("/api/v1/namespaces", labelSelector=f"{names.PORTAL}={prefix}")["items"]:
        wire.delete(f"/api/v1/namespaces/{space['metadata']['name']}")
    wire.delete(f"/api/v1/persistentvolumes/{prefix}-share")


@cache
def _shared() -> str:
    folder = tempfile.mkdtemp(prefix="muster-shared-")
    os.chmod(folder, 0o777)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
