"""Submit the jobs of a pool to a LocalQueue of Kueue, where it is installed.

A Job is created suspended and with the label of the queue. Kueue creates a Workload for it, and
unsuspends the Job once it is admitted. The API version is discovered. Explanations are in
`kueue.py`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from portal.core.messages import Message
from schedulers.contract import PendingReason, Rejected
from schedulers.kubernetes import kueue, names
from schedulers.kubernetes.client import ApiError, Client, segment

GROUP = "/apis/kueue.x-k8s.io"
# seconds for which a response is cached
VERSION_FOR, WORKLOADS_FOR, QUEUES_FOR = (
    60.0,
    3.0,
    15.0,
)
Object = dict[str, Any]


class Queues:
    """A thread-safe client for Kueue.

    Methods raise Unavailable, and Refused if a permission is missing.
    """

    def __init__(self, wire: Client):
        self._wire = wire
        self._version: tuple[float, str] = (-VERSION_FOR, "")
        self._workloads: dict[str, tuple[float, dict[str, Object]]] = {}
        self._known: tuple[float, dict[tuple[str, str], Object]] = (-QUEUES_FOR, {})

    def version(self) -> str:
        """Return the server's preferred version; empty if Kueue is not installed."""
        if time.monotonic() - self._version[0] > VERSION_FOR:
            try:
                found = self._wire.get(GROUP)["preferredVersion"]["version"]
            except ApiError as error:
                if error.status not in {403, 404}:
                    raise
                found = ""
            self._version = (time.monotonic(), found)
        return self._version[1]

    def check(self, queue: str) -> None:
        """Raise Rejected for a queue if Kueue is not installed."""
        if queue and not self.version():
            raise Rejected(
                Message(
                    "Its pool names the queue {x}, but Kueue is not installed in this cluster.",
                    x=repr(queue[:60]),
                ),
                "policy.pool",
            )

    def all(self) -> list[str]:
        """Return the names of all LocalQueues, for the settings of a pool."""
        return sorted({name for _, name in self._queues()}) if self.version() else []

    def waiting(self, job: Mapping[str, Any]) -> PendingReason | None:
        """Explain why Kueue has not started the Job.

        None for a Job that is in no queue or was admitted.
        """
        queue = names.queue_of(job)
        if not queue or not job["spec"].get("suspend") or not self.version():
            return None
        space = job["metadata"]["namespace"]
        workload, (_, siblings) = self._of(job) or {}, self._workloads.get(space, (0.0, {}))
        return kueue.waiting(workload, self._queues().get((space, queue)), siblings.values())

    def workloads(self) -> list[Object]:
        """Return all Workloads, to tell who uses a queue's quota.

        Empty if Kueue is not installed or the Workloads are not visible.
        """
        return self._list("workloads") if self.version() else []

    def give_up(self, job: Mapping[str, Any]) -> None:
        """Deactivate a Workload, so that Kueue never starts its Job."""
        if names.queue_of(job) and self.version():
            self._workloads.pop(job["metadata"]["namespace"], None)
            if (workload := self._of(job)) is not None:
                path = f"{self._path(job['metadata']['namespace'])}/{segment(workload['metadata']['name'])}"
                self._wire.patch(
                    path,
                    {"metadata": {"uid": workload["metadata"]["uid"]}, "spec": {"active": False}},
                )

    def _of(self, job: Mapping[str, Any]) -> Object | None:
        space = job["metadata"]["namespace"]
        at, known = self._workloads.get(space, (0.0, {}))
        if not at or time.monotonic() - at > WORKLOADS_FOR:
            found = self._wire.get(self._path(space))["items"]
            known = {
                owner["uid"]: one
                for one in found
                for owner in one["metadata"].get("ownerReferences", ())
            }
            self._workloads[space] = (time.monotonic(), known)
        return known.get(job["metadata"]["uid"])

    def _queues(self) -> dict[tuple[str, str], Object]:
        """Return ClusterQueues by namespace and name of their LocalQueues.

        A ClusterQueue that is not visible is empty.
        """
        if time.monotonic() - self._known[0] > QUEUES_FOR:
            behind = {one["metadata"]["name"]: one for one in self._list("clusterqueues")}
            found = {
                (one["metadata"].get("namespace", ""), one["metadata"]["name"]): behind.get(
                    one["spec"].get("clusterQueue", ""), {}
                )
                for one in self._list("localqueues")
            }
            self._known = (time.monotonic(), found)
        return self._known[1]

    def _list(self, kind: str) -> list[Object]:
        try:
            return list(self._wire.get(f"{GROUP}/{self.version()}/{kind}")["items"])
        except ApiError as error:
            # a role without the new permission: jobs without a queue still work
            if error.status != 403:
                raise
            return []

    def _path(self, space: str) -> str:
        return f"{GROUP}/{self.version()}/namespaces/{segment(space)}/workloads"
