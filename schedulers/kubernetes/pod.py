"""Build the objects of a job from a launch, field by field from an allow-list.

User input never appears where Kubernetes would expand or run it: the script and the values of
variables are data of a Secret, and the containers start a constant program.
"""

from __future__ import annotations

import binascii
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Launch, OutputFolder, OutputRetention, Rejected
from schedulers.kubernetes import folders, inputs, names
from schedulers.kubernetes.entrypoint import START
from schedulers.programs import with_tunnel

Object = dict[str, Any]
MOUNT, SECRETS = "/muster/given", "/muster/secrets"
# seconds to keep a finished Job: longer than an outage of the portal, which must read the result
KEPT = 3 * 86400
# seconds for pulling the image and starting, added to the deadline of the pod
START_SECONDS = 1800
MOST_SECRET_BYTES = 1 << 20  # bytes of values in a Secret
_ENV_NAME = re.compile(r"[-._A-Za-z][-._A-Za-z0-9]*")
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,510}")
_WORD = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,60}[a-z0-9])?")


@dataclass(frozen=True)
class KubernetesSettings:
    """The operator's settings for all jobs."""

    prefix: str = "muster"
    image: str = ""
    pull_policy: str = "IfNotPresent"
    pull_secrets: Sequence[str] = ()
    selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Mapping[str, str]] = ()
    gpu_resource: str = "nvidia.com/gpu"
    avoided: Sequence[str] = ()  # GPU products, for a job that asks for whole GPUs of any type
    priority_class: str = ""
    user: int = 1000
    shared: Sequence[tuple[str, str]] = ()  # (claim, path): the same claim in each namespace
    # the claim for outputs; without one the output is deleted with the pod
    outputs: tuple[str, str] | None = None
    data: str = ""  # the claim with the portal's data folder; without one inputs are fetched
    folders_claim: str = ""  # of the volume with all workspaces
    has_tunnels: bool = False  # pods open connections to the portal for their ports
    keeps_nodes: bool = True  # for pools of teams: by taints, else by queues of Kueue
    fetch_image: str = ""  # of the container that fetches them; empty: `image`, else the job's


@dataclass(frozen=True)
class Objects:
    """The objects of an attempt in order of creation: the Job first, because it owns the others."""

    namespace: str
    job: Object
    owned: Sequence[Object]  # the Secret, and the Service of a multi-node job


def build(launch: Launch, site: KubernetesSettings, products: Sequence[str] = ()) -> Objects:
    """Build all objects of an attempt.

    `products`: the GPU product labels of the requested type. Raises Rejected.
    """
    name = names.object_name(launch.key)
    namespace = names.namespace_name(site.prefix, launch.identity.org, launch.identity.team)
    _check(launch)
    check_inputs(launch, site)
    check_folders(launch, site)
    launch = inputs.with_program(launch, site.data)
    if site.has_tunnels:
        launch = with_tunnel(launch)
    meta = {
        "name": name,
        "namespace": namespace,
        "labels": names.labels(site.prefix, name),
        "annotations": _notes(launch),
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta,
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {names.KEY: name},
        },
    }
    env = environment(launch, name, site)
    owned = [_secret(launch, env, meta)] + ([service] if launch.place.num_nodes > 1 else [])
    return Objects(
        namespace,
        _queued(
            _job(launch, site, name, meta, _variables(env, name), products), queue_of(launch, site)
        ),
        owned,
    )


def queue_of(launch: Launch, site: KubernetesSettings) -> str:
    """Return the LocalQueue of a job: that of its team's reservation, else that of its pool."""
    return (
        launch.place.partition
        if site.keeps_nodes
        else launch.place.reservation or launch.place.partition
    )


def check_inputs(launch: Launch, site: KubernetesSettings) -> None:
    """Raise Rejected for an input whose path is taken."""
    inputs.check(launch, [path for _, path in _claims(site)])


def check_folders(launch: Launch, site: KubernetesSettings) -> None:
    """Raise Rejected for a workspace that pods do not see, or whose path is taken."""
    folders.check(launch, site.folders_claim, [path for _, path in _claims(site)])


def owned_by(made: Object, job: Object) -> Object:
    """Return the object with an owner reference to the Job, for garbage collection."""
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": job["metadata"]["name"],
        "uid": job["metadata"]["uid"],
    }
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [owner]}}


def output_of(key: str, site: KubernetesSettings) -> OutputFolder:
    """Return the output folder: on the configured volume, else deleted with the pod."""
    shared = tuple(path for _, path in site.shared)
    return (
        OutputFolder(f"{site.outputs[1]}/{key}", OutputRetention.ON, shared)
        if site.outputs
        else OutputFolder("/muster/out", OutputRetention.RUN, shared)
    )


