"""Run jobs on Kubernetes: a Job per attempt, in a namespace of its team.

A multi-node attempt is an Indexed Job with a headless Service. All state is in the cluster: the Job
stores its key, whether Muster canceled it, and how it ended. docs/design/kubernetes.md explains why
a cancellation does not delete the Job.
"""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, ClassVar

from portal.core.messages import Message
from portal.core.options import failed
from schedulers.cached import CachedValue
from schedulers.contract import (
    Capability,
    Endpoint,
    GpuLayout,
    Handle,
    Launch,
    LogChunk,
    NodeFacts,
    Observation,
    OutputFolder,
    Poll,
    Probe,
    Rejected,
    ReservationFacts,
    ReservationRequest,
    ReservationScope,
    Unavailable,
)
from schedulers.kubernetes import (
    access,
    explanations,
    forward,
    kueue,
    logs,
    mig,
    names,
    nodes,
    pod,
    states,
)
from schedulers.kubernetes import (
    exec as beside,
)
from schedulers.kubernetes import (
    probe as probing,
)
from schedulers.kubernetes.client import ApiError, Client, segment
from schedulers.kubernetes.creation import Creator
from schedulers.kubernetes.observed import JobObserver
from schedulers.kubernetes.rendering import rendered
from schedulers.kubernetes.reservations import NodeReservations, QuotaReservations
from schedulers.kubernetes.settings import (
    Config,
    access_of,
    config_of,
    faults_in,
    field_of,
    site_of,
)
from schedulers.shares import share_of

log = logging.getLogger(__name__)
Object = dict[str, Any]
TAIL = 64 << 10
# seconds between snapshots of the cluster, plus this per pending job
PICTURE_FOR, PICTURE_EACH = (
    4.0,
    0.01,
)
PRODUCTS_FOR = 60.0  # seconds for which the GPU types of nodes are cached


