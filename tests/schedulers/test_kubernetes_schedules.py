"""Cancel a pod at every moment of its life, in 1,000 random orders of cluster events.

Against a double without its node: the test executes the steps of controller, scheduler and kubelet.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from schedulers.contract import Observation
from schedulers.kubernetes.backend import KubernetesBackend
from schedulers.states import Reason, State
from tests.rig.kubernetes_double import Double
from tests.rig.kubernetes_store import now
from tests.rig.seeds import courses, examples
from tests.schedulers.kubernetes_stage import launch

SCHEDULES = examples(250)


@pytest.fixture
def quiet() -> Iterator[Double]:
    """A double whose cluster does nothing by itself."""
    double = Double()
    double.store.listeners.clear()
    yield double
    double.close()


class Life:
    """A Job with its only pod; each step is one that a cluster may take next."""

    def __init__(self, double: Double, backend: KubernetesBackend, dice: Random):
        self.store, self.backend, self.dice = double.store, backend, dice
        self.key = backend.submit(launch()).key
        self.told: list[Observation] = []

    def job(self) -> dict[str, Any]:
        return self.store.get("jobs", "muster-jobs", self.key)

    def pod(self) -> dict[str, Any] | None:
        return next(iter(self.store.all("pods", "muster-jobs", f"muster/key={self.key}")), None)

    def go_on(self) -> None:
        """Run all remaining steps of the cluster; the stop is repeated, as in the portal."""
        for _ in range(20):
            self.step()
        self.backend.cancel(self.key)
        self.look()

    def step(self) -> bool:
        """Run the next necessary step; returns False when there is none."""
        job, pod = self.job(), self.pod()
        if job.get("status", {}).get("conditions"):
            return False
        if job["spec"].get("suspend"):
            return self._suspended(job, pod)
        if pod is None:
            return self._make(job)
        status = pod["status"]
        if not pod["spec"].get("nodeName"):
            return self._change(
                pod, {"conditions": [{"type": "PodScheduled", "status": "True"}]}, node="n1"
            )
        if status["phase"] == "Pending":
            return self._change(
                pod,
                {
                    "phase": "Running",
                    "containerStatuses": [
                        {"name": "main", "state": {"running": {"startedAt": now()}}}
                    ],
                },
            )
        if status["phase"] == "Running":
            return self._end(pod)
        kind, code = ("Complete", 0) if status["phase"] == "Succeeded" else ("Failed", 1)
        return self._conclude(
            {
                "type": kind,
                "status": "True",
                "reason": "PodFailurePolicy" if code else "",
                "message": "failed with exit code",
            }
        )

    def cancel(self) -> None:
        self.backend.cancel(self.key)

    def look(self) -> None:
        self.told += self.backend.poll([self.key]).observations

    def final(self) -> Observation | None:
        return next((seen for seen in self.told if seen.state.is_final), None)

    def _suspended(self, job: dict[str, Any], pod: dict[str, Any] | None) -> bool:
        """Delete the pods of a suspended Job, like its controller."""
        if pod is not None and pod["status"]["phase"] == "Running":
            ended = {"exitCode": 143, "startedAt": now(), "finishedAt": now()}
            return self._change(
                pod,
                {
                    "phase": "Failed",
                    "containerStatuses": [{"name": "main", "state": {"terminated": ended}}],
                },
            )
        if pod is not None and pod["status"]["phase"] == "Succeeded":
            return self._conclude({"type": "Complete", "status": "True"})
        if pod is not None:
            self.store.remove("pods", "muster-jobs", pod["metadata"]["name"])
            return True
        return self._conclude({"type": "Suspended", "status": "True"})

    def _make(self, job: dict[str, Any]) -> bool:
        meta, template = job["metadata"], job["spec"]["template"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"]}
        self.store.create(
            "pods",
            "muster-jobs",
            {
                "metadata": {
                    **template["metadata"],
                    "name": f"{self.key}-x",
                    "ownerReferences": [owner],
                },
                "spec": template["spec"],
                "status": {"phase": "Pending"},
            },
        )
        return True

    def _end(self, pod: dict[str, Any]) -> bool:
        """End a pod at its deadline if it has one, else on its own, now or later."""
        is_over, word = (
            pod["spec"].get("activeDeadlineSeconds") == 1,
            {"startedAt": now(), "finishedAt": now()},
        )
        if not is_over and self.dice.random() < 0.4:
            return True
        code = 143 if is_over and self.dice.random() < 0.7 else 0
        over = {"reason": "DeadlineExceeded"} if is_over else {}
        return self._change(
            pod,
            {
                "phase": "Failed" if over else "Succeeded",
                **over,
                "containerStatuses": [
                    {"name": "main", "state": {"terminated": {"exitCode": code, **word}}}
                ],
            },
        )

    def _change(self, pod: dict[str, Any], status: dict[str, Any], node: str = "") -> bool:
        def change(thing: dict[str, Any]) -> None:
            thing["status"] |= status
            thing["spec"] |= {"nodeName": node} if node else {}

        self.store.update("pods", "muster-jobs", pod["metadata"]["name"], change)
        return True

    def _conclude(self, condition: dict[str, Any]) -> bool:
        at = {"lastTransitionTime": now()}
        self.store.update(
            "jobs",
            "muster-jobs",
            self.key,
            lambda thing: thing.update(status={"conditions": [condition | at]}),
        )
        return True


def _is_consistent(life: Life, which: tuple[int, int]) -> None:
    """Check that there is one end, reported consistently.

    A canceled job no longer runs, and a job that ran to its end was not stopped.
    """
    end, pod = life.final(), life.pod()
    assert end and end.reason in {Reason.CANCELED, Reason.COMPLETED}, (which, life.told)
    life.look()
    after = life.told[life.told.index(end) :]
    assert set(after) == {end}, (which, after)
    assert pod is None or pod["status"]["phase"] in {"Succeeded", "Failed"}, (which, pod)
    codes = [
        one["state"]["terminated"]["exitCode"]
        for one in (pod or {"status": {}})["status"].get("containerStatuses", ())
    ]
    # so a cancel ends its pod
    was_cut_short = bool(pod) and pod["status"].get("reason") == "DeadlineExceeded"
    assert (end.state == State.SUCCEEDED) == (codes == [0] and not was_cut_short), (which, end, pod)


@courses([1, 2, 3, 4], few=1)
def test_cancel_at_any_time_ends_job_exactly_once(quiet, wait_for, monkeypatch, seed):
    backend = KubernetesBackend.configured(
        {"server": quiet.url, "token": quiet.token, "image": "local/bash:1"}
    )
    dice, lives, answer = Random(seed), [], quiet.answer

    def answer_late(method: str, parts: list[str], *rest: Any) -> Any:
        """Let the cluster continue between requests of the backend."""
        if lives and dice.random() < 0.3:
            lives[-1].step()
        return answer(method, parts, *rest)

    monkeypatch.setattr(quiet, "answer", answer_late)
    for number in range(SCHEDULES):
        lives.append(life := Life(quiet, backend, dice))
        for _ in range(dice.randrange(9)):
            life.step()
            if dice.random() < 0.2:
                life.look()
        life.cancel()
        wait_for(lambda life=life: life.go_on() or life.final(), every=0.002)
        lives.clear()
        _is_consistent(life, (seed, number))
        job = life.job()
        backend.forget(life.key)
        quiet.node.collect(job)
