"""Part of the double of Kubernetes: a container, run as a process group on this machine."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.rig.kubernetes_store import Answer, Object, instant, now

if TYPE_CHECKING:
    from tests.rig.kubernetes_node import Node

# Bytes after which a runtime splits a line.
PARTIAL = 16 << 10
LOOK = 0.05  # seconds


class Container:
    """One process with its environment, log, deadline and memory limit."""

    def __init__(self, node: Node, pod: Object):
        self.node, self.pod = node, pod
        self.folder = node.root / pod["metadata"]["uid"]
        self.mark = f"HOSTNAME={pod['metadata']['name']}"
        self.env: dict[str, str] = {}

    def prepare(self) -> bool:
        """Create files and variables from Secrets, which may appear after the pod."""
        spec, space = self.pod["spec"], self.pod["metadata"]["namespace"]
        while True:
            try:
                files = self.node.store.get(
                    "secrets", space, spec["volumes"][0]["secret"]["secretName"]
                )["data"]
                break
            except Answer:
                if self.node.current(self.pod) is None or self.node.is_closed:
                    return False
                time.sleep(LOOK)
        for part in ("given", "work", "out"):
            (self.folder / part).mkdir(parents=True)
        for item in spec["volumes"][0]["secret"]["items"]:
            text, path = base64.b64decode(files[item["key"]]), self.folder / "given" / item["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            is_mapped = item["key"] == "start" or path.name in ("fetch_inputs.py", "inputs.json")
            path.write_bytes(self._in_place(text) if is_mapped else text)
        for item in next(
            (v["secret"]["items"] for v in spec["volumes"] if v["name"] == "secrets"), ()
        ):
            path = self.folder / "secrets" / item["path"]
            path.parent.mkdir(mode=0o700, exist_ok=True)
            path.touch(0o600)
            path.write_bytes(base64.b64decode(files[item["key"]]))
            path.chmod(0o400)
        own = {
            one["name"]: base64.b64decode(files[one["valueFrom"]["secretKeyRef"]["key"]]).decode()
            for one in spec["containers"][0]["env"]
        }
        index = self.pod["metadata"]["labels"].get("batch.kubernetes.io/job-completion-index")
        own |= {
            name: value.replace("/muster/secrets/", f"{self.folder}/secrets/")
            for name, value in own.items()
            if name.endswith("_FILE")
        }
        self.env = {
            "PATH": "/usr/bin:/bin",
            **own,
            "MUSTER_OUTPUT_DIR": own["MUSTER_OUTPUT_DIR"].replace("/muster/", f"{self.folder}/"),
            "HOSTNAME": self.pod["metadata"]["name"],
            **self._folders(own),
            **({"JOB_COMPLETION_INDEX": index} if index is not None else {}),
        }
        return True

    def _folders(self, env: dict[str, str]) -> dict[str, str]:
        """Return the variables of inputs, which the init container fetched, and of workspaces."""
        self._mount_workspaces()
        return {
            name: value.replace("/muster/", f"{self.folder}/")
            for name, value in env.items()
            if name.startswith(("MUSTER_INPUT_", "MUSTER_WORKSPACE_"))
        }

    def _mount_workspaces(self) -> None:
        """Link the folders of volumes; `readOnly` is not enforced here."""
        spec = self.pod["spec"]
        claims = {
            one["name"]: one["persistentVolumeClaim"]["claimName"]
            for one in spec["volumes"]
            if one["name"] == "workspaces"
        }
        for one in spec["containers"][0]["volumeMounts"]:
            if one["name"] in claims and one["mountPath"].startswith("/muster/"):
                place = self.folder / one["mountPath"].removeprefix("/muster/")
                place.parent.mkdir(exist_ok=True)
                volume = Path(self.node.store.volumes[claims[one["name"]]])
                place.symlink_to(volume / one["subPath"])

    def _in_place(self, text: bytes) -> bytes:
        """Map paths of a container to paths on this machine."""
        here = f"{self.folder}/".encode()
        return text.replace(b"/muster/", here).replace(b"/dev/termination-log", here + b"last-word")

    def initialize(self) -> bool:
        """Run the init containers; return False and end the pod if one fails."""
        waits = {"waiting": {"reason": "PodInitializing"}}
        for one in self.pod["spec"].get("initContainers", ()):
            (self.folder / "inputs").mkdir()
            running = [{"name": one["name"], "state": {"running": {"startedAt": now()}}}]
            self.node.told(self.pod, waits, "Pending", initContainerStatuses=running)
            argv = [self._in_place(word.encode()).decode() for word in one["command"]]
            done = subprocess.run(argv, capture_output=True, check=False)
            ended = {"exitCode": done.returncode, "finishedAt": now()}
            with contextlib.suppress(FileNotFoundError):
                ended["message"] = (self.folder / "last-word").read_text()
            over = [{"name": one["name"], "state": {"terminated": ended}}]
            phase = "Failed" if done.returncode else "Pending"
            self.node.told(self.pod, waits, phase, initContainerStatuses=over)
            if done.returncode:
                return False
        return True

    def run(self) -> None:
        started, since = now(), time.monotonic()
        process = subprocess.Popen(
            ["bash", str(self.folder / "given" / "start")],
            cwd=self.folder / "work",
            env=self.env,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        reader = self.node.store.start(self._read, process.stdout)
        self.node.told(self.pod, {"running": {"startedAt": started}}, "Running", startTime=started)
        reason, _ = self._watch(process, since)
        self.kill()
        code = process.wait()
        reader.join(10)
        shutil.rmtree(self.folder / "secrets", ignore_errors=True)
        ended = {
            "exitCode": code if code >= 0 else 128 - code,
            "startedAt": started,
            "finishedAt": now(),
            "reason": "OOMKilled"
            if reason == "OOMKilled"
            else "Completed"
            if code == 0
            else "Error",
        }
        with contextlib.suppress(FileNotFoundError):
            ended["message"] = (self.folder / "last-word").read_text()
        over = (
            {
                "reason": reason,
                "message": "Pod was active on the node longer than the specified deadline",
            }
            if reason == "DeadlineExceeded"
            else {}
        )
        self.node.told(
            self.pod,
            {"terminated": ended},
            "Succeeded" if code == 0 and not over else "Failed",
            **over,
        )

    def kill(self) -> None:
        """Kill every process of the container, also those that start meanwhile."""
        while found := self._processes():
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(LOOK / 10)

    def _watch(self, process: subprocess.Popen[bytes], since: float) -> tuple[str, float | None]:
        """Wait until it ends; return why we ended it, and when."""
        limit = (
            re.sub(
                r"\D",
                "",
                self.pod["spec"]["containers"][0]["resources"].get("limits", {}).get("memory", ""),
            )
            or "0"
        )
        asked_at: float | None = None
        why = ""
        while process.poll() is None:
            pod = self.node.current(self.pod)
            if int(limit) and self._memory() > int(limit):
                return "OOMKilled", None
            deadline = (pod or {"spec": {}})["spec"].get("activeDeadlineSeconds")
            is_deleted = pod is not None and "deletionTimestamp" in pod["metadata"]
            if (
                pod is None
                or self.node.is_closed  # just after this process was started
                or (
                    asked_at is not None
                    and time.monotonic() - asked_at
                    > self.pod["spec"]["terminationGracePeriodSeconds"]
                )
            ):
                break
            if asked_at is None and (
                is_deleted or (deadline is not None and time.monotonic() - since > deadline)
            ):
                asked_at, why = time.monotonic(), "" if is_deleted else "DeadlineExceeded"
                process.terminate()
            time.sleep(LOOK)
        return why, asked_at

    def _read(self, stream: Any) -> None:
        """Store output like a container runtime: timestamped lines, split when they are long."""
        kept = self.node.logs.setdefault(self.pod["metadata"]["uid"], [])
        rest = b""
        with stream:
            while data := os.read(stream.fileno(), 1 << 16):
                rest += data
                while (end := rest.find(b"\n") + 1) or len(rest) >= PARTIAL:
                    cut = min(end or PARTIAL, PARTIAL)
                    kept.append((instant(), rest[:cut]))
                    rest = rest[cut:]
        if rest:
            kept.append((instant(), rest))

    def _memory(self) -> int:
        total = 0
        for pid in self._processes():
            with contextlib.suppress(OSError, IndexError):
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf(
                    "SC_PAGE_SIZE"
                )
        return total

    def _processes(self) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if self.mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
        return found
