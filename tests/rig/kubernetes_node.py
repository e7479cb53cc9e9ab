"""Part of the double of Kubernetes: its Job controller, scheduler and kubelet. A container is a real process group on this machine."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.rig.kubernetes_store import Answer, Object, Store, now

NODE, GPUS, CPUS = "double-1", 8, 64
PARTIAL = 16 << 10                       # bytes after which a runtime cuts a line
LOOK = 0.05                              # seconds


class Node:
    """Listens to the store; does for Jobs and pods what the cluster would."""

    def __init__(self, store: Store):
        self.store, self.root = store, Path(tempfile.mkdtemp(prefix="kubernetes-double-"))
        self.logs: dict[str, list[tuple[datetime, bytes]]] = {}
        self._containers: dict[str, Container] = {}
        store.objects["nodes", "", NODE] = {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "uid": "n-1", "resourceVersion": "1", "labels": {
                "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": "81559"}},
            "spec": {}, "status": {"allocatable": {"cpu": str(CPUS), "memory": "256Gi", "nvidia.com/gpu": str(GPUS), "pods": "110"},
                                   "conditions": [{"type": "Ready", "status": "True"}]}}
        store.listeners.append(self._hear)

    def close(self) -> None:
        for container in list(self._containers.values()):
            container.kill()
        shutil.rmtree(self.root, ignore_errors=True)

    def _hear(self, kind: str, plural: str, thing: Object) -> None:
        if plural == "jobs" and kind != "DELETED":
            threading.Thread(target=self._control, args=(thing,), daemon=True).start()
        elif plural == "jobs":
            threading.Thread(target=self._collect, args=(thing,), daemon=True).start()
        elif plural == "pods" and kind == "ADDED":
            threading.Thread(target=self._run, args=(thing,), daemon=True).start()

    def _control(self, job: Object) -> None:
        """The Job controller: pods for a new Job, none for a suspended one."""
        meta, space = job["metadata"], job["metadata"]["namespace"]
        with self.store.changed:
            if ("jobs", space, meta["name"]) not in self.store.objects:
                return
            pods = [p for p in self.store.all("pods", space) if p["metadata"]["ownerReferences"][0]["uid"] == meta["uid"]]
            if job["spec"].get("suspend"):
                for pod in pods:
                    if not pod["spec"].get("nodeName"):
                        self.store.remove("pods", space, pod["metadata"]["name"])
                if not job.get("status", {}).get("conditions"):
                    self._job_status(job, {"active": 0, "conditions": [{"type": "Suspended", "status": "True"}]})
                return
            if not pods and not job.get("status"):
                self._job_status(job, {"active": job["spec"]["parallelism"]})
                for rank in range(job["spec"]["completions"]):
                    self._make_pod(job, rank)

    def _job_status(self, job: Object, status: Object) -> None:
        self.store.update("jobs", job["metadata"]["namespace"], job["metadata"]["name"], lambda thing: thing.update(status=status))

    def _make_pod(self, job: Object, rank: int) -> None:
        meta, template = job["metadata"], job["spec"]["template"]
        indexed = job["spec"].get("completionMode") == "Indexed"
        labels = {**template["metadata"]["labels"], **({"batch.kubernetes.io/job-completion-index": str(rank)} if indexed else {})}
        name = f"{meta['name']}-{f'{rank}-' if indexed else ''}{uuid.uuid4().hex[:5]}"
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"]}
        self.store.create("pods", meta["namespace"], {
            "apiVersion": "v1", "kind": "Pod", "metadata": {**template["metadata"], "labels": labels, "name": name, "ownerReferences": [owner]},
            "spec": template["spec"], "status": {"phase": "Pending"}})

    def _collect(self, job: Object) -> None:
        """The garbage collector: what the Job owned goes with it."""
        uid = job["metadata"]["uid"]
        with self.store.changed:
            for plural, space, name in [k for k, o in self.store.objects.items()
                                        if any(r["uid"] == uid for r in o["metadata"].get("ownerReferences", ()))]:
                thing = self.store.remove(plural, space, name)
                if (container := self._containers.pop(thing["metadata"]["uid"], None)) is not None:
                    container.kill()

    def _run(self, pod: Object) -> None:
        """Schedule, start, watch over, and tell the end."""
        meta = pod["metadata"]
        wanted = int(pod["spec"]["containers"][0]["resources"].get("limits", {}).get("nvidia.com/gpu", 0))
        if wanted > GPUS:
            self._pod(pod, {"phase": "Pending", "conditions": [_condition(
                "PodScheduled", "False", "Unschedulable", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are "
                "available: 1 No preemption victims found for incoming pod.")]})
            return
        placed = self._pod(pod, {"phase": "Pending", "conditions": [_condition("PodScheduled", "True")]}, NODE)
        if placed is None:
            return
        container = Container(self, pod)
        if not container.prepare():
            return
        self._containers[meta["uid"]] = container
        container.run()
        self._finish(pod)

    def _finish(self, pod: Object) -> None:
        """The Job's conditions, once its pods have ended."""
        owner = pod["metadata"]["ownerReferences"][0]
        space = pod["metadata"]["namespace"]
        with self.store.changed, contextlib.suppress(Answer):
            job = self.store.get("jobs", space, owner["name"])
            phases = [p["status"]["phase"] for p in self.store.all("pods", space) if p["metadata"]["ownerReferences"][0]["uid"] == owner["uid"]]
            if "Failed" in phases:
                self._job_status(job, {"failed": 1, "conditions": [_condition("Failed", "True", "PodFailurePolicy", "a pod failed")]})
            elif phases.count("Succeeded") == job["spec"]["completions"]:
                self._job_status(job, {"succeeded": len(phases), "conditions": [_condition("Complete", "True")]})

    def _pod(self, pod: Object, status: Object, node: str = "") -> Object | None:
        def change(thing: Object) -> None:
            thing["status"] = {**thing["status"], **status}
            if node:
                thing["spec"]["nodeName"] = node

        try:
            return self.store.update("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], change)
        except Answer:
            return None                                                # deleted meanwhile

    def current(self, pod: Object) -> Object | None:
        return self.store.objects.get(("pods", pod["metadata"]["namespace"], pod["metadata"]["name"]))

    def told(self, pod: Object, state: Object, phase: str, **more: Any) -> None:
        self._pod(pod, {"phase": phase, "containerStatuses": [{"name": "main", "state": state}], **more})


class Container:
    """One process with its environment, log, deadline and memory limit."""

    def __init__(self, node: Node, pod: Object):
        self.node, self.pod = node, pod
        self.folder = node.root / pod["metadata"]["uid"]
        self.mark = f"HOSTNAME={pod['metadata']['name']}"
        self._env: dict[str, str] = {}

    def prepare(self) -> bool:
        """Files and variables out of the Secrets, which may come after the pod."""
        spec, space = self.pod["spec"], self.pod["metadata"]["namespace"]
        for _ in range(200):
            try:
                files = self.node.store.get("secrets", space, spec["volumes"][0]["secret"]["secretName"])["data"]
                env = self.node.store.get("secrets", space, spec["containers"][0]["envFrom"][0]["secretRef"]["name"])["data"]
                break
            except Answer:
                time.sleep(LOOK)
        else:
            return False
        for part in ("given", "work", "out"):
            (self.folder / part).mkdir(parents=True)
        for item in spec["volumes"][0]["secret"]["items"]:
            text, path = base64.b64decode(files[item["key"]]), self.folder / "given" / item["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._in_place(text) if item["key"] == "start" else text)
        own = {name: base64.b64decode(value).decode() for name, value in env.items()}
        index = self.pod["metadata"]["labels"].get("batch.kubernetes.io/job-completion-index")
        self._env = {"PATH": os.environ["PATH"], **own, "MUSTER_OUTPUT_DIR": str(self.folder / "out"), "HOSTNAME": self.pod["metadata"]["name"],
                     **({"JOB_COMPLETION_INDEX": index} if index is not None else {})}
        return True

    def _in_place(self, text: bytes) -> bytes:
        """Paths of a container, where they are here."""
        here = f"{self.folder}/".encode()
        return text.replace(b"/muster/", here).replace(b"/dev/termination-log", here + b"last-word")

    def run(self) -> None:
        started, since = now(), time.monotonic()
        process = subprocess.Popen(["bash", str(self.folder / "given" / "start")], cwd=self.folder / "work", env=self._env, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        reader = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        reader.start()
        self.node.told(self.pod, {"running": {"startedAt": started}}, "Running", startTime=started)
        reason, killed_at = self._watch(process, since)
        self.kill()
        code = process.wait()
        reader.join(10)
        ended = {"exitCode": code if code >= 0 else 128 - code, "startedAt": started, "finishedAt": now(),
                 "reason": "OOMKilled" if reason == "OOMKilled" else "Completed" if code == 0 else "Error"}
        with contextlib.suppress(FileNotFoundError):
            ended["message"] = (self.folder / "last-word").read_text()
        over = {"reason": reason, "message": "Pod was active on the node longer than the specified deadline"} if killed_at else {}
        self.node.told(self.pod, {"terminated": ended}, "Succeeded" if code == 0 and not over else "Failed", **over)

    def kill(self) -> None:
        """Every process of the container."""
        for pid in self._processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _watch(self, process: subprocess.Popen[bytes], since: float) -> tuple[str, float | None]:
        """Until it ends: (why we ended it, when)."""
        limit = re.sub(r"\D", "", self.pod["spec"]["containers"][0]["resources"].get("limits", {}).get("memory", "")) or "0"
        asked_at: float | None = None
        while process.poll() is None:
            pod = self.node.current(self.pod)
            if int(limit) and self._memory() > int(limit):
                return "OOMKilled", None
            deadline = (pod or {"spec": {}})["spec"].get("activeDeadlineSeconds")
            if pod is None or (asked_at is not None and time.monotonic() - asked_at > self.pod["spec"]["terminationGracePeriodSeconds"]):
                break
            if asked_at is None and deadline is not None and time.monotonic() - since > deadline:
                asked_at = time.monotonic()
                process.terminate()
            time.sleep(LOOK)
        return "DeadlineExceeded", asked_at

    def _read(self, stream: Any) -> None:
        """As a runtime keeps it: lines with their time, cut when they are long."""
        kept = self.node.logs.setdefault(self.pod["metadata"]["uid"], [])
        rest = b""
        while data := os.read(stream.fileno(), 1 << 16):
            rest += data
            while (end := rest.find(b"\n") + 1) or len(rest) >= PARTIAL:
                cut = min(end or PARTIAL, PARTIAL)
                kept.append((datetime.now(UTC), rest[:cut]))
                rest = rest[cut:]
        if rest:
            kept.append((datetime.now(UTC), rest))

    def _memory(self) -> int:
        total = 0
        for pid in self._processes():
            with contextlib.suppress(OSError, IndexError):
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return total

    def _processes(self) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if self.mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
        return found


def _condition(kind: str, status: str, reason: str = "", message: str = "") -> Object:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now()}