def environment(launch: Launch, name: str, site: KubernetesSettings) -> dict[str, str]:
    """Return the environment of the containers; the entrypoint adds the rank."""
    own = {
        "MUSTER_JOB_KEY": launch.key,
        "MUSTER_OUTPUT_DIR": output_of(launch.key, site).path,
        "PYTHONUNBUFFERED": "1",
    }
    if launch.limits.time_limit:
        own |= {
            "MUSTER_TIME_LIMIT": f"{launch.limits.time_limit:g}",
            "MUSTER_GRACE": f"{launch.limits.grace:g}",
        }
    if launch.place.num_nodes > 1:
        own["MASTER_ADDR"] = own["PET_MASTER_ADDR"] = f"{name}-0.{name}"
    return {
        **launch.env,
        **own,
        **inputs.environment(launch),
        **folders.environment(launch),
        **{f"{variable}_FILE": f"{SECRETS}/{variable}" for variable in launch.data.secret_files},
    }


def _notes(launch: Launch) -> dict[str, str]:
    return {
        names.KEY: launch.key,
        names.MARKED: "true",
        **({names.LIMIT: f"{launch.limits.time_limit:g}"} if launch.limits.time_limit else {}),
        **({names.INPUTS: inputs.text_of(launch)} if launch.data.inputs else {}),
    }


def _check(launch: Launch) -> None:
    for variable, value in launch.env.items():
        if not _ENV_NAME.fullmatch(variable) or len(variable) > 253:
            raise Rejected(
                Message("{x} is not a valid variable name in Kubernetes.", x=repr(variable[:80])),
                "env",
            )
        _utf8(
            value, Message("The value of {name}", context="text, schedulers", name=variable), "env"
        )
    for variable, value in launch.data.secret_files.items():
        if not _ENV_NAME.fullmatch(variable) or len(variable) > 200:
            raise Rejected(
                Message("{x} is not a valid file name in Kubernetes.", x=repr(variable[:80])),
                "secret_files",
            )
        _utf8(
            value,
            Message("The secret {name}", context="text, schedulers", name=variable),
            "secret_files",
        )
    _utf8(launch.script, Message("The script", context="text, schedulers"), "run")
    if launch.place.partition and not _WORD.fullmatch(launch.place.partition):
        raise Rejected(
            Message("{x} is not a valid queue name.", x=repr(launch.place.partition[:40])),
            "policy.pool",
        )
    if launch.place.is_on_first_node_only and launch.place.num_nodes > 1:
        raise Rejected(
            Message(
                "A launcher that starts the other nodes itself needs a way to reach them; here "
                "each node is started by itself: use torchrun."
            ),
            "launcher",
        )
    if (
        not 0 <= launch.limits.grace < 1e6
        or not 0 < (1 if launch.limits.time_limit is None else launch.limits.time_limit) < 1e9
    ):
        raise Rejected(Message("Times must be positive and finite."), "policy")
    if (
        launch.place.num_nodes < 1
        or launch.limits.gpus < 0
        or launch.limits.memory < 0
        or launch.limits.shm_size < 0
        or not 0 < launch.limits.cpus < 1e6
    ):
        raise Rejected(
            Message("Nodes and cores must be positive, and no amount may be negative."), "resources"
        )


def _utf8(text: str, what: str, of: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Rejected(Message("{what} is not valid text.", what=what), of) from error
    if "\0" in text:
        raise Rejected(Message("{what} holds a NUL character.", what=what), of)


def _secret(launch: Launch, env: Mapping[str, str], meta: Object) -> Object:
    """Return one Secret with the values of the variables and the secret files.

    One object, as each costs a request and a write to etcd.
    """
    files = {key: content for key, _, content in given(launch)}
    values = {f"env-{i}": value.encode() for i, value in enumerate(env.values())}
    values |= {
        f"file-{i}": value.encode() for i, value in enumerate(launch.data.secret_files.values())
    }
    sizes = [sum(len(key) + len(value) for key, value in data.items()) for data in (values, files)]
    if sum(sizes) > MOST_SECRET_BYTES:
        raise Rejected(
            Message(
                "The script with its examples is {x} bytes and the variables are {x2}; "
                "Kubernetes takes 1 MiB together.",
                x=f"{sizes[1]:,}",
                x2=f"{sizes[0]:,}",
            ),
            "run" if sizes[1] >= sizes[0] else "env",
        )
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": True,
        "metadata": meta,
        "data": {
            key: binascii.b2a_base64(value, newline=False).decode()
            for key, value in (values | files).items()
        },
    }


