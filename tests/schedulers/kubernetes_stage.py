"""Helpers for tests of the Kubernetes backend on a double of the API server."""

from __future__ import annotations

import uuid
from typing import Any

from schedulers.contract import Launch, Unavailable
from schedulers.kubernetes.backend import KubernetesBackend
from schedulers.states import State
from tests.schedulers.launches import a_launch


def launch(script: str = "sleep 30", **more: Any) -> Launch:
    return a_launch(script, **{"key": f"t-{uuid.uuid4().hex}", "grace": 1.0, **more})


def state_of(backend: KubernetesBackend, key: str) -> State | None:
    """Return the state; None while the cluster does not answer."""
    try:
        return next((seen.state for seen in backend.poll([key]).observations), None)
    except Unavailable:
        return None
