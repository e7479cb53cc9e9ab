"""Test that a cluster is reachable, supported, and grants the necessary permissions."""

from __future__ import annotations

from portal.core.messages import Message
from schedulers.contract import Probe, Unavailable
from schedulers.kubernetes.client import ApiError, Client

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


def probe(wire: Client) -> Probe:
    """Test the connection. Never raises."""
    try:
        version = str(wire.get("/version").get("gitVersion") or "")
        missing = missing_rights(wire)
        nodes = (
            wire.get("/api/v1/nodes", limit=500)["items"]
            if not any(right.endswith("list nodes") for right in missing)
            else []
        )
    except (Unavailable, ApiError) as error:
        return Probe(False, str(error))
    except (KeyError, TypeError):
        return Probe(False, Message("The response is not from a Kubernetes API server."))
    if missing:
        return Probe(
            False,
            Message(
                "Kubernetes {version} answers, but Muster may not {missing}: bind its role to "
                "this account.",
                version=version,
                missing=", ".join(missing),
            ),
            version,
        )
    more = "" if len(nodes) < 500 else Message(" and more")
    return Probe(
        True,
        Message(
            "Kubernetes {version} with {nodes}{more} nodes.",
            version=version,
            nodes=len(nodes),
            more=more,
        ),
        version,
    )


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