def _variables(env: Mapping[str, str], name: str) -> list[Object]:
    """Return variables that reference the Secret: literal values would be expanded."""
    return [
        {"name": variable, "valueFrom": {"secretKeyRef": {"name": name, "key": f"env-{i}"}}}
        for i, variable in enumerate(env)
    ]


def given(launch: Launch) -> list[tuple[str, str, bytes]]:
    """Return the files of the read-only folder: key in the Secret, path, content."""
    own = [("script", "script", launch.script.encode()), ("start", "start", START.encode())]
    mounted = {
        "example": ("examples", launch.data.examples),
        "program": ("programs", launch.data.programs),
    }
    return own + [
        (f"{key}-{i}", f"{folder}/{path}", content)
        for key, (folder, files) in mounted.items()
        for i, (path, content) in enumerate(files.items())
    ]


def _job(
    launch: Launch,
    site: KubernetesSettings,
    name: str,
    meta: Object,
    variables: list[Object],
    products: Sequence[str],
) -> Object:
    many = {"completionMode": "Indexed"} if launch.place.num_nodes > 1 else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta,
        "spec": {
            "completions": launch.place.num_nodes,
            "parallelism": launch.place.num_nodes,
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": KEPT,
            **many,
            "podFailurePolicy": _FAILURES,
            "template": {
                "metadata": {
                    "labels": names.labels(site.prefix, name),
                    "annotations": _notes(launch),
                },
                "spec": _pod(launch, site, name, variables, products),
            },
        },
    }


def _queued(job: Object, queue: str) -> Object:
    """Suspend a Job that has a queue, so that Kueue starts it."""
    if not queue:
        return job
    meta = job["metadata"]
    return {
        **job,
        "metadata": {**meta, "labels": {**meta["labels"], names.QUEUE: queue}},
        "spec": {**job["spec"], "suspend": True},
    }


# The condition of the Job then tells which one it was, even after the pod is gone.
_FAILURES: Object = {
    "rules": [
        {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {
            "action": "FailJob",
            "onExitCodes": {"containerName": names.CONTAINER, "operator": "NotIn", "values": [0]},
        },
    ]
}


def _pod(
    launch: Launch,
    site: KubernetesSettings,
    name: str,
    variables: list[Object],
    products: Sequence[str],
) -> Object:
    main = _container(launch, site, variables)
    spec: Object = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostNetwork": False,
        "hostPID": False,
        "hostIPC": False,
        "terminationGracePeriodSeconds": max(1, math.ceil(launch.limits.grace)),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": site.user,
            "runAsGroup": site.user,
            "fsGroup": site.user,
            # with the files of others in it, nothing is to be changed for each pod
            **({"fsGroupChangePolicy": "OnRootMismatch"} if launch.data.folders else {}),
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [main],
        "volumes": _volumes(launch, site, name),
    }
    image = site.fetch_image or site.image
    if fetching := inputs.init_containers(launch, site.data, image, main):
        spec["initContainers"] = fetching
    if launch.place.num_nodes > 1:
        spec["subdomain"] = name
    if launch.limits.time_limit:
        spec["activeDeadlineSeconds"] = (
            math.ceil(launch.limits.time_limit + launch.limits.grace) + START_SECONDS
        )
    if selector := {**launch.place.node_labels, **site.selector}:
        spec["nodeSelector"] = selector
    kept = launch.place.reservation if site.keeps_nodes else ""
    tolerations = [dict(one) for one in site.tolerations]
    if kept:
        tolerations.append({**taint(kept), "operator": "Equal"})
    if tolerations:
        spec["tolerations"] = tolerations
    if site.pull_secrets:
        spec["imagePullSecrets"] = [{"name": one} for one in site.pull_secrets]
    if site.priority_class:
        spec["priorityClassName"] = site.priority_class
    if affinity := {
        **(
            _on_nodes(products, launch.place.exclude_nodes, site.avoided)
            if products or launch.place.exclude_nodes or site.avoided
            else {}
        ),
        **(_rather_on(kept) if kept else {}),
    }:
        spec["affinity"] = {"nodeAffinity": affinity}
    return spec


def taint(reservation: str) -> Object:
    """Return the taint of nodes that are kept for a team."""
    return {"key": names.POOL, "value": reservation, "effect": "NoSchedule"}


def _rather_on(reservation: str) -> Object:
    """Prefer the nodes of the reservation: a pod that still waits at its end can start elsewhere."""
    label = {"key": names.POOL, "operator": "In", "values": [reservation]}
    term = {"weight": 100, "preference": {"matchExpressions": [label]}}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [term]}


