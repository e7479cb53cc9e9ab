"""Part of the double of Kubernetes: Job controller, scheduler and kubelet."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
import uuid
from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.rig.kubernetes_container import LOOK, Container
from tests.rig.kubernetes_store import Answer, Object, Store, instant, now

NODE, GPUS, CPUS = "double-1", 8, 64


class Node:
    """Watches the store, and acts on Jobs and pods like a cluster."""

    def __init__(self, store: Store):
        self.store, self.root = store, Path(tempfile.mkdtemp(prefix="kubernetes-double-"))
        self.logs: dict[str, list[tuple[datetime, bytes]]] = {}
        # By image: why its container waits, as (reason, message).
        self.troubles: dict[str, tuple[str, str]] = {}
        self.containers: dict[str, Container] = {}
        store.objects["nodes", "", NODE] = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": NODE,
                "uid": "n-1",
                "resourceVersion": "1",
                "labels": {
                    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
                    "nvidia.com/gpu.memory": "81559",
                },
            },
            "spec": {},
            "status": {
                "allocatable": {
                    "cpu": str(CPUS),
                    "memory": "256Gi",
                    "nvidia.com/gpu": str(GPUS),
                    "pods": "110",
                },
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        self.is_closed = False
        store.listeners.append(self._hear)

    def close(self) -> None:
        """Kill what runs; whatever waits for a change gives up."""
        self.is_closed = True  # the folder may outlive this: a pod that starts writes to it
        for container in list(self.containers.values()):
            container.kill()
        shutil.rmtree(self.root, ignore_errors=True)

    def _hear(self, kind: str, plural: str, thing: Object) -> None:
        if plural == "jobs":
            self.store.start(self._control if kind != "DELETED" else self.collect, thing)
        elif plural == "pods" and kind == "ADDED" and thing["status"]["phase"] == "Pending":
            self.store.start(self._run, thing)

    def _control(self, job: Object) -> None:
        """Control Jobs: create pods for a new Job, and none for a suspended one."""
        meta, space = job["metadata"], job["metadata"]["namespace"]
        with self.store.changed:
            job = self.store.objects.get(("jobs", space, meta["name"]), {})
            if not job or job["metadata"]["uid"] != meta["uid"]:
                return
            pods = [
                p
                for p in self.store.all("pods", space)
                if p["metadata"]["ownerReferences"][0]["uid"] == meta["uid"]
            ]
            if job["spec"].get("suspend"):
                for pod in pods:
                    self.delete(pod)
                if not _conditions(job):
                    self._job_status(
                        job, {"active": 0, "conditions": [{"type": "Suspended", "status": "True"}]}
                    )
                return
            if (
                not pods
                and not job.get("status", {}).get("active")
                and _conditions(job) <= {"Suspended"}
            ):
                status = {"active": job["spec"]["parallelism"], "startTime": now()}
                self._job_status(job, status)
                for rank in range(job["spec"]["completions"]):
                    self._make_pod(job, rank)

    def _job_status(self, job: Object, status: Object) -> None:
        self.store.update(
            "jobs",
            job["metadata"]["namespace"],
            job["metadata"]["name"],
            lambda thing: thing.update(status=status),
        )

    def _make_pod(self, job: Object, rank: int) -> None:
        meta, template = job["metadata"], job["spec"]["template"]
        indexed = job["spec"].get("completionMode") == "Indexed"
        labels = {
            **template["metadata"]["labels"],
            **({"batch.kubernetes.io/job-completion-index": str(rank)} if indexed else {}),
        }
        name = f"{meta['name']}-{f'{rank}-' if indexed else ''}{uuid.uuid4().hex[:5]}"
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"]}
        self.store.create(
            "pods",
            meta["namespace"],
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    **template["metadata"],
                    "labels": labels,
                    "name": name,
                    "ownerReferences": [owner],
                },
                "spec": template["spec"],
                "status": {"phase": "Pending"},
            },
        )

    def collect(self, job: Object) -> None:
        """Delete the objects that the Job owned, like the garbage collector."""
        uid = job["metadata"]["uid"]
        with self.store.changed:
            for (plural, space, name), made in list(self.store.objects.items()):
                if all(r["uid"] != uid for r in made["metadata"].get("ownerReferences", ())):
                    continue
                if plural == "pods" and made["status"]["phase"] == "Running":
                    self.delete(made)
                    continue
                thing = self.store.remove(plural, space, name)
                if (container := self.containers.pop(thing["metadata"]["uid"], None)) is not None:
                    container.kill()

    def _run(self, pod: Object) -> None:
        """Schedule, start and watch a pod, and report its end."""
        meta = pod["metadata"]
        if lack := _lack(pod["spec"], self.store.claims):
            status = _condition(
                "PodScheduled", "False", "Unschedulable", f"0/1 nodes are available: {lack}"
            )
            self._pod(pod, {"phase": "Pending", "conditions": [status]})
            return
        while taint := _repelled(self.store.objects["nodes", "", NODE], pod["spec"]):
            text = f"0/1 nodes are available: 1 node(s) had untolerated taint {{{taint}}}"
            status = _condition("PodScheduled", "False", "Unschedulable", text)
            now = self.current(pod)
            if now is None or self.is_closed:
                return
            if not now["status"].get("conditions"):
                self._pod(pod, {"phase": "Pending", "conditions": [status]})
            time.sleep(LOOK)
        placed = self._pod(
            pod, {"phase": "Pending", "conditions": [_condition("PodScheduled", "True")]}, NODE
        )
        if placed is None:
            return
        if not self._pull(pod):
            return
        container = Container(self, pod)
        if not container.prepare():
            return
        self.containers[meta["uid"]] = container
        if container.initialize():
            container.run()
        is_deleted = "deletionTimestamp" in (self.current(pod) or pod)["metadata"]
        if is_deleted:
            self.logs.pop(meta["uid"], None)
        self._finish(pod)
        if is_deleted:
            with contextlib.suppress(Answer):
                self._mark(pod, 0)
            self._gone(pod)

    def _pull(self, pod: Object) -> bool:
        """Wait for the image; return False if the pod was deleted meanwhile."""
        image, result = pod["spec"]["containers"][0]["image"], None
        while trouble := self.troubles.get(image):
            if trouble != result:
                self.told(
                    pod, {"waiting": {"reason": trouble[0], "message": trouble[1]}}, "Pending"
                )
                result = trouble
            if (now := self.current(pod)) is None or self.is_closed:
                return False
            if now["spec"].get("activeDeadlineSeconds") == 1:
                self._never(pod)
                return False
            time.sleep(LOOK)
        return True

    def _never(self, pod: Object) -> None:
        """End a pod without a container, with the message and exit code of kubelet 1.36."""
        message = "The container could not be located when the pod was terminated"
        state = {
            "exitCode": 137,
            "reason": "ContainerStatusUnknown",
            "message": message,
            "startedAt": None,
            "finishedAt": None,
        }
        self.told(
            pod,
            {"terminated": state},
            "Failed",
            reason="DeadlineExceeded",
            message="Pod was active on the node longer than the specified deadline",
        )
        self._finish(pod)

    def delete(self, pod: Object) -> None:
        """Delete a pod like `kubectl delete pod`: SIGTERM, grace period, removal."""
        meta = pod["metadata"]
        with self.store.changed, contextlib.suppress(Answer):
            if (
                self.store.get("pods", meta["namespace"], meta["name"])["status"]["phase"]
                != "Pending"
            ):
                self._mark(pod, pod["spec"].get("terminationGracePeriodSeconds", 30))
            else:
                self._gone(pod)

    def _mark(self, pod: Object, grace: int) -> None:
        """Report a deletion like 1.36: the end of the grace period, none after the kubelet's own."""
        until = (instant() + timedelta(seconds=grace)).strftime("%Y-%m-%dT%H:%M:%SZ")
        mark = {"deletionTimestamp": until, "deletionGracePeriodSeconds": grace}
        meta = pod["metadata"]
        self.store.update(
            "pods", meta["namespace"], meta["name"], lambda thing: thing["metadata"].update(mark)
        )

    def _gone(self, pod: Object) -> None:
        with contextlib.suppress(Answer):
            self.store.remove(
                "pods",
                pod["metadata"]["namespace"],
                pod["metadata"]["name"],
                pod["metadata"]["uid"],
            )

    def _finish(self, pod: Object) -> None:
        """Set the Job's conditions once its pods have ended."""
        owner = pod["metadata"]["ownerReferences"][0]
        space = pod["metadata"]["namespace"]
        with self.store.changed, contextlib.suppress(Answer):
            job = self.store.get("jobs", space, owner["name"])
            pods = [
                p
                for p in self.store.all("pods", space)
                if p["metadata"]["ownerReferences"][0]["uid"] == owner["uid"]
            ]
            phases = [p["status"]["phase"] for p in pods]
            if job["spec"].get("suspend") or job["metadata"]["uid"] != owner["uid"]:
                return
            if "Failed" in phases:
                self._job_status(
                    job,
                    {
                        "failed": 1,
                        "conditions": [
                            _condition("Failed", "True", "PodFailurePolicy", _why(pods))
                        ],
                    },
                )
            elif phases.count("Succeeded") == job["spec"]["completions"]:
                self._job_status(
                    job, {"succeeded": len(phases), "conditions": [_condition("Complete", "True")]}
                )

    def _pod(self, pod: Object, status: Object, node: str = "") -> Object | None:
        def change(thing: Object) -> None:
            thing["status"] = {**thing["status"], **status}
            if node:
                thing["spec"]["nodeName"] = node

        try:
            return self.store.update(
                "pods", pod["metadata"]["namespace"], pod["metadata"]["name"], change
            )
        except Answer:
            return None  # deleted meanwhile

    def current(self, pod: Object) -> Object | None:
        return self.store.objects.get(
            ("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
        )

    def told(self, pod: Object, state: Object, phase: str, **more: Any) -> None:
        self._pod(
            pod, {"phase": phase, "containerStatuses": [{"name": "main", "state": state}], **more}
        )


def _lack(spec: Object, claims: Collection[str]) -> str:
    """Return why the scheduler does not place a pod, in the words of Kubernetes 1.36."""
    request = [
        one["persistentVolumeClaim"]["claimName"]
        for one in spec["volumes"]
        if "persistentVolumeClaim" in one
    ]
    if claim := next((name for name in request if name not in claims), ""):
        return f'persistentvolumeclaim "{claim}" not found. not found'
    if int(spec["containers"][0]["resources"].get("limits", {}).get("nvidia.com/gpu", 0)) > GPUS:
        return (
            "1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption "
            "victims found for incoming pod."
        )
    return ""


def _repelled(node: Object, spec: Object) -> str:
    """Return the taint of the node that keeps the pod out; empty if none does."""
    for taint in node["spec"].get("taints") or ():
        if taint["effect"] != "PreferNoSchedule" and not any(
            one.get("key") == taint["key"]
            and (one.get("operator") == "Exists" or one.get("value") == taint.get("value"))
            for one in spec.get("tolerations", ())
        ):
            return f"{taint['key']}: {taint.get('value', '')}"
    return ""


def _condition(kind: str, status: str, reason: str = "", message: str = "") -> Object:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": now(),
    }


def _conditions(job: Object) -> set[str]:
    return {c["type"] for c in job.get("status", {}).get("conditions", ())}


def _why(pods: list[Object]) -> str:
    failed = next(pod for pod in pods if pod["status"]["phase"] == "Failed")
    if "terminated" not in failed["status"]["containerStatuses"][0]["state"]:
        return "Job has reached the specified backoff limit"
    code = failed["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"]
    return (
        f"Container main for pod {failed['metadata']['namespace']}/{failed['metadata']['name']} "
        f"failed with exit code {code} "
        "matching FailJob rule at index 1"
    )
