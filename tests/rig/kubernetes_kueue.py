"""Part of the double of Kubernetes: a minimal double of Kueue.

It creates a Workload for each suspended Job with a queue name, admits as many as the queue allows,
and evicts on request. It has no cohorts, flavors, priorities or admission checks.
"""

from __future__ import annotations

from typing import Any

from tests.rig.kubernetes_store import Answer, Object, Store, now

GROUP, VERSION = "kueue.x-k8s.io", "v1beta2"
QUEUE = "kueue.x-k8s.io/queue-name"
SPACE = "muster-atlas-vision"  # the namespace that has the queues


class Kueue:
    """`places` is the number of Jobs that each queue admits at once."""

    def __init__(self, store: Store):
        self.store, self.places = store, dict[str, int]()
        self._is_installed = False

    def install(self, **places: int) -> None:
        self.places, self._is_installed = dict(places), True
        for name, most in places.items():
            self._make(name, most)
        self.store.listeners.append(self._hear)

    def _make(self, name: str, places: int) -> None:
        """Create the queue of each requested namespace, and its cluster queue and flavor."""
        quota = {"name": "nvidia.com/gpu", "nominalQuota": str(places)}
        self.store.objects["clusterqueues", "", name] = {
            "metadata": {"name": name, "uid": f"queue-{name}"},
            "spec": {"resourceGroups": [{"flavors": [{"name": "default", "resources": [quota]}]}]},
            "status": {
                "flavorsReservation": [
                    {
                        "name": "default",
                        "resources": [{"name": "nvidia.com/gpu", "total": str(places)}],
                    }
                ]
            },
        }
        self.store.objects["localqueues", SPACE, name] = {
            "metadata": {"name": name, "namespace": SPACE},
            "spec": {"clusterQueue": name},
        }

    def group(self) -> Object:
        """Return the discovery document. Raises Answer."""
        if not self._is_installed:
            raise Answer(404, "NotFound", "the server could not find the requested resource")
        return {
            "kind": "APIGroup",
            "name": GROUP,
            "preferredVersion": {"groupVersion": f"{GROUP}/{VERSION}", "version": VERSION},
        }

    def give(self, queue: str, places: int) -> None:
        self.places[queue] = places
        self._admit()

    def take_back(self, job: Object) -> None:
        """Preempt: evict the Workload and suspend the Job."""
        with self.store.changed:
            name = f"job-{job['metadata']['name']}"
            self._say(
                self.store.get("workloads", job["metadata"]["namespace"], name),
                Admitted=("False", "Evicted", ""),
                QuotaReserved=("False", "Pending", "Preempted to accommodate a workload"),
                Evicted=("True", "Preempted", "Preempted to accommodate a workload"),
            )
            self.places[job["metadata"]["labels"][QUEUE]] = 0
            self._suspend(job, True)

    def _hear(self, kind: str, plural: str, thing: Object) -> None:
        if plural == "clusterqueues":
            self._count(kind, thing)
        if plural in {"jobs", "workloads", "clusterqueues"}:
            self.store.start(self._control, kind, plural, thing)

    def _count(self, kind: str, queue: Object) -> None:
        """Admit as many Jobs of one GPU as the quota of a changed ClusterQueue has GPUs."""
        if kind == "DELETED":
            self.places.pop(queue["metadata"]["name"], None)
            return
        self.places[queue["metadata"]["name"]] = sum(
            int(row["nominalQuota"])
            for group in queue["spec"]["resourceGroups"]
            for flavor in group["flavors"]
            for row in flavor["resources"]
            if row["name"] == "nvidia.com/gpu"
        )

    def _control(self, kind: str, plural: str, thing: Object) -> None:
        meta = thing["metadata"]
        if plural == "jobs" and kind == "MODIFIED" and thing["spec"].get("suspend"):
            self._move(thing)
        if (kind, plural) == ("ADDED", "jobs") and QUEUE in meta["labels"]:
            owner = {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": meta["name"],
                "uid": meta["uid"],
            }
            self.store.create(
                "workloads",
                meta["namespace"],
                {
                    "kind": "Workload",
                    "metadata": {"name": f"job-{meta['name']}", "ownerReferences": [owner]},
                    "spec": {
                        "queueName": meta["labels"][QUEUE],
                        "active": True,
                        "podSets": [
                            {
                                "name": "main",
                                "count": thing["spec"]["completions"],
                                "template": thing["spec"]["template"],
                            }
                        ],
                    },
                    "status": {"conditions": []},
                },
            )
        self._admit()

    def _move(self, job: Object) -> None:
        """Follow a Job that was given another queue."""
        meta = job["metadata"]
        name, queue = f"job-{meta['name']}", meta["labels"].get(QUEUE)
        workload = self.store.objects.get(("workloads", meta["namespace"], name))
        if queue and workload and workload["spec"]["queueName"] != queue:
            self.store.update(
                "workloads",
                meta["namespace"],
                name,
                lambda thing: thing["spec"].update(queueName=queue),
            )

    def _admit(self) -> None:
        """Admit the first workloads that fit, in order of arrival.

        Of the others with equal requests in a queue, only the first gets a reason, like Kueue in
        2026.
        """
        with self.store.changed:
            used: dict[str, int] = {}
            received: list[Any] = []
            for workload in [
                o for (plural, *_), o in list(self.store.objects.items()) if plural == "workloads"
            ]:
                owner, space = (
                    workload["metadata"]["ownerReferences"][0],
                    workload["metadata"]["namespace"],
                )
                job = self.store.objects.get(("jobs", space, owner["name"]))
                is_over = job is None or any(
                    c["type"] in {"Complete", "Failed"}
                    for c in job.get("status", {}).get("conditions", ())
                )
                queue = workload["spec"]["queueName"]
                if not workload["spec"]["active"] or is_over:
                    continue
                if used.get(queue, 0) < self.places.get(queue, 0):
                    used[queue] = used.get(queue, 0) + 1
                    self._say(
                        workload,
                        QuotaReserved=("True", "QuotaReserved", ""),
                        Admitted=("True", "Admitted", ""),
                    )
                    self._suspend(job, False)
                elif (
                    requests := [
                        queue,
                        workload["spec"]["podSets"][0]["template"]["spec"]["containers"][0][
                            "resources"
                        ],
                    ]
                ) not in received:
                    received.append(requests)
                    self._say(workload, QuotaReserved=("False", *self._why(queue)))

    def _why(self, queue: str) -> tuple[str, str]:
        if queue not in self.places:
            return "Inadmissible", f"LocalQueue {queue} doesn't exist"
        return (
            "Pending",
            (
                "couldn't assign flavors to pod set main: insufficient unused quota for "
                "nvidia.com/gpu in flavor default, 1 more needed"
            ),
        )

    def _say(self, workload: Object, **conditions: tuple[str, str, str]) -> None:
        known = {
            c["type"]: (c["status"], c["reason"], c["message"])
            for c in workload["status"]["conditions"]
        }
        if (
            known | conditions == known
            or known.get("Admitted", ("",))[0] == "True" == conditions.get("Admitted", ("True",))[0]
        ):
            return
        result: list[Any] = [
            {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message,
                "lastTransitionTime": now(),
            }
            for kind, (status, reason, message) in (known | conditions).items()
        ]
        given = {
            "podSetAssignments": [
                {
                    "name": "main",
                    "flavors": {"nvidia.com/gpu": "default"},
                    "resourceUsage": {"nvidia.com/gpu": "1"},
                }
            ]
        }
        is_in = conditions.get("Admitted", ("",))[0] == "True"
        admission = (
            {"admission": {"clusterQueue": workload["spec"]["queueName"], **given}} if is_in else {}
        )
        meta = workload["metadata"]
        self.store.update(
            "workloads",
            meta["namespace"],
            meta["name"],
            lambda thing: thing["status"].update(conditions=result, **admission),
        )

    def _suspend(self, job: Any, is_suspended: bool) -> None:
        meta = job["metadata"]
        if (
            self.store.get("jobs", meta["namespace"], meta["name"])["spec"].get("suspend", False)
            != is_suspended
        ):
            self.store.update(
                "jobs",
                meta["namespace"],
                meta["name"],
                lambda thing: thing["spec"].update(suspend=is_suspended),
            )