def _on_nodes(
    products: Sequence[str], excluded: Sequence[str], avoided: Sequence[str] = ()
) -> Object:
    """Return the affinity to nodes with one of these GPU products, and to none of the excluded."""
    term: Object = {}
    if avoided:
        other = {"key": "nvidia.com/gpu.product", "operator": "NotIn", "values": sorted(avoided)}
        term["matchExpressions"] = [other]
    if products:
        wanted = {"key": "nvidia.com/gpu.product", "operator": "In", "values": sorted(products)}
        term["matchExpressions"] = [wanted]
    # A field selector takes one value, so each node is a requirement of its own
    if excluded:
        term["matchFields"] = [
            {"key": "metadata.name", "operator": "NotIn", "values": [name]} for name in excluded
        ]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}


def _container(launch: Launch, site: KubernetesSettings, variables: list[Object]) -> Object:
    image = launch.image or site.image
    if not image:
        raise Rejected(
            Message("This cluster only runs images and has no default image. Set `image`."),
            "image",
        )
    if not IMAGE.fullmatch(image):
        raise Rejected(Message("This is not a valid image name."), "image")
    return {
        "name": names.CONTAINER,
        "image": image,
        "imagePullPolicy": site.pull_policy,
        "command": ["bash", f"{MOUNT}/start"],
        "workingDir": "/muster/work",
        "env": variables,
        "resources": _resources(launch, site),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": _mounts(launch, site),
    }


def _resources(launch: Launch, site: KubernetesSettings) -> Object:
    limits = {"cpu": f"{max(1, round(launch.limits.cpus * 1000))}m"}
    if launch.limits.memory:
        limits["memory"] = str(launch.limits.memory)
    if launch.limits.gpus:
        limits[gpu_resource(launch.limits.gpu_type, site.gpu_resource)] = str(launch.limits.gpus)
    return {"limits": limits, "requests": dict(limits)}


def gpu_resource(gpu_type: str, usual: str) -> str:
    """Return the extended resource of a GPU type; each MIG profile has its own. Raises Rejected."""
    if gpu_type and not _WORD.fullmatch(gpu_type):
        raise Rejected(Message("{x} is not a GPU type.", x=repr(gpu_type[:40])), "resources.gpus")
    if gpu_type.startswith("mig-") and "/mig-" not in usual:
        return f"{usual.partition('/')[0]}/{gpu_type}"
    return usual


def _volumes(launch: Launch, site: KubernetesSettings, name: str) -> list[Object]:
    found: list[Object] = [
        {
            "name": "given",
            "secret": {
                "secretName": name,
                "defaultMode": 0o444,
                "items": [{"key": key, "path": path} for key, path, _ in given(launch)],
            },
        },
        {"name": "room", "emptyDir": {}},
    ]
    if (
        launch.data.secret_files
    ):  # in memory; Kubernetes also lets the group read, which is the job's own
        found.append(
            {
                "name": "secrets",
                "secret": {
                    "secretName": name,
                    "defaultMode": 0o400,
                    "items": [
                        {"key": f"file-{i}", "path": path}
                        for i, path in enumerate(launch.data.secret_files)
                    ],
                },
            }
        )
    if launch.limits.shm_size:
        found.append(
            {
                "name": "shm",
                "emptyDir": {"medium": "Memory", "sizeLimit": str(launch.limits.shm_size)},
            }
        )
    found += inputs.volumes(launch, site.data)
    found += folders.volumes(launch, site.folders_claim)
    return found + [
        {"name": f"shared-{i}", "persistentVolumeClaim": {"claimName": claim}}
        for i, (claim, _) in enumerate(_claims(site))
    ]


def _mounts(launch: Launch, site: KubernetesSettings) -> list[Object]:
    found: list[Object] = [
        {"name": "given", "mountPath": MOUNT, "readOnly": True},
        {"name": "room", "mountPath": "/muster/work", "subPath": "work"},
        {"name": "room", "mountPath": "/muster/out", "subPath": "out"},
    ]
    if launch.data.secret_files:
        found.append({"name": "secrets", "mountPath": SECRETS, "readOnly": True})
    if launch.limits.shm_size:
        found.append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108  where libraries expect it
    claims = _claims(site)
    room, above = (f"shared-{len(claims) - 1}", launch.key) if site.outputs else ("room", "out")
    found += [
        {"name": room, "mountPath": path, "subPath": f"{above}/{name}"}
        for name, path in launch.data.output_paths.items()
    ]
    found += inputs.mounts(launch, site.data)
    found += folders.mounts(launch)
    return found + [
        {"name": f"shared-{i}", "mountPath": path} for i, (_, path) in enumerate(claims)
    ]


def _claims(site: KubernetesSettings) -> list[tuple[str, str]]:
    return [*site.shared, *([site.outputs] if site.outputs else [])]