class KubernetesBackend:
    """The Kubernetes backend; see Backend for the contract."""

    name: ClassVar[str] = "kubernetes"
    title: ClassVar[str] = "Kubernetes"
    about: ClassVar[str] = Message(
        "Run jobs as pods, with Kueue if it is installed. Needs a kubeconfig or a service account."
    )
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {
            Capability.IMAGES,
            Capability.EXEC,
            Capability.ENDPOINTS,
            Capability.GANG,
            Capability.INPUTS,
            Capability.PACKS,
            Capability.DRAIN,
            Capability.RELEASE,
            Capability.RESERVATIONS,
            Capability.MIG_LABELS,
        }
    )

    @classmethod
    def capabilities_with(cls, options: Mapping[str, Any]) -> frozenset[Capability]:
        """Return the capabilities with these settings of the operator."""
        found = set(cls.capabilities)
        if options.get("workspaces_claim"):
            found.add(Capability.WORKSPACES)
        if options.get("exclusive_pools") == "none":
            found.discard(Capability.RESERVATIONS)
        return frozenset(found)

    def __init__(self, config: Config):
        self.config, self.site = config, site_of(config)
        self._places, self._is_release_refused = logs.LogPositions(), False
        self._snapshots: CachedValue[explanations.KubernetesSnapshot] = CachedValue(
            "the cluster as a whole", PICTURE_FOR, PICTURE_EACH
        )
        self._kinds = 0.0, nodes.GpuKinds()
        self._disk_pressure: Mapping[str, datetime] = {}

    @classmethod
    def configured(cls, options: Mapping[str, Any]) -> KubernetesBackend:
        """Create a backend from the stored options of a cluster."""
        return cls(config_of(options))

    def close(self) -> None:
        """End its watches; otherwise they end when nobody uses it any more."""
        if "_view" in vars(self):
            self._view.stop()

    @classmethod
    def option_faults(cls, options: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return (option, message) of all that is wrong without asking the cluster."""
        return faults_in(config_of(options))

    def probe(self) -> Probe:
        if faults := faults_in(self.config):
            return Probe.of(
                [
                    failed(Message("Options", context="text, schedulers"), text, name)
                    for name, text in faults
                ],
                "",
            )
        return probing.probe(self._wire, self.config)

    def inventory(self) -> Sequence[NodeFacts]:
        found = nodes.inventory(
            *self._nodes_and_pods(), self.site.gpu_resource, self.site.tolerations
        )
        with _refusal_as_unavailable():
            queues = self._view.queues.all()
        return [replace(node, partitions=queues) for node in found] if queues else found

    def _nodes_and_pods(self) -> tuple[list[Object], list[Object]]:
        with _refusal_as_unavailable():
            found = self._wire.get("/api/v1/nodes", resourceVersion="0")["items"]
            self._disk_pressure = nodes.disk_pressure(found, datetime.now(UTC))
            return found, self._wire.get(
                "/api/v1/pods",
                resourceVersion="0",
                fieldSelector="status.phase!=Succeeded,status.phase!=Failed",
            )["items"]

    @property
    def sees_data(self) -> bool:
        return bool(self.site.data)

    def check_inputs(self, launch: Launch) -> None:
        pod.check_inputs(launch, self.site)

    has_private_mounts: ClassVar[bool] = True

    def check_folders(self, launch: Launch) -> None:
        pod.check_folders(launch, self.site)

    def render(self, launch: Launch) -> str:
        made = self._built(launch)
        return rendered(launch, self.site, made, self._creator.rehearse(made))

    def submit(self, launch: Launch) -> Handle:
        with _refusal_as_unavailable():
            self._view.queues.check(pod.queue_of(launch, self.site))
        job = self._creator.create(launch, self._built(launch))
        self._view.put(job)
        return Handle(launch.key, states.native_id(job))

    def output_of(self, key: str) -> OutputFolder:
        return pod.output_of(key, self.site)

    def find(self, key: str) -> Handle | None:
        job = self._view.ask(key)
        return Handle(key, states.native_id(job)) if job else None

    def poll(self, keys: Iterable[str]) -> Poll:
        seen = self._view.poll([(key, names.object_name(key)) for key in keys], self._tail)
        waiting = sum(one.waiting is not None for one in seen.observations)
        snapshot = self._snapshots.current(self._snapshot, waiting) if waiting else None
        return replace(
            seen, observations=[self._explained(one, snapshot) for one in seen.observations]
        )

    def _explained(
        self, seen: Observation, snapshot: explanations.KubernetesSnapshot | None
    ) -> Observation:
        """Explain a pending job; if that fails, keep the scheduler's own words."""
        job, pods = self._view.known(names.object_name(seen.key)) if seen.waiting else (None, [])
        if seen.waiting is None or job is None:
            return seen
        try:
            return replace(seen, waiting=explanations.explained(seen.waiting, job, pods, snapshot))
        except (KeyError, TypeError, ValueError, AttributeError):
            log.exception("why %s waits cannot be told in numbers", seen.key)
            return seen

    def _snapshot(self) -> explanations.KubernetesSnapshot:
        """Take a snapshot of nodes, pods and Kueue's quotas for the explanations."""
        seen = explanations.snapshot_of(
            *self._nodes_and_pods(), self.site.gpu_resource, self.site.tolerations, self.site.prefix
        )
        with _refusal_as_unavailable():
            given = kueue.reserved(self._view.queues.workloads())
        return replace(
            seen, reserved=[replace(one, key=self._view.key_of(one.name, one.uid)) for one in given]
        )

    def cancel(self, key: str, grace: float = 30) -> None:
        """Cancel a job with the grace period of its submission.

        Kubernetes stores the grace period in the pod.
        """
        with _refusal_as_unavailable():
            job = self._view.ask(key)
            if job is None:
                return
            pods = self._view.pods_of(job)
            if self._view.observe(key, job, pods, self._tail).state.is_final:
                return
            placed = [
                one
                for one in pods
                if one["spec"].get("nodeName") and states.phase(one) in {"Pending", "Running"}
            ]
            annotations = {
                names.CANCELED: job["metadata"].get("annotations", {}).get(names.CANCELED)
                or datetime.now(UTC).isoformat()
            }
            self._wire.patch(
                _path(job),
                {
                    "metadata": {"annotations": annotations, "uid": job["metadata"]["uid"]},
                    **({} if placed else {"spec": {"suspend": True}}),
                },
            )
            self._view.note(job, annotations)
            if not placed:
                self._view.queues.give_up(job)
            for one in placed:
                self._stop(one)

    def read_log(self, key: str, after: int, limit: int = 1 << 20) -> LogChunk:
        """Read the log of the first node; `read_rank` reads those of other nodes."""
        return self.read_rank(key, 0, after, limit)

    def read_rank(self, key: str, rank: int, after: int, limit: int = 1 << 20) -> LogChunk:
        """Read the log of one of several nodes, which has its own offsets."""
        one = self._view.pod_of(names.object_name(key), rank)
        is_at_rest = (
            one is not None
            and self._places.rests(one["metadata"]["uid"], after)
            and self._view.goes_on(one)
        )
        data, may_lack = (
            (b"", False) if one is None or is_at_rest else self._read(one, after, limit)
        )
        uncounted = ""
        if may_lack:
            uncounted = Message("its node has rotated the log before it was read")
        elif one is not None and self._was_short_of_disk(one):
            uncounted = Message("the disk of its node was almost full while it ran")
        return LogChunk(after, data, int(time.time() * 1000), uncounted=uncounted)

    def _was_short_of_disk(self, one: Object) -> bool:
        """Return whether the node of a pod had disk pressure since the pod began.

        A kubelet writes the logs of its pods to that disk, and does not tell what it lost.
        """
        at = self._disk_pressure.get(str(one["spec"].get("nodeName")))
        began = states.time_of(one.get("status", {}).get("startTime"))
        return states.was_evicted_for_disk(one) or bool(at and began and at >= began)

    def _read(self, one: Object, after: int, limit: int) -> tuple[bytes, bool]:
        uid, began = one["metadata"]["uid"], time.monotonic()
        place = self._places.before(uid, after)
        with (
            _refusal_as_unavailable(),
            self._log_of(one, timestamps="true", sinceTime=place.since or None) as chunks,
        ):
            is_marked = names.MARKED in one["metadata"].get("annotations", {})
            data, place, may_lack = logs.take(
                chunks, place, after, limit, is_marked=is_marked, has_run=states.has_run(one)
            )
            self._places.keep(uid, place)
        if len(data) < limit:
            self._places.rest(uid, after + len(data), len(data), time.monotonic() - began)
        return data, may_lack

    def exec(self, key: str, argv: Sequence[str], timeout: float = 30) -> tuple[int, bytes]:
        """Run a command on the first node, with the container's variables but no rank."""
        one = self._view.pod_of(names.object_name(key), 0)
        if one is None or states.phase(one) != "Running":
            raise Rejected(Message("The job is not running."), "argv")
        return beside.run(self._wire, _path(one), argv, timeout)

    def endpoint(self, key: str, port: int) -> Endpoint:
        """Return the pod's address, a connection that the API server forwards, or the tunnel."""
        one = self._view.pod_of(names.object_name(key), 0)
        if one is None or states.phase(one) != "Running":
            raise Rejected(Message("The job is not running."))
        if self.config.ports == "address":
            return Endpoint(str(one["status"].get("podIP", "")), port)
        if self.config.ports == "tunnel":
            return Endpoint()
        return Endpoint(connect=partial(forward.connect, self._wire, _path(one), port))

    def release(self, key: str) -> None:
        """Delete the Secret of an ended job.

        The other objects are removed by `ttlSecondsAfterFinished` or by `forget`.
        """
        name = names.object_name(key)
        job = self._view.known(name)[0] or self._view.ask(key)
        if job is None:
            return
        try:
            self._wire.delete(
                f"/api/v1/namespaces/{segment(job['metadata']['namespace'])}/secrets/{segment(name)}"
            )
        except ApiError as error:
            if error.status != 404 and not self._is_release_refused:
                self._is_release_refused = True
                log.warning(
                    "Secrets of ended jobs stay until their Jobs go: bind "
                    "deploy/kubernetes-role.yaml to this account. %s",
                    error,
                )

    def forget(self, key: str) -> None:
        with _refusal_as_unavailable():
            job = self._view.ask(key)
            if job is None:
                self._view.drop(names.object_name(key))
            elif self._view.observe(key, job, self._view.pods_of(job), self._tail).state.is_final:
                self._wire.delete(
                    _path(job),
                    {
                        "kind": "DeleteOptions",
                        "apiVersion": "v1",
                        "propagationPolicy": "Background",
                        "preconditions": {"uid": job["metadata"]["uid"]},
                    },
                )
                self._view.drop(names.object_name(key))

    def drain(self, node: str, why: str) -> None:
        self._cordon(node, is_out=True, why=why)

    def resume(self, node: str) -> None:
        self._cordon(node, is_out=False, why=None)

    @property
    def reservation_scope(self) -> ReservationScope:
        return ReservationScope.NODES if self.site.keeps_nodes else ReservationScope.GPUS

    def plan_reservation(self, request: ReservationRequest) -> str:
        if isinstance(self._reservations, QuotaReservations):
            return self._reservations.text(request)
        shown = ", ".join(request.nodes[:6]) + (", …" if len(request.nodes) > 6 else "")
        return self._reservations.text(request, shown)

    def reserve(self, request: ReservationRequest) -> None:
        with _refusal_explained():
            if isinstance(self._reservations, QuotaReservations):
                self._creator.ensure(request.org, request.team)
            self._reservations.reserve(request)

    def unreserve(self, name: str, partition: str = "") -> None:
        with _refusal_explained():
            self._reservations.unreserve(name)

    def reservations(self, prefix: str) -> Sequence[ReservationFacts]:
        with _refusal_explained():
            return self._reservations.all(prefix)

    @cached_property
    def _reservations(self) -> NodeReservations | QuotaReservations:
        if self.site.keeps_nodes:
            return NodeReservations(self._wire)
        return QuotaReservations(
            self._wire, self._view.queues, self.site.prefix, self.site.gpu_resource
        )

    def mig_config(self, gpus: Sequence[GpuLayout]) -> tuple[str, str]:
        return mig.config_of(gpus)

    def mig_configs(self) -> frozenset[str]:
        return mig.installed(self._wire, self.config.mig_configs)

    def set_mig_config(self, node: str, name: str) -> None:
        mig.request(self._wire, node, name)

    def mig_state(self, node: str) -> tuple[str, str]:
        return mig.state(self._wire, node)

    @cached_property
    def _wire(self) -> Client:
        try:
            return Client(access_of(self.config))
        except access.BadAccess as error:
            raise Unavailable(error.args[0], field_of(self.config, error.field)) from error

    @cached_property
    def _creator(self) -> Creator:
        return Creator(self._wire, self.site.prefix, self.config.blocked_networks)

    @cached_property
    def _view(self) -> JobObserver:
        view = JobObserver(
            self._wire,
            self.site.prefix,
            states.StartTimeouts(
                image=self.config.image_patience, start=self.config.image_patience
            ),
        )
        weakref.finalize(self, view.stop)
        return view

    def _built(self, launch: Launch) -> pod.Objects:
        """Return the Job; shares and slices have a resource of their own on some nodes."""
        if not launch.limits.gpus:
            return pod.build(launch, self.site)
        kinds = self._gpu_kinds()
        if not launch.limits.gpu_type:
            return pod.build(launch, replace(self.site, avoided=kinds.parts if kinds.whole else ()))
        products = self._products_of(launch.limits.gpu_type, kinds)
        if resource := kinds.resources.get(launch.limits.gpu_type, ""):
            is_own = launch.limits.gpu_type.startswith("mig-") and "/mig-" not in resource
            if is_own:
                launch = replace(launch, limits=replace(launch.limits, gpu_type=""))
        site = replace(self.site, gpu_resource=resource or self.site.gpu_resource)
        return pod.build(launch, site, products)

    def _products_of(self, kind: str, kinds: nodes.GpuKinds) -> list[str]:
        """Return the product labels of this GPU type. Raises Rejected when no node has one."""
        is_slice = kind.startswith("mig-")
        if kind not in kinds.products and not (is_slice and not share_of(kind)):
            raise Rejected(
                Message(
                    "No node of this cluster has GPUs of type {x}; there is {x2}.",
                    x=repr(kind[:40]),
                    x2=", ".join(sorted(kinds.products)) or "none",
                ),
                "resources.gpus",
            )
        if is_slice and "/mig-" in kinds.resources.get(kind, "/mig-"):
            return []  # the resource alone says which
        return sorted(filter(None, kinds.products[kind]))

    def _gpu_kinds(self) -> nodes.GpuKinds:
        if time.monotonic() - self._kinds[0] > PRODUCTS_FOR:
            with _refusal_as_unavailable():
                found = self._wire.get("/api/v1/nodes", resourceVersion="0")["items"]
            self._kinds = time.monotonic(), nodes.kinds_of(found, self.site.gpu_resource)
        return self._kinds[1]

    def _stop(self, one: Object) -> None:
        """Stop a job by setting a deadline.

        Its pods get SIGTERM and, after the grace period, SIGKILL. Unlike deleted pods they keep
        their logs and exit codes.
        """
        try:
            self._wire.patch(
                f"{_path(one)}",
                {"metadata": {"uid": one["metadata"]["uid"]}, "spec": {"activeDeadlineSeconds": 1}},
            )
        except ApiError as error:
            # gone, or the name now belongs to another job: nothing to stop
            if error.status not in {404, 409}:
                raise

    def _tail(self, one: Mapping[str, Any]) -> str:
        """Return the last output, for the reason of the end; empty if the node no longer has it."""
        try:
            with self._log_of(one, tailLines=200, timestamps="true") as chunks:
                return logs.last_bytes(chunks, TAIL).decode(errors="replace")
        except (Unavailable, ApiError):
            return ""

    @contextmanager
    def _log_of(self, one: Mapping[str, Any], **query: Any) -> Iterator[Iterable[bytes]]:
        """Return the chunks of a log; empty before the container starts and after it is gone."""
        try:
            with self._wire.stream(
                f"{_path(one)}/log", container=names.CONTAINER, **query
            ) as answer:
                yield answer.stream(1 << 16)
        except ApiError as error:
            if error.status not in {400, 404}:
                raise
            yield ()

    def _cordon(self, node: str, *, is_out: bool, why: str | None) -> None:
        try:
            self._wire.patch(
                f"/api/v1/nodes/{segment(node)}",
                {
                    "spec": {"unschedulable": is_out or None},
                    "metadata": {"annotations": {names.DRAINED: why}},
                },
            )
        except ApiError as error:
            raise Rejected(
                Message("No node {node} is there.", node=repr(node))
                if error.status == 404
                else str(error)
            ) from error


@contextmanager
def _refusal_as_unavailable() -> Iterator[None]:
    """Map refused requests to Unavailable.

    A refused request that concerns no particular job is a problem of the cluster: a permission is
    missing, or an object changed concurrently.
    """
    try:
        yield
    except ApiError as error:
        raise Unavailable(str(error)) from error


@contextmanager
def _refusal_explained() -> Iterator[None]:
    """Map a missing permission to Rejected with advice, other refusals to Unavailable."""
    try:
        yield
    except ApiError as error:
        if error.status == 403:
            raise Rejected(
                Message(
                    "Muster's account lacks a permission: apply deploy/kubernetes-role.yaml. "
                    "({error})",
                    error=error,
                )
            ) from error
        raise Unavailable(str(error)) from error


def _path(thing: Mapping[str, Any]) -> str:
    meta = thing["metadata"]
    group, kind = ("/apis/batch/v1", "jobs") if "template" in thing["spec"] else ("/api/v1", "pods")
    return f"{group}/namespaces/{segment(meta['namespace'])}/{kind}/{segment(meta['name'])}"
