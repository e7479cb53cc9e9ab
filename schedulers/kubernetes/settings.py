"""Validate the operator's options and derive the settings of all pods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from portal.core.messages import Message
from schedulers.contract import Rejected, Secret, Way, option, rejections
from schedulers.kubernetes.access import (
    Access,
    BadAccess,
    from_fields,
    from_inside,
    from_kubeconfig,
)
from schedulers.kubernetes.pod import IMAGE, KubernetesSettings

_PREFIX = re.compile(r"[a-z](?:[a-z0-9-]{0,18}[a-z0-9])?")
_CLAIM = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_NONE = Secret("")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(frozen=True)
class Config:
    """Options for reaching the cluster and defaults for every job there."""

    WAYS: ClassVar[tuple[Way, ...]] = (
        Way(
            "kubeconfig",
            Message("Kubeconfig", context="text, schedulers"),
            Message("Paste the file that kubectl uses, with its certificates and token inside."),
            needs=("kubeconfig",),
        ),
        Way(
            "token",
            Message("Address and token"),
            Message("The address of the API server, and the token of a service account."),
            needs=("server", "token"),
            also=("authority",),
        ),
        Way(
            "inside",
            Message("From inside the cluster"),
            Message("The portal runs as a pod there: its own service account is used."),
            sets={"is_inside": True},
        ),
    )
    kubeconfig: Secret = option(
        Message("Kubeconfig", context="setting"),
        default=_NONE,
        note=Message("With everything inside: kubectl config view --raw --flatten."),
        is_long=True,
    )
    server: str = option(
        Message("Server", context="setting"),
        default="",
        sends=("token",),
        note=Message("Without a kubeconfig: https://10.0.0.1:6443."),
    )
    token: Secret = option(
        Message("Token", context="setting"),
        default=_NONE,
        note=Message("Token of a service account."),
    )
    authority: Secret = option(
        Message("Certificate authority", context="setting"),
        default=_NONE,
        note=Message("PEM.", context="help of a setting"),
        is_long=True,
    )
    is_inside: bool = option(
        Message("The portal runs inside"),
        default=False,
        note=Message("Use the service account of the portal's pod."),
        is_rare=True,
    )
    namespace_prefix: str = option(
        Message("Namespace prefix", context="setting"),
        default="muster",
        note=Message("Must be unique among the portals that use this cluster."),
        step="jobs",
    )
    image: str = option(
        Message("Image", context="setting, container image"),
        default="",
        note=Message("For jobs without an image; must contain bash."),
        step="jobs",
    )
    pull_policy: str = option(
        Message("Image pull policy"),
        default="IfNotPresent",
        choices=("IfNotPresent", "Always", "Never"),
        is_rare=True,
        step="jobs",
    )
    pull_secrets: tuple[str, ...] = option(
        Message("Image pull secrets"),
        default=(),
        note=Message("Names of Secrets in each team's namespace."),
        is_rare=True,
        step="jobs",
    )
    node_selector: tuple[str, ...] = option(
        Message("Node selector", context="setting"),
        default=(),
        note=Message("Labels as name=value."),
        is_rare=True,
        step="jobs",
    )
    tolerations: tuple[str, ...] = option(
        Message("Tolerations", context="setting"),
        default=(),
        note=Message("Taints as name=value:NoSchedule, or name:NoSchedule."),
        is_rare=True,
        step="jobs",
    )
    exclusive_pools: str = option(
        Message("Exclusive pools", context="setting"),
        default="taints",
        choices=("taints", "kueue", "none"),
        is_rare=True,
        note=Message(
            "How GPUs of an approved request are kept for their team. taints: nodes are labeled "
            "and tainted. kueue: the team gets a queue of its own, with quota of the pool's queue."
        ),
        step="jobs",
    )
    gpu_resource: str = option(
        Message("GPU resource", context="setting"),
        default="nvidia.com/gpu",
        is_rare=True,
        step="jobs",
    )
    mig_configs: str = option(
        Message("MIG configurations", context="setting"),
        default="gpu-operator/default-mig-parted-config",
        is_rare=True,
        note=Message("Config map of the GPU operator, as namespace/name."),
        step="jobs",
    )
    priority_class: str = option(
        Message("Priority class", context="setting"), default="", is_rare=True, step="jobs"
    )
    user_id: int = option(
        Message("User id", context="setting"),
        default=1000,
        note=Message("User ID of containers; must not be 0."),
        is_rare=True,
        step="jobs",
    )
    shared: tuple[str, ...] = option(
        Message("Shared volumes", context="setting"),
        default=(),
        note=Message("claim:/path; the claim exists in each namespace."),
        is_rare=True,
        step="jobs",
    )
    outputs: str = option(
        Message("Outputs", context="setting"),
        default="",
        is_rare=True,
        note=Message(
            "Volume for MUSTER_OUTPUT_DIR, as claim:/path; the claim exists in each namespace."
        ),
        step="jobs",
    )
    data_claim: str = option(
        Message("Data folder of the portal"),
        default="",
        is_rare=True,
        note=Message(
            "Claim in each namespace with the content of MUSTER_HOME: inputs are read there. "
            "Empty: each pod fetches its inputs from the portal."
        ),
        step="jobs",
    )
    workspaces_claim: str = option(
        Message("Workspaces", context="setting"),
        default="",
        is_rare=True,
        note=Message(
            "Claim in each namespace with the content of MUSTER_WORKSPACES (ReadWriteMany). "
            "Empty: jobs cannot use workspaces."
        ),
        step="jobs",
    )
    fetch_image: str = option(
        Message("Image that fetches inputs"),
        default="",
        is_rare=True,
        note=Message("Must contain python3. Empty: the image above, else that of the job."),
        step="jobs",
    )
    ports: str = option(
        Message("Ports of jobs", context="setting"),
        default="forward",
        choices=("forward", "address", "tunnel"),
        is_rare=True,
        note=Message(
            "How the portal reaches them. forward: through the API server. address: at the pods' "
            "addresses, if the portal runs in the cluster and network policies admit it. tunnel: "
            "through connections that pods open to the portal; images need python3."
        ),
        step="jobs",
    )
    blocked_networks: tuple[str, ...] = option(
        Message("Blocked networks", context="setting"),
        default=("169.254.0.0/16",),
        note=Message("Networks that jobs must not reach, as CIDR."),
        is_rare=True,
        step="jobs",
    )
    image_patience: int = option(
        Message("Image patience", context="setting"),
        default=120,
        note=Message("Seconds for which pulling the image or creating the container may fail."),
        is_rare=True,
        step="jobs",
    )


def config_of(options: Mapping[str, Any]) -> Config:
    known: dict[str, Any] = {
        name: tuple(options[name]) if isinstance(options[name], list) else options[name]
        for name in Config.__dataclass_fields__
        if options.get(name) not in (None, "")
    }
    return Config(**known)


def access_of(given: Config) -> Access:
    """Return address and credentials of the API server. Raises BadAccess."""
    if given.is_inside:
        return from_inside()
    if given.kubeconfig:
        return from_kubeconfig(given.kubeconfig)
    return from_fields(given.server, given.token, given.authority)


def faults_in(given: Config) -> list[tuple[str, str]]:
    """Return (option, message) of all that is wrong with the options without asking the cluster."""
    found = rejections(
        lambda: _check_prefix(given),
        lambda: _check_user(given),
        lambda: _pairs(given),
        lambda: [_toleration(word) for word in given.tolerations],
        lambda: [_shared(word, "shared") for word in given.shared],
        lambda: _outputs(given),
        lambda: _claim(given.data_claim, "data_claim"),
        lambda: _claim(given.workspaces_claim, "workspaces_claim"),
        lambda: _image(given.image, "image"),
        lambda: _image(given.fetch_image, "fetch_image"),
    )
    try:
        access_of(given).tls()
    except BadAccess as error:
        found.append((field_of(given, error.field), error.args[0]))
    return found


def field_of(given: Config, field: str) -> str:
    """Return the option at fault: address and credentials are all inside of a kubeconfig."""
    inside = {"server", "token", "authority"}
    if field in inside and given.is_inside:
        return "is_inside"
    return "kubeconfig" if field in inside and given.kubeconfig else field


def site_of(given: Config) -> KubernetesSettings:
    """Return the settings for pods. Raises Rejected with the invalid option."""
    _check_prefix(given)
    _check_user(given)
    return KubernetesSettings(
        prefix=given.namespace_prefix,
        image=given.image,
        pull_policy=given.pull_policy,
        pull_secrets=tuple(given.pull_secrets),
        selector=_pairs(given),
        tolerations=tuple(_toleration(word) for word in given.tolerations),
        gpu_resource=given.gpu_resource,
        priority_class=given.priority_class,
        user=given.user_id,
        shared=tuple(_shared(word, "shared") for word in given.shared),
        outputs=_outputs(given),
        data=_claim(given.data_claim, "data_claim"),
        folders_claim=_claim(given.workspaces_claim, "workspaces_claim"),
        fetch_image=_image(given.fetch_image, "fetch_image"),
        has_tunnels=given.ports == "tunnel",
        keeps_nodes=given.exclusive_pools != "kueue",
    )


def _check_prefix(given: Config) -> None:
    if not _PREFIX.fullmatch(given.namespace_prefix):
        raise Rejected(
            Message(
                "A namespace prefix must be at most 20 lower-case letters, digits and hyphens."
            ),
            "namespace_prefix",
        )


def _check_user(given: Config) -> None:
    if given.user_id <= 0:
        raise Rejected(
            Message("Containers never run as root: the user ID must be greater than 0."), "user_id"
        )


def _pairs(given: Config) -> dict[str, str]:
    return dict(_pair(word, "=", "node_selector") for word in given.node_selector)


def _pair(word: str, by: str, option: str) -> tuple[str, str]:
    left, found, right = word.partition(by)
    if not left or not found:
        raise Rejected(Message("{word} has no {by} in it.", word=repr(word), by=repr(by)), option)
    return left, right


def _toleration(word: str) -> Mapping[str, str]:
    taint, _, effect = word.partition(":")
    key, has_value, value = taint.partition("=")
    if (effect and effect not in _EFFECTS) or not key:
        raise Rejected(
            Message(
                "{word} is not a toleration. Write name=value:NoSchedule, or name:NoSchedule.",
                word=repr(word),
            ),
            "tolerations",
        )
    rule = {"operator": "Equal", "value": value} if has_value else {"operator": "Exists"}
    return {"key": key, **rule, **({"effect": effect} if effect else {})}


def _claim(name: str, option: str) -> str:
    if name and not _CLAIM.fullmatch(name):
        raise Rejected(Message("{name} is not the name of a claim.", name=repr(name[:80])), option)
    return name


def _image(name: str, option: str) -> str:
    if name and not IMAGE.fullmatch(name):
        raise Rejected(Message("This is not a valid image name."), option)
    return name


def _outputs(given: Config) -> tuple[str, str] | None:
    if not given.outputs:
        return None
    claim, path = _shared(given.outputs, "outputs")
    if path.rstrip("/") in {word.partition(":")[2].rstrip("/") for word in given.shared}:
        raise Rejected(Message("There is already a shared volume at {path}.", path=path), "outputs")
    return claim, path


def _shared(word: str, option: str) -> tuple[str, str]:
    claim, path = _pair(word, ":", option)
    if (
        not path.startswith("/")
        or ".." in path
        or path.startswith(("/muster/", "/dev", "/proc", "/sys", "/etc"))
        or path == "/"
    ):
        raise Rejected(Message("{path} is not allowed as a mount path.", path=repr(path)), option)
    return claim, path
