"""Create the objects of an attempt exactly once; existing objects are adopted if they are ours."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Launch, Rejected, Unavailable
from schedulers.kubernetes import names, namespace
from schedulers.kubernetes.client import ApiError, Client, refusal, segment
from schedulers.kubernetes.pod import Objects, owned_by

Object = dict[str, Any]
NAMESPACES = "/api/v1/namespaces"
SURE_FOR = 600.0  # seconds for which a namespace is assumed to be unchanged
_PLURALS = {
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "Secret": "/api/v1/namespaces/{}/secrets",
    "Service": "/api/v1/namespaces/{}/services",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
}
# Prefixes of Kubernetes' field names, mapped to fields of the spec.
_FIELDS = {
    ".image": "image",
    "nvidia.com/": "resources.gpus",
    "[cpu]": "resources.cpus",
    "[memory]": "resources.memory",
    ".resources": "resources",
    "activeDeadlineSeconds": "policy.max_runtime",
    "terminationGracePeriodSeconds": "policy.grace",
    "emptyDir": "resources.shm_size",
    "nodeSelector": "policy.pool",
    "affinity": "resources.gpus",
    "completions": "num_nodes",
    "parallelism": "num_nodes",
    "data": "env",
}


class Creator:
    """Creates objects; thread-safe."""

    def __init__(self, wire: Client, prefix: str, blocked: Sequence[str]):
        self._wire, self._prefix, self._blocked = wire, prefix, blocked
        self._sure: dict[str, float] = {}

    def create(self, launch: Launch, made: Objects) -> Object:
        """Create the objects and return the Job from the server. Raises Rejected, Unavailable."""
        try:
            self.ensure(launch.identity.org, launch.identity.team)
            job = self._job(launch.key, made)
            for thing in made.owned:
                self._owned(owned_by(thing, job), job)
        except ApiError as error:
            if error.status == 404:  # the namespace was deleted meanwhile
                self._sure.pop(made.namespace, None)
                raise Unavailable(str(error)) from error
            raise refusal(error, _FIELDS) from error
        return job

    def rehearse(self, made: Objects) -> str:
        """Do a server-side dry run.

        Returns an empty text if the Job would be accepted, else why the check was not possible.
        Raises Rejected.
        """
        try:
            self._wire.post(_path(made.job), made.job, dryRun="All", fieldValidation="Strict")
        except Unavailable as error:
            return str(error)
        except ApiError as error:
            if error.status == 404:
                return "the team's namespace is created with its first job"
            if error.status != 409 and isinstance(refused := refusal(error, _FIELDS), Rejected):
                raise refused from error
            return str(error)
        return ""

    def _job(self, key: str, made: Objects) -> Object:
        try:
            return self._wire.post(_path(made.job), made.job, fieldValidation="Strict")
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
        found = self._wire.get(f"{_path(made.job)}/{segment(made.job['metadata']['name'])}")
        meta = found["metadata"]
        if (
            meta.get("labels", {}).get(names.PORTAL) != self._prefix
            or meta.get("annotations", {}).get(names.KEY) != key
        ):
            raise Rejected(
                Message(
                    "A Job called {name} already exists and does not belong to Muster.",
                    name=meta["name"],
                )
            )
        if "deletionTimestamp" in meta:
            raise Unavailable(Message("The former {name} is being deleted.", name=meta["name"]))
        return found

    def _owned(self, thing: Object, job: Object) -> None:
        """Create an owned object.

        An existing one counts only if this very Job owns it; that of an earlier Job is about to be
        garbage-collected.
        """
        try:
            self._wire.post(_path(thing), thing, fieldValidation="Strict")
        except ApiError as error:
            if error.reason != "AlreadyExists":
                self._delete_job(job)
                raise
            found = self._wire.get(f"{_path(thing)}/{segment(thing['metadata']['name'])}")
            if not any(
                owner.get("uid") == job["metadata"]["uid"]
                for owner in found["metadata"].get("ownerReferences", ())
            ):
                raise Unavailable(
                    Message(
                        "{kind} {name} of a former job is being deleted.",
                        kind=thing["kind"],
                        name=thing["metadata"]["name"],
                    )
                ) from error

    def _delete_job(self, job: Object) -> None:
        """Delete a Job whose Secret was refused: it can never start."""
        self._wire.delete(
            f"{_path(job)}/{segment(job['metadata']['name'])}",
            {
                "kind": "DeleteOptions",
                "apiVersion": "v1",
                "propagationPolicy": "Background",
                "preconditions": {"uid": job["metadata"]["uid"]},
            },
        )

    def ensure(self, org: str, team: str) -> None:
        """Create the namespace of a team if it is missing. Raises ApiError, Rejected, Unavailable."""
        name = names.namespace_name(self._prefix, org, team)
        if time.monotonic() - self._sure.get(name, -SURE_FOR) < SURE_FOR:
            return
        try:
            self._wire.post(NAMESPACES, namespace.namespace(name, self._prefix, org, team))
        except ApiError as error:
            if error.reason != "AlreadyExists" and error.status != 403:
                raise
            self._check(name)
        for policy in namespace.policies(self._prefix, self._blocked):
            try:
                self._wire.post(_PLURALS["NetworkPolicy"].format(segment(name)), policy)
            except ApiError as error:
                if error.reason != "AlreadyExists":
                    raise
        self._sure[name] = time.monotonic()

    def _check(self, name: str) -> None:
        """Adopt a namespace created by somebody else only if its labels allow it."""
        found = self._wire.get(f"{NAMESPACES}/{segment(name)}")
        labels = found["metadata"].get("labels", {})
        if labels.get(names.MANAGED) != names.MUSTER or labels.get(names.PORTAL) != self._prefix:
            raise Rejected(
                Message(
                    "The namespace {name} is there and is not this portal's: label it "
                    "{MANAGED}={MUSTER} and {PORTAL}={_prefix}.",
                    name=name,
                    MANAGED=names.MANAGED,
                    MUSTER=names.MUSTER,
                    PORTAL=names.PORTAL,
                    _prefix=self._prefix,
                )
            )
        if found.get("status", {}).get("phase") == "Terminating":
            raise Unavailable(Message("The namespace {name} is being deleted.", name=name))


def _path(thing: Object) -> str:
    kind = thing.get("kind") or "Job"
    return _PLURALS[kind].format(segment(thing["metadata"]["namespace"]))
