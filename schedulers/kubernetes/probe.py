"""Test that a cluster is reachable, supported, and grants the necessary permissions."""

from __future__ import annotations

from collections.abc import Iterator

from portal.core.messages import Message
from portal.core.options import CheckState, ConnectionCheck, failed, skipped
from schedulers.contract import Probe, Unavailable
from schedulers.kubernetes.client import ApiError, Client, segment
from schedulers.kubernetes.settings import Config, field_of

# Required permissions in all namespaces: (group, resource, subresource, verbs).
NEEDED = (
    ("batch", "jobs", "", ("create", "get", "list", "watch", "patch", "delete")),
    ("", "pods", "", ("list", "watch", "patch")),
    ("", "pods", "log", ("get",)),
    ("", "secrets", "", ("create", "get", "delete")),
    ("", "services", "", ("create", "get")),
    ("", "namespaces", "", ("create", "get")),
    ("networking.k8s.io", "networkpolicies", "", ("create",)),
    ("", "events", "", ("list",)),
    ("", "nodes", "", ("list", "patch")),
)
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


_SERVER, _RIGHTS = (
    Message("API server", context="text, schedulers"),
    Message("Permissions", context="text, schedulers"),
)
_NODES, _GPUS, _PRIORITY = (
    Message("Nodes", context="text, schedulers"),
    Message("GPUs", context="text, schedulers"),
    Message("Priority class", context="text, schedulers"),
)


def probe(wire: Client, config: Config) -> Probe:
    """Test the connection. Never raises."""
    rest = [_RIGHTS, _NODES, *([_PRIORITY] if config.priority_class else [])]
    try:
        version = str(wire.get("/version").get("gitVersion") or "")
        missing = missing_rights(wire)
        checks = [
            ConnectionCheck(
                _SERVER, message=Message("Kubernetes {version} answers.", version=version)
            ),
            _rights(config, version, missing),
        ]
        if any(right.endswith("list nodes") for right in missing):
            checks += skipped(_NODES)
        else:
            checks += _nodes(wire, config)
        if config.priority_class:
            checks.append(_priority(wire, config.priority_class))
    except (Unavailable, ApiError) as error:
        field = getattr(error, "field", "") or "server"
        trouble = failed(_SERVER, error.args[0], field_of(config, field))
        return Probe.of([trouble, *skipped(*rest)], "")
    except (KeyError, TypeError):
        text = Message("The response is not from a Kubernetes API server. Check the address.")
        trouble = failed(_SERVER, text, field_of(config, "server"))
        return Probe.of([trouble, *skipped(*rest)], "")
    found = next((check.message for check in checks if check.label == _NODES), "")
    return Probe.of(
        checks,
        Message("Kubernetes {version} with {found}.", version=version, found=found),
        version,
    )


def _rights(config: Config, version: str, missing: list[str]) -> ConnectionCheck:
    if not missing:
        return ConnectionCheck(_RIGHTS, message=Message("All that Muster needs."))
    text = Message(
        "Kubernetes {version} answers, but Muster may not {missing}: bind its role to "
        "this account (deploy/kubernetes-role.yaml).",
        version=version,
        missing=", ".join(missing),
    )
    return failed(_RIGHTS, text, field_of(config, "token"))


def _nodes(wire: Client, config: Config) -> Iterator[ConnectionCheck]:
    nodes = wire.get("/api/v1/nodes", limit=500)["items"]
    n = len(nodes)
    text = Message.plural(n, "{n} node", "{n} nodes", context="number of things", n=n)
    if n == 500:
        text = Message("{n} or more nodes", context="text, schedulers", n=n)
    yield ConnectionCheck(_NODES, message=text)
    wanted = config.gpu_resource
    if nodes and not any(wanted in node["status"].get("allocatable", {}) for node in nodes):
        text = Message(
            "No node offers {resource}: jobs get no GPUs. Install the GPU operator, or enter the "
            "resource of this cluster.",
            resource=wanted,
        )
        yield ConnectionCheck(_GPUS, CheckState.WARNING, text, "gpu_resource")


def _priority(wire: Client, name: str) -> ConnectionCheck:
    try:
        wire.get(f"/apis/scheduling.k8s.io/v1/priorityclasses/{segment(name)}")
    except ApiError as error:
        if error.status == 404:
            text = Message("There is no priority class {name}. Create it.", name=repr(name[:80]))
            return failed(_PRIORITY, text, "priority_class")
        # It may exist; Muster needs no right to read it
        return ConnectionCheck(_PRIORITY, CheckState.SKIPPED)
    return ConnectionCheck(_PRIORITY, message=name)


def missing_rights(wire: Client) -> list[str]:
    """Return "create jobs.batch" for each missing permission. Raises Unavailable, Refused."""
    missing = []
    for group, resource, sub, verbs in NEEDED:
        for verb in verbs:
            body = {
                "group": group,
                "resource": resource,
                "verb": verb,
                **({"subresource": sub} if sub else {}),
            }
            answer = wire.post(
                REVIEWS,
                {
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "SelfSubjectAccessReview",
                    "spec": {"resourceAttributes": body},
                },
            )
            if not answer["status"].get("allowed"):
                missing.append(
                    f"{verb} {resource}{'/' + sub if sub else ''}{'.' + group if group else ''}"
                )
    return missing
